"""What a step of sliding cloth finds, and hands on besides the cloth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...linear.constrained.rows import Minimum
from ...sheet.sheet_mesh import SheetMesh
from ...state import Vec
from .cone import Cone


@dataclass(frozen=True)
class Solved:
    """A step's answer on the mesh that it began with."""

    mesh: SheetMesh
    on_features: Cone
    answer: Minimum
    deepest: float  #: how deep in a thing it leaves cloth [m]
    pushed: Vec  #: impulses on what is round, (o, 3) [N s]; (0, 3) where nobody asks
    gave: Vec  #: δ of what moves that, (c, 3)
    pulled: Vec  #: impulses on pins, of all vertices that have one, (p, 3) [N s]
    pressing: Vec  #: as `Cloth` has it


@dataclass(frozen=True)
class Felt:
    """What a step did to others."""

    impulses: Vec  #: on what is round and then on pins, (o + p, 3) [N s]; (0, 3) where nobody asks
    off: Vec  #: how far off the way that it was thought to go what is round ended it, (o, 3) [m]


@dataclass(frozen=True)
class Left:
    """How what is round has left its way so far in a step."""

    off: Vec  #: (o, 3) [m]
    rates: Vec  #: the mean of δ, (c, 3)
    done: float = 0.0  #: how much of it is over [s]

    @classmethod
    def nobody(cls) -> Left:
        return cls(np.zeros((0, 3)), np.zeros((0, 3)))
