"""Damped springs between points of rigid bodies. Twists and wrenches [angular; linear] are in the bodies' frames."""

from __future__ import annotations

import math

import numpy as np

from ..coordinates.tree_kernels import add, along, back, cross, load, scale_vector
from ..threads import inline, kernel
from . import rigid_structs  # noqa: F401  # named in signatures

WORLD, PARENT_FIRST, CHILD_FIRST = -1, -2, -3  #: slots of springs between neighbours in the tree, or of the world


@inline
def _reach(E, i, p):  # type: ignore[no-untyped-def]
    """Return the position of point p of body i."""
    at = load(E, i)
    return add(along(at, p), (at[3], at[7], at[11]))


@inline
def _point_velocity(E, i, p, twist):  # type: ignore[no-untyped-def]
    """Return the velocity of point p of body i at twists (n, 6)."""
    velocity = cross((twist[i, 0], twist[i, 1], twist[i, 2]), p)
    return along(load(E, i), add((twist[i, 3], twist[i, 4], twist[i, 5]), velocity))


@inline
def _point_row(E, i, p, direction, out):  # type: ignore[no-untyped-def]
    """Write a row out (6,): out · φ_i is the velocity of point p of body i along a direction."""
    own = back(load(E, i), direction)
    torque = cross(p, own)
    for a in range(3):
        out[a], out[3 + a] = torque[a], own[a]


@inline
def _add_force(E, i, p, force, wrench):  # type: ignore[no-untyped-def]
    """Add the wrench of a force at point p of body i to wrench (n, 6)."""
    own = back(load(E, i), force)
    torque = cross(p, own)
    for a in range(3):
        wrench[i, a] += torque[a]
        wrench[i, 3 + a] += own[a]


@inline
def _stiffen(block, inward, row, sideways, p):  # type: ignore[no-untyped-def]
    """Add inward · row wayᵀ + sideways · Wᵀ W to a block (6, 6), W = R [−[p], 1], for any rotation R."""
    for a in range(6):
        for b in range(6):
            block[a, b] += inward * row[a] * row[b]
    if sideways != 0.0:
        square = p[0] * p[0] + p[1] * p[1] + p[2] * p[2]
        for a in range(3):
            b, c = (a + 1) % 3, (a + 2) % 3
            for d in range(3):
                block[a, d] -= sideways * p[a] * p[d]
            block[a, a] += sideways * square
            block[3 + a, 3 + a] += sideways
            # [p] and its transpose
            block[a, 3 + b] -= sideways * p[c]
            block[3 + b, a] -= sideways * p[c]
            block[a, 3 + c] += sideways * p[b]
            block[3 + c, a] += sideways * p[b]


@inline
def _point_jacobian(E, i, p, out):  # type: ignore[no-untyped-def]
    """Write W = R [−[p], 1] (3, 6), the Jacobian of the velocity of point p of body i."""
    for axis in range(3):
        row = (E[i, axis, 0], E[i, axis, 1], E[i, axis, 2])
        torque = cross(p, row)
        for a in range(3):
            out[axis, a], out[axis, 3 + a] = torque[a], row[a]


@kernel("void(f8[:,:,::1], f8[:,::1], f8[:,::1], SpringTable, ForceWeights, BodySystem)", address=False)
def springs(E, twist, moved, table, weights, system):  # type: ignore[no-untyped-def]
    """Add ah (f + K moved) of springs and −ah D − scale K to a system of bodies.

    E: (n, 4, 4). twist: (n, 6). moved: displacements as twists times time [rad, m], (n, 6). The tension of a spring is
    k (l − l₀) plus, times `damped`, d times its rate of length. The lateral part of K of compressed springs, which is
    indefinite, is omitted.
    """
    body, point, law, slot = table
    ah, scale, damped = weights
    wrench, diagonal, below, far = system
    first, second = np.empty(6), np.empty(6)
    rows, columns = np.empty((3, 6)), np.empty((3, 6))
    for s in range(body.shape[0]):
        i, j = body[s, 0], body[s, 1]
        p = (point[s, 0, 0], point[s, 0, 1], point[s, 0, 2])
        q = (point[s, 1, 0], point[s, 1, 1], point[s, 1, 2])
        start = _reach(E, i, p) if i >= 0 else p
        end = _reach(E, j, q) if j >= 0 else q
        stiffness, damping, rest = law[s, 0], law[s, 1], law[s, 2]
        direction = add(end, scale_vector(-1.0, start))
        length = math.sqrt(direction[0] ** 2 + direction[1] ** 2 + direction[2] ** 2)
        tension = stiffness * (length - rest)
        if length > 1.0e-12:
            direction = scale_vector(1.0 / length, direction)
            sideways = max(tension / length, 0.0)
        else:  # without length and direction: isotropic stiffness where the rest length is zero
            direction = (0.0, 0.0, 1.0)
            tension, sideways = 0.0, stiffness if rest == 0.0 else 0.0

        # rate of length, and relative motion of the ends
        stretch, relative = 0.0, (0.0, 0.0, 0.0)
        if i >= 0:
            _point_row(E, i, p, direction, first)
            for a in range(6):
                stretch -= first[a] * twist[i, a]
            relative = scale_vector(-1.0, _point_velocity(E, i, p, moved))
        if j >= 0:
            _point_row(E, j, q, direction, second)
            for a in range(6):
                stretch += second[a] * twist[j, a]
            relative = add(relative, _point_velocity(E, j, q, moved))
        inward = direction[0] * relative[0] + direction[1] * relative[1] + direction[2] * relative[2]
        along_axis = tension + damped * damping * stretch + (stiffness - sideways) * inward
        force = scale_vector(ah, add(scale_vector(sideways, relative), scale_vector(along_axis, direction)))

        lateral = scale * sideways
        axial = ah * damping + scale * stiffness - lateral
        if i >= 0:
            _add_force(E, i, p, force, wrench)
            _stiffen(diagonal[i], axial, first, lateral, p)
        if j >= 0:
            _add_force(E, j, q, scale_vector(-1.0, force), wrench)
            _stiffen(diagonal[j], axial, second, lateral, q)
        where = slot[s]
        if where == WORLD:
            continue
        # the block between both bodies, in rows of the first, unless that is the parent of the second
        block = below[i] if where == CHILD_FIRST else below[j] if where == PARENT_FIRST else far[where]
        if lateral != 0.0:
            _point_jacobian(E, i, p, rows)
            _point_jacobian(E, j, q, columns)
        for a in range(6):
            for b in range(6):
                entry = axial * first[a] * second[b]
                if lateral != 0.0:
                    entry += lateral * (rows[0, a] * columns[0, b] + rows[1, a] * columns[1, b]
                                        + rows[2, a] * columns[2, b])
                if where == PARENT_FIRST:
                    block[b, a] -= entry
                else:
                    block[a, b] -= entry


@kernel("void(f8[:,:,::1], f8[:,::1], i4[:,::1], f8[:,:,::1], f8[:,::1], f8, f8[:,::1])", address=False)
def spring_forces(E, twist, body, point, law, ah, wrench):  # type: ignore[no-untyped-def]
    """Add ah f of springs, damping included, to wrenches of bodies, wrench (n, 6) [N m s, N s].

    E: (n, 4, 4). twist: (n, 6). body: (s, 2), −1 the world. point: (s, 2, 3) [m]. law: k, d, l₀, (s, 3). ah: a h [s].
    """
    for s in range(body.shape[0]):
        i, j = body[s, 0], body[s, 1]
        p = (point[s, 0, 0], point[s, 0, 1], point[s, 0, 2])
        q = (point[s, 1, 0], point[s, 1, 1], point[s, 1, 2])
        start = _reach(E, i, p) if i >= 0 else p
        end = _reach(E, j, q) if j >= 0 else q
        direction = add(end, scale_vector(-1.0, start))
        length = math.sqrt(direction[0] ** 2 + direction[1] ** 2 + direction[2] ** 2)
        if length <= 1.0e-12:  # without length and direction, no force
            continue
        direction = scale_vector(1.0 / length, direction)
        relative = (0.0, 0.0, 0.0)
        if i >= 0:
            relative = scale_vector(-1.0, _point_velocity(E, i, p, twist))
        if j >= 0:
            relative = add(relative, _point_velocity(E, j, q, twist))
        stretch = direction[0] * relative[0] + direction[1] * relative[1] + direction[2] * relative[2]
        force = scale_vector(ah * (law[s, 0] * (length - law[s, 2]) + law[s, 1] * stretch), direction)
        if i >= 0:
            _add_force(E, i, p, force, wrench)
        if j >= 0:
            _add_force(E, j, q, scale_vector(-1.0, force), wrench)


@kernel("f8(f8[:,:,::1], i4[:,::1], f8[:,:,::1], f8[:,::1])", address=False)
def spring_energy(E, body, point, law):  # type: ignore[no-untyped-def]
    """Return the energy ½ Σ k (l − l₀)² of all springs [J].

    E: (n, 4, 4). body: (s, 2), −1 the world. point: (s, 2, 3) [m]. law: k, d, l₀, (s, 3).
    """
    energy = 0.0
    for s in range(body.shape[0]):
        square = 0.0
        for axis in range(3):
            reach = 0.0
            for end in range(2):
                i, sign = body[s, end], 2.0 * end - 1.0
                if i < 0:
                    reach += sign * point[s, end, axis]
                else:
                    reach += sign * (E[i, axis, 0] * point[s, end, 0] + E[i, axis, 1] * point[s, end, 1]
                                     + E[i, axis, 2] * point[s, end, 2] + E[i, axis, 3])
            square += reach * reach
        energy += 0.5 * law[s, 0] * (math.sqrt(square) - law[s, 2])**2
    return energy
