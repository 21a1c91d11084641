"""After a bake whose nodes may sleep the object has a curve of liveliness for each; they come and go with the bake."""

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from jelly import LAST, add_jelly, frames_of, scene  # noqa: E402, F401

from conjac.conjac_addon import bake as addon_bake  # noqa: E402
from conjac.conjac_addon import compat  # noqa: E402
from conjac.conjac_addon.bake import place  # noqa: E402
from conjac.conjac_addon.playback import liveliness  # noqa: E402
from conjac.solver.frames.beside import Lively  # noqa: E402


def liveliness_of(obj):
    return place.cache_of(place.job_folder(obj)).diagnostics.liveliness()[obj.name]


def curves_of(obj):
    return [curve for curve in compat.fcurves(obj) if curve.data_path.startswith('["Liveliness ')]


def points_of(curve):
    return np.array([tuple(point.co) for point in curve.keyframe_points])


def test_a_bake_draws_a_curve_for_each_node_and_free_takes_them_away(scene):  # noqa: F811
    obj = add_jelly()
    obj.conjac.adaptive = True
    assert obj.conjac.bake() == 0
    known, curves = liveliness_of(obj), curves_of(obj)
    assert [curve.data_path for curve in curves] == ['["Liveliness 1"]']
    points = points_of(curves[0])
    assert points[:, 0].tolist() == list(range(1, LAST + 1)) == known.frames.tolist()
    np.testing.assert_allclose(points[:, 1], known.levels[:, 0], rtol=1e-6)
    assert known.levels.max() > 0.02 and known.awake.any()
    # Blender itself plays it
    scene.frame_set(7)
    assert obj["Liveliness 1"] == pytest.approx(known.levels[6, 0], rel=1e-5)
    assert obj.animation_data.action.name == "Jelly Liveliness"

    # a second bake has nothing to do, and no curve twice
    before, status = frames_of(obj), addon_bake.status(obj)
    assert status.state == "complete"
    assert obj.conjac.bake() == 0
    assert frames_of(obj) == before and len(curves_of(obj)) == 1

    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.conjac.free_bake() == {"FINISHED"}
    assert not curves_of(obj) and "Liveliness 1" not in obj
    assert "Jelly Liveliness" not in bpy.data.actions
    assert not (place.job_folder(obj) / "cache").exists()


def test_a_bake_without_sleep_draws_nothing_and_clears_what_was_there(scene):  # noqa: F811
    obj = add_jelly()
    scene.frame_end = 3
    liveliness.show(obj, Lively(np.arange(1, 4, dtype=np.int32), np.ones((3, 2), np.float32), np.ones((3, 2), bool)))
    assert len(curves_of(obj)) == 2
    assert obj.conjac.bake() == 0
    assert not curves_of(obj) and obj.animation_data.action is None


def test_the_artists_own_animation_stays(scene):  # noqa: F811
    obj = add_jelly()
    for frame, height in ((1, 0.0), (5, 1.0)):
        obj.location.z = height
        obj.keyframe_insert("location", index=2, frame=frame)
    action = obj.animation_data.action
    obj["Liveliness of Ears"] = 0.5
    lively = Lively(np.array([1, 2, 4], np.int32), np.array([[0.0], [0.5], [0.25]], np.float32), np.ones((3, 1), bool))
    for _ in range(2):
        assert liveliness.show(obj, lively) is None
        assert obj.animation_data.action == action and len(compat.fcurves(obj)) == 2
        assert points_of(curves_of(obj)[0]).tolist() == [[1.0, 0.0], [2.0, 0.5], [4.0, 0.25]]
    scene.frame_set(3)
    assert obj.location.z == pytest.approx(0.5) and obj["Liveliness 1"] == pytest.approx(0.375)
    liveliness.hide(obj)
    assert obj.animation_data.action == action and obj["Liveliness of Ears"] == 0.5
    assert [curve.data_path for curve in compat.fcurves(obj)] == ["location"]


def test_an_action_of_a_library_is_left_as_it_is(scene, tmp_path):  # noqa: F811
    obj = add_jelly()
    obj.keyframe_insert("location", index=2, frame=1)
    action = obj.animation_data.action
    action.name = "Borrowed"
    bpy.data.libraries.write(str(tmp_path / "library.blend"), {action})
    bpy.data.actions.remove(action)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, into):
        into.actions = ["Borrowed"]
    obj.animation_data.action = bpy.data.actions["Borrowed"]
    if hasattr(obj.animation_data, "action_suitable_slots"):
        obj.animation_data.action_slot = obj.animation_data.action.slots[0]
    lively = Lively(np.array([1], np.int32), np.ones((1, 1), np.float32), np.ones((1, 1), bool))
    assert "cannot be changed" in liveliness.show(obj, lively)
    assert "Liveliness 1" not in obj and not curves_of(obj)
