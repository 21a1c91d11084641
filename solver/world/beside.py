"""Soft bodies and mechanisms in one bake, side by side: stepped in turn, and nothing of one acts on the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..errors import Diverged, StepFailed
from ..integrators.control import Controller
from ..state import State, Vec
from .mechanism import MechanismWorld
from .world import World

JOINTED = "jointed."  #: what keys of the mechanisms' memory begin with


@dataclass
class Beside:
    """Both worlds behind the face of one. Coordinates of the soft one come first."""

    soft: World
    jointed: MechanismWorld

    @property
    def bodies(self) -> list[tuple[str, int, int]]:
        return self.soft.bodies

    @property
    def mechanisms(self) -> list[dict[str, object]]:
        return self.jointed.mechanisms

    @property
    def notes(self) -> list[str]:
        return [*self.soft.notes, *self.jointed.notes,
                "Soft bodies and mechanisms are simulated side by side and do not touch each other"]

    @property
    def summary(self) -> list[str]:
        return [*self.soft.summary, *self.jointed.summary]

    @property
    def backend(self) -> str:
        return self.soft.backend

    def initial_state(self) -> State:
        """Both at the start frame. Raises Diverged."""
        return self.joined(self.soft.initial_state(), self.jointed.initial_state())

    def step(self, state: State, h: float) -> State:
        """Both after h seconds. Raises StepFailed; the old state is still good."""
        soft, jointed = self.parted(state)
        return self.joined(self.soft.step(soft, h), self.jointed.step(jointed, h))

    def parted(self, state: State) -> tuple[State, State]:
        """(of the soft bodies, of the mechanisms)."""
        m, jointed, soft = self.jointed.tree.rates, dict[str, Vec](), dict[str, Vec]()
        for key, value in state.memory.items():
            if key.startswith(JOINTED):
                jointed[key.removeprefix(JOINTED)] = value
            else:
                soft[key] = value
        cut, end = len(state.q) - m, len(state.u) - m
        return (State(state.time, state.q[:cut], state.u[:end], soft),
                State(state.time, state.q[cut:], state.u[end:], jointed))

    def joined(self, soft: State, jointed: State) -> State:
        """One state of both."""
        memory: Mapping[str, Vec] = {**soft.memory, **{JOINTED + key: value for key, value in jointed.memory.items()}}
        return State(soft.time, np.concatenate([soft.q, jointed.q]), np.concatenate([soft.u, jointed.u]), memory)

    def output(self, state: State, frame: int) -> Vec:
        """Vertices of the soft bodies in object space at this frame, (v, 3)."""
        return self.soft.output(self.parted(state)[0], frame)

    def poses(self, state: State) -> dict[str, Vec]:
        """Of the mechanisms."""
        return self.jointed.poses(self.parted(state)[1])

    def liveliness(self, state: State) -> Vec | None:
        return self.soft.liveliness(self.parted(state)[0])

    def forget_past(self) -> None:
        self.soft.forget_past()
        self.jointed.forget_past()

    def controller(self, tolerance: float, largest: int) -> Controller:
        return self.jointed.controller(tolerance, largest)

    def error(self, before: State, after: State, h: float) -> float:
        return self.soft.error(self.parted(before)[0], self.parted(after)[0], h)

    def refuse_haste(self, after: State, h: float) -> None:
        """As the mechanisms do."""
        self.jointed.refuse_haste(self.parted(after)[1], h)

    def deformation(self, before: State, after: State) -> float:
        return self.soft.deformation(self.parted(before)[0], self.parted(after)[0])

    def explain(self, failure: StepFailed, state: State, frame: int) -> Diverged:
        """The error for the artist, from the world whose body it names."""
        soft, jointed = self.parted(state)
        if failure.object is not None and failure.object in self.jointed.tree.bodies:
            return self.jointed.explain(failure, jointed, frame)
        return self.soft.explain(failure, soft, frame)
