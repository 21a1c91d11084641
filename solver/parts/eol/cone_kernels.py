"""Kernels of cloth on sharp features: how it lies and folds there, and the rows that constrain its vertices."""

from __future__ import annotations

import numpy as np

from ...threads import kernel

ENOUGH = 0.25  #: of the square of a unit vector: what is shorter is no direction
RUNS_ALONG = 0.999  #: cosine between an edge of the cloth and the feature's that lie on each other


@kernel("void(f8[:,::1], i4[:,::1], f8[::1], i4[::1], f8[:,::1])")
def normals_at(x, faces, areas, index, out):  # type: ignore[no-untyped-def]
    """Write unit normals of the cloth at some vertices, weighted by area, to out, (k, 3), which is zero. index: number
    of each vertex among these, −1 of others, (n,)."""
    for f in range(faces.shape[0]):
        a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
        if index[a] < 0 and index[b] < 0 and index[c] < 0:
            continue
        u0, u1, u2 = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
        v0, v1, v2 = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
        n0, n1, n2 = u1 * v2 - u2 * v1, u2 * v0 - u0 * v2, u0 * v1 - u1 * v0
        size = np.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
        if size == 0.0:
            continue
        for i in range(3):
            k = index[faces[f, i]]
            if k >= 0:
                out[k, 0] += areas[f] * (n0 / size)
                out[k, 1] += areas[f] * (n1 / size)
                out[k, 2] += areas[f] * (n2 / size)
    for k in range(out.shape[0]):
        size = max(np.sqrt(out[k, 0] * out[k, 0] + out[k, 1] * out[k, 1] + out[k, 2] * out[k, 2]), 1e-300)
        for i in range(3):
            out[k, i] /= size


@kernel("void(i4[::1], f8[:,::1], i8, f8[:,::1], f8[:,::1], f8[:,:,::1], i4[:,::1], f8[:,:,::1], f8[:,::1], f8[:,::1],"
        " f8[:,::1], f8[:,:,::1])")
def locate_features(  # type: ignore[no-untyped-def]
        on, x, count, points, velocity, point_normals, edges, edge_normals, positions, speeds, along, normals):
    """Write positions and velocities, (k, 3), of the features under vertices at x, (k, 3) [m], unit directions of
    edges, (k, 3), and normals, (k, K, 3); the last two are zero before.

    on: number of each feature, (k,): `count` points first, then edges. The other inputs are fields of `Features`.
    """
    for k in range(on.shape[0]):
        if on[k] < count:
            for i in range(3):
                positions[k, i], speeds[k, i] = points[on[k], i], velocity[on[k], i]
                for j in range(point_normals.shape[1]):
                    normals[k, j, i] = point_normals[on[k], j, i]
            continue
        edge = on[k] - count
        a, b = edges[edge, 0], edges[edge, 1]
        fraction = square = 0.0
        for i in range(3):
            delta = points[b, i] - points[a, i]
            fraction += (x[k, i] - points[a, i]) * delta
            square += delta * delta
        fraction = min(max(fraction / square, 0.0), 1.0)
        size = np.sqrt(square)
        for i in range(3):
            delta = points[b, i] - points[a, i]
            positions[k, i] = points[a, i] + fraction * delta
            speeds[k, i] = (1.0 - fraction) * velocity[a, i] + fraction * velocity[b, i]
            along[k, i] = delta / size
            normals[k, 0, i], normals[k, 1, i] = edge_normals[edge, 0, i], edge_normals[edge, 1, i]


@kernel("void(f8[:,::1], f8[:,::1], i4[:,::1], f8[::1], f8[:,:,::1], i4[:,::1], i4[::1], f8[:,::1], f8[:,::1], b1[::1],"
        " b1[::1], f8[:,::1], f8[::1])")
def folds_of(  # type: ignore[no-untyped-def]
        x, material, faces, areas, gradients, edges, index, along, border_tangents, border, at_point, tangent, fold):
    """Write for vertices on features the unit direction in material space in which they do not slide, (k, 2), and the
    angle at which two faces with the spread of their faces would meet, (k,) [rad].

    The direction is normal to the border, or else along the feature's edge: that of the cloth's edges that lie on it,
    or where none does, by F. The fold is measured across it, and at points inside the cloth in the direction in which
    faces differ least. index: number of each vertex among these, −1 of others, (n,). along (k, 3), border, at_point
    (k,): of these vertices. gradients: F, (m, 3, 2).
    """
    many = fold.shape[0]
    edge_direction, mean, whole = np.zeros((many, 2)), np.zeros((many, 3, 2)), np.zeros(many)
    square, size = np.zeros((many, 3)), np.zeros((many, 3))
    for side in range(2):
        for e in range(edges.shape[0]):
            i, j = edges[e, side], edges[e, 1 - side]
            k = index[i]
            if k < 0 or index[j] < 0:
                continue
            projection = length = 0.0
            for c in range(3):
                step = x[j, c] - x[i, c]
                projection += step * along[k, c]
                length += step * step
            if abs(projection) > RUNS_ALONG * np.sqrt(length):
                for c in range(2):
                    edge_direction[k, c] += (1.0 if projection > 0.0 else -1.0) * (material[j, c] - material[i, c])
    for f in range(faces.shape[0]):
        for corner in range(3):
            k = index[faces[f, corner]]
            if k < 0:
                continue
            whole[k] += areas[f]
            for i in range(3):
                mean[k, i, 0] += areas[f] * gradients[f, i, 0]
                mean[k, i, 1] += areas[f] * gradients[f, i, 1]
    for k in range(many):
        for i in range(3):
            mean[k, i, 0] /= whole[k]
            mean[k, i, 1] /= whole[k]
    for f in range(faces.shape[0]):
        for corner in range(3):
            k = index[faces[f, corner]]
            if k < 0:
                continue
            for i in range(3):
                F0, F1 = gradients[f, i, 0], gradients[f, i, 1]
                d0, d1 = F0 - mean[k, i, 0], F1 - mean[k, i, 1]
                square[k, 0] += areas[f] * d0 * d0
                square[k, 1] += areas[f] * d0 * d1
                square[k, 2] += areas[f] * d1 * d1
                size[k, 0] += areas[f] * F0 * F0
                size[k, 1] += areas[f] * F0 * F1
                size[k, 2] += areas[f] * F1 * F1
    for k in range(many):
        if border[k]:
            t0, t1 = -border_tangents[k, 1], border_tangents[k, 0]
        else:
            t0, t1 = edge_direction[k, 0], edge_direction[k, 1]
            if t0 == 0.0 and t1 == 0.0:
                # but for its length, which counts nothing
                c00 = c01 = c11 = r0 = r1 = 0.0
                for i in range(3):
                    F0, F1 = mean[k, i, 0], mean[k, i, 1]
                    c00 += F0 * F0
                    c01 += F0 * F1
                    c11 += F1 * F1
                    r0 += F0 * along[k, i]
                    r1 += F1 * along[k, i]
                t0, t1 = c11 * r0 - c01 * r1, c00 * r1 - c01 * r0
            length = max(np.sqrt(t0 * t0 + t1 * t1), 1e-300)
            t0, t1 = t0 / length, t1 / length
        tangent[k, 0], tangent[k, 1] = t0, t1
        if border[k] or not at_point[k]:
            a0, a1 = -t1, t0
            of_all = a0 * a0 * size[k, 0] + 2.0 * a0 * a1 * size[k, 1] + a1 * a1 * size[k, 2]
            ratio = a0 * a0 * square[k, 0] + 2.0 * a0 * a1 * square[k, 1] + a1 * a1 * square[k, 2]
            ratio /= of_all if of_all > 0.0 else 1.0
        else:
            # the smallest λ of square − λ size
            of_size = size[k, 0] * size[k, 2] - size[k, 1] * size[k, 1]
            of_square = square[k, 0] * square[k, 2] - square[k, 1] * square[k, 1]
            half = 0.5 * (size[k, 0] * square[k, 2] + size[k, 2] * square[k, 0]
                          - 2.0 * size[k, 1] * square[k, 1]) / of_size
            ratio = half - np.sqrt(max(half * half - of_square / of_size, 0.0))
        fold[k] = 2.0 * np.arcsin(np.sqrt(min(max(ratio, 0.0), 1.0)))


@kernel("i8(f8[:,::1], i4[::1], f8[:,:,::1], f8[:,::1], b1[::1], b1[::1], b1[::1], f8[:,::1], f8[:,::1], f8[:,::1],"
        " f8[:,::1], f8, i8, i4[::1], f8[:,::1], f8[::1], b1[::1], i8[::1])")
def rows_of(  # type: ignore[no-untyped-def]
        x, vertices, normals, cloth_normal, flat, border, at_point, tangent, along, positions, speeds, h, names, vertex,
        factor, target, equal, key):
    """Write rows of vertices on features and return their number: in a fold the cone of the normals, (k, K, 3); where
    the cloth is flat its own normal, and equations across the feature. Rows on Ẋ, of borders and edges, follow.

    x: (n, 3) [m]. names: number of names of rows of one vertex. vertex, target, equal, key: (r,), with room for all
    rows. factor: (r, 5), which is zero.
    """
    count, many = 0, normals.shape[1]
    direction = np.empty(3)
    first, second = np.empty(3), np.empty(3)
    for k in range(vertices.shape[0]):
        for r in range(many + 3):
            if (r < many) == flat[k]:
                continue
            if r < many:
                for i in range(3):
                    direction[i] = normals[k, r, i]
            elif r == many:
                for i in range(3):
                    direction[i] = cloth_normal[k, i]
                    a, b = (i + 1) % 3, (i + 2) % 3
                    first[i] = along[k, a] * cloth_normal[k, b] - along[k, b] * cloth_normal[k, a]
                    second[i] = 0.0
                if first[0] * first[0] + first[1] * first[1] + first[2] * first[2] <= ENOUGH:
                    # no edge has a direction across: any two
                    least = 0
                    for i in range(1, 3):
                        if abs(cloth_normal[k, i]) < abs(cloth_normal[k, least]):
                            least = i
                    first[:] = 0.0
                    first[(least + 1) % 3] = cloth_normal[k, (least + 2) % 3]
                    first[(least + 2) % 3] = -cloth_normal[k, (least + 1) % 3]
                    size = max(np.sqrt(first[0] * first[0] + first[1] * first[1] + first[2] * first[2]), 1e-300)
                    for i in range(3):
                        first[i] /= size
                    for i in range(3):
                        a, b = (i + 1) % 3, (i + 2) % 3
                        second[i] = cloth_normal[k, a] * first[b] - cloth_normal[k, b] * first[a]
            else:
                for i in range(3):
                    direction[i] = first[i] if r == many + 1 else second[i]
            if direction[0] * direction[0] + direction[1] * direction[1] + direction[2] * direction[2] <= ENOUGH:
                continue
            gap = moves = 0.0
            for i in range(3):
                factor[count, i] = direction[i]
                gap += direction[i] * (x[vertices[k], i] - positions[k, i])
                moves += direction[i] * speeds[k, i]
            vertex[count], target[count], equal[count] = vertices[k], moves - gap / h, r > many
            key[count] = names * np.int64(vertices[k]) + r
            count += 1
    for k in range(vertices.shape[0]):
        if border[k] or not at_point[k]:
            factor[count, 3], factor[count, 4] = tangent[k, 0], tangent[k, 1]
            vertex[count], target[count], equal[count] = vertices[k], 0.0, True
            key[count] = names * np.int64(vertices[k]) + names - 1
            count += 1
    return count
