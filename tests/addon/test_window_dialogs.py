"""The dialogs of Save As, in a real window and clicked as an artist does, and a bake done again, which has none."""

import pytest
from test_window import in_a_window
from test_window_end import script

BODY = """
import numpy as np
from conjac.conjac_addon.bake import place, share, takes
bpy.context.preferences.view.filebrowser_display_type = "SCREEN"
BLUE = 71, 114, 179  # of what is chosen, and of what Enter presses

def seen():
    # what stands on the screen, (height, width, 3)
    raw = subprocess.run(["import", "-window", "root", "-depth", "8", "rgb:-"], check=True, capture_output=True).stdout
    return np.frombuffer(raw, np.uint8).reshape(-1, window().width, 3).astype(int)

def blue_buttons():
    # (left, top, right, bottom) of every wide blue button, the upper ones first
    rows = (abs(seen() - BLUE) < 12).all(axis=2)
    found = []
    for y, row in enumerate(rows):
        edges = np.flatnonzero(np.diff(np.r_[0, row.astype(int), 0]))
        for left, right in zip(edges[::2], edges[1::2]):
            if right - left < 12:
                continue
            for box in found:
                if y - box[3] <= 2 and left < box[2] and right > box[0]:
                    box[0], box[2], box[3] = min(box[0], left), max(box[2], right), y
                    break
            else:
                found.append([left, y, right, y])
    return [box for box in found if box[2] - box[0] > 90 and 12 < box[3] - box[1] < 40]

def rest(count=8):
    for _ in range(count):
        yield

def point_and_click(box, beside=0):
    # the button itself, or one so many widths to the right of it
    x = (box[0] + box[2]) // 2 + beside * (box[2] - box[0])
    send("mousemove", x, (box[1] + box[3]) // 2)
    yield from rest(4)
    send("mousedown", 1)
    yield from rest(2)
    send("mouseup", 1)
    yield from rest()

def dialog(buttons):
    # wait until it is on the screen
    for _ in range(40):
        found = blue_buttons()
        if len(found) == buttons:
            return found
        yield
    raise AssertionError(f"no dialog: {{found}}")

def no_dialog():
    # one that is there stays until it is answered, and then takes a moment to go
    yield from rest()
    for _ in range(40):
        if not blue_buttons():
            return
        yield
    raise AssertionError(f"a dialog: {{blue_buttons()}}")

def choose(beside):
    chosen, _ = yield from dialog(2)
    if beside:
        yield from point_and_click(chosen, beside)
    now, ok = yield from dialog(2)
    assert abs(now[0] - chosen[0] - beside * (chosen[2] - chosen[0])) < 8, (chosen, now)
    yield from rest()  # a click in the moment in which a dialog is drawn is lost
    yield from point_and_click(ok)
    yield from no_dialog()

def middle():
    view = region()
    send("mousemove", view.x + view.width // 2, window().height - view.y - view.height // 2)
    yield

def save_as(name):
    # as File > Save As: through Blender's own file browser
    yield from middle()
    press(bpy.ops.wm.save_as_mainfile)
    yield from rest()
    browser = area("FILE_BROWSER")
    params = browser.spaces.active.params
    params.directory, params.filename = os.environ["BLENDER_USER_RESOURCES"].encode(), name
    yield from rest(4)
    with bpy.context.temp_override(window=window(), screen=window().screen, area=browser,
                                   region=region(of="FILE_BROWSER")):
        bpy.ops.file.execute("INVOKE_DEFAULT")
    while os.path.basename(bpy.data.filepath) != name:
        yield

def frames_of(obj):
    folder = place.job_folder(obj) / "cache" / "frames"
    return {{path.stem: path.read_bytes() for path in sorted(folder.glob("*.npy"))}}

def written(obj):
    return max(path.stat().st_mtime_ns for path in (place.job_folder(obj) / "cache" / "frames").iterdir())

def baked(obj):
    assert press(bpy.ops.conjac.bake) == {{"RUNNING_MODAL"}}
    while session.running:
        yield
"""

SAVE_AS = BODY + """
def artist():
    cube, other, scene = beginning()
    bpy.context.view_layer.objects.active = cube
    scene.frame_end = 4
    yield from save_as("first.blend")
    yield from no_dialog()  # nothing is baked
    yield from baked(cube)
    bpy.ops.wm.save_mainfile()
    first, frames = place.job_folder(cube), frames_of(cube)
    assert len(frames) == 4

    yield from save_as("second.blend")
    yield from choose(0)
    assert place.job_folder(cube) == first and not place.of(cube).own and bake.status(cube).state == "complete"

    # asked for again, from the menu
    yield from middle()
    press(bpy.ops.conjac.shared_bakes)
    yield from choose(1)
    own = place.job_folder(cube)
    assert own != first and place.of(cube).own and frames_of(cube) == frames
    assert bake.status(cube).state == "complete"
    bpy.ops.wm.save_mainfile()

    yield from save_as("third.blend")
    yield from dialog(2)
    yield from rest()  # 5.3 hears no key in the moment in which it draws a dialog
    send("key", "Escape")  # plays on, as when shared
    yield from no_dialog()
    assert place.job_folder(cube) == own and not place.of(cube).own and bake.status(cube).state == "complete"
    yield from middle()
    press(bpy.ops.conjac.shared_bakes)
    yield from choose(2)
    assert place.of(cube).own and bake.status(cube).state == "none" and not cube.modifiers
    assert not bpy.ops.conjac.shared_bakes.poll()
    assert len(list((own / "cache" / "frames").iterdir())) == 4
    # a sentence about what could not be saved
    share.say("The bake of Cube stays in Blender's temporary folder and is deleted when Blender closes. " * 3)
    before = seen()
    yield from rest()
    dark = (abs(seen() - before).max(axis=2) > 20).any(axis=0).nonzero()[0]
    assert 200 < dark.max() - dark.min() < 600, (dark.min(), dark.max())  # lines, none wider than a dialog
"""

REPLACE = BODY + """
def reading(obj):
    return running(obj) is not None and running(obj).worker is None

def artist():
    cube, other, scene = beginning()
    light = bpy.data.objects["Light"]
    bpy.context.view_layer.objects.active = cube
    scene.frame_end = 300  # reading them takes a while
    yield from middle()
    yield from baked(cube)
    yield from no_dialog()
    frames, status, last = frames_of(cube), bake.status(cube), written(cube)
    assert len(frames) == 300 and status.state == "complete", status
    cube.conjac.youngs_modulus *= 2.0
    cube.conjac.poisson_ratio = 0.3
    yield from middle()
    # the artist goes on with something that is no soft body while the scene is read
    assert press(bpy.ops.conjac.bake) == {{"RUNNING_MODAL"}}
    while not reading(cube):
        yield
    bpy.context.view_layer.objects.active = light
    while session.running:
        yield
    yield from no_dialog()
    status = bake.status(cube)
    assert status.state == "complete" and len(frames_of(cube)) == 300, status
    assert written(cube) > last  # anew
    take, = takes.listed(place.job_folder(cube))
    kept = {{path.stem: path.read_bytes() for path in (take.folder / "cache" / "frames").glob("*.npy")}}
    assert kept == frames and (take.first, take.last) == (1, 300)
    assert bake.status(other).state == "none"

    bpy.context.view_layer.objects.active = cube
    assert press(bpy.ops.conjac.use_take) == {{"FINISHED"}}
    assert frames_of(cube) == frames and bake.status(cube).state == "stale"
    yield from seen_where_it_is(cube)
    assert len(takes.listed(place.job_folder(cube))) == 1
    yield from no_dialog()
"""


@pytest.mark.long
def test_each_choice_after_save_as_does_what_it_says(tmp_path, monkeypatch):
    monkeypatch.setenv("CONJAC_SHOTS", str(tmp_path))
    output = in_a_window(script(SAVE_AS), tmp_path, "900x700")
    assert "all seen" in output, output


@pytest.mark.long
def test_baking_again_has_no_dialog_and_stores_the_frames_as_a_take(tmp_path):
    output = in_a_window(script(REPLACE), tmp_path, "900x700")
    assert "all seen" in output, output
