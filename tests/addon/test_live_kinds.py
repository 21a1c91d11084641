"""Kinds of objects in Play Live, in real Blender: several bodies, cloth, bones, and cut bodies."""

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from jelly import add_jelly, rest_of, scene  # noqa: E402, F401
from played import fill, jelly, kept_tets, play, play_until, seen, unfilled  # noqa: E402, F401

from conjac.conjac_addon.live import session  # noqa: E402


def test_two_that_collide_are_played_together(jelly):  # noqa: F811
    jelly.vertex_groups.remove(jelly.vertex_groups["Pin"])
    other = add_jelly("Other")
    other.vertex_groups.remove(other.vertex_groups["Pin"])
    other.location.z = 0.3
    for body in (jelly, other):
        body.conjac.contact.collides_with, body.conjac.use_ground, body.conjac.ground_height = "all", True, -0.1
        body.conjac.youngs_modulus = 5.0e4
    fill(other)
    played = play(other, 0.5)
    assert session.playing == {jelly.session_uid: played, other.session_uid: played}
    apart = seen(other)[:, 2].mean() + 0.3 - seen(jelly)[:, 2].mean()
    assert 0.15 < apart < 0.3, apart  # without contact both lie on the ground by now
    played.stop()
    assert session.playing == {} and not list(jelly.modifiers) and not list(other.modifiers)


def test_cloth_is_played(scene):  # noqa: F811
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=6, y_subdivisions=6, size=0.4)
    cloth = bpy.context.object
    cloth.conjac.kind = "cloth"
    rest = rest_of(cloth)
    cloth.vertex_groups.new(name="Pin").add(np.flatnonzero(rest[:, 0] < -0.19).tolist(), 1.0, "REPLACE")
    play(cloth, 0.3)
    moved = seen(cloth)
    assert moved[:, 2].min() < -0.02
    np.testing.assert_allclose(moved[rest[:, 0] < -0.19], rest[rest[:, 0] < -0.19], atol=1e-4)
    session.stop_all()


def test_bones_are_moved_and_put_back(scene, tmp_path):  # noqa: F811
    from rig import add_chain

    rig = add_chain(2)
    for bone in rig.pose.bones:
        bone.conjac.role = "simulated"
    bpy.context.view_layer.update()
    rest = [np.array(bone.matrix_basis) for bone in rig.pose.bones]
    played = play(rig, 0.2)
    assert max(np.abs(np.array(bone.matrix_basis) - at).max() for bone, at in zip(rig.pose.bones, rest)) > 0.05
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend"), copy=True)
    assert b"conjac_live_pose" not in (tmp_path / "saved.blend").read_bytes()
    played.stop()
    for bone, at in zip(rig.pose.bones, rest):
        np.testing.assert_array_equal(np.array(bone.matrix_basis), at)
    assert "conjac_live_pose" not in rig


def test_a_redraw_of_bones_wakes_no_threads_of_lapack(scene, monkeypatch):  # noqa: F811
    from rig import add_chain

    def refuse(matrix):
        raise AssertionError("it takes half a millisecond for each bone where other programs use the processor")

    rig = add_chain(2)
    for bone in rig.pose.bones:
        bone.conjac.role = "simulated"
    bpy.context.view_layer.update()
    played = play(rig, 0.1)
    monkeypatch.setattr(np.linalg, "inv", refuse)
    play_until(played, lambda: played.frame["time"] > 0.2)
    played.stop()


def test_what_is_cut_later_is_played_whole(jelly):  # noqa: F811
    blade = bpy.data.objects.new("Blade", None)
    bpy.context.scene.collection.objects.link(blade)
    cut = jelly.conjac.cuts.add()
    cut.frame, cut.object = 6, blade
    played = play(jelly, 0.3)
    assert seen(jelly)[:, 2].min() < rest_of(jelly)[:, 2].min() - 0.002
    played.stop()


def test_a_mechanism_moves_in_steps_that_are_shown_sixty_times_a_second(scene, tmp_path):  # noqa: F811
    from rig import add_chain

    rig = add_chain(2)
    for bone in rig.pose.bones:
        bone.conjac.role = "simulated"
    rig.conjac.step = 1 / 24
    bpy.context.view_layer.update()
    played = play(rig, 0.2)
    assert played.frame["step"] < 1 / 70
    played.stop()


def test_a_pace_far_below_the_clocks_is_a_number_above_zero(jelly):  # noqa: F811
    played = play(jelly, 0.1)
    played.frame["pace"] = 0.031
    assert played.sentence().endswith("×0.031")
    played.frame["pace"] = 0.6
    assert played.sentence().endswith("×0.6")
    played.stop()
