"""Velocities that follow the dynamic nodes as if nothing touched, for stages that are iterated to their root.

K jumps where a node begins to touch. Were the contact in J, velocities J v_d would jump with it: a body that lands
would change its momentum by what J does to v̂, in no time, the balance would take this for inertia, M a with a ~ 1/h,
and press the body flat; and where a node stands on the verge of touching, the stage would have no root. So J is that of
the body alone, rigid motions belong to it, and momentum changes by forces only, those of contacts among them. Positions
balance with all of K.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...state import Vec
from .posed import PosedConJac
from .quasistatic_motion import QuasistaticMotion


def follow_untouched(posed: PosedConJac, alone: QuasistaticMotion, inertia: Vec, moved: int) -> PosedConJac:
    """A stage posed with contacts, whose velocities follow as `alone` has them, without.

    inertia: Vᵀ (M − a h D) V of `alone`, (r, r) [kg]. moved: column of what prescribed nodes
    cause. With V the velocities of the reduced unknowns by `alone` and B what positions do, the unknowns u solve
    Vᵀ M (V u + w − v̂) = a h Vᵀ f(x). Linearised at rates u°, where the quasistatic nodes are to balance with M a,
    a = P (V u + w − v̂)/(a h), P onto rigid motions, this is

        [Vᵀ (M − a h D) V − a b h² Bᵀ K B − (V − B)ᵀ M P V] u = Vᵀ M (v̂ − w) + a h Bᵀ f − (V − B)ᵀ M P (v̂ − w)
                                                                 − a b h² Bᵀ K B u°,

    the last term only where positions were linearised with u°, and not at the step's start.
    [ConJac 11, changed: contacts are no part of J]
    """
    owner, lin, stage = posed.owner, posed.lin, posed.stage
    mesh, order = owner.mesh, owner.pattern.order
    weight, mass = owner.weight(lin, stage), np.repeat(lin.mass[order], 3)
    follow = None if stage.w is None else alone.follow(moved)
    velocities, balance = alone.velocities, posed.here.velocities

    given = mass * stage.v_hat[order].ravel()
    if follow is not None:
        given -= weight * follow.rows
    impulse = velocities.T @ given + stage.a * stage.h * (balance.T @ lin.force[order].ravel())
    if follow is not None and lin.damped is not None and lin.damped.has_blocks:
        columns = np.zeros((len(lin.mass), 3, 1))
        columns[order, :, 0] = follow.rows.reshape(-1, 3)
        columns[mesh.coordinates.prescribed, :, 0] = stage.w
        impulse += velocities.T @ (stage.a * stage.h * lin.damped.multiply(columns)[order].ravel())

    stiffness = stage.stiffness_factor * posed.here.product
    # the part of D that is a share of K goes with velocities
    share_of_damping = stage.stiffness_and_share(lin) - stage.stiffness_factor
    reduced = inertia - share_of_damping * alone.product - stiffness
    if stage.base is not None:
        impulse -= stiffness @ posed.amplitudes(lin.v)
    elif follow is not None and posed.follow is not None:
        # prescribed nodes are still on their way
        impulse += stage.stiffness_factor * (balance.T @ posed.follow.left)
        impulse += share_of_damping * (velocities.T @ follow.left)
    lag = np.zeros_like(reduced)
    for frame in posed.frames:
        field = np.zeros((len(lin.mass), *frame.field.shape[1:]))
        field[frame.nodes] = frame.field
        rigid = field[order].reshape(len(mass), -1)
        loads = mass[:, None] * rigid
        share = np.linalg.solve(loads.T @ rigid, loads.T @ (velocities - balance)).T
        # mass damping takes part of the rigid acceleration at each node
        lag += share @ ((weight[:, None] * rigid).T @ velocities)
        impulse -= share @ (rigid.T @ given)
    return replace(posed, velocities=velocities, follow=follow, reduced=reduced, impulse=impulse, slope=reduced - lag,
                   positions=balance)
