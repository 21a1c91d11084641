"""Soft bodies whose nodes joints carry, eliminated down to the joints' rates."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg

from ..state import Vec
from .follow import Follow
from .interface import Joined, Stage
from .posed import PosedConJac

if TYPE_CHECKING:
    from .full import PosedFull


def join_full(posed: PosedFull, stage: Stage, carried: Vec) -> Joined:
    """Joint rates as a dense border of Vanilla's matrix, and its Schur complement on the kept factor.

    carried: velocities of the prescribed nodes for each rate of the joints, (p, 3, c).
    """
    owner, lin = posed.owner, posed.lin
    coordinates = owner.mesh.coordinates
    free, count = coordinates.free, carried.shape[2]

    # C = −S_ff⁻¹ S_fa J_a; M couples no node with another
    columns = np.zeros((len(lin.x), 3, count))
    columns[coordinates.prescribed] = carried
    pulled = stage.stiffness_and_share(lin) * owner.loads.pulls(lin, carried)
    if lin.damped is not None and lin.damped.has_blocks:
        pulled += stage.a * stage.h * lin.damped.multiply(columns)
    response = posed.respond(pulled[free].reshape(-1, count))
    columns[free] = response.reshape(-1, 3, count)

    alone = np.zeros((len(lin.x), 3, 1))
    alone[free, :, 0] = posed.solve().reshape(-1, 3)
    if stage.w is not None:
        alone[coordinates.prescribed, :, 0] = stage.w

    # G and g stand in the rows of the nodes that joints carry: in the others' nothing is left
    rows = owner.loads.on_prescribed(lin, stage, np.concatenate([columns, alone], axis=2))
    onto = carried.reshape(-1, count)
    rows = onto.T @ rows.reshape(len(onto), count + 1)
    momentum = owner.loads.momentum(lin, stage)[coordinates.prescribed]
    impulse = onto.T @ momentum.ravel() - rows[:, count]

    def moving(u: Vec) -> tuple[PosedFull, Stage]:
        known = _with_rates(stage, carried @ u)
        return posed.again(known), known

    return Joined(_symmetric(rows[:, :count]), impulse, response, moving)


def join_conjac(posed: PosedConJac, carried: Vec) -> Joined:
    """The rates beside the reduced unknowns, which are then eliminated too; K_qa J_a was condensed with the others.

    Unknowns are those of the reduced step, z, and u: v = Φ z + F u + follow on the rows, F what J_a takes along where
    all that is quasistatic balances. On quasistatic rows K (F; J_a) is zero.
    """
    owner, lin, stage, carry = posed.owner, posed.lin, posed.stage, posed.carry
    assert carry is not None
    mesh, order = owner.mesh, owner.pattern.order
    prescribed, count, size = mesh.coordinates.prescribed, carried.shape[2], len(posed.jacobian)
    onto = carried.reshape(-1, count)

    # S (F; J_a) and S (follow; w), on the rows and on the prescribed nodes
    moved = np.zeros((len(lin.x), 3, count + 1))
    moved[order, :, :count] = carry.rows.reshape(-1, 3, count)
    moved[prescribed, :, :count] = carried
    left = np.concatenate([carry.left, np.zeros((len(carry.left), 1))], axis=1)
    if posed.follow is not None and stage.w is not None:
        moved[order, :, count] = posed.follow.rows.reshape(-1, 3)
        moved[prescribed, :, count] = stage.w
        left[:, count] = posed.follow.left
    rows = owner.weight(lin, stage)[:, None] * moved[order].reshape(-1, count + 1)
    rows[size:] -= stage.stiffness_and_share(lin) * left
    if lin.damped is not None and lin.damped.has_blocks:
        rows -= stage.a * stage.h * lin.damped.multiply(moved)[order].reshape(-1, count + 1)
    on_prescribed = owner.loads.on_prescribed(lin, stage, moved).reshape(len(onto), count + 1)

    whole = carry.rows.T @ rows + onto.T @ on_prescribed
    momentum = owner.loads.momentum(lin, stage)
    impulse = (carry.rows.T @ momentum[order].ravel() + onto.T @ momentum[prescribed].ravel() - whole[:, count])
    matrix, response = whole[:, :count], carry.rows
    if len(posed.reduced):
        coupling = posed.basis.T @ (posed.jacobian.T @ rows[:size, :count] + rows[size:, :count])
        eliminated = scipy.linalg.solve(posed.reduced, np.column_stack([coupling, posed.impulse]), assume_a="pos",
                                        check_finite=False)
        matrix = matrix - coupling.T @ eliminated[:, :count]
        impulse = impulse - coupling.T @ eliminated[:, count]
        kept = posed.basis @ eliminated[:, :count]
        response = response - np.concatenate([posed.jacobian @ kept, kept])

    def moving(u: Vec) -> tuple[PosedConJac, Stage]:
        known, follow = _with_rates(stage, carried @ u), Follow(carry.rows @ u, carry.left @ u)
        if posed.follow is not None:
            follow = Follow(posed.follow.rows + follow.rows, posed.follow.left + follow.left)
        return owner.load(replace(posed, stage=known, follow=follow)), known

    free = response.reshape(-1, 3, count)[owner.to_free].reshape(-1, count)
    return Joined(_symmetric(matrix), impulse, free, moving)


def _with_rates(stage: Stage, w: Vec) -> Stage:
    """The stage where prescribed nodes move at w (p, 3) besides."""
    return replace(stage, w=w if stage.w is None else stage.w + w)


def _symmetric(matrix: Vec) -> Vec:
    out: Vec = 0.5 * (matrix + matrix.T)
    return out
