"""Protocol between the live loop and engines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from ...job.folder import Job
from ...job.schema import Scene
from ...state import Vec
from ..bumps import Bump
from ..pace import Effort

#: (stage, body, progress, text), as a bake reports how it begins
Report = Callable[[str, str | None, float | None, str], None]


def nothing_rigid() -> Vec:
    """Poses of no rigid body, (0, 4, 4)."""
    return np.zeros((0, 4, 4))


@dataclass(frozen=True)
class Hold:
    """A place of a body that is taken hold of and pulled to another one."""

    id: int  #: another one whenever it is taken again
    start: Vec  #: where the body was taken hold of [m], (3,)
    target: Vec  #: where that is pulled to [m], (3,)
    radius: float  #: how much of the body around it is taken hold of [m]; 0 picks a share of its size
    strength: float  #: 1 is what lifts the body; 0 lets go
    rigid: int = -1  #: number of the rigid body that it is on; -1: on the nearest soft one


@dataclass(frozen=True)
class GrabbedPlace:
    """A hand on a soft body, in one step."""

    id: int  #: as of the hold
    vertex: int  #: that it has hold of, among those of all bodies
    target: Vec  #: where that is pulled to [m], (3,)
    stiffness: float  #: [N/m]


@dataclass(frozen=True)
class Inputs:
    """Inputs of the artist at a moment."""

    gravity: Vec  #: [m/s²], (3,)
    #: how the object of each body has moved since the job was read, (b, 4, 4) [m]; those left out stand still
    carriers: Vec = field(default_factory=lambda: np.zeros((0, 4, 4)))
    grabs: tuple[Hold, ...] = ()
    ground: Vec | None = None  #: a point of the plane [m] and its normal, (2, 3); None: where the job has it
    bumps: tuple[Bump, ...] = ()
    #: where vertices that bones lead are now, as board.LEADING names them [m], (s, 3); none: pins go with their object
    pinned: Vec = field(default_factory=lambda: np.zeros((0, 3)))

    def coming_from(self, before: Inputs) -> Inputs:
        """Return these inputs after others, with colliders that move from where they were."""
        known = {id(one.shape): one for one in before.bumps}
        return replace(self, bumps=tuple(replace(one, before=known[id(one.shape)].before) if id(one.shape) in known
                                         else one for one in self.bumps))

    def reached(self) -> Inputs:
        """Return these inputs after a step, with colliders where they were to go."""
        return replace(self, bumps=tuple(replace(one, before=one.matrix) for one in self.bumps))

    def carrier(self, body: int) -> Vec:
        """How the object of a body has moved, by its number in the scene, (4, 4) [m]."""
        moved: Vec = self.carriers[body] if body < len(self.carriers) else np.eye(4)
        return moved


class Engine(Protocol):
    """Moves all bodies of a job, whose first frame they stand at."""

    efforts: Sequence[Effort]  #: ways to step, the best first
    notes: list[str]  #: sentences for the artist, which may grow
    restarts: int  #: how often it could not go on and started again

    @staticmethod
    def plays(scene: Scene) -> bool:
        """Whether it can play all that is in a scene."""

    def __init__(self, job: Job, report: Report) -> None:
        """Raises a ConJacError that names the body."""

    @property
    def places(self) -> Vec:
        """Vertices of the artist's meshes in world space, those of one body behind the other's [m], (n, 3)."""

    @property
    def poses(self) -> Vec:
        """Own frames of rigid bodies in world space, those of one mechanism behind the other's [m], (r, 4, 4)."""

    @property
    def grabbed(self) -> tuple[GrabbedPlace, ...]:
        """Return the points that hands had hold of in the last step, without those of rigid bodies."""

    def step(self, effort: int, inputs: Inputs) -> None:
        """Move on by `efforts[effort].step`."""

    def forget_past(self) -> None:
        """Drop what is remembered beside the state, as a bake does at a snapshot: both go on alike from there."""

    def change(self, job: Job) -> None:
        """Go on from where it stands with the settings of another job of the same mesh. Raises a ConJacError where
        these cannot be used, and stays as it was."""
