"""Pins and any map are drawn over the object itself, with a legend, and no object is added to the scene."""

import bpy
import numpy as np
import pytest
from test_window import in_a_window


def weigh(obj, group, weights):
    group = obj.vertex_groups.get(group) or obj.vertex_groups.new(name=group)
    for vertex, weight in weights.items():
        group.add([vertex], weight, "REPLACE")


@pytest.fixture()
def marks(soft_cube):
    from conjac.conjac_addon.ui import map_marks

    return map_marks


def test_a_map_is_dark_where_it_is_zero_and_bright_where_one_a_little_above_the_surface(soft_cube, marks):
    soft_cube.location, soft_cube.scale = (3.0, 0.0, 0.0), (1.0, 1.0, 2.0)
    bpy.context.view_layer.update()
    assert marks.heat(soft_cube, "stiffness", bpy.context) is None
    weigh(soft_cube, "Stiffness", {0: 1.0, 1: 0.5})
    soft_cube.conjac.stiffness_group = "Stiffness"
    bpy.context.view_layer.update()
    positions, triangles, tints = marks.heat(soft_cube, "stiffness", bpy.context)
    assert positions.shape == (8, 3) and triangles.shape == (12, 3) and triangles.max() == 7
    world = np.array([soft_cube.matrix_world @ vertex.co for vertex in soft_cube.data.vertices])
    away = np.linalg.norm(positions - world, axis=1)
    assert away == pytest.approx(np.full(8, 0.002 * 4.0), rel=1e-3)
    assert (np.linalg.norm(positions - (3.0, 0.0, 0.0), axis=1) > np.linalg.norm(world - (3.0, 0.0, 0.0), axis=1)).all()
    light = tints[:, :3] @ (0.2, 0.7, 0.1)
    assert light[0] > 1.5 * light[1] > 3.0 * light[2] and np.ptp(light[2:]) == 0.0


def test_an_attribute_is_shown_too_and_what_is_changed_is_read_again(soft_cube, marks, monkeypatch):
    from conjac.conjac_addon import changes

    values = soft_cube.data.attributes.new("Softer", "FLOAT", "POINT")
    values.data[2].value = 1.0
    soft_cube.conjac.stiffness_group = "Softer"
    bpy.context.view_layer.update()
    read = marks.weights(soft_cube, soft_cube.data, "Softer")
    assert read.tolist() == [0, 0, 1, 0, 0, 0, 0, 0]
    values.data[2].value = 0.25
    changes.note()
    assert marks.weights(soft_cube, soft_cube.data, "Softer")[2] == 1.0  # not at each redraw
    monkeypatch.setattr(marks.time, "monotonic", lambda: 1.0e9)
    assert marks.weights(soft_cube, soft_cube.data, "Softer")[2] == 0.25


def test_the_legend_says_what_both_ends_are(soft_cube, marks):
    soft_cube.conjac.youngs_modulus, soft_cube.conjac.youngs_modulus_high = 2.0e4, 4.0e5
    assert marks.ends(soft_cube, "stiffness") == ("Young's Modulus (kPa)", "20", "400")
    assert marks.ends(soft_cube, "pin") == ("Pin", "0", "1")


def test_the_button_shows_a_map_another_one_and_none(soft_cube, marks):
    manager = bpy.context.window_manager
    for key, after in (("pin", "pin"), ("stiffness", "stiffness"), ("stiffness", "none")):
        assert bpy.ops.conjac.show_heat(map=key) == {"FINISHED"} and manager.conjac_heat == after
    manager.conjac_heat = "pin"
    assert marks.shown(bpy.context) == (soft_cube, "pin")
    bpy.ops.conjac.add_group(map="pin")
    assert marks.shown(bpy.context) is None  # Blender shows its own there
    bpy.ops.conjac.done_painting()
    soft_cube.conjac.enabled = False
    assert marks.shown(bpy.context) is None
    manager.conjac_heat = "none"


def test_hard_and_soft_pins_are_drawn_differently(soft_cube, marks):
    assert marks.pinned(soft_cube, bpy.context) is None
    weigh(soft_cube, "Pin", {0: 1.0, 1: 0.75, 2: 0.25})
    bpy.context.view_layer.update()
    soft_cube.conjac.soft_pins = False
    assert [len(points) for points in marks.pinned(soft_cube, bpy.context)] == [2, 0]
    soft_cube.conjac.soft_pins = True
    assert [len(points) for points in marks.pinned(soft_cube, bpy.context)] == [1, 2]


SCRIPT = """
import sys
sys.path[:0] = [{tests!r}, {tests!r} + "/addon"]
from window_steps import bpy, np, override, pictures, run, with_and_without

def picture(key):
    bpy.context.window_manager.conjac_heat = key
    for area in bpy.context.window_manager.windows[0].screen.areas:
        area.tag_redraw()
    for _ in range(3):
        yield
    return pictures[-1]

def artist():
    cube = bpy.data.objects["Cube"]
    with override():
        bpy.ops.conjac.add_soft_body()
        bpy.context.window_manager.conjac_show_ground = False
        cube.select_set(False)
    group = cube.vertex_groups.new(name="Pin")
    for vertex in cube.data.vertices:
        group.add([vertex.index], 1.0 if vertex.co.z > 0.0 else 0.0, "REPLACE")
    count = len(bpy.data.objects), len(bpy.data.meshes), len(bpy.data.materials)
    off, on = yield from with_and_without("conjac_show_pins")
    orange = ((on[:, 0] > on[:, 2] + 0.3) & (np.abs(on - off).max(axis=1) > 0.1)).sum()
    assert orange > 20, orange
    bpy.context.window_manager.conjac_show_pins = False
    before, after = (yield from picture("none")), (yield from picture("pin"))
    changed = np.abs(after - before).max(axis=1) > 0.1
    dark = (changed & (after[:, 2] > after[:, 1] + 0.05) & (after[:, 0] < 0.5)).sum()
    bright = (changed & (after[:, 0] > 0.6) & (after[:, 1] > 0.6) & (after[:, 2] < 0.4)).sum()
    assert dark > 100 and bright > 100, (dark, bright)
    # the legend, in the lower left where the cube does not reach
    area = next(area for area in bpy.context.window_manager.windows[0].screen.areas if area.type == "VIEW_3D")
    region = next(region for region in area.regions if region.type == "WINDOW")
    corner = changed.reshape(region.height, region.width)[40:110, :]
    assert corner.sum() > 180 * 10, corner.sum()
    assert count == (len(bpy.data.objects), len(bpy.data.meshes), len(bpy.data.materials))
    print("maps seen", flush=True)

run(artist(), 0.1)
"""


@pytest.mark.long
def test_pins_a_map_and_its_legend_are_seen_in_the_window(tmp_path):
    text = in_a_window(SCRIPT, tmp_path, "900x700")
    assert "maps seen" in text, text[-3000:]
