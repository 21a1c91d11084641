"""Protocols of the forces and masses of a stage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ..assembly.linearised import Linearised
from ..state import Index, Mask, Vec


@dataclass(frozen=True)
class FrictionLimits:
    """Limits of friction on given normal forces, by Coulomb's law."""

    energy: float  #: that it would give all bodies from rest in a second [J]
    nodes: Mask  #: at which what is left of a stage changes it, (n,)


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

    @property
    def friction(self) -> FrictionLimits | None:
        """Return the limits of friction on given normal forces; None without such friction."""

    def filled(self) -> npt.NDArray[np.int64]:
        """Return how often K of each body's tetrahedra was evaluated, (b,): an unchanged count means an unchanged K."""

    def in_stretches(self) -> Stretched | None:
        """Return these forces with the stretches of tetrahedra as unknowns, None where no tetrahedra can have such."""


class Stretched(Forces, Protocol):
    """Forces with the stretches z of tetrahedra as unknowns, condensed: f and K are those of positions while z follows,
    and energies are those of the Lagrangian. [MFEM 4, 6]"""

    def start(self) -> None:
        """Begin a stage: z is that of the positions of the first linearisation."""

    def follow(self, moved: Vec) -> float:
        """Set the direction of z for a displacement of all nodes, (n, 3) [m], from the last linearisation, and its
        multipliers; return the second derivative of the energies of z along it [J]. [MFEM 7, 8]"""

    def go(self, fraction: float) -> None:
        """Evaluate from now on with z at this fraction of its direction."""

    def keep(self) -> None:
        """Leave z where it was evaluated last."""


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

    def taken_along(self, step_start: Vec, end: Vec) -> Vec | None:
        """Return positions of all nodes, (n, 3) [m], after prescribed motion has moved along the nodes in its path,
        None where something would intersect. step_start, end: of all nodes, (n, 3) [m]."""

    def blocked_at(self, node: int, x: Vec) -> tuple[str, str]:
        """Return what a prescribed node belongs to, and what is in contact with it at positions x, (n, 3) [m], or with
        the body that it moves; each an empty string where that has no name."""

    def closes_on(self, x: Vec, end: Vec) -> tuple[int, str] | None:
        """Return a free node between prescribed surfaces that leave too little room for it at the end of a step, and a
        sentence; None without one. x, end: at the start and where prescribed motion leads, (n, 3) [m]."""

    def body_of(self, node: int) -> str | None:
        """Return the name of the body that a node belongs to."""

    def clamped(self, x: Vec, time: float) -> Mask:
        """Return a mask of the elements whose stiffness the projection changes at x, (e,)."""
