"""Contacts of rigid bodies with the ground, with static or prescribed obstacles, and with each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...constraints.rows import Rows, on_bodies
from ...coordinates.prescribed import OverTime
from ...coordinates.tree import Posture, Tree
from ...state import Index, Mask, Vec
from . import bodies_kernels, convex_kernels
from .convex import Shapes
from .ground import NOWHERE, Ground, combine_friction


@dataclass(frozen=True)
class RigidContacts:
    """A table of contacts between rigid bodies, or of a body with a static or prescribed obstacle."""

    shape: Index  #: (k, 2), −1 for the ground
    body: Index  #: (k, 2), −1 where there is none; never in the first column
    point: Vec  #: midway between both surfaces [m], (k, 3)
    normal: Vec  #: unit, from the second to the first, (k, 3)
    gap: Vec  #: [m], (k,), negative where they overlap
    friction: Vec  #: Coulomb's coefficient, (k,)
    obstacle: Vec  #: velocity of the second side's matter where it has no body [m/s], (k, 3)

    def __len__(self) -> int:
        return len(self.gap)

    def rows(self, E: Vec) -> tuple[Rows, Rows]:
        """Return k rows along the normals and 2 k rows along two tangents of each contact. E: poses of bodies,
        (n, 4, 4).

        Velocities of rows are those of the first side relative to the second; targets are velocities of obstacles
        [m/s].
        """
        k = len(self)
        wrench, target = np.empty((3 * k, 2, 6)), np.empty(3 * k)
        bodies_kernels.contact_wrenches(E, self.body, self.point, self.normal, self.obstacle, wrench, target)
        owner = np.arange(k, dtype=np.int32)
        return (on_bodies(self.body, wrench[:k], target[:k], owner),
                on_bodies(np.repeat(self.body, 2, axis=0), wrench[k:], target[k:], np.repeat(owner, 2)))

    def names(self) -> Index:
        """Return names of the contacts, (k, 3): both shapes, and the index among the contacts of these shapes."""
        row = np.arange(len(self), dtype=np.int32)
        begins = np.ones(len(self), dtype=bool)
        begins[1:] = (self.shape[1:] != self.shape[:-1]).any(axis=1)
        return np.column_stack([self.shape, row - np.maximum.accumulate(np.where(begins, row, 0))]).astype(np.int32)


@dataclass(frozen=True)
class ContactSet:
    """Contacts of rigid bodies, found once at the start of a step, as rows that are constant in all of its stages."""

    negligible_speed = 1.0e-3  #: [m/s] that bodies may have after their separation
    separation_speed = 1.0  #: [m/s] at which overlapping bodies separate, at most

    normals: Rows
    tangents: Rows
    N: Vec  #: Jacobian of the normals, (k, m)
    T: Vec  #: and of the tangents, (2 k, m)
    gap: Vec  #: between bodies where the step starts and obstacles where it ends [m], (k,)
    friction: Vec  #: Coulomb's coefficient, (k,)
    names: Index  #: both shapes, −1 for the ground, and the index among the contacts of the two, (k, 3)
    q: Vec  #: coordinates at which contacts were found, (m,)
    end: float  #: of the step [s]
    h: float  #: its length [s]

    def split_targets(self, base: Vec, time: float, dt: float) -> tuple[Vec, Vec | None]:
        """Return the least velocities N u, (k,) [m/s], at which no gap closes in a stage, for velocities and for
        positions.

        The stage ends at `time` [s] at coordinates base + dt u, base (m,), dt [s]. Overlaps at the start of the step
        separate by position corrections, at most at `separation_speed`, which do not change velocities; the second
        return value is None where both are equal. An overlap of an earlier stage's end is not corrected.
        """
        target_speed = self.normals.target
        gap = self.gap + target_speed * (self.end - time)
        separation = np.minimum(np.maximum(-self.gap - target_speed * self.h, 0.0) / self.h, self.separation_speed)
        contact_target: Vec = -(gap + self.N @ (base - self.q)) / dt
        at_rest_after = np.minimum(contact_target, target_speed + np.minimum(separation, self.negligible_speed))
        if float(separation.max(initial=0.0)) <= self.negligible_speed:
            return at_rest_after, None
        return at_rest_after, np.minimum(contact_target, target_speed + separation)


@dataclass(frozen=True)
class Colliders:
    """All colliding objects: s shapes of bodies and obstacles, and the ground."""

    nearness = 1.0e-3  #: relative to a shape's extent: nearer shapes are in contact at any speed

    shapes: Shapes
    body: Index  #: of each shape, −1 for obstacles, (s,)
    offset: Vec  #: shape's frame in its body's frame, or in the world, (s, 4, 4)
    friction: Vec  #: Coulomb's coefficient of each shape, (s,); a pair has the geometric mean
    parent: Index  #: of each body, as in the tree, (n,)
    mechanism: Index  #: of each body, (n,)
    touches_itself: Mask  #: whether the bodies of a mechanism touch each other
    excluded: Index  #: pairs of bodies that never touch, (p, 2)
    ground: Ground = NOWHERE
    #: (4, 4) poses of shapes with prescribed motion, by shape
    motion: dict[int, OverTime] = field(default_factory=dict)
    #: number in the tree of each shape, also of welded bodies, which are obstacles, (s,); `body` where left out
    link: Index | None = None

    extent: Vec = field(init=False, repr=False)  #: of each shape from its own origin [m], (s,)
    _around: Vec = field(init=False, repr=False)  #: and from that of its body, (s,)
    _movers: Index = field(init=False, repr=False)  #: shapes of bodies
    _corner_radii: Vec = field(init=False, repr=False)  #: how far shapes reach out of all their corners [m]
    _frictions: Vec = field(init=False, repr=False)  #: friction of all shapes, then of the ground, (s + 1,)
    _capacities: dict[str, int] = field(init=False, repr=False, default_factory=lambda: {"pairs": 64, "contacts": 64})

    def __post_init__(self) -> None:
        extent = self.shapes.radius.copy()
        farthest = np.zeros(len(self.shapes))
        np.maximum.at(farthest, self.shapes.whole_owner, np.linalg.norm(self.shapes.whole, axis=1))
        object.__setattr__(self, "extent", extent + farthest)
        object.__setattr__(self, "_around", self.extent + np.linalg.norm(self.offset[:, :3, 3], axis=1))
        object.__setattr__(self, "_movers", np.flatnonzero(self.body >= 0))
        object.__setattr__(self, "_corner_radii", self.shapes.radius[self.shapes.whole_owner])
        object.__setattr__(self, "_frictions", np.append(self.friction, self.ground.friction))

    def find(self, E: Vec, twist: Vec, time: float, h: float) -> RigidContacts:
        """Return the contacts at `time` [s], and those possible within h seconds.

        E: poses of bodies, (n, 4, 4). twist: angular and linear velocities, (n, 6) [rad/s, m/s].
        """
        pose = self._poses(E, time)
        shapes = self.shapes
        x = np.empty_like(shapes.points)
        convex_kernels.place_points(pose, shapes.points, shapes.owner, x)
        planes = np.empty((len(shapes.corner_start) - 1, 4))
        convex_kernels.face_planes(shapes.corner_start, shapes.corners, x, planes)
        slack = self._slack(twist, time, h)
        box = np.empty((len(shapes), 6))
        bodies_kernels.boxes_around(shapes.point_start, x, shapes.radius, slack, box)

        order = np.argsort(box[:, 0], kind="stable")
        link = self.body if self.link is None else self.link
        pairs = self._fill("pairs", lambda tables: bodies_kernels.find_overlapping_pairs(
            box, order, self.body, link, self.mechanism, self.touches_itself, self.parent, self.excluded, tables[0]),
                           2)[0]
        # the order of the broad phase depends on positions; that of contacts must not
        pairs = np.ascontiguousarray(pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))])
        shape, rows = self._fill("contacts", lambda tables: bodies_kernels.pair_contacts(
            pairs, shapes.radius, slack, (shapes.point_start, shapes.face_start, shapes.corner_start, shapes.corners,
                                          shapes.edges, shapes.edge_start, x, planes), box, tables[0], tables[1]), 2, 7)
        if self.ground.exists and len(shapes.whole) > len(x):
            x = np.empty_like(shapes.whole)
            convex_kernels.place_points(pose, shapes.whole, shapes.whole_owner, x)
        on_ground = self.ground.find(x, time, self._corner_radii, slack[shapes.whole_owner])
        if len(on_ground):
            below, more = np.empty((len(on_ground), 2), np.int32), np.empty((len(on_ground), 7))
            count = bodies_kernels.ground_contacts(on_ground.nodes, on_ground.normal, on_ground.gap,
                                                   shapes.whole_owner, self.body, shapes.radius, x, below, more)
            shape, rows = np.concatenate([below[:count], shape]), np.concatenate([more[:count], rows])
        return self._table(shape, rows, time)

    def table(self, tree: Tree, at: Posture, q: Vec, end: float, h: float) -> ContactSet:
        """Return the contacts, present or possible, of a step of h seconds that ends at `end` [s].

        at: posture of the tree at the start of the step, with coordinates q, (m,).
        """
        contacts = self.find(at.E, at.twist, end, h)
        normals, along = contacts.rows(at.E)
        return ContactSet(normals, along, normals.jacobian(tree.parent, tree.dof, at.X, at.S),
                     along.jacobian(tree.parent, tree.dof, at.X, at.S), contacts.gap, contacts.friction,
                     contacts.names(), q, end, h)

    def _fill(self, what: str, fill: Callable[[list[Any]], int], *widths: int) -> list[Any]:
        """Return the tables that a kernel fills, enlarged and filled again where they were too short."""
        while True:
            tables = [np.empty((self._capacities[what], width), dtype=np.int32 if width == 2 else float)
                      for width in widths]
            count = fill(tables)
            if count <= len(tables[0]):
                return [table[:count] for table in tables]
            self._capacities[what] = 2 * count

    def _poses(self, E: Vec, time: float) -> Vec:
        """Return the poses of all shapes at `time` [s] with bodies at E (n, 4, 4), (s, 4, 4)."""
        pose, movers = self.offset.copy(), self._movers
        pose[movers] = E[self.body[movers]] @ self.offset[movers]
        for s, motion in self.motion.items():
            pose[s] = motion.at(time) @ self.offset[s]
        return pose

    def _slack(self, twist: Vec, time: float, h: float) -> Vec:
        """Return an upper bound of each shape's displacement in h seconds, plus a margin, (s,) [m]."""
        speed = np.sqrt(np.add.reduceat(twist * twist, (0, 3), axis=1))[self.body[self._movers]]
        fast = np.zeros(len(self.body))
        fast[self._movers] = speed[:, 1] + self._around[self._movers] * speed[:, 0]
        for s, motion in self.motion.items():
            rate = motion.velocity(time)
            fast[s] = np.linalg.norm(rate[:3, 3]) + np.linalg.norm(rate[:3, :3]) * self._around[s]
        slack: Vec = self.nearness * self.extent + h * fast
        return slack

    def _table(self, shape: Index, rows: Vec, time: float) -> RigidContacts:
        """Return contacts of pairs of shapes, (k, 2), −1 for the ground, from rows of position [m], normal and gap [m],
        (k, 7), with the velocities of moving obstacles at `time` [s]."""
        first, second = shape[:, 0], shape[:, 1]
        body = np.stack([self.body[first], np.where(second >= 0, self.body[second], -1)], axis=1).astype(np.int32)
        obstacle = np.zeros((len(rows), 3))
        obstacle[second < 0] = self.ground.velocity(time)
        for s, motion in self.motion.items():
            on = second == s
            if on.any():
                rate = motion.velocity(time) @ np.linalg.inv(motion.at(time))
                obstacle[on] = rows[on, :3] @ rate[:3, :3].T + rate[:3, 3]
        return RigidContacts(shape, np.ascontiguousarray(body), np.ascontiguousarray(rows[:, :3]),
                        np.ascontiguousarray(rows[:, 3:6]), np.ascontiguousarray(rows[:, 6]),
                        combine_friction(self._frictions[first], self._frictions[second]), obstacle)
