"""Volume of a live body: that of the bake if there is one, and cells otherwise."""

import numpy as np
import pytest
from small_jobs import change, write_job
from solids import ball
from test_playing import quiet

from solver.build import filled as module
from solver.build.filled import fill_quickly, replace_meshers
from solver.build.volumes import volumes_of
from solver.job.load import load
from solver.live.run import engine_of
from solver.meshing.tetwild import QuickTetWild
from solver.meshing.volume import tet_volumes


@pytest.fixture()
def job(tmp_path):
    """Return a job of a ball of triangles with tetrahedra of 0.4 m."""
    vertices, triangles = ball(16)
    surface = {"vertices": "arrays/vertices.npy", "triangles": "arrays/triangles.npy"}
    body = {"name": "Ball", "surface": surface, "mesher": {"kind": "tetgen", "params": {"edge_length": 0.5}}}
    scene = {"version": 1, "name": "ball", "time": {"start": 1, "end": 1, "fps": 24, "step": 1 / 60},
             "bodies": [body], "method": {"kind": "vanilla"}, "integrator": {"kind": "sdirk2"}}
    return load(write_job(tmp_path / "job", scene, {"vertices": vertices, "triangles": triangles}))


def test_what_was_never_filled_gets_about_the_requested_number_of_cells(job):
    mesh = replace_meshers(job, 500, by_bake=True)
    assert mesh.scene.bodies[0].mesher.kind == "cells" and job.scene.bodies[0].mesher.kind == "tetgen"
    [volume] = volumes_of(mesh, quiet)
    assert 300 < len(volume.tets) / 6 < 800


def test_what_its_mesh_encloses_may_count_instead_of_its_box(job):
    [volume] = volumes_of(replace_meshers(job, 500, by_bake=True, inside=True), quiet)
    edge = np.ptp(volume.nodes[volume.tets[0]], axis=0).max()
    assert 4.0 / 3.0 * np.pi / edge**3 == pytest.approx(500, rel=0.1)


def test_tetrahedra_of_a_bake_are_used_where_they_are_stored_and_few_enough(job, monkeypatch):
    pytest.importorskip("tetgen")
    [made] = volumes_of(job, quiet)  # as a bake does
    [volume] = volumes_of(replace_meshers(job, 500, by_bake=True), quiet)
    np.testing.assert_array_equal(volume.nodes, made.nodes)
    assert replace_meshers(job, 500, by_bake=False).scene.bodies[0].mesher.kind == "cells"
    assert engine_of("modes", job.path, quiet).bodies[0].body.nodes.shape == made.nodes.shape
    monkeypatch.setattr(module, "MOST", len(made.tets) - 1)
    assert replace_meshers(job, 500, by_bake=True).scene.bodies[0].mesher.kind == "cells"


def test_what_was_never_filled_gets_tetrahedra_like_those_of_its_bake(job, monkeypatch):
    """New tetrahedra have the bake's edge length and volume, and are reused when other settings change; cells replace
    them where meshing would take too long."""
    change(job.path, "bodies.0.mesher", {"kind": "tetwild", "params": {"edge_length": 0.5}})
    own = load(job.path)
    quick_job, [volume] = fill_quickly(own, 500, quiet)
    assert quick_job.scene.bodies[0].mesher.kind == module.QUICK["tetwild"]
    [bake] = volumes_of(own, quiet)
    whole, quick = (float(tet_volumes(mesh.nodes, mesh.tets).sum()) for mesh in (bake, volume))
    assert quick == pytest.approx(whole, rel=0.03) and 0.5 < len(volume.tets) / len(bake.tets) < 2.0
    monkeypatch.setattr(QuickTetWild, "seconds", 0.01)
    change(job.path, "bodies.0.mesher.params.edge_length", 0.6)
    change(job.path, "bodies.0.density", 500.0)
    fine = load(job.path)
    assert fill_quickly(fine, 500, quiet, quick_job)[0].scene.bodies[0].mesher == quick_job.scene.bodies[0].mesher
    slow, [cells] = fill_quickly(fine, 500, quiet)
    assert slow.scene.bodies[0].mesher.kind == "cells" and len(cells.tets) % 6 == 0


def test_a_bake_of_many_tetrahedra_is_played_in_fewer(job):
    change(job.path, "bodies.0.mesher", {"kind": "tetwild", "params": {"edge_length": 0.02}})
    mesh = module._like_bake(load(job.path), load(job.path).scene.bodies[0])
    edge = mesh.mesher.params["edge_length"]
    assert 4.0 / 3.0 * np.pi * module.PER_CUBE / edge**3 == pytest.approx(module.FINEST, rel=0.1)
