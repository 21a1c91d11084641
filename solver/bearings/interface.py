"""Protocols of a law of friction inside joints and of the step that it acts on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

import numpy as np

from ..rows.names import NO_MULTIPLIERS, RowMultipliers
from ..state import Index, Vec
from .bearings import Bearings


class SolvedJoints(Protocol):
    """Protocol of the solution of a step of a mechanism: its rates, and the impulses that belong to them [N m s, N s]
    in the bodies' frames."""

    @property
    def rates(self) -> Vec:
        """Return the rates, (m,) [rad/s, m/s]."""

    @property
    def reaction(self) -> Vec:
        """Return the wrenches of joints on bodies, (n, 6): S J u − [(M − hD) v⁰ + h f] − impulses of rows."""

    @property
    def effort(self) -> Vec:
        """Return the part of joint springs and motors in b_u − S_u u, (m,) [N m s, N s]."""

    @property
    def in_loops(self) -> Vec | None:
        """Return the impulse of each loop on its body a, in a's frame, (l, 6); None without loops."""


S = TypeVar("S", bound=SolvedJoints)
S_co = TypeVar("S_co", bound=SolvedJoints, covariant=True)


class PosedJoints(Protocol[S_co]):
    """Protocol of a step of a mechanism: A u = b + Gᵀ λ, factored."""

    @property
    def parent(self) -> Index:
        """Return the parent of each body, (n,), −1 for the world."""

    @property
    def dof(self) -> Index:
        """Return the offsets of rates, (n + 1,): rates dof[i] to dof[i + 1] belong to the joint above body i."""

    @property
    def E(self) -> Vec:
        """Return the transforms from bodies to the world, (n, 4, 4)."""

    @property
    def X(self) -> Vec:
        """Return the matrices from each parent's twist to its part of the body's twist, (n, 6, 6)."""

    @property
    def S(self) -> Vec:
        """Return the twist of each unit rate in its body's frame, (m, 6)."""

    def respond(self, impulses: Vec) -> Vec:
        """Return the change of rates, (m, c), by impulses on rates, (m, c), with loops and drives as constraints."""

    def solve(self, impulses: Vec) -> S_co:
        """Return the solution with impulses on rates, (m,), in addition to all of the step: loops, drives, limits,
        contacts."""


@dataclass(frozen=True)
class FrictionSolution(Generic[S]):
    """Result of a step with friction."""

    u: Vec  #: rates, (m,)
    friction: RowMultipliers  #: impulses along the law's own rows, from which the next step starts [N s]
    sweeps: int  #: number of sweeps over contact and friction
    iterations: int  #: of quadratic programs, in all
    converged: bool
    solved: S | None = None  #: solution of the step at these rates, where the law does not treat bodies as unconnected
    loads: list[Vec] = field(default_factory=list)  #: α of the points by which the friction is bounded, (k, p) [N s]


def free_directions(posed: PosedJoints[SolvedJoints], bearings: Bearings) -> Iterator[tuple[Index, Index, Vec]]:
    """Yield joints with equal numbers of rates: bodies below them, (k,), their rates, (k, d), and free directions, (k,
    d, 6).

    The free directions are columns of S about the joints' origins in the moving frames.
    """
    rates = np.diff(posed.dof)
    for count in np.unique(rates[rates > 0]):
        joints = np.flatnonzero(rates == count).astype(np.int32)
        entries = posed.dof[joints][:, None] + np.arange(count)
        yield joints, entries, posed.S[entries] @ bearings.at_joint[joints]


class JointFriction(Protocol):
    """Protocol of a law of friction inside joints and loops. A law has no state; its impulses are its next initial
    guess."""

    #: "nothing"; "joints" of one bearing, with loops and contacts; "everything", with drives and limits as well
    acts_on: str

    def __init__(self, params: dict[str, float]) -> None: ...

    def solve(self, posed: PosedJoints[S], bearings: Bearings, warm: RowMultipliers = NO_MULTIPLIERS
              ) -> FrictionSolution[S]:
        """Return the step's rates with friction. Raises StepFailed where the step cannot be solved.

        warm: impulses of the last step; the result depends on them only to within `agreement`.
        """


class Frictionless:
    """Joints without friction."""

    acts_on = "nothing"

    def __init__(self, params: dict[str, float]) -> None:
        """params: none."""

    def solve(self, posed: PosedJoints[S], bearings: Bearings, warm: RowMultipliers = NO_MULTIPLIERS
              ) -> FrictionSolution[S]:
        """Return the step's rates without friction."""
        solved = posed.solve(np.zeros(int(posed.dof[-1])))
        return FrictionSolution(solved.rates, NO_MULTIPLIERS, 0, 0, True, solved)
