"""Joining of the states of soft bodies and of the joints that carry them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..state import CarrierMotion, State, Vec
from ..world.layout import of_another_version
from ..world.nodes_part import NodesPart
from .skeleton import Skeleton

JOINTS = "joints/"  #: prefix of the joints' memory within a step


class JoinedStates:
    """Joins the states of soft bodies and joints into one, and separates them.

    Coordinates of the soft bodies are first, then those of the joints. Within a step the integrator's history is one
    array of both, next to the memory of the soft bodies; keys of the joints' memory have a prefix.
    """

    def __init__(self, soft: NodesPart, skeleton: Skeleton, histories: Sequence[str]) -> None:
        """skeleton: the joints as carriers of attached nodes. histories: keys of the integrator's memory with as many
        values as q."""
        self._flesh, self._skeleton, self._cut = soft.coordinates, skeleton, soft.unknowns
        self._histories = histories

    def carrier_motion(self, carrier: State) -> CarrierMotion:
        """Return the motion of attached nodes in a state of the joints."""
        return self._flesh.attached.carrier_motion(self._skeleton.bodies(carrier))

    def split_state(self, state: State) -> list[State]:
        """Return the soft bodies' state, with attached nodes at their bones, and the joints' state."""
        soft, joints = self.split(state)
        flesh, bones = dict(soft.memory), dict(joints.memory)
        for key in self._histories:
            if key in flesh:
                bones[key], flesh[key] = flesh[key][self._cut :], flesh[key][: self._cut]
        joints = replace(joints, memory=bones)
        return [replace(soft, memory=flesh, carrier_motion=self.carrier_motion(joints)), joints]

    def split(self, state: State) -> tuple[State, State]:
        """Return the states of soft bodies and of joints; the integrator's history of both remains in the soft bodies'
        memory."""
        flesh = {key: value for key, value in state.memory.items() if not key.startswith(JOINTS)}
        bones = {key.removeprefix(JOINTS): value for key, value in state.memory.items() if key.startswith(JOINTS)}
        return (State(state.time, state.q[: self._cut], state.u[: self._cut], flesh),
                State(state.time, state.q[self._cut :], state.u[self._cut :], bones, tree_stage=state.tree_stage))

    def merge_states(self, states: Sequence[State]) -> State:
        """Return the joined state of soft bodies and joints, with one history. Raises BadInput where only one of them
        has a history."""
        soft, jointed = states
        flesh, bones = dict(soft.memory), dict(jointed.memory)
        for key in self._histories:
            if key in flesh or key in bones:
                if key not in bones or len(flesh[key]) != len(soft.q):
                    raise of_another_version()
                flesh[key] = np.concatenate([flesh[key], bones.pop(key)])
        memory = flesh | {JOINTS + key: value for key, value in bones.items()}
        return State(soft.time, np.concatenate([soft.q, jointed.q]), np.concatenate([soft.u, jointed.u]), memory,
                     tree_stage=jointed.tree_stage)

    def positions(self, state: State) -> Vec:
        """Return positions of all nodes in a joined state, (n, 3) [m]."""
        soft = self.split_state(state)[0]
        return self._flesh.positions(soft.q, soft.time, soft.carrier_motion)
