"""The overlay of sliding cloth in a real window: points and arrows are drawn where it is on, and not where it is
off."""

import pytest
from test_window import in_a_window

SCRIPT = """
import sys
sys.path[:0] = [{tests!r}, {tests!r} + "/addon"]
from window_steps import bpy, np, override, run, with_and_without

def artist():
    from test_sheet_playback import add_sheet, bake_by_hand
    with override():
        for one in list(bpy.data.objects):
            bpy.data.objects.remove(one)
        obj = add_sheet()
        obj.select_set(False)
        bake_by_hand(obj)
        bpy.context.scene.frame_set(3)
        view = bpy.context.space_data.region_3d
        view.view_perspective, view.view_distance = "ORTHO", 1.0
        view.view_location, view.view_rotation = (0.5, 0.2, 0.0), (1, 0, 0, 0)
    off, on = yield from with_and_without("conjac_show_sliding")
    changed = np.abs(on - off).max(axis=1) > 0.1
    reddish = (on[:, 0] > on[:, 2] + 0.3) & changed
    bluish = (on[:, 2] > on[:, 0] + 0.3) & changed
    assert 15 < reddish.sum() < 200 and 10 < bluish.sum() < 400, (reddish.sum(), bluish.sum(), changed.sum())
    print("overlay seen", flush=True)

run(artist(), 0.1)
"""


@pytest.mark.long
def test_points_and_arrows_are_seen_where_the_overlay_is_on(tmp_path):
    text = in_a_window(SCRIPT, tmp_path, "900x700")
    assert "overlay seen" in text, text[-3000:]
