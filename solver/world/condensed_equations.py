"""Equations of a stage of condensed velocities without contact between surfaces, for sweeps and Newton's method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ..assembly.damping import Damped
from ..assembly.linearised import Linearised
from ..assembly.products import Products
from ..parts.interface import FixedPointSweeps
from ..parts.stage import NodeStage
from ..state import State, Vec
from .soft_bodies import SoftBodies

SweepsOn = Callable[[Linearised, NodeStage], FixedPointSweeps]  #: sweeps of a stage on the factor of a linearisation


@dataclass(frozen=True)
class CondensedEquations:
    """Equations of a stage that is solved iteratively. x and v are of all nodes, (n, 3) [m] and [m/s]."""

    soft: SoftBodies
    stage: NodeStage
    start: State
    damped: Damped | None

    def linearise_at(self, x: Vec, v: Vec, project: bool) -> Linearised:
        """Return f and K at positions and velocities. project: whether K is projected to negative semi-definite."""
        stage = self.stage
        lin = self.soft.linearise_at(x, v, stage.time, project)
        blocks = self.soft.contact_free_blocks(stage.time) if stage.inertia and len(lin.contacts) else None
        return replace(lin, damped=self.damped, memory=self.start.memory, contact_free_blocks=blocks)

    def products_at(self, x: Vec, v: Vec, columns: Vec) -> Products:
        """Return f and the products of the true K with fields `columns`, (c, n, 3)."""
        return self.soft.products_at(x, v, self.stage.time, columns, self.damped)


@dataclass(frozen=True)
class SweptEquations(CondensedEquations):
    """Equations of a stage that is solved by fixed-point sweeps on a factor."""

    sweeps_on: SweepsOn

    def sweeps_at(self, x: Vec, v: Vec, project: bool) -> FixedPointSweeps:
        """Return sweeps on a factor at positions and velocities.

        project: whether K is projected to negative semi-definite. Raises NotPositiveDefinite where the matrix is not.
        """
        return self.sweeps_on(self.linearise_at(x, v, project), self.stage)

    def modal_sweeps_at(self, x: Vec, v: Vec, time: float, project: bool) -> FixedPointSweeps:
        """Return sweeps on a factor at positions, velocities and a time [s], for a modal step.

        project: whether K is projected to negative semi-definite. Raises NotPositiveDefinite where the matrix is not.
        """
        lin = self.soft.linearise_at(x, v, time, project)
        return self.sweeps_on(replace(lin, damped=self.damped, memory=self.start.memory, is_tried=not project),
                              self.stage)
