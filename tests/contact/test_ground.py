"""The ground's penalty: force is the slope of energy, K is the slope of force, and the plane may move."""

from dataclasses import replace

import numpy as np
import pytest
from bodies import box, make

from solver.contact.find.ground import Ground
from solver.contact.laws.ground_penalty import GroundPenalty
from solver.coordinates.prescribed import Motion
from solver.state import State

POINT, NORMAL = np.array([0.1, 0.2, -0.3]), np.array([1.0, -2.0, 2.0])
GROUND = Ground(POINT, NORMAL)
LAW = GroundPenalty(GROUND, np.full(1000, 700.0), np.ones(1000, dtype=bool))


@pytest.fixture
def nodes():
    """Some inside, some outside, none within a difference step of the plane."""
    x = POINT + np.random.default_rng(0).normal(size=(20, 3))
    assert 3 < len(GROUND.find(x, 0.0).nodes) < 17
    return x


def force(x):
    out = np.zeros_like(x)
    LAW.add_force(GROUND.find(x, 0.0), out)
    return out


def slope(function, x, step=1e-6):
    """Central differences in every coordinate, along the last axis."""
    return np.stack([(function(x + step * entry) - function(x - step * entry)) / (2 * step)
                     for entry in np.eye(x.size).reshape(-1, *x.shape)], axis=-1)


def test_force_is_the_slope_of_energy(nodes):
    numeric = -slope(lambda x: LAW.add_force(GROUND.find(x, 0.0), np.zeros_like(x)), nodes)
    assert np.abs(force(nodes).ravel() - numeric).max() <= 1e-7 * np.abs(numeric).max()


def test_stiffness_is_the_slope_of_force_and_negative(nodes):
    blocks = np.zeros((len(nodes), 3, 3))
    LAW.add_stiffness(GROUND.find(nodes, 0.0), blocks)
    numeric = slope(lambda x: force(x).ravel(), nodes).reshape(len(nodes), 3, len(nodes), 3)
    ours = np.zeros_like(numeric)
    ours[np.arange(len(nodes)), :, np.arange(len(nodes))] = blocks
    assert np.abs(ours - numeric).max() <= 1e-7 * np.abs(numeric).max()
    assert np.linalg.eigvalsh(blocks).max() <= 1e-9


def test_a_tangential_share_adds_to_the_stiffness_along_the_ground_alone(nodes):
    unit, both = NORMAL / 3.0, []
    for share in (0.0, 0.1):
        blocks = np.zeros((len(nodes), 3, 3))
        replace(LAW, tangential=share).add_stiffness(GROUND.find(nodes, 0.0), blocks)
        both.append(blocks[GROUND.find(nodes, 0.0).nodes])
    added = both[1] - both[0]
    assert np.abs(added + 70.0 * (np.eye(3) - np.outer(unit, unit))).max() <= 1e-9


def test_it_pushes_out_of_the_ground_and_never_along_it(nodes):
    unit = NORMAL / 3.0
    gap = (nodes - POINT) @ unit
    f = force(nodes)
    assert f @ unit == pytest.approx(700.0 * np.maximum(-gap, 0.0))
    assert np.abs(f - np.outer(f @ unit, unit)).max() <= 1e-12


def test_a_moving_plane_is_where_its_motion_is(nodes):
    path = POINT + np.outer(np.arange(5.0), [0.0, 0.0, 0.5])
    moving = Ground(POINT, NORMAL, motion=Motion(path, 0.25))
    there = moving.find(nodes, 0.5)
    still = Ground(path[2], NORMAL).find(nodes, 0.0)
    assert np.array_equal(there.nodes, still.nodes) and np.array_equal(there.gap, still.gap)
    assert len(there.nodes) > len(GROUND.find(nodes, 0.0).nodes)


def test_a_tangential_share_drags_on_what_slides_whatever_its_load():
    """A stiff block without weight, by one step: (M + k' β h² α) u = M v, k' that of all nodes that touch."""
    nodes, tets = box((3, 3, 2), (0.06, 0.06, 0.04))
    h, beta, share, stiffness = 5e-3, 0.5, 0.1, 100.0
    world = make(nodes, tets, young=1e7, method="vanilla", beta=beta, gravity=(0, 0, 0),
                 ground=(1e-6, stiffness, share))
    thrown = np.tile([0.3, 0.0, 0.0], len(nodes)).ravel()
    after = world.step(State(0.0, nodes.ravel().copy(), thrown), h)
    speed = world.mass @ after.u.reshape(-1, 3)[:, 0] / world.mass.sum()
    drag = stiffness * share * beta * h**2 * 16 / world.mass.sum()
    assert speed == pytest.approx(0.3 / (1.0 + drag), rel=1e-3) and drag > 0.01
