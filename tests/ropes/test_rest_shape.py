"""Ropes that rest as they are drawn: slopes, coils that stay coils, a hook that bends as a curved beam does."""

import numpy as np
import pytest
from rope_jobs import baked, chain, rope_job
from small_jobs import change

from solver.build.ropes import bends_of
from solver.forces.ropes.shape import CurvedBends, RodTorsion, in_a_row

PAIRS = ((1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2))


def helix(turns=2.0, count=25, radius=0.05, rise=0.06):
    angle = np.linspace(0.0, 2.0 * np.pi * turns, count)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), -rise * angle / (2.0 * np.pi)], axis=1)


def laws(rest):
    bends = bends_of(chain(len(rest) - 1), rest)
    rows = in_a_row(bends, rest)
    return [CurvedBends(bends, rest, 2.0), RodTorsion(rows, rest, 1.5)]


def total(law, x):
    forces, out = np.zeros((len(law.nodes), 4, 3)), np.zeros_like(x)
    energy = law.measure(x, forces)
    np.add.at(out, law.nodes, forces[:, : law.nodes.shape[1]])
    return energy, out


def product(law, x, way, project):
    forces, blocks = np.zeros((len(law.nodes), 4, 3)), np.zeros((len(law.nodes), 6, 9))
    law.fill(x, project, forces, blocks)
    out = np.zeros_like(x)
    for ends, of in zip(law.nodes, blocks.reshape(-1, 6, 3, 3)):
        for (i, j), block in zip(PAIRS, of):
            if i < len(ends):
                out[ends[i]] += block @ (way[ends[j]] - way[ends[i]])
                out[ends[j]] += block.T @ (way[ends[i]] - way[ends[j]])
    return out


@pytest.mark.parametrize("which", [0, 1])
def test_forces_are_slopes_of_the_energy_and_stiffness_of_forces(which):
    rest = helix()
    law, rng = laws(rest)[which], np.random.default_rng(5)
    x, way, step = rest + 0.004 * rng.standard_normal(rest.shape), rng.standard_normal(rest.shape), 1e-7
    slope = (total(law, x + step * way)[0] - total(law, x - step * way)[0]) / (2 * step)
    _, force = total(law, x)
    assert -np.vdot(force, way) == pytest.approx(slope, rel=1e-6) and np.abs(force.sum(axis=0)).max() < 1e-9
    assert np.abs(np.cross(x, force).sum(axis=0)).max() < 1e-9 * np.abs(force).max(), "no moment on the whole"
    change = (total(law, x + step * way)[1] - total(law, x - step * way)[1]) / (2 * step)
    assert np.allclose(product(law, x, way, False), change, atol=1e-5 * np.abs(change).max())
    for seed in range(20):
        way = np.random.default_rng(seed).standard_normal(x.shape)
        assert np.vdot(way, product(law, x, way, True)) <= 1e-9


def test_drawn_as_it_is_and_turned_as_a_whole_it_has_no_force_and_its_mirror_image_has():
    rest = helix()
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    turn *= np.sign(np.linalg.det(turn))
    for law in laws(rest):
        energy, force = total(law, rest @ turn.T + [1.0, 2.0, 3.0])
        assert energy < 1e-12 and np.abs(force).max() < 1e-8
    assert total(laws(rest)[1], rest * [1.0, 1.0, -1.0])[0] > 1.0, "a coil that winds the other way is another coil"


def test_a_coil_that_is_drawn_out_comes_back_and_a_straight_rope_does_not(tmp_path):
    """Both hang by their upper ends under their own weight."""
    places = helix(turns=3.0, count=49)
    ends = {}
    for name, keeps in (("coil", True), ("string", False)):
        job = rope_job(tmp_path / name, places, end=49, bending_stiffness=5.0e-3, keeps_shape=keeps,
                       linear_density=0.02)
        change(job, "bodies.0.damping", {"kind": "rayleigh", "params": {"mass_damping": 3.0}})
        ends[name] = baked(job)[-1]
    long = {name: np.linalg.norm(x[-1] - x[0]) for name, x in ends.items()}
    drawn = np.linalg.norm(places[-1] - places[0])
    assert drawn < long["coil"] < 1.6 * drawn and long["string"] > 3.0 * drawn


def test_a_quarter_ring_gives_way_as_castigliano_says(tmp_path):
    """Clamped level at the top, with a weight F at the end that points down: it sinks by F r³/B ∫ (1 − sin a)² da.

    The integral begins half of a link from the clamp: the clamped link does not bend.
    """
    radius, stiffness, load = 0.5, 2.0, 0.02
    angle = np.linspace(0.0, 0.5 * np.pi, 61)
    places = np.stack([radius * np.sin(angle), np.zeros(61), radius * np.cos(angle)], axis=1)
    loads = np.zeros(61)
    loads[-1] = load
    job = rope_job(tmp_path / "job", places, end=73, pinned=(0, 1), loads=loads, bending_stiffness=stiffness,
                   keeps_shape=True, linear_density=1e-5)
    change(job, "bodies.0.damping", {"kind": "rayleigh", "params": {"mass_damping": 20.0}})
    sunk = places[-1, 2] - baked(job)[-1, -1, 2]
    a = 0.5 * angle[1]
    whole = 1.5 * (0.5 * np.pi - a) - 2.0 * np.cos(a) + 0.25 * np.sin(2.0 * a)
    assert sunk == pytest.approx(whole * load * 9.81 * radius**3 / stiffness, rel=0.03)
