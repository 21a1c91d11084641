"""*Paint* enters weight paint on the map's group, and *Done* returns; each map shows its state, and greyed buttons
their reason."""

import bpy
import pytest
from drawn_panels import advised, drawn


def operators(obj):
    return [name for kind, name in drawn(obj) if kind == "operator"]


def labels(obj):
    return [text for kind, text in advised(obj) if kind == "label"]


def weigh(obj, group, weights):
    group = obj.vertex_groups.get(group) or obj.vertex_groups.new(name=group)
    for vertex, weight in weights.items():
        group.add([vertex], weight, "REPLACE")


def refusal(call):
    with pytest.raises(RuntimeError) as caught:
        call()
    return str(caught.value)


@pytest.mark.parametrize("key, name", [("pin", "Pin"), ("dynamic", "Dynamic"), ("stiffness", "Stiffness")])
def test_paint_goes_to_the_right_group_and_done_leads_back(soft_cube, key, name):
    weigh(soft_cube, "Another", {0: 1.0})
    assert "conjac.done_painting" not in operators(soft_cube)
    assert "Nothing is being painted" in refusal(bpy.ops.conjac.done_painting)
    bpy.ops.conjac.add_group(map=key)
    assert soft_cube.mode == "WEIGHT_PAINT" and soft_cube.vertex_groups.active.name == name
    assert operators(soft_cube).count("conjac.done_painting") == 1
    soft_cube.vertex_groups.active = soft_cube.vertex_groups["Another"]  # strokes go elsewhere now
    assert "conjac.done_painting" not in operators(soft_cube)
    assert bpy.ops.conjac.done_painting() == {"FINISHED"}
    assert soft_cube.mode == "OBJECT" and "conjac.done_painting" not in operators(soft_cube)


def test_painting_of_other_spots_is_done_too(soft_cube):
    soft_cube.conjac.solver.method = "conjac"
    bpy.ops.conjac.add_spots()
    assert soft_cube.mode == "WEIGHT_PAINT" and operators(soft_cube).count("conjac.done_painting") == 1


def test_a_brush_too_light_to_pin_anything_is_made_heavier(soft_cube):
    soft_cube.conjac.soft_pins = False
    from conjac.conjac_addon import compat

    scene = bpy.context.scene
    bpy.ops.conjac.add_group(map="pin")
    brush = compat.painted_weight(scene)
    if brush is None:  # an empty file of a Blender whose brushes are assets
        scene.tool_settings.weight_paint.brush = bpy.data.brushes.new("Light", mode="WEIGHT_PAINT")
        brush = compat.painted_weight(scene)
    if brush is None:
        pytest.skip("this Blender takes no brush here")
    for before, after in ((0.3, 1.0), (0.5, 1.0), (0.75, 0.75)):
        brush.weight = before
        bpy.ops.conjac.add_group(map="pin")
        assert brush.weight == after
    soft_cube.conjac.soft_pins = True  # a light brush pins softly
    for before, after in ((0.0, 1.0), (0.3, 0.3)):
        brush.weight = before
        bpy.ops.conjac.add_group(map="pin")
        assert brush.weight == pytest.approx(after)


def test_strokes_set_weights_whatever_brush_blender_begins_with(soft_cube):
    bpy.ops.conjac.add_group(map="pin")
    paint = bpy.context.scene.tool_settings.weight_paint
    if getattr(paint, "brush_asset_reference", None) is None or paint.brush is None:
        pytest.skip("brushes of this Blender are no assets")
    assert paint.brush.blend == "MIX" and paint.brush.strength == 1.0 and paint.brush.weight == 1.0, paint.brush.name


def test_each_map_says_what_is_painted(soft_cube):
    soft_cube.conjac.soft_pins = False
    weigh(soft_cube, "Pin", {0: 1.0, 1: 0.75, 2: 0.5})
    assert "2 of 8 vertices are held" in labels(soft_cube)
    weigh(soft_cube, "Pin", {0: 0.4, 1: 0.5})
    assert "No weight is above 0.5, so nothing is held" in labels(soft_cube)
    weigh(soft_cube, "Pin", dict.fromkeys(range(8), 1.0))
    weigh(soft_cube, "Stiffness", {3: 0.25})
    shown = labels(soft_cube)
    assert "All 8 vertices are held" in shown and "1 of 8 vertices is painted, up to 0.25" in shown
    soft_cube.vertex_groups["Stiffness"].remove([3])
    assert "Nothing is painted yet" in labels(soft_cube)
    soft_cube.conjac.soft_pins = True
    weigh(soft_cube, "Pin", {0: 0.5, 1: 0.2})
    assert "6 of 8 vertices are held hard, 2 softly" in labels(soft_cube)
    values = soft_cube.data.attributes.new("Softer", "FLOAT", "POINT")
    values.data[1].value = 1.0
    soft_cube.conjac.stiffness_group = "Softer"
    assert "1 of 8 vertices is painted, up to 1.00" in labels(soft_cube)
    soft_cube.conjac.stiffness_group = "Missing"
    assert "It is not on the mesh: a bake looks for it after the modifiers" in labels(soft_cube)


def test_the_pin_of_a_rope_says_what_is_painted(addon):
    bpy.ops.curve.primitive_nurbs_path_add()
    assert bpy.ops.conjac.add_rope() == {"FINISHED"}
    rope = bpy.context.object
    assert rope.conjac.kind == "rope" and "…" not in labels(rope)
    weigh(rope, "Pin", {0: 1.0, 1: 1.0})
    assert f"2 of {len(rope.data.vertices)} vertices are held hard" in labels(rope)


def test_dynamic_spots_are_counted(addon):
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=4, y_subdivisions=4)
    grid = bpy.context.object
    grid.conjac.enabled, grid.conjac.solver.method, grid.conjac.suggest_spots = True, "conjac", False
    assert "No dynamic spot: it would not swing" in labels(grid)
    grid.conjac.suggest_spots, grid.conjac.suggestions = True, 3
    assert "No dynamic spot: a bake puts 3" in labels(grid)
    weigh(grid, "Dynamic", {0: 1.0, 1: 1.0, 24: 0.9, 12: 0.3})  # two beside each other, one in another corner
    assert "2 dynamic spots: 2 painted, 0 by handles" in labels(grid)
    bpy.ops.conjac.add_handle()
    assert "3 dynamic spots: 2 painted, 1 by handles" in labels(grid)
    grid.conjac.handles[0].object.hide_viewport = True
    bpy.context.view_layer.update()
    assert "2 dynamic spots: 2 painted, 0 by handles" in labels(grid)


def test_names_that_half_of_the_panel_would_cut_have_all_of_it(soft_cube, monkeypatch):
    from drawn_panels import FakeLayout

    whole, own = [], FakeLayout.prop

    def prop(self, data, name, **words):
        if self.__dict__.get("use_property_split") is False:
            whole.append(name)
        own(self, data, name, **words)

    monkeypatch.setattr(FakeLayout, "prop", prop)
    soft_cube.conjac.solver.method = "conjac"
    drawn(soft_cube)
    assert "suggest_spots" in whole


def test_what_is_drawn_before_the_first_count_does_not_count(soft_cube, monkeypatch):
    """Panels are drawn many times a second, so only the timer reads weights."""
    from conjac.conjac_addon.ui import painted_state

    weigh(soft_cube, "Pin", {0: 1.0})
    monkeypatch.setattr(painted_state, "look_at", None)
    assert painted_state.UNKNOWN in [text for kind, text in drawn(soft_cube) if kind == "label"]


def test_a_deleted_object_is_forgotten(soft_cube):
    from conjac.conjac_addon.ui import advice, painted_state

    advised(soft_cube)
    uid = soft_cube.session_uid
    assert uid in painted_state._found
    bpy.data.objects.remove(soft_cube)
    advice.look()
    assert uid not in painted_state._found


@pytest.mark.parametrize("key, why", [
    ("dynamic", "moves every node, choose the Method ConJac"), ("fibers", "it has no fibers, choose some under Fibers"),
    ("friction", "it touches nothing")])
def test_a_grey_button_says_why_and_one_that_is_not_does_not(soft_cube, key, why):
    from conjac.conjac_addon import uncounted
    from conjac.conjac_addon.operators import painting

    soft, button = soft_cube.conjac, painting.CONJAC_OT_add_group
    properties = type("Properties", (), {"map": key})()
    soft.solver.method, soft.contact.collides_with = "vanilla", "none"
    assert why in button.description(bpy.context, properties)
    if key == "dynamic":
        for name in ("suggest_handles", "add_handle", "remove_handle", "add_spots", "remove_spots"):
            getattr(bpy.ops.conjac, name).poll()  # the behaviour is there from the first use on
            shown = getattr(bpy.types, f"CONJAC_OT_{name}")
            tip = shown.description(bpy.context, None)
            assert tip.startswith(shown.bl_description) and why in tip
    soft.solver.method, soft.contact.collides_with = "conjac", "all"
    soft.fiber_material = soft.bl_rna.properties["fiber_material"].enum_items.keys()[1]
    assert "Grey" not in button.description(bpy.context, properties) and not uncounted.why(soft_cube, key)


def context(kind):
    """Return the object, group and mode that are active when buttons are drawn."""
    bpy.ops.object.select_all(action="DESELECT")
    if kind == "nothing":
        bpy.context.view_layer.objects.active = None
        return
    {"empty": bpy.ops.object.empty_add, "armature": bpy.ops.object.armature_add}.get(
        kind, bpy.ops.mesh.primitive_cube_add)()
    obj = bpy.context.object
    if kind in ("soft", "edited", "armature rig"):
        bpy.ops.conjac.add_soft_body()
    if kind == "cloth":
        bpy.ops.conjac.add_cloth()
    if kind == "collider":
        bpy.ops.conjac.add_collider()
    if kind == "edited":
        bpy.ops.object.mode_set(mode="EDIT")
    if kind == "painted":
        bpy.ops.conjac.add_soft_body()
        bpy.ops.conjac.add_group(map="pin")
    return obj


@pytest.mark.parametrize("kind", ["nothing", "empty", "armature", "mesh", "soft", "cloth", "collider", "edited",
                                  "painted"])
def test_every_button_that_cannot_be_pressed_says_why(addon, kind):
    context(kind)
    for name in dir(bpy.ops.conjac):
        button = getattr(bpy.ops.conjac, name)
        if not button.poll() and "INTERNAL" not in button.bl_options:
            error = refusal(button)
            assert "context is incorrect" not in error and len(error.partition(".poll()")[2].strip()) > 8, (name, error)
