"""Joint coordinates from the transforms of bodies, at the start and during animation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...solver import catalogue
from ...solver.catalogue import MOTIONS, SLIDE, SPIN
from ...solver.errors import BadInput
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
    """Return the coordinates (k,) of a joint whose child has turned and moved by these in its frame.

    Raises BadInput where they cannot be read off these.
    """
    motions = _motions(kind)
    found = dict(zip(SPIN, rotation_vector(turn))) | dict(zip(SLIDE, shift))
    axes = ["xyz".index(motion[-1]) for motion in motions if motion.startswith("turn")]
    if len(axes) == 1:
        i, j = (axes[0] + 1) % 3, (axes[0] + 2) % 3
        found[f"turn_{'xyz'[axes[0]]}"] = np.arctan2(turn[j, i] - turn[i, j], turn[i, i] + turn[j, j])
    elif len(axes) == 2:
        a, b = axes
        c = 3 - a - b
        way = 1.0 if (b - a) % 3 == 1 else -1.0  # whether the third axis is the first cross the second
        found[f"turn_{'xyz'[a]}"] = np.arctan2(way * turn[c, b], turn[b, b])
        found[f"turn_{'xyz'[b]}"] = np.arctan2(way * turn[a, c], turn[a, a])
    return np.array([found[motion] for motion in motions], dtype=np.float64)


def turned(kind: str, start: Array) -> Array:
    """Return the rotation (3, 3) of coordinates, in the joint's frame. Raises BadInput as `coordinates` does."""
    found, spin = np.eye(3), np.zeros(3)
    for motion, value in zip(_motions(kind), start):
        axis = np.eye(3)["xyz".index(motion[-1])]
        if motion.startswith("turn"):
            found = found @ from_vector(value * axis)
        elif motion.startswith("spin"):
            spin += value * axis
    return found @ from_vector(spin)


def smooth(kind: str, rates: tuple[str, ...], track: Array) -> Array:
    """Coordinates over time (T, k) without the jumps of whole turns that single readings have."""
    found, motions = track.copy(), _motions(kind)
    spins = [motions.index(spin) for spin in SPIN if spin in motions]
    if spins:
        found[:, spins] = continuous(track[:, spins])
    for k, rate in enumerate(rates):
        if rate == "angle" and k not in spins:
            found[:, k] = unwrapped(track[:, k])
    return found


def _motions(kind: str) -> tuple[str, ...]:
    """Return the motion of each rate of a joint, by its entry in the catalogue. Raises BadInput where they are
    ambiguous."""
    entry = catalogue.find("joint", kind)
    turns = [motion for motion in entry.motions if motion.startswith("turn")]
    spins = [motion for motion in entry.motions if motion in SPIN]
    known = len(entry.motions) == len(entry.rates) and set(entry.motions) <= set(MOTIONS)
    # three turns one after the other, some of a rotation vector, or both together cannot be read back
    if known and len(set(entry.motions)) == len(entry.motions) and len(turns) + len(spins) in (
            (0, 1, 2) if turns else (0, 3)) and not (turns and spins):
        return entry.motions
    raise BadInput(f'joints of the kind "{entry.label}" cannot be recognized from the positions of objects',
                   "Choose another kind, or give its entry in the catalogue `motions` that can be distinguished")


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
        """Return the coordinates (k,) with the bodies at these places."""
        frame = self._in_parent if parent is None else parent @ self._in_parent
        moved: Any = np.linalg.inv(frame) @ (child @ self._in_child)
        return coordinates(self.kind, moved[:3, :3], moved[:3, 3])
