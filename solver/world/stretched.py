"""Forces of soft bodies with the stretches of tetrahedra as unknowns, for stages of mixed finite elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from ..assembly.linearised import Linearised
from ..forces.in_stretches import InStretches
from ..forces.stencils import BodyElements, StretchedElements
from ..nonlinear.forces_protocol import Stretched
from ..state import Index, Vec


class StretchedForces(Stretched):
    """Mixed forces of some bodies, with all other forces on these."""

    friction = None

    def __init__(self, elements: Sequence[StretchedElements], evaluate: Callable[[Vec, float], tuple[Vec, float]],
                 linearise: Callable[[Vec, Vec | None, float, bool], Linearised]) -> None:
        """elements: elements with stretches as unknowns. evaluate, linearise: functions of all forces."""
        self._elements, self._evaluate, self._linearise = elements, evaluate, linearise
        self._count = 0

    def evaluate(self, x: Vec, time: float) -> tuple[Vec, float]:
        """Return forces, (n, 3) [N], and the Lagrangian [J] at positions x, (n, 3), and present stretches. [MFEM 4]"""
        return self._evaluate(x, time)

    def linearise_at(self, x: Vec, v: Vec | None, time: float, project: bool = True) -> Linearised:
        """Return f̂ and K̂ at positions and velocities, (n, 3) [m], [m/s]; K̂ is negative semi-definite. [MFEM 6]"""
        self._count += 1
        return self._linearise(x, v, time, project)

    def linearise_reusing_at(self, x: Vec, v: Vec, time: float, strained: Index) -> Linearised:
        """Return f̂ and K̂ of all elements, not only of `strained`, since the stretches of all change."""
        return self.linearise_at(x, v, time)

    def count_evaluations(self) -> npt.NDArray[np.int64]:
        """Return the number of evaluations of K, (1,), which shows whether K has changed."""
        return np.array([self._count])

    def in_stretches(self) -> Stretched:
        """Return these forces themselves."""
        return self

    def start(self) -> None:
        """Begin a stage: set the stretches to those at the positions of the first linearisation."""
        for body in self._elements:
            body.start()

    def follow(self, moved: Vec) -> float:
        """Set the direction of the stretches for a displacement of all nodes `moved`, (n, 3) [m].

        Returns the second derivative of the energies of the stretches along it [J]. [MFEM 7, 8]
        """
        return sum(body.follow(moved) for body in self._elements)

    def set_fraction(self, fraction: float) -> None:
        """Evaluate from now on with the stretches after this fraction of the step along their direction."""
        for body in self._elements:
            body.set_fraction(fraction)

    def keep(self) -> None:
        """Make the stretches of the last evaluation the start of the next step."""
        for body in self._elements:
            body.keep()


def build_stretched_forces(elements: Sequence[BodyElements], bodies: Sequence[int] | None,
                           evaluate: Callable[[Vec, float], tuple[Vec, float]],
                           linearise: Callable[[Vec, Vec | None, float, bool], Linearised]) -> StretchedForces | None:
    """Return the mixed forces of some bodies; None where none of their elements support stretches as unknowns.

    elements: of each body. bodies: indices; None: all. evaluate, linearise: functions of all forces.
    """
    selected = elements if bodies is None else [elements[k] for k in bodies]
    own = [forces for body in selected if (forces := body.in_stretches(InStretches)) is not None]
    return StretchedForces(own, evaluate, linearise) if own else None
