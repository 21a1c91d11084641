"""Record in real Blender: a performance becomes the bake, and hands become pulls with keyframes."""

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from jelly import add_jelly, assert_plays, rest_of, scene, seen_at  # noqa: E402, F401
from played import fill, jelly, kept_tets, play, play_until, seen, unfilled  # noqa: E402, F401

from conjac.conjac_addon import bake  # noqa: E402
from conjac.conjac_addon.live import pulled  # noqa: E402
from conjac.conjac_addon.live.performance import Performance  # noqa: E402
from conjac.solver.errors import NoSuchThing  # noqa: E402
from conjac.solver.job.arrays import read_npz  # noqa: E402


def test_what_is_recorded_becomes_the_bake(jelly, tmp_path):  # noqa: F811
    played = play(jelly)
    played.record(True)
    before = played.frame["time"]
    play_until(played, lambda: played.frame["time"] > before + 0.5)
    played.record(False)
    play_until(played, lambda: played.performed is not None)
    path, frames = played.performed
    played.stop()
    assert frames >= 12 and path.exists()
    performance = Performance(jelly, bpy.context.scene, path, frames)
    assert performance.wait() == 0, performance.progress
    assert not path.exists() and not jelly.conjac.use_scene_range and jelly.conjac.frame_end == frames
    status = bake.status(jelly)
    assert (status.state, status.done) == ("complete", frames), status
    assert_plays(jelly, (1, frames // 2, frames))
    assert np.ptp([seen_at(jelly, frame)[:, 2].min() for frame in range(1, frames + 1)]) > 1e-4
    # it is exported as any
    own = seen_at(jelly, frames)
    for kind in ("abc", "shapekeys"):
        assert bpy.ops.conjac.export(format=kind) == {"FINISHED"}
        np.testing.assert_allclose(seen_at(jelly, frames), own, atol=1e-5)
    # a bake by the solver takes its place, which may be had again
    jelly.conjac.frame_end = 3
    assert jelly.conjac.bake() == 0


def test_two_bodies_are_recorded_and_a_hand_becomes_a_pull(jelly):  # noqa: F811
    other = add_jelly("Other")
    other.location.x = 0.5
    bpy.context.scene.gravity = (0.0, 0.0, 0.0)  # nothing moves before the hand does
    for scene_object in (jelly, other):
        scene_object.conjac.contact.collides_with = "all"
    fill(other)
    played = play(other, 0.05)
    corner = int(np.argmin(rest_of(jelly).sum(axis=1)))
    played.record(True)
    before = played.frame["time"]
    play_until(played, lambda: played.frame["time"] > before + 0.15)
    position = seen(jelly)[corner].astype(float)
    grab = played.take(position)
    played.pull(grab, position + [0.0, -0.1, 0.0], 3.0)
    play_until(played, lambda: played.frame["time"] > before + 0.6)
    played.let_go(grab)
    play_until(played, lambda: played.frame["time"] > before + 0.7)
    played.record(False)
    play_until(played, lambda: played.performed is not None)
    path, frames = played.performed
    bodies, rest = played.pullable()
    assert {body.name for body in bodies} == {"Jelly", "Other"}
    for _ in range(2):  # the pulls of a performance take the place of those of the one before
        assert pulled.keyframe(bodies, rest, read_npz(path), bpy.context.scene, 1) == 1
    played.stop()
    [pull], none = jelly.conjac.pulls, other.conjac.pulls
    assert not len(none) and pull.stiffness > 1.0
    bpy.context.scene.frame_set(1)
    np.testing.assert_allclose(pull.object.matrix_world.translation, rest_of(jelly)[corner], atol=1e-5)
    assert pull.strength == 0.0
    bpy.context.scene.frame_set(10)
    # it moves on until the worker has heard of the hand
    np.testing.assert_allclose(pull.object.matrix_world.translation, position + [0.0, -0.1, 0.0], atol=0.03)
    assert pull.strength == 1.0
    bpy.context.scene.frame_set(frames)
    assert pull.strength == 0.0
    performance = Performance(jelly, bpy.context.scene, path, frames)
    assert performance.wait() == 0, performance.progress
    performed = {}
    for member in (jelly, other):
        status = bake.status(member)
        assert (status.state, status.done) == ("complete", frames), status
        assert_plays(member, (1, frames))
        performed[member.name] = seen_at(member, 12)[corner] - rest_of(member)[corner]
    assert performed["Jelly"][1] < -0.03 < performed["Other"][1], performed
    # the solver does as the hand did
    jelly.conjac.edge_length = 0.06
    assert jelly.conjac.bake() == 0
    baked = seen_at(jelly, 12)[corner] - rest_of(jelly)[corner]
    np.testing.assert_allclose(baked[1], performed["Jelly"][1], rtol=0.35)


def test_a_performance_that_was_deleted_is_refused(jelly, tmp_path):  # noqa: F811
    with pytest.raises(NoSuchThing, match="the recorded performance is missing"):
        Performance(jelly, bpy.context.scene, tmp_path / "gone.npz", 3)
    assert jelly.conjac.use_scene_range
