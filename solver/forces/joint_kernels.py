"""Forces on the rates of joints: stiffness, damping and motors."""

from __future__ import annotations

import math

import numpy as np

from ..threads import inline, kernel
from . import rigid_structs  # noqa: F401  # named in signatures

#: columns of a rate's law
STIFFNESS, DAMPING, REST, MOTOR_STIFFNESS, MOTOR_DAMPING, MOTOR_LIMIT, TARGET, TARGET_RATE = range(8)


@inline
def exponential(x, y, z):  # type: ignore[no-untyped-def]
    """Return exp([r]) of a rotation vector r = (x, y, z) [rad] as a unit quaternion (w, x, y, z)."""
    angle = math.sqrt(x * x + y * y + z * z)
    factor = math.sin(0.5 * angle) / angle if angle > 1.0e-8 else 0.5
    return math.cos(0.5 * angle), factor * x, factor * y, factor * z


@inline
def product(a, b):  # type: ignore[no-untyped-def]
    """Return the product of two quaternions (w, x, y, z)."""
    return (a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
            a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
            a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
            a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0])


@inline
def logarithm(a):  # type: ignore[no-untyped-def]
    """Return the rotation vector of a unit quaternion (w, x, y, z), of length at most π [rad]."""
    sine = math.sqrt(a[1] * a[1] + a[2] * a[2] + a[3] * a[3])
    flip = -1.0 if a[0] < 0.0 else 1.0
    factor = flip * 2.0 * math.atan2(sine, flip * a[0]) / sine if sine > 1.0e-12 else flip * 2.0
    return factor * a[1], factor * a[2], factor * a[3]


@inline
def write_inverse_jacobian(r, inverse):  # type: ignore[no-untyped-def]
    """Write J(r)⁻¹ = 1 + ½ [r] + c [r]², c = (1 − ½θ cot ½θ)/θ², θ = |r|, into inverse (3, 3).

    ṙ = J⁻¹ ω, with the angular velocity ω in the moving frame.
    """
    x, y, z = r
    square = x * x + y * y + z * z
    if square < 1.0e-2:
        c = 1.0 / 12.0 + square * (1.0 / 720.0 + square * (1.0 / 30240.0 + square / 1209600.0))
    else:
        half = 0.5 * math.sqrt(square)
        c = (1.0 - half / math.tan(half)) / square
    inverse[0, 0], inverse[1, 1], inverse[2, 2] = (1.0 - c * (y * y + z * z), 1.0 - c * (x * x + z * z),
                                                   1.0 - c * (x * x + y * y))
    inverse[0, 1], inverse[1, 0] = c * x * y - 0.5 * z, c * x * y + 0.5 * z
    inverse[0, 2], inverse[2, 0] = c * x * z + 0.5 * y, c * x * z - 0.5 * y
    inverse[1, 2], inverse[2, 1] = c * y * z - 0.5 * x, c * y * z + 0.5 * x


@inline
def terms(law, k, from_rest, from_target, rate):  # type: ignore[no-untyped-def]
    """Return the force without its part linear in the rate, stiffness, damping and motor effort of one rate.

    law: (m, 8). k: index of the rate. from_rest: coordinate minus rest. from_target: coordinate minus target. A motor
    at its limit has no stiffness.
    """
    stiffness, damping = law[k, STIFFNESS], law[k, DAMPING]
    force = -stiffness * from_rest
    drive = law[k, MOTOR_DAMPING] * law[k, TARGET_RATE] - law[k, MOTOR_STIFFNESS] * from_target
    effort = drive - law[k, MOTOR_DAMPING] * rate
    if abs(effort) < law[k, MOTOR_LIMIT]:
        force += drive
        stiffness += law[k, MOTOR_STIFFNESS]
        damping += law[k, MOTOR_DAMPING]
    else:
        effort = math.copysign(law[k, MOTOR_LIMIT], effort)
        force += effort
    return force, stiffness, damping, effort


@kernel("void(i4[::1], JointTable, JointPoint, ForceWeights, RateSystem)", address=False)
def joint_forces(dof, joints, at, weights, system):  # type: ignore[no-untyped-def]
    """Write ah (f + K moved) of the joints above `bodies` and −ah D − scale K into a system of rates.

    dof: (n + 1,). The motors' part of f is written into effort as well. The first three rates of a charted joint are
    those of its chart: forces are torques about axes that turn with the child, and a law applies to the components of
    the rotation vector r from its rest. Its energy ½ rᵀ K r has the force J(r)⁻ᵀ K r, which is K r where stiffnesses
    are equal. Of its stiffness the definite part is used: the least stiffness, and J⁻ᵀ K J⁻¹ of the stiffnesses in
    excess of it.
    """
    bodies, chart, law = joints
    q, u, centres, subspace, moved = at
    ah, scale, damped = weights
    force, reduced, effort = system
    torque, block, inverse, more, stepped = np.zeros(3), np.zeros((3, 3)), np.zeros((3, 3)), np.zeros(3), np.zeros(3)
    for i in bodies:
        first, count, ball = dof[i], dof[i + 1] - dof[i], 0
        for a in range(count):
            for b in range(count):
                reduced[i, a, b] = 0.0
        if chart[i] >= 0:
            ball = 3
            c = chart[i]
            rotation = product((centres[c], centres[c + 1], centres[c + 2], centres[c + 3]),
                           exponential(q[first], q[first + 1], q[first + 2]))
            rest = exponential(law[first, REST], law[first + 1, REST], law[first + 2, REST])
            goal = exponential(law[first, TARGET], law[first + 1, TARGET], law[first + 2, TARGET])
            from_rest = logarithm(product((rest[0], -rest[1], -rest[2], -rest[3]), rotation))
            from_target = logarithm(product((goal[0], -goal[1], -goal[2], -goal[3]), rotation))
            least = min(law[first, STIFFNESS], law[first + 1, STIFFNESS], law[first + 2, STIFFNESS])
            write_inverse_jacobian(from_rest, inverse)
            for a in range(3):
                k = first + a
                more[a] = law[k, STIFFNESS] - least
                stepped[a] = (subspace[first, a] * moved[first] + subspace[first + 1, a] * moved[first + 1]
                              + subspace[first + 2, a] * moved[first + 2])
            for a in range(3):
                k = first + a
                rate = (subspace[first, a] * u[first] + subspace[first + 1, a] * u[first + 1]
                        + subspace[first + 2, a] * u[first + 2])
                if a == 0:
                    of_rate = terms(law, k, from_rest[0], from_target[0], rate)
                elif a == 1:
                    of_rate = terms(law, k, from_rest[1], from_target[1], rate)
                else:
                    of_rate = terms(law, k, from_rest[2], from_target[2], rate)
                stiffness = of_rate[1] - more[a]
                torque[a] = (of_rate[0]
                             + more[a] * (from_rest[0] if a == 0 else from_rest[1] if a == 1 else from_rest[2]))
                torque[a] -= stiffness * stepped[a] + damped * of_rate[2] * rate
                for b in range(3):
                    total = 0.0
                    for c in range(3):
                        total += inverse[c, a] * more[c] * inverse[c, b]
                    block[a, b] = scale * total
                    torque[a] -= (inverse[b, a] * more[b]
                                  * (from_rest[0] if b == 0 else from_rest[1] if b == 1 else from_rest[2])
                                  + total * stepped[b])
                block[a, a] += ah * of_rate[2] + scale * stiffness
                effort[k] = of_rate[3]
            # torques about the moving frame's axes, to rates of the chart: Jᵀ
            for a in range(3):
                total = 0.0
                for c in range(3):
                    total += subspace[first + a, c] * torque[c]
                force[first + a] = ah * total
                for b in range(3):
                    total = 0.0
                    for c in range(3):
                        for d in range(3):
                            total += subspace[first + a, c] * block[c, d] * subspace[first + b, d]
                    reduced[i, a, b] = total
        for a in range(ball, count):
            k = first + a
            of_rate = terms(law, k, q[k] - law[k, REST], q[k] - law[k, TARGET], u[k])
            force[k] = ah * (of_rate[0] - of_rate[1] * moved[k] - damped * of_rate[2] * u[k])
            reduced[i, a, a] = ah * of_rate[2] + scale * of_rate[1]
            effort[k] = of_rate[3]
