"""Every material of the catalogue: stress is the slope of energy, the tangent is the slope of stress, and both hold
where deformation gradients are awkward. A new entry is tested by being there."""

import numpy as np
import pytest

from solver import catalogue, threads  # noqa: F401
from solver.materials.lanes import CHANGE, CONSTANT, ENERGY, GRADIENT, LANES, MATERIAL_SLOTS, STRESS, TANGENT

MATERIALS = list(catalogue.family("material"))
KINKED = {"arap", "corotational", "fixed_corotated"}  # where F has no nearest rotation: σ₂ + σ₃ = 0
ALWAYS_POSITIVE = {"linear"}  # tangents that never need projection
TURNS_SWELL = {"linear"}  # not rotation invariant, as its entry says
BLOCKS = [(0, 0), (1, 1), (2, 2), (1, 0), (2, 0), (2, 1)]


def rotation(rng):
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q *= np.sign(np.diag(r))
    return q if np.linalg.det(q) > 0 else -q


def awkward():
    """Sixteen gradients: rest, rotations, repeated and tiny singular values, flat, inverted, random."""
    rng = np.random.default_rng(3)
    turned = [rotation(rng) @ np.diag(s) @ rotation(rng).T for s in
              [(1, 1, 1), (2, 2, 0.5), (0.5, 0.5, 0.5), (1, 1, -1), (1.5, 0.4, -0.4), (1e-3, 1e-3, 1e-3),
               (1, 1, 0), (1, 0, 0), (3, 1, 0.2), (0.3, 0.2, -0.1), (1 + 1e-9, 1, 1 - 1e-9)]]
    return np.array([np.eye(3), np.zeros((3, 3)), np.diag([1.0, 1.0, -1.0])] + turned
                    + [np.eye(3) + 0.3 * rng.normal(size=(3, 3)), rng.normal(size=(3, 3))])


def smooth(key):
    """The difficult gradients, except those at the material's kink."""
    gradients = awkward()
    if key in KINKED:
        rng = np.random.default_rng(5)
        sigma = np.linalg.svd(gradients, compute_uv=False)
        kinked = sigma[:, 1] + np.sign(np.linalg.det(gradients)) * sigma[:, 2] < 0.05
        assert 3 <= kinked.sum() <= 8
        gradients[kinked] = [rotation(rng) @ np.diag([1.3, 0.6, s]) @ rotation(rng).T
                             for s in rng.uniform(-0.5, 0.5, kinked.sum())]
    return gradients


class Lanes:
    """One material at sixteen gradients."""

    def __init__(self, key, family="material", **given):
        entry = catalogue.find(family, key)
        self.material = entry.load()
        numbers = {"youngs_modulus": 2.0e4, "poisson_ratio": 0.3, **given}
        self.constants = self.material.constants(
            **{param.key: np.full(LANES, float(numbers.get(param.key, param.default))) for param in entry.params})

    def _work(self, gradients):
        work = np.zeros(MATERIAL_SLOTS * LANES)
        for j in range(3):
            for i in range(3):
                work[(GRADIENT + i + 3 * j) * LANES:][:LANES] = gradients[:, i, j]
        work[CONSTANT * LANES:][: self.constants.size] = self.constants.ravel()
        return work

    def energy(self, gradients):
        work = self._work(gradients)
        self.material.energy(work, False)
        return work[ENERGY * LANES:][:LANES].copy()

    def stress(self, gradients):
        work = self._work(gradients)
        self.material.stress(work, False)
        return np.moveaxis(work[STRESS * LANES:][: 9 * LANES].reshape(3, 3, LANES), 0, 1).transpose(2, 0, 1).copy()

    def change(self, gradients, moved):
        """dP of a dF, both (16, 3, 3), by a kernel of its own."""
        work = self._work(gradients)
        work[CHANGE * LANES:][: 9 * LANES] = moved.transpose(2, 1, 0).ravel()
        self.material.change()(work, False)
        return work[STRESS * LANES:][: 9 * LANES].reshape(3, 3, LANES).transpose(2, 1, 0).copy()

    def tangent(self, gradients, project):
        """(16, 3, 3, 3, 3): ∂P_ij/∂F_kl."""
        work = self._work(gradients)
        self.material.tangent(work, project)
        out = np.zeros((LANES, 3, 3, 3, 3))
        for (j, m), block in zip(BLOCKS, work[TANGENT * LANES:][: 54 * LANES].reshape(6, 3, 3, LANES)):
            out[:, :, j, :, m] = block.transpose(2, 0, 1)
            out[:, :, m, :, j] = block.transpose(2, 1, 0)
        return out


def slope(function, gradients, step=1e-6):
    """Central differences along each entry of F, last two axes."""
    columns = []
    for k in range(3):
        for m in range(3):
            d = np.zeros((3, 3))
            d[k, m] = step
            columns.append((function(gradients + d) - function(gradients - d)) / (2 * step))
    return np.stack(columns, axis=-1).reshape(columns[0].shape + (3, 3))


@pytest.mark.parametrize("key", MATERIALS)
def test_stress_is_the_slope_of_energy(key):
    lanes, gradients = Lanes(key), smooth(key)
    stress = lanes.stress(gradients)
    assert np.abs(stress - slope(lanes.energy, gradients)).max() <= 1e-7 * np.abs(stress).max()


@pytest.mark.parametrize("key", MATERIALS)
@pytest.mark.parametrize("poisson", [0.0, 0.3, 0.49])
def test_tangent_is_the_slope_of_stress(key, poisson):
    lanes, gradients = Lanes(key, poisson_ratio=poisson), smooth(key)
    tangent = lanes.tangent(gradients, False)
    assert np.abs(tangent - slope(lanes.stress, gradients)).max() <= 1e-7 * np.abs(tangent).max()


def test_a_change_of_stress_without_the_tangent_is_what_the_tangent_has():
    seen = [key for key in MATERIALS if catalogue.find("material", key).load().change() is not None]
    assert "stable_neo_hookean" in seen
    moved = np.random.default_rng(9).normal(size=(LANES, 3, 3))
    for key in seen:
        lanes, gradients = Lanes(key), smooth(key)
        by_tangent = np.einsum("eijkl,ekl->eij", lanes.tangent(gradients, False), moved)
        assert np.abs(lanes.change(gradients, moved) - by_tangent).max() <= 1e-12 * np.abs(by_tangent).max()


@pytest.mark.parametrize("key", MATERIALS)
@pytest.mark.parametrize("poisson", [0.0, 0.3, 0.49])
def test_projection_clamps_the_eigenvalues_and_nothing_else(key, poisson):
    lanes, gradients = Lanes(key, poisson_ratio=poisson), awkward()
    raw = lanes.tangent(gradients, False).reshape(LANES, 9, 9)
    values, vectors = np.linalg.eigh(raw)
    clamped = np.einsum("nik,nk,njk->nij", vectors, np.maximum(values, 0.0), vectors)
    needed = (values < -1e-3 * np.abs(values).max()).any()
    assert needed or key in ALWAYS_POSITIVE
    projected = lanes.tangent(gradients, True).reshape(LANES, 9, 9)
    assert np.abs(projected - clamped).max() <= 1e-9 * np.abs(raw).max()


@pytest.mark.parametrize("key", MATERIALS)
def test_rest_is_free_of_stress_and_energy(key):
    lanes = Lanes(key)
    still = np.broadcast_to(np.eye(3), (LANES, 3, 3))
    assert np.abs(lanes.stress(still)).max() <= 1e-10
    assert np.abs(lanes.energy(still)).max() <= 1e-10


@pytest.mark.parametrize("key", [key for key in MATERIALS if key not in TURNS_SWELL])
def test_turning_the_world_turns_the_stress(key):
    lanes, gradients = Lanes(key), smooth(key)
    turn = rotation(np.random.default_rng(8))
    assert np.allclose(lanes.energy(turn @ gradients), lanes.energy(gradients), rtol=1e-10, atol=1e-8)
    stress = lanes.stress(gradients)
    assert np.abs(lanes.stress(turn @ gradients) - turn @ stress).max() <= 1e-10 * np.abs(stress).max()


@pytest.mark.parametrize("key", sorted(TURNS_SWELL))
def test_what_is_documented_to_swell_when_turned_does(key):
    turn = np.broadcast_to(rotation(np.random.default_rng(8)), (LANES, 3, 3))
    assert Lanes(key).energy(turn).min() > 1e3


@pytest.mark.parametrize("key", sorted(KINKED))
def test_a_kink_leaves_everything_finite(key):
    lanes = Lanes(key)
    at_kink = np.broadcast_to(np.diag([1.0, 1.0, -1.0]), (LANES, 3, 3))
    for what in (lanes.energy(at_kink), lanes.stress(at_kink), lanes.tangent(at_kink, True)):
        assert np.abs(what).max() < 1e7


@pytest.mark.parametrize("key", MATERIALS)
@pytest.mark.parametrize("poisson", [0.0, 0.2, 0.45])
def test_small_strain_gives_back_young_and_poisson(key, poisson):
    lanes = Lanes(key, youngs_modulus=5.0e4, poisson_ratio=poisson)
    if "poisson_ratio" not in {param.key for param in catalogue.find("material", key).params}:
        poisson = 0.0
    tangent = lanes.tangent(np.broadcast_to(np.eye(3), (LANES, 3, 3)), False)[0]
    # uniaxial stress: sideways strain such that nothing pulls sideways
    normal = np.array([[tangent[i, i, k, k] for k in range(3)] for i in range(3)])
    strain = np.linalg.solve(normal, [1.0, 0.0, 0.0])
    assert 1.0 / strain[0] == pytest.approx(5.0e4, rel=1e-9)
    assert -strain[1] / strain[0] == pytest.approx(poisson, abs=1e-9)


E, NU = 2.0e4, 0.3
MU, LAM = E / (2 * (1 + NU)), E * NU / ((1 + NU) * (1 - 2 * NU))
UNIAXIAL = {  # P₁₁ of F = diag(s, 1, 1), by hand
    "stvk": lambda s: s * (s * s - 1) * (MU + LAM / 2),
    "linear": lambda s: (2 * MU + LAM) * (s - 1),
    "corotational": lambda s: (2 * MU + LAM) * (s - 1),
    "fixed_corotated": lambda s: (2 * MU + LAM) * (s - 1),
    "arap": lambda s: E * (s - 1),
    "neo_hookean_plain": lambda s: MU * (s - 1) + (LAM + MU) * (s - 1),
    "mooney_rivlin": lambda s: MU * (s - 1) + 0.25 * MU * (s - 1) + (LAM + 0.75 * MU) * (s - 1),
}


@pytest.mark.parametrize("key", UNIAXIAL)
def test_stretch_along_one_axis_follows_its_closed_form(key):
    stretches = np.linspace(0.3, 3.0, LANES)
    gradients = np.broadcast_to(np.eye(3), (LANES, 3, 3)).copy()
    gradients[:, 0, 0] = stretches
    assert Lanes(key).stress(gradients)[:, 0, 0] == pytest.approx(UNIAXIAL[key](stretches), rel=1e-12, abs=1e-8)


def test_stvk_gives_way_where_its_entry_says():
    """dP/ds = 0 of uniaxial strain at s = 1/√3."""
    gradients = np.broadcast_to(np.eye(3), (LANES, 3, 3)).copy()
    gradients[:, 0, 0] = np.linspace(0.5, 0.65, LANES)
    stiffness = Lanes("stvk").tangent(gradients, False)[:, 0, 0, 0, 0]
    assert ((stiffness > 0) == (gradients[:, 0, 0] > 3**-0.5)).all()


def test_mooney_rivlin_without_its_second_term_is_neo_hookean():
    gradients = awkward()
    assert np.allclose(Lanes("mooney_rivlin", mooney_share=0.0).stress(gradients),
                       Lanes("neo_hookean_plain").stress(gradients), rtol=1e-13)


def test_a_crushed_element_comes_back_only_with_the_logarithm():
    """Stable Neo-Hookean's slope out of F = 0 is zero, without the logarithm it rises."""
    nearly_nothing = np.broadcast_to(0.05 * np.eye(3), (LANES, 3, 3))
    assert Lanes("stable_neo_hookean").stress(nearly_nothing)[0, 0, 0] < 0.0
    assert Lanes("neo_hookean_plain").stress(nearly_nothing)[0, 0, 0] > 0.0


def test_decomposition_is_exact_for_awkward_gradients():
    from solver.materials.algebra import decompose
    from solver.materials.lanes import LEFT, RIGHT, SIGMA

    rng = np.random.default_rng(1)
    spread = np.array([rotation(rng) @ np.diag(s) @ rotation(rng).T for s in rng.normal(size=(LANES, 3))
                       * 10.0 ** rng.integers(-6, 3, size=(LANES, 3))])
    for gradients in (awkward(), spread):
        work = np.zeros(MATERIAL_SLOTS * LANES)
        for j in range(3):
            for i in range(3):
                work[(GRADIENT + i + 3 * j) * LANES:][:LANES] = gradients[:, i, j]
        decompose(work)
        u = work[LEFT * LANES:][: 9 * LANES].reshape(3, 3, LANES).transpose(2, 1, 0)
        v = work[RIGHT * LANES:][: 9 * LANES].reshape(3, 3, LANES).transpose(2, 1, 0)
        sigma = work[SIGMA * LANES:][: 3 * LANES].reshape(3, LANES).T
        size = np.linalg.norm(gradients, axis=(1, 2))[:, None, None] + 1e-300
        assert (np.abs(u @ (sigma[:, :, None] * v.transpose(0, 2, 1)) - gradients) / size).max() <= 1e-13
        for q in (u, v):
            assert np.abs(q @ q.transpose(0, 2, 1) - np.eye(3)).max() <= 1e-13
            assert np.allclose(np.linalg.det(q), 1.0)
