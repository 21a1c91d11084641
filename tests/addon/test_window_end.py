"""Bakes behind a real window: started by a timer, beside a render, over a playing timeline, under the artist's clicks.
"""

import pytest
from test_window import in_a_window

#: what all of them begin with: an animated soft cube, and another one that does not move
HEAD = """
import os, subprocess, sys
sys.path[:0] = [{tests!r}, {tests!r} + "/addon"]
from window_steps import bpy, run, seen_where_it_is
from conjac.conjac_addon import bake, events
from conjac.conjac_addon.bake import session
view = bpy.context.preferences.view
view.render_display_type = "NONE"

def window():
    return bpy.context.window_manager.windows[0]

def area(kind="VIEW_3D"):
    return next(area for area in window().screen.areas if area.type == kind)

def region(kind="WINDOW", of="VIEW_3D"):
    return next(region for region in area(of).regions if region.type == kind)

def press(operator, how="INVOKE_DEFAULT", of="VIEW_3D", **options):
    with bpy.context.temp_override(window=window(), screen=window().screen, area=area(of), region=region(of=of)):
        return operator(how, True, **options)

def send(*words):
    # as the artist's hand: an event of the window system
    subprocess.run(["xdotool", *map(str, words)], check=True)

def click(x, y):
    send("mousemove", x, window().height - y, "sleep", "0.05", "mousedown", 1, "sleep", "0.05", "mouseup", 1)

def softened(name):
    obj = bpy.data.objects[name]
    soft = obj.conjac
    soft.{kind}
    soft.mesher, soft.edge_length, soft.step = "grid", 1.0, 1 / 24
    return obj

def beginning():
    other = bpy.data.objects["Cube"].copy()
    other.data = other.data.copy()
    other.name = "Other"
    other.location.x = 5.0
    bpy.context.scene.collection.objects.link(other)
    cube = softened("Cube")
    cube.keyframe_insert("location", frame=1)
    cube.location.y = 1.0
    cube.keyframe_insert("location", frame=400)
    bpy.context.scene.frame_end = 6
    return cube, softened("Other"), bpy.context.scene

def running(obj):
    return session.running.get(obj.session_uid)
"""

TAIL = """
def steps():
    for ticks, _ in enumerate(artist()):
        assert ticks < 3000, [one.progress for one in session.running.values()]
        yield
    print("all seen", flush=True)

run(steps(), 0.05)
"""

FROM_A_TIMER = """
def artist():
    cube, other, scene = beginning()
    scene.frame_set(5)
    for obj in (cube, other):
        obj.conjac.export = "abc"
        assert obj.conjac.bake(wait=False) == 75
    while session.running:
        assert scene.frame_current == 5
        yield
    for obj in (cube, other):
        status = bake.status(obj)
        assert status.state == "complete", status
        assert obj.modifiers["ConJac"].type == "MESH_SEQUENCE_CACHE"
    yield from seen_where_it_is(cube)
    # while a render runs, nothing of the scene is touched
    scene.render.engine, scene.cycles.samples = "CYCLES", 1
    scene.render.resolution_x = scene.render.resolution_y = 64
    scene.frame_end = 12
    scene.render.filepath = bpy.app.tempdir + "frame"
    assert press(bpy.ops.render.render, animation=True) == {{"RUNNING_MODAL"}}
    while not bpy.app.is_job_running("RENDER"):
        yield
    cube.conjac.youngs_modulus *= 2.0
    assert cube.conjac.bake(wait=False) == 75
    waited = 0
    while bpy.app.is_job_running("RENDER"):
        if running(cube) is not None and "Waiting for the render" in running(cube).progress.text:
            assert running(cube).worker is None
            waited += 1
        yield
    assert waited > 0
    assert len([name for name in os.listdir(bpy.app.tempdir) if name.startswith("frame")]) == 12
    while session.running:
        yield
    assert bake.status(cube).state == "complete", bake.status(cube)
"""

KEYS_AND_CLICKS = """
lines = {{}}
set_status_text = bpy.types.WorkSpace.status_text_set

def listened(self, text):
    lines[self.name] = text
    set_status_text(self, text)

bpy.types.WorkSpace.status_text_set = listened

def reading(obj):
    return running(obj) is not None and running(obj).worker is None and (running(obj).progress.fraction or 0.0) > 0.0

def artist():
    cube, other, scene = beginning()
    scene.frame_end = 20000  # reading them takes a while
    area().spaces.active.show_region_ui = True
    for one in scene.objects:
        one.select_set(one == cube)
    bpy.context.view_layer.objects.active = cube
    yield
    yield
    region("UI").active_panel_category = "ConJac"
    for _ in range(3):
        yield

    # the buttons live while the scene is read
    assert press(bpy.ops.conjac.bake) == {{"RUNNING_MODAL"}}
    while not reading(cube):
        yield
    bar = region("UI")
    for below in range(76, 140, 8):  # below Play Live
        if running(cube) is None:
            break
        click(bar.x + bar.width // 4, bar.y + bar.height - below)
        for _ in range(4):
            yield
    assert running(cube) is None, "no click reached Pause"
    assert bake.status(cube).state == "none" and scene.frame_current == 1
    print("paused by a click", below, flush=True)

    # Esc stops what plays, and only then the bake
    assert press(bpy.ops.conjac.bake) == {{"RUNNING_MODAL"}}
    while not reading(cube):
        yield
    press(bpy.ops.screen.animation_play)
    assert window().screen.is_animation_playing
    middle = region()
    send("mousemove", middle.x + middle.width // 2, window().height - middle.y - middle.height // 2)
    yield
    send("key", "Escape")
    while window().screen.is_animation_playing:
        yield
    for _ in range(3):
        yield
    assert running(cube) is not None
    assert lines[window().workspace.name].startswith("ConJac: Cube: ")

    # the line follows into another workspace and is left in none
    first = window().workspace
    window().workspace = next(one for one in bpy.data.workspaces if one.name == "Modeling")
    while lines[first.name] is not None:
        yield
    assert lines[first.name] is None and lines["Modeling"].startswith("ConJac: Cube: "), lines
    middle = region()
    send("mousemove", middle.x + middle.width // 2, window().height - middle.y - middle.height // 2)
    yield
    send("key", "Escape")
    while running(cube) is not None:
        yield
    for _ in range(3):
        yield
    assert set(lines.values()) == {{None}}, lines
    window().workspace = first
    for _ in range(3):
        yield

    # a pinned Physics tab bakes what it shows
    scene.frame_end = 3
    tab = area("PROPERTIES").spaces.active
    tab.context = "PHYSICS"
    tab.use_pin_id, tab.pin_id = True, other
    yield
    with bpy.context.temp_override(window=window(), screen=window().screen, area=area("PROPERTIES"),
                                   region=region(of="PROPERTIES")):
        assert bpy.context.object == other and bpy.context.active_object == cube
    assert press(bpy.ops.conjac.bake, of="PROPERTIES") == {{"RUNNING_MODAL"}}
    assert running(other) is not None and running(cube) is None
    while session.running:
        yield
    assert bake.status(other).state == "complete" and bake.status(cube).state == "none"
"""


def script(body):
    return HEAD.replace("{kind}", 'kind = "soft_body"') + body + TAIL


@pytest.mark.long
def test_bakes_started_by_a_timer_write_alembic_and_wait_for_a_render(tmp_path):
    output = in_a_window(script(FROM_A_TIMER), tmp_path, "900x700")
    assert "all seen" in output, output


@pytest.mark.long
def test_clicks_and_keys_reach_what_the_artist_means(tmp_path):
    output = in_a_window(script(KEYS_AND_CLICKS), tmp_path, "900x700")
    assert "all seen" in output, output
