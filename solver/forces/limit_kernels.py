"""Hard limits of lengths and areas: energy, forces and stiffness beyond a limit."""

from __future__ import annotations

import numpy as np

from ..threads import kernel

SHORT = 1.0e-12  #: [m], and [m²] of twice an area: a smaller element has no direction


@kernel("f8(f8, f8, f8, f8, f8)")
def tension_of(strain, multiplier, stiffness, low, high):  # type: ignore[no-untyped-def]
    """Return T = k (y − clip(y, low, high)) [J], y = g + λ/k. strain: the strain g. multiplier: λ [J]. stiffness: k
    [J]."""
    y = strain + multiplier / stiffness
    return stiffness * (y - min(max(y, low), high))


@kernel("f8(f8[:,::1], i4[::1], f8[::1])")
def direction_of(x, ends, out):  # type: ignore[no-untyped-def]
    """Return the length of a line [m]; write its unit direction into out (3,). x: (n, 3) [m]. ends: (2,)."""
    square = 0.0
    for a in range(3):
        out[a] = x[ends[1], a] - x[ends[0], a]
        square += out[a] * out[a]
    length = np.sqrt(square)
    for a in range(3):
        out[a] /= max(length, SHORT)
    return length


@kernel("f8(f8[:,::1], i4[::1], f8[:,::1])")
def slopes_of_area(x, corners, out):  # type: ignore[no-untyped-def]
    """Return the area of a triangle [m²]; write its gradient by each corner and its unit normal into out (4, 3).

    x: (n, 3) [m]. corners: (3,). Rows 0 to 2 of `out` are gradients [m], row 3 is the normal.
    """
    i, j, k = corners[0], corners[1], corners[2]
    square = 0.0
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        out[3, a] = ((x[j, b] - x[i, b]) * (x[k, c] - x[i, c]) - (x[j, c] - x[i, c]) * (x[k, b] - x[i, b]))
        square += out[3, a] * out[3, a]
    double = np.sqrt(square)
    for a in range(3):
        out[3, a] /= max(double, SHORT)
    for corner in range(3):
        p, q = corners[(corner + 1) % 3], corners[(corner + 2) % 3]
        for a in range(3):
            b, c = (a + 1) % 3, (a + 2) % 3
            # ½ n × (x_q − x_p)
            out[corner, a] = 0.5 * (out[3, b] * (x[q, c] - x[p, c]) - out[3, c] * (x[q, b] - x[p, b]))
    return 0.5 * double


@kernel("f8(i8, i8, f8[:,::1], i4[:,::1], f8[::1], f8[::1], f8[::1], f8, f8, f8[:,:,::1])")
def measure_lengths(  # type: ignore[no-untyped-def]
        start, stop, x, nodes, rest, stiffness, multipliers, low, high, forces):
    """Return the energy of limited lines `start` to `stop` [J]; write forces (s, 4, 3) [N].

    x: (n, 3) [m]. nodes: (s, 2). rest: L [m], (s,). stiffness, multipliers: k and λ [J], (s,). low, high: limits of the
    strain.
    """
    energy, u = 0.0, np.empty(3)
    for s in range(start, stop):
        strain = direction_of(x, nodes[s], u) / rest[s] - 1.0
        tension = tension_of(strain, multipliers[s], stiffness[s], low, high)
        energy += 0.5 * (tension * tension - multipliers[s] * multipliers[s]) / stiffness[s]
        for a in range(3):
            forces[s, 0, a] = tension * u[a] / rest[s]
            forces[s, 1, a] = -forces[s, 0, a]
            forces[s, 2, a], forces[s, 3, a] = 0.0, 0.0
    return energy


@kernel("void(i8, i8, f8[:,::1], i4[:,::1], f8[::1], f8[::1], f8[::1], f8, f8, b1, f8[:,:,::1])")
def fill_lengths(  # type: ignore[no-untyped-def]
        start, stop, x, nodes, rest, stiffness, multipliers, low, high, project, blocks):
    """Write blocks of K of lines `start` to `stop`, (s, 6, 9) [N/m]: k/L² u uᵀ + T/(L l) (1 − u uᵀ) past a limit, else
    zero.

    x: (n, 3) [m]. nodes: (s, 2). rest: L [m], (s,). stiffness, multipliers: k and λ [J], (s,). low, high: limits of the
    strain. T ≥ 0 if `project`.
    """
    u = np.empty(3)
    for s in range(start, stop):
        length = direction_of(x, nodes[s], u)
        tension = tension_of(length / rest[s] - 1.0, multipliers[s], stiffness[s], low, high)
        for a in range(6):
            for b in range(9):
                blocks[s, a, b] = 0.0
        if tension == 0.0:
            continue
        across = (max(tension, 0.0) if project else tension) / (rest[s] * max(length, SHORT))
        along = stiffness[s] / (rest[s] * rest[s])
        for a in range(3):
            for b in range(3):
                blocks[s, 0, 3 * a + b] = (along - across) * u[a] * u[b] + (across if a == b else 0.0)


@kernel("f8(i8, i8, f8[:,::1], i4[:,::1], f8[::1], f8[::1], f8[::1], f8, f8, f8[:,:,::1])")
def measure_areas(  # type: ignore[no-untyped-def]
        start, stop, x, nodes, rest, stiffness, multipliers, low, high, forces):
    """Return the energy of limited triangles `start` to `stop` [J]; write forces (s, 4, 3) [N].

    x: (n, 3) [m]. nodes: (s, 3). rest: A₀ [m²], (s,). stiffness, multipliers: k and λ [J], (s,). low, high: limits of
    the strain.
    """
    energy, slopes = 0.0, np.empty((4, 3))
    for s in range(start, stop):
        strain = slopes_of_area(x, nodes[s], slopes) / rest[s] - 1.0
        tension = tension_of(strain, multipliers[s], stiffness[s], low, high)
        energy += 0.5 * (tension * tension - multipliers[s] * multipliers[s]) / stiffness[s]
        for corner in range(3):
            for a in range(3):
                forces[s, corner, a] = -tension * slopes[corner, a] / rest[s]
        for a in range(3):
            forces[s, 3, a] = 0.0
    return energy


@kernel("void(i8, i8, f8[:,::1], i4[:,::1], f8[::1], f8[::1], f8[::1], f8, f8, b1, f8[:,:,::1])")
def fill_areas(  # type: ignore[no-untyped-def]
        start, stop, x, nodes, rest, stiffness, multipliers, low, high, project, blocks):
    """Write blocks of K of triangles `start` to `stop`, (s, 6, 9) [N/m]: −k/A₀² ∇A ∇Aᵀ − T/A₀ ∇²A past a limit, else
    zero.

    x: (n, 3) [m]. nodes: (s, 3). rest: A₀ [m²], (s,). stiffness, multipliers: k and λ [J], (s,). low, high: limits of
    the strain. If `project`, the second term is its part along the normal, where that is negative semi-definite.
    """
    slopes = np.empty((4, 3))
    for s in range(start, stop):
        area = max(slopes_of_area(x, nodes[s], slopes), SHORT)
        tension = tension_of(area / rest[s] - 1.0, multipliers[s], stiffness[s], low, high)
        for a in range(6):
            for b in range(9):
                blocks[s, a, b] = 0.0
        if tension == 0.0:
            continue
        k, t = stiffness[s] / (rest[s] * rest[s]), tension / rest[s]
        if project:
            t = max(t, 0.0)
        n = slopes[3]
        for pair in range(3):
            # pairs (1, 0), (2, 0), (2, 1)
            i = 1 if pair == 0 else 2
            j = 1 if pair == 2 else 0
            p, q = nodes[s, (i + 1) % 3], nodes[s, (i + 2) % 3]
            r, m = nodes[s, (j + 1) % 3], nodes[s, (j + 2) % 3]
            inner = 0.0
            for a in range(3):
                inner += (x[q, a] - x[p, a]) * (x[m, a] - x[r, a])
            sign = 1.0 if (i - j) % 3 == 1 else -1.0
            for a in range(3):
                for b in range(3):
                    # ∂²A/∂x_i∂x_j: n nᵀ (e_i·e_j)/4A, and ½ [n]× with a sign of the order of both corners
                    curved = n[a] * n[b] * inner / (4.0 * area)
                    if not project:
                        cross = 0.0
                        if b == (a + 1) % 3:
                            cross = -n[(a + 2) % 3]
                        elif b == (a + 2) % 3:
                            cross = n[(a + 1) % 3]
                        curved += 0.5 * sign * cross
                    blocks[s, pair, 3 * a + b] = -(k * slopes[i, a] * slopes[j, b] + t * curved)
