"""Soft body on a subspace of skinning eigenmodes as a part of the world: a preview of a full simulation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..contact.find.ground import Ground
from ..coordinates.prescribed import OverTime
from ..errors import StepFailed
from ..forces.fibers import Fibers
from ..forces.pulls import Pull
from ..parts.modes.body import ReducedBody, ReducedState
from ..parts.modes.loads import Planes, PointSprings, SkinPoints
from ..state import State, Vec
from .bodies import BLOW_UP, BodyInWorld
from .draft_obstacles import DraftObstacles
from .interface import StepInputs, SteppedPart

PAST = ("past_y", "past_u", "past_led", "past_led_rate", "past_h")


@dataclass
class Draft(SteppedPart):
    """Part of one body on a subspace of modes. Its state has the coordinates of the subspace, its memory those of pins.

    [MFEM Alg. 1]
    """

    body: ReducedBody
    shown: BodyInWorld
    motions: Sequence[OverTime]  #: of each group of pins [m], (k, 3) at a time
    ground: Ground
    start_frame: int
    fibers: Fibers | None = None  #: muscle fibers that contract over time
    #: springs and soft pins, and the points of each
    pulls: Sequence[tuple[Pull, SkinPoints]] = ()
    obstacles: DraftObstacles | None = None  #: obstacles of its points `ReducedBody.touching`
    stiffness: float = 0.0  #: of each of these points inside an obstacle [N/m]
    notes: list[str] = field(default_factory=list)

    @property
    def unknowns(self) -> int:
        """Return the number of coordinates of the reduced body."""
        return self.body.size

    @property
    def backend(self) -> str:
        """Return the name of the linear solver, for the log."""
        return "dense Cholesky"

    @property
    def bodies(self) -> list[tuple[str, int, int]]:
        """Return the name, first vertex and number of vertices of the body, in a list of one entry."""
        return [(self.shown.name, 0, self.shown.vertices)]

    @property
    def fundamental_hertz(self) -> dict[str, float]:
        """Return the fundamental frequency of the body [Hz] by its name; empty where it has no modes."""
        frequencies = self.body.truth.frequencies
        return {self.shown.name: float(frequencies[0])} if len(frequencies) else {}

    def owns(self, name: str) -> bool:
        """Return whether the part has the body of this name."""
        return name == self.shown.name

    def initial_state(self) -> State:
        """Return the state at the start frame: at rest in the rest shape, with pins at their first positions."""
        start = self.body.rest()
        return state_of(replace(start, carrier_motion=self._carrier_motion(0.0)))

    def check(self, state: State) -> None:
        """Check the memory of a state. Raises ValueError or KeyError where it does not belong to these pins."""
        check_memory(state, self.body, self.shown.name)

    def attempt(self, state: State, h: float, inputs: StepInputs) -> State:
        """Return the state after a step of h seconds. Raises StepFailed where the body diverges."""
        ends, before = state.time + h, read_reduced_state(state)
        body, carrier_motion = self.body, self._carrier_motion(ends)
        floor = body.stepping.floor
        if floor is not None:
            floor = replace(floor, offset=float(self.ground.point(ends) @ self.ground.normal))
        if self.fibers is not None and self.fibers.activate(ends):
            body.points.contract(self.fibers.constants[:, body.points.elements])
        stepping = replace(body.stepping, floor=floor, planes=self._planes(before, carrier_motion, h))
        after = body.step(before, h, carrier_motion=carrier_motion, springs=self._springs, stepping=stepping)
        extent = float(abs(after.y).max(initial=0.0))
        if not np.isfinite(extent):
            raise StepFailed("a coordinate is not a number", self.shown.name)
        if np.ptp(body.surface(after), axis=0).max() > BLOW_UP * self.shown.size:
            raise StepFailed(f"it grew to more than {BLOW_UP:.0f} times its size", self.shown.name)
        return state_of(after)

    def output(self, state: State, frame: int) -> Vec:
        """Return the artist's vertices in object space at a frame, (v, 3) [m]."""
        return self.shown.output(self.body.positions(read_reduced_state(state)), frame - self.start_frame)

    def _planes(self, state: ReducedState, carrier_motion: Vec, h: float) -> Planes | None:
        """Return the planes for points that come near obstacles in a step. carrier_motion: at the end of the step."""
        if self.obstacles is None:
            return None
        body, points = self.body, self.body.touching
        start = body.points_of(points, state.y, state.carrier_motion)
        end = body.points_of(points, state.y + h * state.u, carrier_motion)
        contacts = self.obstacles.find_touched_planes(start, end, state.time, h)
        if contacts is None:
            return None
        some = SkinPoints(points.rows[contacts.points], points.prescribed[contacts.points],
                          points.rest[contacts.points])
        return Planes(some, contacts.normals, np.einsum("ij,ij->i", contacts.origins, contacts.normals),
                      np.full(len(contacts.points), self.stiffness), contacts.friction, contacts.velocities)

    def _springs(self, time: float) -> list[PointSprings]:
        """Return the springs and soft pins that are active at a time [s]."""
        springs = []
        for pull, points in self.pulls:
            if pull.at_work(time):
                _, stiffness, positions = pull.springs_at(time)
                springs.append(PointSprings(points, positions, stiffness))
        return springs

    def _carrier_motion(self, time: float) -> Vec:
        """Return the coordinates of all groups of pins at a time [s]."""
        return self.body.pins.lead([motion.at(time) for motion in self.motions])


def read_reduced_state(state: State) -> ReducedState:
    """Return the state of a reduced body from the state of its part. Raises KeyError where memory is missing."""
    memory, shape = state.memory, (-1, 3)
    past = None
    if PAST[0] in memory:
        y, u, carrier_motion, rate, h = (memory[name] for name in PAST)
        past = y.reshape(shape), u.reshape(shape), carrier_motion, rate, float(h[0])
    return ReducedState(state.q.reshape(shape), state.u.reshape(shape), memory["led"], memory["led_rate"], state.time,
                        past)


def state_of(reduced: ReducedState) -> State:
    """Return the state of a part from the state of its reduced body."""
    memory = {"led": reduced.carrier_motion, "led_rate": reduced.carrier_rate}
    if reduced.past is not None:
        y, u, carrier_motion, rate, h = reduced.past
        memory |= dict(zip(PAST, (y.ravel(), u.ravel(), carrier_motion, rate, np.array([h])), strict=True))
    return State(reduced.time, reduced.y.ravel(), reduced.u.ravel(), memory)


def check_memory(state: State, body: ReducedBody, name: str) -> None:
    """Check the memory of a state for a body. Raises ValueError or KeyError where shapes or names do not fit.

    name: of the body, for messages.
    """
    like = state_of(body.rest()).memory
    names = [*like, *(PAST if PAST[0] in state.memory else ())]
    shapes = {"past_y": (body.size,), "past_u": (body.size,), "past_h": (1,)}
    for key in names:
        expected = shapes.get(key, like["led"].shape)
        if state.memory[key].shape != expected or state.memory[key].dtype.kind != "f":
            raise ValueError(f'"{key}" of "{name}" has shape {state.memory[key].shape}')
