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

    def in_stretches(self) -> Stretched | None:
        """The same with the stretches of tets as unknowns of their own; None where no tets can have such."""


class Stretched(Forces, Protocol):
    """Forces of which the stretches z of tets are unknowns, condensed: f and K are those of positions once z follows,
    and energies are those of the Lagrangian. [MFEM 4, 6]"""

    def start(self) -> None:
        """Begin a stage: z is that of the positions where it is linearised first."""

    def follow(self, moved: Vec) -> float:
        """Let z lead where a move of all nodes, (n, 3) [m], from where it was linearised last takes it, with the
        multipliers of that; by how much the energies of z bend along that [J]. [MFEM 7, 8]"""

    def go(self, share: float) -> None:
        """Evaluate from now on with z gone this share of that way."""

    def keep(self) -> None:
        """Leave z where it was evaluated last."""


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

    def body_of(self, node: int) -> str | None:
        """Name of the body that a node belongs to."""

    def clamped(self, x: Vec, time: float) -> Mask:
        """Which elements' stiffness the projection changes at x, (e,)."""
