"""Base class of the engines that step each body separately."""

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
from .interface import GrabbedVertex, Hold, Inputs, Report, nothing_rigid

Body = TypeVar("Body", bound=PlayedBody)


def contact_matrix(scene: Scene) -> Mask:
    """Return which soft bodies of a scene are in contact with each other, (b, b), symmetric; diagonal: self-contact."""
    names = [body.name for body in scene.bodies]
    requested = np.array([[scene.contact is not None and (body.touches is None or name in body.touches)
                        for name in names] for body in scene.bodies])
    is_mutual: Mask = requested & requested.T
    return is_mutual


class SeparateBodiesEngine(ABC, Generic[Body]):
    """Live simulation of bodies that are stepped one by one, with contact between them resolved before or after.

    A body whose step fails restarts from its initial state.
    """

    poses = nothing_rigid()
    #: number of iterations of a step at each effort: the best, fewer iterations, longer steps
    iterations: ClassVar[tuple[int, int, int]]
    #: ratios of the longest step to a normal one: the first that divides a frame evenly, or else the first
    longer: ClassVar[tuple[int, ...]] = (2,)

    def __init__(self, job: Job, report: Report) -> None:
        """Build the bodies of a job. report: receives progress. Raises BadInput where the engine cannot play the scene,
        and a ConJacError where a body cannot be built."""
        self._report, self._notes, self.restarts = report, list[str](), 0
        self._owner: dict[int, int] = {}  # index of the body that each hand grabs, by number of the hand
        job, prepared = self._prepare(job)
        self.bodies = [self._body(job, k, prepared_body) for k, prepared_body in enumerate(prepared)]
        self._set_up(job)

    @abstractmethod
    def _prepare(self, job: Job) -> tuple[Job, Sequence[Prepared]]:
        """Return the job as the engine plays it, and its prepared bodies. Raises a ConJacError that names the body."""

    @abstractmethod
    def _body(self, job: Job, number: int, prepared: Prepared) -> Body:
        """Return the live body of a prepared one. number: in the scene. Raises a ConJacError that names the body."""

    @abstractmethod
    def _step_body(self, number: int, h: float, iterations: int, inputs: Inputs) -> None:
        """Advance one body by h seconds. Raises StepFailed where the step fails; the body is then unchanged."""

    def _set_up(self, job: Job) -> None:
        """Read the settings of a job that do not belong to one body: efforts and contact."""
        scene = job.scene
        steps, h = step_size(scene.time.fps, scene.time.step)  # those of a bake, which then reproduces a recording
        longest = next((k for k in self.longer if steps % k == 0), self.longer[0]) * h
        self.efforts = [Effort("", h), Effort("fewer iterations", h), Effort("longer steps", longest)]
        self._in_contact = contact_matrix(scene)

    @property
    def positions(self) -> Vec:
        """Return the vertices of the artist's meshes in world space, concatenated by body [m], (n, 3)."""
        return np.concatenate([body.positions for body in self.bodies])

    @property
    def grabbed(self) -> tuple[GrabbedVertex, ...]:
        """Return the vertices that were grabbed in the last step, numbered among those of all bodies."""
        first = np.cumsum([0, *(len(played.positions) for played in self.bodies)])
        return tuple(replace(vertex, vertex=int(start) + vertex.vertex) for start, body in zip(first, self.bodies)
                     for vertex in body.grabbed)

    def step(self, effort: int, inputs: Inputs) -> None:
        """Advance all bodies by `efforts[effort].step` seconds: each is stepped alone, and contact between them is
        resolved before or after. A body whose step fails restarts, and `notes` reports it."""
        h, iterations = self.efforts[effort].step, self.iterations[effort]
        for body in self.bodies:
            body.place(inputs)
        self._hold(inputs.grabs, h)
        self._detect_contact(h)
        for number, body in enumerate(self.bodies):
            try:
                self._step_body(number, h, iterations, inputs)
            except StepFailed as failure:
                self._notes.append(f"Restarted: {failure}")
                self.restarts += 1
                body.restart()
        self._resolve_contact()

    def _detect_contact(self, h: float) -> None:
        """Find the constraints that keep bodies apart in a step of h seconds."""

    def _resolve_contact(self) -> None:
        """Resolve contact between bodies at the end of a step."""

    def _hold(self, grabs: tuple[Hold, ...], h: float) -> None:
        self._owner = {hold.id: self._owner.get(hold.id, -1) for hold in grabs}
        for hold in grabs:
            if self._owner[hold.id] < 0:
                self._owner[hold.id] = int(np.argmin([body.distance(hold.start) for body in self.bodies]))
        for number, body in enumerate(self.bodies):
            body.hold([hold for hold in grabs if self._owner[hold.id] == number], h)

    def take_notes(self) -> list[str]:
        """Return the sentences for the artist since the last call."""
        taken, self._notes = self._notes, []
        return taken

    def forget_past(self) -> None:
        """Do nothing: the engine stores only the states of its bodies."""

    def change(self, job: Job) -> None:
        """Continue from the present states with the settings of another job of the same meshes. Raises a ConJacError
        where a body cannot be built; all bodies are then unchanged."""
        job, prepared = self._prepare(job)
        done: list[Callable[[], None]] = []
        try:
            for body, prepared_body in zip(self.bodies, prepared, strict=True):
                done.append(body.change(job, prepared_body))
        except Exception:
            for take_back in done:
                take_back()
            raise
        self._set_up(job)
