"""Interface between the live loop and engines: inputs of the artist, grabs, and the protocol of an engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from ...build.filled import replace_meshers
from ...job.folder import Job
from ...job.schema import Scene
from ...state import Vec
from ..bumps import Bump
from ..pace import Effort

#: (stage, body, progress, text), as a bake reports how it begins
Report = Callable[[str, str | None, float | None, str], None]

CELLS = 300  #: in the box of a soft body, about


def in_cells(job: Job) -> Job:
    """Return the job with coarse cells in its soft bodies, instead of the tetrahedra of its meshers."""
    return replace_meshers(job, CELLS, by_bake=False)


def nothing_rigid() -> Vec:
    """Return the poses of an engine without rigid bodies, (0, 4, 4)."""
    return np.zeros((0, 4, 4))


@dataclass(frozen=True)
class Hold:
    """A grab of the artist: a point of a body that is pulled to a target."""

    id: int  #: number of the hand, a new one for each grab
    start: Vec  #: where the body was grabbed [m], (3,)
    target: Vec  #: position to which that point is pulled [m], (3,)
    radius: float  #: of the part of the body that is grabbed [m]; 0 picks a fraction of its size
    strength: float  #: 1 lifts the body; 0 releases it
    rigid: int = -1  #: number of the grabbed rigid body; -1: the nearest soft body is grabbed


@dataclass(frozen=True)
class GrabbedVertex:
    """A grabbed vertex of a soft body, with its target and stiffness in one step."""

    id: int  #: number of the hand, as in `Hold`
    vertex: int  #: number of the grabbed vertex among those of all bodies
    target: Vec  #: position to which the vertex is pulled [m], (3,)
    stiffness: float  #: [N/m]


@dataclass(frozen=True)
class Inputs:
    """Inputs of the artist at one time: gravity, motion of objects, grabs, ground, colliders and pinned vertices."""

    gravity: Vec  #: [m/s²], (3,)
    #: motion of each body's object since the job was read, (b, 4, 4) [m]; bodies without an entry do not move
    carriers: Vec = field(default_factory=lambda: np.zeros((0, 4, 4)))
    grabs: tuple[Hold, ...] = ()
    ground: Vec | None = None  #: a point of the plane [m] and its normal, (2, 3); None: the plane of the job
    bumps: tuple[Bump, ...] = ()
    #: positions of vertices that bones move, in the order of board.LEADING [m], (s, 3); none: pins move with the object
    pinned: Vec = field(default_factory=lambda: np.zeros((0, 3)))

    def coming_from(self, before: Inputs) -> Inputs:
        """Return these inputs with colliders that start their motion where the inputs `before` have them."""
        known = {id(bump.shape): bump for bump in before.bumps}
        return replace(self, bumps=tuple(replace(bump, before=known[id(bump.shape)].before) if id(bump.shape) in known
                                         else bump for bump in self.bumps))

    def end_step(self) -> Inputs:
        """Return the inputs after a step: colliders start the next one at the end of their motion."""
        return replace(self, bumps=tuple(replace(bump, before=bump.matrix) for bump in self.bumps))

    def carrier(self, body: int) -> Vec:
        """Return the motion of a body's object since the job was read, (4, 4) [m]. body: number in the scene."""
        moved: Vec = self.carriers[body] if body < len(self.carriers) else np.eye(4)
        return moved


class Engine(Protocol):
    """Interface of an engine, which simulates all bodies of a job from its first frame on."""

    efforts: Sequence[Effort]  #: settings of a step, the most accurate first
    restarts: int  #: number of restarts after steps that failed

    @staticmethod
    def plays(scene: Scene) -> bool:
        """Whether the engine can play every part of a scene."""

    def __init__(self, job: Job, report: Report) -> None:
        """Build the engine of a job. report: receives progress. Raises a ConJacError that names the body."""

    @property
    def positions(self) -> Vec:
        """Return the vertices of the artist's meshes in world space, concatenated by body [m], (n, 3)."""

    @property
    def poses(self) -> Vec:
        """Return the frames of rigid bodies in world space, concatenated by mechanism [m], (r, 4, 4)."""

    @property
    def grabbed(self) -> tuple[GrabbedVertex, ...]:
        """Return the vertices of soft bodies that were grabbed in the last step."""

    def step(self, effort: int, inputs: Inputs) -> None:
        """Advance all bodies by `efforts[effort].step` seconds. Bodies whose step fails restart, with a note."""

    def take_notes(self) -> list[str]:
        """Return the sentences for the artist since the last call."""

    def forget_past(self) -> None:
        """Drop everything cached except the state, as a bake does at a snapshot, so that both continue identically."""

    def change(self, job: Job) -> None:
        """Continue from the present state with the settings of another job of the same mesh. Raises a ConJacError where
        they cannot be used; the engine is then unchanged."""
