"""Tetrahedra outlast a move or a turn of their object, and are in the world where the object is."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from small_jobs import change, surface_job
from worlds import nodes_of

from solver.build.filled import replace_meshers
from solver.build.volumes import volumes_of
from solver.errors import BadScene
from solver.job.changes import list_changes
from solver.job.hashes import hashes, settings
from solver.job.load import load
from solver.meshing.volume import tet_volumes

CORNERS = np.array([[x, y, z] for x in (0, 2.0) for y in (0, 1.0) for z in (0, 1.0)])
QUADS = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def silent(stage, body, progress, text):
    pass


def matrix(shift=(0.0, 0.0, 0.0), turn=(0.0, 0.0, 0.0), scale=(1.0, 1.0, 1.0)):
    """Return a pose in single precision, as Blender stores it, (4, 4)."""
    pose = np.eye(4)
    pose[:3, :3] = Rotation.from_euler("xyz", turn, degrees=True).as_matrix() * scale
    pose[:3, 3] = shift
    return pose.astype(np.float32).astype(np.float64)


def box(job, to_world):
    """Return the body of a box in its own space, at a pose."""
    np.save(job / "arrays/triangles.npy",
            np.array([t for a, b, c, d in QUADS for t in ((a, b, c), (a, c, d))], np.int32))
    np.save(job / "arrays/vertices.npy", CORNERS @ to_world[:3, :3].T + to_world[:3, 3])
    np.save(job / "arrays/object_vertices.npy", CORNERS)
    np.save(job / "arrays/to_object.npy", np.tile(np.linalg.inv(to_world), (2, 1, 1)))
    change(job, "bodies.0.surface.object_vertices", "arrays/object_vertices.npy")
    change(job, "bodies.0.surface.to_object", "arrays/to_object.npy")
    change(job, "bodies.0.mesher", {"kind": "grid", "params": {"edge_length": 0.5}})
    return load(job)


def thrown(folder, to_world):
    """Return a box that is thrown at a ground a centimetre below its lowest face, turned with it, and its state."""
    turn = to_world[:3, :3]
    job = surface_job(folder)
    change(job, "gravity", (-9.81 * turn[:, 2]).tolist())
    change(job, "ground", {"point": (to_world[:3, 3] - 0.01 * turn[:, 2]).tolist(), "normal": turn[:, 2].tolist()})
    part = nodes_of(box(job, to_world))
    state = part.initial_state()
    return part, replace(state, u=np.tile(-2.0 * turn[:, 2], len(state.u) // 3))


def of(job):
    return hashes(settings(job)).bodies["Ear"]


HERE = matrix()
MOVED = {"moved": matrix((30.0, -4.0, 1000.0)), "turned": matrix(turn=(20.0, 50.0, -70.0)),
         "both": matrix((0.1, 0.2, 0.3), (170.0, 3.0, 90.0))}


@pytest.mark.parametrize("how", MOVED)
def test_a_moved_object_keeps_its_tetrahedra(tmp_path, how):
    job = surface_job(tmp_path)
    before = of(box(job, HERE))
    volumes_of(box(job, HERE), silent)
    stage, = (job / "stages").iterdir()
    written = stage.stat().st_mtime_ns

    moved = box(job, MOVED[how])
    after, (volume,) = of(moved), volumes_of(moved, silent)
    assert (after["mesh"], after["tets"]) == (before["mesh"], before["tets"]) and after["fields"] != before["fields"]
    assert [path.name for path in (job / "stages").iterdir()] == [stage.name]
    assert stage.stat().st_mtime_ns == written
    assert (tet_volumes(volume.nodes, volume.tets) > 0.0).all()
    assert tet_volumes(volume.nodes, volume.tets).sum() == pytest.approx(2.0, rel=1e-5)
    corners = CORNERS @ MOVED[how][:3, :3].T + MOVED[how][:3, 3]
    away = np.linalg.norm(volume.nodes[None] - corners[:, None], axis=-1).min(axis=1)
    assert away.max() < 1e-9 * np.abs(corners).max()


def test_its_scale_counts_so_that_edge_lengths_are_metres(tmp_path):
    job = surface_job(tmp_path)
    before, (small,) = of(box(job, HERE)), volumes_of(box(job, HERE), silent)
    large = box(job, matrix(turn=(0.0, 30.0, 0.0), scale=(3.0, 3.0, 3.0)))
    assert of(large)["mesh"] != before["mesh"]
    volume, = volumes_of(large, silent)
    assert len(volume.tets) == 27 * len(small.tets)
    assert tet_volumes(volume.nodes, volume.tets).sum() == pytest.approx(54.0, rel=1e-5)
    again = box(job, matrix((1.0, 2.0, 3.0), (0.0, -80.0, 10.0), (3.0, 3.0, 3.0)))
    assert of(again)["tets"] == of(large)["tets"]


def test_a_mirrored_object_has_positive_tetrahedra(tmp_path):
    mirrored = matrix((1.0, 0.0, 0.0), (0.0, 0.0, 30.0), (-1.0, 1.0, 1.0))
    volume, = volumes_of(box(surface_job(tmp_path), mirrored), silent)
    assert (tet_volumes(volume.nodes, volume.tets) > 0.0).all()


def test_a_move_is_reported_as_one(tmp_path):
    job = surface_job(tmp_path)
    old = settings(box(job, HERE)).plain()
    assert list_changes(old, settings(box(job, MOVED["both"])).plain()) == ['place of "Ear"']
    names = list_changes(old, settings(box(job, matrix(scale=(2.0, 1.0, 1.0)))).plain())
    assert 'scale of "Ear"' in names and 'mesh of "Ear"' not in names


def test_what_is_known_in_the_world_alone_is_meshed_there(tmp_path):
    job = surface_job(tmp_path)
    box(job, HERE)
    in_object = of(load(job))
    change(job, "bodies.0.surface", {"vertices": "arrays/vertices.npy", "triangles": "arrays/triangles.npy"})
    assert of(load(job))["tets"] == in_object["tets"]  # it stands where it was made


def test_vertices_that_are_not_the_same_are_refused(tmp_path):
    job = surface_job(tmp_path)
    box(job, MOVED["moved"])
    np.save(job / "arrays/vertices.npy", CORNERS)
    with pytest.raises(BadScene, match=r'"Ear": its vertices in object space stand up to .*surface.object_vertices'):
        load(job)
    np.save(job / "arrays/to_object.npy", np.zeros((2, 4, 4)))
    with pytest.raises(BadScene, match=r"cannot be inverted - at `\$.bodies\[0\].surface.to_object`"):
        load(job)


@pytest.mark.parametrize("name", ["turned", "both"])
def test_a_landing_is_cut_alike_however_the_object_is_turned(tmp_path, name):
    # an impact's largest displacement within a step was a fraction of the box around it along the world's axes: a step
    # of one copy was cut where another's was not, and they were half a millimetre apart after the impact
    jumps = []
    for number, to_world in enumerate((HERE, MOVED[name])):
        part, state = thrown(tmp_path / str(number), to_world)
        jumps.append(part.impact_change(state, part.step(state, 1 / 48))[0])
    assert jumps[0] > 0.1
    assert jumps[1] == pytest.approx(jumps[0], rel=1e-3)


@pytest.mark.parametrize("name", ["turned", "both"])
def test_extents_and_cells_are_those_along_the_axes_of_the_object(tmp_path, name):
    volume, = volumes_of(box(surface_job(tmp_path), MOVED[name]), silent)
    assert volume.extents == pytest.approx([2.0, 1.0, 1.0], rel=1e-5)
    assert np.ptp(volume.nodes, axis=0) != pytest.approx([2.0, 1.0, 1.0], rel=0.1)
    straight, turned = (replace_meshers(box(tmp_path, to_world), 500, by_bake=False, inside=True).scene.bodies[0].mesher
                        for to_world in (HERE, MOVED[name]))
    assert turned.kind == straight.kind == "cells"
    assert turned.params["edge_length"] == pytest.approx(straight.params["edge_length"], rel=1e-5)
