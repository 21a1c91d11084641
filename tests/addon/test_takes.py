"""Older frames become a take when the object is baked again; only the artist deletes it."""

import shutil

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from drawn_panels import drawn  # noqa: E402
from jelly import LAST, add_jelly, assert_plays, frames_of, run_until, scene, seen_at  # noqa: E402, F401

from conjac.conjac_addon import bake as addon_bake  # noqa: E402
from conjac.conjac_addon import prefs  # noqa: E402
from conjac.conjac_addon.bake import apart, contents, place, session, takes  # noqa: E402


def again(obj, scene):  # noqa: F811
    """Bake as the window's button does, and return the reports."""
    notes = []
    assert session.Bake(obj, scene, keeps=True).wait(notes.append) == 0
    return notes


def listed(obj):
    return takes.listed(place.job_folder(obj))


@pytest.fixture()
def jelly(scene):  # noqa: F811
    obj = add_jelly()
    bpy.context.view_layer.objects.active = obj
    again(obj, scene)
    return obj


def test_finished_frames_become_a_take_that_plays_again_and_so_do_those_after_them(jelly, scene):  # noqa: F811
    first, shown = frames_of(jelly), seen_at(jelly, LAST)
    assert not listed(jelly) and not bpy.ops.conjac.use_take.poll()
    jelly.conjac.youngs_modulus = 4.0e4
    messages = again(jelly, scene)
    assert any(f"The {LAST} previous frames are kept as take 1" in note for note in messages)
    second = frames_of(jelly)
    assert second != first and addon_bake.status(jelly).state == "complete"
    take, = listed(jelly)
    assert (take.number, take.first, take.last) == (1, 1, LAST) and "Young's Modulus" in take.why and take.size > 0
    log = drawn(jelly)
    assert {"conjac.use_take", "conjac.remove_take"} <= {name for kind, name in log if kind == "operator"}
    assert any(text.startswith(f"1: 1 to {LAST}, ") for kind, text in log if kind == "label")

    assert bpy.ops.conjac.use_take(number=1) == {"FINISHED"}
    assert frames_of(jelly) == first
    np.testing.assert_allclose(seen_at(jelly, LAST), shown, atol=1e-6)
    assert_plays(jelly, (1, LAST))
    status = addon_bake.status(jelly)
    assert status.state == "stale" and "Young's Modulus" in status.text
    take, = listed(jelly)
    assert take.number == 2 and take.why == ""
    assert bpy.ops.conjac.use_take() == {"FINISHED"} and frames_of(jelly) == second


def test_compare_writes_how_far_each_vertex_is_from_the_take_in_mm(jelly, scene):  # noqa: F811
    first = {frame: seen_at(jelly, frame) for frame in range(1, LAST + 1)}
    jelly.conjac.youngs_modulus *= 0.5
    again(jelly, scene)
    jelly.scale = (2.0, 2.0, 2.0)
    bpy.context.view_layer.update()
    vertices = np.array([seen_at(jelly, frame) - first[frame] for frame in range(1, LAST + 1)])
    assert bpy.ops.conjac.compare_take(number=1) == {"FINISHED"}
    differences = np.array([element.value for element in jelly.data.attributes["take_difference"].data])
    away = 2000.0 * np.linalg.norm(vertices, axis=2)
    np.testing.assert_allclose(differences, away.max(axis=0), rtol=1e-3, atol=1e-3)
    assert differences.max() > 1.0
    values = apart.write(jelly, scene, 1)
    assert values.frames == LAST and values.frame == 1 + int(away.max(axis=1).argmax())
    np.testing.assert_allclose((values.largest, values.mean), (away.max(), away.mean()), rtol=1e-3)


def test_compare_says_what_it_cannot(jelly, scene):  # noqa: F811
    assert not bpy.ops.conjac.compare_take.poll()
    jelly.conjac.youngs_modulus *= 0.5
    again(jelly, scene)
    with pytest.raises(RuntimeError, match="there is no take 7"):
        bpy.ops.conjac.compare_take(number=7)
    jelly.data.vertices.add(1)
    with pytest.raises(RuntimeError, match="Compare bakes of the same mesh"):
        bpy.ops.conjac.compare_take(number=1)


def test_settings_that_a_take_was_baked_with_bring_it_back_without_a_step(jelly, scene):  # noqa: F811
    first, modulus = frames_of(jelly), jelly.conjac.youngs_modulus
    times = {path.name: path.stat().st_mtime_ns for path in (place.job_folder(jelly) / "cache" / "frames").iterdir()}
    jelly.conjac.youngs_modulus = 2.0 * modulus
    again(jelly, scene)
    second = frames_of(jelly)
    jelly.conjac.youngs_modulus = modulus
    messages = again(jelly, scene)
    assert any("matches the settings" in note for note in messages)
    assert frames_of(jelly) == first and addon_bake.status(jelly).state == "complete"
    assert times == {path.name: path.stat().st_mtime_ns
                     for path in (place.job_folder(jelly) / "cache" / "frames").iterdir()}
    take, = listed(jelly)
    frames = {path.stem: path.read_bytes() for path in sorted((take.folder / "cache" / "frames").glob("*.npy"))}
    assert frames == second
    assert not (place.job_folder(jelly) / "takes" / "next").exists()


def test_a_bake_stopped_while_the_scene_was_read_takes_nothing_from_the_take(jelly, scene):  # noqa: F811
    modulus = jelly.conjac.youngs_modulus
    jelly.conjac.youngs_modulus = 2.0 * modulus
    bake = session.Bake(jelly, scene, keeps=True)
    run_until(bake, lambda: bake.worker is not None)  # the job is written anew
    bake.cancel()
    assert bake.wait() == 75
    again(jelly, scene)
    assert bpy.ops.conjac.use_take(number=1) == {"FINISHED"}
    jelly.conjac.youngs_modulus = modulus
    assert addon_bake.status(jelly).state == "complete"  # scene.json and arrays are those of then


def test_half_a_bake_is_no_take(jelly, scene):  # noqa: F811
    scene.frame_end = 400
    bake = session.Bake(jelly, scene, keeps=True)
    run_until(bake, lambda: (bake.progress.frame or 0) > LAST + 2)
    bake.cancel()
    assert bake.wait() == 75
    jelly.conjac.youngs_modulus *= 2.0
    bake = session.Bake(jelly, scene, keeps=True)
    run_until(bake, lambda: (bake.progress.frame or 0) > 2)
    bake.cancel()
    assert bake.wait() == 75 and not listed(jelly)
    assert [path.name for path in (place.job_folder(jelly) / "takes").iterdir()] == [contents.ASIDE]
    assert bpy.ops.conjac.free_bake() == {"FINISHED"} and not (place.job_folder(jelly) / "takes").exists()


def test_a_longer_range_and_one_bake_more_make_no_take(jelly, scene):  # noqa: F811
    again(jelly, scene)
    scene.frame_end = LAST + 2
    again(jelly, scene)
    assert not (place.job_folder(jelly) / "takes").exists()


def test_the_oldest_take_beyond_the_number_of_the_preferences_is_deleted(jelly, scene, monkeypatch):  # noqa: F811
    assert prefs.takes() == 8
    monkeypatch.setattr(prefs, "takes", lambda: 2)
    for _ in range(4):
        jelly.conjac.youngs_modulus *= 1.5
        again(jelly, scene)
    assert [take.number for take in listed(jelly)] == [4, 3]
    assert sorted(path.name for path in (place.job_folder(jelly) / "takes").iterdir()) == ["3", "4"]


def test_free_leaves_takes_and_delete_takes_one_from_the_disk(jelly, scene):  # noqa: F811
    first = frames_of(jelly)
    for _ in range(2):
        jelly.conjac.youngs_modulus *= 1.5
        again(jelly, scene)
    folder = place.job_folder(jelly)
    assert bpy.ops.conjac.free_bake() == {"FINISHED"}
    assert [take.number for take in listed(jelly)] == [2, 1]
    assert bpy.ops.conjac.remove_take(number=2) == {"FINISHED"}
    assert [take.number for take in listed(jelly)] == [1] and not (folder / "takes" / "2").exists()
    assert bpy.ops.conjac.use_take() == {"FINISHED"} and frames_of(jelly) == first and not listed(jelly)
    assert bpy.ops.conjac.free_bake() == {"FINISHED"}
    contents.remove(folder)
    assert not folder.exists(), list(folder.rglob("*"))  # nothing of a take is left as litter


def test_a_take_behind_a_link_is_none(jelly, scene, tmp_path):  # noqa: F811
    jelly.conjac.youngs_modulus *= 1.5
    again(jelly, scene)
    folder, away = place.job_folder(jelly), tmp_path / "mine"
    shutil.move(folder / "takes" / "1", away)
    (folder / "takes" / "1").symlink_to(away)
    files = sorted(path for path in away.rglob("*") if path.is_file())
    assert not listed(jelly) and not bpy.ops.conjac.remove_take.poll()
    contents.remove(folder)
    assert sorted(path for path in away.rglob("*") if path.is_file()) == files


def test_the_first_save_takes_them_along(tmp_path):
    import conjac

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    conjac.register()
    try:
        scene = bpy.context.scene
        scene.frame_start, scene.frame_end = 1, 3
        obj = add_jelly()
        again(obj, scene)
        first = frames_of(obj)
        obj.conjac.youngs_modulus *= 2.0
        again(obj, scene)
        before = place.job_folder(obj)
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "named.blend"))
        assert place.job_folder(obj) != before and not before.exists()
        bpy.context.view_layer.objects.active = obj
        assert [take.number for take in listed(obj)] == [1]
        assert bpy.ops.conjac.use_take() == {"FINISHED"} and frames_of(obj) == first
    finally:
        conjac.unregister()


def test_a_take_of_a_ragdoll_gives_its_keyframes_back(scene):  # noqa: F811
    bpy.ops.object.armature_add()
    rig = bpy.context.object
    rig.location.z = 3.0
    bpy.ops.conjac.ragdoll(smallest=0.0, use_ground=False)
    scene.frame_end = 6
    bone = rig.pose.bones[0]

    def falls():
        scene.frame_set(6)
        return (rig.matrix_world @ bone.matrix).translation.z

    again(rig, scene)
    first = falls()
    scene.frame_set(1)
    scene.gravity.z = -1.0
    again(rig, scene)
    second = falls()
    assert second - first > 0.1 and len(listed(rig)) == 1
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.conjac.use_take() == {"FINISHED"} and falls() == pytest.approx(first, abs=1e-5)
    assert bpy.ops.conjac.use_take() == {"FINISHED"} and falls() == pytest.approx(second, abs=1e-5)
