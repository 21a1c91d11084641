"""Coordinates of rigid bodies in trees of joints: poses and motion of the bodies from the joints' q and u.

A body's frame has its origin at the centre of mass. Twists φ = [ω; ν] and wrenches [torque; force] are in the body's
frame. The coordinates of every joint are on a chart with q̇ = u; rotations of balls are charted about centres that are
in State.memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..state import Index, State, Vec
from . import tree_kernels
from .joints.interface import Charted, JointType
from .joints.rotations import product, quaternion

CENTRES = "joints.centres"  #: key of the memory: centres of all charts, one after the other


@dataclass(frozen=True)
class Batch:
    """All joints of one type in a tree."""

    kind: JointType
    bodies: Index  #: the bodies below the joints, (k,)
    entries: Index  #: indices of the joints' coordinates in q and u, (k, d)
    centres: Index  #: indices of the charts' centres in the memory's array, (k, c)
    chart: Charted | None  #: the type of joint if its charts are re-centred

    def among(self, which: Index) -> Batch:
        """Return the batch of some of these joints, by their numbers in it, (k,)."""
        return replace(self, bodies=self.bodies[which], entries=self.entries[which], centres=self.centres[which])


@dataclass
class Posture:
    """Poses and motion of the bodies at one time. Its arrays are overwritten where it is passed to `Tree.posture`
    again."""

    E: Vec  #: body → world, (n, 4, 4)
    X: Vec  #: parent's twist → its part of the body's twist, (n, 6, 6); of roots: world → body
    S: Vec  #: column of each rate in its child's body frame, (m, 6)
    twist: Vec  #: φ, (n, 6) [rad/s, m/s]
    drift: Vec  #: J̇ u, (n, 6) [rad/s², m/s²]
    joint_poses: Vec  #: pose of each joint's moving frame in its frame in the parent, Q(q), (n, 4, 4)
    subspace: Vec  #: column of each rate in the joint's moving frame, (m, 6)
    bend: Vec  #: Ṡ u in the joint's moving frame, (n, 6)
    #: all of these, those of one shape in one array, as `tree_kernels.pose_stacks` takes them
    stacks: tuple[Vec, Vec, Vec, Vec]


@dataclass(frozen=True)
class Tree:
    """A tree of bodies and joints, fixed between reshapes; `tree_build.build` returns one. Joint i is above body i."""

    parent: Index  #: (n,), parent[i] < i, −1 is the world
    dof: Index  #: (n + 1,): rates dof[i] to dof[i + 1] belong to joint i
    inertia: Vec  #: spatial inertia in the body frame, (n, 6, 6) [kg m², kg]
    in_parent: Vec  #: the joint's frame in the parent's body frame, or in the world, (n, 4, 4)
    in_child: Vec  #: the joint's moving frame in the child's body frame, (n, 4, 4)
    batches: Sequence[Batch]
    fresh: Vec  #: centres of new charts, (s,)
    start: Index  #: first entry of each joint's centre in `fresh`, (n,)
    angular: Index  #: which rates are angles, 1 or 0, (m,)
    bodies: Sequence[str] = ()  #: names, (n,)
    joints: Sequence[str] = ()  #: names, (n,)
    order: Index = field(default_factory=lambda: np.zeros(0, np.int32))  #: each body's index in the input, (n,)

    from_child: Vec = field(init=False)  #: inverse of in_child, (n, 4, 4)
    frames: Vec = field(init=False)  #: in_parent, in_child and from_child, (3, n, 4, 4)

    @property
    def count(self) -> int:
        """Return the number of bodies."""
        return len(self.parent)

    @property
    def rates(self) -> int:
        """Return the number of rates m."""
        return int(self.dof[-1])

    def __post_init__(self) -> None:
        rotation = np.swapaxes(self.in_child[:, :3, :3], 1, 2)
        back = np.tile(np.eye(4), (self.count, 1, 1))
        back[:, :3, :3] = rotation
        back[:, :3, 3:] = -rotation @ self.in_child[:, :3, 3:]
        frames = np.stack([self.in_parent, self.in_child, back])
        object.__setattr__(self, "frames", frames)
        for name, frame in zip(("in_parent", "in_child", "from_child"), frames):
            object.__setattr__(self, name, frame)

    def posture(self, q: Vec, u: Vec, centres: Vec | Mapping[str, Vec], into: Posture | None = None) -> Posture:
        """Return poses and twists of the bodies at coordinates q (m,) [rad, m] and rates u (m,) [rad/s, m/s].

        centres: (s,), or the memory of a State that has them. into: an earlier posture whose arrays are reused. [Wang
        2019]
        """
        if not isinstance(centres, np.ndarray):  # faster than a test for Mapping
            centres = centres.get(CENTRES, self.fresh)
        at = self.blank() if into is None else into
        for batch in self.batches:
            batch.kind.fill(batch.bodies, self.dof, q, u, self.start, centres, at.joint_poses, at.subspace, at.bend)
        tree_kernels.pose_stacks(self.parent, self.dof, self.frames, *at.stacks, u)
        return at

    def blank(self) -> Posture:
        """Return a posture whose arrays have the tree's shapes, to be filled."""
        n, m = self.count, self.rates
        frames, X = np.tile(np.eye(4), (2, n, 1, 1)), np.zeros((n, 6, 6))
        rows, motions = np.zeros((2, m, 6)), np.zeros((3, n, 6))
        return Posture(frames[0], X, rows[0], motions[0], motions[1], frames[1], rows[1], motions[2],
                       (frames, X, rows, motions))

    def spread(self, at: Posture, u: Vec, out: Vec | None = None) -> Vec:
        """Return the bodies' twists J u, (n, 6) or (n, 6, c) [rad/s, m/s], from rates (m,) or (m, c). out: written to
        if given."""
        return tree_kernels.spread(self.parent, self.dof, at.X, at.S, u, out)

    def gather(self, at: Posture, wrench: Vec, out: Vec | None = None, scratch: Vec | None = None) -> Vec:
        """Return the generalised forces Jᵀ w, (m,) or (m, c) [N m, N], from wrenches on the bodies, (n, 6) or
        (n, 6, c). out, scratch: written to if given."""
        return tree_kernels.gather(self.parent, self.dof, at.X, at.S, wrench, out, scratch)

    def jacobian(self, at: Posture) -> Vec:
        """Return the bodies' Jacobian J of the rates, dense, (6 n, m)."""
        return tree_kernels.jacobian(self.parent, self.dof, at.X, at.S)

    def absolute(self, q: Vec, centres: Vec | Mapping[str, Vec]) -> Vec:
        """Return coordinates on charts about the joints' own frames, (m,) [rad, m], in which rest positions, limits and
        targets are defined.

        The rotation of a ball is at most half a turn; without re-centred charts the result is q. q: (m,). centres:
        (s,), or the memory of a State that has them.
        """
        if not isinstance(centres, np.ndarray):  # faster than a test for Mapping
            centres = centres.get(CENTRES, self.fresh)
        out = q.copy()
        for batch in self.batches:
            if batch.chart is not None:
                coordinates = q[batch.entries]
                out[batch.entries] = batch.chart.carry(
                    coordinates, np.zeros_like(coordinates), centres[batch.centres], self.fresh[batch.centres])[0]
        return out

    def recentre(self, state: State, remembered_motion: Sequence[tuple[str, str]] = ()) -> State:
        """Return a state of equal motion with charts that are re-centred where a joint has rotated far from its centre.

        remembered_motion: pairs of keys of the memory with coordinates and rates at earlier times, which are
        transformed to the new charts like q and u. For use between steps. [Grassia 1998]
        """
        if not len(self.fresh):
            return state
        old = state.memory.get(CENTRES, self.fresh)
        new = old.copy()
        moved = []
        for batch in self.batches:
            if batch.chart is not None:
                far = np.flatnonzero(batch.chart.is_far(state.q[batch.entries]))
                if len(far):
                    some = batch.among(far)
                    new[some.centres] = batch.chart.recentre(state.q[some.entries], old[some.centres])
                    moved.append(some)
        if not moved:
            return state
        q, u = _carry(moved, state.q, state.u, old, new)
        memory = {**state.memory, CENTRES: new}
        for coordinate, rate in remembered_motion:
            if coordinate in memory and memory[coordinate].shape == q.shape and memory[rate].shape == u.shape:
                memory[coordinate], memory[rate] = _carry(moved, memory[coordinate], memory[rate], old, new)
        return replace(state, q=q, u=u, memory=memory)

    def centre_charts(self, state: State) -> State:
        """Return a state of equal motion with every chart centred at its joint's present rotation. For states without
        history."""
        if not len(self.fresh):
            return state
        q, u, centres = state.q.copy(), state.u.copy(), state.memory.get(CENTRES, self.fresh).copy()
        for batch in self.batches:
            if batch.chart is not None:
                batch.chart.centre_in_place(batch.entries, batch.centres, q, u, centres)
        return replace(state, q=q, u=u, memory={**state.memory, CENTRES: centres})

    def root_origin(self, state: State, root: int) -> Vec:
        """Return the origin of the moving frame of body `root`'s free joint in the world, (3,) [m]."""
        frame, first = self.in_parent[root], int(self.dof[root])
        out: Vec = frame[:3, :3] @ state.q[first + 3 : first + 6] + frame[:3, 3]
        return out

    def with_free_root(self, state: State, root: int, angle: Vec, origin: Vec) -> State:
        """Return a state in which body `root`, on a free joint, is rotated with all bodies of its tree, on a chart
        about its new orientation. Rates do not change.

        angle: rotation vector in the world, (3,) [rad]. origin: of the joint's moving frame afterwards, (3,) [m].
        """
        frame, first = self.in_parent[root], int(self.dof[root])
        q, centres = state.q.copy(), state.memory.get(CENTRES, self.fresh).copy()
        centre = slice(self.start[root], self.start[root] + 4)
        at = product(centres[None, centre], quaternion(q[None, first : first + 3]))
        centres[centre] = product(quaternion((frame[:3, :3].T @ angle)[None]), at)[0]
        centres[centre] /= np.linalg.norm(centres[centre])
        q[first : first + 3] = 0.0
        q[first + 3 : first + 6] = frame[:3, :3].T @ (origin - frame[:3, 3])
        return replace(state, q=q, memory={**state.memory, CENTRES: centres})


def _carry(batches: Sequence[Batch], q: Vec, u: Vec, old: Vec, new: Vec) -> tuple[Vec, Vec]:
    """Return coordinates and rates (m,) on the charts about the new centres (s,)."""
    q, u = q.copy(), u.copy()
    for batch in batches:
        assert batch.chart is not None
        q[batch.entries], u[batch.entries] = batch.chart.carry(
            q[batch.entries], u[batch.entries], old[batch.centres], new[batch.centres])
    return q, u
