"""Kernels of friction inside joints."""

from __future__ import annotations

import numpy as np

from ..threads import kernel

TINY = float(np.finfo(float).tiny)


@kernel("void(i4[::1], f8[:,::1], i4[::1], f8[:,:,::1], f8[:,::1])")
def fill_lines(dof, S, body, lead, rows):  # type: ignore[no-untyped-def]
    """Write into zero rows (k l, m) the slips of lines from rates: lead (k, l, 6) times S of the joint above each body.

    dof: (n + 1,). S: (m, 6). body: (k,).
    """
    lines = lead.shape[1]
    for k in range(body.shape[0]):
        for l in range(lines):
            for rate in range(dof[body[k]], dof[body[k] + 1]):
                total = 0.0
                for a in range(6):
                    total += lead[k, l, a] * S[rate, a]
                rows[k * lines + l, rate] = total


@kernel("void(i4[::1], f8[:,:,::1], f8[:,::1], f8[:,::1])")
def subtract_from_parents(parent, X, wrench, out):  # type: ignore[no-untyped-def]
    """Subtract X_iᵀ w_i of wrenches (n, 6) from the row of each body's parent in out (n, 6). X: (n, 6, 6)."""
    for i in range(parent.shape[0]):
        p = parent[i]
        if p >= 0:
            for a in range(6):
                for b in range(6):
                    out[p, b] -= X[i, a, b] * wrench[i, a]


@kernel("void(f8[:,:,::1], i4[::1], i4[::1], f8[:,:,::1], f8[:,:,::1])")
def fill_frame_maps(E, body, other, twist_maps, wrench_maps):  # type: ignore[no-untyped-def]
    """Write matrices from the frames of `body` to those of `other`, of twists and of wrenches, (k, 6, 6) each.

    E: body to world, (n, 4, 4). body, other: (k,), −1 for the world in `other`.
    """
    rotation, arm, lever = np.empty((3, 3)), np.empty(3), np.empty(3)
    for i in range(body.shape[0]):
        A, q = E[body[i]], other[i]
        # Rᵀ and R's origin of `other` in `body`: R = A_Rᵀ B_R
        for a in range(3):
            arm[a] = 0.0
            for c in range(3):
                arm[a] += A[c, a] * ((E[q, c, 3] if q >= 0 else 0.0) - A[c, 3])
            for b in range(3):
                total = 0.0
                for c in range(3):
                    total += A[c, b] * (E[q, c, a] if q >= 0 else 1.0 if c == a else 0.0)
                rotation[a, b] = total
        for a in range(3):
            # −Rᵀ [p]
            lever[0] = rotation[a, 2] * arm[1] - rotation[a, 1] * arm[2]
            lever[1] = rotation[a, 0] * arm[2] - rotation[a, 2] * arm[0]
            lever[2] = rotation[a, 1] * arm[0] - rotation[a, 0] * arm[1]
            for b in range(3):
                twist_maps[i, a, b] = twist_maps[i, 3 + a, 3 + b] = \
                    wrench_maps[i, a, b] = wrench_maps[i, 3 + a, 3 + b] = rotation[a, b]
                twist_maps[i, a, 3 + b] = wrench_maps[i, 3 + a, b] = 0.0
                twist_maps[i, 3 + a, b] = wrench_maps[i, a, 3 + b] = lever[b]


@kernel("void(i4[::1], f8[:,::1], f8[:,:,::1], f8, f8[:,::1])")
def add_lines(body, along, lead, sign, out):  # type: ignore[no-untyped-def]
    """Add sign Σ_l along (k, l) lead (k, l, 6) to the row of each body (k,) in out (n, 6); −1 is the world."""
    for i in range(body.shape[0]):
        if body[i] >= 0:
            for l in range(lead.shape[1]):
                impulse = sign * along[i, l]
                for a in range(6):
                    out[body[i], a] += impulse * lead[i, l, a]


@kernel("void(i4[::1], f8[:,::1], f8[:,:,::1], f8[:,:,::1], f8[:,::1])")
def point_loads(rows, wrench, to_points, carry, load):  # type: ignore[no-untyped-def]
    """Write loads (k, p) = carry (k, p, 6) times wrench[rows] (k, 6).

    to_points: matrices to the points' frame, (k, 6, 6), applied to the wrenches first; (0, 6, 6) for none.
    """
    own = np.empty(6)
    for i in range(rows.shape[0]):
        whole = wrench[rows[i]]
        for a in range(6):
            own[a] = whole[a]
            if to_points.shape[0]:
                own[a] = 0.0
                for b in range(6):
                    own[a] += to_points[i, a, b] * whole[b]
        for j in range(carry.shape[1]):
            row = carry[i, j]
            load[i, j] = (row[0] * own[0] + row[1] * own[1] + row[2] * own[2]
                          + row[3] * own[3] + row[4] * own[4] + row[5] * own[5])


@kernel("void(f8[:,::1], f8[:,::1], f8[:,::1], i4[::1], i4[::1], f8[::1], i4[::1], f8[:,::1], f8[:,::1])")
def write_tangent_bounds(load, mu, out, surface, point, ratio, line, tangents, lines):  # type: ignore[no-untyped-def]
    """Write bounds of tangents (k, t) and lines (k, l) from loads (k, p), as `Alike.bounds` returns them."""
    surfaces = surface[-1] + 1
    scale, force, whole = np.empty(surfaces), np.empty((surfaces, 3)), np.empty(surfaces)
    for i in range(load.shape[0]):
        for s in range(surfaces):
            whole[s] = 0.0
            for a in range(3):
                force[s, a] = 0.0
        for j in range(surface.shape[0]):
            s = surface[j]
            whole[s] += abs(load[i, j])
            for a in range(3):
                force[s, a] += load[i, j] * out[j, a]
        for s in range(surfaces):
            size = np.sqrt(force[s, 0] * force[s, 0] + force[s, 1] * force[s, 1] + force[s, 2] * force[s, 2])
            scale[s] = mu[i, 0] * size / max(whole[s], TINY)
        for l in range(lines.shape[1]):
            lines[i, l] = 0.0
        for j in range(point.shape[0]):
            tangents[i, j] = scale[surface[point[j]]] * abs(load[i, point[j]])
            lines[i, line[j]] += ratio[j] * tangents[i, j]


@kernel("f8(f8[:,::1], f8[:,:,::1])")
def size_in(wrench, weight):  # type: ignore[no-untyped-def]
    """Return √ Σ wᵀ M⁻¹ w of wrenches w (n, 6), with weights M⁻¹ (n, 6, 6)."""
    total = 0.0
    for i in range(wrench.shape[0]):
        for a in range(6):
            for b in range(6):
                total += wrench[i, a] * weight[i, a, b] * wrench[i, b]
    return np.sqrt(total)


@kernel("void(i4[::1], f8[:,::1], f8[:,:,::1], i4[::1], f8[:,:,::1])")
def free_wrenches(dof, S, at_joint, body, along):  # type: ignore[no-untyped-def]
    """Write the body below each rate's joint into body (m,), and the wrench of a unit effort on the rate into along (m,
    1, 6).

    The wrench has no effort on other rates of the joint: it is S (SᵀS)⁻¹ of the joint's columns about its origin. dof:
    (n + 1,). S: (m, 6). at_joint: from wrenches in the joints' moving frames to the bodies', (n, 6, 6).
    """
    about, square = np.empty((6, 6)), np.empty((6, 6))
    for i in range(at_joint.shape[0]):
        first, frame = dof[i], at_joint[i]
        d = dof[i + 1] - first
        for r in range(d):
            for a in range(6):
                about[r, a] = 0.0
                for b in range(6):
                    about[r, a] += S[first + r, b] * frame[b, a]
        for r in range(d):
            for q in range(d):
                square[r, q] = 0.0
                for a in range(6):
                    square[r, q] += about[r, a] * about[q, a]
        # columns of a joint are independent, so its Gram matrix has positive pivots
        for c in range(d):
            for r in range(d):
                if r != c:
                    factor = square[r, c] / square[c, c]
                    for q in range(c, d):
                        square[r, q] -= factor * square[c, q]
                    for a in range(6):
                        about[r, a] -= factor * about[c, a]
        for r in range(d):
            body[first + r] = i
            for a in range(6):
                along[first + r, 0, a] = 0.0
                for b in range(6):
                    along[first + r, 0, a] += frame[a, b] * about[r, b] / square[r, r]
