"""Local projections: pulls are the slope of the energy, the matrix bounds it, small strains are those of a bake."""

import numpy as np
import pytest
from bodies import box
from projective_bodies import BENDS, WOVEN, cloth, sheet

from solver.forces.cloth.corotated_membrane import CorotatedMembrane
from solver.forces.cloth.quadratic_bending import QuadraticBending
from solver.parts.projective.building import cloth_constraints, ropes, springs, welds
from solver.parts.projective.constraints import Lengths, Tets, Triangles

NODES, TETS = box((2, 1, 1), (0.2, 0.1, 0.1))
ACROSS = np.array([[1.0, 0.0, 300.0, 2e3, 1.02], [0.6, 0.8, 200.0, 0.0, 9.0]])  #: ways of triangles
PAIRS = np.array([[0, 3], [1, 5], [2, 4]], dtype=np.int32)


def kinds():
    made = sheet(4)
    count = len(TETS)
    return {
        "springs": (NODES, springs(NODES, PAIRS, 30.0)),
        "ropes": (NODES, ropes(NODES, PAIRS, 30.0)),
        "welds": (NODES, welds(np.array([[0, 1, 2, 3]], np.int32), np.array([[-1.0, 0.2, 0.3, 0.5]]), 40.0)),
        "anchors": (NODES, Lengths.of(np.array([[2], [5]]), np.array([1.0]), 20.0, 0.0, 0.0, np.ones((2, 3)))),
        "rotations": (NODES, Tets(NODES, TETS, np.full(count, 1e4), np.zeros(count))),
        "volumes": (NODES, Tets(NODES, TETS, np.zeros(count), np.full(count, 1e5))),
        "turned": (made.rest, Triangles(made.triangles, made.gradients, made.areas, np.zeros((0, 5)), 300.0)),
        "ways": (made.rest, Triangles(made.triangles, made.gradients, made.areas, ACROSS, 0.0)),
        **{name: (made.rest, constraint) for name, constraint in zip(
            ("triangles", "bends"), cloth_constraints(made, WOVEN | {"stretch_limit": 0.02}, BENDS), strict=True)},
    }


def moved(rest, by, seed=3):
    return rest + by * np.ptp(rest) * np.random.default_rng(seed).normal(size=rest.shape)


def energy(one, x):
    return one.project(x, np.zeros((*one.nodes.shape, 3)))


def slope(one, x):
    pulls, out = np.zeros((*one.nodes.shape, 3)), np.zeros_like(x)
    one.project(x, pulls)
    np.add.at(out, one.nodes, pulls)
    return out


@pytest.mark.parametrize("kind", kinds())
def test_pulls_are_minus_the_slope_of_the_energy(kind):
    rest, one = kinds()[kind]
    x = moved(rest, 0.1)
    way = np.random.default_rng(5).normal(size=x.shape)
    size = 1e-6 * np.ptp(rest)
    found = (energy(one, x + size * way) - energy(one, x - size * way)) / (2.0 * size)
    assert found == pytest.approx(-float(np.vdot(slope(one, x), way)), rel=1e-6)
    assert abs(found) > 0.0


@pytest.mark.parametrize("kind", kinds())
def test_the_matrix_bounds_the_energy_from_above(kind):
    """W(x + d) ≤ W(x) − pulls · d + ½ dᵀ L d: why the energy falls in each iteration."""
    rest, one = kinds()[kind]
    matrix = one.matrix(len(rest))
    for seed in range(8):
        x, d = moved(rest, 0.2, seed), moved(0.0 * rest, 1.0, seed + 50) + 0.1 * moved(rest, 1.0, seed + 90)
        bound = energy(one, x) - float(np.vdot(slope(one, x), d)) + 0.5 * float(np.vdot(d, matrix @ d))
        assert energy(one, x + d) <= bound + 1e-9 * abs(bound)


@pytest.mark.parametrize("flat", [[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]], ids=["narrow", "short", "point"])
def test_triangles_without_area_pull_as_those_do_that_nearly_have_none(flat):
    rest, one = kinds()["triangles"]
    found = []
    for least in (0.0, 1e-5):
        x = np.zeros_like(rest)
        x[:, :2] = rest[:, :2] * np.maximum(flat, least)
        found.append(energy(one, x))
        assert np.isfinite(slope(one, x)).all()
    assert found[0] == pytest.approx(found[1], rel=1e-3)
    assert found[0] > 0.0


@pytest.mark.parametrize("woven", [WOVEN, WOVEN | {"poisson_ratio": 0.0}, WOVEN | {"shear": 150.0,
                                                                                  "poisson_ratio": 0.1}])
def test_cloth_resists_small_strains_as_the_woven_membrane_does(woven):
    made = sheet(4)
    membrane, bending = CorotatedMembrane(made, woven), QuadraticBending(made, BENDS)
    for seed in range(4):
        x = moved(made.rest, 1e-5, seed)
        whole = membrane.measure(x, np.zeros((len(membrane.nodes), 4, 3)))
        whole += bending.measure(x, np.zeros((len(bending.nodes), 4, 3)))
        energies = [energy(constraint, x) for constraint in cloth_constraints(made, woven, BENDS)]
        assert sum(energies) == pytest.approx(whole, rel=1e-3)


def test_a_block_resists_small_strains_as_linear_elasticity_does():
    count, mu, lam = len(TETS), 1e4, 4e4
    one = Tets(NODES, TETS, np.full(count, mu), np.full(count, lam))
    strain = 1e-6 * np.random.default_rng(0).normal(size=(3, 3))
    strain = strain + strain.T
    density = mu * (strain**2).sum() + 0.5 * lam * np.trace(strain) ** 2
    assert energy(one, NODES @ (np.eye(3) + strain)) == pytest.approx(density * 0.2 * 0.1 * 0.1, rel=1e-4)


def test_the_nearest_volume_is_nearest():
    """No other matrix of determinant 1 is nearer, flat and inverted ones included."""
    rng = np.random.default_rng(2)
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    one = Tets(corners, np.array([[0, 1, 2, 3]], np.int32), np.zeros(1), np.full(1, 2.0))
    for _ in range(20):
        F = np.eye(3) + rng.normal(size=(3, 3))
        # ½ · 3 λ V |F − P|² with λ = 2 and V = 1/6
        found = np.sqrt(2.0 * energy(one, corners @ F.T))
        others = rng.normal(size=(4000, 3, 3))
        others = F + 0.7 * others * rng.random((4000, 1, 1))
        determinants = np.linalg.det(others)
        others = others[determinants > 0.05] / np.cbrt(determinants[determinants > 0.05])[:, None, None]
        assert found <= np.sqrt(((others - F) ** 2).sum(axis=(1, 2))).min() + 1e-12


def test_a_taut_rope_pulls_and_a_slack_one_does_not():
    one = ropes(NODES, PAIRS, 30.0)
    assert energy(one, 0.9 * NODES) == 0.0
    assert energy(one, 1.1 * NODES) == pytest.approx(
        15.0 * float((0.1 * np.linalg.norm(NODES[PAIRS[:, 0]] - NODES[PAIRS[:, 1]], axis=1)) ** 2 @ np.ones(3)))


def test_cloth_that_cannot_be_matched_stays_convex():
    """A negative way would lift the bound on the energy."""
    body = cloth(woven=WOVEN | {"shear": 5e3})
    assert all(np.all(constraint.weights >= 0.0) for constraint in body.constraints)
