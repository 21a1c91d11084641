"""Rotations as scene.json wants them: quaternions (w, x, y, z) and rotation vectors, from matrices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: numbers from here on [m, rad, and without unit] are no place to be
FARTHEST = 1.0e30

#: below this angle [rad] a rotation is taken to first order
SMALL = 1.0e-8


def split(matrix: Array) -> tuple[Array, Array]:
    """Rotation (3, 3) and scale (3,) of a matrix (4, 4) or (3, 3). Its Y axis stays on its line, as a bone's does.

    Of a matrix that mirrors all three scales are negative, as Blender itself takes it apart: angles about the axes then
    count as they do without the mirror. Raises ValueError where an axis has no length, or a number is none.
    """
    columns = matrix[:3, :3]
    if not np.abs(matrix).max() < FARTHEST:
        raise ValueError("it is not a number or too far away")
    scale = np.linalg.norm(columns, axis=0) * (-1.0 if np.linalg.det(columns) < 0.0 else 1.0)
    if not scale.all():
        raise ValueError("it has no size")
    along, third = columns[:, 1] / scale[1], columns[:, 2] / scale[2]
    side = _cross(along, third)
    length = np.linalg.norm(side)
    if not length > 1.0e-9:
        raise ValueError("it is flat")
    side = side / length
    return np.stack([side, along, _cross(side, along)], axis=1), scale


def _cross(a: Array, b: Array) -> Array:
    """Return the cross product of two vectors (3,), in a tenth of numpy's time: a rig asks for two a bone and frame."""
    (a0, a1, a2), (b0, b1, b2) = a.tolist(), b.tolist()
    return np.array([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0])


def pose(rotation: Array, place: Array) -> Array:
    """(4, 4) from both."""
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = rotation, place
    return matrix


def quaternion(rotation: Array) -> Array:
    """(4,) as w, x, y, z of a rotation (3, 3), with w >= 0."""
    m = rotation
    # the largest of the four is found first: no small number is ever divided by
    squares = np.array([m[0, 0] + m[1, 1] + m[2, 2], m[0, 0], m[1, 1], m[2, 2]])
    k = int(np.argmax(squares))
    if k == 0:
        q = np.array([1.0 + squares[0], m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]])
    else:
        i, j, l = k - 1, k % 3, (k + 1) % 3
        q = np.empty(4)
        q[0] = m[l, j] - m[j, l]
        q[1 + i] = 1.0 + m[i, i] - m[j, j] - m[l, l]
        q[1 + j] = m[j, i] + m[i, j]
        q[1 + l] = m[l, i] + m[i, l]
    q /= np.linalg.norm(q)
    return q if q[0] >= 0.0 else -q


def rotation_vector(rotation: Array) -> Array:
    """(3,) axis times angle [rad] of a rotation (3, 3), at most half a turn."""
    q = quaternion(rotation)
    length = float(np.linalg.norm(q[1:]))
    if length < SMALL:
        return 2.0 * q[1:]
    vector: Array = q[1:] * (2.0 * np.arctan2(length, q[0]) / length)
    return vector


def continuous(vectors: Array) -> Array:
    """Return rotations as vectors (T, 3), each by as many whole turns longer as keeps them from jumping."""
    found = np.array(vectors, dtype=np.float64)
    for k in range(1, len(found)):
        angle = float(np.linalg.norm(found[k]))
        if angle < SMALL:
            axis = found[k - 1]
            length = float(np.linalg.norm(axis))
            # no turn, or a whole one about the axis it had
            if length > np.pi:
                found[k] = axis / length * 2.0 * np.pi * round(length / (2.0 * np.pi))
            continue
        axis = found[k] / angle
        turns = round((float(found[k - 1] @ axis) - angle) / (2.0 * np.pi))
        found[k] += 2.0 * np.pi * turns * axis
    return found


def unwrapped(angles: Array) -> Array:
    """Angles (T,) [rad] without jumps of whole turns."""
    return np.unwrap(angles)


def from_vector(vector: Array) -> Array:
    """Rotation (3, 3) of a rotation vector (3,)."""
    angle = float(np.linalg.norm(vector))
    axis = vector / angle if angle > SMALL else np.zeros(3)
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    turn: Array = np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross
    return turn
