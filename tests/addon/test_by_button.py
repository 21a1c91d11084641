"""A value that a button chose is marked until somebody changes it."""

import bpy
import pytest
from drawn_panels import FakeLayout, drawn

from conjac.conjac_addon import by_button


@pytest.fixture
def jelly(addon):
    bpy.ops.mesh.primitive_cube_add(location=(0.0, 0.0, 3.0))
    bpy.ops.conjac.add_soft_body()
    return bpy.context.object


def marked(obj):
    """Return the paths of the settings that panels mark for an object, with the buttons that they name."""
    buttons = {}

    class Marks(FakeLayout):
        own = frozenset({"log"})

        def operator(self, idname, **words):
            if idname != "conjac.make_own":
                return super().operator(idname, **words)
            mark = type("Properties", (), {})()
            buttons.setdefault("marks", []).append(mark)
            return mark

        def _child(self, *args, **words):
            return Marks(self.log)
        row = column = box = _child

        def panel(self, idname, default_closed=False):
            return Marks(self.log), Marks(self.log)

    from drawn_panels import Context

    from conjac.conjac_addon.ui import panels

    panels._draw(type("Panel", (), {"layout": Marks([]), "bl_space_type": "VIEW_3D"})(), Context(obj))
    return {mark.path: mark.button for mark in buttons.get("marks", [])}


def test_what_add_chose_is_marked_until_it_is_changed(jelly):
    marks = marked(jelly)
    chosen = {"youngs_modulus", "edge_length", "wobble_half_life", "solver.step", "solver.integrator",
              "contact.collides_with", "ground_height" if jelly.conjac.ground_height else "friction"}
    assert chosen <= set(marks) and set(marks.values()) == {"Add Soft Body"}
    jelly.conjac.youngs_modulus *= 1.5
    jelly.conjac.solver.integrator = "bdf2"
    assert set(marks) - set(marked(jelly)) >= {"youngs_modulus", "solver.integrator"}
    assert marked(jelly)["edge_length"] == "Add Soft Body"


def test_a_dial_is_the_setting_that_it_stands_for(jelly):
    assert by_button.label_of(jelly.conjac, "dial_youngs_modulus") == "Add Soft Body"
    jelly.conjac.dial_youngs_modulus *= 2.0
    assert by_button.label_of(jelly.conjac, "dial_youngs_modulus") == ""


def test_what_nobody_chose_has_no_mark(jelly, soft_cube):
    assert "density" not in marked(jelly) and "poisson_ratio" not in marked(jelly)
    jelly.conjac.density = 700.0
    assert "density" not in marked(jelly)
    assert marked(soft_cube) == {}


def test_pressing_the_mark_keeps_the_value_and_takes_it_away(jelly):
    value = jelly.conjac.youngs_modulus
    assert bpy.ops.conjac.make_own(path="youngs_modulus", button="Add Soft Body") == {"FINISHED"}
    assert "youngs_modulus" not in marked(jelly) and jelly.conjac.youngs_modulus == value
    assert "edge_length" in marked(jelly)


def test_the_tooltip_names_the_button(jelly):
    from conjac.conjac_addon.operators import quality

    properties = type("Properties", (), {"button": "Add Soft Body"})
    assert "Add Soft Body" in quality.CONJAC_OT_make_own.description(bpy.context, properties)


def test_marks_are_saved_and_copied_and_a_strangers_text_is_none(jelly, tmp_path):
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "scene.blend"))
    copy = bpy.data.objects["Cube"].copy()
    assert by_button.label_of(copy.conjac, "youngs_modulus") == "Add Soft Body"
    for text in ("[1, 2]", "{\"youngs_modulus\": 3}", "nonsense", "{\"youngs_modulus\": [1, 2, 3]}"):
        copy.conjac.by_button = text
        assert by_button.label_of(copy.conjac, "youngs_modulus") == ""


@pytest.mark.parametrize("add,button,path", [
    (lambda: (bpy.ops.mesh.primitive_grid_add(), bpy.ops.conjac.add_cloth()), "Add Cloth", "soft_pins"),
    (lambda: (bpy.ops.curve.primitive_bezier_curve_add(), bpy.ops.conjac.add_rope()), "Add Rope", "solver.step"),
    (lambda: (bpy.ops.object.armature_add(), bpy.ops.conjac.ragdoll()), "Ragdoll from Armature", "friction")],
    ids=["cloth", "rope", "ragdoll"])
def test_every_button_that_adds_says_what_it_chose(addon, add, button, path):
    add()
    obj = bpy.context.view_layer.objects.active
    group, _, name = path.rpartition(".")
    assert by_button.label_of(obj.conjac.path_resolve(group) if group else obj.conjac, name) == button


def test_a_remedy_says_so_too(jelly):
    jelly.conjac.use_ground = False
    bpy.ops.conjac.add_ground()
    assert by_button.label_of(jelly.conjac, "use_ground") == "Add Ground"
    assert ("prop", "use_ground") in drawn(jelly)


def test_an_example_has_no_marks(addon):
    assert bpy.ops.conjac.add_sample(preset="soft_body/Rubber") == {"FINISHED"}
    obj = bpy.context.view_layer.objects.active
    assert obj.conjac.kind == "soft_body" and obj.conjac.by_button == "" and obj.conjac.quality == "none"


def test_marks_make_no_bake_stale(jelly, tmp_path):
    import json

    from conjac.conjac_addon.gather import job
    from conjac.conjac_addon.gather.stale import changed_settings

    (tmp_path / "scene.json").write_text(json.dumps(job.scene_settings(jelly, bpy.context.scene)))
    before = changed_settings(jelly, bpy.context.scene, tmp_path)
    bpy.ops.conjac.make_own(path="youngs_modulus", button="Add Soft Body")
    assert changed_settings(jelly, bpy.context.scene, tmp_path) == before
