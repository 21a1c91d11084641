"""Bodies that an artist puts exactly against something, or apart or into it by a hair, bake and do not jump."""

import bpy
import numpy as np
import pytest

from benchmarks.drawn import chosen, places

FRAMES = 3
JUMP = 0.004  #: of a body's size: how far it may be a frame later


def cube(at, size, cuts=3):
    """A cuboid with these edges [m], its faces divided."""
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=at, scale=size)
    made = bpy.context.object
    bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.subdivide(number_cuts=cuts)
    bpy.ops.object.mode_set(mode="OBJECT")
    return made


def collider(made):
    chosen(made)
    bpy.ops.conjac.add_collider()


def slab(gap):
    """A slab of 60 x 60 x 20 cm on a floor."""
    collider(cube((0, 0, -0.1), (2, 2, 0.2)))
    return [cube((0, 0, 0.1 + 0.6 * gap), (0.6, 0.6, 0.2), 5)]


def shelf(gap):
    """Ten books beside each other between the sides of a shelf."""
    apart = 0.3 * gap
    step = 0.03 + apart
    wide = 10 * step + apart
    collider(cube((0.5 * wide, 0, -0.05), (wide + 0.2, 0.4, 0.1)))
    for x in (-0.05, wide + 0.05):
        collider(cube((x, 0, 0.2), (0.1, 0.4, 0.3)))
    return [cube((apart + 0.015 + k * step, 0, 0.15 + apart), (0.03, 0.2, 0.3), 2) for k in range(10)]


def stack(gap):
    """Three cubes on each other and on a floor."""
    collider(cube((0, 0, -0.1), (1, 1, 0.2)))
    step = 0.2 * (1.0 + gap)
    return [cube((0, 0, 0.1 + 0.2 * gap + k * step), (0.2, 0.2, 0.2)) for k in range(3)]


def hole(gap):
    """A ball in a block with a hole that fits it, which is as round."""
    shells = []
    for radius in (0.15, 0.15 * (1.0 - gap)):
        bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=3, radius=radius)
        shells.append(bpy.context.object)
    around, ball = shells
    chosen(around)
    around.data.flip_normals()
    outside = cube((0, 0, 0), (0.5, 0.5, 0.5))
    chosen(outside, around)
    bpy.ops.object.join()
    collider(bpy.context.object)
    return [ball]


@pytest.mark.long
@pytest.mark.parametrize("gap", [0.001 / 0.6, 0.002, 0.0, -0.002])
@pytest.mark.parametrize("scene", [slab, shelf, stack, hole])
def test_it_bakes_and_what_rests_does_not_jump(addon, tmp_path, scene, gap):
    bpy.context.scene.frame_end = FRAMES
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    bodies = scene(gap)
    chosen(*bodies)
    bpy.ops.conjac.add_soft_body()
    start = [places(one, 1) for one in bodies]
    assert bodies[0].conjac.bake(wait=True) == 0
    for one, x in zip(bodies, start):
        size = float(np.ptp(x, axis=0).max())
        assert np.abs(places(one, 1) - x).max() < 1e-4 * size
        # a free fall is 8.5 mm in the first frame
        assert np.abs(places(one, 2) - x).max() < JUMP * size, one.name
