"""Time Stretching plays keyframes slower or faster, with pins, rigs and baked frames."""

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from jelly import LAST, add_jelly, rest_of, scene, seen_at  # noqa: E402, F401
from matrix import some  # noqa: E402

from conjac.conjac_addon import compat  # noqa: E402
from conjac.conjac_addon.bake import place  # noqa: E402
from conjac.conjac_addon.timeline import frame_range, go_to, present_frame  # noqa: E402

SIDEWAYS = 0.3  #: how far the bone goes from frame 1 to LAST


def add_rigged_jelly():
    """Add the jelly on a bone with keyframes, and return both."""
    obj = add_jelly()
    bpy.ops.object.armature_add()
    rig = bpy.context.object
    bone = rig.pose.bones[0]
    bone.keyframe_insert("location", frame=1)
    bone.location.x = SIDEWAYS
    bone.keyframe_insert("location", frame=LAST)
    for curve in compat.fcurves(rig):
        for key in curve.keyframe_points:
            key.interpolation = "LINEAR"  # as what is baked goes from frame to frame
    armature = obj.modifiers.new("Armature", "ARMATURE")
    armature.object = rig
    obj.vertex_groups.new(name=bone.name).add(range(len(obj.data.vertices)), 1.0, "REPLACE")
    return obj, rig


@pytest.mark.parametrize("old, new", some([(100, 200), (200, 100), (100, 150)], (100, 150), (200, 100)))
def test_pins_play_where_the_rig_is(scene, old, new):  # noqa: F811
    obj, rig = add_rigged_jelly()
    scene.render.frame_map_old, scene.render.frame_map_new = old, new
    scene.frame_set(5)
    assert obj.conjac.bake() == 0
    assert scene.frame_current == 5
    pinned = rest_of(obj)[:, 2] > 0.09
    moved = []
    for frame in (1, 4, 8, LAST):
        played = seen_at(obj, frame)[pinned] - rest_of(obj)[pinned]
        head = np.array(rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones[0].head)
        np.testing.assert_allclose(played, np.broadcast_to(head, played.shape), atol=2e-4)
        moved.append(head[0])
    assert moved[-1] > moved[0] + 0.05
    cache = place.cache_of(place.job_folder(obj))
    assert (cache.frames[0], cache.frames[-1]) == frame_range(obj.conjac, scene)


def test_frames_are_those_of_keyframes(scene):  # noqa: F811
    settings = bpy.data.objects.new("Empty", None).conjac
    scene.frame_start, scene.frame_end = 1, 100
    assert frame_range(settings, scene) == (1, 100)
    scene.render.frame_map_old, scene.render.frame_map_new = 100, 200
    assert frame_range(settings, scene) == (0, 50)
    settings.use_scene_range, settings.frame_start, settings.frame_end = False, 3, 7
    assert frame_range(settings, scene) == (3, 7)
    for frame, subframe in ((7, 0.0), (7, 0.5), (-3, 0.25)):
        go_to(scene, frame, subframe)
        assert scene.frame_current + scene.frame_subframe == pytest.approx(2.0 * (frame + subframe), abs=1e-5)
        assert present_frame(scene) == frame
