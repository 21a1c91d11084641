"""Volume of a live body: that of the bake if there is one, and cells otherwise."""

import numpy as np
import pytest
from small_jobs import write_job
from solids import ball
from test_playing import quiet

from solver.build.volumes import volumes_of
from solver.job.load import load
from solver.live import filled as module
from solver.live.filled import filled
from solver.live.run import engine_of


@pytest.fixture()
def job(tmp_path):
    """A ball of triangles that asks for tetrahedra of 0.4 m."""
    vertices, triangles = ball(16)
    surface = {"vertices": "arrays/vertices.npy", "triangles": "arrays/triangles.npy"}
    body = {"name": "Ball", "surface": surface, "mesher": {"kind": "tetgen", "params": {"edge_length": 0.5}}}
    scene = {"version": 1, "name": "ball", "time": {"start": 1, "end": 1, "fps": 24, "step": 1 / 60},
             "bodies": [body], "method": {"kind": "vanilla"}, "integrator": {"kind": "sdirk2"}}
    return load(write_job(tmp_path / "job", scene, {"vertices": vertices, "triangles": triangles}))


def test_what_was_never_filled_gets_about_as_many_cells_as_asked(job):
    found = filled(job, 500, by_bake=True)
    assert found.scene.bodies[0].mesher.kind == "cells" and job.scene.bodies[0].mesher.kind == "tetgen"
    [volume] = volumes_of(found, quiet)
    assert 300 < len(volume.tets) / 6 < 800


def test_what_its_mesh_encloses_may_count_instead_of_its_box(job):
    [volume] = volumes_of(filled(job, 500, by_bake=True, inside=True), quiet)
    edge = np.ptp(volume.nodes[volume.tets[0]], axis=0).max()
    assert 4.0 / 3.0 * np.pi / edge**3 == pytest.approx(500, rel=0.1)


def test_tetrahedra_of_a_bake_are_taken_where_they_are_kept_and_not_too_many(job, monkeypatch):
    pytest.importorskip("tetgen")
    [made] = volumes_of(job, quiet)  # as a bake does
    [volume] = volumes_of(filled(job, 500, by_bake=True), quiet)
    np.testing.assert_array_equal(volume.nodes, made.nodes)
    assert filled(job, 500, by_bake=False).scene.bodies[0].mesher.kind == "cells"
    assert engine_of("modes", job.path, quiet).bodies[0].body.nodes.shape == made.nodes.shape
    monkeypatch.setattr(module, "MOST", len(made.tets) - 1)
    assert filled(job, 500, by_bake=True).scene.bodies[0].mesher.kind == "cells"
