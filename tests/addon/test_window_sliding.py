"""The overlay of sliding cloth in a real window: points and arrows are seen where it is on, and not where it is off."""

from test_window import in_a_window

SCRIPT = """
import os, sys, tempfile
sys.path[:0] = [{tests!r}, {tests!r} + "/addon"]
import conftest, bpy, conjac
import numpy as np
conjac.register()
bpy.context.preferences.view.show_splash = False

def override():
    window = bpy.context.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    region = next(region for region in area.regions if region.type == "WINDOW")
    return bpy.context.temp_override(window=window, screen=window.screen, area=area, region=region)

def seen():
    # pixels of points and of arrows in a picture of the window
    path = os.path.join(tempfile.mkdtemp(), "window.png")
    with override():
        bpy.ops.screen.screenshot(filepath=path)
    image = bpy.data.images.load(path)
    image.colorspace_settings.name = "Non-Color"
    pixels = np.array(image.pixels[:]).reshape(-1, 4)[:, :3]
    bpy.data.images.remove(image)
    return [int((np.abs(pixels - colour).max(axis=1) < 0.06).sum()) for colour in ((1, 0.55, 0.1), (0.2, 0.8, 1.0))]

def artist():
    from test_sheet_playback import add_sheet, bake_by_hand
    from conjac.conjac_addon.ui import sliding
    bpy.ops.wm.save_as_mainfile(filepath=os.path.join(tempfile.mkdtemp(), "scene.blend"))
    yield
    with override():
        for one in list(bpy.data.objects):
            bpy.data.objects.remove(one)
        obj = add_sheet()
        obj.select_set(False)
        bake_by_hand(obj)
        bpy.context.scene.frame_set(3)
        bpy.ops.view3d.view_axis(type="TOP")
    drawn, plain = [], sliding.draw

    def redraw():
        for area in bpy.context.window_manager.windows[0].screen.areas:
            area.tag_redraw()
    redraw()
    for _ in range(20):
        yield
    off = seen()
    bpy.context.window_manager.conjac_show_sliding = True
    redraw()
    for _ in range(20):
        yield
    on = seen()
    assert on[0] > off[0] + 15 and on[1] > off[1] + 10, (off, on)
    print("overlay seen", off, on, flush=True)

steps = artist()

def tick():
    try:
        next(steps)
    except StopIteration:
        os._exit(0)
    except BaseException:
        import traceback
        traceback.print_exc()
        os._exit(1)
    return 0.1

bpy.app.timers.register(tick, first_interval=1.0)
"""


def test_points_and_arrows_are_seen_where_the_overlay_is_on(tmp_path):
    text = in_a_window(SCRIPT, tmp_path)
    assert "overlay seen" in text, text[-3000:]
