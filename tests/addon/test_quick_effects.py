"""Object > Quick Effects: one click on the default scene's cube, and a bake shows something."""

import bpy
import numpy as np
import pytest
from drawn_panels import Context, FakeLayout


def seen(obj, frame):
    """Return world positions (n, 3) [m] of the evaluated mesh."""
    bpy.context.scene.frame_set(frame)
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    flat = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", flat)
    world = np.array(obj.matrix_world)
    return flat.reshape(-1, 3) @ world[:3, :3].T + world[:3, 3]


def default_cube():
    """Return the cube of a new scene: two metres, around the origin, eight vertices."""
    bpy.ops.mesh.primitive_cube_add(size=2.0)
    return bpy.context.object


def test_they_stand_in_blenders_own_menu(addon):
    log = []
    from conjac.conjac_addon.ui import menus

    menus.draw_quick(type("Menu", (), {"layout": FakeLayout(log)})(), Context(None))
    assert [name for kind, name in log if kind == "operator"] == [
        "conjac.quick_jelly", "conjac.quick_cloth", "conjac.ragdoll"]
    host = bpy.types.VIEW3D_MT_object_quick_effects
    assert menus.draw_quick in host.draw._draw_funcs
    addon.unregister()
    assert menus.draw_quick not in host.draw._draw_funcs
    addon.register()


def test_the_default_cube_falls_from_above_the_ground_and_is_fine_enough(addon):
    cube = default_cube()
    assert bpy.ops.conjac.quick_jelly() == {"FINISHED"}
    assert cube.conjac.kind == "soft_body" and len(cube.data.vertices) == 8, "its mesh is as it was"
    bpy.context.view_layer.update()
    positions = seen(cube, 1)
    assert len(positions) > 300 and positions[:, 2].min() == pytest.approx(1.0)
    assert np.ptp(positions, axis=0).max() == pytest.approx(2.0)
    assert cube.conjac.use_ground and cube.conjac.ground_height == 0.0
    from conjac.conjac_addon.gather import count_at_mark

    assert count_at_mark(cube) == len(positions), "the subdivision stands above what is simulated"


@pytest.mark.parametrize("prepared", ["parent", "keyframes", "pin"])
def test_what_a_parent_or_keyframes_or_pins_position_is_not_lifted(addon, prepared):
    cube = default_cube()
    if prepared == "parent":
        bpy.ops.object.empty_add()
        cube.parent = bpy.context.object
        bpy.context.view_layer.objects.active = cube
        cube.select_set(True)
    elif prepared == "keyframes":
        cube.keyframe_insert("location", frame=1)
    else:
        cube.vertex_groups.new(name="Pin")
    bpy.ops.conjac.quick_jelly()
    assert cube.location.z == 0.0


def test_cloth_falls_on_the_table_below_which_is_a_collider(addon):
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=(0, 0, 0.5))
    table = bpy.context.object
    bpy.ops.mesh.primitive_plane_add(size=2.0, location=(0, 0, 1.0))
    sheet = bpy.context.object
    bpy.ops.conjac.quick_cloth(falls_from=0.1)
    assert sheet.conjac.kind == "cloth" and table.conjac.kind == "collider"
    assert sheet.location.z == pytest.approx(1.2) and len(seen(sheet, 1)) > 900


def test_it_stays_as_it_is_where_the_artist_says_so(addon):
    cube = default_cube()
    bpy.ops.conjac.quick_jelly(falls_from=0.0, subdivide=False, colliders=False)
    assert cube.location.z == 0.0 and not len(cube.modifiers) and cube.conjac.kind == "soft_body"


def pinned_heights(obj):
    """Return z, in the simulated mesh, of hard-pinned vertices and of the others."""
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    index = obj.vertex_groups[obj.conjac.pin_group].index
    pinned = [any(membership.group == index and membership.weight > 0.5 for membership in vertex.groups)
              for vertex in mesh.vertices]
    heights = np.array([vertex.co.z for vertex in mesh.vertices])
    return heights[pinned], heights[~np.array(pinned)]


@pytest.mark.parametrize("shape", ["cube", "uv_sphere"])
def test_it_hangs_by_its_top_with_the_option(addon, shape):
    """A cube has no vertices between its top and its bottom, so the border is that of its new faces."""
    getattr(bpy.ops.mesh, f"primitive_{shape}_add")()
    obj = bpy.context.object
    bpy.ops.conjac.quick_jelly(hangs_by=0.2)
    bpy.context.view_layer.update()
    pinned, free = pinned_heights(obj)
    assert obj.location.z == 0.0 and not obj.conjac.soft_pins
    assert pinned.min() > 0.6 - 1e-6 and pinned.max() == pytest.approx(1.0) and free.max() < 0.6 + 1e-6


def test_painted_pins_stay_as_they_are(addon):
    cube = default_cube()
    cube.vertex_groups.new(name="Pin").add([0], 1.0, "REPLACE")
    bpy.ops.conjac.quick_jelly(hangs_by=0.2)
    assert [len(vertex.groups) for vertex in cube.data.vertices] == [1, *[0] * 7]


def test_a_poke_pushes_its_top_as_the_bake_begins_and_lets_go(addon):
    scene, cube = bpy.context.scene, default_cube()
    scene.frame_start = 11
    bpy.ops.conjac.quick_jelly(poked=0.25)
    pull, = cube.conjac.pulls
    assert cube.location.z == 0.0
    tops = []
    for frame in (11, 15, 16):
        scene.frame_set(frame)
        tops.append((*pull.object.location, pull.strength))
    assert np.allclose(tops[0], [0.0, 0.0, 1.0, 1.0]) and np.allclose(tops[1], [0.5, 0.0, 1.0, 1.0])
    assert tops[2][3] == 0.0


@pytest.mark.long
@pytest.mark.parametrize("settings", [{"poked": 0.25}, {"hangs_by": 0.1, "poked": 0.25}], ids=["standing", "hanging"])
def test_a_poked_body_swings_back_and_forth(addon, tmp_path, settings):
    scene, cube = bpy.context.scene, default_cube()
    scene.frame_start, scene.frame_end, scene.render.fps = 1, 36, 24
    bpy.ops.conjac.quick_jelly(**settings)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "poked.blend"))
    assert cube.conjac.bake(wait=True) == 0
    rest = seen(cube, 1)
    swings = np.array([np.abs(seen(cube, frame) - seen(cube, frame - 1)).max() for frame in range(2, 37)])
    assert swings[:5].max() > 0.01 * np.ptp(rest[:, 2]) and swings[10:20].max() > 0.001 * np.ptp(rest[:, 2])


@pytest.mark.long
def test_one_click_and_a_bake_show_a_cube_that_falls_is_squeezed_and_comes_back(addon, tmp_path):
    scene, cube = bpy.context.scene, default_cube()
    scene.frame_start, scene.frame_end, scene.render.fps = 1, 36, 24
    bpy.ops.conjac.quick_jelly()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "default.blend"))
    assert cube.conjac.bake(wait=True) == 0
    height = [np.ptp(seen(cube, frame)[:, 2]) for frame in range(1, 37)]
    middle = [seen(cube, frame)[:, 2].mean() for frame in range(1, 37)]
    lowest = int(np.argmin(middle))
    assert middle[0] == pytest.approx(2.0, abs=0.01) and min(height) < 1.8, "it is squeezed where it lands"
    assert max(middle[lowest:]) - min(middle) > 0.2, "and comes back"
