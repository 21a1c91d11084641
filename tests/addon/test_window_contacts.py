"""The overlay of contacts in a real window: points and arrows are drawn where it is on, and not where it is off."""

import pytest
from test_window import in_a_window

SCRIPT = """
import sys
sys.path[:0] = [{tests!r}, {tests!r} + "/addon"]
from window_steps import bpy, np, override, run, with_and_without

def artist():
    from falling_boxes import add_ball
    from conjac.conjac_addon import bake
    with override():
        for one in list(bpy.data.objects):
            bpy.data.objects.remove(one)
        scene = bpy.context.scene
        scene.frame_start, scene.frame_end, scene.render.fps = 1, 10, 24
        low, high = add_ball("Low", 0.12), add_ball("High", 0.34, along=0.05)
        assert bake.bake_object(low) == 0
        for one in (low, high):
            one.select_set(False)
            one.display_type = "WIRE"
        scene.frame_set(6)
        view = bpy.context.space_data.region_3d
        view.view_perspective, view.view_distance = "ORTHO", 0.6
        view.view_location, view.view_rotation = (0.0, 0.0, 0.2), (0.7071, 0.7071, 0, 0)
    off, on = yield from with_and_without("conjac_show_contacts")
    changed = np.abs(on - off).max(axis=1) > 0.1
    red = (on[:, 0] > on[:, 1] + 0.3) & changed
    yellow = (on[:, 1] > on[:, 2] + 0.3) & changed
    assert red.sum() > 15 and yellow.sum() > 15, (red.sum(), yellow.sum(), changed.sum())
    assert changed.sum() < 0.05 * len(on)
    print("overlay seen", flush=True)

run(artist(), 0.1)
"""


@pytest.mark.long
def test_contacts_are_seen_where_the_overlay_is_on(tmp_path):
    text = in_a_window(SCRIPT, tmp_path, "900x700")
    assert "overlay seen" in text, text[-3000:]
