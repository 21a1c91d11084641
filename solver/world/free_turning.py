"""Linearised steps of Vanilla FEM without stiffness against rotation, and a test of their energy."""

from __future__ import annotations

import numpy as np

from ..assembly.linearised import Linearised
from ..state import State, Vec
from .soft_bodies import SoftBodies

REPEATED = "braked"  #: number of steps repeated with that stiffness
GAINED = 0.3  #: of what moves or is stored: less of a gain is strain of what has turned, which the next step takes back


def linearised(soft: SoftBodies, x: Vec, v: Vec, time: float) -> Linearised:
    """f and K̂ at positions and velocities (n, 3): forces are those of FEM, stiffness is none against turning. Elements
    that cannot be put in stretches have theirs as it is. [MFEM 6, changed: at the stretches of positions]"""
    forces = soft.in_stretches()
    if forces is None:
        return soft.linearise_at(x, v, time)
    forces.start()
    return forces.linearise_at(x, v, time)


def gains(soft: SoftBodies, before: State, after: State) -> bool:
    """Whether bodies have more energy after a step than before, beyond what those of their nodes that are prescribed
    did to them. Whatever changes by time alone is as it is in the end.

    A large rotation in a step stretches a body, and without that stiffness in the next step either it flies apart.
    """
    (x, v), (y, w) = soft.nodes_at(before), soft.nodes_at(after)
    (pulled, stored), (pulls, stores) = soft.evaluate(x, after.time), soft.evaluate(y, after.time)
    free, held = soft.coordinates.free, soft.coordinates.prescribed
    moved, moves = (0.5 * float(np.vdot(soft.mass[free, None] * u[free], u[free])) for u in (v, w))
    worked = -0.5 * float(np.vdot(pulled[held] + pulls[held], y[held] - x[held]))
    gained = moves + stores - moved - stored - worked
    return not gained <= GAINED * max(moved, moves, abs(stores - stored))
