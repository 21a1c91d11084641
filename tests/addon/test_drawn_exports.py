"""Every export plays what a bake draws: on the ground, and where it is painted."""

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from falling_boxes import add_soft_cube, world_at  # noqa: E402
from jelly import scene  # noqa: E402, F401

LAST = 8
SIZE = 0.2  #: of the cube [m]
NEAR = 2e-5  #: how far below the ground is not seen [m]: a hundredth of a millimetre, and single precision


def add_cube(height, turn):
    """A cube of coarse cells that falls onto the ground at 0."""
    obj = add_soft_cube(SIZE, (0, 0, height), cuts=2, rotation=(turn, turn, 0))
    settings = obj.conjac
    settings.method, settings.mesher, settings.edge_length = "vanilla", "grid", 0.15
    settings.youngs_modulus = 5.0e3
    return obj


@pytest.mark.parametrize("kind", ["abc", "pc2", "shapekeys"])
def test_what_lands_is_on_the_ground_in_each_format(scene, kind):  # noqa: F811
    scene.frame_end = LAST
    cube = add_cube(0.2, 0.5)
    cube.conjac.use_ground, cube.conjac.ground_stiffness = True, 1.0e2
    assert cube.conjac.bake(wait=True) == 0
    assert bpy.ops.conjac.export(format=kind) == {"FINISHED"}
    lowest = [world_at(cube, frame)[:, 2].min() for frame in range(1, LAST + 1)]
    assert min(lowest) > -NEAR and min(lowest) < 1e-3, "it has landed, and is drawn above the ground"


@pytest.mark.parametrize("kind", ["abc", "pc2", "shapekeys"])
def test_a_painted_vertex_is_at_its_position_in_each_format(scene, kind):  # noqa: F811
    scene.frame_end = LAST
    cube = add_cube(1.0, 0.0)
    cube.conjac.use_ground = False
    rest = world_at(cube, 1)
    painted = int(np.linalg.norm(rest - (0.033, 0.033, 1.1), axis=1).argmin())  # within a face, between nodes
    cube.vertex_groups.new(name="Pin").add([painted], 1.0, "REPLACE")
    assert cube.conjac.bake(wait=True) == 0
    assert bpy.ops.conjac.export(format=kind) == {"FINISHED"}
    shown = np.array([world_at(cube, frame) for frame in range(1, LAST + 1)])
    assert np.abs(shown[:, painted] - rest[painted]).max() < 1e-4 * SIZE
    assert np.abs(shown[-1] - rest).max() > 0.1 * SIZE, "the rest of it falls"
