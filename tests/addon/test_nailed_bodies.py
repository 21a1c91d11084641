"""Nails in real Blender: an Empty pins a part of the body from its frame on, moves it along, and releases it."""

import json

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from jelly import add_jelly, rest_of, scene, seen_at  # noqa: E402, F401

from conjac.conjac_addon import gather  # noqa: E402
from conjac.conjac_addon.bake import place  # noqa: E402
from conjac.solver.errors import BadInput  # noqa: E402
from conjac.solver.frames.read import Cache  # noqa: E402

NAIL = 4


def add_nail(obj, frame=NAIL, at=(0.0, 0.0, -0.1), radius=0.06):
    """Add a nail along X below the hanging cube's middle."""
    bpy.context.scene.frame_set(frame)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.conjac.add_nail()
    nail = obj.conjac.nails[-1]
    nail.radius, nail.object.location, nail.object.rotation_euler = radius, at, (0.0, np.pi / 2, 0.0)
    return nail


def job_of(obj, folder):
    gather.write_job(obj, bpy.context.scene, folder)
    return json.loads((folder / "scene.json").read_text())["bodies"][0]


def test_the_pose_and_motion_of_a_nail_are_gathered_in_metres(scene, tmp_path):  # noqa: F811
    obj = add_jelly()
    scene.unit_settings.scale_length = 0.1
    nail = add_nail(obj, 5, at=(0.1, 0.2, 0.3))
    nail.object.empty_display_size, nail.is_drawn, nail.until = 0.5, True, 9
    still, = job_of(obj, tmp_path / "still")["nails"]
    assert (still["frame"], still["until"]) == (5, 9) and still["radius"] == pytest.approx(0.006)
    assert still["head"] == pytest.approx([0.06, 0.02, 0.03], abs=1e-7)
    assert still["tip"] == pytest.approx([-0.04, 0.02, 0.03], abs=1e-7) and "motion" not in still
    for frame, z in ((1, 0.3), (11, 0.5)):
        nail.object.location.z = z
        nail.object.keyframe_insert("location", frame=frame)
    nail.is_drawn = False
    moving, = job_of(obj, tmp_path / "moving")["nails"]
    assert "until" not in moving
    motion = np.load(tmp_path / "moving" / moving["motion"])
    assert motion.shape == (23, 4, 4)
    assert motion[0] @ [*moving["head"], 1.0] == pytest.approx([0.06, 0.02, 0.03, 1.0], abs=1e-7)
    assert motion[20] @ [*moving["head"], 1.0] == pytest.approx([0.06, 0.02, 0.05, 1.0], abs=1e-7)
    assert 0.03 < (motion[5] @ [*moving["head"], 1.0])[2] < 0.05


def test_nailed_vertices_follow_the_empty_and_are_released(scene):  # noqa: F811
    obj = add_jelly()
    nail = add_nail(obj)
    for frame, x in ((NAIL, 0.0), (9, 0.05)):
        nail.object.location.y = x
        nail.object.keyframe_insert("location", frame=frame)
    nail.is_drawn, nail.until = True, 10
    assert obj.conjac.bake(wait=True) == 0
    low = (rest_of(obj)[:, 2] < -0.099) & (np.abs(rest_of(obj)[:, 1]) < 0.05)
    at_nail, carried, after = (seen_at(obj, frame)[low] for frame in (NAIL, 10, 12))
    assert np.abs(carried - at_nail - [0.0, 0.05, 0.0]).max() < 2e-3
    assert np.abs(after - carried).max() > 2e-3
    log = Cache(place.job_folder(obj) / "cache").cut_frames()
    assert log == [NAIL, 10]


def test_what_cannot_be_a_nail_is_reported(scene, tmp_path):  # noqa: F811
    obj = add_jelly()
    nail = add_nail(obj, 30)
    with pytest.raises(BadInput, match='"Jelly": its nail at frame 30 would hold nothing.*from frame 1 to 11'):
        job_of(obj, tmp_path / "late")
    nail.frame = 5
    nail.object.hide_viewport = True
    with pytest.raises(BadInput, match='it is a nail of "Jelly", but it is disabled in viewports'):
        job_of(obj, tmp_path / "disabled")
    nail.object.hide_viewport = False
    nail.is_drawn, nail.until = True, 5
    with pytest.raises(BadInput, match="lets go at frame 5 already"):
        job_of(obj, tmp_path / "drawn")
    nail.object = None
    with pytest.raises(BadInput, match="its nail at frame 5 has no Empty"):
        job_of(obj, tmp_path / "none")


def test_a_changed_nail_makes_the_bake_stale(scene, tmp_path):  # noqa: F811
    obj = add_jelly()
    nail = add_nail(obj)
    gather.write_job(obj, scene, tmp_path / "job")
    assert gather.changed_settings(obj, scene, tmp_path / "job") == []
    nail.radius = 0.03
    assert gather.changed_settings(obj, scene, tmp_path / "job") == ["Radius"]


def add_flag():
    """Add upright cloth beside a pole, one metre long; nothing is pinned."""
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=8, y_subdivisions=5, size=1.0, location=(0.5, 0.0, 2.0),
                                    rotation=(np.pi / 2, 0.0, 0.0))
    flag = bpy.context.object
    bpy.ops.conjac.add_cloth()
    return flag


def test_a_flag_is_torn_off_its_nails(scene):  # noqa: F811
    """A new nail is across the cloth; at a corner it pins near vertices until it is released, and all of it falls."""
    flag = add_flag()
    for z, until in ((2.5, 4), (1.5, 7)):
        bpy.ops.conjac.add_nail()
        nail = flag.conjac.nails[-1]
        bpy.context.view_layer.update()
        along = nail.object.matrix_world.to_3x3().col[2]
        assert abs(along.y) > 0.999 and nail.object.matrix_world.translation[:] == pytest.approx((0.5, 0.0, 2.0))
        nail.object.location, nail.radius, nail.is_drawn, nail.until = (0.0, 0.0, z), 0.05, True, until
    assert flag.conjac.bake(wait=True) == 0
    corners = [int(np.abs(rest_of(flag) - [-0.5, y, 0.0]).sum(axis=1).argmin()) for y in (0.5, -0.5)]
    seen = {frame: seen_at(flag, frame)[corners] for frame in (1, 4, 7, 9)}
    assert np.abs(seen[4] - seen[1]).max() < 1e-6 and np.abs(seen[7][1] - seen[1][1]).max() < 1e-6
    assert (seen[9][:, 1] < seen[1][:, 1] - 0.01).all()  # its y is up in the world


def test_cloth_with_sharp_edges_takes_no_nails(scene):  # noqa: F811
    flag = add_flag()
    flag.conjac.sharp_edges = True
    with pytest.raises(RuntimeError, match="Cloth with Sharp Edges takes no nails"):
        bpy.ops.conjac.add_nail()


def test_nails_are_added_and_removed(scene):  # noqa: F811
    obj = add_jelly()
    nail = add_nail(obj)
    assert nail.frame == NAIL and nail.object.type == "EMPTY"
    with pytest.raises(RuntimeError, match="only 1 nails"):
        bpy.ops.conjac.remove_nail(index=3)
    bpy.ops.conjac.remove_nail(index=0)
    assert not len(obj.conjac.nails) and bpy.data.objects.get("Jelly Nail") is not None
