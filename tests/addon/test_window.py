"""Panels in a real window: every section is drawn by Blender itself without an error message."""

import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WINDOW = ROOT / "scripts" / "blender_window.py"  # opens the window of the bpy wheel

SCRIPT = """
import os, sys
sys.path.insert(0, {tests!r})
import conftest, bpy, conjac
from conjac.conjac_addon import text
from conjac.conjac_addon.ui import advice, damping, panels
drawn, others = set(), []

def watched(draw, name):
    def method(layout, context):
        draw(layout, context)
        drawn.add((name, context.area.type))
    return method

expected = set()
for panel in panels.classes:
    panel.bl_options = set()
for section in panels.SECTIONS:
    section.open, section.draw = True, watched(section.draw, section.key)
    expected |= {{(section.key, place) for place in ("VIEW_3D", "PROPERTIES")
                 if place == "VIEW_3D" or section.of != {{panels.ARMATURE}}}}
conjac.register()
bpy.context.preferences.view.show_splash = False
ticks = 0

def tick():
    global ticks
    ticks += 1
    window = bpy.context.window_manager.windows[0]
    view = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    sidebar = next(region for region in view.regions if region.type == "UI")
    properties = next(area for area in window.screen.areas if area.type == "PROPERTIES")
    if ticks == 1:
        cube = bpy.data.objects["Cube"]
        cube.conjac.enabled = True
        cube.vertex_groups.new(name="Pin")
        view.spaces.active.show_region_ui = True
        cube.conjac.attachments.add()
        # what has the other panels: an armature, the Empty of a mechanism that joins two rigid bodies
        data = bpy.data.armatures.new("Rig")
        others.append(bpy.data.objects.new("Rig", data))
        others.append(bpy.data.objects.new("Joint", None))
        others.append(bpy.data.objects.new("Cloth", cube.data.copy()))
        others.append(bpy.data.objects.new("Rope", cube.data.copy()))
        others.append(bpy.data.objects.new("Collider", cube.data.copy()))
        with bpy.context.temp_override(window=window, area=view,
                                       region=next(r for r in view.regions if r.type == "WINDOW")):
            bpy.ops.rigidbody.world_add()
            for other in others:
                bpy.context.scene.collection.objects.link(other)
                bpy.context.view_layer.objects.active = other
                if other.type == "ARMATURE":
                    bpy.ops.object.mode_set(mode="EDIT")
                    data.edit_bones.new("Bone").tail = (0, 0, 1)
                    bpy.ops.object.mode_set(mode="OBJECT")
                    data.bones.active = data.bones[0]
                elif other.type == "EMPTY":
                    other.select_set(True)
                    bpy.ops.rigidbody.constraint_add()
                other.conjac.enabled = True
                if other.type == "MESH":
                    other.conjac.kind = other.name.lower()
            bpy.context.view_layer.objects.active = cube
        others.append(cube)
        properties.spaces.active.context = "PHYSICS"
    elif ticks == 4:
        sidebar.active_panel_category = "ConJac"
        sidebar.tag_redraw()
    elif ticks > 8 and drawn == expected and damping._pictures and advice._found:
        key = damping._key(damping.load_table(), bpy.data.objects["Cube"].conjac, bpy.context.scene)
        assert damping._pictures[str(key)].image_size[:] == (damping.WIDTH, damping.HEIGHT)
        # a sidebar as wide as Blender opens it would cut one of these
        cut = [name for name in ("Largest Deformation", "Time Step") if text.is_cut(name, sidebar)]
        print("all drawn", len(drawn), "cut", cut, flush=True)
        os._exit(0)
    elif ticks > 8 and ticks % 8 == 0:
        # the next one; its Physics tab only where it has one
        others.append(others.pop(0))
        bpy.context.view_layer.objects.active = others[-1]
        if others[-1].type != "ARMATURE":
            properties.spaces.active.context = "PHYSICS"
        sidebar.tag_redraw()
        properties.tag_redraw()
    elif ticks > 160:
        print("missing", sorted(expected - drawn), flush=True)
        os._exit(1)
    return 0.1

bpy.app.timers.register(tick, first_interval=0.2)
"""


MODAL = """
import sys
sys.path[:0] = [{tests!r}, {tests!r} + "/addon"]
from window_steps import bpy, override, run, seen_where_it_is
from conjac.conjac_addon import bake
from conjac.conjac_addon.bake import session
from conjac.conjac_addon.operators import on_worker, previews

def press(operator):
    with override():
        return operator("INVOKE_DEFAULT")

def artist():
    # what an artist does, a yield for each look at the window
    cube, scene = bpy.data.objects["Cube"], bpy.context.scene
    soft = cube.conjac
    soft.enabled, soft.mesher, soft.edge_length, soft.step = True, "grid", 1.0, 1 / 960
    scene.frame_end = 400
    yield
    assert press(bpy.ops.conjac.bake) == {{"RUNNING_MODAL"}}
    while not session.running or (next(iter(session.running.values())).progress.frame or 0) < 5:
        yield
    status = bake.status(cube)
    assert status.state == "baking" and status.left_s > 0 and status.done < 400, status
    assert cube.modifiers["ConJac"].type == "MESH_CACHE"
    assert bake.shown_status(cube).state == "baking"
    assert press(bpy.ops.conjac.pause) == {{"FINISHED"}}
    while session.running:
        yield
    assert bake.shown_status(cube).state == "partial"  # at once: panels do not have to look for it
    assert bake.status(cube).state == "partial"
    assert press(bpy.ops.conjac.bake) == {{"RUNNING_MODAL"}}
    while not session.running or next(iter(session.running.values())).worker is None:
        yield
    assert press(bpy.ops.conjac.cancel) == {{"FINISHED"}}
    while session.running:
        yield
    assert bake.status(cube).state == "partial"
    with override():
        assert bpy.ops.conjac.free_bake() == {{"FINISHED"}}  # all of the six frames are there, so it would ask
    scene.frame_end, soft.step, soft.export = 6, 1 / 24, "abc"
    scene.frame_set(4)
    assert press(bpy.ops.conjac.bake) == {{"RUNNING_MODAL"}}
    while session.running:
        yield
    assert scene.frame_current == 1, scene.frame_current  # ready to play
    assert bake.status(cube).state == "complete", bake.status(cube)
    assert cube.modifiers["ConJac"].type == "MESH_SEQUENCE_CACHE"
    scene.frame_set(6)
    yield from seen_where_it_is(cube)
    drawn_again, redraw = [], on_worker.redraw_panels
    on_worker.redraw_panels = lambda: (drawn_again.append(True), redraw())
    assert press(bpy.ops.conjac.preview_tets) == {{"RUNNING_MODAL"}}
    while not previews.is_shown(cube):
        yield
    assert cube.modifiers["ConJac"].show_viewport
    yield
    assert drawn_again  # the wire is seen, and the button is no longer grey
    print("all pressed", flush=True)

run(artist(), 0.05)
"""


def in_a_window(script, tmp_path, screen="1600x2400"):
    """Return Blender's output of a script behind its window, whose default size is tall enough for every section."""
    if not WINDOW.exists() or platform.machine() != "x86_64" or not sys.platform.startswith("linux"):
        pytest.skip("the tool that opens a window for the bpy wheel is not here")
    if shutil.which("xvfb-run") is None:
        pytest.skip("xvfb-run is not installed")
    path = tmp_path / "script.py"
    path.write_text(script.format(tests=str(ROOT / "tests")))
    runtime = tmp_path / "runtime"
    runtime.mkdir(mode=0o700)
    environment = os.environ | {"XDG_RUNTIME_DIR": str(runtime), "LIBGL_ALWAYS_SOFTWARE": "1",
                                "BLENDER_USER_RESOURCES": str(tmp_path / "user"),
                                "PYTHONPATH": str(ROOT)}  # conftest imports the solver
    window = ["xvfb-run", "-a", "-s", f"-screen 0 {screen}x24 +extension GLX"]
    run = subprocess.run([*window, sys.executable, str(WINDOW), str(path)], env=environment, capture_output=True,
                         text=True, timeout=560)
    output = run.stdout + run.stderr
    for complaint in ("Traceback", "rna_uiItem", "unknown operator", "not found"):
        assert complaint not in output, output
    return output


@pytest.mark.long
def test_all_sections_draw_in_a_window(tmp_path):
    output = in_a_window(SCRIPT, tmp_path)
    assert re.search(r"all drawn \d+ cut \['Largest Deformation'\]", output), output


@pytest.mark.long
@pytest.mark.skipif(shutil.which("import") is None, reason="needs ImageMagick")
def test_the_buttons_bake_pause_cancel_and_preview_behind_a_live_window(tmp_path):
    output = in_a_window(MODAL, tmp_path)
    assert "all pressed" in output, output
