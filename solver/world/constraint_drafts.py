"""Soft body, cloth or rope on constraints as a part of the world, by projective dynamics or XPBD."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from ..contact.find.ground import Ground
from ..coordinates.prescribed import OverTime
from ..errors import StepFailed
from ..forces.cloth.air import Air
from ..forces.cloth.air_kernels import implicit_drag
from ..forces.pulls import Pull
from ..forces.stencils import StencilForce
from ..parts.projective.body import DEFAULT, NOTHING, ProjectiveState, StepSettings, TargetRows, Touching
from ..state import Index, State, Vec
from .bodies import BLOW_UP, BodyInWorld
from .draft_obstacles import NEAR as NEAR
from .draft_obstacles import DraftObstacles
from .interface import StepInputs, SteppedPart

FIRM = 4.0  #: stiffness of the ground, relative to the resistance of a node in a step
PAST = ("past_x", "past_v", "past_h")


class SteppedBody(Protocol):
    """Protocol of a body with its own time step: of projective dynamics or XPBD."""

    rest: Vec
    mass: Vec
    prescribed: Index

    def initial_state(self) -> ProjectiveState:
        """Return the state at the start: at rest in the rest shape."""

    def diagonal(self, h: float) -> Vec:
        """Return the diagonal of the matrix of a step of h seconds, (n,) [N/m]: a scale for the weights of contacts."""

    def step(self, state: ProjectiveState, h: float, force: Vec | None = None, points: TargetRows | None = None,
             positions: Vec | None = None, touching: Touching | None = None, settings: StepSettings = DEFAULT
             ) -> ProjectiveState:
        """Return the state after h seconds. Raises StepFailed where a position is not finite.

        force: in addition to gravity, (n, 3) [N]. points: springs and contacts of single nodes. positions: of
        prescribed nodes at the end, (p, 3) [m]; None: unchanged. touching: returns further contacts from positions
        without constraints and those at the start, (n, 3) [m] each. settings: gravity and iterations of this step.
        """


@dataclass
class ConstraintDraft(SteppedPart):
    """Part of one body that is stepped by projective dynamics or XPBD.

    The state has positions and velocities of all nodes, and for BDF2 those of the previous step in its memory.
    """

    body: SteppedBody
    shown: BodyInWorld
    motion: OverTime  #: of prescribed nodes [m], (p, 3) at a time
    ground: Ground
    start_frame: int
    method: str  #: label for the log
    pulls: Sequence[Pull] = ()  #: springs on nodes, among them soft pins
    air: tuple[Air, OverTime] | None = None  #: law of drag and position of the node of the air [m], (1, 3) at a time
    half_life: float = 0.0  #: of wobbles [s]; 0: none is taken
    #: obstacles, and the nodes of its surface that touch these, ascending, (p,)
    touches: tuple[DraftObstacles, Index] | None = None
    notes: list[str] = field(default_factory=list)
    pressures: Sequence[StencilForce] = ()  #: internal pressure, evaluated at the start of each step

    @property
    def unknowns(self) -> int:
        """Return the number of coordinates of all nodes, 3 n."""
        return 3 * len(self.body.rest)

    @property
    def backend(self) -> str:
        """Return the label of the method, for the log."""
        return self.method

    @property
    def bodies(self) -> list[tuple[str, int, int]]:
        """Return the name, first vertex and number of vertices of the body, in a list of one entry."""
        return [(self.shown.name, 0, self.shown.vertices)]

    def owns(self, name: str) -> bool:
        """Return whether the part has the body of this name."""
        return name == self.shown.name

    def initial_state(self) -> State:
        """Return the state at the start frame: at rest, with prescribed nodes at their first positions."""
        start = self.body.initial_state()
        start.x[self.body.prescribed] = self.motion.at(0.0)
        return self._state(start)

    def check(self, state: State) -> None:
        """Check the memory of a state. Raises ValueError or KeyError where it does not belong to these nodes."""
        for name in PAST if PAST[0] in state.memory else ():
            expected = (1,) if name == "past_h" else (self.unknowns,)
            if state.memory[name].shape != expected or state.memory[name].dtype.kind != "f":
                raise ValueError(f'"{name}" of "{self.shown.name}" has shape {state.memory[name].shape}')

    def attempt(self, state: State, h: float, inputs: StepInputs) -> State:
        """Return the state after a step of h seconds. Raises StepFailed where the body diverges."""
        return self.step_among(state, h, self.ground, NOTHING)

    def step_among(self, state: State, h: float, ground: Ground, rows: TargetRows, settings: StepSettings = DEFAULT
                   ) -> State:
        """Return the state after a step of h seconds on a ground, with further springs and half-spaces of nodes.
        settings: gravity and iterations of this step. Raises StepFailed where the body diverges."""
        ends, before = state.time + h, self._read_state(state)
        targets = [TargetRows.springs(*pull.springs_at(ends)) for pull in self.pulls if pull.at_work(ends)]
        targets += [rows, *self._on_obstacles(before, h)]
        touching = self._on_ground(ground, ends, h) if ground.exists else None
        after = self.body.step(before, h, self._force(before, h), TargetRows.join(targets),
                               self.motion.at(ends), touching, settings)
        extent = np.ptp(after.x, axis=0).max()
        if not np.isfinite(extent):
            raise StepFailed("a position is not a number", self.shown.name)
        if extent > BLOW_UP * self.shown.size:
            raise StepFailed(f"it grew to more than {BLOW_UP:.0f} times its size", self.shown.name)
        return self._state(self._with_half_life(after, h))

    def _on_obstacles(self, state: ProjectiveState, h: float) -> list[TargetRows]:
        """Return half-spaces for the nodes that come near obstacles in a step of h seconds, empty if none do."""
        if self.touches is None:
            return []
        obstacles, nodes = self.touches
        start = state.x[nodes]
        contacts = obstacles.find_touched_planes(start, start + h * state.v[nodes], state.time, h)
        if contacts is None:
            return []
        touching = nodes[contacts.points]
        stiffness = FIRM * self.body.diagonal(h)[touching]
        return [TargetRows.touching(touching, stiffness, contacts.origins, contacts.normals, contacts.friction,
                                    contacts.velocities)]

    def _on_ground(self, ground: Ground, time: float, h: float) -> Touching:
        """Return the function that finds the half-spaces of nodes on or near the ground."""
        stiffness = FIRM * self.body.diagonal(h)
        point = ground.point(time)

        def touching(x: Vec, start: Vec) -> TargetRows:
            near = np.flatnonzero((x - point) @ ground.normal < NEAR * self.shown.size)
            near = np.setdiff1d(near, self.body.prescribed)
            return TargetRows.touching(near, stiffness[near], point, ground.normal, ground.friction)

        return touching

    def _force(self, state: ProjectiveState, h: float) -> Vec | None:
        """Return forces of drag, −(1 + h C/m)⁻¹ C (v − w), and of pressure on nodes, (n, 3) [N]; None without either.

        Drag is implicit in v, with the velocity w of the air.
        """
        if self.air is None and not self.pressures:
            return None
        out = np.zeros_like(state.x)
        if self.air is not None:
            law, motion = self.air
            wind = motion.velocity(state.time)
            table = law.damp(np.concatenate([state.x, motion.at(state.time)]), np.concatenate([state.v, wind]),
                             state.time)
            implicit_drag(table.nodes, table.blocks, self.body.mass, state.v, wind, h, out)
        for pressure in self.pressures:
            pressure.measure(state.x, state.time).add_forces(out)
        return out

    def _with_half_life(self, state: ProjectiveState, h: float) -> ProjectiveState:
        """Return the state after half-life damping for h seconds, v ← v exp(−2 ln 2 h/T).

        The rigid motion of a body without prescribed nodes is not damped. An oscillation loses half of what its
        velocity does.
        """
        if not self.half_life:
            return state
        whole = np.zeros_like(state.v) if len(self.body.prescribed) else _fit_rigid_velocities(state, self.body.mass)
        left = 2.0 ** (-2.0 * h / self.half_life)
        return ProjectiveState(state.x, whole + left * (state.v - whole), state.time, state.past)

    def output(self, state: State, frame: int) -> Vec:
        """Return the artist's vertices in object space at a frame, (v, 3) [m]."""
        return self.shown.output(state.q.reshape(-1, 3), frame - self.start_frame)

    @staticmethod
    def _read_state(state: State) -> ProjectiveState:
        past = None
        if PAST[0] in state.memory:
            x, v, h = (state.memory[name] for name in PAST)
            past = x.reshape(-1, 3), v.reshape(-1, 3), float(h[0])
        return ProjectiveState(state.q.reshape(-1, 3), state.u.reshape(-1, 3), state.time, past)

    @staticmethod
    def _state(state: ProjectiveState) -> State:
        memory = {}
        if state.past is not None:
            x, v, h = state.past
            memory = dict(zip(PAST, (x.ravel(), v.ravel(), np.array([h])), strict=True))
        return State(state.time, state.x.ravel(), state.v.ravel(), memory)


def _fit_rigid_velocities(state: ProjectiveState, mass: Vec) -> Vec:
    """Return the velocities of the rigid motion with the momentum and angular momentum of a state, (n, 3) [m/s]."""
    total = mass.sum()
    centre, mean = mass @ state.x / total, mass @ state.v / total
    away = state.x - centre
    moments_of_mass = (mass[:, None] * away).T
    moments, spread = moments_of_mass @ (state.v - mean), moments_of_mass @ away
    spin = np.array([moments[1, 2] - moments[2, 1], moments[2, 0] - moments[0, 2], moments[0, 1] - moments[1, 0]])
    x, y, z = np.linalg.lstsq(np.trace(spread) * np.eye(3) - spread, spin, rcond=1.0e-9)[0].tolist()
    velocities: Vec = mean + away @ np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]])
    return velocities
