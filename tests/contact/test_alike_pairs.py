"""Pairs with the same nearest points are merged: one pair has the total weight of all."""

import numpy as np
import pytest
from touching import box

from solver.contact.find.mesh import Surfaces
from solver.contact.laws import barrier
from solver.contact.laws.alike_pairs import AlikePairs
from solver.meshing.volume import boundary_faces

REACH, SECONDS = 0.03, 0.01


def each_alone(x, nodes, *rest):
    return AlikePairs(np.arange(len(nodes)), np.arange(len(nodes)))


@pytest.fixture(params=[0.0, 0.021], ids=["corner on corner", "apart"])
def boxes(request):
    """A box on another one, positions and a law with friction; grids that lie on each other, or beside each other."""
    nodes, tets = box((3, 3, 3), (0.3, 0.3, 0.3))
    shift = [request.param, 0.4 * request.param, 0.31]
    x = np.concatenate([nodes, nodes + shift])
    x += 1e-3 * np.sin(37.0 * x[:, [1, 2, 0]])
    faces = boundary_faces(tets)[0]
    surfaces = Surfaces(x, np.concatenate([faces, faces + len(nodes)]).astype(np.int32), np.full(len(x), -1))
    stiffness = 500.0 * (1.0 + np.arange(len(x)) / len(x))
    return x, barrier.Barrier(surfaces, x, stiffness, np.full(len(x), 0.4), REACH, {"creep_speed": 1e-3},
                              np.zeros(len(x)))


def linearised(law, x):
    """Forces, K of pairs of nodes, definite and not, the force of friction and how many pairs were linearised."""
    law._last, law._grouped = [], None
    table, force = law.fill(x, 0.0, False), np.zeros_like(x)
    table.add_forces(force)
    friction = law.lag_friction(x, x - [1e-5, 2e-5, 0.0] * (x[:, 2:] > 0.305), SECONDS).measure(x, 0.0)
    return force, [summed(blocks, len(x)) for blocks in (table, law.fill(x, 0.0, True))], friction, len(table.nodes)


def summed(table, count):
    """Blocks of pairs of nodes, (n, n, 3, 3)."""
    K = np.zeros((count, count, 3, 3))
    for pair, (a, b) in enumerate([(1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2)]):
        blocks = table.blocks[:, pair].reshape(-1, 3, 3)
        np.add.at(K, (table.nodes[:, a], table.nodes[:, b]), blocks)
        np.add.at(K, (table.nodes[:, b], table.nodes[:, a]), np.swapaxes(blocks, 1, 2))
    return K


def test_one_pair_says_what_all_alike_say(boxes, monkeypatch):
    x, law = boxes
    force, stiffness, friction, grouped = linearised(law, x)
    monkeypatch.setattr(barrier, "alike_pairs", each_alone)
    force_of_all, stiffness_of_all, friction_of_all, every = linearised(law, x)
    assert grouped <= 0.6 * every
    assert np.abs(force - force_of_all).max() <= 1e-12 * np.abs(force_of_all).max()
    for by_law, of_all in zip(stiffness, stiffness_of_all):
        assert np.abs(by_law - of_all).max() <= 1e-9 * np.abs(of_all).max()
    assert friction.energy == pytest.approx(friction_of_all.energy, rel=1e-2)
    first, second = (np.bincount(measured.nodes.ravel() // (len(x) // 2), measured.forces[:, :, 0].ravel())
                     for measured in (friction, friction_of_all))
    assert np.abs(first - second).max() <= 1e-2 * np.abs(second).max() > 0.0


def test_edges_that_are_nearly_parallel_stand_for_themselves(boxes):
    """Their barrier is mollified each by its own angle."""
    x, law = boxes
    found = law.find_active_pairs(x)
    _, alike, _ = law._distinct_pairs(x)
    ends = x[found.nodes[found.points:]]
    cross = np.cross(ends[:, 1] - ends[:, 0], ends[:, 3] - ends[:, 2])
    mollified = found.points + np.flatnonzero(np.einsum("ki,ki->k", cross, cross) < found.rest[found.points:])
    assert len(mollified) > 0 and np.isin(mollified, alike.which).all()
    assert (np.bincount(alike.number)[alike.number[mollified]] == 1).all()


def test_nothing_that_touches_says_nothing(boxes):
    x, law = boxes
    apart = x + [0.0, 0.0, 1.0] * (x[:, 2:] > 0.305)
    assert len(law.fill(apart, 0.0, True).nodes) == 0
    assert law.lag_friction(apart, apart, SECONDS) is None
