"""Fractions of a live body's cells inside of its mesh: its mass and frequencies are those of the mesh."""

import numpy as np
import pytest
from small_jobs import write_job
from solids import ball
from test_bumps import block
from test_playing import quiet

from solver.job.load import load
from solver.live.inside_fractions import LEAST, fraction_inside
from solver.live.run import engine_of
from solver.meshing.cells import Cells
from solver.meshing.volume import tet_volumes


@pytest.mark.parametrize("edge", [0.11, 0.23])
def test_cells_around_a_ball_count_as_much_as_the_ball(edge):
    vertices, triangles = ball(24)
    nodes, tets = Cells().mesh(vertices, triangles, {"edge_length": edge * np.ptp(vertices[:, 0])})
    inside = vertices[triangles]
    volume = float(np.einsum("ij,ij->i", np.cross(inside[:, 0], inside[:, 1]), inside[:, 2]).sum()) / 6.0
    counted = float(fraction_inside(nodes, tets, vertices, triangles) @ tet_volumes(nodes, tets))
    assert tet_volumes(nodes, tets).sum() > 1.15 * volume
    assert counted == pytest.approx(volume, rel=0.04)


def test_cells_within_count_whole_and_none_counts_nothing():
    vertices, triangles = block([0.0, 0.0, 0.0], [1.0, 1.0, 1.0])
    nodes, tets = Cells().mesh(vertices, triangles, {"edge_length": 0.25})
    np.testing.assert_array_equal(fraction_inside(nodes, tets, vertices, triangles), 1.0)
    shifted = fraction_inside(nodes + [0.125, 0.0, 0.0], tets, vertices, triangles)
    middle = (nodes + [0.125, 0.0, 0.0])[tets].mean(axis=1)[:, 0]
    assert (shifted[middle < 0.7] == 1.0).all() and shifted.min() >= LEAST
    assert shifted.mean() == pytest.approx(0.875, abs=0.02)


def test_a_live_body_weighs_what_its_mesh_does(tmp_path):
    vertices, triangles = ball(16)
    surface = {"vertices": "arrays/vertices.npy", "triangles": "arrays/triangles.npy"}
    scene = {"version": 1, "name": "ball", "time": {"start": 1, "end": 1, "fps": 30, "step": 1 / 60},
             "bodies": [{"name": "Ball", "surface": surface, "density": 500.0}],
             "method": {"kind": "vanilla"}, "integrator": {"kind": "sdirk2"}}
    folder = write_job(tmp_path / "job", scene, {"vertices": vertices, "triangles": triangles})
    [live] = engine_of("modes", folder, quiet).bodies
    corners = load(folder).array("arrays/vertices.npy")[triangles]
    volume = float(np.einsum("ij,ij->i", np.cross(corners[:, 0], corners[:, 1]), corners[:, 2]).sum()) / 6.0
    assert live.body.subspace.mass.sum() == pytest.approx(500.0 * volume, rel=0.03)
