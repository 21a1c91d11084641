"""Kernels that find edges of a cloth that pass edges of features, and faces that pass points, now or within a step."""

from __future__ import annotations

import numpy as np

from ...threads import inline, kernel

EXACT = 1.0e-9  #: relative to an edge: a point no farther beyond its end is on the edge
PARALLEL = 1.0e-10  #: squared sine of the angle below which edges have no unique nearest points
CUTS = 0.25  #: of the depth: distance inside of the faces of ends of an edge that passes an edge of a feature
#: relative to the approach of an edge and a wire in a step at their velocities: a margin for forces that are not known
#: yet
SWAY = 1.5
RECEDES = 1.0e-3  #: of the thickness: cloth that moves away by more in a step separates
HALVINGS = 50  #: bisections of the contact time of two primitives


@inline
def _dot(a, b):  # type: ignore[no-untyped-def]
    """Return the scalar product of two vectors, (3,) each."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inline
def _products(a, b, c, d, e, f):  # type: ignore[no-untyped-def]
    """Return u·u, v·v, u·v, u·r and v·r of the vectors u from a to b, v from c to d, and r from e to f."""
    uu = vv = uv = ur = vr = 0.0
    for i in range(3):
        u, v, r = b[i] - a[i], d[i] - c[i], f[i] - e[i]
        uu += u * u
        vv += v * v
        uv += u * v
        ur += u * r
        vr += v * r
    return uu, vv, uv, ur, vr


@inline
def _nearest(p, q, a, b, out):  # type: ignore[no-untyped-def]
    """Write the nearest points of lines p-q and a-b to `out`, (6,): fractions s and t, the vector from the second point
    to the first, (3,), and the squared sine of the angle between the lines."""
    uu, vv, uv, ur, vr = _products(p, q, a, b, a, p)
    across = uu * vv - uv * uv
    out[5] = across / max(uu * vv, 1e-300)
    if out[5] > PARALLEL:
        out[0] = (uv * vr - ur * vv) / across
        out[1] = (uv * out[0] + vr) / vv
    else:
        out[0] = out[1] = -1.0
    for i in range(3):
        out[2 + i] = p[i] + out[0] * (q[i] - p[i]) - a[i] - out[1] * (b[i] - a[i])


@inline
def _within(s):  # type: ignore[no-untyped-def]
    """Return whether a fraction is in [0, 1] up to rounding."""
    return -EXACT <= s <= 1.0 + EXACT


@inline
def _volume(a, b, c, d, A, B, C, D, t):  # type: ignore[no-untyped-def]
    """Return six times the volume of points a, b, c, d after a fraction t of their displacements A, B, C, D."""
    o0, o1, o2 = a[0] + t * A[0], a[1] + t * A[1], a[2] + t * A[2]
    u0, u1, u2 = b[0] + t * B[0] - o0, b[1] + t * B[1] - o1, b[2] + t * B[2] - o2
    v0, v1, v2 = c[0] + t * C[0] - o0, c[1] + t * C[1] - o1, c[2] + t * C[2] - o2
    w0, w1, w2 = d[0] + t * D[0] - o0, d[1] + t * D[1] - o1, d[2] + t * D[2] - o2
    return u0 * (v1 * w2 - v2 * w1) + u1 * (v2 * w0 - v0 * w2) + u2 * (v0 * w1 - v1 * w0)


@inline
def _time_of_contact(a, b, c, d, A, B, C, D):  # type: ignore[no-untyped-def]
    """Return the fraction of displacements A to D at which points a to d are coplanar, −1 if they stay on one side."""
    start, end = _volume(a, b, c, d, A, B, C, D, 0.0), _volume(a, b, c, d, A, B, C, D, 1.0)
    if start == 0.0 or end == 0.0 or (start > 0.0) == (end > 0.0):
        return -1.0
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if (_volume(a, b, c, d, A, B, C, D, middle) > 0.0) == (start > 0.0):
            low = middle
        else:
            high = middle
    return high


@kernel("void(f8[:,::1], f8[:,::1], i4[:,::1], f8, f8[:,::1])")
def write_swept_boxes(x, step, corners, grown, out):  # type: ignore[no-untyped-def]
    """Write the boxes around rows of points before and after their displacements to `out`, (k, 6) [m].

    x, step: positions and displacements, (n, 3) [m]. corners: points of each row, (k, c). grown: margin [m].
    """
    for k in range(corners.shape[0]):
        for a in range(3):
            low, high = 1e300, -1e300
            for c in range(corners.shape[1]):
                i = corners[k, c]
                now, then = x[i, a], x[i, a] + step[i, a]
                low, high = min(low, min(now, then)), max(high, max(now, then))
            out[k, a], out[k, 3 + a] = low - grown, high + grown


@inline
def _disjoint(one, two):  # type: ignore[no-untyped-def]
    """Return whether two boxes, (6,) each, are disjoint."""
    return (one[0] > two[3] or two[0] > one[3] or one[1] > two[4] or two[1] > one[4] or one[2] > two[5]
            or two[2] > one[5])


@inline
def _around_all(box, out):  # type: ignore[no-untyped-def]
    """Write the box around all boxes (k, 6) to `out`, (6,)."""
    for a in range(3):
        out[a], out[3 + a] = 1e300, -1e300
        for k in range(box.shape[0]):
            out[a], out[3 + a] = min(out[a], box[k, a]), max(out[3 + a], box[k, 3 + a])


@inline
def _cuts(p, q, a, normals, slack):  # type: ignore[no-untyped-def]
    """Return whether edge p-q starts outside of one of the two faces at a and ends outside of the other, up to
    slack."""
    p0 = p1 = q0 = q1 = 0.0
    for i in range(3):
        p0 += normals[0, i] * (p[i] - a[i])
        p1 += normals[1, i] * (p[i] - a[i])
        q0 += normals[0, i] * (q[i] - a[i])
        q1 += normals[1, i] * (q[i] - a[i])
    return (p0 >= -slack and q1 >= -slack) or (p1 >= -slack and q0 >= -slack)


@kernel("i8(f8[:,::1], f8[:,::1], i4[:,::1], f8[:,::1], f8[:,::1], f8[:,::1], i4[:,::1], f8[:,:,::1], f8[:,::1],"
        " f8[::1], f8, i4[:,::1], f8[:,::1])")
def edges_passing(x, step, edges, box, positions, moves, ends, normals, feature_box, depth, thickness, pair, fractions):  # type: ignore[no-untyped-def]
    """Write the edges of the cloth that pass edges of features; return their number, also beyond the outputs' room.

    An edge passes if it is nearer than `thickness` [m] and not separating, inside by at most `depth`, (E,) [m], or
    passes through within the step. x, step: vertices and their displacements, (n, 3) [m]. edges: (k, 2). box: of the
    edges, (k, 6). positions, moves: points of features and their displacements, (P, 3) [m]. ends: (E, 2). normals:
    (E, 2, 3), zero where thin. feature_box: (E, 6). pair: edge of the cloth and of the feature, (c, 2), output.
    fractions: along both edges, and contact time as a fraction of the step, (c, 3), output.
    """
    count = 0
    nearest, later = np.empty(6), np.empty(6)
    out = np.empty(3)
    P, Q, A, B = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    whole_box = np.empty(6)
    _around_all(box, whole_box)
    for e in range(ends.shape[0]):
        if _disjoint(feature_box[e], whole_box):
            continue
        a, b = positions[ends[e, 0]], positions[ends[e, 1]]
        da, db = moves[ends[e, 0]], moves[ends[e, 1]]
        size = 0.0
        for i in range(3):
            out[i] = normals[e, 0, i] + normals[e, 1, i]
            size += out[i] * out[i]
        solid = size > 0.0
        for k in range(edges.shape[0]):
            if _disjoint(feature_box[e], box[k]):
                continue
            i, j = edges[k, 0], edges[k, 1]
            p, q, dp, dq = x[i], x[j], step[i], step[j]
            _nearest(p, q, a, b, nearest)
            if nearest[5] <= PARALLEL:
                # parallel edges: only ends that lie on the feature
                for end in range(2):
                    tip = p if end == 0 else q
                    along = whole = off = 0.0
                    for c in range(3):
                        along += (tip[c] - a[c]) * (b[c] - a[c])
                        whole += (b[c] - a[c]) ** 2
                    t = along / whole
                    for c in range(3):
                        off += (tip[c] - a[c] - t * (b[c] - a[c])) ** 2
                    away = 0.0
                    for c in range(3):
                        away += ((dp[c] if end == 0 else dq[c]) - da[c] - t * (db[c] - da[c])) * out[c]
                    leaves = solid and away > RECEDES * thickness * np.sqrt(size)
                    if _within(t) and off <= EXACT * EXACT * whole and not leaves:
                        if count < pair.shape[0]:
                            pair[count, 0], pair[count, 1] = k, e
                            fractions[count, 0], fractions[count, 1], fractions[count, 2] = float(end), t, 0.0
                        count += 1
                continue
            gap = np.sqrt(_dot(nearest[2:5], nearest[2:5]))
            inner = solid and _dot(nearest[2:5], out) < 0.0
            time, sways = -1.0, False
            if _within(nearest[0]) and _within(nearest[1]) and gap <= max(thickness, depth[e] if inner else 0.0):
                for c in range(3):
                    P[c], Q[c], A[c], B[c] = p[c] + dp[c], q[c] + dq[c], a[c] + da[c], b[c] + db[c]
                _nearest(P, Q, A, B, later)
                if inner:
                    if gap <= thickness or _cuts(p, q, a, normals[e], CUTS * depth[e]):
                        time = 0.0
                else:
                    # by how much their distance grows later, on the side on which they are now
                    away = 0.0
                    if solid:
                        away = (_dot(later[2:5], out) - _dot(nearest[2:5], out)) / np.sqrt(size)
                    elif gap > 0.0:
                        away = _dot(later[2:5], nearest[2:5]) / gap - gap
                    if later[5] <= PARALLEL or away <= RECEDES * thickness:
                        time = 0.0
            elif not solid and _within(nearest[0]) and _within(nearest[1]):
                # an edge that is beyond a wire is not found again: a wire has no inner side
                for c in range(3):
                    P[c], Q[c], A[c], B[c] = p[c] + dp[c], q[c] + dq[c], a[c] + da[c], b[c] + db[c]
                _nearest(P, Q, A, B, later)
                nearer = gap - _dot(later[2:5], nearest[2:5]) / gap
                sways = nearer > 0.0 and gap <= thickness + SWAY * nearer
            if time < 0.0 and not inner:
                time = _time_of_contact(p, q, a, b, dp, dq, da, db)
                if time >= 0.0:
                    for c in range(3):
                        P[c], Q[c] = p[c] + time * dp[c], q[c] + time * dq[c]
                        A[c], B[c] = a[c] + time * da[c], b[c] + time * db[c]
                    _nearest(P, Q, A, B, nearest)
                    if not (_within(nearest[0]) and _within(nearest[1])):
                        time = -1.0
            if time < 0.0 and sways:
                _nearest(p, q, a, b, nearest)
                time = 1.0
            if time >= 0.0:
                if count < pair.shape[0]:
                    pair[count, 0], pair[count, 1] = k, e
                    fractions[count, 0], fractions[count, 1] = (min(max(nearest[0], 0.0), 1.0),
                                                                min(max(nearest[1], 0.0), 1.0))
                    fractions[count, 2] = time
                count += 1
    return count


@inline
def _weights(p, a, b, c, out):  # type: ignore[no-untyped-def]
    """Write the barycentric weights of the projection of point p onto the plane of triangle a, b, c, and the vector
    from p to the projection to `out`, (6,)."""
    uu, vv, uv, ur, vr = _products(a, b, a, c, a, p)
    across = max(uu * vv - uv * uv, 1e-300)
    out[1] = (vv * ur - uv * vr) / across
    out[2] = (uu * vr - uv * ur) / across
    out[0] = 1.0 - out[1] - out[2]
    for i in range(3):
        out[3 + i] = a[i] + out[1] * (b[i] - a[i]) + out[2] * (c[i] - a[i]) - p[i]


@inline
def _inside(weights):  # type: ignore[no-untyped-def]
    """Return whether no barycentric weight, (3,), is negative beyond rounding."""
    return weights[0] >= -EXACT and weights[1] >= -EXACT and weights[2] >= -EXACT


@inline
def _nearest_weights(p, x, face, out):  # type: ignore[no-untyped-def]
    """Write the weights of a triangle's nearest point to p and the vector to it to `out`, (6,); return the distance
    [m]."""
    _weights(p, x[face[0]], x[face[1]], x[face[2]], out)
    if not _inside(out):
        best, side, fraction = 1e300, 0, 0.0
        for k in range(3):
            a, b = x[face[(k + 1) % 3]], x[face[(k + 2) % 3]]
            along = whole = square = 0.0
            for i in range(3):
                along += (p[i] - a[i]) * (b[i] - a[i])
                whole += (b[i] - a[i]) ** 2
            t = min(max(along / whole, 0.0), 1.0)
            for i in range(3):
                square += (a[i] + t * (b[i] - a[i]) - p[i]) ** 2
            if square < best:
                best, side, fraction = square, k, t
        one, two = (side + 1) % 3, (side + 2) % 3
        out[side], out[one], out[two] = 0.0, 1.0 - fraction, fraction
        for i in range(3):
            out[3 + i] = out[one] * x[face[one], i] + out[two] * x[face[two], i] - p[i]
    return np.sqrt(_dot(out[3:6], out[3:6]))


@inline
def _point_passing(x, step, face, p, dp, f, n, pair, fractions, count):  # type: ignore[no-untyped-def]
    """Write a passing where point p touches a face within the step; return the number of passings so far."""
    i, j, k = face[0], face[1], face[2]
    time = _time_of_contact(x[i], x[j], x[k], p, step[i], step[j], step[k], dp)
    if time >= 0.0:
        then = np.empty((4, 3))
        for m in range(3):
            then[0, m], then[1, m] = x[i, m] + time * step[i, m], x[j, m] + time * step[j, m]
            then[2, m], then[3, m] = x[k, m] + time * step[k, m], p[m] + time * dp[m]
        weights = np.empty(6)
        _weights(then[3], then[0], then[1], then[2], weights)
        if _inside(weights):
            if count < pair.shape[0]:
                pair[count, 0], pair[count, 1] = f, n
                for m in range(3):
                    fractions[count, m] = max(weights[m], 0.0)
                fractions[count, 3] = time
            count += 1
    return count


@kernel("i8(f8[:,::1], f8[:,::1], i4[:,::1], f8[:,::1], f8[:,::1], f8[:,::1], i4[::1], f8[:,::1], f8[:,::1], f8[::1],"
        " f8, i4[:,::1], f8[:,::1])")
def points_passing(  # type: ignore[no-untyped-def]
    x, step, faces, box, positions, moves, points, outward, point_box, depth, thickness, pair, fractions,
):
    """Write the faces of the cloth that pass points of features; return their number, also beyond the outputs' room.

    Of each point this is the nearest face, by the conditions of `edges_passing`, or all faces that touch it within the
    step. x, step: vertices and their displacements, (n, 3) [m]. faces: (m, 3). box: (m, 6). positions, moves: points of
    features and their displacements, (P, 3) [m]. points: numbers of points that are tested, (c,). outward: sums of
    their normals, (c, 3), zero where thin. point_box: (c, 6). depth: (c,) [m]. pair: face and index in `points`,
    (k, 2), output. fractions: weights of the face's corners, and contact time as a fraction of the step, (k, 4),
    output.
    """
    count = 0
    weights, best, across = np.empty(6), np.empty(6), np.empty(3)
    whole_box = np.empty(6)
    _around_all(box, whole_box)
    for n in range(points.shape[0]):
        if _disjoint(point_box[n], whole_box):
            continue
        p, dp = positions[points[n]], moves[points[n]]
        size = np.sqrt(_dot(outward[n], outward[n]))
        nearest, gap = -1, 1e300
        for f in range(faces.shape[0]):
            if not _disjoint(point_box[n], box[f]):
                distance = _nearest_weights(p, x, faces[f], weights)
                if distance < gap:
                    nearest, gap = f, distance
                    best[:] = weights
        if nearest < 0:
            continue
        inner = size > 0.0 and _dot(best[3:6], outward[n]) < 0.0
        if gap <= max(thickness, depth[n] if inner else 0.0):
            # across the face, to the side of the cloth: motion along the face does not separate
            a, b, c = x[faces[nearest, 0]], x[faces[nearest, 1]], x[faces[nearest, 2]]
            for i in range(3):
                j, k = (i + 1) % 3, (i + 2) % 3
                across[i] = (b[j] - a[j]) * (c[k] - a[k]) - (b[k] - a[k]) * (c[j] - a[j])
            side = _dot(across, outward[n]) if size > 0.0 else _dot(across, best[3:6])
            away = 0.0
            for i in range(3):
                move = -dp[i]
                for k in range(3):
                    move += best[k] * step[faces[nearest, k], i]
                away += move * across[i] / np.sqrt(_dot(across, across))
            away = away if side > 0.0 else -away if side < 0.0 else 0.0
            if inner or away <= RECEDES * thickness:
                if count < pair.shape[0]:
                    pair[count, 0], pair[count, 1] = nearest, n
                    for k in range(3):
                        fractions[count, k] = max(best[k], 0.0)
                    fractions[count, 3] = 0.0
                count += 1
            continue
        if inner:
            continue
        for f in range(faces.shape[0]):
            if _disjoint(point_box[n], box[f]):
                continue
            count = _point_passing(x, step, faces[f], p, dp, f, n, pair, fractions, count)
    return count
