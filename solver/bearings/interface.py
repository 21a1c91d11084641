"""Protocols of a law of friction inside joints and of the step that it acts on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from ..rows.names import NO_MULTIPLIERS, RowMultipliers
from ..state import Index, Vec
from .bearings import Bearings


class PosedJoints(Protocol):
    """A step of a mechanism: A u = b + Gᵀ λ, factored. Wrenches are impulses [N m s, N s] in the bodies' frames."""

    @property
    def parent(self) -> Index:
        """(n,), −1 for the world."""

    @property
    def dof(self) -> Index:
        """Rates dof[i] to dof[i + 1] belong to the joint above body i, (n + 1,)."""

    @property
    def E(self) -> Vec:
        """Body → world, (n, 4, 4)."""

    @property
    def X(self) -> Vec:
        """Parent's twist → its part of the body's, (n, 6, 6)."""

    @property
    def S(self) -> Vec:
        """Column of each rate in its body's frame, (m, 6)."""

    def respond(self, impulses: Vec) -> Vec:
        """Δu of impulses on rates, (m, c), while loops and drives hold."""

    def solve(self, impulses: Vec) -> Vec:
        """Return rates (m,) with impulses on them, (m,), in addition to all of the step: loops, drives, limits,
        contacts."""

    def reaction(self, u: Vec) -> Vec:
        """S J u − [(M − hD) v⁰ + h f] − row impulses of the last `solve`: what joints do to bodies, (n, 6)."""

    def effort(self, u: Vec) -> Vec:
        """b_u − S_u u, the share of joint springs and motors in it, (m,) [N m s, N s]."""

    def in_loops(self) -> Vec | None:
        """Return the impulse of each loop on its body a since the last `solve`, in a's frame, (l, 6); None without
        loops."""


@dataclass(frozen=True)
class FrictionAnswer:
    """A step with friction."""

    u: Vec  #: rates, (m,)
    friction: RowMultipliers  #: impulses along the law's own rows, from which the next step starts [N s]
    passes: int  #: how often contact was found
    iterations: int  #: of quadratic programs, in all
    converged: bool
    loads: list[Vec] = field(default_factory=list)  #: α of the points by which the friction is bounded, (k, p) [N s]


def free_directions(posed: PosedJoints, bearings: Bearings) -> Iterator[tuple[Index, Index, Vec]]:
    """Joints with equally many rates, k at a time: bodies below them, (k,), their rates, (k, d), and columns of S
    about the joints' origins in the moving frames, (k, d, 6).
    """
    rates = np.diff(posed.dof)
    for count in np.unique(rates[rates > 0]):
        joints = np.flatnonzero(rates == count).astype(np.int32)
        entries = posed.dof[joints][:, None] + np.arange(count)
        yield joints, entries, posed.S[entries] @ bearings.at_joint[joints]


class JointFriction(Protocol):
    """Friction inside joints and loops. A law keeps nothing from step to step; its last impulses come back to it."""

    #: "nothing", "joints" of one bearing beside loops and contacts, or "everything": drives and limits beside them too
    acts_on: str

    def __init__(self, params: dict[str, float]) -> None: ...

    def rub(self, posed: PosedJoints, bearings: Bearings, warm: RowMultipliers = NO_MULTIPLIERS) -> FrictionAnswer:
        """Return the step's rates with friction. Raises StepFailed.

        warm: impulses of the step before; no result depends on them but within `agreement`.
        """


class Frictionless:
    """Joints without friction."""

    acts_on = "nothing"

    def __init__(self, params: dict[str, float]) -> None:
        """No parameters."""

    def rub(self, posed: PosedJoints, bearings: Bearings, warm: RowMultipliers = NO_MULTIPLIERS) -> FrictionAnswer:
        """Return the step's rates without friction."""
        return FrictionAnswer(posed.solve(np.zeros(int(posed.dof[-1]))), NO_MULTIPLIERS, 0, 0, True)
