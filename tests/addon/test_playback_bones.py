"""Baked poses of rigid bodies play as keyframes in real Blender, and Free restores everything."""

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from rig import LAST, add_armature, add_chain, job_of, scene, world_of  # noqa: E402, F401

from conjac.conjac_addon import gather, playback  # noqa: E402
from conjac.conjac_addon.gather import turns  # noqa: E402
from conjac.conjac_addon.playback import action, curves  # noqa: E402
from conjac.solver.errors import BadInput  # noqa: E402


def poses_of(mechanism, first=1, last=LAST, seed=0):
    """Return poses that differ at every frame and every body."""
    rng = np.random.default_rng(seed)
    bodies = mechanism["bodies"]
    data = np.array([[turns.pose(turns.from_vector(rng.normal(0, 1.0, 3)), rng.normal(0, 1.0, 3)) for _ in bodies]
                     for _ in range(first, last + 1)])
    return playback.Places(first, last, tuple(body["name"] for body in bodies), lambda frame: data[frame - first])


def head_of(mechanism, arrays, poses, name, frame):
    """Return the expected pose of a bone: the body's own frame, relative to the bone."""
    k = poses.names.index(name)
    return poses.read(frame)[k] @ np.linalg.inv(np.load(arrays / "mechanism_offsets.npy")[k])


def assert_shown(rig, scene, mechanism, arrays, poses, names=None):  # noqa: F811
    for frame in (1, 4, LAST, 2):
        scene.frame_set(frame)
        for name in names or poses.names:
            expected = head_of(mechanism, arrays, poses, name, frame)
            seen = world_of(rig, name)
            rotation, _ = turns.split(seen)
            assert rotation == pytest.approx(expected[:3, :3], abs=2e-5), (frame, name)
            assert seen[:3, 3] * scene.unit_settings.scale_length == pytest.approx(expected[:3, 3], abs=1e-5)


def loose_rig():
    """Return an armature whose bones are parented and not connected, so that each may be anywhere."""
    return add_armature([("Root", (0, 0, 0), (0, 0, 1), None, False), ("Arm", (1, 0, 1), (2, 0, 1), "Root", False),
                         ("Hand", (2, 0, 1), (2.5, 0.2, 1), "Arm", False),
                         ("Tail", (0, 0, -1), (0, -1, -1), "Root", False)])


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "ZXY", "AXIS_ANGLE"])
def test_frame_k_shows_frame_k_in_every_rotation_mode(scene, tmp_path, mode):  # noqa: F811
    rig = loose_rig()
    rig.location, rig.rotation_euler, rig.scale = (1, 2, 3), (0.3, 0.2, 0.1), (2, 2, 2)
    scene.unit_settings.scale_length = 0.5
    for bone in rig.pose.bones:
        bone.rotation_mode = mode
    rig.data.bones["Hand"].use_inherit_rotation = False
    rig.data.bones["Tail"].inherit_scale = "NONE"
    document, _ = job_of(rig, tmp_path)
    mechanism = document["mechanisms"][0]
    poses = poses_of(mechanism)
    playback.mechanism.show(rig, poses, tmp_path / "arrays", 1, 0.5)
    assert_shown(rig, scene, mechanism, tmp_path / "arrays", poses)


def test_an_armature_that_moves_and_bones_above_that_are_left_out(scene, tmp_path):  # noqa: F811
    rig = loose_rig()
    for frame, x in ((1, 0.0), (LAST, 3.0)):
        rig.location.x = x
        rig.keyframe_insert("location", frame=frame)
    root = rig.pose.bones["Root"]
    root.conjac.role, root.rotation_mode = "none", "XYZ"
    for frame, turn in ((1, 0.0), (LAST, 2.0)):
        root.rotation_euler.x = turn
        root.keyframe_insert("rotation_euler", frame=frame)
    document, _ = job_of(rig, tmp_path)
    mechanism = document["mechanisms"][0]
    assert [body["name"] for body in mechanism["bodies"]] == ["Arm", "Tail", "Hand"]
    poses = poses_of(mechanism)
    playback.mechanism.show(rig, poses, tmp_path / "arrays", 1, 1.0)
    assert_shown(rig, scene, mechanism, tmp_path / "arrays", poses)
    # what is not baked is animated as before
    scene.frame_set(LAST)
    assert root.rotation_euler.x == pytest.approx(2.0, abs=1e-6) and rig.location.x == pytest.approx(3.0)


def state_of(rig):
    data = rig.animation_data
    return {"action": data.action.name if data is not None and data.action is not None else None,
            "actions": sorted(listed.name for listed in bpy.data.actions), "data": data is not None,
            "mutes": [(b.name, c.name, c.mute) for b in rig.pose.bones for c in b.constraints],
            "drivers": [d.mute for d in data.drivers] if data is not None else [],
            "channels": [[round(v, 5) for channel in action.CHANNELS for v in getattr(b, channel)]
                         for b in rig.pose.bones]}


@pytest.mark.parametrize("animated", [False, True])
def test_everything_comes_back_when_it_is_freed(scene, tmp_path, animated):  # noqa: F811
    rig = loose_rig()
    arm = rig.pose.bones["Arm"]
    arm.rotation_mode, arm.rotation_euler, arm.scale = "XYZ", (0.1, 0.2, 0.3), (1.5, 1.5, 1.5)
    rig.pose.bones["Tail"].constraints.new("COPY_ROTATION")
    rig.pose.bones["Tail"].constraints.new("LIMIT_SCALE").mute = True
    if animated:
        for frame, angle in ((1, 0.0), (LAST, 1.0)):
            arm.rotation_euler.y = angle
            arm.keyframe_insert("rotation_euler", frame=frame)
        driver = rig.pose.bones["Hand"].driver_add("location", 0).driver
        driver.expression = "0.25"
    scene.frame_set(3)
    before = state_of(rig)
    document, _ = job_of(rig, tmp_path)
    scene.frame_set(3)
    mechanism = document["mechanisms"][0]
    for seed in (0, 1):  # a second bake takes the place of the first
        poses = poses_of(mechanism, seed=seed)
        playback.mechanism.show(rig, poses, tmp_path / "arrays", 1, 1.0)
        assert_shown(rig, scene, mechanism, tmp_path / "arrays", poses)
    assert action.ours(rig) is not None
    with playback.set_aside(rig):
        scene.frame_set(3)
        aside = state_of(rig)
        aside["actions"].remove(rig.name + " ConJac")
        assert aside == before
    assert_shown(rig, scene, mechanism, tmp_path / "arrays", poses)
    playback.hide(rig)
    scene.frame_set(3)
    assert state_of(rig) == before
    playback.hide(rig)
    assert state_of(rig) == before


def test_freeing_one_of_two_that_share_an_action_leaves_the_other(scene, tmp_path):  # noqa: F811
    rig = loose_rig()
    document, _ = job_of(rig, tmp_path)
    poses = poses_of(document["mechanisms"][0])
    playback.mechanism.show(rig, poses, tmp_path / "arrays", 1, 1.0)
    twin = rig.copy()
    scene.collection.objects.link(twin)
    assert action.ours(twin) == action.ours(rig)
    assert_shown(twin, scene, document["mechanisms"][0], tmp_path / "arrays", poses)
    playback.hide(rig)
    assert action.ours(rig) is None and action.ours(twin) is not None
    assert_shown(twin, scene, document["mechanisms"][0], tmp_path / "arrays", poses)
    playback.hide(twin)
    assert not bpy.data.actions


def test_gathering_again_reads_the_artists_own_animation(scene, tmp_path):  # noqa: F811
    rig = loose_rig()
    limit = rig.pose.bones["Arm"].constraints.new("LIMIT_ROTATION")
    limit.owner_space, limit.use_limit_x, limit.max_x = "LOCAL", True, 1.0
    first, _ = job_of(rig, tmp_path / "one")
    playback.mechanism.show(rig, poses_of(first["mechanisms"][0]), tmp_path / "one" / "arrays", 1, 1.0)
    assert limit.mute
    second, _ = job_of(rig, tmp_path / "two")
    assert second == first and "low" in first["mechanisms"][0]["joints"][0]
    assert gather.changed_settings(rig, scene, tmp_path / "one") == []


def test_inverse_kinematics_does_not_bend_what_is_baked(scene, tmp_path):  # noqa: F811
    rig = loose_rig()
    ik = rig.pose.bones["Hand"].constraints.new("IK")
    ik.target = bpy.data.objects.new("Target", None)
    scene.collection.objects.link(ik.target)
    ik.target.location, ik.chain_count = (5, 5, 5), 3
    rig.pose.bones["Hand"].conjac.role = "none"
    document, _ = job_of(rig, tmp_path)
    mechanism = document["mechanisms"][0]
    poses = poses_of(mechanism)
    playback.mechanism.show(rig, poses, tmp_path / "arrays", 1, 1.0)
    assert_shown(rig, scene, mechanism, tmp_path / "arrays", poses)
    playback.hide(rig)
    assert not ik.mute


def test_a_saved_file_plays_and_frees_after_loading(scene, tmp_path):  # noqa: F811
    rig = loose_rig()
    for frame, x in ((1, 0.0), (LAST, 3.0)):
        rig.location.x = x
        rig.keyframe_insert("location", frame=frame)
    document, _ = job_of(rig, tmp_path)
    mechanism = document["mechanisms"][0]
    poses = poses_of(mechanism)
    own = rig.animation_data.action.name
    playback.mechanism.show(rig, poses, tmp_path / "arrays", 1, 1.0)
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    rig = bpy.data.objects["Rig"]
    assert_shown(rig, bpy.context.scene, mechanism, tmp_path / "arrays", poses)
    playback.hide(rig)
    assert rig.animation_data.action.name == own and [listed.name for listed in bpy.data.actions] == [own]


def test_fewer_keyframes_stay_within_the_tolerance(scene, tmp_path):  # noqa: F811
    scene.frame_end = 60
    rig = add_chain(2)
    document, _ = job_of(rig, tmp_path)
    bodies = document["mechanisms"][0]["bodies"]

    def swing(frame):
        turn = turns.pose(turns.from_vector(np.array([0.0, 0.8 * np.sin(0.1 * frame), 0.0])), np.zeros(3))
        rest = np.array([turns.pose(np.eye(3), np.array(body["position"])) for body in bodies])
        from mathutils import Quaternion
        for k, body in enumerate(bodies):
            rest[k, :3, :3] = np.array(Quaternion(body["rotation"]).to_matrix())
        return turn @ rest

    poses = playback.Places(1, 60, tuple(body["name"] for body in bodies), swing)
    counts = []
    for use in (False, True):
        rig.conjac.mechanism.use_decimation, rig.conjac.mechanism.tolerance = use, 0.002
        playback.mechanism.show(rig, poses, tmp_path / "arrays", 1, 1.0)
        counts.append(sum(len(c.keyframe_points) for c in _curves(rig)))
        for frame in (1, 17, 38, 60):
            scene.frame_set(frame)
            expected = head_of(None, tmp_path / "arrays", poses, "B0", frame)
            assert world_of(rig, "B0")[:3, :3] == pytest.approx(expected[:3, :3], abs=0.008 if use else 2e-5)
    assert counts[1] < 0.5 * counts[0]


def _curves(rig):
    from conjac.conjac_addon import compat

    return compat.fcurves(rig)


def test_simplified_curves_keep_their_corners():
    values = np.concatenate([np.linspace(0, 1, 20), np.linspace(1, 0, 20)])
    assert curves.simplified(values, 1e-6).tolist() == [0, 19, 20, 39]
    keys = curves.simplified(np.sin(np.linspace(0, 6, 200)), 0.01)
    line = np.interp(np.arange(200), keys, np.sin(np.linspace(0, 6, 200))[keys])
    assert np.abs(line - np.sin(np.linspace(0, 6, 200))).max() <= 0.01 and len(keys) < 30


def test_bones_that_were_deleted_are_reported(scene, tmp_path):  # noqa: F811
    rig = loose_rig()
    document, _ = job_of(rig, tmp_path)
    poses = poses_of(document["mechanisms"][0])
    rig.data.bones["Hand"].name = "Paw"
    with pytest.raises(BadInput, match='"Rig": the bone "Hand" of the bake is missing'):
        playback.mechanism.show(rig, poses, tmp_path / "arrays", 1, 1.0)
    rig.data.bones["Paw"].name = "Hand"
    with pytest.raises(BadInput, match="lacks files that are needed to play the bake"):
        playback.mechanism.show(rig, poses, tmp_path / "gone", 1, 1.0)
    assert action.ours(rig) is None
