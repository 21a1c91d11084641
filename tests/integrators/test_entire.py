"""ψ_k and the exponentials made of them, against scipy.linalg.expm and a space that is large enough."""

import numpy as np
import pytest
from scipy.linalg import expm

from solver.errors import StepFailed
from solver.integrators import krylov
from solver.integrators.arnoldi import integrate_damped
from solver.integrators.phi_functions import NEAR_ZERO, psi

LAMBDAS = [-4e4, -50.0, -NEAR_ZERO, -1.0, -1e-3, -1e-9, 0.0, 1e-9, 1e-3, 1.0, NEAR_ZERO, 6.0, 90.0]


def first_of_phi(matrix, vectors):
    """h-step of u' = matrix u + vectors[0] + t vectors[1] from zero: φ₁ and φ₂ by a larger exponential."""
    n, count = len(matrix), len(vectors)
    big = np.zeros((n + count, n + count))
    big[:n, :n] = matrix
    for k, vector in enumerate(vectors):
        big[:n, n + count - 1 - k] = vector
    big[n : n + count - 1, n + 1 :] = np.eye(count - 1)
    return expm(big)[:n, -1]


@pytest.mark.parametrize("z", LAMBDAS)
def test_phi_of_one_wobble(z):
    """h φ₁(hJ)(v, a) for J = (0 1; λ 0), h = 1: swinging, free and buckling."""
    zero, one, two, three = (float(value) for value in psi(np.array(z), 3))
    v, a, g = 0.7, -1.3, 0.4
    moved, gained = first_of_phi(np.array([[0.0, 1.0], [z, 0.0]]), [np.array([v, a]), np.array([0.0, g])])
    scale = max(1.0, zero) if z > 0 else 1.0
    assert one * v + two * a + three * g == pytest.approx(moved, rel=1e-11, abs=1e-11 * scale)
    assert z * two * v + one * a + two * g == pytest.approx(gained, rel=1e-11, abs=1e-10 * scale * (1 + abs(z) ** 0.5))
    assert zero == pytest.approx(1.0 + z * two, rel=1e-12, abs=1e-12)


def test_psi_is_smooth_where_the_formula_changes():
    for border in (-NEAR_ZERO, NEAR_ZERO):
        left, right = (np.array(psi(np.array([border * (1 + eps)]), 5)) for eps in (-1e-9, 1e-9))
        assert np.abs(left - right).max() <= 1e-8
    assert np.array(psi(np.zeros(1), 5)).ravel() == pytest.approx(1 / np.array([1, 1, 2, 6, 24, 120]), rel=1e-15)


def spectrum(size, slowest, fastest, seed=3):
    """A symmetric matrix with these λ, two of them zero and one that buckles."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(size, size)))[0]
    values = -np.geomspace(slowest, fastest, size)
    values[:3] = 0.0, 0.0, 3.0
    return (turn * values) @ turn.T, rng.normal(size=(3, size))


@pytest.mark.parametrize("fastest", [1e1, 1e4, 1e9])
@pytest.mark.parametrize("drifts", [False, True])
def test_krylov_is_the_exponential(fastest, drifts):
    """Spaces of all sizes, and a step in parts where one does not reach its end."""
    size, h = 150, 0.05
    matrix, (v, a, g) = spectrum(size, 1.0, fastest)
    jacobian = np.block([[np.zeros((size, size)), np.eye(size)], [matrix, np.zeros((size, size))]])
    drift = 40.0 * g if drifts else 0.0 * g
    want = first_of_phi(h * jacobian, [h * np.concatenate([v, a]), h * h * np.concatenate([0 * v, drift])])
    moved, gained, products = krylov.exponential(lambda x: matrix @ x, v, a, drift if drifts else None, h, 1e-10)
    scale = np.linalg.norm(v) + h * np.linalg.norm(a)
    assert np.linalg.norm(gained - want[size:]) <= 1e-8 * scale
    assert np.linalg.norm(moved - want[:size]) <= 1e-8 * h * scale
    assert (products > krylov.LARGEST) == (fastest == 1e9)


def test_krylov_asks_for_more_where_less_may_be_left():
    matrix, (v, a, _) = spectrum(150, 1.0, 1e5)
    asked = [krylov.exponential(lambda x: matrix @ x, v, a, None, 0.05, tolerance)[2]
             for tolerance in (1e-2, 1e-6, 1e-11)]
    assert asked[0] < asked[1] < asked[2] < krylov.LARGEST


@pytest.mark.parametrize("fastest", [1e1, 1e4, 1e8])
@pytest.mark.parametrize("drifts", [False, True])
def test_krylov_of_a_damped_system_is_the_exponential(fastest, drifts):
    """D of any size and no relative of K."""
    size, h = 100, 0.05
    matrix, (v, a, g) = spectrum(size, 1.0, fastest)
    drag = spectrum(size, 0.1, 30.0, seed=4)[0]
    drag -= 3.0 * np.eye(size)
    jacobian = np.block([[np.zeros((size, size)), np.eye(size)], [matrix, drag]])
    drift = 40.0 * g if drifts else 0.0 * g
    want = first_of_phi(h * jacobian, [h * np.concatenate([v, a]), h * h * np.concatenate([0 * v, drift])])
    moved, gained, _ = integrate_damped(lambda x: matrix @ x, lambda x: drag @ x, v, a, drift if drifts else None, h,
                                        1e-11)
    scale = np.linalg.norm(v) + h * np.linalg.norm(a)
    assert np.linalg.norm(gained - want[size:]) <= 1e-7 * scale
    assert np.linalg.norm(moved - want[:size]) <= 1e-7 * h * scale


def test_krylov_ends_in_a_space_that_is_whole():
    matrix = np.diag([-1.0, -4.0, -9.0])
    v = np.array([1.0, 0.0, 0.0])
    moved, gained, _ = krylov.exponential(lambda x: matrix @ x, v, np.zeros(3), None, 0.5, 1e-12)
    assert moved == pytest.approx([np.sin(0.5), 0, 0], abs=1e-15)
    assert gained == pytest.approx([np.cos(0.5) - 1.0, 0, 0], abs=1e-15)


def test_krylov_gives_up_rather_than_never_end(monkeypatch):
    monkeypatch.setattr(krylov, "MOST_PRODUCTS", 300)
    matrix, (v, a, _) = spectrum(150, 1.0, 1e9)
    with pytest.raises(StepFailed, match="300 products"):
        krylov.exponential(lambda x: matrix @ x, v, a, None, 0.05, 1e-6)
