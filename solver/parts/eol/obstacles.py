"""Obstacles of a sliding cloth: surfaces with prescribed motion, and their sharp edges and points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ...contact.find.features import Features, join_features
from ...contact.find.ground import NOWHERE, Ground
from ...contact.find.sharp import EVEN, SharpFeatures
from ...coordinates.prescribed import OverTime
from ...meshing.normals import unit_normals
from ...state import Index, Mask, Vec
from .offset_surface import is_closed


@dataclass(frozen=True)
class SmoothSurface:
    """Curved surface of an obstacle without sharp features, in contact with cloth by a barrier."""

    motion: OverTime  #: positions of its vertices, (n, 3) [m] at a time, not offset by the cloth's thickness
    triangles: Index  #: (t, 3)
    friction: float  #: its own coefficient; two surfaces in contact have the geometric mean


@dataclass(frozen=True)
class Obstacle:
    """Obstacle of a cloth, its vertices offset to where cloth of this thickness touches it."""

    name: str
    motion: OverTime  #: positions of its vertices, (n, 3) [m] at a time
    triangles: Index  #: (t, 3), outwards where it is closed; those with rows of contact
    is_closed: bool
    sharp: SharpFeatures
    friction: ArrayLike  #: on its faces, of all sheets of the cloth or of each, (s,)
    sharp_friction: ArrayLike  #: likewise, on its edges and corners
    thickness: float  #: further distance at which cloth touches it [m]
    smooth: SmoothSurface | None = None  #: surface with barrier contact; None without one


@dataclass(frozen=True)
class ObstacleMotion:
    """Motion of all obstacles, and of the ground, through one step."""

    time: float  #: start of the step [s]; any where nothing moves
    ground_velocity: Vec  #: mean of the step [m/s], (3,)
    x: Vec  #: vertices at the start, (n, 3) [m]
    velocity: Vec  #: mean of the step [m/s], (n, 3)
    features: Features  #: at the start
    smooth_x: Vec  #: vertices of smooth surfaces at the start, (o, 3) [m]
    smooth_velocity: Vec  #: mean of the step [m/s], (o, 3)


@dataclass
class FeatureObstacles:
    """All obstacles of a scene, and the ground."""

    each: Sequence[Obstacle]
    ground: Ground = NOWHERE
    above: float = 0.0  #: height over the ground at which cloth of this thickness touches it [m]
    _first: Index = field(init=False)
    _constant: ObstacleMotion | None = field(default=None, init=False)
    _sharp: ObstacleMotion | None = field(default=None, init=False)  #: where no feature moves

    def __post_init__(self) -> None:
        counts = [len(obstacle.motion.at(0.0)) for obstacle in self.each]
        self._first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)

    @property
    def count(self) -> int:
        """Return the number of vertices of all obstacles."""
        return int(self._first[-1])

    def at(self, time: float, h: float) -> ObstacleMotion:
        """Return the motion through a step of h seconds from `time` [s] on; the same object each time where nothing
        ever moves."""
        if self._constant is not None:
            return self._constant
        ground_velocity = _through(self.ground.motion, time, h)[1]
        if self._sharp is not None:
            smooth_x, smooth_velocity = self._smooth_motion(time, h)
            return replace(self._sharp, time=time, ground_velocity=ground_velocity, smooth_x=smooth_x,
                           smooth_velocity=smooth_velocity)
        x, velocity, features = [np.zeros((0, 3))], [np.zeros((0, 3))], []
        for k, obstacle in enumerate(self.each):
            start, velocity_k = _through(obstacle.motion, time, h)
            x.append(start)
            velocity.append(velocity_k)
            features.append(obstacle.sharp.at(start, velocity_k, k))
        now = ObstacleMotion(time, ground_velocity, np.concatenate(x), np.concatenate(velocity),
                             join_features(features), *self._smooth_motion(time, h))
        if not any(obstacle.motion.moves for obstacle in self.each):
            self._sharp = now
            if not (self.ground.motion.moves or any(surface.motion.moves for surface in self.smooth_surfaces)):
                self._constant = now
        return now

    def _smooth_motion(self, time: float, h: float) -> tuple[Vec, Vec]:
        """Return positions [m] and mean velocities [m/s] of all smooth surfaces, (o, 3)."""
        smooth_surfaces = [_through(surface.motion, time, h) for surface in self.smooth_surfaces]
        x, velocity = (np.concatenate([np.zeros((0, 3)), *(surface[k] for surface in smooth_surfaces)]) for k in (0, 1))
        return x, velocity

    @cached_property
    def smooth_surfaces(self) -> list[SmoothSurface]:
        """Return the smooth surfaces, in the order of the obstacles."""
        return [obstacle.smooth for obstacle in self.each if obstacle.smooth is not None]

    @cached_property
    def smooth_triangles(self) -> tuple[Index, Index]:
        """Return triangles of all smooth surfaces, (t, 3), and the number of the surface of each vertex,
        (o,)."""
        counts = [len(surface.motion.at(0.0)) for surface in self.smooth_surfaces]
        first = np.concatenate([[0], np.cumsum(counts)])
        return (np.concatenate([np.zeros((0, 3), np.int32), *(surface.triangles + start for surface, start in zip(
            self.smooth_surfaces, first))]).astype(np.int32),
                np.repeat(np.arange(len(counts)), counts).astype(np.int32))

    @cached_property
    def triangles(self) -> Index:
        """Return triangles of all obstacles, (t, 3), as numbers among all vertices."""
        whole: Index = np.concatenate([np.zeros((0, 3), np.int32), *(
            obstacle.triangles + first for obstacle, first in zip(self.each, self._first))]).astype(np.int32)
        return whole

    @cached_property
    def of_triangle(self) -> Index:
        """Return the number of each triangle's obstacle, (t,)."""
        return np.repeat(np.arange(len(self.each)),
                         [len(obstacle.triangles) for obstacle in self.each]).astype(np.int32)

    @cached_property
    def of_vertex(self) -> Index:
        """Return the number of each vertex' obstacle, (n,)."""
        return np.repeat(np.arange(len(self.each)), np.diff(self._first)).astype(np.int32)

    @cached_property
    def is_closed(self) -> Mask:
        """Return for each obstacle whether it encloses an inside, (p + 1,); False for the ground, which is the last."""
        return np.array([*(obstacle.is_closed and is_closed(obstacle.triangles) for obstacle in self.each), False],
                        dtype=bool)

    @cached_property
    def closed(self) -> Mask:
        """Return for each triangle whether its obstacle is closed, (t,)."""
        return np.array([obstacle.is_closed for obstacle in self.each], dtype=bool)[self.of_triangle]

    @cached_property
    def thickness(self) -> Vec:
        """Return the thickness at each triangle [m], (t,)."""
        return np.array([obstacle.thickness for obstacle in self.each], dtype=float)[self.of_triangle]

    @cached_property
    def friction(self) -> Vec:
        """Return coefficients of friction at each triangle, (t, 1), or of each sheet where they differ, (t, s)."""
        return _by_sheet([obstacle.friction for obstacle in self.each])[self.of_triangle]

    def friction_on(self, features: Features, on: Index) -> Vec:
        """Return coefficients of friction of features, (k, 1), or of each sheet where they differ, (k, s). on: numbers
        of the features, as in `SheetMesh.on`, (k,)."""
        owner = np.concatenate([features.point_object, features.edge_object])
        friction: Vec = _by_sheet([obstacle.sharp_friction for obstacle in self.each])[owner[on]]
        return friction

    @cached_property
    def _inner(self) -> tuple[Index, Index, Mask]:
        """Return edges between two faces as 3 t + the corner opposite, once from either side, (e,) each, and whether
        each bends."""
        ends = np.sort(self.triangles[:, [[1, 2], [2, 0], [0, 1]]].reshape(-1, 2), axis=1).astype(np.int64)
        keys = ends[:, 0] << 32 | ends[:, 1]
        order = np.argsort(keys, kind="stable")
        same = np.flatnonzero(keys[order[1:]] == keys[order[:-1]])
        first, second = order[same], order[same + 1]
        x = np.concatenate([np.zeros((0, 3)), *(obstacle.motion.at(0.0) for obstacle in self.each)])
        normal = unit_normals(x, self.triangles)
        bends = np.einsum("ei,ei->e", normal[first // 3], normal[second // 3]) < np.cos(EVEN)
        return first.astype(np.int32), second.astype(np.int32), bends

    @cached_property
    def edges(self) -> tuple[Index, Index, Mask]:
        """Return edges between two faces that bend there, (e, 2), their faces, (e, 2), and whether they are sharp,
        (e,)."""
        first, second, bends = self._inner
        first, second = first[bends], second[bends]
        ends = np.sort(self.triangles[:, [[1, 2], [2, 0], [0, 1]]].reshape(-1, 2), axis=1)[first]
        return ends.astype(np.int32), np.column_stack([first // 3, second // 3]), self.sharp.reshape(-1)[first]

    @cached_property
    def even(self) -> Mask:
        """Return whether a face continues in the same plane beyond the edge opposite to each corner of a triangle, (t,
        3)."""
        first, second, bends = self._inner
        is_even = np.zeros((len(self.triangles), 3), dtype=bool)
        is_even.ravel()[np.concatenate([first[~bends], second[~bends]])] = True
        return is_even

    @cached_property
    def feature_of_edge(self) -> Index:
        """Return the number of each of `edges` among the edges of features, (e,); −1 where it is not sharp."""
        vertices = [obstacle.sharp.vertices[obstacle.sharp.edges] + first
                    for obstacle, first in zip(self.each, self._first)]
        ends = np.sort(np.concatenate([np.zeros((0, 2), np.int64), *vertices]).astype(np.int64), axis=1)
        keys = ends[:, 0] << 32 | ends[:, 1]
        own = self.edges[0].astype(np.int64)
        own_keys = own[:, 0] << 32 | own[:, 1]
        order = np.argsort(keys, kind="stable")
        entry = np.minimum(np.searchsorted(keys[order], own_keys), max(len(keys) - 1, 0))
        if not len(keys):
            return np.full(len(own_keys), -1, np.int32)
        return np.where(keys[order][entry] == own_keys, order[entry], -1).astype(np.int32)

    @cached_property
    def corners(self) -> Index:
        """Return the vertex of each point of features, (P,); −1 for points without faces."""
        numbers = np.concatenate([np.zeros(0, np.int32), *(obstacle.sharp.vertices + first for obstacle, first in zip(
            self.each, self._first))]).astype(np.int32)
        has = np.zeros(self.count, dtype=bool)
        has[self.triangles] = True
        return np.where(has[numbers], numbers, -1).astype(np.int32)

    @cached_property
    def sharp(self) -> Mask:
        """Return whether the edge opposite to each corner of a triangle is sharp, (t, 3)."""
        marked = [np.zeros(0, np.int64)]
        for obstacle, first in zip(self.each, self._first):
            vertices = obstacle.sharp.vertices[obstacle.sharp.edges].astype(np.int64) + first
            pairs = np.sort(vertices, axis=1)
            marked.append(pairs[:, 0] << 32 | pairs[:, 1])
        ends = np.sort(self.triangles[:, [[1, 2], [2, 0], [0, 1]]], axis=2).astype(np.int64)
        return np.isin(ends[..., 0] << 32 | ends[..., 1], np.concatenate(marked))

    @cached_property
    def blunt(self) -> Index:
        """Return vertices of faces that are no points of features, (b,); their contact with cloth is like that of
        faces."""
        is_blunt = np.zeros(self.count, dtype=bool)
        is_blunt[self.triangles] = True
        for obstacle, first in zip(self.each, self._first):
            is_blunt[obstacle.sharp.vertices + first] = False
        return np.flatnonzero(is_blunt).astype(np.int32)


def of_sheets(table: Vec, sheet: Index) -> Vec:
    """Return the entries of a table, (k, s), in the columns of these sheets, (k,); a single column is for all sheets.
    """
    values: Vec = table[np.arange(len(table)), np.minimum(sheet, table.shape[1] - 1)]
    return values


def _by_sheet(columns: Sequence[ArrayLike]) -> Vec:
    """Return the values of all obstacles in one table, (p, s)."""
    if not columns:
        return np.zeros((0, 1))
    table: Vec = np.array(np.broadcast_arrays(*columns), dtype=float).reshape(len(columns), -1)
    return table


def _through(motion: OverTime, time: float, h: float) -> tuple[Vec, Vec]:
    """Return positions at the start of a step [m] and the mean velocity through it [m/s], (n, 3)."""
    start = motion.at(time)
    return start, (motion.at(time + h) - start) / h if motion.moves else np.zeros_like(start)
