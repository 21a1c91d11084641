"""The bake's own solver on coarse cells: whatever a bake of the body knows, at a cost that the clock allows."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np

from ...build.volumes import volumes_of
from ...build.world import build
from ...coordinates.prescribed import OnItsWay, carried
from ...errors import BadInput, Diverged, StepFailed
from ...integrators.interface import Integrator
from ...integrators.sdirk import SSDIRK2
from ...integrators.semi_implicit import SemiImplicit
from ...job.folder import Job
from ...job.schema import step_size
from ...simulate import advance
from ...state import State, Vec
from ..filled import filled
from ..grabbing import REACH, Grabbed, around, strength_of
from ..pace import Effort
from .interface import Inputs, Report

CELLS = 300  #: in the body's box, about
LONGER = 2  #: how many times longer the longest steps are


class WorldEngine:
    """One soft body as a bake solves it: stages to the end, then linearised ones, then long steps that calm it."""

    def __init__(self, job: Job, report: Report) -> None:
        """Raises BadInput where the job has anything but one soft body, and what building its world raises."""
        self._report, self.notes, self.restarts = report, list[str](), 0
        self._held: dict[int, Grabbed] = {}
        self._carrier = np.eye(4)
        self._build(job)
        self._state = self._begin()
        self._placed = False  #: whether it has been put where the object is

    def _build(self, job: Job) -> None:
        job = filled(job, CELLS, by_bake=False)
        if len(job.scene.bodies) != 1 or job.scene.mechanisms:
            raise BadInput("only one soft body can be played live", "Select a soft body that nothing is joined to")
        built = build(job, self._report, volumes_of(job, self._report))
        part = built.soft[0].part
        self._job, self._world, self._part = job, built.world, part
        self._still = part.coordinates.where_prescribed(0.0)
        self._pins = OnItsWay(self._still)
        part.coordinates.motion = self._pins
        self._pulls = list(part.pulls)
        self._ways: list[Integrator] = [part.integrator, SSDIRK2({}), SemiImplicit({})]
        body = part.bodies_in_world[0]
        self._size, self._strength = body.size, strength_of(float(part.mass[body.nodes].sum()), body.size)
        h = step_size(job.scene.time.fps, job.scene.time.step)[1]
        self.efforts = [Effort("", h), Effort("fewer iterations", h), Effort("longer steps", LONGER * h)]

    def _begin(self) -> State:
        """The start, where the object is now."""
        state = self._world.initial_state()
        q = carried(self._carrier, state.q.reshape(-1, 3)).ravel()
        self._pins.goes(0.0, 1.0, *2 * [carried(self._carrier, self._still)])
        return replace(state, time=0.0, q=q)

    @property
    def _x(self) -> Vec:
        return self._part.coordinates.positions(self._state.q, self._state.time)

    @property
    def places(self) -> Vec:
        body = self._part.bodies_in_world[0]
        x = self._x[body.nodes]
        return x if body.embedding is None else body.embedding.apply(x)

    def step(self, effort: int, inputs: Inputs) -> None:
        h, part = self.efforts[effort].step, self._part
        self._choose(self._ways[effort])
        if not np.array_equal(part.gravity, inputs.gravity):
            part.weigh(inputs.gravity)
        self._grab(inputs)
        if not self._placed:
            self._placed, self._carrier = True, inputs.carrier
            self._state = self._begin()
        ends = carried(inputs.carrier, self._still)
        self._pins.goes(self._state.time, h, carried(self._carrier, self._still), ends)
        self._carrier = inputs.carrier
        try:
            self._state = replace(self._advanced(h, effort), time=self._state.time + h)
        except Diverged as failure:
            if effort + 1 < len(self.efforts):
                self._choose(self._ways[-1])  # the calmest, for this step
                with suppress(Diverged):
                    self._state = replace(self._advanced(h, effort + 1), time=self._state.time + h)
                    return
            self.notes.append(f"It began anew: {failure.what}")
            self.restarts += 1
            self._held.clear()
            part.pulls = self._pulls
            self._state = self._begin()

    def _choose(self, integrator: Integrator) -> None:
        """Step by this one from now on."""
        if integrator is not self._part.integrator:
            self._part.integrator = integrator
            # what hits the ground is solved where stages are, and else as linear as all the rest
            self._part.impact_solver = self._part.stage_method.impact_solver if integrator is self._ways[0] else None
            self._state = replace(self._state, memory={})

    def _advanced(self, h: float, effort: int) -> State:
        """The state after h seconds; in halves where it cannot be solved. Raises Diverged."""
        time = self._job.scene.time
        if effort:
            with suppress(StepFailed), np.errstate(over="ignore", invalid="ignore"):
                return self._world.step(self._state, h)
        return advance(self._world, self._state, h, time.start, largest=time.largest_deformation if not effort else 0.0)

    def _grab(self, inputs: Inputs) -> None:
        """Let what is pulled at follow the artist's hand."""
        held = {grab.id: grab for grab in inputs.grabs}
        gone = self._held.keys() - held.keys()
        for key in gone:
            del self._held[key]
        x = None
        for key, grab in held.items():
            if key not in self._held:
                x = self._x if x is None else x
                free = self._part.coordinates.free
                nodes, weights = around(x[free], grab.start, grab.radius or REACH * self._size)
                self._held[key] = Grabbed(free[nodes], weights, x, grab.start)
            self._held[key].follow(grab.target, grab.strength * self._strength)
        self._part.pulls = [*self._pulls, *self._held.values()]

    def change(self, job: Job) -> None:
        before = self.__dict__.copy()
        try:
            self._build(job)
        except Exception:
            self.__dict__ = before
            raise
        if len(self._state.q) != len(self._world.initial_state().q):
            self._state = self._begin()
            self._held.clear()
            return
        self._state = replace(self._state, time=0.0, memory={})
        self._pins.goes(0.0, 1.0, *2 * [carried(self._carrier, self._still)])
