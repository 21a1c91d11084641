"""Contact points inside joints: a few points fixed on the pin, ball or guide, computed once.

A row is a wrench [torque; force] about the origin of the joint's frame, in its axes: that of a unit impulse at a point
on the pin. Points are fixed to the pin, so in its body's frame rows never change. [Thesis 3.3.2]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..state import Index, Vec

COLLAR = 2.0 / 3.0  #: lever arm of friction on a collar under uniform pressure, of its radius
X, Y, Z = np.eye(3)


@dataclass(frozen=True)
class ContactPoints:
    """p points (or couples) with normal loads and t tangents with friction, in l lines.

    Tangents that the joint can only move in a fixed ratio are one line: their slip is `ratio` times that of the line at
    any rate of the joint, so one bound on their sum is equivalent to a bound on each. Other components of opposite
    points along a line cancel, since joints load them equally: a line's impulse is that of its `lead`.

    Loads of points around a ring sum to more than the force F on it: 4/π F in the mean, and the sum varies with the
    direction of F relative to the points, by 2 % for twelve and by 40 % for four. So loads are scaled to their
    resultant: a ring's friction is μ R |F| in every direction of F. A ball is scaled likewise, with 3/2 for 4/π.
    """

    normal: Vec  #: (p, 6)
    out: Vec  #: direction of the load of each point, (p, 3)
    surface: Index  #: index of the ring or ball of each point, ascending from 0, (p,)
    two_sided: Index  #: 1 for a row of contacts on both sides, 0 for a point with an opposite one, (p,)
    tangent: Vec  #: (t, 6), those of a line next to each other
    point: Index  #: index of the point whose load bounds each tangent, (t,)
    line: Index  #: index of each tangent's line, ascending from 0, (t,)
    ratio: Vec  #: (t,), positive
    lead: Vec  #: row of the slip of each line, (l, 6)
    #: the lines are the parts of one torque along X, Y and Z: tangents slip with all of them, and `line` is not used
    all_directions: bool = False

    def rotate(self, axes: Vec) -> ContactPoints:
        """Return these points with X, Y and Z along the columns of `axes`, (3, 3)."""
        whole = np.kron(np.eye(2), axes)
        return replace(self, normal=self.normal @ whole.T, tangent=self.tangent @ whole.T, lead=self.lead @ whole.T)


#: contact points of a bearing of this radius and length [m] and number of points
Shape = Callable[[float, float, int], ContactPoints]


def pin(radius: float, length: float, points: int) -> ContactPoints:
    """Return the points of a hinge along Z: two rings at the ends of a cylinder, and a collar under axial load."""
    positions, out, around = _rings(radius, length, points)
    count = len(positions)
    return _points(
        normal=[*map(_at, positions, out), _at(0 * Z, Z)], out=[*out, Z], surface=_two(count, 1), couples=1,
        tangent=[*map(_at, positions, around), _torque(COLLAR * radius * Z)], point=[*range(count + 1)],
        line=[0] * (count + 1), ratio=[1.0] * count + [COLLAR], lead=[_torque(radius * Z)])


def guide(radius: float, length: float, points: int) -> ContactPoints:
    """Return the points of a slider along Z: two rings, and a couple that prevents rotation."""
    positions, out, _ = _rings(radius, length, points)
    count = len(positions)
    return _points(
        normal=[*map(_at, positions, out), _torque(radius * Z)], out=[*out, Z], surface=_two(count, 1), couples=1,
        tangent=[*(_at(position, Z) for position in positions), _at(0 * Z, Z)], point=[*range(count + 1)],
        line=[0] * (count + 1), ratio=[1.0] * (count + 1), lead=[_at(0 * Z, Z)])


def sleeve(radius: float, length: float, points: int) -> ContactPoints:
    """Return the points of a joint that rotates about Z and slides along it: two rings."""
    positions, out, around = _rings(radius, length, points)
    count = len(positions)
    return _points(
        normal=[*map(_at, positions, out)], out=[*out], surface=_two(count, 0), couples=0,
        tangent=[*map(_at, positions, around), *(_at(position, Z) for position in positions)],
        point=[*range(count)] * 2,
        line=[0] * count + [1] * count, ratio=[1.0] * (2 * count), lead=[_torque(radius * Z), _at(0 * Z, Z)])


def ring_on_line(radius: float, length: float, points: int) -> ContactPoints:
    """Return the points of a ring around a rod along Z, which rotates about all axes and slides."""
    return sleeve(radius, 0.0, points)


def plate(radius: float, length: float, points: int) -> ContactPoints:
    """Return the points of a plate that slides and rotates in XY: a ring on its rim, without tangents in a fixed
    ratio."""
    angle = 2.0 * np.pi * np.arange(points) / points
    positions = radius * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    tangent = [_at(position, axis) for position in positions for axis in (X, Y)]
    return _points(normal=[_at(position, Z) for position in positions], out=[Z] * points, surface=[*range(points)],
                   couples=points, tangent=tangent,
                   point=[*np.repeat(range(points), 2)], line=[*range(2 * points)], ratio=[1.0] * (2 * points),
                   lead=tangent)


def ball(radius: float, length: float, points: int) -> ContactPoints:
    """Return the points of a ball: spread over a sphere in opposite pairs, two tangents each.

    The ball has three rotations, which are its lines: as many lines as tangents would repeat each bound eight times.
    """
    out = _spread(points)
    across = [np.linalg.svd(normal[None])[2][1:] for normal in out]
    tangent = [_at(radius * normal, axis) for normal, axes in zip(out, across) for axis in axes]
    made = _points(normal=[_at(0 * Z, normal) for normal in out], out=[*out], surface=[0] * len(out), couples=0,
                   tangent=tangent, point=[*np.repeat(range(len(out)), 2)], line=[0] * len(tangent),
                   ratio=[1.0] * len(tangent), lead=[_torque(radius * axis) for axis in (X, Y, Z)])
    return replace(made, all_directions=True)


def gantry(radius: float, length: float, points: int) -> ContactPoints:
    """Return the points of a joint that slides along every axis: couples that prevent rotation, at this radius."""
    tangent = [_at(0 * Z, axis) for _ in range(3) for axis in (X, Y, Z)]
    return _points(normal=[_torque(radius * axis) for axis in (X, Y, Z)], out=[X, Y, Z], surface=[0, 1, 2], couples=3,
                   tangent=[tangent[k] for k in (0, 3, 6, 1, 4, 7, 2, 5, 8)], point=[0, 1, 2] * 3,
                   line=[0, 0, 0, 1, 1, 1, 2, 2, 2], ratio=[1.0] * 9, lead=[_at(0 * Z, axis) for axis in (X, Y, Z)])


def _rings(radius: float, length: float, points: int) -> tuple[Vec, Vec, Vec]:
    """Return positions [m], outward directions and tangential directions of the points of two rings, (p, 3) each.

    The rings are rotated against each other by half a step, so that the sum of loads hardly varies with the direction
    of the force; each has opposite points in pairs.
    """
    each = 2 * ((points + 3) // 4)
    angle = 2.0 * np.pi * (np.arange(each)[None] + np.array([[0.0], [0.5]])) / each
    out = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=-1).reshape(-1, 3)
    positions = radius * out + np.repeat([[-0.5], [0.5]], each, axis=0) * length * Z
    return positions, out, np.cross(Z, out)


def _spread(points: int) -> Vec:
    """Return unit directions in opposite pairs, the twelve of an icosahedron or a spiral of at least as many, (p,
    3)."""
    half = (points + 1) // 2
    if half == 6:
        golden = (1.0 + np.sqrt(5.0)) / 2.0
        upper = np.array([(0, 1, golden), (1, golden, 0), (golden, 0, 1), (0, -1, golden), (-1, golden, 0),
                          (golden, 0, -1)]) / np.hypot(1.0, golden)
    else:
        height = (np.arange(half) + 0.5) / half
        angle = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(half)
        flat = np.sqrt(1.0 - height**2)
        upper = np.stack([flat * np.cos(angle), flat * np.sin(angle), height], axis=1)
    return np.concatenate([upper, -upper])


def _at(position: Vec, force: Vec) -> Vec:
    """Return the wrench (6,) about the origin of a force (3,) at a position (3,)."""
    return np.concatenate([np.cross(position, force), force])


def _torque(torque: Vec) -> Vec:
    """Return the wrench (6,) of a torque (3,)."""
    return np.concatenate([torque, 0 * Z])


def _two(count: int, more: int) -> list[int]:
    """Return the surfaces of two rings of `count` points in all, and of `more` rows with one surface each."""
    return [0] * (count // 2) + [1] * (count // 2) + [*range(2, 2 + more)]


def _points(normal: list[Vec], out: list[Vec], surface: list[int], couples: int, tangent: list[Vec], point: list[int],
            line: list[int], ratio: list[float], lead: list[Vec]) -> ContactPoints:
    """Return contact points from lists of rows. couples: number of the last rows that bear load in both directions."""
    both = np.zeros(len(normal), dtype=np.int32)
    both[len(normal) - couples:] = 1
    return ContactPoints(
        np.array(normal), np.array(out), np.array(surface, dtype=np.int32), both, np.array(tangent),
        np.array(point, dtype=np.int32), np.array(line, dtype=np.int32), np.array(ratio), np.array(lead))


@dataclass(frozen=True)
class Seat:
    """Position of one bearing in a joint: its shape, the side on which its points are fixed, and its axes in that
    frame."""

    shape: Shape
    on_parent: bool = False  #: points fixed in the joint's frame in the parent; else in the moving frame in the child
    axes: tuple[tuple[float, ...], ...] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))  #: columns X, Y, Z


#: an axis of the frame as the bearing's Z, (rows of the matrix whose columns are its X, Y and Z)
ALONG_X = ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
ALONG_Y = ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0))

#: bearings of each joint type and loop, by their key in the catalogue; others have no friction inside
JOINTS: dict[str, tuple[Seat, ...]] = {
    "revolute": (Seat(pin),),
    "prismatic": (Seat(guide),),
    "universal": (Seat(pin, on_parent=True, axes=ALONG_X), Seat(pin, axes=ALONG_Y)),
    "cylindrical": (Seat(sleeve),),
    "planar": (Seat(plate),),
    "spherical": (Seat(ball),),
    "translational": (Seat(gantry),),
}
LOOPS: dict[str, tuple[Seat, ...]] = {
    "ball": (Seat(ball, on_parent=True),),
    "hinge": (Seat(pin, on_parent=True),),
    "point_on_line": (Seat(ring_on_line, on_parent=True),),
}
