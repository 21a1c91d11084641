"""Kernels of sweeps on the nodes. Each array is read once: sweeps are short, and a sequence of numpy calls takes
longer."""

from __future__ import annotations

from ...threads import kernel


@kernel("void(f8[:,:,::1], f8[:,:,::1])")
def rotate_back(rotations, loads):  # type: ignore[no-untyped-def]
    """Multiply each column of each node's loads, (n, 3, 3), by Rᵀ, in place; rotations: R, (n, 3, 3)."""
    for i in range(loads.shape[0]):
        rotation = rotations[i]
        for c in range(3):
            x, y, z = loads[i, 0, c], loads[i, 1, c], loads[i, 2, c]
            for k in range(3):
                loads[i, k, c] = rotation[0, k] * x + rotation[1, k] * y + rotation[2, k] * z


@kernel("void(f8[:,:,::1], f8[:,:,::1])")
def rotate(rotations, fields):  # type: ignore[no-untyped-def]
    """Multiply each node's vector in fields, (3, n, 3), by R, in place; rotations: R, (n, 3, 3)."""
    for c in range(3):
        for i in range(fields.shape[1]):
            x, y, z = fields[c, i]
            for k in range(3):
                fields[c, i, k] = rotations[i, k, 0] * x + rotations[i, k, 1] * y + rotations[i, k, 2] * z


@kernel("void(f8[::1], f8, f8, f8[:,::1], f8[:,::1], f8[:,::1], f8[:,::1], f8[:,::1], f8[:,:,::1])")
def load(mass, inertia, ah, v, v_hat, force, stiffness_p, stiffness_v, out):  # type: ignore[no-untyped-def]
    """Write the loads of a sweep, (n, 3, 3): K v, K p − m with m = M (v − v̂) − a h f, and f.

    mass: (n,) [kg]. inertia: factor on M. ah: a h [s]. stiffness_p, stiffness_v: K p and K v, (n, 3). v, v_hat, force:
    (n, 3).
    """
    for i in range(out.shape[0]):
        inert = inertia * mass[i]
        for k in range(3):
            out[i, k, 0] = stiffness_v[i, k]
            out[i, k, 1] = stiffness_p[i, k] - (inert * (v[i, k] - v_hat[i, k]) - ah * force[i, k])
            out[i, k, 2] = force[i, k]


@kernel("void(i4[::1], f8[:,:,::1], f8[::1], f8[:,::1], f8[::1])")
def write_momentum(order, loads, inert, responses, out):  # type: ignore[no-untyped-def]
    """Write m − K p on the rows, with the change of m by a change of velocities. loads: as `load` writes them. inert:
    mass of each row [kg]. responses: responses to the loads, that of velocities first, (3 (q + k), 3)."""
    for row in range(order.shape[0]):
        for k in range(3):
            at = 3 * row + k
            out[at] = inert[at] * responses[at, 0] - loads[order[row], k, 1]


@kernel("void(i4[::1], f8[:,::1], f8[::1], f8[::1], f8, f8[:,:,::1])")
def spread(order, responses, in_v, in_x, bh, out):  # type: ignore[no-untyped-def]
    """Write the change by a sweep of x − b h v, b h v and p on the nodes of the rows, (3, n, 3); other nodes are
    unchanged.

    responses: responses to the loads, (3 (q + k), 3). in_v, in_x: changes by the dynamic unknowns in velocities and in
    positions [m/s]. bh: b h [s].
    """
    for row in range(order.shape[0]):
        node = order[row]
        for k in range(3):
            at = 3 * row + k
            moved = bh * (responses[at, 0] + in_v[at])
            out[0, node, k] = responses[at, 2] + bh * in_x[at] - moved
            out[1, node, k] = moved
            out[2, node, k] = responses[at, 1]
