"""The ground is drawn at its height, and the panel warns if it did not follow a raised body."""

import bpy
import numpy as np
import pytest
from drawn_panels import advised
from test_window import in_a_window


def default_cube():
    """Return the default cube around the origin, which extends a metre below the grid."""
    bpy.ops.mesh.primitive_cube_add(size=2.0)
    bpy.ops.conjac.add_soft_body()
    return bpy.context.object


def grounds():
    from conjac.conjac_addon.ui import ground_marks

    bpy.context.view_layer.update()
    ground_marks.forget()
    return [ground_marks.plane(ground) for ground in ground_marks.grounds(bpy.context.scene)]


def raise_by(obj, height):
    obj.location.z += height
    bpy.context.view_layer.update()


def test_it_is_drawn_at_its_height_below_the_body_and_wider(addon):
    cube = default_cube()
    cube.location = 5.0, 0.0, 3.0
    (corners,) = grounds()
    assert np.allclose(corners[:, 2], -1.0, atol=0.01) and np.allclose(corners.mean(axis=0)[:2], (5.0, 0.0))
    assert np.ptp(corners[:, 0]) == pytest.approx(6.0)
    cube.conjac.use_ground = False
    assert grounds() == []
    cube.conjac.use_ground = True
    cube.hide_set(True)
    assert grounds() == []


def test_one_that_an_object_says_is_drawn_at_right_angles_to_its_z_axis(addon):
    cube = default_cube()
    bpy.ops.object.empty_add(location=(0.0, 0.0, -2.0), rotation=(0.3, 0.0, 0.4))
    empty = bpy.context.object
    cube.conjac.ground_object = empty
    (corners,) = grounds()
    normal = np.array(empty.matrix_world)[:3, 2]
    assert np.allclose((corners - np.array(empty.location)) @ normal, 0.0, atol=0.01)


def test_what_is_baked_together_has_one(addon):
    first, second = default_cube(), default_cube()
    raise_by(second, 4.0)
    assert first.conjac.contact.collides_with == second.conjac.contact.collides_with == "all"
    (corners,) = grounds()
    assert np.allclose(corners[:, 2], -1.0, atol=0.02)


def test_a_raised_body_has_a_hint_that_its_ground_stayed_behind_and_raises_it_too(addon):
    cube = default_cube()
    assert cube.conjac.ground_height == -1.0
    assert "conjac.level_ground" not in [name for kind, name in advised(cube) if kind == "operator"]
    raise_by(cube, 3.0)
    log = advised(cube)
    assert "conjac.level_ground" in [name for kind, name in log if kind == "operator"]
    assert "1 m below the grid" in " ".join(text for kind, text in log if kind == "label")
    assert bpy.ops.conjac.level_ground() == {"FINISHED"} and cube.conjac.ground_height == 0.0
    assert "conjac.level_ground" not in [name for kind, name in advised(cube) if kind == "operator"]
    raise_by(cube, -2.5)  # half a metre deep now
    cube.conjac.ground_height = -3.0
    assert bpy.ops.conjac.level_ground() == {"FINISHED"} and cube.conjac.ground_height == pytest.approx(-0.5)


def test_a_ground_on_the_grid_or_above_and_one_of_an_object_have_no_hint(addon):
    cube = default_cube()
    raise_by(cube, 3.0)
    for height in (0.0, 1.5):
        cube.conjac.ground_height = height
        assert not bpy.ops.conjac.level_ground.poll()
    cube.conjac.ground_height = -1.0
    assert bpy.ops.conjac.level_ground.poll()
    bpy.ops.object.empty_add()
    cube.conjac.ground_object = bpy.context.object
    bpy.context.view_layer.objects.active = cube
    assert not bpy.ops.conjac.level_ground.poll()


SCRIPT = """
import sys
sys.path[:0] = [{tests!r}, {tests!r} + "/addon"]
from window_steps import bpy, np, override, run, with_and_without

def artist():
    cube = bpy.data.objects["Cube"]
    with override():
        bpy.ops.conjac.add_soft_body()
        assert bpy.context.window_manager.conjac_show_ground  # unasked
    count = len(bpy.data.objects)
    off, on = yield from with_and_without("conjac_show_ground")
    blue = (on[:, 2] > off[:, 2] + 0.02).sum()
    assert blue > 0.02 * len(on), blue
    cube.conjac.use_ground = False
    off, on = yield from with_and_without("conjac_show_ground")
    assert (np.abs(on - off).max(axis=1) > 0.02).sum() == 0
    assert len(bpy.data.objects) == count
    print("ground seen", flush=True)

run(artist(), 0.1)
"""


@pytest.mark.long
def test_it_is_seen_in_the_window_as_long_as_it_is_on(tmp_path):
    text = in_a_window(SCRIPT, tmp_path, "900x700")
    assert "ground seen" in text, text[-3000:]
