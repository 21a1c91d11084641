"""After a bake each joint with a motor or a drive has a curve of its effort; the curves come and go with the bake."""

import json

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from rig import add_chain, scene  # noqa: E402, F401
from test_bake_mechanism import pendulum  # noqa: E402
from test_gather_rigid import add_box, join, mechanism  # noqa: E402

from conjac.conjac_addon import compat  # noqa: E402
from conjac.conjac_addon.bake import foreground, place  # noqa: E402
from conjac.conjac_addon.operators.mechanism import volume_of  # noqa: E402
from conjac.conjac_addon.playback import effort  # noqa: E402

TORQUE = '["Effort (N m)"]'


def curves_of(obj):
    return {curve.data_path: curve for curve in compat.fcurves(obj) if "Effort" in curve.data_path}


def points_of(curve):
    return np.array([tuple(point.co) for point in curve.keyframe_points])


def efforts_of(owner, name):
    """Return the cached effort of a joint with one rate, frame by frame."""
    cache = place.cache_of(place.job_folder(owner))
    joint = next(entry for entry in cache.mechanisms()[0]["joints"] if entry["name"] == name)
    return {frame: cache.poses(frame)["effort"][joint["first"]] for frame in cache.frames_done()}


def test_a_bones_drive_shows_its_torque_and_free_takes_it_away(scene):  # noqa: F811
    rig = pendulum(1)
    part = rig.pose.bones["B0"].conjac
    part.motor, part.mass = "drive", 2.0
    notes = []
    assert foreground.bake(rig, scene, report=notes.append) == 0
    efforts, curves = efforts_of(rig, "B0"), curves_of(rig)
    assert list(curves) == [f'pose.bones["B0"]{TORQUE}']
    curve, = curves.values()
    assert curve.group.name == "B0"  # below the bone's other channels
    points = points_of(curve)
    assert points[:, 0].tolist() == list(range(2, scene.frame_end + 1))
    np.testing.assert_allclose(points[:, 1], [efforts[int(frame)] for frame in points[:, 0]], rtol=1e-6)
    # the weight of 2 kg whose middle is 0.15 m beside the hinge
    assert np.abs(points[:, 1]) == pytest.approx(2.0 * 9.81 * 0.15, rel=1e-3)
    assert any(note.startswith('"Rig": the largest effort of its motors at whole frames: "B0" 2.94 N m')
               for note in notes), notes
    scene.frame_set(4)
    assert rig.pose.bones["B0"]["Effort (N m)"] == pytest.approx(efforts[4], rel=1e-6)

    part.motor = "none"
    assert rig.conjac.bake() == 0  # a bake without motors clears what was there
    assert not curves_of(rig) and "Effort (N m)" not in rig.pose.bones["B0"]
    part.motor = "drive"
    assert rig.conjac.bake() == 0 and len(curves_of(rig)) == 1
    assert bpy.ops.conjac.free_bake() == {"FINISHED"}
    assert rig.animation_data is None and not bpy.data.actions and "Effort (N m)" not in rig.pose.bones["B0"]


def test_following_the_animation_shows_every_rate_and_nothing_after_it_lets_go(scene):  # noqa: F811
    rig = add_chain(2)
    rig.conjac.mechanism.follow, rig.conjac.mechanism.let_go = True, 4
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.conjac.bake() == {"FINISHED"}
    curves = curves_of(rig)
    free = [f"Effort {k} ({unit})" for unit in ("N m", "N") for k in (1, 2, 3)]
    assert set(curves) == {f'pose.bones["B0"]["{name}"]' for name in free} | {
        f'pose.bones["B1"]["{name}"]' for name in free[:3]}
    force = np.array([points_of(curves[f'pose.bones["B0"]["Effort {k} (N)"]'])[:, 1] for k in (1, 2, 3)])
    bodies = json.loads((place.job_folder(rig) / "scene.json").read_text())["mechanisms"][0]["bodies"]
    weight = 9.81 * sum(1000.0 * volume_of(body["shape"]) for body in bodies)
    # at frames 2 and 3 the first bone is fixed, and all that hangs on it
    assert np.linalg.norm(force[:, :2], axis=0) == pytest.approx(weight, rel=1e-3)
    assert all(points_of(curve)[-1, 1] == 0.0 for curve in curves.values())


def test_rigid_objects_show_it_beside_their_own_channels(scene):  # noqa: F811
    post, arm = add_box("Post", (0, 0, 2), active=False), add_box("Arm", (0.4, 0, 2))
    hinge = join("HINGE", post, arm, (0, 0, 2), (np.pi / 2, 0, 0))
    hinge.conjac.part.motor = "drive"
    for frame, angle in ((1, 0.0), (6, 1.0)):
        hinge.conjac_motor_target = angle
        hinge.keyframe_insert("conjac_motor_target", frame=frame)
    owner = mechanism()
    for _ in range(2):  # a second bake has nothing to do, and no curve twice
        assert bpy.ops.conjac.bake() == {"FINISHED"}
        assert list(curves_of(arm)) == [TORQUE] and not curves_of(post)
    efforts = efforts_of(owner, "Arm")
    np.testing.assert_allclose(points_of(curves_of(arm)[TORQUE])[:, 1], [efforts[k] for k in range(2, 7)], rtol=1e-6)
    assert bpy.ops.conjac.free_bake() == {"FINISHED"}
    assert arm.animation_data is None and "Effort (N m)" not in arm


def test_what_does_not_move_is_fixed_against_blenders_own_rigid_bodies_and_has_its_graph_alone(scene):  # noqa: F811
    post, arm = add_box("Post", (0, 0, 2), active=False), add_box("Arm", (0.4, 0, 2))
    join("HINGE", post, arm, (0, 0, 2), (np.pi / 2, 0, 0)).conjac.part.motor = "drive"
    mechanism()
    assert bpy.ops.conjac.bake() == {"FINISHED"}
    assert arm.rigid_body.kinematic and list(curves_of(arm)) == [TORQUE]
    assert bpy.ops.conjac.free_bake() == {"FINISHED"}
    assert not arm.rigid_body.kinematic and not bpy.data.actions


def test_an_action_of_a_library_is_left_as_it_is(scene, tmp_path):  # noqa: F811
    arm = add_box("Arm", (0, 0, 2))
    arm.keyframe_insert("location", frame=1)
    action = arm.animation_data.action
    action.name = "Borrowed"
    bpy.data.libraries.write(str(tmp_path / "library.blend"), {action})
    bpy.data.actions.remove(action)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, into):
        into.actions = ["Borrowed"]
    compat.assign_action(arm, bpy.data.actions["Borrowed"])
    effort_rows = effort.Pushed("Arm", "revolute", np.array([2, 3], np.int32), np.ones((2, 1)))
    note, = effort.show(mechanism(), [effort_rows])
    assert note.startswith('"Arm": the effort of its motors is not drawn, as its action cannot be changed')
    assert "Effort (N m)" not in arm
