"""A newcomer with a window adds Suzanne, presses Play Live and pulls an ear, by keys and mouse of the window system."""

import os

import numpy as np
import pytest
from small_jobs import box_job
from test_window import in_a_window
from test_window_end import script

from solver.live.engines.interface import Inputs
from solver.live.run import engine_of

BODY = """
import time
import numpy as np
from bpy_extras import view3d_utils
from mathutils import Vector
from conjac.conjac_addon.bake import session as bakes
from conjac.conjac_addon.live import session, shape

def seen(obj):
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    co = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", co)
    return co.reshape(-1, 3)

def on_screen(obj, place):
    at = view3d_utils.location_3d_to_region_2d(region(), region().data, obj.matrix_world @ Vector(place))
    return int(region().x + at[0]), int(window().height - region().y - at[1])

def rest(count=6):
    for _ in range(count):
        yield

def artist():
    yield
    bpy.data.objects.remove(bpy.data.objects["Cube"])
    view.smooth_view = 0
    yield
    began = time.monotonic()
    press(bpy.ops.mesh.primitive_monkey_add)
    suzanne = bpy.context.view_layer.objects.active
    press(bpy.ops.conjac.add_soft_body)
    rest_shape = seen(suzanne)
    send("mousemove", region().x + 200, window().height - region().y - 200)
    yield from rest()
    send("key", "ctrl+alt+p")
    while not session.playing:
        yield
    played = next(iter(session.playing.values()))
    while played.frame is None:
        yield
    yield from rest(2)
    # the ear on the right side of the screen, and once more where it has fallen away from under the mouse
    ear = int(np.argmax(rest_shape[:, 0]))
    while not played.grabs:
        send("mouseup", 1)
        x, y = on_screen(suzanne, seen(suzanne)[ear] * (0.93, 1.0, 1.0))
        send("mousemove", x, y, "mousedown", 1)
        yield from rest(2)
    now = seen(suzanne)
    strength = next(iter(played.grabs.values()))["strength"][0]
    send("mousemove", x + 60, y)
    while not seen(suzanne)[ear][0] > now[ear][0] + 0.1:
        yield
    print("pulled after", round(time.monotonic() - began, 1), "s", flush=True)
    assert BUSY or time.monotonic() - began < 15.0
    for step in range(8):
        send("mousemove", x + 20 * (step + 1), y)
        yield from rest(2)
    yield from rest(10)
    pulled = seen(suzanne)[ear] - now[ear]
    assert pulled[0] > 0.3, pulled
    send("click", 4)  # the wheel
    yield from rest()
    assert next(iter(played.grabs.values()))["strength"][0] > strength
    send("mouseup", 1)
    yield from rest()
    assert played.grabs == {{}}
    # beside the body the mouse is Blender's own: a click there deselects
    send("mousemove", region().x + 60, window().height - region().y - 60)
    yield from rest()
    send("mousedown", 1)
    yield from rest(2)
    send("mouseup", 1)
    yield from rest()
    assert played.ended is None and played.grabs == {{}}
    send("key", "Escape")
    while session.playing:
        yield
    yield from rest()
    assert played.ended == "" and shape.find(suzanne) is None and not list(suzanne.modifiers)
    np.testing.assert_array_equal(seen(suzanne), rest_shape)
    bpy.context.view_layer.objects.active = suzanne
    assert press(bpy.ops.conjac.play_live) == {{"RUNNING_MODAL"}}
    yield from rest()
    assert press(bpy.ops.conjac.play_live) == {{"FINISHED"}}  # the same button ends it
    yield from rest()
    assert not session.playing
    # what is recorded becomes the bake
    assert press(bpy.ops.conjac.play_live) == {{"RUNNING_MODAL"}}
    played = next(iter(session.playing.values()))
    while played.frame is None:
        yield
    assert press(bpy.ops.conjac.record_live) == {{"FINISHED"}} and played.records
    begun = played.frame["time"]
    while played.frame["time"] < begun + 0.3:
        yield
    assert press(bpy.ops.conjac.record_live) == {{"FINISHED"}}
    while session.playing or not bakes.running:
        yield
    while bakes.running:
        yield
    status = bake.status(suzanne)
    assert status.state == "complete" and status.done >= 7, status
    assert [one.name for one in suzanne.modifiers] == ["ConJac"]
    scene = bpy.context.scene
    scene.frame_set(scene.frame_start + 6)
    yield from seen_where_it_is(suzanne)
"""

BESIDE = """
import time
from conjac.conjac_addon.live import session

def artist():
    yield
    cube = bpy.data.objects["Cube"]
    scene = bpy.context.scene
    cube.select_set(True)
    bpy.context.view_layer.objects.active = cube
    press(bpy.ops.conjac.add_soft_body)
    assert press(bpy.ops.conjac.play_live) == {{"RUNNING_MODAL"}}
    played = next(iter(session.playing.values()))
    while played.frame is None:
        yield

    def goes_on():
        at = played.frame["time"]
        while played.frame["time"] < at + 0.2:
            assert played.ended is None, played.ended
            yield

    # the timeline plays too, and stops
    at = scene.frame_current
    press(bpy.ops.screen.animation_play)
    yield from goes_on()
    assert scene.frame_current != at
    press(bpy.ops.screen.animation_cancel)
    # a second window comes and goes
    press(bpy.ops.wm.window_new)
    yield from goes_on()
    windows = bpy.context.window_manager.windows
    assert len(windows) == 2
    with bpy.context.temp_override(window=windows[-1]):
        bpy.ops.wm.window_close()
    yield
    assert len(windows) == 1
    yield from goes_on()
    # a render runs: nothing is touched, and then it goes on
    scene.render.engine, scene.cycles.samples = "CYCLES", 1
    scene.render.resolution_x = scene.render.resolution_y = 64
    scene.frame_end = 6
    scene.render.filepath = bpy.app.tempdir + "frame"
    assert press(bpy.ops.render.render, animation=True) == {{"RUNNING_MODAL"}}
    while not bpy.app.is_job_running("RENDER"):
        yield
    at, looked = played.frame["time"], 0
    while bpy.app.is_job_running("RENDER"):
        assert played.ended is None
        looked += 1
        yield
    assert looked > 0 and len([name for name in os.listdir(bpy.app.tempdir) if name.startswith("frame")]) == 6
    yield from goes_on()
    # another file is opened, which ends this timer too
    bpy.ops.wm.read_homefile(app_template="")
    assert not session.playing and played.ended is not None
"""


@pytest.mark.long
def test_it_goes_on_beside_the_timeline_a_second_window_and_a_render(tmp_path):
    assert "all seen" in in_a_window(script(BESIDE), tmp_path, "900x700")


@pytest.mark.long
def test_a_newcomer_pulls_an_ear_within_fifteen_seconds(tmp_path):
    # the extension compiles once, after it is installed
    engine = engine_of("modes", box_job(tmp_path / "compiled", end=1, motion=False, integrator={"kind": "sdirk2"},
                                        stage_solver={"kind": "quick"}), lambda *words: None)
    engine.step(0, Inputs(np.array([0.0, 0.0, -9.81])))
    busy = os.getloadavg()[0] > (os.cpu_count() or 1)  # then seconds say nothing, and only what happens is looked at
    output = in_a_window(f"BUSY = {busy}\n" + script(BODY), tmp_path, "1000x700")
    assert "all seen" in output, output
    print("busy:", busy, output)
