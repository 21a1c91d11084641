"""Tetrahedra, a map's colors with their legend and fibers are drawn over the object, none of them in the scene."""

import pytest
from test_window import in_a_window

SCRIPT = """
import sys
sys.path[:0] = [{tests!r}, {tests!r} + "/addon"]
from window_steps import bpy, look, np, override, pictures, run
from conjac.conjac_addon.operators import previews

def picture():
    for area in bpy.context.window_manager.windows[0].screen.areas:
        area.tag_redraw()
    for _ in range(3):
        yield
    return pictures[-1]

def press(operator, **words):
    with override():
        assert operator("EXEC_DEFAULT", **words) == {{"FINISHED"}}

def artist():
    bpy.types.SpaceView3D.draw_handler_add(look, (), "WINDOW", "POST_PIXEL")
    cube = bpy.data.objects["Cube"]
    with override():
        bpy.ops.conjac.add_soft_body()
        bpy.context.window_manager.conjac_show_ground = False
        cube.select_set(False)
    settings = cube.conjac
    settings.mesher, settings.edge_length = "grid", 0.5
    group = cube.vertex_groups.new(name="Stiffness")
    for vertex in cube.data.vertices:
        group.add([vertex.index], 1.0 if vertex.co.z > 0.0 else 0.0, "REPLACE")
    settings.stiffness_group = "Stiffness"
    settings.fiber_material, settings.fiber_field = "astvk", "straight"
    count = len(bpy.data.objects), len(bpy.data.meshes), len(bpy.data.materials)
    plain = yield from picture()
    seen = {{}}
    for name, operator, words in (("tets", bpy.ops.conjac.preview_tets, {{}}),
                                  ("field", bpy.ops.conjac.preview_field, {{"field": "youngs_modulus"}}),
                                  ("fibers", bpy.ops.conjac.preview_field, {{"field": "fibers"}})):
        press(operator, **words)
        seen[name] = yield from picture()
        press(bpy.ops.conjac.remove_previews)
        again = yield from picture()
        assert np.abs(again - plain).max(axis=1).mean() < 1e-3, name
    changed = {{name: np.abs(one - plain).max(axis=1) > 0.1 for name, one in seen.items()}}
    assert changed["tets"].sum() > 500, changed["tets"].sum()
    assert (seen["tets"][changed["tets"]].mean(axis=1) > plain[changed["tets"]].mean(axis=1)).mean() > 0.9
    field = seen["field"]
    dark = changed["field"] & (field[:, 2] > field[:, 1] + 0.05) & (field[:, 0] < 0.5)
    bright = changed["field"] & (field[:, 0] > 0.6) & (field[:, 1] > 0.6) & (field[:, 2] < 0.4)
    assert dark.sum() > 100 and bright.sum() > 100, (dark.sum(), bright.sum())
    fibers = seen["fibers"]
    orange = changed["fibers"] & (fibers[:, 0] > fibers[:, 2] + 0.3)
    assert orange.sum() > 200, orange.sum()
    # the legend, in the lower left where the cube does not reach
    area = next(area for area in bpy.context.window_manager.windows[0].screen.areas if area.type == "VIEW_3D")
    region = next(region for region in area.regions if region.type == "WINDOW")
    corner = changed["field"].reshape(region.height, region.width)[40:110, :]
    assert corner.sum() > 180 * 10, corner.sum()
    # what looks away is not drawn over what looks at the eye: the top is bright all over
    rows = np.flatnonzero((dark | bright).reshape(region.height, region.width)[110:].any(axis=1)) + 110
    top = bright.reshape(region.height, region.width)[rows.max() - 25 : rows.max()]
    below = dark.reshape(region.height, region.width)[rows.max() - 25 : rows.max()]
    assert top.sum() > 50 * max(int(below.sum()), 1), (top.sum(), below.sum())
    assert count == (len(bpy.data.objects), len(bpy.data.meshes), len(bpy.data.materials))
    print("previews seen", flush=True)

run(artist(), 0.1)
"""


@pytest.mark.long
def test_tetrahedra_a_map_and_fibers_are_seen_in_the_window(tmp_path):
    text = in_a_window(SCRIPT, tmp_path, "900x700")
    assert "previews seen" in text, text[-3000:]
