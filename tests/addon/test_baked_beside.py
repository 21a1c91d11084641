"""Soft bodies and mechanisms stay baked where others are added, removed or changed far away."""

import time

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from falling_boxes import LAST, add_ball, add_collider  # noqa: E402
from jelly import frames_of, run_until, scene, seen_at  # noqa: E402, F401
from test_touched_mechanisms import arm, free_jelly, sunk  # noqa: E402, F401

from conjac.conjac_addon import bake as addon_bake  # noqa: E402
from conjac.conjac_addon.bake import session, takes  # noqa: E402
from conjac.conjac_addon.bake.earlier_frames import EarlierFrames  # noqa: E402
from conjac.conjac_addon.bake.place import job_folder  # noqa: E402

FAR = 20.0


def again(obj, scene):  # noqa: F811
    """Bake as the window's button does, and return the reports."""
    notes = []
    assert session.Bake(obj, scene, keeps=True).wait(notes.append) == 0
    return notes


def plays(obj):
    return np.array([seen_at(obj, frame) for frame in range(1, LAST + 1)])


def text_of(obj):
    return addon_bake.status(obj).text


@pytest.fixture()
def low(scene):  # noqa: F811
    """Return a baked ball that touches nothing."""
    scene.frame_end = LAST
    obj = add_ball("Low", 0.12)
    again(obj, scene)
    return obj


def test_one_that_is_added_far_away_is_baked_beside_what_is_there(low, scene):  # noqa: F811
    before = plays(low)
    far = add_ball("Far", 0.3, along=FAR)
    assert addon_bake.status(low).state == "complete" and text_of(low).startswith(f"All {LAST} frames are baked")
    assert addon_bake.status(far).state == "stale"
    assert text_of(far) == "Not baked yet: Bake adds it to the existing bake"
    messages = again(far, scene)
    assert any("Kept 1 of 2 objects as they were baked: Low" in note for note in messages)
    assert np.array_equal(plays(low), before)
    assert np.abs(plays(far)[-1] - plays(far)[0]).max() > 0.05
    assert {addon_bake.status(scene_object).state for scene_object in (low, far)} == {"complete"}
    assert len(takes.listed(job_folder(low))) == 1


def test_one_that_changes_far_away_is_stale_alone(low, scene):  # noqa: F811
    far = add_ball("Far", 0.3, along=FAR)
    again(far, scene)
    before = plays(low)
    far.conjac.youngs_modulus = 4.0e4
    assert addon_bake.status(far).state == "stale" and "Young's Modulus" in text_of(far)
    assert addon_bake.status(low).state == "complete"
    assert text_of(low) == f'All {LAST} frames are baked; bake again for "Far"'
    messages = again(low, scene)
    assert any("Kept 1 of 2" in note for note in messages)
    assert np.array_equal(plays(low), before)
    low.conjac.ground_stiffness *= 2.0  # counts for both
    assert {addon_bake.status(scene_object).state for scene_object in (low, far)} == {"stale"}
    assert not any("Kept" in note for note in again(low, scene))


def test_a_copy_says_that_it_is_not_baked_yet(low, scene):  # noqa: F811
    copy = low.copy()
    copy.data = low.data.copy()
    copy.location.x += FAR
    scene.collection.objects.link(copy)
    bpy.context.view_layer.update()
    assert addon_bake.status(low).state == "complete"
    assert text_of(copy) == "Not baked yet: Bake adds it to the existing bake"
    assert any("Kept 1 of 2" in note for note in again(copy, scene))
    assert addon_bake.status(copy).state == "complete"


def test_one_that_comes_near_makes_it_stale(low, scene):  # noqa: F811
    add_ball("Near", 0.34, along=0.05)
    assert addon_bake.status(low).state == "stale"
    assert text_of(low) == 'Baked before "Near" came near; bake again'


def test_one_that_moves_or_goes_leaves_the_others(low, scene):  # noqa: F811
    far = add_ball("Far", 0.3, along=FAR)
    again(far, scene)
    far.location.x += 5.0
    bpy.context.view_layer.update()
    assert addon_bake.status(far).state == "stale" and "Far moved" in text_of(far)
    assert addon_bake.status(low).state == "complete"
    far.location.x = 0.3
    bpy.context.view_layer.update()
    assert addon_bake.status(low).state == "stale"
    bpy.data.objects.remove(far)
    assert addon_bake.status(low).state == "complete"
    messages = again(low, scene)
    assert any("Take 1 matches the settings" in note for note in messages)


def test_what_touched_something_that_changed_is_stale_too(low, scene):  # noqa: F811
    high = add_ball("High", 0.34, along=0.05)
    again(low, scene)
    high.conjac.youngs_modulus = 4.0e4
    assert addon_bake.status(low).state == "stale"
    assert text_of(low) == 'Baked before Young\'s Modulus of "High" changed, which is solved with it; bake again'


def aside(obj):
    return job_folder(obj) / "takes" / "aside"


def stop_at(bake, frame):
    """Cancel a bake once it has a frame."""
    run_until(bake, lambda: (bake.progress.frame or 0) >= frame)
    bake.cancel()
    while bake.tick():
        time.sleep(0.01)
    assert bake.exit_code == 75


def test_scripts_take_what_has_not_changed_unless_they_solve_all(low, scene, capsys):  # noqa: F811
    far = add_ball("Far", 0.3, along=FAR)
    assert far.conjac.bake() == 0
    assert "Kept 1 of 2 objects as they were baked: Low" in capsys.readouterr().out
    assert not aside(low).parent.exists()
    frames = frames_of(low)
    far.conjac.youngs_modulus = 4.0e4
    assert far.conjac.bake(solve_all=True) == 0
    assert "Kept" not in capsys.readouterr().out
    far.conjac.youngs_modulus = 2.0e4
    assert far.conjac.bake() == 0
    assert "Kept 1 of 2" in capsys.readouterr().out
    assert frames_of(low) == frames


def test_frames_of_a_cancelled_bake_are_taken_when_one_is_added_far_away(scene):  # noqa: F811
    scene.frame_end = 60
    low = add_ball("Low", 0.12)
    low.conjac.step = 1 / 480
    stop_at(session.Bake(low, scene, keeps=True), 25)
    finished = frames_of(low)
    assert addon_bake.status(low).state == "partial"
    far = add_ball("Far", 0.3, along=FAR)
    far.conjac.step = 1 / 480
    assert addon_bake.status(low).state == "partial"
    assert text_of(far) == "Not baked yet: Bake adds it to the existing bake"
    # that one is cancelled too: nothing of the first is lost
    stop_at(session.Bake(far, scene, keeps=True), 2)
    assert len(frames_of(low)) < len(finished)
    assert {path.stem for path in (aside(low) / "cache" / "frames").iterdir()} == finished.keys()
    messages = again(far, scene)
    assert any("Kept 1 of 2 objects as they were baked: Low" in note for note in messages)
    assert any(f"it ends at frame {len(finished)}" in note for note in messages)
    assert {addon_bake.status(scene_object).state for scene_object in (low, far)} == {"complete"}
    assert not aside(low).parent.exists()
    whole = frames_of(low)
    assert all(whole[frame][128:].startswith(content[128:]) for frame, content in finished.items())


def test_frames_that_were_moved_aside_come_back_where_the_bake_cannot_begin(low, scene):  # noqa: F811
    frames = frames_of(low)
    low.conjac.youngs_modulus = 4.0e4
    earlier = EarlierFrames(keeps=False, solves_all=False)
    assert earlier.replace(job_folder(low), len(frames), "Young's Modulus") == (False, [])
    assert frames_of(low) == {} and earlier.to_reuse(job_folder(low), resume=False) == aside(low)
    earlier.settle(job_folder(low))
    assert frames_of(low) == frames and not aside(low).exists()


def test_a_collider_makes_only_what_is_near_it_stale(low, scene):  # noqa: F811
    table = add_collider("Table", 0.3, (FAR, 0.0, 0.15))
    again(low, scene)
    frames = frames_of(low)
    for change in (lambda: setattr(table.location, "x", 1.5 * FAR),
                   lambda: setattr(table.conjac.contact, "friction", 0.9)):
        change()
        bpy.context.view_layer.update()
        assert addon_bake.status(low).state == "complete", text_of(low)
    messages = again(low, scene)
    assert any("Nothing has to be solved" in note for note in messages)
    assert frames_of(low) == frames
    table.location.x = 0.35
    bpy.context.view_layer.update()
    assert addon_bake.status(low).state == "stale" and text_of(low) == "Baked before Table moved; bake again"
    table.location.x = FAR
    bpy.context.view_layer.update()
    other = add_collider("Stool", 0.3, (-FAR, 0.0, 0.15))
    assert addon_bake.status(low).state == "complete", text_of(low)
    other.location.x = -0.35
    bpy.context.view_layer.update()
    assert text_of(low) == 'Baked before "Stool" was added; bake again'


def test_one_that_is_added_far_from_a_mechanism_is_baked_beside_it(arm, scene):  # noqa: F811
    near = free_jelly("Near")
    again(near, scene)
    down, shape = sunk(arm), seen_at(near, 6)
    far = free_jelly("Far", along=FAR)
    assert {addon_bake.status(scene_object).state for scene_object in (arm, near)} == {"complete"}
    assert text_of(far) == "Not baked yet: Bake adds it to the existing bake"
    messages = again(far, scene)
    assert any("Kept 2 of 3 objects as they were baked: Near, the mechanisms" in note for note in messages)
    assert {addon_bake.status(member).state for member in (arm, near, far)} == {"complete"}
    assert sunk(arm) == down and np.array_equal(seen_at(near, 6), shape)
    far.conjac.youngs_modulus = 4.0e4
    assert addon_bake.status(far).state == "stale"
    assert text_of(arm) == text_of(near) == 'All 6 frames are baked; bake again for "Far"'


@pytest.mark.long
def test_a_mechanism_that_changes_leaves_what_is_far_from_it(arm, scene):  # noqa: F811
    near, far = free_jelly("Near"), free_jelly("Far", along=FAR)
    again(near, scene)
    shape = seen_at(far, 6)
    arm.pose.bones["B1"].conjac.stiffness = 90.0
    assert addon_bake.status(far).state == "complete"
    assert text_of(far) == 'All 6 frames are baked; bake again for "Rig"'
    assert addon_bake.status(arm).state == addon_bake.status(near).state == "stale"
    messages = again(arm, scene)
    assert any("Kept 1 of 3 objects as they were baked: Far" in note for note in messages)
    assert np.array_equal(seen_at(far, 6), shape)
