"""Splits, flips and collapses of a triangle mesh in material space, over the arrays of `mesh_kernels`."""

from __future__ import annotations

import numpy as np

from ..threads import inline, kernel
from .mesh_kernels import (
    FACES,
    MESH,
    POINTS,
    VERTICES,
    WIDEST,
    corner_of,
    feature_of,
    find_opposite_corner,
    ring,
    sharpness_of,
    wedge,
)

# why a collapse or a flip is refused
DONE, REQUIRED, ON_FEATURE, AT_BORDER, LINKED, INVERTED, THIN, CROWDED, NO_EDGE = range(9)


@inline
def push_forward(mesh, f, s0, s1, axis):  # type: ignore[no-untyped-def]
    """Return the component `axis` of F s in face f, for a vector s in material space."""
    x, X, faces = mesh[0], mesh[1], mesh[7]
    a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
    twice = wedge(X, a, b, c)
    of_b = ((X[c, 1] - X[a, 1]) * s0 - (X[c, 0] - X[a, 0]) * s1) / twice
    of_c = ((X[b, 0] - X[a, 0]) * s1 - (X[b, 1] - X[a, 1]) * s0) / twice
    return (x[b, axis] - x[a, axis]) * of_b + (x[c, axis] - x[a, axis]) * of_c


@kernel(f"void({MESH}, i8, f8[::1], f8[::1])")
def velocity_in(mesh, f, weights, out):  # type: ignore[no-untyped-def]
    """Write the world velocity at a point of face f, Σ w ẋ − F Σ w Ẋ with the face's F, to `out`, (3,) [m/s].

    weights: of the face's corners, (3,). [Thesis 2.2]
    """
    v, slide, faces = mesh[2], mesh[3], mesh[7]
    s0, s1 = 0.0, 0.0
    for i in range(3):
        out[i] = 0.0
    for k in range(3):
        vertex = faces[f, k]
        s0 += weights[k] * slide[vertex, 0]
        s1 += weights[k] * slide[vertex, 1]
        for i in range(3):
            out[i] += weights[k] * v[vertex, i]
    if s0 != 0.0 or s1 != 0.0:
        for i in range(3):
            out[i] -= push_forward(mesh, f, s0, s1, i)


@kernel(f"i8({MESH}, i8, f8[::1])")
def add_vertex(mesh, f, weights):  # type: ignore[no-untyped-def]
    """Add a Lagrangian vertex at a point of a face, without faces; return its number, −1 if there is no room.

    weights: of the face's corners, (3,).
    """
    x, X, v, slide, metric, on, required, faces, _, at, counts, _ = mesh
    if counts[VERTICES] == at.shape[0]:
        return -1
    m = counts[VERTICES]
    counts[VERTICES] += 1
    for i in range(3):
        x[m, i] = metric[m, i] = 0.0
        for k in range(3):
            x[m, i] += weights[k] * x[faces[f, k], i]
            metric[m, i] += weights[k] * metric[faces[f, k], i]
    for i in range(2):
        X[m, i] = slide[m, i] = 0.0
        for k in range(3):
            X[m, i] += weights[k] * X[faces[f, k], i]
    velocity_in(mesh, f, weights, v[m])
    on[m], required[m] = -1, False
    return m


@kernel(f"i8({MESH}, i8, i8, f8)")
def split_edge(mesh, f, k, t):  # type: ignore[no-untyped-def]
    """Split the edge a b opposite to corner k of face f at a fraction t from a; return the number of the new vertex.

    Returns −1 without room for one vertex and two faces. On a conformal edge the vertex is Eulerian-on-Lagrangian, with
    ẋ and Ẋ interpolated; else Lagrangian, with the world velocity of both faces there, by area. [Thesis 2.6.2]
    """
    x, X, v, slide, metric, on, _, faces, across, at, counts, _ = mesh
    g = across[f, k]
    if counts[FACES] + 2 > faces.shape[0] or counts[VERTICES] == at.shape[0]:
        return -1
    k1, k2 = (k + 1) % 3, (k + 2) % 3
    a, b, c = faces[f, k1], faces[f, k2], faces[f, k]
    weights = np.zeros(3)
    weights[k1], weights[k2] = 1.0 - t, t
    feature = feature_of(mesh, a, b)
    m = add_vertex(mesh, f, weights)
    for i in range(2):  # exactly on a border that goes along an axis
        X[m, i] = X[a, i] + t * (X[b, i] - X[a, i])
    for i in range(3):
        x[m, i] = x[a, i] + t * (x[b, i] - x[a, i])
    j = 0
    if g >= 0:
        j = find_opposite_corner(across, g, f)
    if feature >= 0:
        on[m] = feature
        for i in range(3):
            v[m, i] = v[a, i] + t * (v[b, i] - v[a, i])
        for i in range(2):
            slide[m, i] = slide[a, i] + t * (slide[b, i] - slide[a, i])
    elif g >= 0:
        other = np.zeros(3)
        other[(j + 1) % 3], other[(j + 2) % 3] = t, 1.0 - t
        beyond = np.empty(3)
        velocity_in(mesh, g, other, beyond)
        one, two = wedge(X, a, b, c), wedge(X, b, a, faces[g, j])
        for i in range(3):
            v[m, i] = (one * v[m, i] + two * beyond[i]) / (one + two)

    # c a b becomes c a m and c m b
    f2 = counts[FACES]
    counts[FACES] += 1
    faces[f, k2] = m
    faces[f2, k], faces[f2, k1], faces[f2, k2] = c, m, b
    side = across[f, k1]
    across[f2, k], across[f2, k1], across[f2, k2] = -1, side, f
    across[f, k], across[f, k1] = -1, f2
    if side >= 0:
        across[side, find_opposite_corner(across, side, f)] = f2
    at[m], at[a], at[b], at[c] = f, f, f2, f
    if g >= 0:
        # d b a becomes d m a and d b m
        j1, j2 = (j + 1) % 3, (j + 2) % 3
        g2, d = counts[FACES], faces[g, j]
        counts[FACES] += 1
        faces[g, j1] = m
        faces[g2, j], faces[g2, j1], faces[g2, j2] = d, b, m
        side = across[g, j2]
        across[g2, j], across[g2, j1], across[g2, j2] = f2, g, side
        across[g, j], across[g, j2] = f, g2
        across[f, k], across[f2, k] = g, g2
        if side >= 0:
            across[side, find_opposite_corner(across, side, g)] = g2
        at[d] = g
    return m


@kernel(f"i8({MESH}, i8, f8[::1])")
def split_face(mesh, f, weights):  # type: ignore[no-untyped-def]
    """Split face f at weights of its corners, (3,); return the number of the new vertex, −1 if there is no room.

    The vertex is Lagrangian, with the world velocity of the face there. [Thesis 2.6.2]
    """
    faces, across, at, counts = mesh[7], mesh[8], mesh[9], mesh[10]
    if counts[FACES] + 2 > faces.shape[0]:
        return -1
    m = add_vertex(mesh, f, weights)
    if m < 0:
        return -1
    a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
    f2, f3 = counts[FACES], counts[FACES] + 1
    counts[FACES] += 2
    second, third = across[f, 1], across[f, 2]
    faces[f, 0] = m
    faces[f2, 0], faces[f2, 1], faces[f2, 2] = a, m, c
    faces[f3, 0], faces[f3, 1], faces[f3, 2] = a, b, m
    across[f, 1], across[f, 2] = f2, f3
    across[f2, 0], across[f2, 1], across[f2, 2] = f, second, f3
    across[f3, 0], across[f3, 1], across[f3, 2] = f, f2, third
    if second >= 0:
        across[second, find_opposite_corner(across, second, f)] = f2
    if third >= 0:
        across[third, find_opposite_corner(across, third, f)] = f3
    at[m], at[a], at[b], at[c] = f, f2, f, f
    return m


@kernel(f"i8({MESH}, i8, i8, f8)")
def flip(mesh, f, k, thinnest):  # type: ignore[no-untyped-def]
    """Flip the edge opposite to corner k of face f to join the two opposite corners; return DONE or the reason against.

    A conformal edge is not flipped, nor an edge where a face would be inverted in material space, or get an angle whose
    tan is below `thinnest` and below that of both faces now.
    """
    faces, across, at = mesh[7], mesh[8], mesh[9]
    g = across[f, k]
    if g < 0:
        return AT_BORDER
    k1, k2 = (k + 1) % 3, (k + 2) % 3
    c, a, b = faces[f, k], faces[f, k1], faces[f, k2]
    if feature_of(mesh, a, b) >= 0:
        return ON_FEATURE
    j = find_opposite_corner(across, g, f)
    j1, j2 = (j + 1) % 3, (j + 2) % 3
    d = faces[g, j]
    after = min(sharpness_of(mesh, c, a, d), sharpness_of(mesh, d, b, c))
    if not after > 0.0:
        return INVERTED
    if after < thinnest and after < min(sharpness_of(mesh, c, a, b), sharpness_of(mesh, d, b, a)):
        return THIN
    # c a b and d b a become c a d and d b c
    of_f, of_g = across[f, k1], across[g, j1]
    faces[f, k2], faces[g, j2] = d, c
    across[f, k], across[f, k1] = of_g, g
    across[g, j], across[g, j1] = of_f, f
    if of_g >= 0:
        across[of_g, find_opposite_corner(across, of_g, g)] = f
    if of_f >= 0:
        across[of_f, find_opposite_corner(across, of_f, f)] = g
    at[a], at[b] = f, g
    return DONE


@kernel(f"i8({MESH}, i8, i8, f8, f8)")
def may_collapse(mesh, removed, into, straight, thinnest):  # type: ignore[no-untyped-def]
    """Return DONE if the vertex `removed` may be moved onto its neighbour `into`, else the reason against it.

    A required vertex is not moved, nor a vertex on a point feature; a vertex on an edge feature is moved along its
    conformal edge only; a vertex on the border along the border only, and only where sin of the border's angle there is
    below `straight`. No face is inverted in material space, nor gets an angle whose tan is below `thinnest` and below
    the worst around `removed` now.
    """
    X, on, required, faces, across, at, counts = mesh[1], mesh[5], mesh[6], mesh[7], mesh[8], mesh[9], mesh[10]
    if at[removed] < 0 or at[into] < 0:
        return NO_EDGE
    if required[removed]:
        return REQUIRED
    if on[removed] >= 0 and (on[removed] < counts[POINTS] or feature_of(mesh, removed, into) < 0):
        return ON_FEATURE
    around, others = np.empty(WIDEST, np.int32), np.empty(WIDEST, np.int32)
    signed, signed_into = ring(mesh, removed, around), ring(mesh, into, others)
    count = abs(signed)
    if signed == 0 or signed_into == 0:
        return CROWDED
    shared = 0
    for f in around[:count]:
        if faces[f, 0] == into or faces[f, 1] == into or faces[f, 2] == into:
            shared += 1
    if shared == 0:
        return NO_EDGE
    if signed < 0:
        before = faces[around[0], (corner_of(faces, around[0], removed) + 1) % 3]
        after = faces[around[count - 1], (corner_of(faces, around[count - 1], removed) + 2) % 3]
        if shared != 1 or (into != before and into != after):
            return AT_BORDER
        one = np.sqrt((X[before, 0] - X[removed, 0]) ** 2 + (X[before, 1] - X[removed, 1]) ** 2)
        two = np.sqrt((X[after, 0] - X[removed, 0]) ** 2 + (X[after, 1] - X[removed, 1]) ** 2)
        if abs(wedge(X, before, removed, after)) > straight * one * two:
            return AT_BORDER
    elif shared != 2:
        return AT_BORDER
    # only the corners opposite to the edge are neighbours of both its ends
    common = 0
    for i in range(count + (1 if signed < 0 else 0)):
        if i < count:
            near = faces[around[i], (corner_of(faces, around[i], removed) + 1) % 3]
        else:
            near = faces[around[i - 1], (corner_of(faces, around[i - 1], removed) + 2) % 3]
        if near != into:
            for g in others[:abs(signed_into)]:
                k = corner_of(faces, g, into)
                if faces[g, (k + 1) % 3] == near or (across[g, (k + 1) % 3] < 0 and faces[g, (k + 2) % 3] == near):
                    common += 1
                    break
    if common != shared or count == shared:
        return LINKED
    worst, least = 1e300, 1e300
    for f in around[:count]:
        k = corner_of(faces, f, removed)
        p, q = faces[f, (k + 1) % 3], faces[f, (k + 2) % 3]
        worst = min(worst, sharpness_of(mesh, removed, p, q))
        if p != into and q != into:
            least = min(least, sharpness_of(mesh, into, p, q))
    if not least > 0.0:
        return INVERTED
    return THIN if least < thinnest and least < worst else DONE


@kernel(f"void({MESH}, i8, i8)")
def collapse(mesh, removed, into):  # type: ignore[no-untyped-def]
    """Move the vertex `removed` onto its neighbour `into`, and remove the faces between them.

    Valid only where `may_collapse` returns DONE.
    """
    faces, across, at = mesh[7], mesh[8], mesh[9]
    around = np.empty(WIDEST, np.int32)
    count = abs(ring(mesh, removed, around))
    for f in around[:count]:
        k = corner_of(faces, f, removed)
        if faces[f, (k + 1) % 3] != into and faces[f, (k + 2) % 3] != into:
            faces[f, k] = into
            at[into] = f
    for f in around[:count]:
        if faces[f, 0] != removed and faces[f, 1] != removed and faces[f, 2] != removed:
            continue
        k, j = corner_of(faces, f, removed), corner_of(faces, f, into)
        tip = faces[f, 3 - k - j]
        # neighbours beyond the edge of `removed` and beyond that of `into` become neighbours
        one, two = across[f, j], across[f, k]
        if one >= 0:
            across[one, find_opposite_corner(across, one, f)] = two
            at[tip] = one
        if two >= 0:
            across[two, find_opposite_corner(across, two, f)] = one
            at[tip] = two
        faces[f, 0] = faces[f, 1] = faces[f, 2] = -1
        across[f, 0] = across[f, 1] = across[f, 2] = -1
    at[removed] = -1
