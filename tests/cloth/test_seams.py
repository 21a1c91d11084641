"""Sewing: seams pull the edges of cloth together in their time, act and react, and hold on."""

import numpy as np
import pytest
from cloth_jobs import cloth_body, cloth_job, part_of
from sheets import grid
from stencil_sums import total

from solver.errors import BadMesh, BadScene
from solver.forces.cloth.seams import Seams
from solver.job.load import load

PAIRS = np.array([[0, 2], [1, 3]], np.int32)


def law(closes=1.0):
    rest = np.array([[0.0, 0, 0], [0, 0.1, 0], [0.2, 0, 0.05], [0.2, 0.1, 0]])
    return Seams(PAIRS, 300.0, closes, rest), rest


def test_its_force_is_the_slope_of_its_energy_and_its_stiffness_that_of_the_force():
    seams, rest = law()
    rng = np.random.default_rng(1)
    x, way, step, time = rest + 0.01 * rng.standard_normal(rest.shape), rng.standard_normal(rest.shape), 1e-6, 0.5
    force = total(seams.measure(x, time), 4)
    slope = (seams.measure(x + step * way, time).energy - seams.measure(x - step * way, time).energy) / (2 * step)
    assert -np.vdot(force, way) == pytest.approx(slope, rel=1e-7) and np.abs(force.sum(axis=0)).max() < 1e-12
    ahead, back = (total(seams.measure(x + sign * step * way, time), 4) for sign in (1, -1))
    change = (ahead - back) / (2 * step)
    table, product = seams.fill(x, time, True), np.zeros_like(x)
    for (i, j), block in zip(table.nodes, table.blocks.reshape(-1, 3, 3)):
        product[j] += block @ (way[i] - way[j])
        product[i] += block.T @ (way[j] - way[i])
    assert np.allclose(product, change, atol=1e-6 * np.abs(change).max())


def test_it_does_nothing_at_the_start_and_never_pushes():
    seams, rest = law()
    assert seams.measure(rest, 0.0).energy == 0.0
    assert seams.measure(0.5 * rest, 0.4).energy == 0.0, "what is nearer than the seam is not pushed apart"
    together = rest.copy()
    together[2:] = rest[:2]
    table = seams.fill(together, 2.0, True)
    assert table.energy == 0.0 and np.isfinite(table.blocks).all()
    assert law(closes=0.0)[0].lengths(0.0).max() == 0.0


def two_panels(folder, **cloth):
    """Two squares of 20 cm, side by side with 8 cm between them, each row of vertices joined by a seam."""
    vertices, triangles = grid(4, 4, 0.2, 0.2)
    count, arrays = len(vertices), {}
    flat = np.column_stack([vertices[:, :2], np.zeros(count)])
    right = np.flatnonzero(flat[:, 0] > 0.2 - 1e-9)
    left = np.flatnonzero(flat[:, 0] < 1e-9)
    order = [np.argmin(np.abs(flat[left, 1] - flat[i, 1])) for i in right]
    arrays["seams"] = np.column_stack([right, left[order] + count]).astype(np.int32)
    body = cloth_body("Shirt", np.concatenate([flat, flat + [0.28, 0.0, 0.0]]),
                      np.concatenate([triangles, triangles + count]), arrays, seams="arrays/seams.npy", **cloth)
    return cloth_job(folder, [body], arrays, gravity=[0.0, 0.0, 0.0]), arrays["seams"]


def test_panels_are_sewn_together_in_the_time_that_was_set(tmp_path):
    job, seams = two_panels(tmp_path / "job", seam_time=0.5)
    part = part_of(job)
    state, gaps = part.initial_state(), []
    for _ in range(96):
        x = part.coordinates.positions(state.q, state.time)
        gaps.append(np.linalg.norm(x[seams[:, 0]] - x[seams[:, 1]], axis=1).max())
        state = part.step(state, 1 / 96)
    assert gaps[0] == pytest.approx(0.08) and gaps[24] == pytest.approx(0.04, abs=0.01)
    assert max(gaps[60:]) < 0.008, "closed, and they hold on"
    momentum = part.mass @ part.coordinates.spread(state.u, None)
    assert np.abs(momentum).max() < 1e-9 * part.mass.sum()


def test_a_seam_that_cannot_be_is_refused(tmp_path):
    job, seams = two_panels(tmp_path / "job")
    for wrong, words in ((np.array([[0, 900]], np.int32), "does not fit the 50 vertices"),
                         (np.array([[3, 3]], np.int32), "joins a vertex to itself")):
        np.save(job / "arrays" / "seams.npy", wrong)
        with pytest.raises(BadScene, match=words):
            load(job)


def test_seams_longer_than_the_cloth_are_refused_in_a_sentence(tmp_path):
    job, seams = two_panels(tmp_path / "job")
    places = np.load(job / "arrays" / "Shirt_vertices.npy")
    places[25:, 0] += 0.5
    np.save(job / "arrays" / "Shirt_vertices.npy", places)
    with pytest.raises(BadMesh, match=r'"Shirt": 5 of its 5 seams are longer than the cloth that they join, one of '
                                      r"0.58 m on a piece of 0.283 m"):
        part_of(job)
