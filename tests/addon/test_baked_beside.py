"""Soft bodies stay baked where others come, go or change far away."""

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from falling_boxes import LAST, add_ball  # noqa: E402
from jelly import scene, seen_at  # noqa: E402, F401

from conjac.conjac_addon import bake as addon_bake  # noqa: E402
from conjac.conjac_addon.bake import session, takes  # noqa: E402
from conjac.conjac_addon.bake.place import job_folder  # noqa: E402

FAR = 20.0


def again(obj, scene):  # noqa: F811
    """Bake as the button in the window does. Returns what it said."""
    notes = []
    assert session.Bake(obj, scene, keeps=True).wait(notes.append) == 0
    return notes


def plays(obj):
    return np.array([seen_at(obj, frame) for frame in range(1, LAST + 1)])


def text_of(obj):
    return addon_bake.status(obj).text


@pytest.fixture()
def low(scene):  # noqa: F811
    """A baked ball that has nothing to touch."""
    scene.frame_end = LAST
    obj = add_ball("Low", 0.12)
    again(obj, scene)
    return obj


def test_one_that_is_added_far_away_is_baked_beside_what_is_there(low, scene):  # noqa: F811
    before = plays(low)
    far = add_ball("Far", 0.3, along=FAR)
    assert addon_bake.status(low).state == "complete" and text_of(low).startswith(f"All {LAST} frames are baked")
    assert addon_bake.status(far).state == "stale"
    assert text_of(far) == "Not baked yet: Bake adds it to what is there"
    said = again(far, scene)
    assert any("Kept 1 of 2 objects as they were baked: Low" in note for note in said)
    assert np.array_equal(plays(low), before)
    assert np.abs(plays(far)[-1] - plays(far)[0]).max() > 0.05
    assert {addon_bake.status(one).state for one in (low, far)} == {"complete"}
    assert len(takes.listed(job_folder(low))) == 1


def test_one_that_changes_far_away_is_stale_alone(low, scene):  # noqa: F811
    far = add_ball("Far", 0.3, along=FAR)
    again(far, scene)
    before = plays(low)
    far.conjac.youngs_modulus = 4.0e4
    assert addon_bake.status(far).state == "stale" and "Young's Modulus" in text_of(far)
    assert addon_bake.status(low).state == "complete"
    assert text_of(low) == f'All {LAST} frames are baked; bake again for "Far"'
    said = again(low, scene)
    assert any("Kept 1 of 2" in note for note in said)
    assert np.array_equal(plays(low), before)
    low.conjac.ground_stiffness *= 2.0  # counts for both
    assert {addon_bake.status(one).state for one in (low, far)} == {"stale"}
    assert not any("Kept" in note for note in again(low, scene))


def test_a_copy_says_that_it_is_not_baked_yet(low, scene):  # noqa: F811
    copy = low.copy()
    copy.data = low.data.copy()
    copy.location.x += FAR
    scene.collection.objects.link(copy)
    bpy.context.view_layer.update()
    assert addon_bake.status(low).state == "complete"
    assert text_of(copy) == "Not baked yet: Bake adds it to what is there"
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
    said = again(low, scene)
    assert any("Take 1 is just what the settings say" in note for note in said)


def test_what_touched_something_that_changed_is_stale_too(low, scene):  # noqa: F811
    high = add_ball("High", 0.34, along=0.05)
    again(low, scene)
    high.conjac.youngs_modulus = 4.0e4
    assert addon_bake.status(low).state == "stale"
    assert text_of(low) == 'Baked before Young\'s Modulus of "High" changed, which is solved with it; bake again'
