"""Forces on rigid bodies and between them. Twists and wrenches [angular; linear] stand in the body's own frame."""

from __future__ import annotations

import math

import numpy as np

from ..threads import kernel

WORLD, PARENT_FIRST, CHILD_FIRST = -1, -2, -3  #: slots of springs that are not between far bodies


@kernel("void(f8[:,:,::1], f8[:,::1], f8[:,::1], f8[:,::1], f8[:,:,::1], f8[::1], f8, f8[:,::1])")
def momentum(E, twist, drift, kept, inertia, gravity, share, out):  # type: ignore[no-untyped-def]
    """M kept + share (weight + ad(φ)ᵀ M φ − M J̇u) of each body into out (n, 6) [N m s, N s].

    Blocks of M are an inertia and a mass. kept: twists (n, 6) whose momentum stays. share: [s].
    """
    for i in range(E.shape[0]):
        mass = inertia[i, 3, 3]
        w0, w1, w2 = twist[i, 0], twist[i, 1], twist[i, 2]
        v0, v1, v2 = twist[i, 3], twist[i, 4], twist[i, 5]
        spin0 = inertia[i, 0, 0] * w0 + inertia[i, 0, 1] * w1 + inertia[i, 0, 2] * w2
        spin1 = inertia[i, 1, 0] * w0 + inertia[i, 1, 1] * w1 + inertia[i, 1, 2] * w2
        spin2 = inertia[i, 2, 0] * w0 + inertia[i, 2, 1] * w1 + inertia[i, 2, 2] * w2
        k0 = kept[i, 0] - share * drift[i, 0]
        k1 = kept[i, 1] - share * drift[i, 1]
        k2 = kept[i, 2] - share * drift[i, 2]
        out[i, 0] = (inertia[i, 0, 0] * k0 + inertia[i, 0, 1] * k1 + inertia[i, 0, 2] * k2
                     - share * (w1 * spin2 - w2 * spin1))
        out[i, 1] = (inertia[i, 1, 0] * k0 + inertia[i, 1, 1] * k1 + inertia[i, 1, 2] * k2
                     - share * (w2 * spin0 - w0 * spin2))
        out[i, 2] = (inertia[i, 2, 0] * k0 + inertia[i, 2, 1] * k1 + inertia[i, 2, 2] * k2
                     - share * (w0 * spin1 - w1 * spin0))
        g0 = E[i, 0, 0] * gravity[0] + E[i, 1, 0] * gravity[1] + E[i, 2, 0] * gravity[2]
        g1 = E[i, 0, 1] * gravity[0] + E[i, 1, 1] * gravity[1] + E[i, 2, 1] * gravity[2]
        g2 = E[i, 0, 2] * gravity[0] + E[i, 1, 2] * gravity[1] + E[i, 2, 2] * gravity[2]
        out[i, 3] = mass * (kept[i, 3] + share * (g0 - (w1 * v2 - w2 * v1) - drift[i, 3]))
        out[i, 4] = mass * (kept[i, 4] + share * (g1 - (w2 * v0 - w0 * v2) - drift[i, 4]))
        out[i, 5] = mass * (kept[i, 5] + share * (g2 - (w0 * v1 - w1 * v0) - drift[i, 5]))


@kernel("void(f8[:,:,::1], f8[:,::1], f8[:,::1], i4[:,::1], f8[:,:,::1], f8[:,::1], i4[::1], f8, f8, f8,"
        " f8[:,::1], f8[:,:,::1], f8[:,:,::1], f8[:,:,::1])")
def springs(  # type: ignore[no-untyped-def]
    E, twist, moved, body, point, law, slot, share, ahead, felt, wrench, diagonal, below, far,
):
    """Adds share (f + K moved) of springs to the bodies' wrenches, and −share D − ahead K to the matrix's blocks.

    The spring between points p of two bodies (s, 2, 3), −1 the world: tension k (l − l₀) along it, its rate times d
    too, times `felt` (1 or 0). law: k, d, l₀, (s, 3). moved: twists times time [rad, m], (n, 6), which K meets. slot:
    where the block between the two goes: WORLD, PARENT_FIRST, CHILD_FIRST or a row of `far`. Springs that are pressed
    push sideways as they would turn over; this part of K, which is not definite, is left out.
    """
    direction = np.zeros(3)
    arm = np.zeros((2, 3, 6))
    push = np.zeros((3, 6))
    for s in range(body.shape[0]):
        for axis in range(3):
            direction[axis] = 0.0
        for end in range(2):
            i, sign = body[s, end], 2.0 * end - 1.0
            p0, p1, p2 = point[s, end, 0], point[s, end, 1], point[s, end, 2]
            for axis in range(3):
                if i < 0:
                    direction[axis] += sign * point[s, end, axis]
                    for b in range(6):
                        arm[end, axis, b] = 0.0
                    continue
                r0, r1, r2 = E[i, axis, 0], E[i, axis, 1], E[i, axis, 2]
                direction[axis] += sign * (r0 * p0 + r1 * p1 + r2 * p2 + E[i, axis, 3])
                # R [−[p], 1]
                arm[end, axis, 0] = r2 * p1 - r1 * p2
                arm[end, axis, 1] = r0 * p2 - r2 * p0
                arm[end, axis, 2] = r1 * p0 - r0 * p1
                arm[end, axis, 3], arm[end, axis, 4], arm[end, axis, 5] = r0, r1, r2
        stiffness, damping, rest = law[s, 0], law[s, 1], law[s, 2]
        length = math.sqrt(direction[0]**2 + direction[1]**2 + direction[2]**2)
        tension, sideways = stiffness * (length - rest), 0.0
        if length > 1.0e-12:
            for axis in range(3):
                direction[axis] /= length
            sideways = max(tension / length, 0.0)
        else:  # of no length and no direction: pulls every way alike where that is its rest
            direction[0], direction[1], direction[2] = 0.0, 0.0, 1.0
            tension = 0.0
            sideways = stiffness if rest == 0.0 else 0.0
        stretch, along = 0.0, 0.0
        force0, force1, force2 = 0.0, 0.0, 0.0
        for axis in range(3):
            way = 0.0
            for end in range(2):
                i, sign = body[s, end], 2.0 * end - 1.0
                if i >= 0:
                    for b in range(6):
                        way += sign * arm[end, axis, b] * moved[i, b]
                        stretch += sign * direction[axis] * arm[end, axis, b] * twist[i, b]
            along += direction[axis] * way
            if axis == 0:
                force0 = sideways * way
            elif axis == 1:
                force1 = sideways * way
            else:
                force2 = sideways * way
        pull = tension + felt * damping * stretch + (stiffness - sideways) * along
        force0 = share * (force0 + pull * direction[0])
        force1 = share * (force1 + pull * direction[1])
        force2 = share * (force2 + pull * direction[2])
        axial = share * damping + ahead * stiffness
        lateral = ahead * sideways
        for end in range(2):
            i, sign = body[s, end], 1.0 - 2.0 * end
            if i < 0:
                continue
            for b in range(6):
                wrench[i, b] += sign * (arm[end, 0, b] * force0 + arm[end, 1, b] * force1 + arm[end, 2, b] * force2)
                inward = (direction[0] * arm[end, 0, b] + direction[1] * arm[end, 1, b]
                          + direction[2] * arm[end, 2, b])
                for axis in range(3):
                    push[axis, b] = lateral * arm[end, axis, b] + (axial - lateral) * inward * direction[axis]
            for a in range(6):
                for b in range(6):
                    diagonal[i, a, b] += (arm[end, 0, a] * push[0, b] + arm[end, 1, a] * push[1, b]
                                          + arm[end, 2, a] * push[2, b])
        # `push` is the second end's
        where = slot[s]
        if where == WORLD:
            continue
        for a in range(6):
            for b in range(6):
                entry = -(arm[0, 0, a] * push[0, b] + arm[0, 1, a] * push[1, b] + arm[0, 2, a] * push[2, b])
                if where == CHILD_FIRST:
                    below[body[s, 0], a, b] += entry
                elif where == PARENT_FIRST:
                    below[body[s, 1], b, a] += entry
                else:
                    far[where, a, b] += entry


@kernel("f8(f8[:,:,::1], i4[:,::1], f8[:,:,::1], f8[:,::1])")
def spring_energy(E, body, point, law):  # type: ignore[no-untyped-def]
    """½ k (l − l₀)² of all springs [J]."""
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
