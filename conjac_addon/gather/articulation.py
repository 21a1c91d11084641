"""Joint coordinates from the places of bodies: where a joint stands at the start, and where animation takes it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .bones import JointPlan
from .turns import continuous, from_vector, rotation_vector, unwrapped

Array = NDArray[np.float64]


def joint_frame(rest: Array, plan: JointPlan) -> Array:
    """Axes of a joint (3, 3) as columns, for a child whose axes at zero are the columns of `rest`.

    A joint about or along one axis has it as its Z; one about two has them as X and Y.
    """
    if len(plan.axes) == 1:
        first = plan.axes[0]
        return rest[:, [(first + 1) % 3, (first + 2) % 3, first]]
    if len(plan.axes) == 2:
        x, y = rest[:, plan.axes[0]], rest[:, plan.axes[1]]
        return np.stack([x, y, np.cross(x, y)], axis=1)
    return rest.copy()


def coordinates(kind: str, turn: Array, shift: Array) -> Array:
    """What a joint's coordinates read (k,) when its child has turned and moved by this in its frame."""
    return _READERS[kind](turn, shift)


def _angle(turn: Array) -> float:
    """About Z."""
    return float(np.arctan2(turn[1, 0] - turn[0, 1], turn[0, 0] + turn[1, 1]))


def _crossed(turn: Array) -> Array:
    """Angles about X and then Y."""
    return np.array([np.arctan2(turn[2, 1], turn[1, 1]), np.arctan2(turn[0, 2], turn[0, 0])])


_READERS = {
    "fixed": lambda turn, shift: np.empty(0),
    "revolute": lambda turn, shift: np.array([_angle(turn)]),
    "prismatic": lambda turn, shift: shift[2:].copy(),
    "universal": lambda turn, shift: _crossed(turn),
    "cylindrical": lambda turn, shift: np.array([_angle(turn), shift[2]]),
    "planar": lambda turn, shift: np.array([_angle(turn), shift[0], shift[1]]),
    "free_planar": lambda turn, shift: np.array([_angle(turn), shift[0], shift[1]]),
    "spherical": lambda turn, shift: rotation_vector(turn),
    "translational": lambda turn, shift: shift.copy(),
    "free": lambda turn, shift: np.concatenate([rotation_vector(turn), shift]),
}


def turned(kind: str, start: Array) -> Array:
    """The turn (3, 3) that coordinates stand for, in the joint's frame."""
    if kind in ("spherical", "free"):
        return from_vector(start[:3])
    if kind == "universal":
        return from_vector(np.array([start[0], 0.0, 0.0])) @ from_vector(np.array([0.0, start[1], 0.0]))
    if kind in ("revolute", "cylindrical", "planar", "free_planar"):
        return from_vector(np.array([0.0, 0.0, start[0]]))
    return np.eye(3)


def smooth(kind: str, rates: tuple[str, ...], track: Array) -> Array:
    """Coordinates over time (T, k) without the jumps of whole turns that single readings have."""
    found = track.copy()
    if kind in ("spherical", "free"):
        found[:, :3] = continuous(track[:, :3])
        return found
    for k, rate in enumerate(rates):
        if rate == "angle":
            found[:, k] = unwrapped(track[:, k])
    return found


class JointTrack:
    """One joint as its bodies move: the frame is fixed in the parent, what is left over at the start in the child.

    frame: the joint in world at the start frame, (4, 4); child and parent: the bodies there, None for the world.
    start: what the coordinates read there, (k,), or None to read them from nothing.
    """

    def __init__(self, kind: str, frame: Array, child: Array, parent: Array | None, turned: Array) -> None:
        self.kind = kind
        self._in_parent = frame if parent is None else np.linalg.inv(parent) @ frame
        # of the child: where the joint's frame would be, turned as it reads at the start
        at_start = frame.copy()
        at_start[:3, :3] = frame[:3, :3] @ turned
        self._in_child = np.linalg.inv(child) @ at_start

    def read(self, child: Array, parent: Array | None) -> Array:
        """The coordinates (k,) with the bodies at these places."""
        frame = self._in_parent if parent is None else parent @ self._in_parent
        moved: Any = np.linalg.inv(frame) @ (child @ self._in_child)
        return coordinates(self.kind, moved[:3, :3], moved[:3, 3])
