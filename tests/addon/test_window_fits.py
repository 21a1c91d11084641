"""Tabs fit a 1080-line screen: that of a new body as it opens, those of cloth and ropes with their folds closed:
nothing has to be scrolled."""

import pytest
from test_window import in_a_window

SCRIPT = """
import os, subprocess, sys
sys.path[:0] = [{tests!r}, {tests!r} + "/addon"]
from window_steps import bpy, np, override, run
from conjac.conjac_addon.ui import panels

def window():
    return bpy.context.window_manager.windows[0]

def sidebar():
    area = next(area for area in window().screen.areas if area.type == "VIEW_3D")
    return area, next(region for region in area.regions if region.type == "UI")

def rest(count=12):
    for _ in range(count):
        sidebar()[1].tag_redraw()
        yield

def seen(name):
    # the sidebar as it is on the screen, (height, width, 3)
    if os.environ.get("CONJAC_SHOTS"):
        subprocess.run(["import", "-window", "root", f"{{os.environ['CONJAC_SHOTS']}}/fits_{{name}}.png"], check=True)
    raw = subprocess.run(["import", "-window", "root", "-depth", "8", "rgb:-"], check=True, capture_output=True).stdout
    screen = np.frombuffer(raw, np.uint8).reshape(-1, window().width, 3).astype(int)
    region, height = sidebar()[1], window().height
    return screen[height - region.y - region.height:height - region.y, region.x:region.x + region.width]

def ends(picture):
    # the lowest row that is not all of one color but for the tabs at the right and the scroll bar
    inner = picture[:, 4:-40]
    return int((np.ptp(inner, axis=1).max(axis=1) > 12).nonzero()[0].max())

def artist():
    bpy.context.preferences.system.use_region_overlap = False  # nothing of the view shines through below the panels
    for section in panels.SECTIONS:
        section.open = section.open and {opens}  # as Blender draws each for the first time
    area, region = sidebar()
    area.spaces.active.show_region_ui = True
    yield from rest()
    sidebar()[1].active_panel_category = "ConJac"
    yield from rest()
    for kind, make in {kinds}:
        with override():
            bpy.ops.object.select_all(action="DESELECT")
            exec(make)
        yield from rest(36)
        picture = seen(kind)
        print("FITS", kind, sidebar()[1].width, len(picture), ends(picture), flush=True)
    print("all seen", flush=True)

run(artist(), 0.05)
"""

#: what the newcomer has, and how it is made
KINDS = (("soft body", "bpy.context.view_layer.objects.active = bpy.data.objects['Cube']; "
          "bpy.data.objects['Cube'].select_set(True); bpy.ops.conjac.quick_jelly()"),
         ("cloth", "bpy.ops.mesh.primitive_grid_add(location=(9, 0, 0)); bpy.ops.conjac.quick_cloth()"),
         ("rope", "bpy.ops.curve.primitive_bezier_curve_add(location=(0, 9, 0)); bpy.ops.conjac.add_rope()"))

#: rows of the screen below what is drawn last that must be free
FREE = 4


@pytest.mark.long
@pytest.mark.parametrize("kinds,opens", [(KINDS, False), (KINDS[:1], True)], ids=["folded", "as a new body opens it"])
def test_the_tab_of_what_was_just_made_fits_a_screen_of_1080_lines(tmp_path, kinds, opens):
    script = SCRIPT.replace("{kinds}", repr(kinds)).replace("{opens}", repr(opens))
    output = in_a_window(script, tmp_path, "1920x1080")
    assert "all seen" in output, output[-3000:]
    lines = [line.split() for line in output.splitlines() if line.startswith("FITS")]
    assert len(lines) == len(kinds)
    for line in lines:
        numbers = [int(word) for word in line if word.isdecimal()]
        _, height, last = numbers[:3]
        assert 500 < height < 1080 and 300 < last < height - FREE, " ".join(line)
