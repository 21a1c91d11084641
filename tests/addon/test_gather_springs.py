"""Springs between any two parts of a mechanism, and reports of settings without effect, in real Blender."""

import math
import re

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from rig import add_chain, job_of, scene, world_of  # noqa: E402, F401
from test_gather_rigid import add_box, join, mechanism  # noqa: E402

from conjac.conjac_addon import bake, gather  # noqa: E402
from conjac.conjac_addon.gather.bones import by_depth  # noqa: E402
from conjac.conjac_addon.operators.springs import add_spring  # noqa: E402
from conjac.solver.errors import BadInput  # noqa: E402


def select(rig, *names):
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    for bone in rig.pose.bones:
        chosen = bone if hasattr(bone, "select") else bone.bone
        chosen.select = bone.name in names


def test_two_selected_bones_are_joined_and_of_more_each_with_its_parent(scene, tmp_path):  # noqa: F811
    rig = add_chain(4)
    select(rig, "B0", "B3")
    assert bpy.ops.conjac.add_spring() == {"FINISHED"}
    [spring] = rig.conjac.mechanism.springs
    assert {spring.first, spring.second} == {"B0", "B3"}
    select(rig, "B0", "B1", "B3", "B2")
    assert bpy.ops.conjac.add_spring() == {"FINISHED"}
    pairs = [(entry.first, entry.second) for entry in rig.conjac.mechanism.springs]
    assert pairs[1:] == [("B0", "B1"), ("B1", "B2"), ("B2", "B3")]
    assert len(job_of(rig, tmp_path)[1].scene.mechanisms[0].springs) == 4
    rig.conjac.mechanism.active_spring = 0
    assert bpy.ops.conjac.remove_spring() == {"FINISHED"}
    assert [(entry.first, entry.second) for entry in rig.conjac.mechanism.springs] == pairs[1:]


def test_points_of_bones_and_of_the_world_arrive_where_they_are_placed(scene, tmp_path):  # noqa: F811
    scene.unit_settings.scale_length = 0.5
    rig = add_chain(2)
    rig.location.z = 1.0
    spring = add_spring(rig, "B1", "")
    spring.first_point, spring.second_point = (0.0, 0.1, 0.05), (0.4, 0.0, 2.0)
    spring.stiffness, spring.damping, spring.implicit = 50.0, 2.0, False
    spring.as_placed, spring.rest_length = False, 0.3
    document, _ = job_of(rig, tmp_path)
    [gathered] = document["mechanisms"][0]["springs"]
    bone = world_of(rig, "B1")
    end = bone[:3, 3] + bone[:3, :3] @ [0.0, 0.15 + 0.1, 0.05]  # from the middle of a bone of 0.3
    assert gathered["point_a"] == pytest.approx(0.5 * end, abs=1e-6) and gathered["body_a"] == "B1"
    assert gathered["point_b"] == pytest.approx([0.2, 0.0, 1.0], abs=1e-6) and "body_b" not in gathered
    assert (gathered["stiffness"], gathered["damping"], gathered["implicit"]) == (50.0, 2.0, False)
    assert gathered["rest_length"] == pytest.approx(0.15)
    spring.stiffness = 60.0
    assert gather.changed_settings(rig, scene, tmp_path) == ["Springs"]


def test_a_spring_carries_a_weight_at_the_position_of_statics(scene):  # noqa: F811
    scene.frame_end = 40
    box = add_box("Box", (0, 0, 1), mass=2.0)
    owner = mechanism()
    spring = add_spring(owner, "Box", "")
    spring.second_point, spring.stiffness, spring.damping = (0, 0, 2), 400.0, 40.0
    assert bpy.ops.conjac.bake() == {"FINISHED"}
    scene.frame_set(40)
    fallen = box.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.translation
    assert fallen.z == pytest.approx(1.0 - 2.0 * 9.81 / 400.0, abs=2e-3) and abs(fallen.x) < 1e-6
    assert bake.status(owner).state == "complete"


@pytest.mark.parametrize(("first", "second", "message"), [
    ("", "B1", "one of its springs has no first bone"),
    ("B0", "Gone", 'its spring "B0 – Gone" ends in "Gone", which is no simulated bone of it'),
    ("B0", "B0", 'both ends of its spring "B0 – B0" are in "B0"')])
def test_ends_that_cannot_be_are_refused(scene, tmp_path, first, second, message):  # noqa: F811
    rig = add_chain(2)
    add_spring(rig, first, second)
    with pytest.raises(BadInput, match=re.escape(f'"Rig": {message}')):
        job_of(rig, tmp_path)


def test_an_animated_bone_that_only_a_spring_is_attached_to_is_a_body(scene, tmp_path):  # noqa: F811
    rig = add_chain(2)
    rig.pose.bones["B0"].conjac.role, rig.data.bones["B1"].use_inherit_rotation = "animated", True
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones["B1"].parent = None
    bpy.ops.object.mode_set(mode="OBJECT")
    assert [body["name"] for body in job_of(rig, tmp_path / "a")[0]["mechanisms"][0]["bodies"]] == ["B1"]
    add_spring(rig, "B1", "B0")
    assert {entry["name"] for entry in job_of(rig, tmp_path / "b")[0]["mechanisms"][0]["bodies"]} == {"B0", "B1"}


def test_bones_come_after_their_parents_however_they_are_stored(scene):  # noqa: F811
    rig = add_chain(5)
    names = [bone.name for bone in by_depth(rig)]
    assert names == ["B0", "B1", "B2", "B3", "B4"]


def test_friction_in_joints_is_computed_unless_the_artist_says_none(scene, tmp_path):  # noqa: F811
    rig, notes = add_chain(3), []
    rig.pose.bones["B1"].conjac.friction, rig.pose.bones["B1"].conjac.bearing_points = 0.5, 24
    document, _ = job_of(rig, tmp_path / "a", notes)
    assert document["joint_friction"] == {"kind": "bisp"} and not notes
    assert document["mechanisms"][0]["joints"][0]["friction"]["points"] == 24
    rig.conjac.mechanism.joint_friction = "none"
    job_of(rig, tmp_path / "b", notes)
    assert notes == ['"Rig": the friction of "B1" has no effect, since Joint Friction of the mechanism is None; choose '
                     "BISP"]


def test_what_the_one_target_of_a_motor_is_at_a_joint_of_several_freedoms(scene, tmp_path):  # noqa: F811
    rig, notes = add_chain(2), []
    rig.pose.bones["B1"].conjac.motor = "servo"
    job_of(rig, tmp_path / "ball", notes)
    assert notes == ['"Rig": the motor of "B1" has one target: the angle about its X; the other 2 are held as at the '
                     "start"]
    rig.pose.bones["B1"].conjac.joint, rig.pose.bones["B1"].conjac.axis = "revolute", "Z"
    job_of(rig, tmp_path / "hinge", notes)
    assert len(notes) == 1
    post, arm = add_box("Post", (0, 0, 2), active=False), add_box("Arm", (0.4, 0, 2))
    join("PISTON", post, arm, (0, 0, 2)).conjac.part.motor = "drive"
    owner, notes = mechanism(), []
    job_of(owner, tmp_path / "piston", notes)
    assert [note for note in notes if "has one target: the angle about its X; the other is held" in note]


def test_a_target_that_is_no_number_is_refused_by_name_before_the_frames_are_read(scene, tmp_path):  # noqa: F811
    rig = add_chain(2)
    bone = rig.pose.bones["B1"]
    bone.conjac.motor, bone.conjac_motor_target = "servo", math.nan
    steps = gather.write_job_steps(rig, scene, tmp_path)
    with pytest.raises(BadInput, match='"Rig", frame 1: the motor of "B1" has a target that is not a number or too'):
        next(steps)


@pytest.mark.parametrize("kind", ["armature", "object"])
def test_what_stands_at_infinity_is_refused_by_name_before_the_frames_are_read(scene, tmp_path, kind):  # noqa: F811
    if kind == "armature":
        moved = owner = add_chain(2)
    else:
        moved = add_box("Box", (0, 0, 1))
        owner = mechanism()
    moved.location.x = 3.0e38
    steps = gather.write_job_steps(owner, scene, tmp_path)
    with pytest.raises(BadInput, match="not a number or too far away") as caught:
        next(steps)
    assert str(caught.value).startswith('"Rig", frame 1: the bone "B0"' if kind == "armature" else '"Box", frame 1: it')
    assert np.isfinite(scene.frame_current)
