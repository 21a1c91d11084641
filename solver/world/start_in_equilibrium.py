"""Initial positions of bodies that start in equilibrium."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..coordinates.floating import Group
from ..errors import Diverged, StepFailed
from ..linear.interface import LinearSolver
from ..nonlinear.equilibrium import equilibrium
from ..state import Index, Vec
from .bodies import BodyInWorld
from .soft_bodies import SoftBodies


def start_in_equilibrium(soft: SoftBodies, x: Vec, balanced: Sequence[BodyInWorld], floating: Sequence[Group],
                         linear: LinearSolver) -> Vec:
    """Return the positions of all nodes at the start frame, (n, 3) [m], with some bodies in equilibrium.

    x: positions without equilibrium, (n, 3) [m]. balanced: bodies that start in equilibrium. floating: groups of
    unconstrained components, which start in their rest shape. Raises Diverged where no equilibrium is found.
    """
    try:
        return equilibrium(soft, x, 0.0, _find_constrained_nodes(soft, balanced, floating), soft.tets, linear)
    except StepFailed as failure:
        raise Diverged(f"the start has no balance: {failure}", "Switch off Start at Rest or raise the stiffness",
                       balanced[0].name if len(balanced) == 1 else None, soft.start_frame) from failure


def _find_constrained_nodes(soft: SoftBodies, balanced: Sequence[BodyInWorld], floating: Sequence[Group]) -> Index:
    """Return the free nodes of components with prescribed nodes, of bodies that start in equilibrium, (k,)."""
    chosen = np.zeros(len(soft.rest), dtype=bool)
    for body in balanced:
        chosen[body.nodes] = soft.coordinates.is_free[body.nodes]
    for group in floating:
        for part in group.parts:
            chosen[part] = False
    return np.flatnonzero(chosen).astype(np.int32)
