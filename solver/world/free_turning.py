"""Linearised steps of Vanilla FEM without stiffness against rotation."""

from __future__ import annotations

from ..assembly.linearised import Linearised
from ..state import Vec
from .soft_bodies import SoftBodies


def linearised(soft: SoftBodies, x: Vec, v: Vec, time: float) -> Linearised:
    """f and K̂ at positions and velocities (n, 3): forces are those of FEM, stiffness is none against turning. Elements
    that cannot be put in stretches have theirs as it is. [MFEM 6, changed: at the stretches of positions]"""
    forces = soft.in_stretches()
    if forces is None:
        return soft.linearise_at(x, v, time)
    forces.start()
    return forces.linearise_at(x, v, time)
