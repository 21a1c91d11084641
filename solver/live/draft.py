"""Part of the world for bakes by the method Play Live: soft bodies that are stepped as in `engines.modes`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .. import catalogue
from ..build.drafts import describe_truth
from ..build.fields import Prepared
from ..build.ground import ground_of
from ..build.volumes import Stage
from ..errors import StepFailed
from ..job.folder import Job, blame
from ..state import State, Vec
from ..world.bodies import BodyInWorld
from ..world.drafts import check_memory, read_reduced_state, state_of
from ..world.interface import StepInputs, SteppedPart
from .body_contact import resolve_contact
from .drafted import DraftedBody
from .engines.interface import Inputs
from .engines.modes import ModesEngine, contact_pairs
from .engines.separate_bodies import contact_matrix
from .reduced import INTEGRATOR


class LiveDraft(SteppedPart):
    """Part of the world with all bodies of the method Play Live. Keys of its memory are `key.k` for body k."""

    def __init__(self, job: Job, prepared: Sequence[Prepared], report: Stage) -> None:
        """Build the bodies of a job. report: receives progress. Raises a ConJacError that names the body."""
        scene = job.scene
        numbers = {scene_body.name: k for k, scene_body in enumerate(scene.bodies)}
        self._bodies, self._shown = list[DraftedBody](), list[BodyInWorld]()
        own = catalogue.find("integrator", scene.integrator.kind)
        self.notes = [] if own.key == INTEGRATOR else [f"Play Live steps by BDF2, and not by {own.label}"]
        for prepared_body in prepared:
            with blame(scene, prepared_body.body, "method"):
                body = DraftedBody(job, numbers[prepared_body.body.name], prepared_body, report)
            self._bodies.append(body)
            surface, size = prepared_body.body.surface, prepared_body.volume.diagonal
            to_object = None if surface is None or surface.to_object is None else job.array(surface.to_object)
            self._shown.append(BodyInWorld(prepared_body.body.name, slice(0, len(body.positions)), size, None,
                                           to_object))
            self.notes += [f'"{prepared_body.body.name}": {note}'
                           for note in (*prepared_body.volume.notes, *prepared_body.fields.notes,
                                        describe_truth(body.body, prepared_body))]
        rows = [numbers[prepared_body.body.name] for prepared_body in prepared]
        self._pairs = contact_pairs(contact_matrix(scene)[np.ix_(rows, rows)])
        self._gravity, self._ground = np.array(scene.gravity, float), ground_of(job)
        self._start_frame = scene.time.start
        self._first = np.cumsum([0, *(body.body.size for body in self._bodies)])

    @property
    def unknowns(self) -> int:
        """Return the number of coordinates of all bodies, Σ 3 p."""
        return int(self._first[-1])

    @property
    def backend(self) -> str:
        """Return the name of the linear solver of stages: systems of reduced bodies are small and dense."""
        return "dense Cholesky"

    @property
    def bodies(self) -> list[tuple[str, int, int]]:
        """Return the name, the first vertex and the number of vertices of each body, in the order of the output."""
        first = np.cumsum([0, *(shown.vertices for shown in self._shown)]).tolist()
        return [(shown.name, start, shown.vertices) for shown, start in zip(self._shown, first)]

    @property
    def fundamental_hertz(self) -> dict[str, float]:
        """Return the lowest frequency of each body at rest [Hz], by name, as measured on the whole mesh; bodies without
        a measured frequency are left out."""
        slowest = {shown.name: body.body.truth.frequencies[:1] for shown, body in zip(self._shown, self._bodies)}
        return {name: float(hertz[0]) for name, hertz in slowest.items() if len(hertz)}

    def owns(self, name: str) -> bool:
        """Whether a body of this name is one of this part."""
        return any(name == shown.name for shown in self._shown)

    def initial_state(self) -> State:
        """Return the state of all bodies at rest, with pins at their first positions."""
        for body in self._bodies:
            body.restart()
        return self._state()

    def check(self, state: State) -> None:
        """Raise ValueError or KeyError where the memory of a state does not belong to these bodies."""
        for own, body, shown in zip(self._split_state(state), self._bodies, self._shown):
            check_memory(own, body.body, shown.name)

    def attempt(self, state: State, h: float, inputs: StepInputs) -> State:
        """Return the state after a step of h seconds: each body is stepped, then contact between them is resolved.

        inputs: not used. Raises StepFailed with the name of the body whose step failed.
        """
        live_inputs = Inputs(self._gravity, ground=self._ground_at(state.time + h))
        for own, body, shown in zip(self._split_state(state), self._bodies, self._shown):
            body.set_state(read_reduced_state(own))
            try:
                body.step(h, ModesEngine.iterations[0], live_inputs)
            except StepFailed as failure:
                raise StepFailed(str(failure), shown.name) from failure
        resolve_contact(self._bodies, self._pairs)
        return self._state()

    def output(self, state: State, frame: int) -> Vec:
        """Return vertices of the artist's meshes in object space, (n, 3) [m], rounded to single precision."""
        return np.concatenate([
            shown.output(body.displace_mesh(read_reduced_state(own)).astype(np.float32).astype(np.float64),
                         frame - self._start_frame)
            for own, body, shown in zip(self._split_state(state), self._bodies, self._shown)])

    def _ground_at(self, time: float) -> Vec | None:
        """Return a point of the ground [m] and its normal at a time [s], (2, 3); None where it does not move."""
        ground = self._ground
        return np.stack([ground.point(time), ground.normal]) if ground.exists and ground.motion.moves else None

    def _state(self) -> State:
        """Return the present states of all bodies as one state of the part."""
        states = [state_of(body.state) for body in self._bodies]
        memory = {f"{key}.{k}": value for k, state in enumerate(states) for key, value in state.memory.items()}
        return State(states[0].time, np.concatenate([state.q for state in states]),
                     np.concatenate([state.u for state in states]), memory)

    def _split_state(self, state: State) -> list[State]:
        """Return the state of each body from a state of the part."""
        memories: list[dict[str, Vec]] = [{} for _ in self._bodies]
        for name, value in state.memory.items():
            key, _, number = name.rpartition(".")
            memories[int(number)][key] = value
        return [State(state.time, state.q[start:stop], state.u[start:stop], memory)
                for start, stop, memory in zip(self._first, self._first[1:], memories)]
