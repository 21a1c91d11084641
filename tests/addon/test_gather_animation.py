"""An armature's keyframes drive its joints until the release."""

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from mathutils import Matrix  # noqa: E402
from rig import add_chain, scene, world_of  # noqa: E402, F401
from test_gather_armature import limit, matrix, mechanism_of  # noqa: E402

from conjac.solver.errors import BadInput  # noqa: E402


def animate(rig):
    for name, axis in (("B0", 0), ("B1", 2)):
        bone = rig.pose.bones[name]
        bone.rotation_mode = "XYZ"
        for frame, angle in ((1, 0.0), (6, 1.2)):
            bone.rotation_euler[axis] = angle
            bone.keyframe_insert("rotation_euler", frame=frame)
    for frame, z in ((1, 0.0), (6, 0.4)):
        rig.pose.bones["B0"].location.z = z
        rig.pose.bones["B0"].keyframe_insert("location", frame=frame)


def test_following_the_animation_until_a_frame(scene, tmp_path):  # noqa: F811
    rig = add_chain(3)
    limit(rig.pose.bones["B1"], x=(0.0, 0.0), y=(0.0, 0.0))
    animate(rig)
    rig.conjac.mechanism.follow, rig.conjac.mechanism.let_go = True, 4
    mechanism, job = mechanism_of(rig, tmp_path / "job")
    joints = {joint["child"]: joint for joint in mechanism["joints"]}
    assert {name: (j["kind"], j["motor"]["until"]) for name, j in joints.items()} == {
        "B0": ("free", 4), "B1": ("revolute", 4), "B2": ("spherical", 4)}
    hinge = job.array(joints["B1"]["motor"]["target"])
    assert hinge[[0, -1], 0] == pytest.approx([0.0, 1.2], abs=1e-5)
    assert not job.array(joints["B2"]["motor"]["target"]).any() or np.abs(
        job.array(joints["B2"]["motor"]["target"])).max() < 1e-6
    # what the free joint reads is where the body goes, from where its frame stands
    free = job.array(joints["B0"]["motor"]["target"])
    frame = np.eye(4)
    frame[:3, :3], frame[:3, 3] = matrix(joints["B0"]["rotation"]), joints["B0"]["position"]
    for sample, at in ((0, 1), (10, 6)):
        scene.frame_set(at)
        bone = world_of(rig, "B0")
        centre = bone[:3, 3] + 0.15 * bone[:3, 1]
        assert frame[:3, :3] @ free[sample, 3:] + frame[:3, 3] == pytest.approx(centre, abs=1e-6)
        turn = np.array(Matrix.Rotation(np.linalg.norm(free[sample, :3]) or 0.0, 3,
                                        free[sample, :3] if free[sample, :3].any() else (0, 0, 1)))
        own_z = frame[:3, :3] @ turn @ [0, 0, 1]
        assert own_z == pytest.approx(bone[:3, 1], abs=1e-6)
    rig.conjac.mechanism.let_go = 1
    with pytest.raises(BadInput, match="lets go of its animation at frame 1"):
        mechanism_of(rig, tmp_path / "early")


def test_a_stiff_joint_follows_without_a_motor(scene, tmp_path):  # noqa: F811
    rig = add_chain(4)
    animate(rig)
    rig.pose.bones["B2"].conjac.role = "none"
    rig.conjac.mechanism.follow, rig.conjac.mechanism.let_go = True, 4
    mechanism, _ = mechanism_of(rig, tmp_path / "job")
    joints = {joint["child"]: joint for joint in mechanism["joints"]}
    assert joints["B2"]["kind"] == "fixed" and "motor" not in joints["B2"] and joints["B3"]["motor"]["until"] == 4


def test_turning_more_than_once_around_does_not_jump(scene, tmp_path):  # noqa: F811
    rig = add_chain(2)
    bone = rig.pose.bones["B1"]
    bone.rotation_mode = "XYZ"
    for frame, angle in ((1, 0.0), (6, 9.0)):
        bone.rotation_euler.y = angle
        bone.keyframe_insert("rotation_euler", frame=frame)
    rig.conjac.mechanism.follow, rig.conjac.mechanism.let_go = True, 6
    for kind, column in (("auto", 1), ("revolute", 0)):
        bone.conjac.joint, bone.conjac.axis = kind, "Y"
        mechanism, job = mechanism_of(rig, tmp_path / kind)
        target = job.array(next(j for j in mechanism["joints"] if j["child"] == "B1")["motor"]["target"])
        assert target[-1, column] == pytest.approx(9.0, abs=1e-4)
        assert np.abs(np.diff(target, axis=0)).max() < 2.0


def test_animated_bones_take_simulated_ones_along(scene, tmp_path):  # noqa: F811
    rig = add_chain(3)
    animate(rig)
    rig.pose.bones["B0"].conjac.role = "animated"
    mechanism, job = mechanism_of(rig, tmp_path / "job")
    joints = {joint["child"]: joint for joint in mechanism["joints"]}
    assert joints["B0"]["kind"] == "free" and "until" not in joints["B0"]["motor"]
    assert "motor" not in joints["B1"] and joints["B1"]["parent"] == "B0"
    rig.pose.bones["B1"].conjac.role = "animated"
    mechanism, job = mechanism_of(rig, tmp_path / "two")
    joints = {joint["child"]: joint for joint in mechanism["joints"]}
    # the first takes nothing simulated along by itself any more
    assert set(joints) == {"B1", "B2"} and joints["B1"]["kind"] == "free"
    rig.pose.bones["B2"].conjac.role = "animated"
    with pytest.raises(BadInput, match="nothing to simulate"):
        mechanism_of(rig, tmp_path / "none")
