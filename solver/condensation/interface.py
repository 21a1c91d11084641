"""What a condensation is given and what a posed step answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ..assembly.linearised import Linearised
from ..coordinates.free_nodes import FreeNodes
from ..coordinates.rigid import LooseParts
from ..linear.interface import LinearSolver
from ..state import Index, Vec


@dataclass(frozen=True)
class Mesh:
    """What does not change between reshapes."""

    tets: Index  #: (e, 4)
    rest: Vec  #: rest positions [m], (n, 3)
    mass: Vec  #: lumped [kg], (n,)
    parts: list[Index]  #: nodes of each face-connected part
    coordinates: FreeNodes
    dynamic: Index  #: nodes that keep their own inertia; the rest of the free nodes is quasistatic
    stiffness: float  #: a typical entry of K [N/m], for pivots that no answer depends on


@dataclass(frozen=True)
class Stage:
    """M (v − v_hat) = h f(x + h v), linearised: the system is M − β h² K."""

    h: float  #: [s]
    v_hat: Vec  #: velocities that inertia would keep [m/s], (n, 3)
    w: Vec | None  #: velocities of the prescribed nodes [m/s], (p, 3); None where all are still


class Posed(Protocol):
    """A u = b, factored once."""

    def solve(self) -> Vec:
        """Rates of the free nodes, their full velocity, (3 f,) [m/s]."""

    def correction(self, u: Vec) -> Vec:
        """What positions still owe at the new rates u, as a rate that never enters velocities, (3 f,) [m/s]."""


class Condensation(Protocol):
    """Poses a linearised step in its own unknowns."""

    loose: LooseParts  #: by what is pinned or kinematic

    def __init__(self, mesh: Mesh, linear: LinearSolver, params: dict[str, float]) -> None: ...

    def pose(self, lin: Linearised, stage: Stage) -> Posed:
        """Factor. Raises NotPositiveDefinite."""
