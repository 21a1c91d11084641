"""Common part of all engines whose bodies take steps of their own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar, Generic, TypeVar

import numpy as np

from ...build.fields import Prepared
from ...errors import StepFailed
from ...job.folder import Job
from ...job.schema import Scene, step_size
from ...state import Mask, Vec
from ..pace import Effort
from ..played import PlayedBody
from .interface import GrabbedPlace, Hold, Inputs, Report, nothing_rigid

Body = TypeVar("Body", bound=PlayedBody)


def who_meet(scene: Scene) -> Mask:
    """Return which soft bodies of a scene touch each other, and on the diagonal themselves, symmetric, (b, b)."""
    names = [one.name for one in scene.bodies]
    wanted = np.array([[scene.contact is not None and (one.touches is None or name in one.touches)
                        for name in names] for one in scene.bodies])
    found: Mask = wanted & wanted.T
    return found


class ApartEngine(ABC, Generic[Body]):
    """Live simulation of bodies that are stepped one by one, with contact between them resolved before or after.

    A body whose step fails is put back to its start.
    """

    poses = nothing_rigid()
    #: of a step: at best, where the clock asks for fewer, and in the longest steps
    iterations: ClassVar[tuple[int, int, int]]
    #: how many times longer the longest steps are: the first by which whole ones make a frame, or else the first
    longer: ClassVar[tuple[int, ...]] = (2,)

    def __init__(self, job: Job, report: Report) -> None:
        """Raises BadInput where it cannot play the scene, and what volumes and maps of bodies raise."""
        self._report, self.notes, self.restarts = report, list[str](), 0
        self._owner: dict[int, int] = {}  # which body a hand has hold of, by its number
        job, prepared = self._prepare(job)
        self.bodies = [self._body(job, k, one) for k, one in enumerate(prepared)]
        self._set_up(job)

    @abstractmethod
    def _prepare(self, job: Job) -> tuple[Job, Sequence[Prepared]]:
        """Return the job as it is played, and its bodies. Raises a ConJacError that names the body."""

    @abstractmethod
    def _body(self, job: Job, number: int, prepared: Prepared) -> Body:
        """Return one body. Raises what its maps raise."""

    @abstractmethod
    def _step_body(self, number: int, h: float, iterations: int, inputs: Inputs) -> None:
        """Move one body on by h seconds. Raises StepFailed, and is as it was."""

    def _set_up(self, job: Job) -> None:
        """Take the settings that are no body's own."""
        scene = job.scene
        steps, h = step_size(scene.time.fps, scene.time.step)  # a bake's, so that one gives what is recorded
        longest = next((k for k in self.longer if steps % k == 0), self.longer[0]) * h
        self.efforts = [Effort("", h), Effort("fewer iterations", h), Effort("longer steps", longest)]
        self._meet = who_meet(scene)

    @property
    def places(self) -> Vec:
        return np.concatenate([one.places for one in self.bodies])

    @property
    def grabbed(self) -> tuple[GrabbedPlace, ...]:
        first = np.cumsum([0, *(len(one.places) for one in self.bodies)])
        return tuple(replace(one, vertex=int(start) + one.vertex) for start, body in zip(first, self.bodies)
                     for one in body.grabbed)

    def step(self, effort: int, inputs: Inputs) -> None:
        h, iterations = self.efforts[effort].step, self.iterations[effort]
        for body in self.bodies:
            body.place(inputs)
        self._hold(inputs.grabs, h)
        self._meet_before(h)
        for number, body in enumerate(self.bodies):
            try:
                self._step_body(number, h, iterations, inputs)
            except StepFailed as failure:
                self.notes.append(f"Restarted: {failure}")
                self.restarts += 1
                body.restart()
        self._meet_after()

    def _meet_before(self, h: float) -> None:
        """Find the constraints that keep bodies apart in a step of h seconds."""

    def _meet_after(self) -> None:
        """Part bodies that have taken a step."""

    def _hold(self, grabs: tuple[Hold, ...], h: float) -> None:
        self._owner = {hold.id: self._owner.get(hold.id, -1) for hold in grabs}
        for hold in grabs:
            if self._owner[hold.id] < 0:
                self._owner[hold.id] = int(np.argmin([body.distance(hold.start) for body in self.bodies]))
        for number, body in enumerate(self.bodies):
            body.hold([hold for hold in grabs if self._owner[hold.id] == number], h)

    def forget_past(self) -> None:
        """Do nothing: the engine caches only its states."""

    def change(self, job: Job) -> None:
        job, prepared = self._prepare(job)
        done: list[Callable[[], None]] = []
        try:
            for body, one in zip(self.bodies, prepared, strict=True):
                done.append(body.change(job, one))
        except Exception:
            for take_back in done:
                take_back()
            raise
        self._set_up(job)
