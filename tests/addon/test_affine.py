"""Inverses of arrays of affine matrices."""

import numpy as np
import pytest

pytest.importorskip("bpy")

from conjac.conjac_addon.affine import inverse


@pytest.mark.parametrize("shape", [(), (3,), (2, 5)])
def test_inverses_are_those_of_linear_algebra(shape):
    """The matrices are rotated, sheared, mirrored and scaled by a thousandth to a thousand."""
    rng = np.random.default_rng(7)
    matrices = np.zeros((*shape, 4, 4))
    matrices[..., :3, :3] = rng.normal(size=(*shape, 3, 3)) * 10.0 ** rng.uniform(-3.0, 3.0, size=(*shape, 1, 1))
    matrices[..., :3, 3], matrices[..., 3, 3] = 100.0 * rng.normal(size=(*shape, 3)), 1.0
    np.testing.assert_allclose(inverse(matrices), np.linalg.inv(matrices), rtol=1e-9, atol=1e-9)
