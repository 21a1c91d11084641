"""In a real window: an error is red in the panel until it is fixed, and no button below moves."""

import pytest
from test_window import in_a_window

SCRIPT = """
import subprocess, sys
sys.path[:0] = [{tests!r}, {tests!r} + "/addon"]
from window_steps import bpy, np, override, run
from conjac.conjac_addon.bake import session

def window():
    return bpy.context.window_manager.windows[0]

def sidebar():
    area = next(area for area in window().screen.areas if area.type == "VIEW_3D")
    return area, next(region for region in area.regions if region.type == "UI")

def seen():
    # the sidebar as it is on the screen, (height, width, 3)
    raw = subprocess.run(["import", "-window", "root", "-depth", "8", "rgb:-"], check=True, capture_output=True).stdout
    screen = np.frombuffer(raw, np.uint8).reshape(-1, window().width, 3).astype(int)
    region, height = sidebar()[1], window().height
    return screen[height - region.y - region.height:height - region.y, region.x:region.x + region.width]

def rest(count=8):
    for _ in range(count):
        sidebar()[1].tag_redraw()
        yield

def red(picture):
    return ((picture[..., 0] > 170) & (picture[..., 1] < 120) & (picture[..., 2] < 120)).any(axis=1).nonzero()[0]

def press_bake():
    with override():
        try:
            bpy.ops.conjac.bake("INVOKE_DEFAULT")
        except RuntimeError:
            pass
    while session.running:
        yield

def artist():
    # nothing of the view shines through below the panels, such as its red axis
    bpy.context.preferences.system.use_region_overlap = False
    area, _ = sidebar()
    area.spaces.active.show_region_ui = True
    yield from rest()
    sidebar()[1].active_panel_category = "ConJac"
    cube = bpy.data.objects["Cube"]
    with override():
        bpy.ops.conjac.add_soft_body()
    soft = cube.conjac
    soft.mesher, soft.edge_length, soft.step, bpy.context.scene.frame_end = "grid", 1.0, 1 / 24, 3
    yield from rest(20)
    before = seen()
    assert not len(red(before))
    soft.stiffness_group = "Missing"  # in a section that is closed
    yield from press_bake()
    yield from rest(20)
    after = seen()
    rows = red(after)
    assert 8 < rows.max() - rows.min() + 1 < 30, rows  # one line of text and its icon
    # what stands below the line of the notes has not moved; nor have the buttons above it, but for the status
    below = rows.max() + 8
    np.testing.assert_array_equal(before[below:below + 300], after[below:below + 300])
    changed = (before[:rows.min() - 8] != after[:rows.min() - 8]).any(axis=(1, 2)).nonzero()[0]
    assert len(changed) < 24, changed  # the status, one line
    soft.stiffness_group = "Stiffness"
    yield from press_bake()
    yield from rest(20)
    assert not len(red(seen()))
    # beside its button a note shows more than two words
    from conjac.conjac_addon import text
    from conjac.conjac_addon.ui import notes
    sentence = "Only 49 vertices: too few to bend visibly"
    alone = text.one_line(sentence, sidebar()[1], notes.BESIDE)
    beside = text.one_line(sentence, sidebar()[1], notes.BESIDE, notes.LINE)
    assert beside.startswith("Only 49 vertices:") and len(beside) < len(alone) < len(sentence), (beside, alone)
    print("all seen", flush=True)

run(artist(), 0.1)
"""


@pytest.mark.long
def test_an_error_is_one_red_line_that_moves_nothing(tmp_path):
    assert "all seen" in in_a_window(SCRIPT, tmp_path, "1600x1000")
