"""Velocities that follow the dynamic nodes as if nothing touched, for stages that are iterated to their root.

K is discontinuous where contact of a node begins. With contact in J, velocities J v_d would be so too: a body that
lands would change its momentum at once by the effect of J on v̂, the equilibrium would take this for inertia, M a with
a ~ 1/h, and press the body flat; and with a node at the onset of contact the stage would have no root. So J is that of
the body alone and contains its rigid motions, and momentum changes by forces only, those of contacts among them.
Positions are in equilibrium with all of K.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...state import Vec
from .posed import PosedConJac
from .quasistatic_motion import QuasistaticMotion


def follow_without_contact(posed: PosedConJac, contact_free: QuasistaticMotion, inertia: Vec,
                           moved: int) -> PosedConJac:
    """Return a stage that was posed with contacts, with velocities that follow as in `contact_free`, without contacts.

    inertia: Vᵀ (M − a h D) V of `contact_free`, (r, r) [kg]. moved: column of the response to prescribed nodes. With V
    the velocities of the reduced unknowns by `contact_free` and B their positions, the unknowns u solve
    Vᵀ M (V u + w − v̂) = a h Vᵀ f(x). Linearised at rates u°, where the quasistatic nodes are in equilibrium with M a,
    a = P (V u + w − v̂)/(a h), P onto rigid motions, this is

        [Vᵀ (M − a h D) V − a b h² Bᵀ K B − (V − B)ᵀ M P V] u = Vᵀ M (v̂ − w) + a h Bᵀ f − (V − B)ᵀ M P (v̂ − w)
                                                                 − a b h² Bᵀ K B u°,

    the last term only where positions were linearised with u°, and not at the start of the step.
    [ConJac 11, changed: contacts are no part of J]
    """
    owner, lin, stage = posed.owner, posed.lin, posed.stage
    mesh, order = owner.mesh, owner.pattern.order
    weight, mass = owner.weight(lin, stage), np.repeat(lin.mass[order], 3)
    follow = None if stage.w is None else contact_free.follow(moved)
    velocities, balance = contact_free.velocities, posed.motion.velocities

    momentum = mass * stage.v_hat[order].ravel()
    if follow is not None:
        momentum -= weight * follow.rows
    impulse = velocities.T @ momentum + stage.a * stage.h * (balance.T @ lin.force[order].ravel())
    if follow is not None and lin.damped is not None and lin.damped.has_blocks:
        columns = np.zeros((len(lin.mass), 3, 1))
        columns[order, :, 0] = follow.rows.reshape(-1, 3)
        columns[mesh.coordinates.prescribed, :, 0] = stage.w
        impulse += velocities.T @ (stage.a * stage.h * lin.damped.multiply(columns)[order].ravel())

    stiffness = stage.stiffness_factor * posed.motion.product
    # the part of D that is a fraction of K acts on velocities
    damping_factor = stage.compute_damped_stiffness_factor(lin) - stage.stiffness_factor
    reduced = inertia - damping_factor * contact_free.product - stiffness
    if stage.base is not None:
        impulse -= stiffness @ posed.amplitudes(lin.v)
    elif follow is not None and posed.follow is not None:
        # prescribed nodes have not moved yet
        impulse += stage.stiffness_factor * (balance.T @ posed.follow.left)
        impulse += damping_factor * (velocities.T @ follow.left)
    lag = np.zeros_like(reduced)
    for frame in posed.frames:
        field = np.zeros((len(lin.mass), *frame.field.shape[1:]))
        field[frame.nodes] = frame.field
        rigid = field[order].reshape(len(mass), -1)
        loads = mass[:, None] * rigid
        coefficients = np.linalg.solve(loads.T @ rigid, loads.T @ (velocities - balance)).T
        # mass damping takes part of the rigid acceleration at each node
        lag += coefficients @ ((weight[:, None] * rigid).T @ velocities)
        impulse -= coefficients @ (rigid.T @ momentum)
    return replace(posed, velocities=velocities, follow=follow, reduced=reduced, impulse=impulse, slope=reduced - lag,
                   positions=balance)
