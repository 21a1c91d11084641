"""External loads on a reduced body: springs to points, contact with a floor and with planes of single points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...state import Vec


@dataclass(frozen=True)
class Grab:
    """Spring from a point of the body to a target that may move, such as a mouse."""

    row: Vec  #: Φ at the point, (p,)
    rest: Vec  #: the point at rest [m], (3,)
    prescribed: Vec  #: Ψ at the point, (4 g,)
    target: Vec  #: [m], (3,)
    stiffness: float  #: [N/m]
    damping: float = 0.0  #: of the point's speed [N s/m]

    def to(self, target: Vec) -> Grab:
        """Return the spring with another target [m], (3,)."""
        return replace(self, target=np.asarray(target, float))


@dataclass(frozen=True)
class Floor:
    """Plane with contact and friction of sampled points of the skin."""

    normal: Vec  #: unit length, out of the ground, (3,)
    offset: float  #: normal · x of the plane [m]
    stiffness: float  #: of each sampled point below the plane [N/m]
    friction: float = 0.5  #: Coulomb's coefficient


@dataclass(frozen=True)
class SkinPoints:
    """Points of the body at which contact or springs may act."""

    rows: Vec  #: Φ there, (s, p)
    prescribed: Vec  #: Ψ there, (s, 4 g)
    rest: Vec  #: [m], (s, 3)


@dataclass(frozen=True)
class PointSprings:
    """Springs from points of the body to target positions."""

    points: SkinPoints  #: (k,)
    targets: Vec  #: [m], (k, 3)
    stiffness: Vec  #: of each [N/m], (k,)


@dataclass(frozen=True)
class Planes:
    """Planes of single points of the body, each with contact and friction."""

    points: SkinPoints  #: (k,)
    normals: Vec  #: unit length, (k, 3)
    offsets: Vec  #: normal · x of each plane [m], (k,)
    stiffness: Vec  #: of each point below its plane [N/m], (k,)
    friction: Vec  #: Coulomb's coefficient of each, (k,)
    speed: Vec  #: velocity of each plane [m/s], (k, 3)

    def later(self, seconds: float) -> Planes:
        """Return the planes after a duration [s], moved by their velocities."""
        return replace(self, offsets=self.offsets + seconds * np.einsum("ij,ij->i", self.normals, self.speed))


class StageLoads:
    """Springs, floor and planes during one stage: energy, force and stiffness on the coordinates of a reduced body."""

    creep = 1.0e-3  #: speed below which friction holds back in proportion [m/s]

    def __init__(self, grabs: Sequence[Grab], floor: Floor | None, touching: SkinPoints, carrier_motion: Vec, base: Vec,
                 rate: Vec, length: float, planes: Planes | None = None, springs: Sequence[PointSprings] = ()) -> None:
        """carrier_motion: coordinates of groups of pins at the stage's end, (4 g, 3). base, rate: coordinates at the
        stage's start and predicted rates, (p, 3). length: b h, the change of positions for a unit velocity [s]."""
        self._floor, self._touching, self._base, self._length = floor, touching, base, length
        self._sprung = bool(grabs or springs)
        if self._sprung:
            each = [(grab.row[None], np.array([grab.stiffness]), np.array([grab.damping]), grab.prescribed[None],
                     (grab.rest - grab.target)[None]) for grab in grabs]
            each += [(spring.points.rows, spring.stiffness, np.zeros(len(spring.stiffness)), spring.points.prescribed,
                      spring.points.rest - spring.targets) for spring in springs]
            table = [np.concatenate(column) for column in zip(*each, strict=True)]
            self._rows, self._stiffness, drag, prescribed, away = table
            self._drag = drag / length
            self._away = away + prescribed @ carrier_motion if len(carrier_motion) else away
            self._square = (self._rows.T * (self._stiffness + self._drag)) @ self._rows
        self._planes = planes
        if planes is not None:
            of = planes.points
            rest_positions = of.rest + (of.prescribed @ carrier_motion if len(carrier_motion) else 0.0)
            self._gaps = np.einsum("ij,ij->i", rest_positions, planes.normals) - planes.offsets
            load, slide = planes.stiffness * self._inside(base), of.rows @ rate - planes.speed
            along = slide - np.einsum("ij,ij->i", slide, planes.normals)[:, None] * planes.normals
            #: friction coefficient along each plane, as that of the floor [N s/m]
            self._friction = planes.friction * load / np.maximum(np.linalg.norm(along, axis=1), self.creep)
        if floor is not None:
            self._rest_positions = touching.rest + (touching.prescribed @ carrier_motion if len(carrier_motion)
                                                    else 0.0)
            started = self._rest_positions + touching.rows @ base
            # normal forces on the floor at the stage's start, which bound friction [N]
            load = floor.stiffness * np.maximum(floor.offset - started @ floor.normal, 0.0)
            slide = touching.rows @ rate
            speed = np.linalg.norm(slide - (slide @ floor.normal)[:, None] * floor.normal, axis=1)
            #: friction as damping: Coulomb's at the predicted speed, so that one iteration suffices [N s/m]
            self._brake = floor.friction * load / np.maximum(speed, self.creep)

    def energy(self, y: Vec) -> float:
        """Return the energy of all loads [J] at coordinates y (p, 3)."""
        total = 0.0
        if self._sprung:
            away, moved = self._away + self._rows @ y, self._rows @ (y - self._base)
            total += 0.5 * float(self._stiffness @ (away**2).sum(axis=1) + self._drag @ (moved**2).sum(axis=1))
        if self._planes is not None:
            inside, slide = self._inside(y), self._slides(y)
            total += 0.5 * float(self._planes.stiffness @ inside**2)
            total += 0.5 * self._length * float(self._friction @ (slide**2).sum(axis=1))
        if self._floor is not None:
            deep, slide = self._against(y)
            total += 0.5 * self._floor.stiffness * float(deep @ deep)
            total += 0.5 * self._length * float(self._brake @ (slide**2).sum(axis=1))
        return total

    def add(self, y: Vec, force: Vec, matrix: Vec) -> None:
        """Add the force, (p, 3) [N], and −K, (p, 6, p), at coordinates y (p, 3); pairs of axes are 00, 10, 11, 20, 21,
        22."""
        if self._sprung:
            moved = self._rows @ (y - self._base)
            pull = self._stiffness[:, None] * (self._away + self._rows @ y) + self._drag[:, None] * moved
            force -= self._rows.T @ pull
            for pair in (0, 2, 5):
                matrix[:, pair] += self._square
        if self._planes is not None:
            planes, inside, slide = self._planes, self._inside(y), self._slides(y)
            rows, normals = planes.points.rows, planes.normals
            force += rows.T @ ((planes.stiffness * inside)[:, None] * normals - self._friction[:, None] * slide)
            along = self._friction / self._length
            out = np.where(inside > 0.0, planes.stiffness, 0.0) - along
            for pair, (i, k) in enumerate(((0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2))):
                matrix[:, pair] += (rows.T * (out * normals[:, i] * normals[:, k] + (i == k) * along)) @ rows
        if self._floor is not None:
            deep, slide = self._against(y)
            normal, rows = self._floor.normal, self._touching.rows
            force += rows.T @ (self._floor.stiffness * deep[:, None] * normal - self._brake[:, None] * slide)
            pressed, sliding = deep > 0.0, self._brake > 0.0
            near = (rows[pressed].T * self._floor.stiffness) @ rows[pressed]
            along = (rows[sliding].T * (self._brake[sliding] / self._length)) @ rows[sliding]
            pair = 0
            for i in range(3):
                for k in range(i + 1):
                    both = normal[i] * normal[k]
                    matrix[:, pair] += both * near + ((i == k) - both) * along
                    pair += 1

    def _inside(self, y: Vec) -> Vec:
        """Return penetration depths of points with planes of their own, (k,) [m]."""
        assert self._planes is not None
        gaps = self._gaps + np.einsum("ij,ij->i", self._planes.points.rows @ y, self._planes.normals)
        inside: Vec = np.maximum(-gaps, 0.0)
        return inside

    def _slides(self, y: Vec) -> Vec:
        """Return tangential velocities of points with planes of their own, relative to the planes, (k, 3) [m/s]."""
        assert self._planes is not None
        normals = self._planes.normals
        moved = self._planes.points.rows @ (y - self._base) / self._length - self._planes.speed
        slides: Vec = moved - np.einsum("ij,ij->i", moved, normals)[:, None] * normals
        return slides

    def _against(self, y: Vec) -> tuple[Vec, Vec]:
        """Return penetration depths into the floor, (s,) [m], and tangential velocities on it, (s, 3) [m/s]."""
        assert self._floor is not None
        normal = self._floor.normal
        positions = self._rest_positions + self._touching.rows @ y
        deep = np.maximum(self._floor.offset - positions @ normal, 0.0)
        moved = self._touching.rows @ (y - self._base) / self._length
        return deep, moved - (moved @ normal)[:, None] * normal
