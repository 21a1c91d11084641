"""Animation curves from baked frames, with as few keyframes as the artist's tolerance permits."""

from __future__ import annotations

import bpy
import numpy as np
from numpy.typing import NDArray

from .. import compat

Array = NDArray[np.float64]

#: what changes by less than this is one keyframe, in radians or Blender units
STILL = 1.0e-7

#: number of Blender's interpolation "LINEAR" for `foreach_set`
LINEAR = next(item.value for item in bpy.types.Keyframe.bl_rna.properties["interpolation"].enum_items
              if item.identifier == "LINEAR")


def write(owner: bpy.types.ID, path: str, group: str, first: int, values: Array, tolerance: float) -> None:
    """New curves of a property's components, values (frames, c), straight between keyframes.

    tolerance: how far a curve may be from its values where keyframes are left out; 0 keeps one a frame.
    """
    frames = np.arange(first, first + len(values), dtype=np.float64)
    for index in range(values.shape[1]):
        column = values[:, index]
        if np.ptp(column) <= STILL:
            keyframes = np.array([0])
        elif tolerance > 0.0:
            keyframes = simplified(column, tolerance)
        else:
            keyframes = np.arange(len(column))
        curve = compat.new_fcurve(owner, path, index, group)
        points = curve.keyframe_points
        points.add(len(keyframes))
        points.foreach_set("co", np.ascontiguousarray(np.stack([frames[keyframes], column[keyframes]], axis=1),
                                                      np.float32).ravel())
        points.foreach_set("interpolation", np.full(len(keyframes), LINEAR, np.int32))
        curve.update()


def simplified(values: Array, tolerance: float) -> NDArray[np.int64]:
    """Indices of values (n,) that are enough: straight lines between them miss none by more than the tolerance."""
    keyframes = {0, len(values) - 1}
    waiting = [(0, len(values) - 1)]
    while waiting:
        a, b = waiting.pop()
        if b - a < 2:
            continue
        line = values[a] + (values[b] - values[a]) * np.arange(1, b - a) / (b - a)
        missed = np.abs(values[a + 1:b] - line)
        worst = int(np.argmax(missed))
        if missed[worst] > tolerance:
            middle = a + 1 + worst
            keyframes.add(middle)
            waiting += [(a, middle), (middle, b)]
    return np.array(sorted(keyframes))


def quaternions(rotations: Array) -> Array:
    """(n, 4) as w, x, y, z of rotations (n, 3, 3), each on the side of the one before."""
    m = rotations
    trace = m[:, 0, 0] + m[:, 1, 1] + m[:, 2, 2]
    squares = np.stack([trace, m[:, 0, 0], m[:, 1, 1], m[:, 2, 2]], axis=1)
    which = np.argmax(squares, axis=1)
    found = np.empty((len(m), 4))
    rows = which == 0
    found[rows] = np.stack([1.0 + trace[rows], m[rows, 2, 1] - m[rows, 1, 2], m[rows, 0, 2] - m[rows, 2, 0],
                            m[rows, 1, 0] - m[rows, 0, 1]], axis=1)
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        rows = which == i + 1
        found[rows, 0] = m[rows, k, j] - m[rows, j, k]
        found[rows, 1 + i] = 1.0 + m[rows, i, i] - m[rows, j, j] - m[rows, k, k]
        found[rows, 1 + j] = m[rows, j, i] + m[rows, i, j]
        found[rows, 1 + k] = m[rows, k, i] + m[rows, i, k]
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    # the other sign is the same rotation, but half way between both is none
    turned = np.einsum("ij,ij->i", found[1:], found[:-1]) < 0.0
    signs = np.concatenate([[1.0], np.where(np.cumsum(turned) % 2, -1.0, 1.0)])
    return found * signs[:, None]
