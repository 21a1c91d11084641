"""The lines that show rigid bodies and joints: outlines of shapes, axes that turn or slide, arcs as far as limits."""

from __future__ import annotations

from typing import Any

import numpy as np
from mathutils import Quaternion
from numpy.typing import NDArray

from ...solver import catalogue
from ..gather.bones import FREE
from ..gather.in_memory import Arrays

Array = NDArray[np.float64]

#: sides of a circle
ROUND = 24


def in_object(lines: list[Array], to_world: Any, scale: float) -> Array:
    """Return the lines' ends, (2 s, 3) in Blender units of an object: to_world (4, 4), scale [m] a unit."""
    to_object = np.linalg.inv(np.array(to_world, dtype=np.float64))
    return np.concatenate(lines) / scale @ to_object[:3, :3].T + to_object[:3, 3]


def of_mechanism(mechanism: dict[str, Any], arrays: Arrays) -> tuple[list[Array], list[Array]]:
    """Ends of the lines of its bodies, and of its joints and springs, in world [m]."""
    bodies = [line for body in mechanism["bodies"] for line in outline(body, arrays)]
    joints = [line for joint in mechanism["joints"] for line in axes(joint, mechanism)]
    joints += [np.array([spring["point_a"], spring["point_b"]]) for spring in mechanism.get("springs", [])]
    return bodies, joints


def outline(body: dict[str, Any], arrays: Arrays) -> list[Array]:
    """Ends (2 s, 3) of the lines of a body's shape, in world [m]."""
    place = placed(body)
    shape = body["shape"]
    return [ends @ place[:3, :3].T + place[:3, 3] for ends in _OUTLINES[shape["kind"]](shape.get("params", {}),
                                                                                      body, arrays)]


def _ring(radius: float, axis: int, height: float = 0.0, start: float = 0.0, turn: float = 2.0 * np.pi) -> Array:
    """Return a circle or an arc around an axis, as ends of its sides."""
    angle = start + np.linspace(0.0, turn, max(2, round(ROUND * abs(turn) / (2.0 * np.pi)) + 1))
    points = np.zeros((len(angle), 3))
    points[:, (axis + 1) % 3], points[:, (axis + 2) % 3] = radius * np.cos(angle), radius * np.sin(angle)
    points[:, axis] = height
    return np.stack([points[:-1], points[1:]], axis=1).reshape(-1, 3)


def _capsule(size: dict[str, float], body: dict[str, Any], arrays: Arrays) -> list[Array]:
    r, half = size["radius"], 0.5 * size.get("length", 0.0)
    lines = [_ring(r, 2, half), _ring(r, 2, -half)]
    for axis in (0, 1):
        upper = _ring(r, axis, 0.0, 0.0 if axis == 0 else -0.5 * np.pi, np.pi)
        lines += [upper + [0.0, 0.0, half], upper * [1.0, 1.0, -1.0] - [0.0, 0.0, half]]
    sides = np.array([[x, y, z] for x, y in ((r, 0), (-r, 0), (0, r), (0, -r)) for z in (half, -half)])
    return [*lines, sides]


def _box(size: dict[str, float], body: dict[str, Any], arrays: Arrays) -> list[Array]:
    half = 0.5 * np.array([size["size_x"], size["size_y"], size["size_z"]])
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half
    pairs = [(i, i | bit) for bit in (1, 2, 4) for i in range(8) if not i & bit]
    return [corners[np.array(pairs)].reshape(-1, 3)]


def _points(size: dict[str, float], body: dict[str, Any], arrays: Arrays) -> list[Array]:
    """Return the corners of the vertices' bounding box: the hull is not needed for the display."""
    vertices = arrays[body["vertices"]]
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    extent = dict(zip(("size_x", "size_y", "size_z"), high - low))
    return [ends + 0.5 * (low + high) for ends in _box(extent, body, arrays)]


_OUTLINES = {"capsule": _capsule, "sphere": _capsule, "box": _box, "hull": _points, "mesh": _points}


def axes(joint: dict[str, Any], mechanism: dict[str, Any]) -> list[Array]:
    """Ends (2 s, 3) of the lines that show a joint, in world [m]: its axes, and arcs as far as its limits reach."""
    place = placed(joint)
    body = next(body for body in mechanism["bodies"] if body["name"] == joint["child"])
    size = 0.25 * _size(body, mechanism)
    along = _AXES.get(joint["kind"], (0, 1, 2))
    lines = [np.array([-size * np.eye(3)[axis], size * np.eye(3)[axis]]) for axis in along]
    rates = catalogue.find("joint", joint["kind"]).rates
    if "low" in joint and set(rates) == {"angle"}:
        for axis, low, high in zip(along, joint["low"], joint["high"]):
            if low > -FREE and high < FREE:
                arc = _ring(size, axis, 0.0, low, high - low)
                lines += [arc, np.array([[0, 0, 0], arc[0], [0, 0, 0], arc[-1]])]
    return [ends @ place[:3, :3].T + place[:3, 3] for ends in lines]


#: axes of a joint's frame that turn or slide
_AXES = {"fixed": (), "revolute": (2,), "prismatic": (2,), "cylindrical": (2,), "planar": (2,), "universal": (0, 1)}


def _size(body: dict[str, Any], mechanism: dict[str, Any]) -> float:
    """Return how large [m] a body is drawn."""
    size = body["shape"].get("params", {})
    found = sum(size.values()) if size else 0.5
    return float(found)


def placed(thing: dict[str, Any]) -> Array:
    """Return the place of a body or a joint in scene.json, (4, 4) [m]."""
    matrix = np.eye(4)
    matrix[:3, :3] = np.array(Quaternion(thing["rotation"]).to_matrix())
    matrix[:3, 3] = thing["position"]
    return matrix
