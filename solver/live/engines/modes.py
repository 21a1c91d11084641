"""Bodies on their skinning eigenmodes: steps cost the same on any mesh, so they are played as they will be baked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import permutations

import numpy as np

from ...build.soft_bodies import prepare_all
from ...errors import BadInput, StepFailed
from ...job.folder import Job
from ...job.schema import Scene
from ...state import Vec
from ..filled import filled_quickly
from ..pace import Effort
from ..parting import part
from ..reduced import LiveBody
from .interface import HeldPlace, Hold, Inputs, Report, nothing_rigid

CELLS = 2000  #: inside of a body that has no tetrahedra, about
ITERATIONS = (4, 1)  #: of a stage, at best and where the clock asks for less
LONGER = 2  #: how many times longer the longest steps are


class ModesEngine:
    """Soft bodies on a few dozen coordinates each, which meet by points of their surfaces."""

    poses = nothing_rigid()

    @staticmethod
    def plays(scene: Scene) -> bool:
        """Whether there is nothing but volumes that hang on nothing."""
        return bool(scene.bodies) and not (scene.mechanisms or scene.forces or scene.constraints) and not any(
            one.cloth is not None or one.rope is not None or one.attach for one in scene.bodies)

    def __init__(self, job: Job, report: Report) -> None:
        """Raises BadInput where there is anything but soft bodies, and what their volumes and maps raise."""
        if not self.plays(job.scene):
            raise BadInput("only soft bodies can be played on skinning eigenmodes", "Play it by Coarse Cells")
        self._report, self.notes, self.restarts = report, list[str](), 0
        self._owner: dict[int, int] = {}  # which body a hand has hold of, by its number
        self._job, volumes = filled_quickly(job, CELLS, report)
        job, prepared = self._job, prepare_all(self._job, report, volumes)
        self.bodies = [LiveBody(job, k, one, report) for k, one in enumerate(prepared)]
        self._set_up(job)

    def _set_up(self, job: Job) -> None:
        h, scene = job.scene.time.step, job.scene
        self.efforts = [Effort("", h), Effort("fewer iterations", h), Effort("longer steps", LONGER * h)]
        names = [one.name for one in scene.bodies]
        others = [{*names} if one.touches is None else {*one.touches} for one in scene.bodies]
        touches = scene.contact is not None
        #: which touch each other: first the one whose points are looked for
        self._pairs = [(i, k) for i, k in permutations(range(len(names)), 2)
                       if touches and names[k] in others[i] and names[i] in others[k]]

    @property
    def places(self) -> Vec:
        return np.concatenate([one.places for one in self.bodies])

    @property
    def held(self) -> tuple[HeldPlace, ...]:
        first = np.cumsum([0, *(len(one.places) for one in self.bodies)])
        return tuple(replace(one, vertex=int(start) + one.vertex) for start, body in zip(first, self.bodies)
                     for one in body.held)

    def step(self, effort: int, inputs: Inputs) -> None:
        h, iterations = self.efforts[effort].step, ITERATIONS[min(effort, 1)]
        for number, body in enumerate(self.bodies):
            body.place(inputs.carrier(number))
        self._hold(inputs.grabs)
        for body in self.bodies:
            try:
                body.step(h, iterations, inputs)
            except StepFailed as failure:
                self.notes.append(f"It began anew: {failure}")
                self.restarts += 1
                body.restart()
        part(self.bodies, self._pairs)

    def _hold(self, grabs: tuple[Hold, ...]) -> None:
        self._owner = {hold.id: self._owner.get(hold.id, -1) for hold in grabs}
        for hold in grabs:
            if self._owner[hold.id] < 0:
                near = [float(np.linalg.norm(body.places - hold.start, axis=1).min()) for body in self.bodies]
                self._owner[hold.id] = int(np.argmin(near))
        for number, body in enumerate(self.bodies):
            body.hold([hold for hold in grabs if self._owner[hold.id] == number])

    def forget_past(self) -> None:
        """Nothing stands beside its states."""

    def change(self, job: Job) -> None:
        filled_job, volumes = filled_quickly(job, CELLS, self._report, self._job)
        prepared = prepare_all(filled_job, self._report, volumes)
        done: list[Callable[[], None]] = []
        try:
            for body, one in zip(self.bodies, prepared, strict=True):
                done.append(body.change(filled_job, one))
        except Exception:
            for take_back in done:
                take_back()
            raise
        self._set_up(job)
