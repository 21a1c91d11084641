"""Add > ConJac > Examples: each ready scene is added at the 3D cursor, and its bake completes and moves."""

import bpy
import numpy as np
import pytest
from drawn_panels import Context, FakeLayout
from mathutils import Vector
from matrix import some

AT = Vector((3.0, -2.0, 0.0))
SCENES = ("jelly_cube", "jelly_ball", "nodding_head", "tablecloth", "flag", "rope_and_ball")


def seen(obj):
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    flat = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", flat)
    return flat.reshape(-1, 3)


def test_every_scene_is_tested(addon):
    from conjac.conjac_addon.menus import READY

    assert tuple(READY) == SCENES


@pytest.mark.parametrize("name", some(SCENES, "jelly_cube", "jelly_ball", "tablecloth", "flag", "rope_and_ball"))
def test_it_stands_at_the_cursor_and_bakes(addon, tmp_path, name):
    scene = bpy.context.scene
    scene.cursor.location = AT
    scene.frame_start, scene.frame_end = 1, 5
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "ready.blend"))
    assert bpy.ops.conjac.add_ready(scene=name) == {"FINISHED"}
    active = bpy.context.object
    assert active.conjac.kind != "none" and active.select_get()
    assert (active.matrix_world.translation - AT).xy.length < 1.0
    assert bpy.ops.conjac.bake() == {"FINISHED"}
    scene.frame_set(1)
    first = seen(active)
    scene.frame_set(5)
    last = seen(active)
    assert len(first) == len(last) and np.isfinite(last).all()
    moved = np.linalg.norm(last - first, axis=1).max()
    assert 0.01 < moved < 5.0


def test_blenders_own_menus_lead_to_them(addon):
    from conjac.conjac_addon.ui import menus

    def lines(draw):
        log = []
        draw(type("Menu", (), {"layout": FakeLayout(log)})(), Context(None))
        return log

    assert lines(menus.draw_add) == [("menu", "CONJAC_MT_add")]
    log = lines(menus.CONJAC_MT_add.draw)
    assert "conjac.add_ready" in str(log)
    kinds = [name for kind, name in log if kind == "menu"]
    assert kinds == ["CONJAC_MT_samples_soft_body", "CONJAC_MT_samples_cloth", "CONJAC_MT_samples_rope"]
    assert [len(lines(getattr(bpy.types, name).draw)) for name in kinds] == [10, 7, 3]
    for host, draw in menus.ENDS.items():
        assert draw in getattr(bpy.types, host).draw._draw_funcs
    addon.unregister()
    assert not any(draw in getattr(bpy.types, host).draw._draw_funcs for host, draw in menus.ENDS.items())
    addon.register()


def test_the_physics_tab_has_buttons_until_something_is_simulated(addon):
    from conjac.conjac_addon.ui import menus

    bpy.ops.mesh.primitive_cube_add()

    def buttons():
        log = []
        menus.draw_physics(type("Panel", (), {"layout": FakeLayout(log)})(), Context(bpy.context.object))
        return [name for kind, name in log if kind == "operator"]

    assert buttons() == ["conjac.quick_jelly", "conjac.quick_cloth", "conjac.add_collider"]
    bpy.ops.conjac.quick_jelly()
    assert not buttons()
