"""Add > ConJac and the asset library in the real window: found by F3, and dragged from the Asset Browser."""

import pytest
from test_window import in_a_window
from test_window_journey import HEAD, needs_a_hand

DRAGGED = HEAD + """
from conjac.conjac_addon import asset_library

def drag(start, end):
    yield from point(*start)
    send("mousedown", 1)
    yield from rest(4)
    for step in range(1, 11):
        yield from point(*(round(a + (b - a) * step / 10) for a, b in zip(start, end)))
    yield from rest(8)
    send("mouseup", 1)
    yield from rest(12)

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
    for name in ("Gelatin Ball", "Nodding Head"):
        space.params.asset_library_reference = "ConJac"
        space.params.filter_search = name
        area.tag_redraw()
        yield from rest(60)
        seen(f"assets_{{name.split()[0]}}")
        region_of = next(region for region in area.regions if region.type == "WINDOW")
        start = region_of.x + 60, region_of.y + region_of.height - 70
        view = region("WINDOW")
        yield from drag(start, (view.x + view.width // 3, view.y + view.height // 3))
        yield from until(lambda: name in bpy.data.objects, f"{{name}} was not dropped", 20)
        seen(f"dropped_{{name.split()[0]}}")
        dropped = bpy.data.objects[name]
        assert dropped.name in bpy.context.view_layer.objects and dropped.library is None
        assert dropped.conjac.kind == "soft_body" and dropped.conjac.cache.uuid == ""
        assert dropped.matrix_world.translation.xy.length > 0.5, dropped.matrix_world  # where the mouse was
    assert bpy.data.objects["Gelatin Ball"].conjac.youngs_modulus == 8000.0
    # and it bakes
    ball = bpy.data.objects["Gelatin Ball"]
    scene.frame_end = 3
    with override():
        bpy.context.view_layer.objects.active = ball
        bpy.ops.conjac.bake("INVOKE_DEFAULT")
    yield from until(lambda: session.running or bake.status(ball).state == "complete", "it does not bake", 20)
    yield from baked()
    assert bake.status(ball).state == "complete", bake.status(ball)
    print("all seen", flush=True)

run(artist(), 0.05)
"""


@pytest.mark.long
def test_f3_adds_examples_and_assets_are_dragged_into_the_view(tmp_path, monkeypatch):
    needs_a_hand()
    monkeypatch.setenv("CONJAC_SHOTS", str(tmp_path))
    said = in_a_window(DRAGGED, tmp_path, "1600x1000")
    assert "all seen" in said, said[-3000:]
