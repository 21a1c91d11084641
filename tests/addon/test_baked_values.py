"""Stress, stretch, pressure and speed of a bake: attributes of the mesh that follow the frames, and colors."""

import numpy as np
import pytest
from jelly import LAST, add_jelly, bpy, scene  # noqa: F401
from test_window import in_a_window

from conjac.conjac_addon.bake import stress_frames
from conjac.conjac_addon.ui import value_marks


def values_of(mesh, name):
    values = np.empty(len(mesh.vertices), np.float32)
    mesh.attributes[name].data.foreach_get("value", values)
    return values


@pytest.fixture()
def baked(scene):  # noqa: F811
    obj = add_jelly()
    obj.conjac.stress_output = True
    assert bpy.ops.conjac.bake() == {"FINISHED"}
    return obj


def test_attributes_follow_the_frames_and_modifiers_below_pass_them_on(baked, scene):  # noqa: F811
    values = {}
    for frame in (2, LAST):
        scene.frame_set(frame)
        values[frame] = {name: values_of(baked.data, name) for name in stress_frames.NAMES}
    top, bottom = (np.array([sign * vertex.co.z > 0.09 for vertex in baked.data.vertices]) for sign in (1.0, -1.0))
    stress, stretch, _, speed = values[LAST].values()
    # it hangs from its top, which is strained most, and its bottom moves
    assert stress[top].mean() > 1.5 * stress[bottom].mean() > 0.0 and stretch.max() > 1.01
    assert speed[top].max() < 1e-4 < speed.max() and np.abs(stress - values[2]["conjac_stress"]).max() > 1.0
    baked.modifiers.new("Finer", "SUBSURF").levels = 1
    scene.frame_set(LAST)
    mesh = baked.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    assert len(mesh.vertices) > len(baked.data.vertices)
    finer = values_of(mesh, "conjac_stress")
    assert 0.0 < finer.max() <= 1.1 * stress.max()
    assert value_marks.values(baked, value_marks.VALUES["stress"], mesh, scene) == pytest.approx(finer)
    scene.frame_set(LAST + 5)  # not baked: none keeps those of another frame
    assert not values_of(baked.data, "conjac_stress").any()


def test_colours_go_from_dark_to_light_on_a_scale_that_stands_still(baked, scene):  # noqa: F811
    scene.frame_set(LAST)
    context = bpy.context
    for key, low in (("stress", 0.0), ("stretch", 1.0), ("speed", 0.0)):
        value = value_marks.VALUES[key]
        positions, triangles, tints = value_marks.coloured(baked, value, context)
        assert positions.shape == (len(baked.data.vertices), 3) and triangles.max() < len(positions)
        rows = stress_frames.rows(baked, scene)[:, value.column]
        light = tints[:, :3] @ (0.2, 0.7, 0.1)
        assert light[rows.argmax()] > 2.0 * light[rows.argmin()]
        first = value_marks.scale(baked, value, rows)
        assert first[0] == low and first == value_marks.scale(baked, value, 0.1 * rows)
    pressure = value_marks.VALUES["pressure"]
    low, high = value_marks.scale(baked, pressure, stress_frames.rows(baked, scene)[:, 2])
    assert low == -high < 0.0
    legend = value_marks.legend(baked, value_marks.VALUES["stress"], scene)
    assert legend.title.startswith("Von Mises Stress (") and legend.low == "0" and float(legend.high) > 0.0
    assert value_marks.ends(pressure, -2.5e4, 2.5e4) == ("Pressure (kPa)", "-25", "25")


def test_without_the_setting_no_values_are_stored_and_the_legend_says_so(scene):  # noqa: F811
    obj = add_jelly()
    assert bpy.ops.conjac.bake() == {"FINISHED"}
    scene.frame_set(LAST)
    assert stress_frames.rows(obj, scene) is None and not set(stress_frames.NAMES) & set(obj.data.attributes.keys())
    assert value_marks.legend(obj, value_marks.VALUES["stress"], scene) is None
    obj.conjac.stress_output = True
    from conjac.conjac_addon import bake
    assert bake.status(obj).state == "stale" and "Stress Output" in bake.status(obj).text


SCRIPT = """
import sys
sys.path[:0] = [{tests!r}, {tests!r} + "/addon"]
from window_steps import bpy, np, override, look, pictures, run
from conjac.conjac_addon.bake import session

def picture(key):
    bpy.context.window_manager.conjac_colors = key
    for area in bpy.context.window_manager.windows[0].screen.areas:
        area.tag_redraw()
    for _ in range(3):
        yield
    return pictures[-1]

def artist():
    cube, scene = bpy.data.objects["Cube"], bpy.context.scene
    bpy.types.SpaceView3D.draw_handler_add(look, (), "WINDOW", "POST_PIXEL")
    scene.frame_end = 14
    with override():
        bpy.ops.conjac.quick_jelly()
        bpy.context.window_manager.conjac_show_ground = False
        cube.conjac.stress_output = True
        cube.select_set(False)
        bpy.ops.conjac.bake("INVOKE_DEFAULT")
    yield
    while session.running:
        yield
    shown = []
    for frame in (3, 13):
        scene.frame_set(frame)
        before, after = (yield from picture("none")), (yield from picture("speed"))
        shown.append((np.abs(after - before).max(axis=1) > 0.1, after))
    assert all(changed.sum() > 2000 for changed, _ in shown), [int(changed.sum()) for changed, _ in shown]
    both = shown[0][0] & shown[1][0]
    assert (np.abs(shown[0][1] - shown[1][1])[both].max(axis=1) > 0.1).sum() > 500  # it follows the timeline
    print("colors seen", flush=True)

run(artist(), 0.1)
"""


@pytest.mark.long
def test_colors_follow_the_timeline_in_the_window(tmp_path):
    output = in_a_window(SCRIPT, tmp_path, "900x700")
    assert "colors seen" in output, output[-3000:]
