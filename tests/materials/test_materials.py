"""Every material of the catalogue: stress is the slope of energy, the tangent is the slope of stress, and both hold
where deformation gradients are awkward. A new entry is tested by being there."""

import numpy as np
import pytest

from solver import catalogue, threads  # noqa: F401
from solver.materials.lanes import CONSTANT, ENERGY, GRADIENT, LANES, MATERIAL_SLOTS, STRESS, TANGENT

MATERIALS = list(catalogue.family("material"))
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


class Lanes:
    """One material at sixteen gradients."""

    def __init__(self, key, young=2.0e4, poisson=0.3):
        self.material = catalogue.find("material", key).load()
        params = {p.key: np.full(LANES, p.default) for p in catalogue.find("material", key).params}
        params.update(youngs_modulus=np.full(LANES, young), poisson_ratio=np.full(LANES, poisson))
        known = {p.key for p in catalogue.find("material", key).params}
        self.constants = self.material.constants(**{k: v for k, v in params.items() if k in known})

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
    lanes, gradients = Lanes(key), awkward()
    stress = lanes.stress(gradients)
    assert np.abs(stress - slope(lanes.energy, gradients)).max() <= 1e-7 * np.abs(stress).max()


@pytest.mark.parametrize("key", MATERIALS)
@pytest.mark.parametrize("poisson", [0.0, 0.3, 0.49])
def test_tangent_is_the_slope_of_stress(key, poisson):
    lanes, gradients = Lanes(key, poisson=poisson), awkward()
    tangent = lanes.tangent(gradients, False)
    assert np.abs(tangent - slope(lanes.stress, gradients)).max() <= 1e-7 * np.abs(tangent).max()


@pytest.mark.parametrize("key", MATERIALS)
@pytest.mark.parametrize("poisson", [0.0, 0.3, 0.49])
def test_projection_clamps_the_eigenvalues_and_nothing_else(key, poisson):
    lanes, gradients = Lanes(key, poisson=poisson), awkward()
    raw = lanes.tangent(gradients, False).reshape(LANES, 9, 9)
    values, vectors = np.linalg.eigh(raw)
    clamped = np.einsum("nik,nk,njk->nij", vectors, np.maximum(values, 0.0), vectors)
    assert (values < -1e-3 * np.abs(values).max()).any()  # some of these gradients need it
    projected = lanes.tangent(gradients, True).reshape(LANES, 9, 9)
    assert np.abs(projected - clamped).max() <= 1e-9 * np.abs(raw).max()


@pytest.mark.parametrize("key", MATERIALS)
def test_rest_is_free_of_stress_and_energy(key):
    lanes = Lanes(key)
    still = np.broadcast_to(np.eye(3), (LANES, 3, 3))
    assert np.abs(lanes.stress(still)).max() <= 1e-10
    assert np.abs(lanes.energy(still)).max() <= 1e-10


@pytest.mark.parametrize("key", MATERIALS)
def test_turning_the_world_turns_the_stress(key):
    lanes, gradients = Lanes(key), awkward()
    turn = rotation(np.random.default_rng(8))
    assert np.allclose(lanes.energy(turn @ gradients), lanes.energy(gradients), rtol=1e-10, atol=1e-8)
    stress = lanes.stress(gradients)
    assert np.abs(lanes.stress(turn @ gradients) - turn @ stress).max() <= 1e-10 * np.abs(stress).max()


@pytest.mark.parametrize("key", MATERIALS)
@pytest.mark.parametrize("poisson", [0.0, 0.2, 0.45])
def test_small_strain_gives_back_young_and_poisson(key, poisson):
    lanes = Lanes(key, young=5.0e4, poisson=poisson)
    tangent = lanes.tangent(np.broadcast_to(np.eye(3), (LANES, 3, 3)), False)[0]
    # uniaxial stress: sideways strain such that nothing pulls sideways
    normal = np.array([[tangent[i, i, k, k] for k in range(3)] for i in range(3)])
    strain = np.linalg.solve(normal, [1.0, 0.0, 0.0])
    assert 1.0 / strain[0] == pytest.approx(5.0e4, rel=1e-9)
    assert -strain[1] / strain[0] == pytest.approx(poisson, abs=1e-9)


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
