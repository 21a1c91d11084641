"""Inertia, forces and stiffness of a sheet whose vertices slide through its material.

The material at a vertex has the velocity v = ẋ − F Ẋ = T u with T = (1 −F), so forces are multiplied by Tᵀ and blocks
by Tᵀ · T.
"""

from __future__ import annotations

import numpy as np

from ...threads import inline, kernel


@kernel("void(f8[:,::1], f8, f8[:,::1], f8[:,::1], b1, b1, f8[:,::1])")
def add_block(block, factor, F, G, row_slides, column_slides, out):  # type: ignore[no-untyped-def]
    """Add factor T_aᵀ B T_b of a block B, (3, 3), to out, (5, 5). F, G: of the row's and the column's vertex, (3, 2).
    row_slides, column_slides: whether these slide."""
    for i in range(3):
        for j in range(3):
            out[i, j] += factor * block[i, j]
    if column_slides:
        for i in range(3):
            for j in range(2):
                BG = block[i, 0] * G[0, j] + block[i, 1] * G[1, j] + block[i, 2] * G[2, j]
                out[i, 3 + j] -= factor * BG
                if row_slides:
                    for k in range(2):
                        out[3 + k, 3 + j] += factor * F[i, k] * BG
    if row_slides:
        for k in range(2):
            for j in range(3):
                out[3 + k, j] -= factor * (F[0, k] * block[0, j] + F[1, k] * block[1, j] + F[2, k] * block[2, j])


@kernel("void(f8[:,::1], f8[:,::1])")
def add_transposed(block, out):  # type: ignore[no-untyped-def]
    """Add the transpose of a block, (5, 5), to out, (5, 5)."""
    for i in range(5):
        for j in range(5):
            out[i, j] += block[j, i]


@kernel("void(i4[:,::1], i4[:,::1], b1[::1], f8[:,:,::1], f8[::1], f8[:,::1], f8[:,::1], f8[:,:,::1], f8[:,::1])")
def add_inertia(faces, slots, slides, F, twelfth, v, slide, blocks, momentum):  # type: ignore[no-untyped-def]
    """Add M to blocks (b, 5, 5) and M u to momentum (n, 5).

    faces: (m, 3). slots: blocks of the pairs (0, 0), (1, 0), (1, 1), … of their vertices, (m, 10); −1 − slot where the
    block is transposed. slides: whether a vertex slides, (n,). F: of faces, (m, 3, 2). twelfth: ρA/12 [kg], (m,). v,
    slide: ẋ (n, 3) and Ẋ (n, 2) [m/s]. [Thesis 2.8]
    """
    one, work, w = np.eye(3), np.empty((5, 5)), np.empty((3, 3))
    for f in range(faces.shape[0]):
        for a in range(3):
            node = faces[f, a]
            for i in range(3):
                w[a, i] = v[node, i]
                if slides[node]:
                    w[a, i] -= F[f, i, 0] * slide[node, 0] + F[f, i, 1] * slide[node, 1]
        for a in range(3):
            node = faces[f, a]
            for i in range(3):
                p = twelfth[f] * (w[0, i] + w[1, i] + w[2, i] + w[a, i])
                momentum[node, i] += p
                if slides[node]:
                    momentum[node, 3] -= F[f, i, 0] * p
                    momentum[node, 4] -= F[f, i, 1] * p
            for b in range(a + 1):
                factor = 2.0 * twelfth[f] if a == b else twelfth[f]
                slot = slots[f, a * (a + 1) // 2 + b]
                if not (slides[node] or slides[faces[f, b]]):  # as nearly all are
                    for i in range(3):
                        blocks[slot if slot >= 0 else -1 - slot, i, i] += factor
                elif slot >= 0:
                    add_block(one, factor, F[f], F[f], slides[node], slides[faces[f, b]], blocks[slot])
                else:
                    work[:] = 0.0
                    add_block(one, factor, F[f], F[f], slides[node], slides[faces[f, b]], work)
                    add_transposed(work, blocks[-1 - slot])


@kernel("void(i4[:,::1], b1[::1], f8[:,:,::1], f8[:,:,::1], f8[::1], f8[:,::1], f8[:,::1], f8, f8[:,::1])")
def add_turning(faces, slides, F, N, twelfth, v, slide, h, momentum):  # type: ignore[no-untyped-def]
    """Add h (−Ṁ u + ∂T/∂q) to momentum (n, 5): the effect of material that passes from face to face.

    faces: (m, 3). slides: whether a vertex slides, (n,). F: of faces, (m, 3, 2). N: ∇N of their corners [1/m], (m, 3,
    2). twelfth: ρA/12 [kg], (m,). v, slide: ẋ (n, 3) and Ẋ (n, 2) [m/s]. h: [s].

    With w = Σ N_k s_k, s_k = ẋ_k − F Ẋ_k, p_k = ρ ∫ N_k w and G = Σ s_k ∇N_kᵀ: Ḟ = G, Ȧ = A Σ ∇N_k·Ẋ_k, and where F x
    and X move ∂(F Ẋ_k)/∂x_i = (∇N_i·Ẋ_k) 1, ∂(F Ẋ_k)/∂X_i = −(∇N_i·Ẋ_k) F.

    [Thesis 2.11, changed: M moves with the cloth]
    """
    s, p, G = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 2))
    all_slide, R = np.empty(2), np.empty(3)
    for f in range(faces.shape[0]):
        if not (slides[faces[f, 0]] or slides[faces[f, 1]] or slides[faces[f, 2]]):
            continue
        growth, twice = 0.0, 0.0
        for j in range(2):
            all_slide[j] = 0.0
            for k in range(3):
                growth += N[f, k, j] * slide[faces[f, k], j]
                all_slide[j] += slide[faces[f, k], j]
        for k in range(3):
            node = faces[f, k]
            for i in range(3):
                s[k, i] = v[node, i] - F[f, i, 0] * slide[node, 0] - F[f, i, 1] * slide[node, 1]
        for k in range(3):
            for i in range(3):
                p[k, i] = twelfth[f] * (s[0, i] + s[1, i] + s[2, i] + s[k, i])
                twice += p[k, i] * s[k, i]
        for i in range(3):
            for j in range(2):
                G[i, j] = s[0, i] * N[f, 0, j] + s[1, i] * N[f, 1, j] + s[2, i] * N[f, 2, j]
        for k in range(3):
            node = faces[f, k]
            for i in range(3):
                R[i] = -growth * p[k, i]
                for j in range(2):
                    R[i] += twelfth[f] * G[i, j] * (all_slide[j] + slide[node, j])
                for b in range(3):
                    R[i] -= (N[f, k, 0] * slide[faces[f, b], 0] + N[f, k, 1] * slide[faces[f, b], 1]) * p[b, i]
                momentum[node, i] += h * R[i]
            if slides[node]:
                for j in range(2):
                    value = 0.5 * twice * N[f, k, j]
                    for i in range(3):
                        value += G[i, j] * p[k, i] - F[f, i, j] * R[i]
                    momentum[node, 3 + j] += h * value


@inline
def all_blocks(stiffness, corners, K):  # type: ignore[no-untyped-def]
    """Write the blocks of K of all pairs of an element's corners, (4, 4, 3, 3), on and below the diagonal. stiffness:
    of pairs (1, 0), (2, 0), (2, 1), …, (6, 9) [N/m]; K_aa = −Σ K_ab."""
    K[:] = 0.0
    for a in range(1, corners):
        for b in range(a):
            pair = a * (a - 1) // 2 + b
            for i in range(3):
                for j in range(3):
                    value = stiffness[pair, 3 * i + j]
                    K[a, b, i, j] = value
                    K[a, a, i, j] -= value
                    K[b, b, j, i] -= value


@inline
def add_lagrangian(block, factor, slot, blocks):  # type: ignore[no-untyped-def]
    """Subtract factor K of a pair of vertices that do not slide, (3, 3), from blocks (b, 5, 5) at a slot; transposed
    where the slot is −1 − slot."""
    for i in range(3):
        for j in range(3):
            if slot >= 0:
                blocks[slot, i, j] -= factor * block[i, j]
            else:
                blocks[-1 - slot, j, i] -= factor * block[i, j]


@kernel("void(i4[:,::1], i4[:,::1], b1[::1], f8[:,:,::1], f8[:,:,::1], f8[:,:,::1], f8, f8, f8[:,:,::1], f8[:,::1])")
def add_faces(  # type: ignore[no-untyped-def]
        faces, slots, slides, F, forces, stiffness, factor, h, blocks, impulse):
    """Add −factor K of faces to blocks (b, 5, 5) and h f to impulse (n, 5).

    faces: (m, 4), the last corner twice. slots: as in `add_inertia`. slides: whether a vertex slides, (n,). F: of
    faces, (m, 3, 2). forces: (m, 4, 3) [N]. stiffness: blocks of K of pairs (1, 0), (2, 0), (2, 1), …, (m, 6, 9) [N/m].
    factor: [s²]. h: [s]. [Thesis 2.9] [Thesis 2.10]
    """
    K, work = np.empty((4, 4, 3, 3)), np.empty((5, 5))
    for e in range(faces.shape[0]):
        all_blocks(stiffness[e], 3, K)
        for a in range(3):
            node = faces[e, a]
            for i in range(3):
                f = h * forces[e, a, i]
                impulse[node, i] += f
                if slides[node]:
                    impulse[node, 3] -= F[e, i, 0] * f
                    impulse[node, 4] -= F[e, i, 1] * f
            for b in range(a + 1):
                slot, other = slots[e, a * (a + 1) // 2 + b], faces[e, b]
                if not (slides[node] or slides[other]):  # as nearly all are
                    add_lagrangian(K[a, b], factor, slot, blocks)
                elif slot >= 0:
                    add_block(K[a, b], -factor, F[e], F[e], slides[node], slides[other], blocks[slot])
                else:
                    work[:] = 0.0
                    add_block(K[a, b], -factor, F[e], F[e], slides[node], slides[other], work)
                    add_transposed(work, blocks[-1 - slot])


@kernel("void(i4[:,::1], i4[:,::1], b1[::1], f8[:,:,::1], i4[:,::1], f8[:,::1], f8[:,:,::1], f8[:,:,::1], f8, f8,"
        " f8[:,:,::1], f8[:,::1])")
def add_hinges(  # type: ignore[no-untyped-def]
        hinges, slots, slides, F, sides, cotangents, forces, stiffness, factor, h, blocks, impulse):
    """Add −factor K of hinges, (h, 4), two ends and two opposite corners, to blocks (b, 5, 5) and h f to impulse (n,
    5).

    sides: faces beside each, (h, 2). cotangents: of the angles at the ends, (h, 4). The others are as in `add_faces`.

    A hinge bends by the distance of the corner opposite to it in either face from the point of its edge below, r_s =
    x_c − Σ w_k x_k. Each is a line in one face, so material moves along it by that face's F, and the ends of the edge
    slide by both. With a single F for each vertex, power of the bending resistance would be lost or gained where a fold
    runs through faces of different heights. K of all corners is that of both r.
    """
    K, work, by = np.empty((4, 4, 3, 3)), np.empty((5, 5)), np.zeros((2, 4))
    for e in range(hinges.shape[0]):
        all_blocks(stiffness[e], 4, K)
        moves = False
        for a in range(4):
            moves |= slides[hinges[e, a]]
            for i in range(3):
                impulse[hinges[e, a], i] += h * forces[e, a, i]
        if not moves:  # as nearly all are
            for a in range(4):
                for b in range(a + 1):
                    add_lagrangian(K[a, b], factor, slots[e, a * (a + 1) // 2 + b], blocks)
            continue
        for s in range(2):
            at_a, at_b = cotangents[e, 2 * s], cotangents[e, 2 * s + 1]
            by[s, 0], by[s, 1], by[s, 2 + s] = -at_b / (at_a + at_b), -at_a / (at_a + at_b), 1.0
        for i in range(3):
            for j in range(3):
                K[2, 3, j, i] = K[3, 2, i, j]
        for a in range(4):
            node = hinges[e, a]
            if slides[node]:
                for s in range(2):
                    for i in range(3):
                        f = by[s, a] * h * forces[e, 2 + s, i]
                        impulse[node, 3] -= F[sides[e, s], i, 0] * f
                        impulse[node, 4] -= F[sides[e, s], i, 1] * f
            for b in range(a + 1):
                slot, other = slots[e, a * (a + 1) // 2 + b], hinges[e, b]
                work[:] = 0.0
                for s in range(2):
                    for t in range(2):
                        both = by[s, a] * by[t, b]
                        if both != 0.0:
                            add_block(K[2 + s, 2 + t], -factor * both, F[sides[e, s]], F[sides[e, t]], slides[node],
                                      slides[other], work)
                if slot >= 0:
                    for i in range(5):
                        for j in range(5):
                            blocks[slot, i, j] += work[i, j]
                else:
                    add_transposed(work, blocks[-1 - slot])


@kernel("void(i4[:,::1], i4[::1], b1[::1], f8[:,:,::1], f8[:,::1], f8[:,::1], f8[:,::1], f8[::1], f8, f8, f8,"
        " f8[:,:,::1], f8[:,::1])")
def add_drag(  # type: ignore[no-untyped-def]
        faces, diagonal, slides, F, x, v, slide, wind, drag, friction, h, blocks, impulse):
    """Add h C to blocks (b, 5, 5) and h C w to impulse (n, 5), with the drag C = A (c_n |s·n| n nᵀ + c_t |s_t| (1 − n
    nᵀ)) of each face, a third of it at each corner; s is the velocity of its material relative to the wind w, (3,)
    [m/s].

    faces: (m, 3). diagonal: slots of vertices with themselves, (n,). F: of faces, (m, 3, 2). x: (n, 3) [m]. v, slide: ẋ
    (n, 3) and Ẋ (n, 2) [m/s]. drag, friction: c_n and c_t [kg/m³]. h: [s].
    """
    normal, speed, C, wind_force = np.empty(3), np.empty(3), np.empty((3, 3)), np.empty(3)
    for f in range(faces.shape[0]):
        a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            normal[i] = ((x[b, j] - x[a, j]) * (x[c, k] - x[a, k]) - (x[b, k] - x[a, k]) * (x[c, j] - x[a, j]))
            speed[i] = -wind[i]
            for corner in range(3):
                node = faces[f, corner]
                speed[i] += (v[node, i] - F[f, i, 0] * slide[node, 0] - F[f, i, 1] * slide[node, 1]) / 3.0
        twice = np.sqrt(normal[0] ** 2 + normal[1] ** 2 + normal[2] ** 2)
        if twice == 0.0:
            continue
        onto, square = 0.0, 0.0
        for i in range(3):
            normal[i] /= twice
            onto += speed[i] * normal[i]
        for i in range(3):
            square += (speed[i] - onto * normal[i]) ** 2
        across, drawn = twice / 6.0 * drag * abs(onto), twice / 6.0 * friction * np.sqrt(square)
        for i in range(3):
            wind_force[i] = 0.0
            for j in range(3):
                C[i, j] = (across - drawn) * normal[i] * normal[j]
                if i == j:
                    C[i, j] += drawn
                wind_force[i] += C[i, j] * wind[j]
        for corner in range(3):
            node = faces[f, corner]
            add_block(C, h, F[f], F[f], slides[node], slides[node], blocks[diagonal[node]])
            for i in range(3):
                impulse[node, i] += h * wind_force[i]
                if slides[node]:
                    impulse[node, 3] -= h * F[f, i, 0] * wind_force[i]
                    impulse[node, 4] -= h * F[f, i, 1] * wind_force[i]
