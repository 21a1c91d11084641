"""The status box reports faults that a bake would not show, and its button fixes them."""

import bpy
import pytest
from drawn_panels import advised, drawn


def keys(obj):
    """Return the keys of the hints for an object."""
    from conjac.conjac_addon.ui import advice

    return [hint.key for hint in advice.look_at(obj, bpy.context.scene)]


def labels_of(obj):
    return " ".join(text for kind, text in advised(obj) if kind == "label")


def test_a_new_soft_body_has_hints_of_what_a_bake_would_not_show(soft_cube):
    log = advised(soft_cube)
    labels = " ".join(text for kind, text in log if kind == "label")
    assert "Nothing will wobble" in labels and "It falls forever" in labels and "Only 8 vertices" in labels
    buttons = [name for kind, name in log if kind == "operator"]
    assert {"conjac.suggest_handles", "conjac.add_ground", "conjac.subdivide"} <= set(buttons[:10])
    assert "touch each other" not in labels


def test_drawing_looks_at_nothing(soft_cube, monkeypatch):
    from conjac.conjac_addon.ui import advice

    def looked(*_):
        raise AssertionError("a panel looked at weights")

    monkeypatch.setattr(advice, "look_at", looked)
    assert drawn(soft_cube)


def test_only_a_dynamic_node_wobbles(soft_cube):
    group = soft_cube.vertex_groups.new(name="Dynamic")
    assert "wobble" in keys(soft_cube)  # nothing is painted in it
    group.add([0], 0.4, "REPLACE")
    assert "wobble" in keys(soft_cube)
    group.add([0], 0.6, "REPLACE")
    assert "wobble" not in keys(soft_cube)
    soft_cube.vertex_groups.remove(group)
    handle = soft_cube.conjac.handles.add()
    assert "wobble" in keys(soft_cube)  # it names no Empty
    handle.object = bpy.data.objects.new("Handle", None)
    assert "wobble" in keys(soft_cube)  # the Empty is in no scene
    bpy.context.scene.collection.objects.link(handle.object)
    bpy.context.view_layer.update()
    assert "wobble" not in keys(soft_cube)
    soft_cube.conjac.handles.clear()
    soft_cube.conjac.method = "vanilla"
    assert "wobble" not in keys(soft_cube)


def test_weights_that_modifiers_make_are_not_judged(soft_cube):
    soft_cube.vertex_groups.new(name="Dynamic")
    soft_cube.modifiers.new("Fill", "VERTEX_WEIGHT_EDIT")
    assert "wobble" in keys(soft_cube)  # it stands below what is simulated
    soft_cube.modifiers.new("Round", "CAST")
    assert "wobble" not in keys(soft_cube)


def test_an_attribute_picks_nodes_as_a_group_does(soft_cube):
    attribute = soft_cube.data.attributes.new("Spots", "FLOAT", "POINT")
    soft_cube.conjac.dynamic_group = "Spots"
    assert "wobble" in keys(soft_cube)
    attribute.data[3].value = 1.0
    assert "wobble" not in keys(soft_cube)


def test_what_is_pinned_or_rests_on_a_ground_has_no_hint_of_falling(soft_cube):
    group = soft_cube.vertex_groups.new(name="Pin")
    assert "falls" in keys(soft_cube)
    group.add([0], 1.0, "REPLACE")
    assert "falls" not in keys(soft_cube)
    soft_cube.vertex_groups.remove(group)
    bpy.context.scene.use_gravity = False
    assert "falls" not in keys(soft_cube)
    bpy.context.scene.use_gravity = True
    soft_cube.conjac.nails.add().object = bpy.data.objects.new("Nail", None)
    assert "falls" not in keys(soft_cube)


def test_weights_of_soft_pins_count_below_half_too(soft_cube):
    soft_cube.vertex_groups.new(name="Pin").add([0], 0.3, "REPLACE")
    for soft in (True, False):
        soft_cube.conjac.soft_pins = soft
        assert ("falls" in keys(soft_cube)) is not soft


def test_what_is_constrained_to_something_pinned_has_no_hint_of_falling(soft_cube):
    bpy.ops.mesh.primitive_cube_add(location=(0, 0, 3))
    other = bpy.context.object
    soft_cube.conjac.constraints.add().object = other
    assert "falls" not in keys(soft_cube)  # a mesh that is not simulated stays where it is
    other.conjac.kind = "soft_body"
    assert "falls" in keys(soft_cube) and "falls" in keys(other)  # they fall together
    soft_cube.conjac.constraints.clear()
    soft_cube.conjac.welds.add().object = other
    assert "falls" in keys(soft_cube)
    pin = other.vertex_groups.new(name="Pin")
    pin.add([0], 1.0, "REPLACE")
    assert "falls" not in keys(soft_cube)
    other.vertex_groups.remove(pin)
    assert "falls" in keys(other)
    soft_cube.vertex_groups.new(name="Pin").add([0], 1.0, "REPLACE")
    assert "falls" not in keys(other)  # the weld stands with the other one


def test_a_mesh_below_that_is_no_collider_is_made_one(soft_cube):
    soft_cube.location.z = 3.0
    bpy.ops.mesh.primitive_cube_add(location=(0.5, 0, 0))
    floor = bpy.context.object
    floor.name = "Table"
    bpy.ops.mesh.primitive_uv_sphere_add(radius=50.0)  # a sky
    bpy.context.view_layer.objects.active = soft_cube
    bpy.context.view_layer.update()
    assert "through" in keys(soft_cube) and 'It falls through "Table"' in labels_of(soft_cube)
    assert bpy.ops.conjac.land() == {"FINISHED"}
    assert floor.conjac.kind == "collider" and soft_cube.conjac.contact.collides_with == "all"
    assert "through" not in keys(soft_cube) and not bpy.ops.conjac.land.poll()


@pytest.mark.parametrize("change", [
    lambda cube, floor: setattr(floor, "hide_render", True), lambda cube, floor: setattr(floor, "display_type", "WIRE"),
    lambda cube, floor: setattr(floor.location, "x", 9.0), lambda cube, floor: setattr(floor.location, "z", 5.0),
    lambda cube, floor: (setattr(cube.conjac, "use_ground", True), setattr(cube.conjac, "ground_height", 1.0)),
    lambda cube, floor: cube.vertex_groups.new(name="Pin").add([0], 1.0, "REPLACE"),
], ids=["a helper", "a wire", "beside", "above", "at the ground", "held"])
def test_what_it_does_not_fall_through_has_no_hint(soft_cube, change):
    soft_cube.location.z = 3.0
    bpy.ops.mesh.primitive_cube_add()
    floor = bpy.context.object
    bpy.context.view_layer.update()
    assert "through" in keys(soft_cube)
    change(soft_cube, floor)
    bpy.context.view_layer.update()
    assert "through" not in keys(soft_cube)


def _keyed(owner, path, index=-1):
    for frame, value in ((1, 0.0), (5, 1.0)):
        if index < 0:
            setattr(owner, path, value)
        else:
            getattr(owner, path)[index] = value
        owner.keyframe_insert(path, index=index, frame=frame)


def _on_an_arm(cube):
    bpy.ops.object.armature_add()
    rig = bpy.context.object
    _keyed(rig.pose.bones[0], "location", 0)
    cube.modifiers.new("Armature", "ARMATURE").object = rig


def _on_a_truck(cube):
    bpy.ops.object.empty_add()
    _keyed(bpy.context.object, "location", 0)
    cube.parent = bpy.context.object


def _breathing(cube):
    cube.shape_key_add(name="Basis")
    _keyed(cube.shape_key_add(name="Fat"), "value")


@pytest.mark.parametrize("animate", [lambda cube: _keyed(cube, "location", 0), _on_an_arm, _on_a_truck, _breathing],
                         ids=["thrown", "armature", "parent", "shape key"])
def test_animation_of_what_nothing_pins_has_a_hint(soft_cube, animate):
    """Keyframes throw a rigid body; those of a soft body had no effect, and no message."""
    assert "unled" not in keys(soft_cube)
    buttons = advised(soft_cube).count(("operator", "conjac.add_group"))
    animate(soft_cube)
    assert "unled" in keys(soft_cube) and "Its own animation has no effect" in labels_of(soft_cube)
    assert advised(soft_cube).count(("operator", "conjac.add_group")) == buttons + 1
    soft_cube.vertex_groups.new(name="Pin").add([0], 1.0, "REPLACE")
    assert "unled" not in keys(soft_cube)


def test_settings_that_are_read_over_time_are_no_animation_of_the_body(soft_cube):
    _keyed(soft_cube.conjac, "wobble_half_life")
    assert "unled" not in keys(soft_cube)


def test_an_instance_that_it_falls_through_has_a_hint(soft_cube):
    """A collection instance shows the floor of a set, also where the floor itself is a collider elsewhere."""
    soft_cube.location = 20.0, 0.0, 6.0
    bpy.ops.mesh.primitive_cube_add(location=(0, 0, 1))
    floor = bpy.context.object
    props = bpy.data.collections.new("Props")
    props.objects.link(floor)
    props.instance_offset = 0.0, 0.0, 1.0
    assert bpy.ops.conjac.add_collider() == {"FINISHED"}
    bpy.ops.object.collection_instance_add(collection="Props", location=(20, 0, 4))
    shown = bpy.context.object
    bpy.context.view_layer.update()
    assert "instanced" in keys(soft_cube) and f'falls through what "{shown.name}" shows' in labels_of(soft_cube)
    for location in (20, 9, 4), (20, 0, 8):
        shown.location = location
        bpy.context.view_layer.update()
        assert "instanced" not in keys(soft_cube)


@pytest.mark.parametrize("height, plane", [(0.0, -1.0), (5.0, 0.0)])
def test_a_ground_is_added_below_the_body(soft_cube, height, plane):
    soft_cube.location.z = height
    bpy.context.view_layer.update()
    assert bpy.ops.conjac.add_ground() == {"FINISHED"}
    assert soft_cube.conjac.use_ground and soft_cube.conjac.ground_height == pytest.approx(plane)
    assert "falls" not in keys(soft_cube) and not bpy.ops.conjac.add_ground.poll()


def test_subdivide_keeps_shape_keys_weights_and_uvs(soft_cube):
    soft_cube.shape_key_add(name="Basis")
    soft_cube.shape_key_add(name="Up").data[0].co.z += 1.0
    soft_cube.vertex_groups.new(name="Pin").add(range(8), 1.0, "REPLACE")
    size = tuple(soft_cube.dimensions)
    assert bpy.ops.conjac.subdivide() == {"FINISHED"}
    mesh = soft_cube.data
    assert len(mesh.vertices) == 6 * 49 - 12 * 7 + 8 and not mesh.validate()
    bpy.context.view_layer.update()
    assert tuple(soft_cube.dimensions) == pytest.approx(size)
    assert all(vertex.groups and vertex.groups[0].weight == pytest.approx(1.0) for vertex in mesh.vertices)
    assert len(mesh.uv_layers) == 1 and len(mesh.shape_keys.key_blocks["Up"].data) == len(mesh.vertices)
    rise = [up.co.z - low.co.z for up, low in zip(mesh.shape_keys.key_blocks["Up"].data,
                                                mesh.shape_keys.key_blocks["Basis"].data)]
    assert max(rise) == pytest.approx(1.0) and 0.0 < sorted(rise)[-2] < 1.0
    assert "coarse" not in keys(soft_cube)


def test_gravity_left_at_blenders_number_has_a_hint_where_a_unit_is_no_metre(soft_cube):
    scene = bpy.context.scene
    assert "slow" not in keys(soft_cube)
    scene.unit_settings.scale_length = 0.01
    assert "At this scene's Unit Scale gravity is 0.0981 m/s² and not 9.81: see Forces" in labels_of(soft_cube)
    scene.gravity = (0.0, 0.0, -981.0)
    assert "slow" not in keys(soft_cube)
    scene.gravity, scene.use_gravity = (0.0, 0.0, -9.81), False
    assert "slow" not in keys(soft_cube)


def test_what_rests_on_its_ground_from_the_start_has_a_hint(addon):
    bpy.ops.mesh.primitive_cube_add()  # as a new file has it: half of it below height 0
    cube = bpy.context.object
    assert bpy.ops.conjac.add_soft_body() == {"FINISHED"}
    assert "It lies on the ground already: raise it to see it fall" in labels_of(cube)
    group = cube.vertex_groups.new(name="Pin")
    group.add([0], 1.0, "REPLACE")
    assert "lies" not in keys(cube)
    cube.vertex_groups.remove(group)
    cube.location.z = 0.5
    bpy.context.view_layer.update()
    assert "lies" not in keys(cube)
    cube.location.z = 0.0
    cube.keyframe_insert("location", frame=1)
    bpy.context.view_layer.update()
    assert "lies" not in keys(cube)
    cube.animation_data_clear()
    assert "lies" in keys(cube)
    bpy.ops.mesh.primitive_cube_add(location=(0.0, 0.0, 3.0))  # which falls on it
    assert bpy.ops.conjac.add_soft_body() == {"FINISHED"}
    assert "lies" not in keys(cube)


def test_force_fields_that_do_not_move_it_have_a_hint(soft_cube):
    bpy.ops.object.effector_add(type="WIND")
    bpy.context.object.name = "Fan"
    assert '"Fan" does not move it: the only force field that acts is Wind, and only on cloth' in labels_of(soft_cube)
    soft_cube.conjac.kind = "cloth"
    assert "unfelt" not in keys(soft_cube)
    bpy.ops.object.effector_add(type="TURBULENCE")
    assert '"Turbulence" does not move it' in labels_of(soft_cube)
    bpy.context.object.hide_set(True)
    assert "unfelt" not in keys(soft_cube)


def test_what_goes_through_others_has_a_hint_and_a_button_that_mends_it(soft_cube):
    bpy.ops.mesh.primitive_uv_sphere_add()
    ball = bpy.context.object
    assert "apart" not in keys(soft_cube)
    assert bpy.ops.conjac.add_collider() == {"FINISHED"}
    assert "apart" in keys(soft_cube)
    assert bpy.ops.conjac.remove() == {"FINISHED"}
    assert "apart" not in keys(soft_cube)
    ball.conjac.enabled = True
    assert "apart" in keys(soft_cube) and "apart" in keys(ball)
    assert bpy.ops.conjac.collide() == {"FINISHED"}
    assert "apart" not in keys(soft_cube) and "apart" not in keys(ball)
    assert ball.conjac.contact.collides_with == soft_cube.conjac.contact.collides_with == "all"


def test_a_rig_without_anything_fixed_has_a_hint_of_falling(addon):
    bpy.ops.object.armature_add()
    rig = bpy.context.object
    bpy.ops.conjac.ragdoll(use_ground=False)
    assert keys(rig) == ["falls"]
    rig.pose.bones[0].conjac.joint = "spherical"  # to the world
    assert keys(rig) == []
    rig.pose.bones[0].conjac.joint = "auto"
    assert bpy.ops.conjac.add_ground() == {"FINISHED"}
    assert keys(rig) == [] and rig.conjac.friction == "coulomb"


def test_objects_that_hang_on_the_world_do_not_fall_for_ever(addon):
    bpy.ops.rigidbody.world_add()
    bpy.ops.mesh.primitive_cube_add()
    cube = bpy.context.object
    bpy.ops.rigidbody.object_add()
    bpy.ops.conjac.mechanism_from_rigid_bodies()
    owner = bpy.context.object
    assert keys(owner) == []  # nothing was there to fall on, so it stands on a ground
    owner.conjac.use_ground = False
    assert keys(owner) == ["falls"]
    bpy.ops.object.empty_add()
    joint = bpy.context.object
    bpy.ops.rigidbody.constraint_add(type="HINGE")
    joint.rigid_body_constraint.object1 = cube
    owner.conjac.mechanism.collection.objects.link(joint)
    assert keys(owner) == []


def test_what_a_mechanism_lacks_is_not_looked_for_where_its_plan_is_wrong(addon):
    bpy.ops.object.empty_add()
    bpy.context.object.conjac.enabled = True  # no collection
    assert keys(bpy.context.object) == []
