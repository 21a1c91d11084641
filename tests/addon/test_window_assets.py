"""Add > ConJac and the asset library in the real window: found by F3, and shown by the Asset Browser."""

import pytest
from test_window import in_a_window
from test_window_journey import HEAD, needs_a_hand

SHOWN = HEAD + """
from conjac.conjac_addon import asset_library

def red_seen(area, name):
    # pixels of the color of gelatin in the part of the screen where the files are
    region_of = next(region for region in area.regions if region.type == "WINDOW")
    top = window().height - region_of.y - region_of.height
    picture = seen(name)[top:top + region_of.height, region_of.x:region_of.x + region_of.width]
    return int(((picture[..., 0] > 120) & (picture[..., 1] < 100) & (picture[..., 2] < 100)).sum())

def artist():
    # F3 finds an example and a sample, each at the cursor
    for words, name in (("tablecloth", "Tablecloth"), ("silk swatch", "Silk Swatch")):
        yield from key("F3")
        yield from rest(12)
        send("type", "--delay", "80", words)
        yield from rest(16)
        send("key", "Return")
        yield from until(lambda: name in bpy.data.objects, f"F3 {{words}} made nothing", 20)
    assert bpy.data.objects["Tablecloth"].conjac.kind == bpy.data.objects["Silk Swatch"].conjac.kind == "cloth"
    # the library, once it is asked for
    asset_library.list_it(True)
    area = next(area for area in window().screen.areas if area.type == "PROPERTIES")
    area.ui_type = "ASSETS"
    yield from rest(12)
    space = area.spaces.active
    space.show_region_toolbar = space.show_region_tool_props = False
    yield from rest(12)
    space.params.asset_library_reference = "ConJac"
    for words, is_there in (("Gelatin Ball", True), ("nothing is called so", False)):
        space.params.filter_search = words
        area.tag_redraw()
        yield from rest(60)
        found = red_seen(area, f"assets_{{words.split()[0]}}")
        assert (found > 500) == is_there, (words, found)
    print("all seen", flush=True)

run(artist(), 0.05)
"""


@pytest.mark.long
def test_f3_adds_examples_and_the_asset_browser_shows_the_library(tmp_path, monkeypatch):
    needs_a_hand()
    monkeypatch.setenv("CONJAC_SHOTS", str(tmp_path))
    output = in_a_window(SHOWN, tmp_path, "1600x1000")
    assert "all seen" in output, output[-3000:]
