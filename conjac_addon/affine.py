"""Affine matrices (…, 4, 4), as Blender's objects and bones have them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def inverse(matrices: Array) -> Array:
    """Return the inverses of affine matrices (…, 4, 4), which scale no axis to nothing, by cofactors: LAPACK wakes all
    its threads for each of them, which takes half a millisecond where other programs use the processor."""
    a, b, c = matrices[..., 0, :3], matrices[..., 1, :3], matrices[..., 2, :3]
    out = np.zeros(matrices.shape)
    for column, (p, q) in enumerate(((b, c), (c, a), (a, b))):
        for axis in range(3):
            j, k = (axis + 1) % 3, (axis + 2) % 3
            out[..., axis, column] = p[..., j] * q[..., k] - p[..., k] * q[..., j]
    out[..., :3, :3] /= (a * out[..., :3, 0]).sum(axis=-1)[..., None, None]
    out[..., :3, 3] = -(out[..., :3, :3] * matrices[..., None, :3, 3]).sum(axis=-1)
    out[..., 3, 3] = 1.0
    return out
