"""Normals of triangles, for all callers."""

import numpy as np
import pytest

from solver.meshing.normals import area_vectors, unit_normals


def test_normals_are_those_of_cross_products_and_none_where_there_is_no_area():
    rng = np.random.default_rng(1)
    x, triangles = rng.normal(size=(20, 3)), rng.integers(0, 20, (30, 3))
    triangles[0] = [4, 4, 7]
    whole = np.cross(x[triangles[:, 1]] - x[triangles[:, 0]], x[triangles[:, 2]] - x[triangles[:, 0]])
    assert area_vectors(x, triangles) == pytest.approx(whole, abs=1e-15)
    unit = unit_normals(x, triangles)
    assert not unit[0].any()
    size = np.linalg.norm(whole, axis=1)
    assert unit[size > 0.0] == pytest.approx(whole[size > 0.0] / size[size > 0.0, None], abs=1e-14)
    # arrays as they come out of files, which nobody may write to
    x.setflags(write=False)
    assert np.array_equal(unit_normals(x, triangles), unit)
