"""Elimination of a ConJac stage down to the rates of joints that carry some of its nodes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.linalg

from ...state import CarrierMotion, Vec
from ..interface import Eliminated
from ..stage import NodeStage
from .posed import PosedConJac
from .prescribed_response import PrescribedResponse


def eliminate(posed: PosedConJac, carried: Vec) -> Eliminated:
    """Return the stage on the rates u of joints, the reduced unknowns z eliminated; K_qa J_a was condensed with the
    others.

    carried: velocities of the prescribed nodes for each rate, (p, 3, c). On the rows v = Φ z + F u + follow, with F the
    motion in equilibrium with J_a u of the nodes that joints carry. Without constrained patches K (F; J_a) is zero on
    quasistatic rows.
    """
    owner, lin, stage, carry = posed.owner, posed.lin, posed.stage, posed.carry
    assert carry is not None
    mesh, order = owner.mesh, owner.pattern.order
    prescribed, count = mesh.coordinates.prescribed, carried.shape[2]

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
    rows -= stage.compute_damped_stiffness_factor(lin) * left
    if lin.damped is not None and lin.damped.has_blocks:
        rows -= stage.a * stage.h * lin.damped.multiply(moved)[order].reshape(-1, count + 1)
    loaded = owner.loads.find_loaded_prescribed(lin, stage)
    on_prescribed = owner.loads.on_prescribed(lin, stage, moved, loaded).reshape(-1, count + 1)

    whole = carry.rows.T @ rows + carried[loaded].reshape(-1, count).T @ on_prescribed
    momentum, onto = owner.loads.momentum(lin, stage), carried.reshape(-1, count)
    impulse = carry.rows.T @ momentum[order].ravel() + onto.T @ momentum[prescribed].ravel() - whole[:, count]
    matrix, response = whole[:, :count], carry.rows
    if len(posed.reduced):
        coupling = posed.onto_basis(rows[:, :count])
        eliminated = scipy.linalg.solve(posed.reduced, np.column_stack([coupling, posed.impulse]), assume_a="pos",
                                        check_finite=False)
        matrix = matrix - coupling.T @ eliminated[:, :count]
        impulse = impulse - coupling.T @ eliminated[:, count]
        response = response - posed.velocities @ eliminated[:, :count]

    def moving(u: Vec, carrier_motion: CarrierMotion) -> tuple[PosedConJac, NodeStage]:
        known, follow = stage.moving(carried @ u, carrier_motion), PrescribedResponse(carry.rows @ u, carry.left @ u)
        if posed.follow is not None:
            follow = PrescribedResponse(posed.follow.rows + follow.rows, posed.follow.left + follow.left)
        return owner.load(replace(posed, stage=known, follow=follow)), known

    free = response.reshape(-1, 3, count)[owner.to_free].reshape(-1, count)
    return Eliminated(0.5 * (matrix + matrix.T), impulse, free, moving)
