"""A bake ends as it reports: nothing in the artist's scene prevents it unnoticed, and it restores the scene."""

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from jelly import LAST, add_jelly, assert_plays, frames_of, run_until, scene, seen_at  # noqa: E402, F401
from matrix import some  # noqa: E402

from conjac.conjac_addon import bake as addon_bake  # noqa: E402
from conjac.conjac_addon.bake import cli, place, session  # noqa: E402
from conjac.solver.errors import BadInput  # noqa: E402


def moving_pin(obj, last):
    """Animate the object, so that each frame that is read differs."""
    obj.keyframe_insert("location", frame=1)
    obj.location.x = 0.1
    obj.keyframe_insert("location", frame=last)


@pytest.mark.parametrize("key", some(["abc", "shapekeys", "pc2"], "abc", "shapekeys"))
def test_it_waits_for_the_artist_to_leave_edit_mode(scene, key):  # noqa: F811
    obj = add_jelly()
    obj.conjac.export = key
    bake = session.Bake(obj, scene)
    run_until(bake, lambda: bake.worker is not None)
    bpy.ops.object.mode_set(mode="EDIT")
    run_until(bake, lambda: "play when you leave the Edit Mode of Jelly" in bake.progress.text)
    assert addon_bake.status(obj).state == "baking" and bake.exit_code is None
    bpy.ops.object.mode_set(mode="OBJECT")
    assert bake.wait() == 0, bake.progress.error
    assert np.abs(seen_at(obj, LAST) - seen_at(obj, 1)).max() > 1e-3
    assert_plays(obj, (1, 6, LAST))


def test_what_is_edited_while_it_is_read_is_read_anew_afterwards(scene):  # noqa: F811
    obj = add_jelly()
    moving_pin(obj, LAST)
    bake = session.Bake(obj, scene)
    for _ in range(6):
        assert bake.tick(budget=0.0)
    assert bake.worker is None and bake.progress.fraction > 0.0
    bpy.ops.object.mode_set(mode="EDIT")  # the workspace Modeling does so by itself
    run_until(bake, lambda: bake.progress.text == "It continues when you leave the Edit Mode of Jelly")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.transform.resize(value=(1.0, 1.0, 1.25))
    bpy.ops.object.mode_set(mode="OBJECT")
    assert bake.wait() == 0, bake.progress.error
    np.testing.assert_allclose(seen_at(obj, 1), np.array([v.co for v in obj.data.vertices]), atol=1e-6)
    assert np.ptp(seen_at(obj, 1)[:, 2]) > 0.24


def test_where_nobody_can_leave_edit_mode_it_says_so(scene):  # noqa: F811
    obj = add_jelly()
    obj.conjac.export = "abc"
    bake = session.Bake(obj, scene)
    run_until(bake, lambda: bake.worker is not None)
    bpy.ops.object.mode_set(mode="EDIT")
    assert bake.wait() == BadInput.exit_code
    assert '"Jelly": it is being edited, so its frames are on the disk' in bake.progress.error
    with pytest.raises(RuntimeError, match="Leave Edit Mode first|it is in Edit Mode|poll"):
        bpy.ops.conjac.export(format="abc")
    bpy.ops.object.mode_set(mode="OBJECT")
    assert obj.conjac.bake() == 0
    assert_plays(obj, (1, LAST))


def test_a_cancel_while_it_waits_keeps_the_frames(scene):  # noqa: F811
    obj = add_jelly()
    bake = session.Bake(obj, scene)
    run_until(bake, lambda: bake.worker is not None)
    bpy.ops.object.mode_set(mode="EDIT")
    run_until(bake, lambda: "leave the Edit Mode" in bake.progress.text)
    bake.cancel()
    while bake.tick():
        pass
    assert bake.exit_code == 75 and "bake again in Object Mode" in bake.progress.text
    assert len(frames_of(obj)) == LAST


def test_a_linked_object_is_refused_before_it_is_baked(scene, tmp_path, capfd):  # noqa: F811
    add_jelly()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, wanted):
        wanted.objects = ["Jelly"]
    obj = wanted.objects[0]
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.scene.frame_end = 3
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    before = (tmp_path / "shot.blend").read_bytes()
    assert cli.run(["bake", "--save"]) == 2
    captured = capfd.readouterr()
    assert '"Jelly": it is linked from another file' in captured.out + captured.err
    assert "library override" in captured.out + captured.err
    assert (tmp_path / "shot.blend").read_bytes() == before
    assert not obj.modifiers and not (tmp_path / "conjac_cache").exists()


def test_the_scene_is_the_artists_own_while_it_is_read(scene):  # noqa: F811
    obj = add_jelly()
    obj.modifiers.new("Fine", "SUBSURF")
    scene.frame_end = 40
    moving_pin(obj, 40)
    scene.frame_set(7)
    bake = session.Bake(obj, scene)
    looks = 0
    while bake.worker is None:
        assert bake.tick(budget=0.0), bake.progress
        looks += 1
        assert scene.frame_current == 7 and obj.modifiers["Fine"].show_viewport
        # work that is done between two looks is not undone by the next one
        if looks == 5:
            scene.frame_set(9)
            scene.frame_set(7)
    assert looks > 40
    assert bake.wait() == 0
    assert scene.frame_current == 7


def test_two_that_read_one_scene_by_turns_leave_it_as_it_was(scene):  # noqa: F811
    first, second = add_jelly("First"), add_jelly("Second")
    for obj in (first, second):
        moving_pin(obj, LAST)
    scene.frame_set(7)
    bakes = [session.Bake(first, scene), session.Bake(second, scene)]
    while any(bake.worker is None for bake in bakes):
        for bake in bakes:
            assert bake.tick(budget=0.0), bake.progress
    assert scene.frame_current == 7
    while sum(bake.tick() for bake in bakes):
        pass
    assert [bake.exit_code for bake in bakes] == [0, 0], [bake.progress for bake in bakes]
    assert scene.frame_current == 7
    together = frames_of(second)
    assert bpy.ops.conjac.free_bake() == {"FINISHED"}
    assert second.conjac.bake() == 0
    assert frames_of(second) == together
    assert_plays(first, (1, LAST))


def test_undo_while_the_scene_is_read_reads_it_anew(scene):  # noqa: F811
    def jelly():
        return bpy.data.objects["Jelly"]  # undo moves it in memory

    moving_pin(add_jelly(), LAST)
    scene.frame_set(3)
    bpy.ops.ed.undo_push(message="before")
    jelly().conjac.youngs_modulus = 9.0e3
    jelly().modifiers.new("Fine", "SUBSURF")
    bpy.ops.ed.undo_push(message="changed")
    bake = session.Bake(jelly(), bpy.context.scene)
    for _ in range(6):
        assert bake.tick(budget=0.0)
    assert bake.worker is None and bake.progress.fraction > 0.0
    bpy.ops.ed.undo()
    assert not jelly().modifiers and bpy.context.scene.frame_current == 3
    assert bake.wait() == 0, bake.progress.error
    assert addon_bake.status(jelly()).state == "complete"  # it was baked as it is now
    undone = frames_of(jelly())
    assert bpy.ops.conjac.free_bake() == {"FINISHED"}
    assert jelly().conjac.bake() == 0
    assert frames_of(jelly()) == undone


def test_an_object_deleted_while_the_scene_is_read_is_named(scene):  # noqa: F811
    obj = add_jelly()
    bpy.ops.object.empty_add()
    handle = bpy.context.object
    obj.conjac.handles.add().object = handle
    obj.conjac.use_ground, obj.conjac.ground_object = True, handle
    bake = session.Bake(obj, scene)
    for _ in range(4):
        bake.tick(budget=0.0)
    assert bake.worker is None
    bpy.data.objects.remove(handle)
    code = bake.wait()
    assert code == 2 and "was deleted while the scene was read" in bake.progress.error, bake.progress
    assert "report" not in bake.progress.error and session.running == {}
    assert place.job_folder(obj).exists()


def test_what_has_been_moved_since_is_named(scene):  # noqa: F811
    obj = add_jelly()
    bpy.ops.object.empty_add()
    handle = bpy.context.object
    handle.name, handle.location = "Ear", (-0.05, -0.05, -0.05)
    obj.conjac.handles.add().object = handle
    bpy.context.view_layer.objects.active = obj
    scene.frame_set(5)
    assert obj.conjac.bake() == 0
    status = addon_bake.status(obj)
    assert status.state == "complete"
    assert status.text == "All 12 frames are baked"

    def state_with(obj):
        bpy.context.view_layer.update()
        status = addon_bake.status(obj)
        return status.state, status.text

    handle.location.x = 0.05
    assert state_with(obj) == ("stale", "Baked before Ear moved; bake again")
    handle.location.x = -0.05
    obj.location.z = 0.5
    assert state_with(obj) == ("stale", "Baked before Jelly moved; bake again")
    obj.location.z = 0.0
    assert state_with(obj)[0] == "complete"
    obj.conjac.handles.add().object = obj.copy()
    assert state_with(obj)[0] == "stale" and "Handles" in state_with(obj)[1]
    obj.conjac.handles.remove(1)
    assert state_with(obj)[0] == "complete"
    # what is animated stands elsewhere at another frame, and is no other for it
    handle.name = "Renamed"
    moving_pin(handle, LAST)
    scene.frame_set(9)
    assert state_with(obj)[0] == "complete"
    handle.animation_data_clear()
    handle.location = (-0.05, -0.05, -0.05)
    assert state_with(obj)[0] == "complete"
    handle.location.y = 0.05
    assert obj.conjac.bake() == 0
    assert addon_bake.status(obj).state == "complete"


def test_a_button_means_the_object_that_its_editor_shows(scene):  # noqa: F811
    shown, active = add_jelly("Shown"), add_jelly("Active")
    scene.frame_end = 3
    assert bpy.context.object == bpy.context.active_object == active
    # what a Properties editor says that is pinned to another object; in a window: test_window_end.py
    with bpy.context.temp_override(object=shown):
        assert bpy.ops.conjac.bake() == {"FINISHED"}
        assert bpy.ops.conjac.export(format="shapekeys") == {"FINISHED"}
        assert shown.data.shape_keys is not None
        assert bpy.ops.conjac.free_bake() == {"FINISHED"}
        assert bpy.ops.conjac.remove() == {"FINISHED"}
        assert bpy.ops.conjac.add_soft_body() == {"FINISHED"}
    assert addon_bake.status(active).state == "none" and not active.modifiers
    assert active.data.shape_keys is None and active.conjac.kind == shown.conjac.kind == "soft_body"
