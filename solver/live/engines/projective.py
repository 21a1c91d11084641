"""Cloth on projective dynamics: a few iterations on one factor a step, whatever it folds and falls on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from msgspec import structs

from ...build.soft_bodies import prepare_all
from ...build.volumes import volumes_of
from ...errors import BadInput, StepFailed
from ...job.folder import Job
from ...job.schema import Body, Scene
from ...job.schema_values import Choice
from ...state import Vec
from ..filled import filled
from ..layers import planes_between
from ..pace import Effort
from ..projected import ProjectedBody
from .interface import HeldPlace, Hold, Inputs, Report, nothing_rigid

CELLS = 300  #: in the box of a soft body, about
ITERATIONS = (10, 5, 8)  #: of a step: at best, where the clock asks for fewer, and in the longest steps
LONGER = 2  #: how many times longer the longest steps are


class ProjectiveEngine:
    """Cloths, ropes and soft bodies, each by itself but for sheets of cloth, which keep apart."""

    poses = nothing_rigid()

    @staticmethod
    def plays(scene: Scene) -> bool:
        """Whether there is nothing but cloth that hangs on nothing, sewn and blown up by nothing."""
        return _is_apart(scene) and all(one.cloth is not None for one in scene.bodies)

    def __init__(self, job: Job, report: Report) -> None:
        """Raises BadInput where something joins bodies, and what their maps raise."""
        if not _is_apart(job.scene):
            raise BadInput("what hangs on others, or is sewn or blown up, is not played by projective dynamics",
                           "Play it by Coarse Cells")
        self._report, self.notes, self.restarts = report, list[str](), 0
        self._owner: dict[int, int] = {}  # which body a hand has hold of, by its number
        job = _by_projections(job)
        prepared = prepare_all(job, report, volumes_of(job, report))
        self.bodies = [ProjectedBody(job, k, one, report) for k, one in enumerate(prepared)]
        self._set_up(job)

    def _set_up(self, job: Job) -> None:
        h, scene = job.scene.time.step, job.scene
        self.efforts = [Effort("", h), Effort("fewer iterations", h), Effort("longer steps", LONGER * h)]
        names = [one.name for one in scene.bodies]
        wanted = np.array([[scene.contact is not None and (one.touches is None or name in one.touches)
                            for name in names] for one in scene.bodies])
        self._meet = wanted & wanted.T

    @property
    def places(self) -> Vec:
        return np.concatenate([one.places for one in self.bodies])

    @property
    def held(self) -> tuple[HeldPlace, ...]:
        first = np.cumsum([0, *(len(one.places) for one in self.bodies)])
        return tuple(replace(one, vertex=int(start) + one.vertex) for start, body in zip(first, self.bodies)
                     for one in body.held)

    def step(self, effort: int, inputs: Inputs) -> None:
        h, iterations = self.efforts[effort].step, ITERATIONS[effort]
        for body in self.bodies:
            body.place(inputs)
        self._hold(inputs.grabs, h)
        beside = planes_between([body.layer for body in self.bodies], self._meet, h)
        for body, rows in zip(self.bodies, beside):
            try:
                body.step(h, iterations, inputs, [rows])
            except StepFailed as failure:
                self.notes.append(f"It began anew: {failure}")
                self.restarts += 1
                body.restart()

    def _hold(self, grabs: tuple[Hold, ...], h: float) -> None:
        self._owner = {hold.id: self._owner.get(hold.id, -1) for hold in grabs}
        for hold in grabs:
            if self._owner[hold.id] < 0:
                self._owner[hold.id] = int(np.argmin([body.distance(hold.start) for body in self.bodies]))
        for number, body in enumerate(self.bodies):
            body.hold([hold for hold in grabs if self._owner[hold.id] == number], h)

    def forget_past(self) -> None:
        """Nothing stands beside its states."""

    def change(self, job: Job) -> None:
        job = _by_projections(job)
        prepared = prepare_all(job, self._report, volumes_of(job, self._report))
        done: list[Callable[[], None]] = []
        try:
            for body, one in zip(self.bodies, prepared, strict=True):
                done.append(body.change(job, one))
        except Exception:
            for take_back in done:
                take_back()
            raise
        self._set_up(job)


def _is_apart(scene: Scene) -> bool:
    """Whether each body moves by itself."""
    return bool(scene.bodies) and not (scene.mechanisms or scene.forces or scene.constraints) and not any(
        one.attach or _is_joined(one) for one in scene.bodies)


def _is_joined(body: Body) -> bool:
    """Whether seams or pressure join parts of it."""
    return body.cloth is not None and bool(body.cloth.pressure or body.cloth.seams is not None)


def _by_projections(job: Job) -> Job:
    """The job with projective dynamics in place of its method, and cells in place of its mesher."""
    job = filled(job, CELLS, by_bake=False)
    bodies = [structs.replace(one, method=None, integrator=None) for one in job.scene.bodies]
    return replace(job, scene=structs.replace(job.scene, bodies=bodies, method=Choice("projective"),
                                              integrator=Choice("bdf2")))
