"""A bake with spots of several kinds, and one where nothing is painted: neither looks rigid."""

import json
from pathlib import Path

import bpy
import numpy as np
import pytest
from gathered_jobs import paint


def dropped(folder, **settings):
    """Return a new soft body of ConJac one metre wide, in coarse cells, that falls from half a metre; 12 frames."""
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=(0, 0, 0.55))
    bpy.ops.conjac.add_soft_body()
    cube = bpy.context.object
    cube.conjac.mesher, cube.conjac.edge_length, cube.conjac.cache_folder = "grid", 0.25, str(folder)
    cube.conjac.method, cube.conjac.use_scene_range, cube.conjac.frame_end = "conjac", False, 12
    for name, value in settings.items():
        setattr(cube.conjac, name, value)
    return cube


def baked(cube, folder):
    """Return the largest deviation of the cube's corners from a rigid motion, over the bake [m], and the log."""
    assert bpy.ops.conjac.bake() == {"FINISHED"}
    manifest = json.loads(next(Path(folder).rglob("manifest.json")).read_text(encoding="utf-8"))
    away = 0.0
    for frame in range(1, 13):
        bpy.context.scene.frame_set(frame)
        seen = cube.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        x = np.array([vertex.co for vertex in seen.vertices]).astype(float)
        lengths = np.linalg.norm(x[:, None] - x[None], axis=2)
        rest = np.array([vertex.co for vertex in cube.data.vertices]).astype(float)
        away = max(away, float(np.abs(lengths - np.linalg.norm(rest[:, None] - rest[None], axis=2)).max()))
    return away, json.dumps(manifest)


@pytest.mark.long
def test_where_nothing_is_painted_a_bake_finds_spots_and_wobbles(addon, tmp_path):
    cube = dropped(tmp_path, suggestions=2)
    away, messages = baked(cube, tmp_path)
    assert away > 0.02 and "it has 2 spots that move where it swings most" in messages


@pytest.mark.long
def test_spots_of_three_kinds_bake_in_one_body(addon, tmp_path):
    cube = dropped(tmp_path)
    top = [v.index for v in cube.data.vertices if v.co.z > 0]
    paint(cube, "Dynamic", top[:1])
    for vertex, kind in ((top[1], "affine"), (top[2], "none")):
        bpy.ops.conjac.add_spots()
        bpy.ops.object.mode_set(mode="OBJECT")
        spot = cube.conjac.spots[-1]
        spot.spot = kind
        paint(cube, spot.group, [vertex])
    away, messages = baked(cube, tmp_path)
    assert away > 0.02 and "swings most" not in messages and "no free node" not in messages
