"""What the live loop asks of an engine, and what it tells it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from ...job.folder import Job
from ...state import Vec
from ..bumps import Bump
from ..pace import Effort

#: (stage, body, progress, text), as a bake tells how it begins
Report = Callable[[str, str | None, float | None, str], None]


@dataclass(frozen=True)
class Hold:
    """A place of the body that is taken hold of and pulled to another one."""

    id: int  #: another one whenever it is taken anew
    start: Vec  #: where the body was taken hold of [m], (3,)
    target: Vec  #: where that is pulled to [m], (3,)
    radius: float  #: how much of the body around it is taken hold of [m]; 0 picks a share of its size
    strength: float  #: 1 is what lifts the body; 0 lets go


@dataclass(frozen=True)
class Inputs:
    """What the artist does at a moment."""

    gravity: Vec  #: [m/s²], (3,)
    carrier: Vec = field(default_factory=lambda: np.eye(4))  #: how the object moved since the job was read, (4, 4)
    grabs: tuple[Hold, ...] = ()
    ground: Vec | None = None  #: a point of the plane [m] and its normal, (2, 3); None: where the job has it
    bumps: tuple[Bump, ...] = ()


class Engine(Protocol):
    """Moves one body. It is made of a job, whose first frame it stands at."""

    efforts: Sequence[Effort]  #: ways to step, the best first
    notes: list[str]  #: sentences for the artist, which may grow
    restarts: int  #: how often it could not go on and began anew

    def __init__(self, job: Job, report: Report) -> None:
        """Raises a ConJacError that names the body."""

    @property
    def places(self) -> Vec:
        """Vertices of the artist's mesh in world space [m], (n, 3)."""

    def step(self, effort: int, inputs: Inputs) -> None:
        """Move on by `efforts[effort].step`."""

    def change(self, job: Job) -> None:
        """Go on from where it stands with the settings of another job of the same mesh. Raises a ConJacError where
        these cannot be used, and stays as it was."""
