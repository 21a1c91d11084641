"""Buttons that set mechanisms up, in real Blender."""

import math

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from rig import add_armature, add_chain, job_of, scene, world_of  # noqa: E402, F401

from conjac.conjac_addon import gather  # noqa: E402
from conjac.conjac_addon.operators import previews  # noqa: E402
from conjac.conjac_addon.ui import advice  # noqa: E402
from conjac.solver.job.load import load  # noqa: E402


def active(obj):
    bpy.context.view_layer.objects.active = obj
    for scene_object in bpy.context.scene.objects:
        scene_object.select_set(scene_object == obj)


def test_a_ragdoll_leaves_out_fingers_and_controls(scene, tmp_path):  # noqa: F811
    rig = add_armature([("Control", (0, -1, 0), (0, -2, 0), None, False), ("Hips", (0, 0, 1), (0, 0, 1.4), None, False),
                        ("Chest", (0, 0, 1.4), (0, 0, 1.9), "Hips", True), ("Neck", (0, 0, 1.9), (0, 0, 1.92), "Chest",
                                                                            True),
                        ("Head", (0, 0, 1.92), (0, 0, 2.1), "Neck", True),
                        ("Hand", (0.5, 0, 1.5), (0.6, 0, 1.5), "Chest", False),
                        ("Finger", (0.6, 0, 1.5), (0.62, 0, 1.5), "Hand", True)])
    rig.conjac.enabled = False
    rig.data.bones["Control"].use_deform = False
    active(rig)
    assert bpy.ops.conjac.ragdoll(use_ground=False) == {"FINISHED"}
    roles = {bone.name: bone.conjac.role for bone in rig.pose.bones}
    assert {name for name, role in roles.items() if role == "none"} == {"Control", "Finger"}
    assert rig.conjac.enabled and not rig.conjac.use_ground
    assert rig.conjac.solver.integrator == "leapfrog" and rig.conjac.solver.keep_spin
    rig.conjac.solver.integrator = "bdf2"
    assert bpy.ops.conjac.ragdoll(use_ground=False) == {"FINISHED"}
    assert rig.conjac.solver.integrator == "bdf2"  # what was chosen stays
    damping = {bone.name: bone.conjac.damping for bone in rig.pose.bones}
    assert damping["Chest"] > damping["Head"] > 0.0 and damping["Hips"] == 0.0
    document, _ = job_of(rig, tmp_path)
    assert len(document["mechanisms"][0]["bodies"]) == 5


def dancer():
    """Return an armature of hips, a spine of two, legs with slightly bent knees, and arms in two halves each, as Rigify
    has them."""
    bones = [("Hips", (0, 0, 1), (0, 0, 1.15), None, False), ("Spine", (0, 0, 1.15), (0, 0.02, 1.3), "Hips", True),
             ("Chest", (0, 0.02, 1.3), (0, 0, 1.5), "Spine", True)]
    for side, x in (("L", 1), ("R", -1)):
        bones += [(f"Thigh.{side}", (0.1 * x, 0, 1), (0.1 * x, -0.03, 0.55), "Hips", False),
                  (f"Shin.{side}", (0.1 * x, -0.03, 0.55), (0.1 * x, 0, 0.1), f"Thigh.{side}", True),
                  (f"Arm.{side}", (0.2 * x, 0, 1.45), (0.35 * x, 0.01, 1.45), "Chest", False),
                  (f"Arm.{side}.001", (0.35 * x, 0.01, 1.45), (0.5 * x, 0.02, 1.45), f"Arm.{side}", True),
                  (f"Forearm.{side}", (0.5 * x, 0.02, 1.45), (0.75 * x, 0, 1.45), f"Arm.{side}.001", True)]
    rig = add_armature(bones)
    rig.conjac.enabled = False
    active(rig)
    return rig


def test_a_ragdoll_gets_limits_where_the_rig_says_none(scene, tmp_path):  # noqa: F811
    rig = dancer()
    rig.pose.bones["Spine"].lock_ik_z = rig.pose.bones["Spine"].lock_ik_y = True
    own = rig.pose.bones["Arm.L"].conjac
    own.use_limits, own.limit_high = True, (0.1, 0.0, 0.1)
    assert bpy.ops.conjac.ragdoll() == {"FINISHED"}
    assert rig.conjac.mechanism.self_collisions
    joints = {joint["child"]: joint for joint in job_of(rig, tmp_path)[0]["mechanisms"][0]["joints"]}
    # knees and elbows fold one way, the halves of an arm are one
    for name in ("Shin.L", "Shin.R", "Forearm.L", "Forearm.R"):
        low, high = joints[name]["low"][0], joints[name]["high"][0]
        assert joints[name]["kind"] == "revolute"
        assert high - low == pytest.approx(math.radians(150)) and 0.0 < min(-low, high) < 0.2
    assert joints["Arm.L.001"]["kind"] == joints["Arm.R.001"]["kind"] == "fixed"
    # what is long turns far, what is short little; what an artist has set stays
    assert joints["Thigh.L"]["high"] == pytest.approx([math.pi / 2, math.pi / 4, math.pi / 2])
    assert math.radians(25) < joints["Chest"]["high"][0] < math.radians(65)
    assert joints["Arm.R"]["high"][0] == pytest.approx(math.pi / 2)
    assert joints["Arm.L"]["kind"] == "universal" and joints["Arm.L"]["high"] == pytest.approx([0.1, 0.1])
    assert joints["Spine"]["kind"] == "revolute" and not rig.pose.bones["Spine"].conjac.use_limits

    # folding moves the shin backwards
    rig.pose.bones["Shin.L"].rotation_mode = "XYZ"
    low, high = joints["Shin.L"]["low"][0], joints["Shin.L"]["high"][0]
    rig.pose.bones["Shin.L"].rotation_euler.x = max(low, high, key=abs)
    bpy.context.view_layer.update()
    assert rig.pose.bones["Shin.L"].tail.y > 0.1


def test_a_row_of_long_bones_has_no_knees(scene):  # noqa: F811
    rig = add_armature([(f"T{k}", (k * 0.3, 0, 0.02 * (k % 2)), ((k + 1) * 0.3, 0, 0.02 * ((k + 1) % 2)),
                         f"T{k - 1}" if k else None, k > 0) for k in range(5)])
    active(rig)
    assert bpy.ops.conjac.ragdoll() == {"FINISHED"}
    assert all(gather.bones.joint_of(rig, bone).kind == "spherical" for bone in rig.pose.bones if bone.parent)


def test_what_is_light_beside_its_branch_falls_with_it(scene, tmp_path):  # noqa: F811
    """A bone of a face falls with its branch; where its parent is fixed, as in rigs of controls, its joint is stiff."""
    bones = [("ORG-chest", (0, 0, 1), (0, 0, 1.5), None, False), ("Chest", (0, 0, 1), (0, 0, 1.5), None, False),
             ("Arm", (0, 0, 1.5), (0.4, 0, 1.5), "Chest", False), ("Wart", (0, 0, 1.5), (0, 0.05, 1.5), "Chest", False),
             ("Mole", (0, 0, 1.4), (0, -0.05, 1.4), "ORG-chest", False)]
    rig = add_armature(bones)
    rig.conjac.enabled = False
    copy = rig.pose.bones["Chest"].constraints.new("COPY_TRANSFORMS")
    copy.target, copy.subtarget = rig, "ORG-chest"
    rig.data.bones["ORG-chest"].use_deform = False
    active(rig)
    assert bpy.ops.conjac.ragdoll() == {"FINISHED"}
    roles = {bone.name: bone.conjac.role for bone in rig.pose.bones}
    assert roles == {"ORG-chest": "none", "Chest": "simulated", "Arm": "simulated", "Wart": "none",
                     "Mole": "simulated"}
    joints = {joint["child"]: joint for joint in job_of(rig, tmp_path)[0]["mechanisms"][0]["joints"]}
    assert joints["Mole"]["kind"] == "fixed" and joints["Mole"]["parent"] == "Chest"
    assert bpy.ops.conjac.ragdoll(smallest=0.0) == {"FINISHED"}
    assert rig.pose.bones["Wart"].conjac.role == "simulated"


def test_a_ragdoll_that_slides_on_the_ground_comes_to_rest(scene):  # noqa: F811
    scene.frame_end = 14
    rig = add_armature([("Log", (0, 0, 0.06), (0.5, 0, 0.06), None, False)])
    rig.conjac.enabled = False
    for frame, x in ((1, 0.0), (4, 0.125)):  # at 1 m/s on average
        rig.location.x = x
        rig.keyframe_insert("location", frame=frame)
    active(rig)
    assert bpy.ops.conjac.ragdoll(smallest=0.0) == {"FINISHED"}
    assert bpy.ops.conjac.drive_then_let_go(frame=3) == {"FINISHED"}
    assert (rig.conjac.friction, rig.conjac.friction_coefficient) == ("coulomb", 0.5)
    assert bpy.ops.conjac.bake() == {"FINISHED"}

    def position_at(frame):
        scene.frame_set(frame)
        return world_of(rig, "Log")[0, 3]

    assert position_at(5) - position_at(4) > 0.01  # it slides on when it is let go
    assert abs(position_at(14) - position_at(12)) < 1e-4  # and stops within v / (μ g), five frames


def test_drive_by_animation_then_let_go(scene, tmp_path):  # noqa: F811
    rig = add_chain(2)
    active(rig)
    bpy.ops.conjac.drive_then_let_go(frame=5)
    assert rig.conjac.mechanism.follow and rig.conjac.mechanism.let_go == 5
    document, _ = job_of(rig, tmp_path)
    assert {joint["motor"]["until"] for joint in document["mechanisms"][0]["joints"]} == {5}


def test_settings_are_copied_to_selected_bones(scene):  # noqa: F811
    rig = add_chain(4)
    active(rig)
    bpy.ops.object.mode_set(mode="POSE")
    rig.pose.bones["B1"].conjac.stiffness, rig.pose.bones["B1"].conjac.joint = 7.0, "revolute"
    rig.data.bones.active = rig.data.bones["B1"]
    for bone in rig.pose.bones:
        chosen = bone.name in ("B1", "B2")
        if hasattr(bone, "select"):
            bone.select = chosen
        else:
            bone.bone.select = chosen
    assert bpy.ops.conjac.copy_to_bones() == {"FINISHED"}
    assert rig.pose.bones["B2"].conjac.stiffness == 7.0 and rig.pose.bones["B2"].conjac.joint == "revolute"
    assert rig.pose.bones["B3"].conjac.stiffness == 0.0
    bpy.ops.object.mode_set(mode="OBJECT")
    with pytest.raises(RuntimeError, match="Pose Mode"):
        bpy.ops.conjac.copy_to_bones()


def test_bodies_and_joints_are_shown_and_hidden(scene):  # noqa: F811
    rig = add_chain(3)
    rig.location = (1, 2, 3)
    bone = rig.pose.bones["B1"]
    bone.lock_ik_y = bone.lock_ik_z = True
    bone.use_ik_limit_x, bone.ik_min_x, bone.ik_max_x = True, 0.0, math.pi / 2
    active(rig)
    bpy.context.view_layer.update()
    bpy.ops.conjac.show_joints()
    shown = previews.shown[rig.session_uid]
    assert shown.keys() == {"conjac_rigid", "conjac_joints"} and not rig.children
    co = shown["conjac_rigid"].ends
    assert co[:, 0].min() == pytest.approx(0.0, abs=1e-5) and co[:, 0].max() == pytest.approx(0.9, abs=1e-5)
    joints = shown["conjac_joints"].ends
    at_hinge = joints[np.linalg.norm(joints - [0.3, 0, 0], axis=1) < 0.12]
    assert len(at_hinge) > 10  # an arc of a quarter turn
    bpy.ops.conjac.show_joints()
    bpy.ops.conjac.remove_joints_preview()
    assert not previews.is_shown(rig)
    bone.ik_min_x = 0.0
    limit = bone.constraints.new("LIMIT_ROTATION")
    limit.owner_space, limit.use_limit_x, limit.min_x, limit.max_x = "LOCAL", True, 1.0, 0.5
    with pytest.raises(RuntimeError, match="limits the wrong way round"):
        bpy.ops.conjac.show_joints()


def skinned(rig):
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=(0.3, 0, 0), scale=(0.6, 0.2, 0.2))
    obj = bpy.context.object
    obj.name = "Skin"
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.subdivide(number_cuts=5)
    bpy.ops.object.mode_set(mode="OBJECT")
    x = np.array([v.co.x for v in obj.data.vertices])
    for name, chosen in (("B0", x < 0), ("B1", x >= 0)):
        obj.vertex_groups.new(name=name).add(np.flatnonzero(chosen).tolist(), 1.0, "REPLACE")
    obj.modifiers.new("Armature", "ARMATURE").object = rig
    return obj


def test_jiggle_attaches_the_skin_to_its_bones_except_where_it_is_soft(scene, tmp_path):  # noqa: F811
    rig = add_chain(2)
    obj = skinned(rig)
    obj.vertex_groups.new(name="Soft").add([v.index for v in obj.data.vertices if v.co.z > 0], 1.0, "REPLACE")
    assert bpy.ops.conjac.jiggle(nodes=0) == {"FINISHED"}
    assert obj.conjac.enabled and [(a.part, a.group) for a in obj.conjac.attachments] == [("B0", "B0 Held"),
                                                                                       ("B1", "B1 Held")]
    document, job = job_of(rig, tmp_path)
    weights = sum(job.array(attachment["weights"]) for attachment in document["bodies"][0]["attach"])
    z = np.array([v.co.z for v in obj.data.vertices])
    np.testing.assert_array_equal(weights, (z <= 0).astype(float))
    bpy.ops.conjac.jiggle(nodes=0)  # again: nothing is doubled
    assert len(obj.conjac.attachments) == 2
    rig.pose.bones["B1"].conjac.role = "none"
    bpy.ops.conjac.jiggle(nodes=0)
    assert [a.part for a in obj.conjac.attachments] == ["B0"]


@pytest.mark.parametrize("simulated,deep,wobble", [(True, 0.1, 9.81 * 0.1 * 1.45 / 0.15),
                                                   (False, 1.0, (2.5 / 0.147) ** 2)])
def test_flesh_is_as_soft_as_its_depth_lets_it_be(scene, simulated, deep, wobble):  # noqa: F811
    """A bar one end of which, `deep` long, is soft: it wobbles at 2.5 Hz, or sags by 15 % of that length."""
    rig = add_chain(2)
    rig.conjac.enabled = simulated
    obj = skinned(rig)
    for vertex in obj.data.vertices:
        vertex.co.x = (vertex.co.x > 0) * deep
    obj.data.update()
    obj.vertex_groups.new(name="Soft").add([v.index for v in obj.data.vertices if v.co.x > 0], 1.0, "REPLACE")
    active(rig)
    assert bpy.ops.conjac.jiggle(nodes=0) == {"FINISHED"}
    assert obj.conjac.youngs_modulus == pytest.approx(1000.0 * wobble, rel=5e-3)


@pytest.mark.long
def test_jiggle_suggests_dynamic_nodes_where_nothing_is_pinned(scene):  # noqa: F811
    rig = add_chain(2)
    obj = skinned(rig)
    obj.conjac.mesher, obj.conjac.edge_length = "grid", 0.1
    obj.vertex_groups.new(name="Soft").add([v.index for v in obj.data.vertices if v.co.z > 0], 1.0, "REPLACE")
    bpy.ops.conjac.jiggle(nodes=2)
    assert len(obj.conjac.handles) == 2
    assert all(handle.object.matrix_world.translation.z > 0 for handle in obj.conjac.handles)


def test_jiggle_without_a_mechanism_pins_to_the_animation(scene, tmp_path):  # noqa: F811
    rig = add_chain(2)
    rig.conjac.enabled = False
    obj = skinned(rig)
    active(rig)
    bpy.ops.conjac.jiggle(nodes=0)
    assert obj.conjac.enabled and not len(obj.conjac.attachments)
    gather.write_job(obj, scene, tmp_path)
    body = load(tmp_path).scene.bodies[0]
    assert body.pin.weights is not None
    soft = obj.vertex_groups["Soft"].index
    fraction = np.mean([any(g.group == soft for g in v.groups) for v in obj.data.vertices])
    assert 0.3 < fraction < 0.6  # what is far from the bones, until the artist paints it
    assert obj.conjac.solver.stage_solver == "quick" and obj.conjac.is_property_set("youngs_modulus")
    assert not obj.conjac.use_ground and not len(obj.conjac.handles)  # it is pinned, and every node of it moves


def test_attachments_are_added_and_removed(scene):  # noqa: F811
    rig = add_chain(2)
    obj = skinned(rig)
    obj.conjac.enabled = True
    rig.data.bones.active = rig.data.bones["B1"]
    bpy.ops.conjac.add_attachment()
    attachment = obj.conjac.attachments[0]
    assert attachment.object == rig and attachment.part == "B1"
    bpy.ops.conjac.remove_attachment(index=0)
    assert not len(obj.conjac.attachments)


def test_a_tyre_is_attached_to_the_selected_rim_and_carries_it(scene):  # noqa: F811
    """The mechanism has a hint that it falls until something attached to it has a ground."""
    def falls():
        return any(hint.key == "falls" for hint in advice.look_at(cart, scene))

    bpy.ops.rigidbody.world_add()
    for name, x in (("Chassis", 0.0), ("Rim", 1.5)):
        bpy.ops.mesh.primitive_cube_add(size=1.0, location=(x, 0.0, 1.0))
        bpy.context.object.name = name
        bpy.ops.rigidbody.object_add(type="ACTIVE")
    bpy.ops.object.empty_add(location=(1.0, 0.0, 1.0))
    bpy.ops.rigidbody.constraint_add(type="HINGE")
    axle = bpy.context.object.rigid_body_constraint
    axle.object1, axle.object2 = bpy.data.objects["Chassis"], bpy.data.objects["Rim"]
    active(axle.object1)
    assert bpy.ops.conjac.mechanism_from_rigid_bodies() == {"FINISHED"}
    cart = bpy.context.object
    cart.conjac.use_ground = False
    bpy.ops.mesh.primitive_cube_add(size=1.2, location=(1.5, 0.0, 1.0))
    tyre = bpy.context.object
    tyre.conjac.kind, tyre.conjac.contact.collides_with = "soft_body", "all"
    active(tyre)
    bpy.ops.conjac.add_attachment()  # the only mechanism there is
    axle.object2.select_set(True)
    bpy.ops.conjac.add_attachment()
    assert [(attachment.object, attachment.part) for attachment in tyre.conjac.attachments] == [
        (cart, ""), (cart, "Rim")]
    assert falls()
    bpy.ops.mesh.primitive_plane_add(size=9.0)
    bpy.ops.conjac.add_collider()
    assert not falls()
    tyre.conjac.contact.collides_with = "none"
    assert falls()


def test_a_mechanism_is_removed_and_its_settings_stay(scene):  # noqa: F811
    rig = add_chain(2)
    rig.pose.bones["B1"].conjac.stiffness = 2.0
    active(rig)
    bpy.ops.conjac.show_joints()
    bpy.ops.conjac.remove()
    assert not rig.conjac.enabled and not previews.is_shown(rig) and rig.pose.bones["B1"].conjac.stiffness == 2.0


def test_reasons_why_a_button_is_grey(scene):  # noqa: F811
    bpy.ops.object.light_add()
    for name, words in (("ragdoll", "Select an armature"), ("drive_then_let_go", "Select an armature"),
                        ("show_joints", "Select an armature with ConJac"), ("jiggle", "Select a mesh"),
                        ("mechanism_from_rigid_bodies", "No object of the scene is a rigid body")):
        with pytest.raises(RuntimeError, match=words):
            getattr(bpy.ops.conjac, name)()
    bpy.ops.object.armature_add()
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(RuntimeError, match="Leave Edit Mode"):
        bpy.ops.conjac.ragdoll()


def test_undo_brings_everything_back(scene):  # noqa: F811
    rig = add_chain(2)
    rig.conjac.enabled = False
    active(rig)
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.conjac.ragdoll()
    bpy.ops.ed.undo_push(message="ragdoll")
    bpy.ops.ed.undo()
    rig = bpy.data.objects["Rig"]
    assert not rig.conjac.enabled and rig.pose.bones["B1"].conjac.damping == 0.0
