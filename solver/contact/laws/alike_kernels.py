"""Kernels that copy one pair of each group with the same nearest points, and that bound the friction of pairs.

The compiler does not contract or reorder products and sums.
"""

from __future__ import annotations

import numpy as np

from ...threads import kernel
from ..find.distance_kernels import DIFFERENCE, WORK

AS_WRITTEN: frozenset[str] = frozenset()


@kernel("void(i8, i8, i8[::1], f8[::1], i4[:,::1], f8[::1], f8[::1], f8[::1], f8[::1], f8[:,::1], f8[:,:,::1], "
        "i4[:,::1], f8[::1], f8[::1], f8[::1], f8[:,::1], f8[:,:,::1])", AS_WRITTEN)
def take_alike(  # type: ignore[no-untyped-def]
    start, stop, which, of_all, nodes, stiffness, rest, thickness, activation, work, forces, out_nodes, out_rest,
    out_thickness, out_activation, out_work, out_forces,
):
    """Copy the pairs which[start:stop] to rows start to stop of the out arrays, with the forces of their groups.

    which: first pair of each group, (g,). of_all: total stiffness of each group, (g,) [N/m], to which forces are
    scaled. nodes to forces: fields of ActivePairs.
    """
    for g in range(start, stop):
        k = which[g]
        out_rest[g], out_thickness[g], out_activation[g] = rest[k], thickness[k], activation[k]
        times = of_all[g] / stiffness[k] if stiffness[k] > 0.0 else 1.0
        for i in range(WORK):
            out_work[g, i] = work[k, i]
        for c in range(4):
            out_nodes[g, c] = nodes[k, c]
            for i in range(3):
                out_forces[g, c, i] = forces[k, c, i] * times


@kernel("void(i8, i8, i4[:,::1], i8, f8[:,:,::1], f8[::1], f8[::1])", AS_WRITTEN)
def limit_friction(start, stop, nodes, points, forces, friction, out):  # type: ignore[no-untyped-def]
    """Write Coulomb's limit μ λ of pairs start to stop to `out`, (k,) [N].

    μ is the geometric mean of the coefficients of one node of each side, and λ the size of the force on the first side,
    a point or both ends of an edge. nodes: (k, 4), the first `points` pairs are of a point and a triangle. forces:
    (k, 4, 3) [N]. friction: Coulomb's coefficient of each node, (n,).
    """
    for k in range(start, stop):
        total = 0.0
        for i in range(3):
            force = forces[k, 0, i] if k < points else forces[k, 0, i] + forces[k, 1, i]
            total += force * force
        out[k] = np.sqrt(friction[nodes[k, 0]] * friction[nodes[k, 3]]) * np.sqrt(total)


@kernel("void(i8, i8, i8[::1], i4[:,::1], f8[:,::1], i4[:,::1], f8[:,::1], f8[:,::1], f8[::1])", AS_WRITTEN)
def take_loaded(  # type: ignore[no-untyped-def]
    start, stop, loaded, nodes, work, out_nodes, out_weights, out_normal, out_gap,
):
    """Copy nodes (m, 4) and weights (m, 4) of pairs loaded[start:stop]; write unit normals (m, 3) and gaps (m,) [m].

    loaded: numbers of pairs, (m,). nodes, work: fields of ActivePairs.
    """
    for m in range(start, stop):
        k = loaded[m]
        for c in range(4):
            out_nodes[m, c], out_weights[m, c] = nodes[k, c], work[k, c]
        a, b, c = work[k, DIFFERENCE], work[k, DIFFERENCE + 1], work[k, DIFFERENCE + 2]
        gap = np.sqrt(a * a + b * b + c * c)
        out_gap[m] = gap
        out_normal[m, 0], out_normal[m, 1], out_normal[m, 2] = a / gap, b / gap, c / gap
