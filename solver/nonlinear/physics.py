"""What a stage asks of forces and masses."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from ..assembly.linearised import Linearised
from ..state import Index, Mask, Vec


class Forces(Protocol):
    """What a stage asks of them again and again; another one may have others on the same masses."""

    def evaluate(self, x: Vec, time: float) -> tuple[Vec, float | None]:
        """Forces [N], (n, 3), and the energy that they derive from [J], None where there is none such, at positions
        (n, 3)."""

    def linearise_at(self, x: Vec, v: Vec | None, time: float, project: bool = True) -> Linearised:
        """f and K = ∂f/∂x at positions and velocities (n, 3), None at rest; negative semi-definite if `project`."""

    def linearise_held_at(self, x: Vec, v: Vec, time: float, strained: Index) -> Linearised:
        """The same, projected, but for tets that have not strained, (k,): their K is that which was asked for last, and
        forces lack all of theirs."""

    def filled(self) -> npt.NDArray[np.int64]:
        """How often K of each body's tets was asked for, (b,): where that is the same, it is."""


class Physics(Forces, Protocol):
    """Forces and masses."""

    mass: Vec  #: lumped [kg], (n,)

    @property
    def rest(self) -> Vec:
        """Positions of all nodes in the rest shape, (n, 3) [m]."""

    def largest_step(self, start: Vec, end: Vec) -> float:
        """The largest share of a straight move of all nodes, (n, 3) [m] each, in [0, 1], in which nothing meets."""

    def largest_steps(self, start: Vec, end: Vec, by_body: bool = False) -> Vec:
        """The same of each node, (n,): what meets nothing may go farther. by_body: each body goes as one."""

    def taken_along(self, begun: Vec, end: Vec) -> Vec | None:
        """Where all nodes stand, (n, 3) [m], once what is prescribed has gone its way and taken along what is before
        it, if nothing meets on the way there; None where it cannot be said so. begun, end: of all nodes, (n, 3) [m]."""

    def body_of(self, node: int) -> str | None:
        """Name of the body that a node belongs to."""

    def clamped(self, x: Vec, time: float) -> Mask:
        """Which elements' stiffness the projection changes at x, (e,)."""
