"""An object that is moved or turned reuses its tetrahedra; a scaled one is meshed anew."""

import bpy
import numpy as np
import pytest

from solver.build.volumes import volumes_of
from solver.job import hashes, load
from solver.meshing.volume import tet_volumes


def meshed(obj, folder):
    """Return the hash of an object's tetrahedra, the tetrahedra in the world, and the file that stores them."""
    from conjac.conjac_addon import gather

    gather.write_job(obj, bpy.context.scene, folder)
    job = load.load(folder)
    key = hashes.hashes(hashes.settings(job)).bodies[obj.name]["tets"]
    volume, = volumes_of(job, lambda stage, body, progress, text: None)
    files = {path.name: path.stat().st_mtime_ns for path in (folder / "stages").iterdir()}
    return key, volume, files


@pytest.mark.parametrize("unit", [1.0, 0.01])
def test_a_moved_and_turned_object_keeps_its_tetrahedra(soft_cube, tmp_path, unit):
    bpy.context.scene.unit_settings.scale_length = unit
    soft_cube.conjac.mesher, soft_cube.conjac.edge_length = "grid", 1.0
    soft_cube.scale = (1.0, 1.5, 2.0)
    key, there, files = meshed(soft_cube, tmp_path)
    size = 8 * 3 * unit**3
    assert tet_volumes(there.nodes, there.tets).sum() == pytest.approx(size, rel=1e-5)

    soft_cube.location, soft_cube.rotation_euler = (7.3, -2.1, 40.0), (0.3, 1.2, -2.5)
    moved_key, moved, path = meshed(soft_cube, tmp_path)
    assert moved_key == key and path == files
    assert np.array_equal(moved.tets, there.tets)
    world = np.array(soft_cube.matrix_world, dtype=float)
    corners = np.array([v.co for v in soft_cube.data.vertices]) @ world[:3, :3].T + world[:3, 3]
    away = np.linalg.norm(moved.nodes[None] - unit * corners[:, None], axis=-1).min(axis=1)
    assert away.max() < 1e-5 * unit

    soft_cube.scale = (1.0, 1.5, 4.0)
    large_key, large, _ = meshed(soft_cube, tmp_path)
    assert large_key != key and len(large.tets) == 2 * len(there.tets)


def test_a_plane_is_thickened_where_that_was_chosen(addon, tmp_path):
    from conjac.solver.errors import BadMesh

    bpy.ops.mesh.primitive_grid_add(x_subdivisions=6, y_subdivisions=6)
    plane = bpy.context.object
    bpy.ops.conjac.add_soft_body()
    plane.conjac.edge_length = 0.5
    with pytest.raises(BadMesh, match='^"Grid": the mesh is flat.*Sheet Thickness'):
        meshed(plane, tmp_path)
    plane.conjac.sheet_thickness = 0.3
    _, volume, _ = meshed(plane, tmp_path)
    assert tet_volumes(volume.nodes, volume.tets).sum() == pytest.approx(4 * 0.3, rel=0.1)
