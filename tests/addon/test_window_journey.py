"""A newcomer's first minute in the real window, by keys and clicks of the window system, from an unsaved new scene.

The picture of the manual's first page is made here: `CONJAC_PICTURES=docs` keeps it.
"""

import os
import shutil
import subprocess

import pytest
from test_window import ROOT, in_a_window

HEAD = """
import os, subprocess, sys, time
sys.path[:0] = [{tests!r}, {tests!r} + "/addon"]
from window_steps import bpy, np, override, positions_of, run, seen_where_it_is
from conjac.conjac_addon import bake, live
from conjac.conjac_addon.bake import place, session, takes

scene = bpy.context.scene
cube = bpy.data.objects["Cube"]

# below the top of the sidebar, of buttons of the ConJac tab [px at a scale of one]
LIVE, BAKE = 51, 83

def window():
    return bpy.context.window_manager.windows[0]

def region(kind):
    area = next(area for area in window().screen.areas if area.type == "VIEW_3D")
    return next(region for region in area.regions if region.type == kind)

def send(*words):
    # as the artist's hand: an event of the window system
    subprocess.run(["xdotool", *map(str, words)], check=True)

def rest(count=8):
    for _ in range(count):
        yield

def point(x, y):
    send("mousemove", x, window().height - y)
    yield from rest(4)

def click(x, y):
    yield from point(x, y)
    send("mousedown", 1)
    yield from rest(2)
    send("mouseup", 1)
    yield from rest(4)

def button(below):
    ui = region("UI")
    yield from click(ui.x + ui.width // 3, ui.y + ui.height - below)

def key(name):
    # with the mouse over the view
    view = region("WINDOW")
    yield from point(view.x + view.width // 3, view.y + view.height // 2)
    send("key", name)
    yield from rest()

def until(true, what, seconds=240):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, what
        yield

def seen(name=""):
    # what stands on the screen, (height, width, 3)
    if name and os.environ.get("CONJAC_SHOTS"):
        subprocess.run(["import", "-window", "root", os.environ["CONJAC_SHOTS"] + "/" + name + ".png"], check=True)
    raw = subprocess.run(["import", "-window", "root", "-depth", "8", "rgb:-"], check=True, capture_output=True).stdout
    return np.frombuffer(raw, np.uint8).reshape(-1, window().width, 3).astype(int)

def height():
    heights = positions_of(cube)[:, 2] - cube.matrix_world.translation.z
    return float(np.ptp(heights)), float(heights.mean())

def tab():
    next(area for area in window().screen.areas if area.type == "VIEW_3D").spaces.active.show_region_ui = True
    for step in range(24):
        if step == 10:
            region("UI").active_panel_category = "ConJac"
        region("UI").tag_redraw()
        yield

def baked():
    yield from until(lambda: not session.running, "it bakes on")
    yield from rest()
"""

FIRST_MINUTE = HEAD + """
def artist():
    assert not bpy.data.filepath and len(cube.data.vertices) == 8
    scene.frame_end = 20
    # the first click: F3 finds it
    yield from key("F3")
    yield from rest(12)
    send("type", "--delay", "80", "jelly")
    yield from rest(16)
    send("key", "Return")
    yield from until(lambda: cube.conjac.kind == "soft_body", "F3 jelly made nothing", 20)
    yield from tab()
    picture = seen("jelly_ready")
    blue = (picture[..., 2] > picture[..., 0] + 25) & (picture[..., 2] > picture[..., 1] + 5)
    assert blue[200:800, 300:1000].sum() > 10000, blue.sum()  # its ground
    # the second: it bakes
    yield from button(BAKE)
    yield from until(lambda: session.running or bake.status(cube).state != "none", "Bake was not hit", 20)
    yield from baked()
    status = bake.status(cube)
    assert status.state == "complete" and status.total == 20, status
    # the third: it plays
    yield from key("space")
    assert window().screen.is_animation_playing
    yield from key("space")
    heights = []
    for frame in range(1, 21):
        scene.frame_set(frame)
        heights.append(height())
    tall, middle = (np.array(one) for one in zip(*heights))
    assert abs(tall[0] - 2.0) < 0.01 and tall.min() < 1.85, tall  # it is squeezed where it lands
    assert middle.min() < middle[0] - 0.8, middle  # it has fallen
    scene.frame_set(1)
    yield from rest()
    before = seen()
    scene.frame_set(1 + int(tall.argmin()))
    yield from rest()
    after = seen("jelly")
    moved = (abs(after - before).max(axis=2) > 40)[200:800, 300:1000].sum()
    assert moved > 5000, moved  # that is seen
    print("all seen", flush=True)

run(artist(), 0.05)
"""

THREE_CLICKS = HEAD + """
clicks = 0

def on(area, x, y):
    # one click, x from the left and y from the top of an area [px]
    global clicks
    clicks += 1
    yield from click(area.x + x, area.y + area.height - y)

def artist():
    assert not bpy.data.filepath and len(cube.data.vertices) == 8 and scene.frame_end == 250
    properties = next(area for area in window().screen.areas if area.type == "PROPERTIES")
    assert properties.spaces.active.context == "OBJECT"
    yield from on(properties, 16, 392 if bpy.app.version >= (5, 3) else 363)  # the tab Physics; 5.3 has one more above
    yield from until(lambda: properties.spaces.active.context == "PHYSICS", "the tab was not hit", 20)
    yield from rest(20)
    yield from on(properties, 150, 276)  # ConJac Jelly
    yield from until(lambda: cube.conjac.kind == "soft_body", "ConJac Jelly was not hit", 20)
    yield from rest(20)
    yield from on(properties, 100, 345)  # Bake
    yield from until(lambda: session.running, "Bake was not hit", 20)
    # that is all: it plays what is there while the rest is baked
    yield from until(lambda: (next(iter(session.running.values())).progress.frame or 0) > 30, "no frame comes")
    yield from key("space")
    assert window().screen.is_animation_playing
    heights = {{}}
    def played():
        heights[scene.frame_current] = height()
        return len(heights) > 24 and scene.frame_current > 26
    yield from until(played, "it does not play on", 120)
    yield from key("space")
    seen("three_clicks")
    yield from seen_where_it_is(cube)
    shown = [frame for frame in heights if frame <= 30]
    tall, middle = (np.array([heights[frame][k] for frame in shown]) for k in (0, 1))
    assert min(tall) < 1.85 and max(tall) < 3.0, tall  # it is squeezed where it lands
    low = [heights[frame][1] - 0.5 * heights[frame][0] for frame in shown]
    ground = cube.conjac.ground_height - cube.location.z
    assert min(low) > ground - 0.15, (low, ground)  # it stays on its ground
    assert min(middle) < -0.8, middle  # it has fallen
    key_of_bake = next(iter(session.running), None)
    if key_of_bake is not None:
        yield from key("Escape")
        yield from baked()
    assert clicks == 3
    print("all seen", flush=True)

run(artist(), 0.05)
"""

SPACE = HEAD + """
def artist():
    scene.frame_end = 20
    with override():
        bpy.ops.conjac.quick_jelly()
    yield from rest()
    before = seen()
    yield from key("space")
    yield from until(lambda: live.played(cube) is not None and live.played(cube).is_moving, "it does not play", 120)
    yield from until(lambda: height()[1] < -0.3, "it does not fall", 60)
    moved = (abs(seen() - before).max(axis=2) > 40)[200:800, 300:1000].sum()
    assert moved > 5000, moved  # that is seen
    assert window().screen.is_animation_playing
    yield from key("space")
    yield from until(lambda: live.played(cube) is None, "the timeline's end does not end it", 20)
    assert height()[1] > -0.01 and bake.status(cube).state == "none"
    # what is baked is the timeline's alone
    cube.conjac.mesher, cube.conjac.edge_length, scene.frame_end = "grid", 0.5, 3
    with override():
        bpy.ops.conjac.bake("INVOKE_DEFAULT")
    yield from until(lambda: session.running, "it does not bake", 20)
    yield from baked()
    yield from key("space")
    yield from rest(20)
    assert window().screen.is_animation_playing and live.played(cube) is None
    print("all seen", flush=True)

run(artist(), 0.05)
"""

AGAIN = HEAD + """
def artist():
    scene.frame_end = 6
    with override():
        bpy.ops.conjac.quick_jelly()
    cube.conjac.mesher, cube.conjac.edge_length = "grid", 0.5
    cube.conjac.contact.collides_with = "none"  # a copy that touches is baked together with it
    yield from tab()
    # live: it falls though the timeline stands, and Esc takes all of it back
    yield from button(LIVE)
    yield from until(lambda: live.played(cube) is not None and live.played(cube).is_moving, "it does not play", 120)
    yield from until(lambda: height()[1] < -0.3, "it does not fall", 60)
    yield from key("Escape")
    yield from until(lambda: live.played(cube) is None, "Esc does not end it", 20)
    assert height()[1] > -0.01 and scene.frame_current == 1 and bake.status(cube).state == "none"
    # bake, cancel, go on
    scene.frame_end = 400
    yield from button(BAKE)
    yield from until(lambda: session.running and (next(iter(session.running.values())).progress.frame or 0) > 3,
                     "no frame comes")
    yield from key("Escape")
    yield from baked()
    status = bake.status(cube)
    assert status.state == "partial" and 3 < status.done < 400, status
    first = status.done
    scene.frame_end = first + 4
    yield from rest(30)
    yield from button(BAKE)
    yield from until(lambda: session.running, "Resume was not hit", 20)
    yield from baked()
    assert bake.status(cube).state == "complete" and bake.status(cube).done == first + 4
    # another setting: the same click asks nothing and keeps what was there
    cube.conjac.youngs_modulus *= 2.0
    yield from rest(30)
    yield from button(BAKE)
    yield from until(lambda: session.running, "Bake was not hit", 20)
    yield from baked()
    folder = place.job_folder(cube)
    assert bake.status(cube).state == "complete" and [one.number for one in takes.listed(folder)] == [1]
    # first save, rename, a copy, the original deleted
    os.makedirs(os.environ["BLENDER_USER_RESOURCES"], exist_ok=True)
    path = os.path.join(os.environ["BLENDER_USER_RESOURCES"], "first.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    yield from rest()
    assert bake.status(cube).state == "complete" and not folder.exists() and takes.listed(place.job_folder(cube))
    cube.name = "Pudding"
    yield from rest()
    assert bake.status(cube).state == "complete"
    with override():
        bpy.ops.object.select_all(action="DESELECT")
        cube.select_set(True)
        bpy.context.view_layer.objects.active = cube
        bpy.ops.object.duplicate()
    copy = bpy.context.view_layer.objects.active
    yield from rest(20)
    assert copy.name != cube.name and '"Pudding"' in bake.status(copy).text, bake.status(copy)
    with override():
        bpy.data.objects.remove(cube)
    yield from rest(20)
    assert "deleted" in bake.status(copy).text and bake.status(copy).state == "complete"
    scene.frame_set(scene.frame_end)
    yield from seen_where_it_is(copy)
    print("all seen", flush=True)

run(artist(), 0.05)
"""


def needs_a_hand():
    if shutil.which("xdotool") is None or shutil.which("import") is None:
        pytest.skip("xdotool or ImageMagick is not installed")


@pytest.mark.long
def test_the_default_cube_wobbles_after_two_clicks_and_plays_by_the_third(tmp_path, monkeypatch):
    needs_a_hand()
    monkeypatch.setenv("CONJAC_SHOTS", str(tmp_path))
    output = in_a_window(FIRST_MINUTE, tmp_path, "1600x1000")
    assert "all seen" in output, output[-3000:]
    if os.environ.get("CONJAC_PICTURES"):
        crop = ["-crop", "1322x877+0+28", "+repage", "-resize", "1000x", "-dither", "None", "-colors", "96"]
        subprocess.run(["convert", str(tmp_path / "jelly.png"), *crop, str(ROOT / "docs" / "jelly.png")], check=True)


@pytest.mark.long
def test_three_clicks_lead_from_a_new_scene_to_a_bake_that_plays(tmp_path, monkeypatch):
    needs_a_hand()
    monkeypatch.setenv("CONJAC_SHOTS", str(tmp_path))
    output = in_a_window(THREE_CLICKS, tmp_path, "1600x1000")
    assert "all seen" in output, output[-3000:]


@pytest.mark.long
def test_a_new_body_wobbles_live_while_the_timeline_plays(tmp_path):
    needs_a_hand()
    output = in_a_window(SPACE, tmp_path, "1600x1000")
    assert "all seen" in output, output[-3000:]


@pytest.mark.long
def test_live_cancelled_continued_baked_again_saved_renamed_and_copied(tmp_path):
    needs_a_hand()
    output = in_a_window(AGAIN, tmp_path, "1600x1000")
    assert "all seen" in output, output[-3000:]
