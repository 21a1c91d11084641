"""F3 finds the entries of menus: every operator has a line in Object > ConJac, and has buttons where artists look."""

import bpy
import pytest
from drawn_panels import Context, FakeLayout, drawn


def lines_of(menu, obj):
    """Return the entries of a menu for an active object, (kind, name) each."""
    log = []
    menu.draw(type("Menu", (), {"layout": FakeLayout(log)})(), Context(obj))
    return log


def in_menu(obj):
    """Return the operators of the menu and of its submenus."""
    from conjac.conjac_addon.ui import menus

    log = lines_of(menus.CONJAC_MT_object, obj)
    for name in [name for kind, name in log if kind == "menu"]:
        log += lines_of(getattr(bpy.types, name), obj)
    return [name for kind, name in log if kind == "operator"]


def test_every_operator_has_a_line_in_the_object_menu(soft_cube):
    lines = in_menu(soft_cube)
    # what stands beside Blender's menus of presets, and beside values that a button has chosen
    own = {"preset_soft_body", "preset_cloth", "preset_rope", "make_own"}
    assert own == {name for name in dir(bpy.ops.conjac) if "INTERNAL" in getattr(bpy.ops.conjac, name).bl_options}
    in_add = {"add_ready", "add_sample"}  # in Add: test_ready_scenes.py
    assert sorted(lines) == sorted(f"conjac.{name}" for name in dir(bpy.ops.conjac) if name not in own | in_add)
    assert in_menu(None) == lines


def test_the_menu_and_those_that_it_opens_fit_a_small_screen(soft_cube):
    """A screen of 1080 pixels shows some forty lines; others are scrolled away, *Add Soft Body* first."""
    from conjac.conjac_addon.ui import menus

    assert len(lines_of(menus.CONJAC_MT_object, soft_cube)) <= 20
    assert all(len(lines_of(menu, soft_cube)) <= 14 for menu in menus.submenus)


def test_the_menu_hangs_in_the_menus_of_the_3d_view_as_long_as_conjac_is_registered(addon):
    from conjac.conjac_addon.ui import menus

    def hung(name):
        return menus.draw_entry in getattr(bpy.types, name).draw._draw_funcs

    assert all(map(hung, menus.HOSTS)) and "VIEW3D_MT_object" in menus.HOSTS
    addon.unregister()
    assert not any(map(hung, menus.HOSTS))
    addon.register()


@pytest.mark.parametrize("name", ["add_soft_body", "add_attachment", "add_ground", "remove"])
def test_what_only_changes_settings_draws_the_panels_again(soft_cube, name, monkeypatch):
    from conjac.conjac_addon.operators import attach, remedies, setup

    drawn_again = []
    for module in (attach, remedies, setup):
        monkeypatch.setattr(module, "redraw_panels", lambda: drawn_again.append(name))
    soft_cube.conjac.enabled = name != "add_soft_body"
    assert getattr(bpy.ops.conjac, name)() == {"FINISHED"}
    assert drawn_again == [name]


def skinned():
    """Return a cube that an armature deforms, which is no ragdoll."""
    bpy.ops.object.armature_add()
    rig = bpy.context.object
    bpy.ops.mesh.primitive_cube_add()
    cube = bpy.context.object
    cube.modifiers.new("Armature", "ARMATURE").object = rig
    return cube, rig


def test_any_skinned_mesh_and_its_rig_can_jiggle(addon):
    cube, rig = skinned()
    assert ("operator", "conjac.jiggle") in drawn(cube) and ("operator", "conjac.jiggle") in drawn(rig)
    cube.conjac.enabled = True
    assert ("operator", "conjac.jiggle") in drawn(cube)
    bpy.ops.mesh.primitive_cube_add()
    assert ("operator", "conjac.jiggle") not in drawn(bpy.context.object)
