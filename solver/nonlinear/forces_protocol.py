"""Protocols of the forces and masses of a stage."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from ..assembly.linearised import Linearised
from ..state import Index, Mask, Vec


class Forces(Protocol):
    """Forces that a stage evaluates again and again; several may act on one set of masses."""

    def evaluate(self, x: Vec, time: float) -> tuple[Vec, float | None]:
        """Return forces [N], (n, 3), and their energy [J], None where there is none, at positions (n, 3)."""

    def linearise_at(self, x: Vec, v: Vec | None, time: float, project: bool = True) -> Linearised:
        """Return f and K = ∂f/∂x at positions and velocities (n, 3), None at rest; K is negative semi-definite if
        `project`."""

    def linearise_reusing_at(self, x: Vec, v: Vec, time: float, strained: Index) -> Linearised:
        """Return the projected linearisation of all but the tetrahedra that are not in `strained`, (k,), whose last K
        is reused; forces lack those of all tetrahedra."""

    def filled(self) -> npt.NDArray[np.int64]:
        """Return how often K of each body's tetrahedra was evaluated, (b,): an unchanged count means an unchanged K."""


class Physics(Forces, Protocol):
    """Forces and masses."""

    mass: Vec  #: lumped [kg], (n,)

    @property
    def rest(self) -> Vec:
        """Return positions of all nodes in the rest shape, (n, 3) [m]."""

    def largest_step(self, start: Vec, end: Vec) -> float:
        """Return the largest fraction in [0, 1] of a straight displacement of all nodes, (n, 3) [m] each, without
        contact."""

    def largest_steps(self, start: Vec, end: Vec, by_body: bool = False) -> Vec:
        """Return the largest fraction of each node, (n,): bodies without contact may go farther. by_body: one fraction
        for each body."""

    def body_of(self, node: int) -> str | None:
        """Return the name of the body that a node belongs to."""

    def clamped(self, x: Vec, time: float) -> Mask:
        """Return a mask of the elements whose stiffness the projection changes at x, (e,)."""
