"""Linearised steps of Vanilla FEM without stiffness against rotation."""

from __future__ import annotations

from ..assembly.linearised import Linearised
from ..state import Vec
from .soft_bodies import SoftBodies


def linearise_without_rotation(soft: SoftBodies, x: Vec, v: Vec, time: float) -> Linearised:
    """Return the forces of FEM and a stiffness K̂ without stiffness against rotation.

    x, v: positions and velocities of all nodes, (n, 3) [m], [m/s]. Elements that do not support stretches as unknowns
    have their usual stiffness. [MFEM 6, changed: at the stretches of positions]
    """
    forces = soft.in_stretches()
    if forces is None:
        return soft.linearise_at(x, v, time)
    forces.start()
    return forces.linearise_at(x, v, time)
