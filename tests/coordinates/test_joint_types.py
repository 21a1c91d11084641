"""Each joint type's kernel compared with its own transform: S and Ṡ are finite differences of Q."""

import sys
import types

import numpy as np
import pytest
from trees import KINDS, hat, random_state, random_tree, vee

from solver import catalogue
from solver.errors import NoSuchThing


class Screw:
    """One rate that turns about Z and slides along it by q²: numpy over all joints of the type, no kernel."""

    centre = ()

    @staticmethod
    def fill(bodies, dof, q, u, start, centres, place, subspace, bend):
        first = dof[bodies]
        angle, rate = q[first], u[first]
        place[bodies, 0, 0] = place[bodies, 1, 1] = np.cos(angle)
        place[bodies, 0, 1], place[bodies, 1, 0] = -np.sin(angle), np.sin(angle)
        place[bodies, 2, 3] = angle**2
        subspace[first, 2], subspace[first, 5] = 1.0, 2.0 * angle
        bend[bodies, 5] = 2.0 * rate**2


@pytest.fixture
def screw(monkeypatch):
    """A joint type that the solver does not have, and its entry."""
    module = types.ModuleType("solver.coordinates.joints.screw")
    module.Screw = Screw
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(catalogue, "ENTRIES", (
        *catalogue.ENTRIES, catalogue.Entry("joint", "screw", "coordinates.joints.screw:Screw", "Screw", "Made up",
                                            rates=("angle",))))


def check(tree, rng):
    """Q, S and Ṡ of all joints of a tree at a random state."""
    q, u, centres = random_state(rng, tree)
    at, h = tree.posture(q, u, centres), 1e-5
    before, after = tree.posture(q - h * u, u, centres), tree.posture(q + h * u, u, centres)
    far_before, far_after = tree.posture(q - 2 * h * u, u, centres), tree.posture(q + 2 * h * u, u, centres)

    def slope(of):
        return (8 * (of(after) - of(before)) - (of(far_after) - of(far_before))) / (12 * h)

    for i in range(tree.count):
        rates = slice(tree.dof[i], tree.dof[i + 1])
        moved = np.linalg.inv(at.joint_poses[i]) @ slope(lambda p, i=i: p.joint_poses[i])
        assert moved == pytest.approx(hat(at.subspace[rates].T @ u[rates]), abs=2e-10)
        bent = slope(lambda p, rates=rates: p.subspace[rates].T @ u[rates])
        assert at.bend[i] == pytest.approx(bent, abs=2e-10)
        assert vee(moved) == pytest.approx(at.subspace[rates].T @ u[rates], abs=2e-10)
        rotation = at.joint_poses[i, :3, :3]
        assert rotation @ rotation.T == pytest.approx(np.eye(3), abs=1e-14)
        if rates.stop > rates.start:
            assert np.linalg.svd(at.subspace[rates], compute_uv=False)[-1] > 1e-3, "its rates move it in one way only"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_columns_are_the_slope_of_the_transform(kind, seed):
    rng = np.random.default_rng(seed)
    check(random_tree(rng, [kind] * 3), rng)


@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-4, 0.3, 0.5, 0.6, 1.5, 3.0])
@pytest.mark.parametrize("kind", ["spherical", "free"])
def test_exponential_coordinates_near_and_far_from_their_centre(kind, size):
    """The series and the closed forms, from nothing to nearly the end of the chart (√3 · 3 < 2π)."""
    rng = np.random.default_rng(5)
    tree = random_tree(rng, [kind])
    q, u, centres = random_state(rng, tree)
    q[:3] = size * np.sign(q[:3])
    at, h = tree.posture(q, u, centres), 1e-5
    after, before = tree.posture(q + h * u, u, centres), tree.posture(q - h * u, u, centres)
    assert at.bend[0] == pytest.approx((after.subspace - before.subspace).T @ u / (2 * h), abs=1e-8)
    moved = np.linalg.inv(at.joint_poses[0]) @ (after.joint_poses[0] - before.joint_poses[0]) / (2 * h)
    assert vee(moved) == pytest.approx(at.subspace.T @ u, abs=1e-8)


def test_a_made_up_joint_works_from_outside(screw):
    rng = np.random.default_rng(1)
    tree = random_tree(rng, ["free", "screw", "spherical", "screw", "revolute"], parents=[None, 0, 1, 2, 1])
    assert tree.rates == 6 + 1 + 3 + 1 + 1
    check(tree, rng)


@pytest.mark.parametrize("kind", KINDS)
def test_the_catalogue_says_which_rates_are_angles(kind):
    """A rate of kind angle turns the moving frame by as much, a length carries it by as much, at the chart's centre."""
    rng = np.random.default_rng(0)
    tree = random_tree(rng, [kind])
    q = np.zeros(tree.rates)
    at = tree.posture(q, q, tree.fresh)
    assert at.joint_poses[0] == pytest.approx(np.eye(4), abs=0)
    for k, rate in enumerate(catalogue.find("joint", kind).rates):
        angular, linear = np.linalg.norm(at.subspace[k, :3]), np.linalg.norm(at.subspace[k, 3:])
        assert (angular, linear) == ((1.0, 0.0) if rate == "angle" else (0.0, 1.0))
        assert tree.angular[k] == (rate == "angle")


def test_an_unknown_joint_is_refused():
    with pytest.raises(NoSuchThing, match=r'no joint "elbow".*revolute'):
        random_tree(np.random.default_rng(0), ["elbow"])
