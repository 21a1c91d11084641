"""Every fiber model of the catalogue: the slopes and the projection hold at awkward gradients and where the fiber
crosses its rest length; it adds its modulus along the fiber and none across. A new entry is tested by being there."""

import numpy as np
import pytest
from test_materials import Lanes, awkward, rotation, slope

from solver import catalogue
from solver.materials.lanes import LANES

MODELS = list(catalogue.family("fiber_material"))
TENSION_ONLY = {"afung"}  # which makes the tangent positive everywhere


class FiberLanes(Lanes):
    """One fiber model at sixteen gradients, a fiber of its own in each lane."""

    def __init__(self, key, **given):
        super().__init__(key, family="fiber_material", **given)
        self.along = np.random.default_rng(2).normal(size=(LANES, 3))
        self.along /= np.linalg.norm(self.along, axis=1)[:, None]
        self.constants = np.concatenate([self.along.T, self.constants])


def stretched(along, stretch, across=1.0):
    """Gradients that stretch along a fiber and across it."""
    fiber = np.einsum("ni,nj->nij", along, along)
    return np.asarray(stretch)[..., None, None] * fiber + across * (np.eye(3) - fiber)


def active(key):
    """A half active muscle where the model has that: no awkward gradient then meets the kink of its tangent."""
    return FiberLanes(key, activation=0.5)


@pytest.mark.parametrize("key", MODELS)
def test_stress_is_the_slope_of_energy(key):
    lanes, gradients = active(key), awkward()
    stress = lanes.stress(gradients)
    assert np.abs(stress - slope(lanes.energy, gradients)).max() <= 1e-7 * np.abs(stress).max()


@pytest.mark.parametrize("key", MODELS)
def test_tangent_is_the_slope_of_stress(key):
    lanes, gradients = active(key), awkward()
    tangent = lanes.tangent(gradients, False)
    assert np.abs(tangent - slope(lanes.stress, gradients)).max() <= 1e-7 * np.abs(tangent).max()


@pytest.mark.parametrize("key", MODELS)
def test_projection_clamps_the_eigenvalues_and_nothing_else(key):
    lanes, gradients = active(key), awkward()
    raw = lanes.tangent(gradients, False).reshape(LANES, 9, 9)
    values, vectors = np.linalg.eigh(raw)
    clamped = np.einsum("nik,nk,njk->nij", vectors, np.maximum(values, 0.0), vectors)
    assert (values < -1e-3 * np.abs(values).max()).any() != (key in TENSION_ONLY)
    projected = lanes.tangent(gradients, True).reshape(LANES, 9, 9)
    assert np.abs(projected - clamped).max() <= 1e-9 * np.abs(raw).max()


@pytest.mark.parametrize("key", MODELS)
def test_rest_is_free_of_stress_and_energy(key):
    lanes, still = FiberLanes(key), np.broadcast_to(np.eye(3), (LANES, 3, 3))
    assert np.abs(lanes.stress(still)).max() <= 1e-9
    assert np.abs(lanes.energy(still)).max() <= 1e-9


@pytest.mark.parametrize("key", MODELS)
def test_turning_the_world_turns_the_stress(key):
    lanes, gradients = active(key), awkward()
    turn = rotation(np.random.default_rng(8))
    stress = lanes.stress(gradients)
    assert np.allclose(lanes.energy(turn @ gradients), lanes.energy(gradients), rtol=1e-10, atol=1e-8)
    assert np.abs(lanes.stress(turn @ gradients) - turn @ stress).max() <= 1e-10 * np.abs(stress).max()


@pytest.mark.parametrize("key", MODELS)
def test_the_modulus_is_added_along_the_fiber_and_none_across(key):
    lanes, small = FiberLanes(key, fiber_modulus=5.0e4), 1e-7
    pulled = lanes.stress(stretched(lanes.along, np.full(LANES, 1 + small))) / small
    assert np.einsum("ni,nij,nj->n", lanes.along, pulled, lanes.along) == pytest.approx(5.0e4, rel=1e-5)
    pressed = lanes.stress(stretched(lanes.along, np.full(LANES, 1 - small))) / small
    force = np.einsum("ni,nij,nj->n", lanes.along, pressed, lanes.along)
    assert force == pytest.approx(0.0 if key in TENSION_ONLY else -5.0e4, rel=1e-5)
    across = lanes.stress(stretched(lanes.along, np.full(LANES, 1.0), 1.3))
    assert np.abs(across).max() <= 1e-9


@pytest.mark.parametrize("key", MODELS)
@pytest.mark.parametrize("activation", [0.0, 0.5, 1.0])
def test_nothing_jumps_where_the_fiber_crosses_its_rest_length(key, activation):
    """Energy and stress go on, and both sides have the tangent of their own side."""
    lanes = FiberLanes(key, activation=activation, fiber_modulus=1.0)
    rest = 1.0 - 0.3 * activation if key in TENSION_ONLY else 1.0
    either = np.where(np.arange(LANES) % 2, 1.0, -1.0)
    near, far = (stretched(lanes.along, rest * (1 + either * gap)) for gap in (1e-9, 1e-4))
    assert np.abs(lanes.energy(near)).max() <= 1e-15
    assert np.abs(lanes.stress(near)).max() <= 1e-8
    tangent = lanes.tangent(far, False)
    assert np.abs(tangent - slope(lanes.stress, far)).max() <= 1e-6
    assert np.abs(lanes.stress(far) - slope(lanes.energy, far)).max() <= 1e-9
    if key in TENSION_ONLY:
        assert (np.abs(tangent).max(axis=(1, 2, 3, 4)) > 0.1).tolist() == (either > 0).tolist()


def test_fung_follows_its_formula_up_to_the_cap_and_stays_smooth_beyond():
    c, k, a = 3.0e4, 5.0, 0.4
    lanes = FiberLanes("afung", fiber_modulus=c, fiber_stiffening=k, activation=a)
    stretch = np.linspace(0.5, 1.6, LANES)
    s = np.maximum(stretch / (1 - 0.3 * a) - 1, 0.0)
    assert (s < np.sqrt(4.0 / k)).all()
    assert lanes.energy(stretched(lanes.along, stretch)) == pytest.approx(
        c / (2 * k) * np.expm1(k * s**2), rel=1e-12, abs=1e-9)
    cap = (1 - 0.3 * a) * (1 + np.sqrt(4.0 / k))
    gap = np.where(np.arange(LANES) % 2, 1e-7, -1e-7)
    across_cap = stretched(np.repeat(lanes.along[:1], LANES, axis=0), cap + gap)
    lanes.constants[:3] = lanes.along[0][:, None]
    tangent = lanes.tangent(across_cap, False)
    assert np.ptp(tangent, axis=0).max() <= 1e-5 * np.abs(tangent).max()  # no jump of the curvature
    far = lanes.stress(stretched(np.repeat(lanes.along[:1], LANES, axis=0), np.linspace(3.0, 100.0, LANES)))
    assert np.isfinite(far).all()
    assert np.abs(np.diff(far, 2, axis=0)).max() <= 1e-9 * np.abs(far).max()  # a straight line


def test_astvk_follows_its_formula():
    lanes = FiberLanes("astvk", fiber_modulus=4.0e4)
    stretch = np.linspace(0.2, 3.0, LANES)
    assert lanes.energy(stretched(lanes.along, stretch)) == pytest.approx(0.5 * 1.0e4 * (stretch**2 - 1) ** 2)
