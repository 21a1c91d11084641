"""Soft bodies hang on bones: gathered with the mechanism, one job for all, and clear refusals."""

import json

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from rig import add_chain, job_of, scene  # noqa: E402, F401

from conjac.conjac_addon import bake, gather, members  # noqa: E402
from conjac.solver.errors import BadInput, NoSuchThing  # noqa: E402


def add_flesh(rig, name="Flesh", groups=("B0", "B1")):
    """Add a box around the first two bones, its left half painted for one of them and its right half for the other."""
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=(0.3, 0, 0), scale=(0.6, 0.2, 0.2))
    obj = bpy.context.object
    obj.name = name
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.subdivide(number_cuts=3)
    bpy.ops.object.mode_set(mode="OBJECT")
    x = np.array([v.co.x for v in obj.data.vertices])
    for group, chosen in zip(groups, (x < -0.29, x > 0.29)):
        obj.vertex_groups.new(name=group).add(np.flatnonzero(chosen).tolist(), 1.0, "REPLACE")
        attachment = obj.conjac.attachments.add()
        attachment.object, attachment.part = rig, group
    obj.conjac.enabled = True
    return obj


def test_one_job_has_the_mechanism_and_what_hangs_on_it(scene, tmp_path):  # noqa: F811
    rig = add_chain(2)
    flesh, second = add_flesh(rig), add_flesh(rig, "Also")
    bpy.ops.mesh.primitive_cube_add()
    bpy.context.object.conjac.enabled = True
    document, job = job_of(rig, tmp_path / "job")
    assert [body["name"] for body in document["bodies"]] == ["Flesh", "Also"]  # as in the scene
    attach = document["bodies"][0]["attach"]
    assert [(attachment["mechanism"], attachment["body"]) for attachment in attach] == [("Rig", "B0"), ("Rig", "B1")]
    weights = job.array(attach[1]["weights"])
    x = np.array([v.co.x for v in flesh.data.vertices])
    np.testing.assert_array_equal(weights, (x > 0.29).astype(float))
    assert members.owner(flesh) == members.owner(second) == rig
    assert bake.job_folder(flesh) == bake.job_folder(rig) != bake.job_folder(bpy.context.object)
    assert gather.changed_settings(rig, scene, tmp_path / "job") == []
    flesh.conjac.youngs_modulus *= 2
    assert gather.changed_settings(rig, scene, tmp_path / "job") == ["Young's Modulus"]
    flesh.conjac.youngs_modulus /= 2
    second.conjac.enabled = False
    assert gather.changed_settings(rig, scene, tmp_path / "job") == ["Soft Bodies"]


def test_a_preview_of_the_body_alone_counts_attached_nodes_as_pinned(scene, tmp_path):  # noqa: F811
    flesh = add_flesh(add_chain(2))
    for _ in gather.write_job_steps(flesh, scene, tmp_path, still=True):
        pass
    document = json.loads((tmp_path / "scene.json").read_text())
    body, = document["bodies"]
    assert "attach" not in body and "mechanisms" not in document
    pinned = np.load(tmp_path / body["pin"]["weights"])
    assert pinned.sum() == sum(abs(v.co.x) > 0.29 for v in flesh.data.vertices)


def test_animated_bones_with_attached_flesh_are_bodies(scene, tmp_path):  # noqa: F811
    rig = add_chain(3)
    for bone in rig.pose.bones:
        bone.conjac.role = "animated"
    add_flesh(rig)
    document, _ = job_of(rig, tmp_path)
    mechanism = document["mechanisms"][0]
    assert [body["name"] for body in mechanism["bodies"]] == ["B0", "B1"]
    assert all(joint["kind"] == "free" and joint["motor"]["mode"]["kind"] == "drive" for joint in mechanism["joints"])


def test_handles_that_only_follow_their_animation_carry_flesh(scene, tmp_path):  # noqa: F811
    """A sponge hangs on two handles that are twisted; no rigid body moves by itself."""
    for x in (0.0, 0.6):
        bpy.ops.mesh.primitive_cube_add(size=0.2, location=(x, 0, 0))
        handle = bpy.context.object
        handle.name = "Left" if x == 0.0 else "Right"
        bpy.ops.rigidbody.object_add(type="PASSIVE")
        for frame, turn in ((1, 0.0), (6, 1.0 + x)):
            handle.rotation_euler.x = turn
            handle.keyframe_insert("rotation_euler", frame=frame)
    bpy.ops.conjac.mechanism_from_rigid_bodies()
    owner = bpy.context.object
    sponge = add_flesh(owner, groups=("Left", "Right"))
    document, job = job_of(owner, tmp_path)
    mechanism = document["mechanisms"][0]
    assert [body["name"] for body in mechanism["bodies"]] == ["Left", "Right"]
    assert job.array(mechanism["joints"][1]["motor"]["target"])[-1, 0] == pytest.approx(1.6, abs=1e-5)
    assert {attachment["body"] for attachment in document["bodies"][0]["attach"]} == {"Left", "Right"}
    # with nothing on them there is nothing to simulate
    sponge.conjac.enabled = False
    with pytest.raises(BadInput, match="is an active rigid body"):
        job_of(owner, tmp_path / "alone")


def test_what_cannot_be_attached_is_refused(scene, tmp_path):  # noqa: F811
    rig = add_chain(2)
    flesh = add_flesh(rig)
    first = flesh.conjac.attachments[0]
    first.part = "Nose"
    with pytest.raises(NoSuchThing, match='"Flesh": "Rig" has no bone "Nose"'):
        job_of(rig, tmp_path / "1")
    first.part = ""
    with pytest.raises(BadInput, match='"Flesh": its attachment to "Rig" names no bone. Choose the bone under Attach'):
        job_of(rig, tmp_path / "0")
    first.part = "B0"
    nothing = flesh.conjac.attachments.add()
    with pytest.raises(BadInput, match='"Flesh": its attachment 3 has nothing to follow. Choose an armature'):
        job_of(rig, tmp_path / "8")
    assert nothing.object is None
    flesh.conjac.attachments.remove(2)
    first.part, first.group = "B0", "Gone"
    with pytest.raises(NoSuchThing, match='no vertex group "Gone" for the part that follows "B0"'):
        job_of(rig, tmp_path / "2")
    first.group = flesh.vertex_groups.new(name="Nothing").name
    with pytest.raises(BadInput, match='no vertex in its group "Nothing" is painted above 0.5, so nothing follows'):
        job_of(rig, tmp_path / "3")
    first.group = ""
    rig.pose.bones["B0"].conjac.role = "none"
    with pytest.raises(BadInput, match='"Flesh": it is attached to "B0" of "Rig", which is left out'):
        job_of(rig, tmp_path / "4")
    rig.pose.bones["B0"].conjac.role = "simulated"
    flesh.parent, flesh.parent_type, flesh.parent_bone = rig, "BONE", "B0"
    with pytest.raises(BadInput, match='"Flesh": it is parented to the bone "B0", which the bake moves'):
        job_of(rig, tmp_path / "7")
    flesh.parent = None
    first.object = add_chain(1, name="Other")
    with pytest.raises(BadInput, match='it is attached to "Other" and to "Rig", and they are baked separately'):
        job_of(members.owner(flesh), tmp_path / "5")
    bpy.data.objects["Other"].conjac.enabled = False
    with pytest.raises(BadInput, match='it is attached to "Other", which is not simulated'):
        job_of(rig, tmp_path / "6")
