"""Kernels of the broad phase: pairs of points and triangles, or of edges, that are near each other.

Boxes are sorted into columns of a grid and swept along the third axis; then follow distances of pairs whose boxes
overlap. The IPC Toolkit finds the same pairs, but returns each as a Python object, which takes a hundred times as long
as the search. A row is a point, a triangle or an edge, and a group is a set of nodes that do not touch each other.
"""

from __future__ import annotations

import numpy as np

from ...threads import inline, kernel
from .distance_kernels import SQUARE, WORK, nearest_in_triangle, nearest_on_edges

REMAINING = 0.1  #: distance relative to that at the start of a displacement, below which a pair counts as touching
CELLS = 32  #: number of cells of a coarse grid along each axis


@kernel("void(i8, i8, f8[:,::1], f8[:,::1], i4[:,::1], f8, f8, f8[:,::1])")
def boxes(start, stop, x, end, corners, grown, fraction, out):  # type: ignore[no-untyped-def]
    """Write the boxes around rows start to stop, at the start and the end of a displacement of their nodes.

    x, end: positions of nodes, (n, 3) [m]. corners: nodes of each row, (k, c). Boxes are grown by `grown` [m] plus
    `fraction` times the longest displacement of the row's nodes. out: lower and upper corners, (k, 6).
    """
    for k in range(start, stop):
        longest = 0.0
        for c in range(corners.shape[1]):
            node, square = corners[k, c], 0.0
            for a in range(3):
                square += (end[node, a] - x[node, a]) ** 2
            longest = max(longest, square)
        more = grown + fraction * np.sqrt(longest)
        for a in range(3):
            low = high = x[corners[k, 0], a]
            for c in range(corners.shape[1]):
                node = corners[k, c]
                low, high = min(low, x[node, a], end[node, a]), max(high, x[node, a], end[node, a])
            out[k, a], out[k, 3 + a] = low - more, high + more


@inline
def _cell(value, low, inverse, count):  # type: ignore[no-untyped-def]
    """Return the number of the column, in [0, count), in which a coordinate lies along one axis."""
    return min(max(int((value - low) * inverse), 0), count - 1)


@kernel("void(f8[:,::1], i4[:,::1], b1[::1], b1[::1], b1[::1])")
def mark_near_moved(box, corners, moved, has_moved, out):  # type: ignore[no-untyped-def]
    """Write which rows have a node that moved, has_moved (m,), and which rows may touch such a row, out (m,).

    box: of each row, (m, 6) [m]. corners: nodes of each row, (m, c). moved: which nodes moved, (n,). Two rows may touch
    where their boxes are in one cell of a coarse grid.
    """
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for k in range(corners.shape[0]):
        has_moved[k] = False
        for c in range(corners.shape[1]):
            has_moved[k] |= moved[corners[k, c]]
        if has_moved[k]:
            for a in range(3):
                low[a], high[a] = min(low[a], box[k, a]), max(high[a], box[k, 3 + a])
    marked = np.zeros((CELLS, CELLS, CELLS), dtype=np.bool_)
    inverse = np.zeros(3)
    for a in range(3):
        if 0.0 < high[a] - low[a] < np.inf:
            inverse[a] = CELLS / (high[a] - low[a])
    start, stop = np.empty(3, dtype=np.int64), np.empty(3, dtype=np.int64)
    for marks in (True, False):
        for k in range(corners.shape[0]):
            if marks and not has_moved[k]:
                continue
            out[k] = has_moved[k]
            if has_moved[k] and not marks:
                continue
            is_outside = False
            for a in range(3):
                is_outside |= box[k, a] > high[a] or box[k, 3 + a] < low[a]
                start[a] = _cell(box[k, a], low[a], inverse[a], CELLS)
                stop[a] = _cell(box[k, 3 + a], low[a], inverse[a], CELLS) + 1
            if is_outside:
                continue
            for i in range(start[0], stop[0]):
                for j in range(start[1], stop[1]):
                    for m in range(start[2], stop[2]):
                        if marks:
                            marked[i, j, m] = True
                        elif marked[i, j, m]:
                            out[k] = True
                    if out[k] and not marks:
                        break
                if out[k] and not marks:
                    break


@kernel("void(f8[:,::1], i8[::1], i8, f8[::1], f8[::1], i8[::1], i8, f8[:,::1], i4[:,::1], i8[::1])")
def sort_into_columns(box, order, axis, low, inverse, shape, points, ends, cell, start):  # type: ignore[no-untyped-def]
    """Write the ends and the columns of all boxes in the order of a sweep, and the starts of the columns' entries.

    box: (m, 6). order: of rows along the sweep, (m,). axis: of the sweep. low, inverse, shape: origin, inverse width
    and number of columns along both other axes, (2,). points: number of rows that are points, before the others.
    ends: lower and upper ends along the axis and both others, (m, 6). cell: first and last column along both others,
    (m, 4). start: where the entries of each column begin, (2 columns + 1,), points before others; zero before the call.
    """
    first, second = (axis + 1) % 3, (axis + 2) % 3
    for k in range(order.shape[0]):
        row = order[k]
        ends[k, 0], ends[k, 1] = box[row, axis], box[row, axis + 3]
        ends[k, 2], ends[k, 3] = box[row, first], box[row, first + 3]
        ends[k, 4], ends[k, 5] = box[row, second], box[row, second + 3]
        for side in range(2):
            cell[k, side] = _cell(ends[k, 2 + side], low[0], inverse[0], shape[0])
            cell[k, 2 + side] = _cell(ends[k, 4 + side], low[1], inverse[1], shape[1])
        for i in range(cell[k, 0], cell[k, 1] + 1):
            for j in range(cell[k, 2], cell[k, 3] + 1):
                start[2 * (i * shape[1] + j) + (row >= points) + 1] += 1
    for column in range(start.shape[0] - 1):
        start[column + 1] += start[column]


@kernel("void(i8[::1], i4[:,::1], i8[::1], i8, i4[:,::1], i4[::1], i8[::1], i8[::1], i4[::1], i4[::1], i4[::1])")
def enter_columns(order, cell, shape, points, corners, group, start, cursor, entry, of_group, after):  # type: ignore[no-untyped-def]
    """Write the entries of all columns, the group of each row, and where runs of rows of one group end.

    order, cell, start: see `sort_into_columns`. group: of each node, (n,), −1 without one. cursor: a copy of `start`,
    overwritten. entry: positions in the order, ascending in each column, (start[-1],). of_group: group of each row in
    the order, (m,), −1 where its nodes are of several or of none. after: for each entry, where the run of entries of
    its group ends in its column, (start[-1],). Rows of a run do not touch each other and are passed over at once: a
    collider of 400,000 triangles is one run except near others.
    """
    for k in range(order.shape[0]):
        for i in range(cell[k, 0], cell[k, 1] + 1):
            for j in range(cell[k, 2], cell[k, 3] + 1):
                column = 2 * (i * shape[1] + j) + (order[k] >= points)
                entry[cursor[column]] = k
                cursor[column] += 1
        of_group[k] = group[corners[order[k], 0]]
        for c in range(1, corners.shape[1]):
            if group[corners[order[k], c]] != of_group[k]:
                of_group[k] = -1
    for column in range(start.shape[0] - 1):
        end = start[column + 1]
        for f in range(start[column + 1] - 1, start[column] - 1, -1):
            if f + 1 < start[column + 1] and of_group[entry[f + 1]] != of_group[entry[f]]:
                end = f + 1
            after[f] = end


# nodes are separate arguments, as reference counts of an array argument would take longer than the whole test
@inline
def _have_common_node(a, b, c, d, e):  # type: ignore[no-untyped-def]
    """Return whether two rows have a node in common: a and b, equal for a point, and c, d and e, of which d and e are
    equal for an edge."""
    return (a == c) | (a == d) | (a == e) | (b == c) | (b == d) | (b == e)


@inline
def _square_distance(x, points, a, b, c, d, e, nodes, work):  # type: ignore[no-untyped-def]
    """Return the squared distance of two rows as in `_have_common_node`: a point and a triangle, or without points two
    edges.

    nodes (4,), work (WORK,): scratch space.
    """
    if points > 0:
        nodes[0], nodes[1], nodes[2], nodes[3] = a, c, d, e
        nearest_in_triangle(x, nodes, work)
    else:
        nodes[0], nodes[1], nodes[2], nodes[3] = a, b, c, d
        nearest_on_edges(x, nodes, work)
    return work[SQUARE]


@inline
def _are_one_group(a, b, c, d, e):  # type: ignore[no-untyped-def]
    """Return whether the groups of five nodes are one and the same, and not −1, which is none."""
    return (a >= 0) & (a == b) & (a == c) & (a == d) & (a == e)


@kernel("i8(f8[:,::1], i8, i8, f8[:,::1], i4[:,::1], i4[::1], f8, i4[:,::1])")
def all_pairs(box, points, first, x, corners, group, distance, out):  # type: ignore[no-untyped-def]
    """Write pairs of rows that are within a distance to `out`, and return their number; without a grid.

    box: of each row, (m, 6) [m]. first: number of first rows, which pair with the others alone; 0 for all pairs.
    points, x, corners, group, distance: see `find_near_pairs`. out: (room, 2), ascending; further pairs are counted.
    """
    square, count, many, last = distance * distance, 0, box.shape[0], corners.shape[1] - 1
    work, nodes = np.empty(WORK), np.empty(4, dtype=np.int32)
    for p in range(first if first > 0 else many):
        for q in range(first if first > 0 else p + 1, many):
            if (box[p, 0] > box[q, 3] or box[q, 0] > box[p, 3] or box[p, 1] > box[q, 4] or box[q, 1] > box[p, 4]
                    or box[p, 2] > box[q, 5] or box[q, 2] > box[p, 5]):
                continue
            a, b, c, d, e = corners[p, 0], corners[p, 1], corners[q, 0], corners[q, 1], corners[q, last]
            if _have_common_node(a, b, c, d, e) or _are_one_group(group[a], group[b], group[c], group[d], group[e]):
                continue
            if square < np.inf and _square_distance(x, points, a, b, c, d, e, nodes, work) > square:
                continue
            if count < out.shape[0]:
                out[count, 0], out[count, 1] = p, q
            count += 1
    return count


@kernel("void(i8, i8, i8[::1], b1[::1], i8[::1], f8[:,::1], i4[:,::1], i8[::1], i4[::1], i4[::1], i4[::1], i8, i8, "
        "f8[:,::1], i4[:,::1], i4[::1], f8, i4[:,:,::1], i8[::1])")
def find_near_pairs(  # type: ignore[no-untyped-def]
    first_piece, stop_piece, borders, requested, order, ends, cell, start, entry, of_group, after, across, points, x,
    corners, group, distance, out, counts,
):
    """Write pairs of rows that are within a distance, for pieces first_piece to stop_piece of the columns of a grid.

    Piece p is the columns borders[p] to borders[p + 1]. order: rows by the lower ends of their boxes along the sweep,
    (m,). ends to after: see `sort_into_columns` and `enter_columns`. across: number of columns along the last axis.
    requested: which rows are requested, (m,); each pair has one of them. points: number of rows that are points, which
    pair with triangles, corners (m, 3), a point's node three times; 0 for edges, corners (m, 2). x: positions of nodes,
    (n, 3) [m]. group: of each node, (n,), −1 without one. distance: [m]; infinite where overlapping boxes are enough.
    out: pairs of each piece, (pieces, k, 2), as many as there is room for. counts: their numbers, (pieces,).
    """
    square, last = distance * distance, corners.shape[1] - 1
    work, nodes = np.empty(WORK), np.empty(4, dtype=np.int32)
    piece, count = first_piece, 0
    for column in range(borders[first_piece], borders[stop_piece]):
        while column == borders[piece + 1]:
            counts[piece] = count
            piece, count = piece + 1, 0
        own_first, own_second = column // across, column % across
        one, other, stop = start[2 * column], start[2 * column + 1], start[2 * column + 2]
        one_stop = other
        while one < one_stop or other < stop:
            # the next box i in the order, and the entries `begin` to `end` after it with which it may make a pair
            if other == stop or (one < one_stop and entry[one] < entry[other]):
                i = entry[one]
                one += 1
                begin, end = other, stop
            else:
                i = entry[other]
                other += 1
                begin, end = (one, one_stop) if points > 0 else (other, stop)
            s, own = order[i], of_group[i]
            high, low1, high1, low2, high2 = ends[i, 1], ends[i, 2], ends[i, 3], ends[i, 4], ends[i, 5]
            f = begin - 1
            while f + 1 < end:
                f += 1
                j = entry[f]
                if ends[j, 0] > high:
                    break
                if own >= 0 and of_group[j] == own:
                    f = after[f] - 1
                    continue
                # a pair that shares several columns counts in the one where both boxes begin
                if ((ends[j, 2] > high1) | (low1 > ends[j, 3]) | (ends[j, 4] > high2) | (low2 > ends[j, 5])
                        | (max(cell[i, 0], cell[j, 0]) != own_first) | (max(cell[i, 2], cell[j, 2]) != own_second)):
                    continue
                t = order[j]
                p, q = min(s, t), max(s, t)
                a, b, c, d, e = corners[p, 0], corners[p, 1], corners[q, 0], corners[q, 1], corners[q, last]
                if (_have_common_node(a, b, c, d, e) or not (requested[s] or requested[t])
                        or _are_one_group(group[a], group[b], group[c], group[d], group[e])):
                    continue
                if square < np.inf and _square_distance(x, points, a, b, c, d, e, nodes, work) > square:
                    continue
                if count < out.shape[1]:
                    out[piece, count, 0], out[piece, count, 1] = p, q
                count += 1
    for rest in range(piece, stop_piece):
        counts[rest] = count if rest == piece else 0


@kernel("void(f8[:,::1], f8[:,::1], f8[::1], f8[::1])")
def measure_displacements(x, before, common, out):  # type: ignore[no-untyped-def]
    """Write the lengths of displacements relative to a common displacement to `out`, (n,) [m].

    x, before: positions after and before, (n, 3) [m]. common: the common displacement, (3,) [m], written: the middle
    between least and largest along each axis, or zero where the sum of squares would be no smaller with it.
    """
    own, about = 0.0, 0.0
    low0 = low1 = low2 = np.inf
    high0 = high1 = high2 = -np.inf
    for k in range(x.shape[0]):
        p, q, r = x[k, 0] - before[k, 0], x[k, 1] - before[k, 1], x[k, 2] - before[k, 2]
        low0, low1, low2 = min(low0, p), min(low1, q), min(low2, r)
        high0, high1, high2 = max(high0, p), max(high1, q), max(high2, r)
    common[0] = 0.5 * (low0 + high0) if high0 - low0 < np.inf else 0.0
    common[1] = 0.5 * (low1 + high1) if high1 - low1 < np.inf else 0.0
    common[2] = 0.5 * (low2 + high2) if high2 - low2 < np.inf else 0.0
    for k in range(x.shape[0]):
        for a in range(3):
            component = x[k, a] - before[k, a]
            own += component * component
            about += (component - common[a]) ** 2
    if not about < own:
        common[:] = 0.0
    for k in range(x.shape[0]):
        p, q, r = x[k, 0] - before[k, 0], x[k, 1] - before[k, 1], x[k, 2] - before[k, 2]
        out[k] = np.sqrt((p - common[0]) ** 2 + (q - common[1]) ** 2 + (r - common[2]) ** 2)


@inline
def _of_sides(each, nodes, k, points):  # type: ignore[no-untyped-def]
    """Return the largest values among the nodes of both sides of pair k. each: of nodes, (n,). points: number of pairs
    of a point and a triangle, before those of edges."""
    a, b, c, d = each[nodes[k, 0]], each[nodes[k, 1]], each[nodes[k, 2]], each[nodes[k, 3]]
    if k < points:
        return a, max(b, c, d)
    return max(a, b), max(c, d)


@kernel("void(i8, i8, f8[:,::1], f8[::1], i4[:,::1], i8, f8[::1], f8, f8[::1])")
def squares_within(start, stop, x, moved, nodes, points, distances, distance, out):  # type: ignore[no-untyped-def]
    """Write the squared distances of pairs start to stop to `out`, (k,) [m²], infinite for pairs above `distance` [m].

    x: positions of nodes, (n, 3) [m]. nodes: of each pair, (k, 4), of which the first `points` are of a point and a
    triangle. distances: earlier distances of all pairs, (k,) [m]. moved: displacement of each node since then,
    (n,) [m], infinite for a node that has no pairs.
    """
    work = np.empty(WORK)
    square = distance * distance
    for k in range(start, stop):
        first, second = _of_sides(moved, nodes, k, points)
        out[k] = np.inf
        if first + second == np.inf or distances[k] - first - second > distance:
            continue
        if k < points:
            nearest_in_triangle(x, nodes[k], work)
        else:
            nearest_on_edges(x, nodes[k], work)
        if work[SQUARE] <= square:
            out[k] = work[SQUARE]


@kernel("i8(b1[::1], i4[:,::1], i8[::1], f8[::1], i8, i8, i4[:,::1], i8[::1], f8[::1], i8, i8, i4[:,::1], i8[::1], "
        "f8[::1], i8)")
def merge_pairs(  # type: ignore[no-untyped-def]
    outside, pairs, keys, distances, start, stop, new_pairs, new_keys, new_distances, new_start, new_stop, out_pairs,
    out_keys, out_distances, count,
):
    """Merge listed pairs start to stop, without those of nodes outside the skin, with new pairs; return where they end.

    outside: which nodes are outside the Verlet skin, (n,). pairs, keys, distances: nodes (k, 4), ascending keys (k,)
    and distances (k,) [m]; new_ and out_ likewise. count: first row that is written of the out_ arrays.
    """
    j = new_start
    for k in range(start, stop + 1):
        if k < stop and (outside[pairs[k, 0]] or outside[pairs[k, 1]] or outside[pairs[k, 2]] or outside[pairs[k, 3]]):
            continue
        while j < new_stop and (k == stop or new_keys[j] < keys[k]):
            for c in range(4):
                out_pairs[count, c] = new_pairs[j, c]
            out_keys[count], out_distances[count] = new_keys[j], new_distances[j]
            count, j = count + 1, j + 1
        if k < stop:
            for c in range(4):
                out_pairs[count, c] = pairs[k, c]
            out_keys[count], out_distances[count] = keys[k], distances[k]
            count += 1
    return count


@kernel("void(i8, i8, f8[::1], i4[:,::1], i8, f8[::1], b1[::1])")
def may_touch(start, stop, reach, nodes, points, distances, out):  # type: ignore[no-untyped-def]
    """Write to `out`, (k,), whether pairs start to stop may touch along displacements of their nodes.

    reach: largest distance of each node from its listed position, (n,) [m], infinite for a node that has no pairs.
    nodes: of each pair, (k, 4), the first `points` of a point and a triangle. distances: of listed pairs, (k,) [m].
    """
    for k in range(start, stop):
        first, second = _of_sides(reach, nodes, k, points)
        out[k] = distances[k] <= first + second < np.inf
