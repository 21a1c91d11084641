"""Kernels of contact between sheets: normals of vertices, and pairs of vertices that face each other."""

from __future__ import annotations

import math

from ..threads import inline, kernel

BOXES = 48  #: along an axis, at most, into which vertices are sorted


@kernel("void(f8[:,::1], i4[:,::1], f8[:,::1])")
def write_vertex_normals(x, triangles, out):  # type: ignore[no-untyped-def]
    """Write area-weighted unit normals at vertices x, (n, 3) [m], to `out`, (n, 3); zero where a vertex has no area."""
    for i in range(out.shape[0]):
        out[i, 0] = out[i, 1] = out[i, 2] = 0.0
    for t in range(triangles.shape[0]):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        u0, u1, u2 = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
        w0, w1, w2 = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
        n0, n1, n2 = u1 * w2 - u2 * w1, u2 * w0 - u0 * w2, u0 * w1 - u1 * w0
        for corner in range(3):
            i = triangles[t, corner]
            out[i, 0] += n0
            out[i, 1] += n1
            out[i, 2] += n2
    for i in range(out.shape[0]):
        size = math.sqrt(out[i, 0] * out[i, 0] + out[i, 1] * out[i, 1] + out[i, 2] * out[i, 2])
        if size > 0.0:
            for k in range(3):
                out[i, k] /= size


@inline
def _box(value, low, width, count):  # type: ignore[no-untyped-def]
    return min(max(int((value - low) / width), 0), count - 1)


@kernel("void(f8[:,::1], f8, f8[::1], i8[::1], i4[:,::1], i4[::1], i4[::1])")
def sort_into_boxes(x, reach, grid, shape, box, start, order):  # type: ignore[no-untyped-def]
    """Sort vertices x, (n, 3) [m], into boxes no narrower than `reach` [m]: box b contains the vertices
    order[start[b]:start[b + 1]], ascending.

    Outputs: grid, the lowest corner and the widths of boxes [m], (6,); shape, the number of boxes along each axis,
    (3,); box, the box of each vertex along each axis, (n, 3); start, (BOXES³ + 1,); order, (n,).
    """
    count = x.shape[0]
    for k in range(3):
        low = high = x[0, k]
        for i in range(count):
            low, high = min(low, x[i, k]), max(high, x[i, k])
        boxes = min(max(int((high - low) / reach), 1), BOXES)
        grid[k], shape[k] = low, boxes
        grid[3 + k] = max((high - low) / boxes, reach)
    for b in range(shape[0] * shape[1] * shape[2] + 1):
        start[b] = 0
    for i in range(count):
        for k in range(3):
            box[i, k] = _box(x[i, k], grid[k], grid[3 + k], shape[k])
        start[(box[i, 0] * shape[1] + box[i, 1]) * shape[2] + box[i, 2] + 1] += 1
    for b in range(shape[0] * shape[1] * shape[2]):
        start[b + 1] += start[b]
    # start[b + 1] is the end of box b, and its beginning once all its vertices are written
    for i in range(count - 1, -1, -1):
        b = (box[i, 0] * shape[1] + box[i, 1]) * shape[2] + box[i, 2] + 1
        start[b] -= 1
        order[start[b]] = i
    # now start[b + 1] is where box b begins
    for b in range(shape[0] * shape[1] * shape[2]):
        start[b] = start[b + 1]
    start[shape[0] * shape[1] * shape[2]] = count


@inline
def _is_among(key, ascending, first, last):  # type: ignore[no-untyped-def]
    """Return whether a key is in ascending[first:last]."""
    while first < last:
        middle = (first + last) // 2
        if ascending[middle] < key:
            first = middle + 1
        else:
            last = middle
    return first < ascending.shape[0] and ascending[first] == key


@inline
def _mark_facing(x, normals, i, begin, end, reach, aside, inside, marks):  # type: ignore[no-untyped-def]
    """Write to marks[begin:end] 1 for vertices, in the order of boxes, that may face vertex i, else 0.

    reach, aside: squares of the largest distance and of the largest tangential offset of two vertices [m²]. inside:
    positions [m] and unit normals in the order of boxes, (6, n).
    """
    x0, x1, x2, u0, u1, u2 = x[i, 0], x[i, 1], x[i, 2], normals[i, 0], normals[i, 1], normals[i, 2]
    # slices, since an index that might be negative keeps LLVM from making vectors
    p0, p1, p2 = inside[0, begin:end], inside[1, begin:end], inside[2, begin:end]
    m0, m1, m2, out = inside[3, begin:end], inside[4, begin:end], inside[5, begin:end], marks[begin:end]
    for r in range(end - begin):
        d0, d1, d2, w0, w1, w2 = x0 - p0[r], x1 - p1[r], x2 - p2[r], m0[r], m1[r], m2[r]
        sign = -1.0 if u0 * w0 + u1 * w1 + u2 * w2 < 0.0 else 1.0
        n0, n1, n2 = w0 + sign * u0, w1 + sign * u1, w2 + sign * u2
        square, height = d0 * d0 + d1 * d1 + d2 * d2, d0 * n0 + d1 * n1 + d2 * n2
        over = (square - aside) * (n0 * n0 + n1 * n1 + n2 * n2) - height * height
        out[r] = 1.0 if over < 0.0 and square <= reach else 0.0


@kernel("i8(f8[:,::1], f8[:,::1], f8[:,::1], f8, f8, f8, f8, i4[::1], i8[::1], b1[:,::1], f8[::1], f8[::1], i8[::1],"
        "i8[::1], i8[::1], i4[:,::1], i4[::1], i4[::1], f8[:,::1], f8[::1], i4[:,::1], f8[:,::1])")
def facing_pairs(  # type: ignore[no-untyped-def]
        x, v, normals, h, reach, facing, within, sheet_of, first, in_contact, edge, thickness, near, near_start, shape,
        box, start, order, inside, marks, pairs, across):
    """Find pairs of vertices that face each other and are near at the end of a step of h seconds. Return their number,
    which may be larger than the number m of rows that are written.

    Outputs: pairs, (m, 2), the lower vertex first; across, unit normals from the second vertex to the first, (m, 3).
    x, v, normals: positions [m], velocities [m/s] and unit normals, (n, 3). reach: largest distance of a pair [m].
    facing: largest tangential offset, relative to an edge. within: largest height at the step's end, in thicknesses.
    sheet_of: sheet of each vertex, (n,). first: first vertex of each sheet, (s + 1,). in_contact: whether two sheets
    collide, (s, s). edge, thickness: of each sheet [m], (s,). near: keys of pairs without contact, as of
    `layers.neighbours`; those of sheet s are near[near_start[s]:near_start[s + 1]]. shape, box, start, order: outputs
    of `sort_into_boxes`. inside, marks: work arrays, (6, n) and (n,).
    """
    count_found, most = 0, pairs.shape[0]
    for slot in range(x.shape[0]):
        for k in range(3):
            inside[k, slot], inside[3 + k, slot] = x[order[slot], k], normals[order[slot], k]
    for i in range(x.shape[0]):
        own = sheet_of[i]
        for a in range(max(box[i, 0] - 1, 0), min(box[i, 0] + 2, shape[0])):
            for b in range(max(box[i, 1] - 1, 0), min(box[i, 1] + 2, shape[1])):
                row = (a * shape[1] + b) * shape[2]
                begin = start[row + max(box[i, 2] - 1, 0)]
                end = start[row + min(box[i, 2] + 2, shape[2])]
                _mark_facing(x, normals, i, begin, end, reach * reach, (facing * edge[own]) ** 2, inside, marks)
                for slot in range(begin, end):
                    j = order[slot]
                    if marks[slot] == 0.0 or j <= i or not in_contact[own, sheet_of[j]]:
                        continue
                    d0, d1, d2 = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1], x[i, 2] - x[j, 2]
                    square = d0 * d0 + d1 * d1 + d2 * d2
                    along = (normals[i, 0] * normals[j, 0] + normals[i, 1] * normals[j, 1]
                             + normals[i, 2] * normals[j, 2])
                    sign = -1.0 if along < 0.0 else 1.0
                    n0, n1, n2 = (normals[j, 0] + sign * normals[i, 0], normals[j, 1] + sign * normals[i, 1],
                                  normals[j, 2] + sign * normals[i, 2])
                    length = n0 * n0 + n1 * n1 + n2 * n2
                    height = d0 * n0 + d1 * n1 + d2 * n2
                    aside = facing * min(edge[own], edge[sheet_of[j]])
                    if (square - aside * aside) * length >= height * height or length == 0.0:
                        continue
                    size = math.copysign(math.sqrt(length), height)
                    n0, n1, n2, height = n0 / size, n1 / size, n2 / size, height / size
                    later = height + h * ((v[i, 0] - v[j, 0]) * n0 + (v[i, 1] - v[j, 1]) * n1
                                          + (v[i, 2] - v[j, 2]) * n2)
                    if later >= within * max(thickness[own], thickness[sheet_of[j]]):
                        continue
                    if own == sheet_of[j]:
                        low, count = first[own], first[own + 1] - first[own]
                        if _is_among((i - low) * count + j - low, near, near_start[own], near_start[own + 1]):
                            continue
                    if count_found < most:
                        pairs[count_found, 0], pairs[count_found, 1] = i, j
                        across[count_found, 0], across[count_found, 1], across[count_found, 2] = n0, n1, n2
                    count_found += 1
    return count_found
