"""Kernels of isolated bodies: boxes around bodies, tests of bodies against each other, displacements within a body."""

from __future__ import annotations

import numpy as np

from ...threads import inline, kernel


@kernel("void(i8, i8, f8[:,::1], f8[:,::1], i4[::1], i8[::1], f8, f8, f8[:,::1], f8[::1])")
def body_boxes(start, stop, before, after, nodes, first, distance, fraction, out, more):  # type: ignore[no-untyped-def]
    """Write the boxes around bodies start to stop on straight displacements of their nodes to `out`, (b, 6) [m].

    before, after: positions, (n, 3) [m]. Boxes are grown by `more`, written, (b,) [m]: half of `distance` [m] plus
    `fraction` times the body's longest displacement. nodes: body by body, (n,), those of body b start at first[b],
    (b + 1,).
    """
    for b in range(start, stop):
        longest = 0.0
        for a in range(3):
            out[b, a], out[b, 3 + a] = np.inf, -np.inf
        for n in range(first[b], first[b + 1]):
            k, square = nodes[n], 0.0
            for a in range(3):
                out[b, a] = min(out[b, a], before[k, a], after[k, a])
                out[b, 3 + a] = max(out[b, 3 + a], before[k, a], after[k, a])
                square += (after[k, a] - before[k, a]) ** 2
            longest = max(longest, square)
        more[b] = 0.5 * distance + fraction * np.sqrt(longest)
        for a in range(3):
            out[b, a] -= more[b]
            out[b, 3 + a] += more[b]


@inline
def _disjoint(box, a, b):  # type: ignore[no-untyped-def]
    """Return whether the boxes a and b of (m, 6) are disjoint."""
    return ((box[a, 0] > box[b, 3]) | (box[b, 0] > box[a, 3]) | (box[a, 1] > box[b, 4]) | (box[b, 1] > box[a, 4])
            | (box[a, 2] > box[b, 5]) | (box[b, 2] > box[a, 5]))


@kernel("void(i8, i8, f8[:,::1], f8[:,::1], i4[:,::1], i8[::1], b1[:,::1], f8[:,::1], f8[::1], f8[::1], b1[::1])")
def mark_near_others(start, stop, before, after, triangles, starts, collide, box, more, size, out):  # type: ignore[no-untyped-def]
    """Mark in `out`, (b,), which of bodies start to stop, and which bodies before them, are near a colliding body.

    Triangles' boxes of one body are tested against the box of the other, the smaller one, since a bowl's box contains
    all that is in the bowl. Several threads may set a mark, and none clears one. before, after: positions,
    (n, 3) [m]. triangles: body by body, (t, 3), those of body b start at starts[b], (b + 1,). collide: (b, b).
    box, more: as `body_boxes` writes them. size: of each box, (b,).
    """
    for a in range(start, stop):
        for b in range(a):
            if (out[a] and out[b]) or not collide[a, b] or _disjoint(box, a, b):
                continue
            small, large = (a, b) if size[a] <= size[b] else (b, a)
            for t in range(starts[large], starts[large + 1]):
                inside = True
                for i in range(3):
                    low, high = np.inf, -np.inf
                    for c in range(3):
                        node = triangles[t, c]
                        low, high = (min(low, before[node, i], after[node, i]),
                                     max(high, before[node, i], after[node, i]))
                    inside &= low - more[large] <= box[small, 3 + i] and high + more[large] >= box[small, i]
                if inside:
                    out[a], out[b] = True, True
                    break


@kernel("void(i8, i8, f8[:,::1], f8[:,::1], i4[::1], i8[::1], f8[:,::1], f8[::1])")
def measure_own_displacements(start, stop, before, after, nodes, first, common, out):  # type: ignore[no-untyped-def]
    """Write lengths of displacements relative to the common one of their body to `out`, (n,) [m], bodies start to stop.

    before, after: positions, (n, 3) [m]. common: common displacement of each body, written, (b, 3)
    [m]: the middle between the least and the largest along each axis, or zero where that does not reduce the sum of
    squares. nodes: body by body, (n,), those of body b start at first[b], (b + 1,).
    """
    for b in range(start, stop):
        for a in range(3):
            low, high = np.inf, -np.inf
            for n in range(first[b], first[b + 1]):
                component = after[nodes[n], a] - before[nodes[n], a]
                low, high = min(low, component), max(high, component)
            common[b, a] = 0.5 * (low + high) if high - low < np.inf else 0.0
        own, about = 0.0, 0.0
        for n in range(first[b], first[b + 1]):
            for a in range(3):
                component = after[nodes[n], a] - before[nodes[n], a]
                own += component * component
                about += (component - common[b, a]) ** 2
        if not about < own:
            for a in range(3):
                common[b, a] = 0.0
        for n in range(first[b], first[b + 1]):
            k, square = nodes[n], 0.0
            for a in range(3):
                square += (after[k, a] - before[k, a] - common[b, a]) ** 2
            out[k] = np.sqrt(square)
