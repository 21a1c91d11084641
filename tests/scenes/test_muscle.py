"""MUSCLE: counts of the paper, a plane that nothing leaves, and the elbow's angle of Vanilla. [ConJac MUSCLE]"""

import functools

import numpy as np
import pytest

from benchmarks.scenes import muscle

H = 1 / 100


def bent(world, seconds, h=H):
    """Coordinates of the joints at every step, and the last state."""
    state, angles = world.initial_state(), []
    for _ in range(round(seconds / h)):
        state = world.step(state, h)
        angles.append(world.split_state(state)[1].q)
    return np.array(angles), state


@functools.cache
def bent_by_conjac(arm, seconds):
    return bent(arm().world("conjac", beta=0.5), seconds)[0]


def test_the_sheet_has_the_counts_of_the_paper():
    flat = muscle.flat().muscle
    middle = np.abs(flat.nodes[:, 1]) < 1e-12
    assert middle.sum() == 262 and len(flat.nodes) == 3 * 262 and len(flat.tets) == 2 * 3 * 438
    assert middle[flat.middle] and abs(flat.along[flat.middle] - 0.5) < 1e-12
    fibers = muscle.flat().world().parts[0].elastic[0].fibers._directions
    axis = flat.nodes[flat.along == 1.0].mean(axis=0) - flat.nodes[flat.along == 0.0].mean(axis=0)
    assert (fibers @ axis).min() > 0.7 * np.linalg.norm(axis)
    assert muscle.tet_volumes(flat.nodes, flat.tets).min() > 0.0


def test_four_unknowns_of_the_flat_arm_move_and_the_fifth_does_not():
    world = muscle.flat().world(beta=0.5)
    assert world.parts[0].condensation._all_awake.unknowns == 3 and world.parts[1].tree.rates == 2
    assert world.parts[0].mass.sum() > world.parts[1].tree.inertia[:, 5, 5].sum()  # the muscle outweighs the bones
    angles, state = bent(world, 0.8)
    soft = world.split_state(state)[0]
    x = world.parts[0].coordinates.positions(soft.q, soft.time, soft.carrier_motion)
    middle = np.abs(world.parts[0].rest[:, 1]) < 1e-12
    assert np.abs(x[middle, 1]).max() < 1e-13 and np.abs(x - world.parts[0].rest).max() > 0.01
    assert angles[-1, 1] > 0.8


@pytest.mark.parametrize("arm, seconds, near", [
    pytest.param(muscle.flat, 1.6, 1e-4, marks=pytest.mark.long),
    pytest.param(muscle.solid, 3.0, 2e-3, marks=pytest.mark.long)])
def test_activation_bends_the_elbow_as_far_as_vanilla_does(arm, seconds, near):
    lazy, _ = bent(arm().world("conjac", beta=0.5, active=False), 1.0, 2.0 * H)
    ends = [bent(arm().world("vanilla", beta=1.0), seconds)[0], bent_by_conjac(arm, seconds)]
    elbow = arm().elbow
    assert ends[0][-1, elbow] > lazy[:, elbow].max() + 0.5
    assert np.abs(ends[0][-1] - ends[1][-1]).max() < near
    # and on the way they are not far apart
    assert np.abs(ends[0] - ends[1]).max() < 0.15


@pytest.mark.long
def test_flesh_that_is_all_quasistatic_bends_the_elbow_too():
    still, _ = bent(muscle.flat().world(beta=0.5, dynamic=False), 1.6)
    lively = bent_by_conjac(muscle.flat, 1.6)
    assert np.abs(still[-1] - lively[-1]).max() < 1e-4
