"""Sizes that `check` prints are exact where the volume exists, and near the truth where it is estimated."""

from pathlib import Path

import numpy as np
import pytest
from small_jobs import box_job, box_tets, change, surface_job

from solver.job import hashes
from solver.job.estimate import estimate
from solver.job.load import load
from solver.job.stages import keep


def test_a_given_volume_is_counted(tmp_path):
    estimated = estimate(box_job(tmp_path, end=25, step=1 / 96))
    assert estimated.bodies[0].nodes == 45 and estimated.bodies[0].tets == 96 and estimated.bodies[0].exact
    assert estimated.steps_per_frame == 4 and estimated.frames == (1, 25)
    assert estimated.total_s == pytest.approx(estimated.step_s * 96)
    assert any("45 nodes" in sentence for sentence in estimated.sentences())


def test_a_guess_is_replaced_by_what_was_made(tmp_path):
    job = surface_job(tmp_path)
    assert not estimate(job).bodies[0].exact
    nodes, tets = box_tets()
    loaded = load(job)
    keep(loaded, "tets", "Ear", hashes.hashes(hashes.settings(loaded)).bodies["Ear"]["tets"],
         lambda: {"nodes": nodes, "tets": tets})
    assert (estimate(job).bodies[0].nodes, estimate(job).bodies[0].exact) == (45, True)


def test_a_guess_comes_near_a_volume_of_that_edge_length(tmp_path):
    """A box of 20 x 10 x 10 cells of six tetrahedra each is compared with the estimate for its cell as edge length."""
    job = surface_job(tmp_path)
    corners = np.array([[x, y, z] for x in (0, 0.2) for y in (0, 0.1) for z in (0, 0.1)])
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    np.save(job / "arrays/vertices.npy", corners)
    triangles = np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))], np.int32)
    np.save(job / "arrays/triangles.npy", triangles)
    change(job, "bodies.0.mesher", {"kind": "grid", "params": {"edge_length": 0.01}})
    size = estimate(job).bodies[0]
    assert 0.5 < size.tets / (6 * 20 * 10 * 10) < 2 and 0.5 < size.nodes / (21 * 11 * 11) < 2


def test_a_guess_comes_near_what_the_mesher_made(tmp_path):
    """The ellipsoid that fTetWild filled with 5,581 tetrahedra of a twentieth of its diagonal."""
    job = surface_job(tmp_path)
    with np.load(Path(__file__).parents[1] / "data/ellipsoid.npz") as stored:
        for name in ("vertices", "triangles"):
            np.save(job / f"arrays/{name}.npy", stored[name])
    assert estimate(job).bodies[0].tets == pytest.approx(5581, rel=0.3)


def test_the_dragon_is_estimated_within_its_order_of_magnitude(tmp_path):
    """37,293 tetrahedra took 93 ms a step and some 300 MB; the estimate is for a solid and lies above."""
    nodes, tets = box_tets((20, 18, 17))
    job = box_job(tmp_path, motion=False)
    np.save(job / "arrays/nodes.npy", nodes)
    np.save(job / "arrays/tets.npy", tets)
    estimated = estimate(job)
    assert len(tets) == 36720 and 0.093 < estimated.step_s < 0.5 and 200 < estimated.memory_mb < 1000


@pytest.mark.parametrize("thin, made", [(30, 1409), (100, 5059), (300, 21966), (1000, 338057)])
def test_a_thin_plate_is_not_taken_for_a_thick_one(tmp_path, thin, made):
    """fTetWild's node counts of plates of one metre at several ratios of width to thickness, without an edge length."""
    job = surface_job(tmp_path)
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1 / thin)], dtype=float)
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    np.save(job / "arrays/vertices.npy", corners)
    np.save(job / "arrays/triangles.npy",
            np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))], np.int32))
    size = estimate(job).bodies[0]
    assert 0.5 < size.tets / made < 2 and size.least_tets < made < size.most_tets
    assert f"(from {size.least_tets} to {size.most_tets})" in " ".join(estimate(job).sentences())
