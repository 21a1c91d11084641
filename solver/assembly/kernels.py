"""Kernels that gather values: each entry of the result reads its own list of sources, so no two threads write to one
entry."""

from __future__ import annotations

import numpy as np

from ..threads import kernel

CHUNKS = 64  #: of columns or nodes; what one thread takes at a time is a few of them


@kernel("void(i8, i8, f8[:,::1], i4[::1], i4[::1], f8[:,::1])")
def gather_nodes(start, stop, corners, source_start, source, out):  # type: ignore[no-untyped-def]
    """Add the corner values of elements, (4 e, 3), to their nodes, out (n, 3), for CHUNKS start to stop of the
    nodes."""
    for node in range(start * out.shape[0] // CHUNKS, stop * out.shape[0] // CHUNKS):
        a, b, c = 0.0, 0.0, 0.0
        for k in range(source_start[node], source_start[node + 1]):
            corner = source[k]
            a += corners[corner, 0]
            b += corners[corner, 1]
            c += corners[corner, 2]
        out[node, 0] += a
        out[node, 1] += b
        out[node, 2] += c


@kernel("void(i8, i8, f8[:,:,::1], i4[::1], i4[::1], f8[:,:,::1])")
def gather_pair(start, stop, corners, source_start, source, out):  # type: ignore[no-untyped-def]
    """Add the corner values of two fields, (2, 4 e, 3), to their nodes, out (2, n, 3), for CHUNKS start to stop of the
    nodes."""
    count = out.shape[1]
    first, second = corners[0], corners[1]
    for node in range(start * count // CHUNKS, stop * count // CHUNKS):
        a, b, c, d, e, f = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for k in range(source_start[node], source_start[node + 1]):
            corner = source[k]
            a += first[corner, 0]
            b += first[corner, 1]
            c += first[corner, 2]
            d += second[corner, 0]
            e += second[corner, 1]
            f += second[corner, 2]
        out[0, node, 0] += a
        out[0, node, 1] += b
        out[0, node, 2] += c
        out[1, node, 0] += d
        out[1, node, 1] += e
        out[1, node, 2] += f


@kernel("void(i8, i8, f8[:,:,::1], i4[::1], i4[::1], f8[:,:,::1])")
def gather_fields(start, stop, corners, source_start, source, out):  # type: ignore[no-untyped-def]
    """Add the corner values of three fields, (3, 4 e, 3), to their nodes, out (3, n, 3), for CHUNKS start to stop of
    the nodes."""
    count = out.shape[1]
    first, second, third = corners[0], corners[1], corners[2]
    for node in range(start * count // CHUNKS, stop * count // CHUNKS):
        a, b, c, d, e, f, g, h, i = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for k in range(source_start[node], source_start[node + 1]):
            corner = source[k]
            a += first[corner, 0]
            b += first[corner, 1]
            c += first[corner, 2]
            d += second[corner, 0]
            e += second[corner, 1]
            f += second[corner, 2]
            g += third[corner, 0]
            h += third[corner, 1]
            i += third[corner, 2]
        out[0, node, 0] += a
        out[0, node, 1] += b
        out[0, node, 2] += c
        out[1, node, 0] += d
        out[1, node, 1] += e
        out[1, node, 2] += f
        out[2, node, 0] += g
        out[2, node, 1] += h
        out[2, node, 2] += i


@kernel("void(i8, i8, f8[:,::1], f8[:,::1], f8, f8[::1], i4[::1], i4[::1], i4[::1], i4[::1], i4[::1], b1[::1], "
        "f8[::1])")
def gather_matrix(  # type: ignore[no-untyped-def]
    start, stop, blocks, node_blocks, scale, diagonal, order, source_start, source, column_start, indptr, written, data,
):
    """Write diag + scale K into the lower triangle, for CHUNKS start to stop of its columns.

    blocks: of pairs of nodes, (6 e, 9), node_blocks: of single nodes, (n, 9). written: nodes whose columns are written,
    (p,). Other arrays as in Pattern.
    """
    count = order.shape[0]
    for chunk in range(start, stop):
        for j in range(chunk * count // CHUNKS, (chunk + 1) * count // CHUNKS):
            if not written[j]:
                continue
            # K_jj = −Σ_i K_ij over all that j shares an element with
            d0, d3, d6, d4, d7, d8 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            for b in range(column_start[j], column_start[j + 1]):
                a0, a1, a2, a3, a4, a5, a6, a7, a8 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
                for k in range(source_start[2 * b], source_start[2 * b + 1]):
                    value = blocks[source[k]]
                    a0 += value[0]
                    a1 += value[1]
                    a2 += value[2]
                    a3 += value[3]
                    a4 += value[4]
                    a5 += value[5]
                    a6 += value[6]
                    a7 += value[7]
                    a8 += value[8]
                for k in range(source_start[2 * b + 1], source_start[2 * b + 2]):
                    value = blocks[source[k]]
                    a0 += value[0]
                    a3 += value[1]
                    a6 += value[2]
                    a1 += value[3]
                    a4 += value[4]
                    a7 += value[5]
                    a2 += value[6]
                    a5 += value[7]
                    a8 += value[8]
                d0 -= a0
                d3 -= a3
                d6 -= a6
                d4 -= a4
                d7 -= a7
                d8 -= a8
                if b > column_start[j]:
                    offset = 3 * (b - column_start[j] - 1)
                    first = indptr[3 * j] + 3 + offset
                    data[first] = scale * a0
                    data[first + 1] = scale * a3
                    data[first + 2] = scale * a6
                    first = indptr[3 * j + 1] + 2 + offset
                    data[first] = scale * a1
                    data[first + 1] = scale * a4
                    data[first + 2] = scale * a7
                    first = indptr[3 * j + 2] + 1 + offset
                    data[first] = scale * a2
                    data[first + 1] = scale * a5
                    data[first + 2] = scale * a8
            own = node_blocks[order[j]]
            mass = diagonal[order[j]]
            first = indptr[3 * j]
            data[first] = mass + scale * (d0 + own[0])
            data[first + 1] = scale * (d3 + own[3])
            data[first + 2] = scale * (d6 + own[6])
            first = indptr[3 * j + 1]
            data[first] = mass + scale * (d4 + own[4])
            data[first + 1] = scale * (d7 + own[7])
            data[indptr[3 * j + 2]] = mass + scale * (d8 + own[8])


@kernel("void(i8, i8, f8[:,:,::1], i4[::1], i4[::1], f8[::1])")
def put_below(start, stop, vectors, order, indptr, data):  # type: ignore[no-untyped-def]
    """Write minus vectors, (border, n, 3), to the border rows of the lower triangle, which end each column, for CHUNKS
    start to stop of the columns. Other arrays as in Pattern."""
    count = order.shape[0]
    for j in range(start * count // CHUNKS, stop * count // CHUNKS):
        for c in range(3):
            first = indptr[3 * j + c + 1] - vectors.shape[0]
            for k in range(vectors.shape[0]):
                data[first + k] = -vectors[k, order[j], c]


@kernel("void(i8, i8, f8[:,:,::1], f8, f8[:,:,::1], f8[:,:,::1], f8, f8[:,:,::1])", fastmath=frozenset())
def weigh_blocks(start, stop, blocks, factor, first, appended, weight, out):  # type: ignore[no-untyped-def]
    """Write elements start to stop of out (e + m, 6, 9): factor blocks (e, 6, 9), with weight first (f, 6, 9) added to
    the first of them, then weight behind (m, 6, 9)."""
    count = blocks.shape[0]
    for e in range(start, stop):
        if e < count:
            for k in range(6):
                for i in range(9):
                    out[e, k, i] = factor * blocks[e, k, i]
            if e < first.shape[0]:
                for k in range(6):
                    for i in range(9):
                        out[e, k, i] += weight * first[e, k, i]
        else:
            for k in range(6):
                for i in range(9):
                    out[e, k, i] = weight * appended[e - count, k, i]


@kernel("void(i8[::1], i4[::1], i8, i4[::1], i4[::1])")
def lay_out(block, column_start, border, indptr, indices):  # type: ignore[no-untyped-def]
    """Write the rows of the lower triangle's entries, (nnz,), column by column. Arrays as in Pattern."""
    count = column_start.shape[0] - 1
    for j in range(count):
        one, two, three = (indices[indptr[3 * j] : indptr[3 * j + 1]], indices[indptr[3 * j + 1] : indptr[3 * j + 2]],
                           indices[indptr[3 * j + 2] : indptr[3 * j + 3]])
        at = 0
        for key in block[column_start[j] : column_start[j + 1]]:
            row = 3 * (key - j * count)
            one[at], one[at + 1], one[at + 2] = row, row + 1, row + 2
            at += 3
        for k in range(border):
            one[at + k] = 3 * count + k
        # of a node's second and third column the same without what stands above their diagonal
        for k in range(two.shape[0]):
            two[k] = one[1:][k]
        for k in range(three.shape[0]):
            three[k] = one[2:][k]
    for k in range(border):
        for r in range(k, border):
            indices[indptr[3 * count + k] + r - k] = 3 * count + r


@kernel("void(f8[:,:,::1], i4[::1], i4[:,::1], f8[:,:,::1], f8[:,:,::1])")
def multiply(blocks, elements, corners, columns, out):  # type: ignore[no-untyped-def]
    """Add K columns over the listed elements to `out`: Σ_b K_ab (columns_b − columns_a) in the rows of corner a.

    blocks: (e, 6, 9) of K. elements: (k,), corners: (k, 4) rows of `columns` and `out`, both (m, 3, c).
    """
    width = columns.shape[2]
    for k in range(elements.shape[0]):
        pair = 0
        for a in range(1, 4):
            for b in range(a):
                value = blocks[elements[k], pair]
                pair += 1
                i, j = corners[k, a], corners[k, b]
                for r in range(3):
                    for s in range(3):
                        entry = value[3 * r + s]
                        for c in range(width):
                            out[i, r, c] += entry * (columns[j, s, c] - columns[i, s, c])
                            out[j, s, c] += entry * (columns[i, r, c] - columns[j, r, c])


@kernel("void(f8[:,:,::1], i4[:,::1], f8[:,::1], f8[:,::1])")
def multiply_one(blocks, corners, column, out):  # type: ignore[no-untyped-def]
    """Add the blocks (e, 6, 9) of all elements times one column (n, 3) to `out`, (n, 3).

    corners: (e, 4); an element of fewer than four nodes repeats the last one and has no other blocks. The additions and
    their order are those of `multiply`, nearly four times as fast.
    """
    at, sums = np.empty((4, 3)), np.empty((4, 3))
    for k in range(corners.shape[0]):
        many = 4
        while many > 2 and corners[k, many - 1] == corners[k, many - 2]:
            many -= 1
        for a in range(many):
            i = corners[k, a]
            for r in range(3):
                at[a, r], sums[a, r] = column[i, r], out[i, r]
        pair = 0
        for a in range(1, many):
            for b in range(a):
                for r in range(3):
                    for s in range(3):
                        entry = blocks[k, pair, 3 * r + s]
                        sums[a, r] += entry * (at[b, s] - at[a, s])
                        sums[b, s] += entry * (at[a, r] - at[b, r])
                pair += 1
        for a in range(many):
            i = corners[k, a]
            for r in range(3):
                out[i, r] = sums[a, r]


@kernel("void(i8, i8, f8[:,::1], i4[:,::1], f8[::1], f8[:,::1])")
def edge_changes(start, stop, displacement, pairs, inverse_square, out):  # type: ignore[no-untyped-def]
    """Write the largest |d_i − d_j|² / length² and their sum, for each of CHUNKS pieces of the edges, (CHUNKS, 2).

    displacement: d, (n, 3) [m]. pairs: nodes of edges, (k, 2). inverse_square: 1 / length², (k,).
    """
    count = pairs.shape[0]
    for piece in range(start, stop):
        largest, total = 0.0, 0.0
        for k in range(piece * count // CHUNKS, (piece + 1) * count // CHUNKS):
            a, b = displacement[pairs[k, 0]], displacement[pairs[k, 1]]
            x, y, z = a[0] - b[0], a[1] - b[1], a[2] - b[2]
            change = (x * x + y * y + z * z) * inverse_square[k]
            largest = max(largest, change)
            total += change
        out[piece, 0], out[piece, 1] = largest, total


@kernel("void(i8, i8, f8[:,::1], f8[:,::1], f8[:,::1], f8[:,::1], f8[::1])")
def weigh_nodes(start, stop, weight, x, rest, force, sums):  # type: ignore[no-untyped-def]
    """Copy `weight` to `force`, (n, 3) each, and write Σ weight · (x − rest) of each of CHUNKS pieces of the nodes to
    `sums`."""
    count = x.shape[0]
    for piece in range(start, stop):
        total = 0.0
        for i in range(piece * count // CHUNKS, (piece + 1) * count // CHUNKS):
            for a in range(3):
                force[i, a] = weight[i, a]
                total += weight[i, a] * (x[i, a] - rest[i, a])
        sums[piece] = total


@kernel("f8[::1](f8[:,::1], i4[:,::1], f8[::1], i4[::1], i8)")
def changes_of_pieces(displacement, pairs, inverse_square, piece, count):  # type: ignore[no-untyped-def]
    """Return the mean |d_i − d_j|² / length² over the edges of each of `count` components, 0 for one without edges,
    (count,).

    displacement: d, (n, 3) [m]. pairs: nodes of edges, (k, 2). inverse_square: 1 / length², (k,). piece: component of
    each edge, (k,).
    """
    total, edges = np.zeros(count), np.zeros(count)
    for k in range(pairs.shape[0]):
        a, b = displacement[pairs[k, 0]], displacement[pairs[k, 1]]
        x, y, z = a[0] - b[0], a[1] - b[1], a[2] - b[2]
        total[piece[k]] += (x * x + y * y + z * z) * inverse_square[k]
        edges[piece[k]] += 1.0
    for one in range(count):
        total[one] /= max(edges[one], 1.0)
    return total


@kernel("f8(f8[:,::1], f8[:,::1], i4[:,::1], f8[::1])")
def edge_stretches(start, end, pairs, inverse_square):  # type: ignore[no-untyped-def]
    """Return the largest (|e'| − |e|)² / length² over the edges e at positions `start` and e' at positions `end`, (n,
    3) [m] each.

    pairs: nodes of edges, (k, 2). inverse_square: 1 / length², (k,).
    """
    largest = 0.0
    for k in range(pairs.shape[0]):
        a, b = pairs[k, 0], pairs[k, 1]
        before, after = 0.0, 0.0
        for i in range(3):
            before += (start[a, i] - start[b, i]) ** 2
            after += (end[a, i] - end[b, i]) ** 2
        change = np.sqrt(after) - np.sqrt(before)
        largest = max(largest, change * change * inverse_square[k])
    return largest
