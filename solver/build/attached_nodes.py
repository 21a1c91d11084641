"""Nodes of soft bodies that are attached to bodies of mechanisms, at the start frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..coordinates.attached import Attached
from ..coordinates.free_nodes import FreeNodes
from ..coordinates.prescribed import Concatenated, Constant, OverTime, Transformed
from ..coupling.skeleton import rates_that_move
from ..state import Index, Vec
from ..world.joints_part import JointsPart
from .fields import Prepared


class AttachedCoordinates:
    """A factory of the coordinates of soft bodies that are attached to a mechanism."""

    def __init__(self, prepared: list[Prepared], rigid: JointsPart, by_body: bool,
                 skins: Sequence[tuple[int, slice]] = ()) -> None:
        """by_body: whether the mechanism needs the forces on each of its bodies. skins: surfaces of rigid bodies, each
        with the index of the body among all that are shown, and a slice of its nodes, counted from the first node after
        the soft bodies."""
        self._prepared, self._rigid, self._by_body, self._skins = prepared, rigid, by_body, skins
        self.on_joints: Index = np.zeros(0, dtype=np.int32)  #: nodes on bodies that joints move

    def coordinates(self, rest: Vec, prescribed: Index, motion: Concatenated, first: Index) -> FreeNodes:
        """Return the coordinates of all nodes, and set `on_joints`. Nodes on bodies that joints move are attached;
        nodes on other bodies are prescribed.

        rest: positions of all nodes, (n, 3) [m]. prescribed, motion: pinned nodes, (p,), and their positions over time.
        first: first node of each body, (bodies + 1,).
        """
        on = find_attached(self._prepared, first, self._rigid, rest, self._skins)
        nodes, motion = on.join_motion(rest, prescribed, motion)
        self.on_joints = on.attached.nodes
        if not len(self.on_joints):
            return FreeNodes(rest, nodes, motion.if_moving)
        tree, bodies = self._rigid.tree, on.attached.bodies
        columns = 6 * len(np.unique(bodies)) if self._by_body else len(rates_that_move(tree, bodies))
        return FreeNodes(rest, nodes, motion.if_moving, on.attached, columns)


@dataclass(frozen=True)
class AttachedNodes:
    """Attached nodes of all soft bodies."""

    attached: Attached  #: nodes on bodies that joints move
    fixed: Index  #: nodes on bodies that do not move
    prescribed: list[tuple[Index, OverTime]]  #: nodes on animated bodies, with the body's frame, (4, 4) at a time

    def join_motion(self, rest: Vec, prescribed: Index, motion: Concatenated) -> tuple[Index, Concatenated]:
        """Return the prescribed nodes and their positions over time, including nodes on bodies that no joint moves.

        rest: positions of all nodes, (n, 3) [m]. prescribed, motion: pinned nodes, (p,), and their positions over time.
        """
        nodes = np.concatenate([prescribed, self.fixed, *(nodes for nodes, _ in self.prescribed)]).astype(np.int32)
        return nodes, Concatenated([motion, Constant(rest[self.fixed]),
                                    *(Transformed(frames, rest[nodes]) for nodes, frames in self.prescribed)])


def find_attached(prepared: list[Prepared], first: Index, rigid: JointsPart, rest: Vec,
           skins: Sequence[tuple[int, slice]] = ()) -> AttachedNodes:
    """Return the nodes of soft bodies and of surfaces of rigid bodies that are attached to mechanisms.

    first: first node of each body, (bodies + 1,). rest: positions of all nodes, (n, 3) [m]. skins: see
    `AttachedCoordinates`.
    """
    body_index = {key: k for k, key in enumerate(
        (mechanism.name, body) for mechanism in rigid.mechanisms_in_world for body in mechanism.bodies)}
    state = rigid.initial_state()
    E = rigid.tree.posture(state.q, state.u, state.memory).E
    nodes: list[Index] = [np.zeros(0, dtype=np.int32)]
    bodies: list[Index] = [np.zeros(0, dtype=np.int32)]
    positions: list[Vec] = [np.zeros((0, 3))]
    fixed: list[Index] = [np.zeros(0, dtype=np.int32)]
    prescribed = []
    on = [(body_index[attach.mechanism, attach.body],
           prepared_body.fields.attached[prepared_body.fields.attached_by == k] + start)
          for prepared_body, start in zip(prepared, first) for k, attach in enumerate(prepared_body.body.attach)]
    on += [(shown, first[-1] + np.arange(of.start, of.stop)) for shown, of in skins]
    for shown, of_shown in on:
        body, own = int(rigid.shown.body[shown]), of_shown.astype(np.int32)
        if body < 0:
            prescribed.append((own, rigid.shown.obstacles[shown]))
        elif not len(rates_that_move(rigid.tree, np.array([body]))):
            fixed.append(own)
        else:
            nodes.append(own)
            bodies.append(np.full(len(own), body, dtype=np.int32))
            positions.append(rest[own])
    attached = Attached.at(np.concatenate(nodes), np.concatenate(bodies), np.concatenate(positions), E)
    return AttachedNodes(attached, np.concatenate(fixed), prescribed)
