"""Kernels of sliding vertices: distances from the cloth's border, tracking of features, and admissible sliding."""

from __future__ import annotations

import numpy as np

from ..threads import inline, kernel
from .runs_kernels import nearest_on_run


@inline
def _square_to(a0, a1, b0, b1, X0, X1):  # type: ignore[no-untyped-def]
    """Return the squared distance from a point X to the segment a b in material space [m²]."""
    w0, w1 = b0 - a0, b1 - a1
    t = min(max(((X0 - a0) * w0 + (X1 - a1) * w1) / (w0 * w0 + w1 * w1), 0.0), 1.0)
    d0, d1 = X0 - a0 - t * w0, X1 - a1 - t * w1
    return d0 * d0 + d1 * d1


@kernel("void(f8[:,:,::1], f8[:,::1], f8[::1])")
def nearest_segment(segments, X, out):  # type: ignore[no-untyped-def]
    """Write the distances from points X, (k, 2) [m], to the nearest of segments, (b, 2, 2) [m], to `out`, (k,) [m]."""
    for k in range(X.shape[0]):
        least = np.inf
        for s in range(segments.shape[0]):
            least = min(least, _square_to(segments[s, 0, 0], segments[s, 0, 1], segments[s, 1, 0], segments[s, 1, 1],
                                          X[k, 0], X[k, 1]))
        out[k] = np.sqrt(least)


@kernel("void(f8[:,::1], f8[:,::1], i4[:,::1], b1[::1], i4[:,::1], b1[::1], i4[::1], f8, f8, b1[::1])")
def up_to_border(material, slide, faces, border, ends, required, vertices, h, near, out):  # type: ignore[no-untyped-def]
    """Write to `out`, (k,), which of `vertices` slide nearer than `near` [m] to the border within a step of h [s].

    For a vertex on the border it is the distance to a required vertex of the border. Tested are the start, the middle
    and the end of the step. material, slide: (n, 2) [m, m/s]. faces: (m, 3). border: which vertices are on it, (n,).
    ends: of the border's edges, (b, 2). required: (n,).
    """
    # only vertices of faces at the border can be so near
    close = np.zeros(material.shape[0], np.bool_)
    for f in range(faces.shape[0]):
        a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
        if border[a] or border[b] or border[c]:
            close[a] = close[b] = close[c] = True
    for k in range(vertices.shape[0]):
        out[k] = False
        v = vertices[k]
        if not close[v]:
            continue
        slides = slide[v, 0] != 0.0 or slide[v, 1] != 0.0
        for step in range(3 if slides else 1):
            X0 = material[v, 0] + 0.5 * step * h * slide[v, 0]
            X1 = material[v, 1] + 0.5 * step * h * slide[v, 1]
            least = np.inf
            for e in range(ends.shape[0]):
                a, b = ends[e, 0], ends[e, 1]
                if not border[v]:
                    least = min(least, _square_to(material[a, 0], material[a, 1], material[b, 0], material[b, 1],
                                                  X0, X1))
                elif required[a]:
                    least = min(least, (X0 - material[a, 0]) ** 2 + (X1 - material[a, 1]) ** 2)
            out[k] = out[k] or np.sqrt(least) < near


@inline
def _is_off(offset, outward, thickness):  # type: ignore[no-untyped-def]
    """Return whether a vector from a feature is longer than the thickness and outwards, in any direction if thin."""
    along = offset[0] * outward[0] + offset[1] * outward[1] + offset[2] * outward[2]
    return along >= 0.0 and np.sqrt(offset[0] * offset[0] + offset[1] * offset[1] + offset[2] * offset[2]) > thickness


@kernel("i8(f8[:,::1], i4[::1], b1[::1], b1[::1], i4[::1], i8, f8[:,::1], f8[:,::1], i4[:,::1], f8[:,::1], i4[::1],"
        " i4[:,::1], f8, b1[::1], i4[:,::1])")
def follow(  # type: ignore[no-untyped-def]
        x, on, released, border, vertices, points, positions, point_outward, edges, outward, first, run_ends, thickness,
        to_corner, over):
    """Move vertices to their features, and write x, on and `released`, (n,); return how many ran over an end of a run.

    Those vertices are written with the corner at that end to `over`, (k, 2), and to `to_corner`, (k,), whether they
    are on the corner from now on. released: vertices that have left their feature. vertices: sorted by feature, (k,).
    points: number of point features. positions [m], point_outward: of points, (P, 3). edges:
    (E, 2), with outward directions `outward`, (E, 3); those of run r are first[r] to first[r + 1]. run_ends: corners of
    each run, (R, 2). thickness: distance at which a vertex has left [m].
    """
    edge, fraction, position, offset = np.empty(1, np.int32), np.empty(1), np.empty((1, 3)), np.empty(3)
    for v in vertices:  # points first: runs depend on the vertices at their ends
        if 0 <= on[v] < points:
            for i in range(3):
                offset[i] = x[v, i] - positions[on[v], i]
            released[v] |= _is_off(offset, point_outward[on[v]], thickness)
            if not released[v]:
                x[v] = positions[on[v]]
    count = 0
    for v in vertices:
        run = on[v] - points
        if run < 0 or released[v]:
            continue
        nearest_on_run(positions, edges, first[run], first[run + 1], run_ends[run, 0] >= 0, x[v : v + 1], edge,
                       fraction, position)
        a, b = edges[edge[0], 0], edges[edge[0], 1]
        for i in range(3):
            offset[i] = x[v, i] - positions[a, i] - fraction[0] * (positions[b, i] - positions[a, i])
        if _is_off(offset, outward[edge[0]], thickness):
            released[v] = True
        elif 0.0 <= fraction[0] <= 1.0:
            x[v] = position[0]
        elif border[v]:  # the border cannot slide along itself over a corner
            released[v] = True
        else:
            corner = run_ends[run, 0 if fraction[0] < 0.0 else 1]
            taken = False
            for i in range(on.shape[0]):
                taken |= on[i] == corner and not released[i]
            over[count, 0], over[count, 1], to_corner[count] = v, corner, not taken
            count += 1
            if not taken:
                on[v] = corner
    return count


@inline
def _first_root(a, b, c):  # type: ignore[no-untyped-def]
    """Return the smallest t > 0 with a t² + b t + c = 0, for c > 0 and any a, also 0; infinite if there is none."""
    root = b * b - 4.0 * a * c
    down = -b + np.sqrt(max(root, 0.0))
    return 2.0 * c / down if root >= 0.0 and down > 0.0 else np.inf


@inline
def _square(e0, e1, p0, p1, out):  # type: ignore[no-untyped-def]
    """Write the coefficients of |e + t p|² = out[0] t² + out[1] t + out[2] to `out`, (3,)."""
    out[0], out[1], out[2] = p0 * p0 + p1 * p1, 2.0 * (e0 * p0 + e1 * p1), e0 * e0 + e1 * e1


@kernel("f8(f8[:,::1], f8[:,::1], i4[:,::1], f8, f8, f8, f8)")
def largest_slide(material, slide, faces, h, left, thinnest, worse):  # type: ignore[no-untyped-def]
    """Return the largest fraction, up to 1, of a step of h [s] in which sliding leaves no face too small or too thin.

    Each face retains the fraction `left` of its area, and no angle gets a tan that is below both `thinnest` and the
    fraction `worse` of that of the face's smallest angle now. material, slide: (n, 2) [m, m/s]. faces: (m, 3).
    """
    least, s = 1.0, np.empty((3, 3))
    for f in range(faces.shape[0]):
        i, j, k = faces[f, 0], faces[f, 1], faces[f, 2]
        b0, b1 = material[j, 0] - material[i, 0], material[j, 1] - material[i, 1]
        c0, c1 = material[k, 0] - material[i, 0], material[k, 1] - material[i, 1]
        p0, p1 = h * (slide[j, 0] - slide[i, 0]), h * (slide[j, 1] - slide[i, 1])
        q0, q1 = h * (slide[k, 0] - slide[i, 0]), h * (slide[k, 1] - slide[i, 1])
        if p0 == 0.0 and p1 == 0.0 and q0 == 0.0 and q1 == 0.0:
            continue
        # twice its area, a t² + b t + c
        a, b, c = p0 * q1 - p1 * q0, b0 * q1 - b1 * q0 + p0 * c1 - p1 * c0, b0 * c1 - b1 * c0
        least = min(least, _first_root(a, b, (1.0 - left) * c))
        # squares of its edges, and tan = 4 A / (sum of the other two − that of the edge opposite) of each angle
        _square(b0, b1, p0, p1, s[2])
        _square(c0, c1, q0, q1, s[1])
        _square(c0 - b0, c1 - b1, q0 - p0, q1 - p1, s[0])
        longer_two = s[0, 2] + s[1, 2] + s[2, 2] - 2.0 * min(s[0, 2], min(s[1, 2], s[2, 2]))
        tan = min(thinnest, worse * 2.0 * c / max(longer_two, 1e-300))
        for k in range(3):
            i, j = (k + 1) % 3, (k + 2) % 3
            least = min(least, _first_root(2.0 * a - tan * (s[i, 0] + s[j, 0] - s[k, 0]),
                                           2.0 * b - tan * (s[i, 1] + s[j, 1] - s[k, 1]),
                                           2.0 * c - tan * (s[i, 2] + s[j, 2] - s[k, 2])))
    return least
