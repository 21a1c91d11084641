"""Kernels that pair triangles into quads and find bends about edges, independent of the diagonals of the quads."""

from __future__ import annotations

import math

import numpy as np

from ...threads import inline, kernel

LONGER = 1.05  #: least ratio of the edge that divides a quad to the other edges of both triangles
SQUARE = 0.35  #: largest cosine at the corners opposite to that edge: beyond it, both triangles are no quad
SAME_LENGTH = 1.0e-6  #: largest relative difference of that edge's length in both triangles, on a seam of a UV map


@inline
def side_of(triangles, t, a, b):  # type: ignore[no-untyped-def]
    """Return the side k of triangle t that is the edge from a to b, between corners k and k + 1; −1 where none is."""
    for k in range(3):
        one, two = triangles[t, k], triangles[t, (k + 1) % 3]
        if (one == a and two == b) or (one == b and two == a):
            return k
    return -1


@inline
def corner_of(triangles, t, node):  # type: ignore[no-untyped-def]
    """Return the corner of triangle t, 0 to 2, at a node that it has."""
    for k in range(2):
        if triangles[t, k] == node:
            return k
    return 2


@inline
def length_of(material, t, k):  # type: ignore[no-untyped-def]
    """Return the length of side k of triangle t in material space [m]."""
    u0, u1 = material[t, (k + 1) % 3, 0] - material[t, k, 0], material[t, (k + 1) % 3, 1] - material[t, k, 1]
    return math.sqrt(u0 * u0 + u1 * u1)


@inline
def unfold_corner(triangles, material, t, k, u, corner, position):  # type: ignore[no-untyped-def]
    """Write to `position` where a corner of triangle u, unfolded about side k of t, is in the material space of t
    (2,).

    Each triangle may have a material space of its own. material: (e, 3, 2) [m].
    """
    p, q = corner_of(triangles, u, triangles[t, k]), corner_of(triangles, u, triangles[t, (k + 1) % 3])
    u0, u1 = material[u, q, 0] - material[u, p, 0], material[u, q, 1] - material[u, p, 1]
    v0, v1 = material[u, corner, 0] - material[u, p, 0], material[u, corner, 1] - material[u, p, 1]
    square = u0 * u0 + u1 * u1
    along, across = (u0 * v0 + u1 * v1) / square, abs(u0 * v1 - u1 * v0) / square
    t0 = material[t, (k + 1) % 3, 0] - material[t, k, 0]
    t1 = material[t, (k + 1) % 3, 1] - material[t, k, 1]
    w0, w1 = material[t, (k + 2) % 3, 0] - material[t, k, 0], material[t, (k + 2) % 3, 1] - material[t, k, 1]
    if t0 * w1 - t1 * w0 > 0.0:  # its own corner is on the left
        across = -across
    position[0] = material[t, k, 0] + along * t0 - across * t1
    position[1] = material[t, k, 1] + along * t1 + across * t0


@inline
def cosine(material, t, at):  # type: ignore[no-untyped-def]
    """Return the cosine of the angle of triangle t at corner `at`, in material space."""
    one, two = (at + 1) % 3, (at + 2) % 3
    u0, u1 = material[t, one, 0] - material[t, at, 0], material[t, one, 1] - material[t, at, 1]
    v0, v1 = material[t, two, 0] - material[t, at, 0], material[t, two, 1] - material[t, at, 1]
    return (u0 * v0 + u1 * v1) / math.sqrt((u0 * u0 + u1 * u1) * (v0 * v0 + v1 * v1))


@kernel("void(i4[:,::1], f8[:,:,::1], i4[:,::1], i4[:,::1], i4[::1], i4[::1])")
def pair_triangles(triangles, material, nodes, sides, longest, mates):  # type: ignore[no-untyped-def]
    """Write the other half of each triangle's quad into mates (e,), −1 for none, and its longest side into longest
    (e,).

    The longest side is that which divides the quad; −1 where no side is longest. nodes, sides: of `Hinges`. triangles:
    (e, 3). material: (e, 3, 2) [m].
    """
    for t in range(triangles.shape[0]):
        mates[t], longest[t] = -1, -1
        first, second = 0.0, 0.0
        for k in range(3):
            length = length_of(material, t, k)
            if length > first:
                first, second, longest[t] = length, first, k
            elif length > second:
                second = length
        if first < LONGER * second:
            longest[t] = -1
    for h in range(nodes.shape[0]):
        a, b, s, t = nodes[h, 0], nodes[h, 1], sides[h, 0], sides[h, 1]
        i, j = side_of(triangles, s, a, b), side_of(triangles, t, a, b)
        if longest[s] != i or longest[t] != j:
            continue
        one, other = length_of(material, s, i), length_of(material, t, j)
        leans = max(abs(cosine(material, s, (i + 2) % 3)), abs(cosine(material, t, (j + 2) % 3)))
        if abs(one - other) <= SAME_LENGTH * one and leans <= SQUARE:
            mates[s], mates[t] = t, s


@inline
def corners_across(triangles, material, longest, mates, t, a, b, corners, positions):  # type: ignore[no-untyped-def]
    """Return the number of corners that bend about the edge from a to b on the side of triangle t, 1, or 2 of a quad.

    Of a quad, the corner across from a, then that across from b. Writes their nodes into found (2,), and positions of
    a, b and the corner in material space into positions (2, 3, 2) [m].
    """
    i, j = corner_of(triangles, t, a), corner_of(triangles, t, b)
    own = 3 - i - j
    count, cut_side, u, opposite = 1, 0, t, own
    if mates[t] >= 0:
        u, count = mates[t], 2
        opposite = (longest[u] + 2) % 3
        cut = longest[t]
        # the diagonal goes from this triangle's own corner to a or to b; the mate's corner is across from that
        cut_side = 1 if (cut == i and (cut + 1) % 3 == own) or (cut == own and (cut + 1) % 3 == i) else 0
    for k in range(count):
        corners[k] = triangles[t, own] if k == cut_side else triangles[u, opposite]
        for axis in range(2):
            positions[k, 0, axis] = material[t, i, axis]
            positions[k, 1, axis] = material[t, j, axis]
            positions[k, 2, axis] = material[t, own, axis]
        if k != cut_side:
            unfold_corner(triangles, material, t, longest[t], u, opposite, positions[k, 2])
    return count


@inline
def cotangents_and_area(positions, first, h, side, cotangents, areas):  # type: ignore[no-untyped-def]
    """Write the cotangents at corners a and b and the area of a triangle, positions (3, 2) [m], for bend h."""
    u0, u1 = positions[1, 0] - positions[0, 0], positions[1, 1] - positions[0, 1]
    v0, v1 = positions[2, 0] - positions[0, 0], positions[2, 1] - positions[0, 1]
    twice = abs(u0 * v1 - u1 * v0)
    areas[h, side] = 0.5 * twice
    cotangents[h, first] = (u0 * v0 + u1 * v1) / twice
    cotangents[h, first + 1] = (u0 * (u0 - v0) + u1 * (u1 - v1)) / twice


@kernel("i8(i4[:,::1], f8[:,:,::1], i4[:,::1], i4[:,::1], f8[::1], f8[:,::1], f8[:,::1], i4[::1], i4[::1], i4[:,::1],"
        " f8[::1], f8[:,::1], f8[:,::1], f8[::1])")
def find_bends(  # type: ignore[no-untyped-def]
    triangles, material, nodes, sides, length, areas, cotangents, longest, mates, out_nodes, out_length, out_areas,
    out_cotangents, out_weight,
):
    """Write the arrays of `Bends` from hinges and pairs of triangles; return the number of bends.

    The arrays have room for two bends per hinge. nodes, sides, length, areas, cotangents: of `Hinges`. longest, mates:
    from `pair_triangles`.
    """
    count = 0
    one, other = np.empty(2, np.int64), np.empty(2, np.int64)
    of_one, of_other = np.empty((2, 3, 2)), np.empty((2, 3, 2))
    for h in range(nodes.shape[0]):
        a, b, s, t = nodes[h, 0], nodes[h, 1], sides[h, 0], sides[h, 1]
        if mates[s] == t or (mates[s] < 0 and mates[t] < 0):
            for k in range(4):
                out_nodes[count, k], out_cotangents[count, k] = nodes[h, k], cotangents[h, k]
            out_areas[count, 0], out_areas[count, 1] = areas[h, 0], areas[h, 1]
            out_length[count], out_weight[count] = length[h], 1.0
            if mates[s] == t:
                # sides of a quad do not resist its twist, and its diagonal, ½ k |e|²/A θ², resists it too much
                ratio = (areas[h, 0] + areas[h, 1]) / (length[h] * length[h])
                out_weight[count] = min(1.0, 2.0 * ratio * ratio)
            count += 1
            continue
        first = corners_across(triangles, material, longest, mates, s, a, b, one, of_one)
        second = corners_across(triangles, material, longest, mates, t, a, b, other, of_other)
        for k in range(2):
            c, d = min(k, first - 1), min(k, second - 1)
            out_nodes[count, 0], out_nodes[count, 1], out_nodes[count, 2], out_nodes[count, 3] = a, b, one[c], other[d]
            out_length[count], out_weight[count] = length[h], 0.5
            cotangents_and_area(of_one[c], 0, count, 0, out_cotangents, out_areas)
            cotangents_and_area(of_other[d], 2, count, 1, out_cotangents, out_areas)
            count += 1
    return count
