"""A newcomer with a window adds Suzanne, presses Play Live and pulls an ear, by keys and mouse of the window system."""

import pytest
from test_window import in_a_window
from test_window_end import script

BODY = """
import time
import numpy as np
from bpy_extras import view3d_utils
from mathutils import Vector
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
    yield from rest(20)
    # the ear on the right side of the screen
    now = seen(suzanne)
    ear = int(np.argmax(now[:, 0]))
    x, y = on_screen(suzanne, now[ear] * (0.97, 1.0, 1.0))
    send("mousemove", x, y)
    yield from rest()
    send("mousedown", 1)
    while not played.grabs:
        yield
    strength = next(iter(played.grabs.values()))["strength"][0]
    for step in range(8):
        send("mousemove", x + 20 * (step + 1), y)
        yield from rest(2)
    yield from rest(10)
    pulled = seen(suzanne)[ear] - now[ear]
    print("pulled after", round(time.monotonic() - began, 1), "s", pulled, flush=True)
    assert pulled[0] > 0.1, pulled
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
"""


@pytest.mark.long
def test_a_newcomer_pulls_an_ear(tmp_path):
    said = in_a_window(script(BODY), tmp_path, "1600x1000")
    assert "all seen" in said, said
    print(said)
