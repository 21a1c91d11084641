"""Mass, centre and inertia against integrals over a fine grid of points and against closed forms."""

import numpy as np
import pytest

from solver.coordinates import inertia
from solver.errors import BadScene


def integral(inside, half, density, count=160):
    """(mass, inertia about the origin) of the points of a grid over ±half that are inside."""
    axes = [np.linspace(-h, h, 2 * count + 1)[1::2] for h in half]
    x = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    x = x[inside(x)]
    cell = density * np.prod([axis[1] - axis[0] for axis in axes])
    second = cell * x.T @ x
    return cell * len(x), np.trace(second) * np.eye(3) - second


def test_box():
    solid = inertia.box(np.array([1.0, 2.0, 3.0]), 10.0)
    assert solid.mass == 60.0
    assert np.diag(solid.inertia) == pytest.approx([5.0 * 13.0, 5.0 * 10.0, 5.0 * 5.0])
    assert np.count_nonzero(solid.inertia) == 3


def test_sphere():
    solid = inertia.sphere(0.5, 3.0)
    mass, about = integral(lambda x: (x * x).sum(axis=1) < 0.25, [0.5] * 3, 3.0)
    assert solid.mass == pytest.approx(mass, rel=1e-3)
    assert solid.inertia == pytest.approx(about, rel=2e-3, abs=1e-12)


def test_capsule():
    solid = inertia.capsule(0.4, 1.3, 7.0)

    def inside(x):
        z = np.maximum(np.abs(x[:, 2]) - 0.65, 0.0)
        return x[:, 0] ** 2 + x[:, 1] ** 2 + z**2 < 0.16

    mass, about = integral(inside, [0.4, 0.4, 1.05], 7.0)
    assert solid.mass == pytest.approx(mass, rel=1e-3)
    assert solid.inertia == pytest.approx(about, rel=2e-3, abs=1e-12)
    ball, same = inertia.sphere(0.4, 7.0), inertia.capsule(0.4, 0.0, 7.0)
    assert same.mass == pytest.approx(ball.mass) and same.inertia == pytest.approx(ball.inertia)


def test_mass_may_be_given_instead_of_density():
    solid = inertia.box(np.array([1.0, 2.0, 3.0]), 1.0).weighing(12.0)
    assert solid.mass == 12.0 and solid.inertia[0, 0] == pytest.approx(13.0)
    spatial = solid.spatial()
    assert spatial[:3, :3] == pytest.approx(solid.inertia) and spatial[3:, 3:] == pytest.approx(12.0 * np.eye(3))
    assert not spatial[3:, :3].any() and not spatial[:3, 3:].any()


@pytest.mark.parametrize("made, said", [
    (lambda: inertia.box(np.array([1.0, 0.0, 1.0]), 1.0), "Its edge is 0. Give it a value above zero."),
    (lambda: inertia.box(np.array([1.0, np.nan, 1.0]), 1.0), "Its edge is nan."),
    (lambda: inertia.box(np.ones(3), 0.0), "Its density is 0."),
    (lambda: inertia.sphere(-1.0, 1.0), "Its radius is -1."),
    (lambda: inertia.sphere(np.inf, 1.0), "Its radius is inf."),
    (lambda: inertia.capsule(1.0, -1.0, 1.0), "Its length is -1 m."),
    (lambda: inertia.capsule(0.0, 1.0, 1.0), "Its radius is 0."),
    (lambda: inertia.sphere(1.0, 1.0).weighing(0.0), "Its mass is 0."),
])
def test_what_is_no_solid_is_said_in_a_sentence(made, said):
    with pytest.raises(BadScene) as refused:
        made()
    assert str(refused.value).startswith(said)
