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
    """Limits of friction by Coulomb's law where the normal forces are given."""

    energy: float  #: that it would give all bodies from rest in a second [J]
    nodes: Mask  #: at which what is left of a stage changes it, (n,)


class Forces(Protocol):
    """Forces of a stage as functions of positions and velocities; several may act on one set of masses."""

    def evaluate(self, x: Vec, time: float) -> tuple[Vec, float | None]:
        """Return forces [N], (n, 3), and their energy [J], None where there is none, at positions (n, 3) [m] and a time
        [s]."""

    def linearise_at(self, x: Vec, v: Vec | None, time: float, project: bool = True) -> Linearised:
        """Return forces f and K = ∂f/∂x at positions (n, 3) [m], velocities (n, 3) [m/s], None at rest, and a time [s];
        K is negative semi-definite if `project`."""

    def linearise_reusing_at(self, x: Vec, v: Vec, time: float, strained: Index) -> Linearised:
        """Return the projected linearisation at positions (n, 3) [m] and velocities (n, 3) [m/s], which reuses the last
        K of all tetrahedra except those in `strained`, (k,); its forces lack those of all tetrahedra."""

    @property
    def friction(self) -> FrictionLimits | None:
        """Return the limits of friction whose normal forces are given; None without such friction."""

    def count_evaluations(self) -> npt.NDArray[np.int64]:
        """Return the number of evaluations of K of each body's tetrahedra, (b,): an unchanged number means an unchanged
        K."""

    def in_stretches(self) -> Stretched | None:
        """Return these forces with the stretches of tetrahedra as unknowns; None where no tetrahedron supports that."""


class Stretched(Forces, Protocol):
    """Forces with the stretches z of tetrahedra as unknowns, condensed: f and K are those of positions while z follows,
    and energies are those of the Lagrangian. [MFEM 4, 6]"""

    def start(self) -> None:
        """Begin a stage: set z to the stretches at the positions of the first linearisation."""

    def follow(self, moved: Vec) -> float:
        """Set the direction of z for a displacement of all nodes, (n, 3) [m], from the last linearisation, and its
        multipliers; return the second derivative of the energies of z along it [J]. [MFEM 7, 8]"""

    def set_fraction(self, fraction: float) -> None:
        """Evaluate from now on with z after this fraction of the step along its direction."""

    def keep(self) -> None:
        """Make the z of the last evaluation the start of the next step."""


class Physics(Forces, Protocol):
    """Forces and masses of the nodes of a stage, with the contact that bounds their displacements."""

    mass: Vec  #: lumped [kg], (n,)

    @property
    def rest(self) -> Vec:
        """Return positions of all nodes in the rest shape, (n, 3) [m]."""

    def largest_step(self, start: Vec, end: Vec) -> float:
        """Return the largest contact-free fraction in [0, 1] of a straight displacement of all nodes between positions,
        (n, 3) [m] each."""

    def largest_steps(self, start: Vec, end: Vec, by_body: bool = False) -> Vec:
        """Return the largest contact-free fraction in [0, 1] for each node, (n,), of a straight displacement between
        positions, (n, 3) [m] each: bodies without contact may go farther. by_body: one fraction for each body."""

    def carry_along(self, step_start: Vec, end: Vec) -> Vec | None:
        """Return positions of all nodes, (n, 3) [m], after prescribed motion has moved along the nodes in its path;
        None where something would intersect. step_start, end: positions of all nodes at both ends of the prescribed
        motion, (n, 3) [m]."""

    def name_blocking_pair(self, node: int, x: Vec) -> tuple[str, str]:
        """Return the name of the object that a prescribed node belongs to, and of the one in contact with it, or with
        the body that it moves, at positions x, (n, 3) [m]; each an empty string where the object has no name."""

    def closes_on(self, x: Vec, end: Vec) -> tuple[int, str] | None:
        """Return a free node between prescribed surfaces that leave too little room for it at the end of a step, and a
        sentence for the user; None without one. x, end: positions at the step's start and at the end of the prescribed
        motion, (n, 3) [m]."""

    def body_of(self, node: int) -> str | None:
        """Return the name of the body that a node belongs to, None for a node without one."""

    def find_clamped_elements(self, x: Vec, time: float) -> Mask:
        """Return a mask of the elements whose stiffness the projection changes at positions x (n, 3) [m] and a time
        [s], (e,)."""
