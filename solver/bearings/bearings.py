"""Contacts inside all joints and loops of a mechanism as arrays: their loads, slips and friction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..constraints.rows_kernels import fill_jacobian
from ..rows.names import Names, row_names
from ..rows.tables import DenseRows
from ..state import Index, Vec
from .kernels import add_lines, fill_frame_maps, fill_lines, point_loads, subtract_from_parents, write_tangent_bounds
from .shapes import ContactPoints, Seat, Shape

#: kinds of rows' names, in addition to those of world/constraints.py: lines of joints and of loops, tangents and points
OF_LINES, OF_LINES_IN_LOOPS, OF_TANGENTS, OF_POINTS = range(6, 10)
SOFTENED = 1.0e-8  #: of the compliance of the pin's body alone: separates rows that are linearly dependent or driven
#: of trace(N M⁻¹ Nᵀ) over its rows: small against loads of points, large against rounding
REGULARISATION = 1.0e-9
IN_A_BOX = 2.0 / (1.0 + 3.0**0.5)  #: bounds on three parts of a torque for one on its length: within 27 % of that
TINY = float(np.finfo(float).tiny)
NO_MAPS = np.zeros((0, 6, 6))  #: wrenches are in the points' frame already


@dataclass(frozen=True)
class Bearing:
    """Definition of one bearing of a joint or loop."""

    seat: Seat
    mu: float
    radius: float  #: [m]
    length: float  #: [m]
    points: int
    index: int  #: index of the joint, by the body below it, or of the loop
    body: int  #: on which the pin's rows act: the body below the joint, or a loop's a
    other: int  #: its parent, or a loop's b; −1 for the world
    frame: Vec  #: the joint's frame in the body frame that its points are fixed in, or in the world, (4, 4)
    is_loop: bool = False

    def contacts(self) -> ContactPoints:
        """Return the contact points of the bearing in the joint's frame."""
        return self.seat.shape(self.radius, self.length, self.points).rotate(np.array(self.seat.axes))


@dataclass(frozen=True)
class Alike:
    """k bearings of one shape with p points each; rows are in the frame of the body in which the points are fixed."""

    index: Index  #: (k,)
    body: Index  #: (k,)
    other: Index  #: (k,)
    seat: Index  #: number of the bearing within its joint or loop, (k,)
    on_other: bool  #: points are fixed in `other`; else in `body`
    is_loop: bool
    normal: Vec  #: (k, p, 6)
    two_sided: Index  #: (p,)
    carry: Vec  #: from a transmitted wrench to the points' loads, (k, p, 6)
    epsilon: Vec  #: regularisation of loads, (k,) [1/kg]
    mu: Vec  #: (k, 1)
    out: Vec  #: direction of the load of each point, in the joint's frame, (p, 3)
    surface: Index  #: (p,)
    tangent: Vec  #: (k, t, 6)
    point: Index  #: (t,)
    line: Index  #: (t,)
    ratio: Vec  #: (t,)
    lead: Vec  #: (k, l, 6)
    weight: Vec  #: M⁻¹ of the body in which the points are fixed, (k, 6, 6)
    all_directions: bool = False  #: balls: their three lines are the parts of one torque

    def loads(self, wrench: Vec, index: Index | None = None, to_points: Vec | None = None) -> Vec:
        """Return the loads α of the points, (k, p) [N s], from wrenches [N m s, N s].

        wrench: (k, 6), or rows `index` (k,) of it. to_points: to the points' frame, (k, 6, 6); None for wrenches in it
        already. α = −N (NᵀN + ε M)⁻¹ f, which is −(N M⁻¹ Nᵀ + ε)⁻¹ N M⁻¹ f.
        [Thesis 3.7, changed: sign, ε relative to the trace]
        """
        alpha: Vec = np.empty(self.carry.shape[:2])
        index = np.arange(len(alpha), dtype=np.int32) if index is None else index
        point_loads(index, wrench, NO_MAPS if to_points is None else to_points, self.carry, alpha)
        return alpha

    @cached_property
    def line_names(self) -> Names:
        """Return the names of the rows along lines, (k l,)."""
        return self._names(OF_LINES_IN_LOOPS if self.is_loop else OF_LINES, self.lead)

    @cached_property
    def tangent_names(self) -> Names:
        """Return the names of the rows along tangents, (k t,)."""
        return self._names(OF_TANGENTS, self.tangent)

    @cached_property
    def point_names(self) -> Names:
        """Return the names of the points' normal rows, (k p,)."""
        return self._names(OF_POINTS, self.normal)

    @cached_property
    def tangent_epsilon(self) -> Vec:
        """Return the regularisation of friction along each tangent, (k t,) [1/kg]."""
        count = self.tangent.shape[1]
        trace = np.trace(self.tangent @ self.weight @ np.swapaxes(self.tangent, 1, 2), axis1=1, axis2=2)
        epsilon: Vec = REGULARISATION * np.repeat(trace / count, count)
        return epsilon

    def _names(self, kind: int, rows: Vec) -> Names:
        """Return the names of the rows of each bearing. rows: (k, each, 6)."""
        return row_names(kind, self.index[:, None], self.seat[:, None], np.arange(rows.shape[1])).ravel()

    def bounds(self, load: Vec) -> tuple[Vec, Vec]:
        """Return the friction bounds μ |α| of the tangents, (k, t) [N s], and of the lines, (k, l) [N s]. load: α, (k,
        p) [N s].

        Loads are scaled so that those of a surface sum to the resultant force on it. The bound of a line is the sum of
        those of its tangents. Each point of a ball slips by the ratio of the ball's rotation about a line, and the box
        of a ball's lines exceeds the cone by as much as it falls short of it.
        """
        k = len(load)
        tangents, lines = np.empty((k, len(self.point))), np.empty((k, self.lead.shape[1]))
        write_tangent_bounds(load, self.mu, self.out, self.surface, self.point, self.ratio, self.line, tangents, lines)
        if self.all_directions:
            lines = IN_A_BOX * tangents[:, ::2] @ np.sqrt(np.maximum(1.0 - self.out**2, 0.0))
        return tangents, lines


def _alike(members: Sequence[tuple[Bearing, int]], inertia: Vec) -> Alike:
    """Return a group of bearings of one shape, each with its number within its joint or loop. inertia: (n, 6, 6)."""
    bearings, seats = [bearing for bearing, _ in members], [seat for _, seat in members]
    first = bearings[0]
    contacts = [bearing.contacts() for bearing in bearings]
    motion = [_coadjoint(bearing.frame) for bearing in bearings]
    normal = np.array([c.normal @ a.T for c, a in zip(contacts, motion)])
    on_other = first.seat.on_parent
    inside = [bearing.other if on_other else bearing.body for bearing in bearings]
    mass = np.array([inertia[k] if k >= 0 else inertia[bearing.body] for k, bearing in zip(inside, bearings)])
    gram = np.swapaxes(normal, 1, 2) @ normal
    trace = np.trace(np.linalg.solve(mass, gram), axis1=1, axis2=2)
    epsilon = REGULARISATION * trace / normal.shape[1]
    inverse: Vec = np.linalg.inv(gram + epsilon[:, None, None] * mass)
    shape = contacts[0]
    return Alike(
        index=np.array([bearing.index for bearing in bearings], dtype=np.int32),
        body=np.array([bearing.body for bearing in bearings], dtype=np.int32),
        other=np.array([bearing.other for bearing in bearings], dtype=np.int32),
        seat=np.array(seats, dtype=np.int32), on_other=on_other, is_loop=first.is_loop, normal=normal,
        two_sided=shape.two_sided,
        carry=np.matmul(-normal, inverse), epsilon=epsilon,
        mu=np.array([[bearing.mu] for bearing in bearings]), out=shape.out, surface=shape.surface,
        tangent=np.array([c.tangent @ a.T for c, a in zip(contacts, motion)]),
        point=shape.point, line=shape.line,
        ratio=shape.ratio,
        lead=np.array([c.lead @ a.T for c, a in zip(contacts, motion)]), weight=np.linalg.inv(mass),
        all_directions=shape.all_directions)


def _coadjoint(frame: Vec) -> Vec:
    """Return the matrices (…, 6, 6) from wrenches in frames (…, 4, 4) of bodies to wrenches in the bodies' own
    frames."""
    rotation, origin = frame[..., :3, :3], frame[..., :3, 3]
    out = np.zeros((*frame.shape[:-2], 6, 6))
    out[..., :3, :3] = out[..., 3:, 3:] = rotation
    out[..., :3, 3:] = np.cross(origin[..., None, :], rotation, axisb=-2, axisc=-2)
    return out


class Bearings:
    """All bearings of a mechanism, constant between reshapes. Lines and tangents are numbered group by group."""

    def __init__(self, bearings: Sequence[Bearing], inertia: Vec, in_child: Vec) -> None:
        """inertia: of the bodies, (n, 6, 6). in_child: the joints' moving frames in the bodies, (n, 4, 4)."""
        alike: dict[tuple[Shape, bool, bool, int], list[tuple[Bearing, int]]] = {}
        seats = Counter[tuple[bool, int]]()
        for bearing in bearings:
            count, key = len(bearing.contacts().normal), (bearing.is_loop, bearing.index)
            alike.setdefault((bearing.seat.shape, bearing.seat.on_parent, bearing.is_loop, count),
                             []).append((bearing, seats[key]))
            seats[key] += 1
        self.groups = [_alike(members, inertia) for members in alike.values()]
        self.lines = sum(group.lead.shape[0] * group.lead.shape[1] for group in self.groups)
        self.tangents = sum(group.tangent.shape[0] * group.tangent.shape[1] for group in self.groups)
        #: compliance of a line by the pin's own body alone, (r,) [1/kg]: a scale that no other constraint changes
        self.slack: Vec = np.concatenate([np.zeros(0)] + [
            np.einsum("kla,kab,klb->kl", group.lead, group.weight, group.lead).ravel() for group in self.groups])
        self.compliance: Vec = SOFTENED * self.slack  #: of rows along lines, (r,) [1/kg]
        self.unloaded: Vec = np.zeros(self.lines)  #: targets of these rows, and their bounds without loads, (r,)
        self.name: Names = np.concatenate([np.zeros(0, np.int64)] + [
            group.line_names for group in self.groups])  #: of these rows, (r,)
        self.weight: Vec = np.linalg.inv(inertia)  #: M⁻¹, (n, 6, 6)
        #: wrenches in the moving frame of the joint above each body → in the body's, (n, 6, 6)
        self.at_joint = _coadjoint(in_child)

    def __len__(self) -> int:
        return sum(len(group.index) for group in self.groups)

    def rows(self, G: Vec) -> DenseRows:
        """Return a table of the slips of all lines, whose multipliers are bounded by 0 until there are loads.

        G: slip of each line from the rates, (r, m).
        """
        return DenseRows(self.unloaded, self.unloaded, self.unloaded, self.compliance, self.name, G)

    def split(self, flat: Vec) -> list[Vec]:
        """Return a flat array over all lines, (r,), as one array (k, l) for each group."""
        parts, start = [], 0
        for group in self.groups:
            k, each = group.lead.shape[:2]
            parts.append(flat[start:start + k * each].reshape(k, each))
            start += k * each
        return parts


class BearingContacts:
    """Contacts of bearings at one posture of the tree."""

    def __init__(self, bearings: Bearings, parent: Index, dof: Index, E: Vec, X: Vec, S: Vec) -> None:
        """parent (n,), dof (n + 1,), E (n, 4, 4), X (n, 6, 6), S (m, 6): of the tree and its posture."""
        self.bearings, self.count = bearings, len(parent)
        self._parent, self._X = parent, X
        #: from twists of `body` to the points' frame, (k, 6, 6), per group; None: they are in that frame already
        self.twist_maps: list[Vec | None] = []
        self._wrench_maps: list[Vec | None] = []  #: the same for wrenches
        for group in bearings.groups:
            twist_map, wrench_map = np.empty((2, len(group.body), 6, 6)) if group.on_other else (None, None)
            if twist_map is not None:
                fill_frame_maps(E, group.body, group.other, twist_map, wrench_map)
            self.twist_maps.append(twist_map)
            self._wrench_maps.append(wrench_map)
        #: leads in the frames of `body`, (k, l, 6), per group
        self.leads = [group.lead if twist_map is None else np.ascontiguousarray(group.lead @ twist_map)
                      for group, twist_map in zip(bearings.groups, self.twist_maps)]
        G = np.zeros((bearings.lines, len(S)))
        self.rows = bearings.rows(G)  #: friction along the lines
        start = 0
        for group, lead in zip(bearings.groups, self.leads):
            end = start + lead.shape[0] * lead.shape[1]
            rows = G[start:end]
            if group.is_loop:
                self._fill_loop_rows(group, lead, parent, dof, X, S, rows)
            else:
                fill_lines(dof, S, group.body, lead, rows)
            start = end

    def _fill_loop_rows(self, group: Alike, lead: Vec, parent: Index, dof: Index, X: Vec, S: Vec, rows: Vec) -> None:
        """Write the slips along lines of bearings in loops by rates, (k l, m). lead: in the frames of `body`, (k, l,
        6). parent, dof, X, S: of the tree and its posture."""
        each = lead.shape[1]
        body = np.repeat(np.stack([group.body, group.other], axis=1), each, axis=0).astype(np.int32)
        wrench = np.stack([lead, -group.lead], axis=2).reshape(-1, 2, 6)
        none = np.full(len(body), -1, dtype=np.int32)
        fill_jacobian(parent, dof, X, S, body, np.ascontiguousarray(wrench), none, np.zeros(len(body)), rows)

    def loads(self, transmitted: Vec, in_loops: Vec | None) -> list[Vec]:
        """Return the loads α of all points, (k, p) [N s] for each group.

        transmitted: impulses that joints transmit, (n, 6). in_loops: those that loops transmit, (l, 6), None without
        loops. Both are in the frames of `body`.
        """
        out = []
        for group, wrench_map in zip(self.bearings.groups, self._wrench_maps):
            wrench = in_loops if group.is_loop else transmitted
            assert wrench is not None
            out.append(group.loads(wrench, group.index, wrench_map))
        return out

    def bounds(self, loads: Sequence[Vec]) -> Vec:
        """Return the friction bounds of all lines, the sums of μ |α| of their tangents, (r,) [N s]. loads: α of each
        group."""
        return np.concatenate([group.bounds(load)[1].ravel() for group, load in zip(self.bearings.groups, loads)])

    def wrenches(self, along: Vec) -> tuple[Vec, Vec | None]:
        """Return the wrenches of impulses along lines, (r,) [N s], on bodies.

        The first, (n, 6), are on the bodies below joints, without their opposites on the parents; the second, (n, 6),
        on all bodies in loops, with their opposites, or None where no loop has friction.
        """
        joints, loops = np.zeros((self.count, 6)), None
        for group, lead, impulses in zip(self.bearings.groups, self.leads, self.bearings.split(along)):
            if not group.is_loop:
                add_lines(group.index, impulses, lead, 1.0, joints)
                continue
            loops = np.zeros((self.count, 6)) if loops is None else loops
            add_lines(group.body, impulses, lead, 1.0, loops)
            add_lines(group.other, impulses, group.lead, -1.0, loops)
        return joints, loops

    def add_opposites(self, wrench: Vec) -> Vec:
        """Return wrenches (n, 6) on the bodies below joints together with their opposites on the parents, (n, 6)."""
        out: Vec = wrench.copy()
        subtract_from_parents(self._parent, self._X, wrench, out)
        return out
