"""Pulls in real Blender: an Empty carries nearby vertices along, with its strength, and releases them."""

import json

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from jelly import add_jelly, rest_of, scene, seen_at  # noqa: E402, F401
from matrix import some  # noqa: E402

from conjac.conjac_addon import gather  # noqa: E402
from conjac.solver.errors import BadInput  # noqa: E402


def add_pull(obj, at=(0.0, 0.0, -0.1), radius=0.08, stiffness=200.0):
    """Add a pull at the hanging cube's lower face."""
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.conjac.add_pull() == {"FINISHED"}
    pull = obj.conjac.pulls[-1]
    pull.radius, pull.stiffness, pull.object.location = radius, stiffness, at
    return pull


def job_of(obj, folder):
    gather.write_job(obj, bpy.context.scene, folder)
    return json.loads((folder / "scene.json").read_text())["bodies"][0]


def test_a_pull_is_gathered_in_metres_with_its_motion_and_strength(scene, tmp_path):  # noqa: F811
    obj = add_jelly()
    scene.unit_settings.scale_length = 0.1
    pull = add_pull(obj, at=(0.1, 0.2, -0.3), radius=0.5)
    still, = job_of(obj, tmp_path / "still")["pulls"]
    assert still["position"] == pytest.approx([0.01, 0.02, -0.03], abs=1e-8)
    assert (still["radius"], still["stiffness"]) == (pytest.approx(0.05), pytest.approx(200.0))
    assert "motion" not in still and "strength" not in still
    for frame, y, strength in ((1, 0.2, 1.0), (11, 0.6, 0.0)):
        pull.object.location.y = y
        pull.object.keyframe_insert("location", frame=frame)
        pull.strength = strength
        pull.keyframe_insert("strength", frame=frame)
    moving, = job_of(obj, tmp_path / "moving")["pulls"]
    motion, strength = (np.load(tmp_path / "moving" / moving[name]) for name in ("motion", "strength"))
    assert motion.shape == (23, 4, 4) and strength.shape == (23,)
    assert motion[[0, 20], 1, 3] == pytest.approx([0.02, 0.06], abs=1e-7)
    assert strength[[0, 20]] == pytest.approx([1.0, 0.0]) and 0.2 < strength[10] < 0.8


def test_what_is_pulled_follows_the_empty_and_is_let_go(scene):  # noqa: F811
    obj = add_jelly()
    pull = add_pull(obj, stiffness=1000.0)
    for frame, y in ((1, 0.0), (6, 0.05)):
        pull.object.location.y = y
        pull.object.keyframe_insert("location", frame=frame)
    for frame, strength in ((1, 1.0), (7, 1.0), (8, 0.0)):
        pull.strength = strength
        pull.keyframe_insert("strength", frame=frame)
    assert obj.conjac.bake(wait=True) == 0
    low = rest_of(obj)[:, 2] < -0.099
    moved = [(seen_at(obj, frame) - rest_of(obj))[low, 1].mean() for frame in (1, 7, 12)]
    assert abs(moved[0]) < 1e-6 and moved[1] > 0.02
    assert moved[2] < moved[1] - 0.005  # it swings back


@pytest.mark.parametrize("size", some((0.1, 1.0, 4.0), 1.0))
def test_a_pull_with_its_first_settings_takes_a_new_body_along(scene, size):  # noqa: F811
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=2, radius=size / 2, location=(0.0, 0.0, size))
    obj = bpy.context.object
    assert bpy.ops.conjac.add_soft_body() == {"FINISHED"}
    scene.frame_end = 36
    assert bpy.ops.conjac.add_pull() == {"FINISHED"}
    empty = obj.conjac.pulls[0].object
    for frame, x in ((1, 0.0), (24, size)):
        empty.location.x = x
        empty.keyframe_insert("location", frame=frame)
    assert obj.conjac.bake(wait=True) == 0
    moved = seen_at(obj, 36).mean(axis=0) / size
    assert 0.8 < moved[0] < 1.2 and abs(moved[2]) < 0.15


def test_what_cannot_be_a_pull_is_reported(scene, tmp_path):  # noqa: F811
    obj = add_jelly()
    pull = add_pull(obj)
    empty, pull.object = pull.object, None
    with pytest.raises(BadInput, match="its pull 1 has no Empty. Choose an Empty, or remove the pull"):
        job_of(obj, tmp_path / "job")
    pull.object = empty
    assert bpy.ops.conjac.remove_pull(index=0) == {"FINISHED"} and not len(obj.conjac.pulls)
    assert empty.name in bpy.data.objects
    assert "pulls" not in job_of(obj, tmp_path / "job")
