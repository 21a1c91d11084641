"""Kernels between the unknowns of a stage and fields of nodes, each for a range of the nodes.

position: the index of each node among the unknowns, −1 for a node that is none, (n,). moving: mask of the unknown nodes
that move, (p,), empty where all do. Products and sums are rounded one by one, as in numpy: fused operations would
change the results of a bake.
"""

from __future__ import annotations

from ..threads import kernel

PIECES = 64  #: of the nodes; their borders do not depend on the number of threads
AS_WRITTEN: frozenset[str] = frozenset()


@kernel("void(i8, i8, i8[::1], b1[::1], f8[:,::1], f8[:,::1], f8[:,::1], f8, f8[:,::1], f8[:,::1])", AS_WRITTEN)
def set_positions(  # type: ignore[no-untyped-def]
    start, stop, position, moving, unknowns, prescribed, base, scale, v, x,
):
    """Write velocities v and positions x = base + scale v of nodes, (n, 3) each, from unknowns (p, 3) and prescribed
    velocities (n, 3)."""
    count = base.shape[0]
    for i in range(start * count // PIECES, stop * count // PIECES):
        row = position[i]
        free = row >= 0 and (moving.shape[0] == 0 or moving[row])
        for a in range(3):
            v[i, a] = unknowns[row, a] if free else prescribed[i, a]
            x[i, a] = base[i, a] + scale * v[i, a]


@kernel("void(i8, i8, i8[::1], b1[::1], f8[:,::1], f8, f8[:,::1])", AS_WRITTEN)
def move_nodes(start, stop, position, moving, direction, scale, moved):  # type: ignore[no-untyped-def]
    """Write displacements scale × direction of nodes, (n, 3), from a direction of the unknowns, (p, 3); 0 for other
    nodes."""
    count = moved.shape[0]
    for i in range(start * count // PIECES, stop * count // PIECES):
        row = position[i]
        free = row >= 0 and (moving.shape[0] == 0 or moving[row])
        for a in range(3):
            moved[i, a] = scale * direction[row, a] if free else 0.0


@kernel("void(i8, i8, i4[::1], b1[::1], f8[:,::1], f8[:,::1], f8[:,::1], f8[:,::1], f8, f8[:,::1], f8[::1])",
        AS_WRITTEN)
def leave_residual(  # type: ignore[no-untyped-def]
    start, stop, order, moving, inertia, predicted, v, force, scale, residual, kinetic_energy,
):
    """Write M (v − v̂) − scale f of the unknown nodes, (p, 3), 0 for nodes that do not move, and |v − v̂|²_M of each
    piece.

    order: nodes of the unknowns, (p,). inertia: (p, 1). predicted: v̂, (p, 3). v, force: (n, 3).
    """
    count = order.shape[0]
    for piece in range(start, stop):
        total = 0.0
        for k in range(piece * count // PIECES, (piece + 1) * count // PIECES):
            node, free = order[k], moving.shape[0] == 0 or moving[k]
            for a in range(3):
                change = v[node, a] - predicted[k, a]
                momentum = inertia[k, 0] * change
                total += change * momentum
                residual[k, a] = momentum - scale * force[node, a] if free else 0.0
        kinetic_energy[piece] = total


@kernel("f8(f8[:,::1], f8[::1])", AS_WRITTEN)
def widest(x, mass):  # type: ignore[no-untyped-def]
    """Return the longest side of the box around nodes x (n, 3) that have mass, (n,); 0 where none has."""
    longest = 0.0
    for a in range(3):
        least, most = 0.0, 0.0
        has_any = False
        for i in range(x.shape[0]):
            if mass[i] > 0.0:
                least = min(least, x[i, a]) if has_any else x[i, a]
                most = max(most, x[i, a]) if has_any else x[i, a]
                has_any = True
        longest = max(longest, most - least)
    return longest
