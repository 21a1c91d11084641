"""Cloth with Sharp Edges in real Blender, by the artist's own buttons: baked, played, and stored for other vertices."""

import numpy as np
import pytest
from jelly import scene, seen_at  # noqa: F401

bpy = pytest.importorskip("bpy")

from conjac.conjac_addon.bake import place  # noqa: E402
from conjac.conjac_addon.ui import sliding_marks  # noqa: E402


def add_tablecloth():
    """A cloth of 60 cm with a UV map of twice its size, above a table that is 30 cm wide."""
    bpy.ops.mesh.primitive_cube_add(size=0.3, location=(0.0, 0.0, -0.15))
    assert bpy.ops.conjac.add_collider() == {"FINISHED"}
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=8, y_subdivisions=8, size=0.6, location=(0.03, 0.02, 0.004))
    obj = bpy.context.object
    obj.name = "Tablecloth"
    assert bpy.ops.conjac.add_cloth() == {"FINISHED"}
    obj.conjac.sharp_edges = True
    return obj


def test_a_tablecloth_bends_at_the_edges_of_a_table(scene):  # noqa: F811
    obj = add_tablecloth()
    rest = len(obj.data.vertices)
    scene.frame_end = 3
    assert bpy.ops.conjac.bake() == {"FINISHED"}
    assert [modifier.type for modifier in obj.modifiers] == ["MESH_SEQUENCE_CACHE", "NODES"]
    cache = place.cache_of(place.job_folder(obj))
    assert cache.sheet_names() == ["Tablecloth"] and cache.frames_done() == [1, 2, 3]
    for frame in (1, 2, 3):
        sheet = cache.sheets(frame)["Tablecloth"]
        seen = seen_at(obj, frame)
        assert seen.shape == sheet.x.shape and np.abs(seen - sheet.x).max() < 1e-6
        mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        uv, corners = np.empty(2 * len(mesh.loops), np.float32), np.empty(len(mesh.loops), np.int32)
        mesh.uv_layers["UVMap"].uv.foreach_get("vector", uv)
        mesh.loops.foreach_get("vertex_index", corners)
        # Blender's grid has a UV map from 0 to 1 over its 60 cm
        assert np.abs(uv.reshape(-1, 2) - (sheet.material[corners] - sheet.rest.min(axis=0)) / 0.6).max() < 1e-4
    # it has vertices at the edges, which it hangs over
    assert len(seen) > rest and len(sheet.sliding) > 8
    points, _ = sliding_marks.marks(obj, scene)
    # on the rim of the table, its thickness of 1 mm away
    assert np.abs(np.abs(points[:, :2]).max(axis=1) - 0.151).max() < 1e-5 and np.abs(points[:, 2] - 1e-3).max() < 1e-5
    # the mesh's own vertices where their place in the cloth is
    assert bpy.ops.conjac.export(format="pc2") == {"FINISHED"}
    assert len(seen_at(obj, 3)) == rest and [modifier.type for modifier in obj.modifiers] == ["MESH_CACHE"]
