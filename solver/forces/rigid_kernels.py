"""Forces on rigid bodies and between them. Twists and wrenches [angular; linear] stand in the body's own frame."""

from __future__ import annotations

import math

import numpy as np

from ..threads import inlined, kernel

MOST = 8  #: iterations for a midway angular velocity
WORLD, PARENT_FIRST, CHILD_FIRST = -1, -2, -3  #: slots of springs that are not between far bodies


@inlined
def tumbled(I, i, x, y, z, h):  # type: ignore[no-untyped-def]
    """Midway angular velocity ω̄ of a free body that starts at ω = (x, y, z): 2 I (ω̄ − ω) + h ω̄ × I ω̄ = 0.

    The midpoint rule, by Newton's method: it keeps spin and energy, whatever h.
    """
    a, b, c = x, y, z
    for _ in range(MOST):
        p = I[i, 0, 0] * a + I[i, 0, 1] * b + I[i, 0, 2] * c
        q = I[i, 1, 0] * a + I[i, 1, 1] * b + I[i, 1, 2] * c
        r = I[i, 2, 0] * a + I[i, 2, 1] * b + I[i, 2, 2] * c
        d, e, f = a - x, b - y, c - z
        f0 = 2.0 * (I[i, 0, 0] * d + I[i, 0, 1] * e + I[i, 0, 2] * f) + h * (b * r - c * q)
        f1 = 2.0 * (I[i, 1, 0] * d + I[i, 1, 1] * e + I[i, 1, 2] * f) + h * (c * p - a * r)
        f2 = 2.0 * (I[i, 2, 0] * d + I[i, 2, 1] * e + I[i, 2, 2] * f) + h * (a * q - b * p)
        if abs(f0) + abs(f1) + abs(f2) <= 1.0e-14 * (abs(p) + abs(q) + abs(r)):
            break
        # 2 I + h ([ω̄] I − [I ω̄])
        j00 = 2.0 * I[i, 0, 0] + h * (b * I[i, 2, 0] - c * I[i, 1, 0])
        j01 = 2.0 * I[i, 0, 1] + h * (b * I[i, 2, 1] - c * I[i, 1, 1] + r)
        j02 = 2.0 * I[i, 0, 2] + h * (b * I[i, 2, 2] - c * I[i, 1, 2] - q)
        j10 = 2.0 * I[i, 1, 0] + h * (c * I[i, 0, 0] - a * I[i, 2, 0] - r)
        j11 = 2.0 * I[i, 1, 1] + h * (c * I[i, 0, 1] - a * I[i, 2, 1])
        j12 = 2.0 * I[i, 1, 2] + h * (c * I[i, 0, 2] - a * I[i, 2, 2] + p)
        j20 = 2.0 * I[i, 2, 0] + h * (a * I[i, 1, 0] - b * I[i, 0, 0] + q)
        j21 = 2.0 * I[i, 2, 1] + h * (a * I[i, 1, 1] - b * I[i, 0, 1] - p)
        j22 = 2.0 * I[i, 2, 2] + h * (a * I[i, 1, 2] - b * I[i, 0, 2])
        c00, c01, c02 = j11 * j22 - j12 * j21, j12 * j20 - j10 * j22, j10 * j21 - j11 * j20
        whole = j00 * c00 + j01 * c01 + j02 * c02
        a -= (c00 * f0 + (j02 * j21 - j01 * j22) * f1 + (j01 * j12 - j02 * j11) * f2) / whole
        b -= (c01 * f0 + (j00 * j22 - j02 * j20) * f1 + (j02 * j10 - j00 * j12) * f2) / whole
        c -= (c02 * f0 + (j01 * j20 - j00 * j21) * f1 + (j00 * j11 - j01 * j10) * f2) / whole
    return a, b, c


@kernel("void(f8[:,:,::1], f8[:,::1], f8[:,::1], f8[:,::1], f8[:,:,::1], f8[::1], f8, i8, f8[:,::1])")
def momentum(E, twist, drift, kept, inertia, gravity, share, tumbling, out):  # type: ignore[no-untyped-def]
    """M kept + share (weight + ad(φ)ᵀ M φ − M J̇u) of each body into out (n, 6) [N m s, N s].

    Blocks of M are an inertia and a mass. kept: twists (n, 6) whose momentum stays. share: [s]. tumbling: 1 takes the
    gyroscopic torque midway through `share`, as each body would turn by itself, and not at its start: as right to
    first order, and what tumbles freely gains no energy from step to step.
    """
    for i in range(E.shape[0]):
        mass = inertia[i, 3, 3]
        w0, w1, w2 = twist[i, 0], twist[i, 1], twist[i, 2]
        v0, v1, v2 = twist[i, 3], twist[i, 4], twist[i, 5]
        spin0 = inertia[i, 0, 0] * w0 + inertia[i, 0, 1] * w1 + inertia[i, 0, 2] * w2
        spin1 = inertia[i, 1, 0] * w0 + inertia[i, 1, 1] * w1 + inertia[i, 1, 2] * w2
        spin2 = inertia[i, 2, 0] * w0 + inertia[i, 2, 1] * w1 + inertia[i, 2, 2] * w2
        g0, g1, g2 = w0, w1, w2
        if tumbling:
            g0, g1, g2 = tumbled(inertia, i, w0, w1, w2, share)
            spin0 = inertia[i, 0, 0] * g0 + inertia[i, 0, 1] * g1 + inertia[i, 0, 2] * g2
            spin1 = inertia[i, 1, 0] * g0 + inertia[i, 1, 1] * g1 + inertia[i, 1, 2] * g2
            spin2 = inertia[i, 2, 0] * g0 + inertia[i, 2, 1] * g1 + inertia[i, 2, 2] * g2
        k0 = kept[i, 0] - share * drift[i, 0]
        k1 = kept[i, 1] - share * drift[i, 1]
        k2 = kept[i, 2] - share * drift[i, 2]
        out[i, 0] = (inertia[i, 0, 0] * k0 + inertia[i, 0, 1] * k1 + inertia[i, 0, 2] * k2
                     - share * (g1 * spin2 - g2 * spin1))
        out[i, 1] = (inertia[i, 1, 0] * k0 + inertia[i, 1, 1] * k1 + inertia[i, 1, 2] * k2
                     - share * (g2 * spin0 - g0 * spin2))
        out[i, 2] = (inertia[i, 2, 0] * k0 + inertia[i, 2, 1] * k1 + inertia[i, 2, 2] * k2
                     - share * (g0 * spin1 - g1 * spin0))
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
    where the block between the two goes: MOST = 8  #: iterations for a midway angular velocity
WORLD, PARENT_FIRST, CHILD_FIRST or a row of `far`. Springs that are pressed
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
