"""Engine that runs the solver of a bake on coarse cells, with every feature of a bake."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np

from ...build.volumes import volumes_of
from ...build.world import build
from ...errors import Diverged, StepFailed
from ...job.folder import Job
from ...job.schema import Scene, step_size
from ...simulate import advance
from ...state import State, Vec
from ...world.joints_part import JointsPart
from ...world.nodes_part import NodesPart
from ..leading import leading_of
from ..pace import Effort
from ..parts import LiveJoints, LiveNodes
from .interface import GrabbedVertex, Hold, Inputs, Report, in_cells, nothing_rigid

LONGER = 2  #: how many times longer the longest steps are
LONGEST_RIGID = 1.0 / 72.0  #: of mechanisms alone [s]: they are shown sixty times a second though timers come late


class WorldEngine:
    """Live simulation of a whole job by the solver of a bake.

    Efforts: stages that converge, then linearised stages, then long semi-implicit steps, which are dissipative.
    """

    @staticmethod
    def plays(scene: Scene) -> bool:
        """Whether a scene has soft or rigid bodies."""
        return bool(scene.bodies or scene.mechanisms)

    def __init__(self, job: Job, report: Report) -> None:
        """Build the world of a job. report: receives progress. Raises a ConJacError that names the body."""
        self._report, self._notes, self.restarts = report, list[str](), 0
        #: grabbed vertex and its offset from the hand [m], (3,), by number of the hand
        self._vertices: dict[int, tuple[int, Vec]] = {}
        self._carriers: Vec | None = None  #: motion of objects in the last step, (b, 4, 4) [m]
        self._build(job)
        self._inputs = Inputs(np.array(job.scene.gravity, float))
        self._state = self._begin()

    def _build(self, job: Job) -> None:
        """Build the world of a job on coarse cells, with live parts and efforts. Raises a ConJacError that names the
        body."""
        job = in_cells(job)
        built = build(job, self._report, volumes_of(job, self._report))
        self._job, self._world = job, built.world
        numbers = {body.name: k for k, body in enumerate(job.scene.bodies)}
        obstacles, leading = [obstacle.name for obstacle in job.scene.obstacles], leading_of(job)
        self._soft = [(k, LiveNodes(part, numbers, obstacles, leading))
                      for k, part in enumerate(built.world.parts) if isinstance(part, NodesPart)]
        self._rigid = [(k, LiveJoints(part)) for k, part in enumerate(built.world.parts)
                       if isinstance(part, JointsPart)]
        #: for each body of the scene: index of its part, the part, and its index among the bodies of the part
        self._shown = [next((k, soft, n) for k, soft in self._soft for n, body in enumerate(soft.part.bodies_in_world)
                            if body.name == name) for name in numbers]
        h = step_size(job.scene.time.fps, job.scene.time.step)[1]
        self.efforts = _efforts(h, not self._soft)

    def _begin(self) -> State:
        """Return the initial state, with bodies moved to where their objects are now."""
        parts = self._world.split_state(self._world.initial_state())
        for k, soft in self._soft:
            parts[k] = soft.move_to_objects(parts[k], self._inputs)
        return replace(self._world.merge_states(parts), time=0.0)

    @property
    def positions(self) -> Vec:
        """Return the vertices of the artist's meshes in world space, concatenated by body [m], (n, 3)."""
        if not self._shown:
            return np.zeros((0, 3))
        parts, x = self._world.split_state(self._state), dict[int, Vec]()
        for k, soft, _ in self._shown:
            if k not in x:
                x[k] = soft.positions(parts[k])
        return np.concatenate([soft.vertices(x[k], number) for k, soft, number in self._shown])

    @property
    def poses(self) -> Vec:
        """Return the frames of rigid bodies in world space, concatenated by mechanism [m], (r, 4, 4)."""
        poses = self._world.poses(self._state)
        return nothing_rigid() if poses is None else poses["pose"]

    @property
    def grabbed(self) -> tuple[GrabbedVertex, ...]:
        """Return the vertices of soft bodies that were grabbed in the last step, with their targets and stiffness."""
        hands = {hold.id: hold for hold in self._inputs.grabs}
        taken = [(key, *self._vertices[key], hold.stiffness) for _, soft in self._soft
                 for key, (_, hold) in soft.holds.items() if key in hands]
        return tuple(GrabbedVertex(key, vertex, hands[key].target + away, stiffness)
                     for key, vertex, away, stiffness in taken)

    def _vertex(self, part: int, number: int, position: Vec) -> tuple[int, Vec]:
        """Return the number, among the vertices of all bodies, of the vertex of one body that is nearest to a position
        (3,) [m], and its offset from that position, (3,) [m]. part: index of the part. number: of its body."""
        parts, first = self._world.split_state(self._state), 0
        for k, soft, n in self._shown:
            own = soft.vertices(soft.positions(parts[k]), n)
            if (k, n) == (part, number):
                nearest = int(np.linalg.norm(own - position, axis=1).argmin())
                return first + nearest, own[nearest] - position
            first += len(own)
        raise AssertionError("it is a body of the scene")

    def step(self, effort: int, inputs: Inputs) -> None:
        """Advance the world by `efforts[effort].step` seconds. Where the step and its substeps diverge, one long
        dissipative step is tried; where it diverges, too, the world restarts, and `notes` reports it."""
        h = self.efforts[effort].step
        variant = effort if self._soft else 2 * effort
        if self._carriers is None:  # bodies start where their objects are
            self._inputs, self._carriers = inputs, inputs.carriers
            self._state = self._begin()
        self._choose(variant)
        self._hold(inputs.grabs, h)
        for _, soft in self._soft:
            soft.prepare(self._state.time, h, self._inputs, inputs)
        for _, rigid in self._rigid:
            rigid.prepare(inputs)
        self._inputs = inputs
        try:
            self._state = replace(self._advance(h, variant), time=self._state.time + h)
        except Diverged as failure:
            if self._soft and variant < 2:
                self._choose(2)  # the most dissipative step, once
                with suppress(Diverged):
                    self._state = replace(self._advance(h, 2), time=self._state.time + h)
                    return
            self._notes.append(f"Restarted: {failure.what}")
            self.restarts += 1
            for _, soft in self._soft:
                soft.release()
            for _, rigid in self._rigid:
                rigid.release()
            self._state = self._begin()

    def _choose(self, variant: int) -> None:
        """Select the integrator of soft bodies, as in `LiveNodes.choose`, and clear their memory where it changes."""
        changed = [soft.choose(variant) for _, soft in self._soft]
        if any(changed):
            parts = self._world.split_state(self._state)
            for k, soft in self._soft:
                parts[k] = replace(parts[k], memory={})
                if soft.part is not self._world.parts[k]:
                    self._world = self._world.with_part(k, soft.part)
            self._state = self._world.merge_states(parts, self._state)

    def _advance(self, h: float, variant: int) -> State:
        """Return the state after h seconds, in substeps where one step fails. Raises Diverged where these fail, too."""
        time = self._job.scene.time
        if variant:
            with suppress(StepFailed), np.errstate(over="ignore", invalid="ignore"):
                return self._world.step(self._state, h)
        largest = time.largest_deformation if not variant and self._soft else 0.0
        return advance(self._world, self._state, h, time.start, largest=largest)

    def _hold(self, grabs: tuple[Hold, ...], h: float) -> None:
        """Make pulled points follow the artist's hand in a step of h seconds."""
        if not (grabs or any(soft.holds for _, soft in self._soft) or any(rigid.holds for _, rigid in self._rigid)):
            return
        parts = self._world.split_state(self._state)
        x = {k: soft.positions(parts[k]) for k, soft in self._soft}
        for k, rigid in self._rigid:
            rigid.hold([hold for hold in grabs if hold.rigid >= 0], parts[k])
        owner: dict[int, int] = {}
        for hold in grabs:
            if hold.rigid < 0 and self._soft:
                holders = [k for k, soft in self._soft if hold.id in soft.holds]
                away = [(soft.distance(x[k], hold), k) for k, soft in self._soft]
                owner[hold.id] = holders[0] if holders else min(away)[1]
        for k, soft in self._soft:
            own = [hold for hold in grabs if owner.get(hold.id) == k]
            soft.hold(own, x[k], self._state.time, h)
            for hold in own:
                if hold.id not in self._vertices:
                    self._vertices[hold.id] = self._vertex(k, soft.holds[hold.id][0], hold.start)

    def take_notes(self) -> list[str]:
        """Return the sentences for the artist since the last call."""
        taken, self._notes = self._notes, []
        return taken

    def forget_past(self) -> None:
        """Discard all caches of the world; its state remains."""
        self._world.forget_past()

    def change(self, job: Job) -> None:
        """Continue from the present state with the settings of another job, or restart where the number of coordinates
        has changed. Raises a ConJacError where the world cannot be built; the engine is then unchanged."""
        before = self.__dict__.copy()
        try:
            self._build(job)
            started = self._begin()
        except Exception:
            self.__dict__ = before
            raise
        if len(self._state.q) != len(started.q):
            self._state = started
            return
        self._state = replace(self._state, time=0.0, memory={})


def _efforts(h: float, are_rigid: bool) -> list[Effort]:
    """Return the efforts of steps of h seconds, the most accurate first. are_rigid: whether nothing in the scene is
    soft."""
    if not are_rigid:
        return [Effort("", h), Effort("fewer iterations", h), Effort("longer steps", LONGER * h)]
    longer = [Effort("longer steps", min(LONGER * h, LONGEST_RIGID))] if h < LONGEST_RIGID else []
    return [Effort("", h), *longer]
