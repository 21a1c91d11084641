"""Limits of balls: rows on the parts of the rotation vector, hard as those of hinges."""

import numpy as np
import pytest
from matrix import some
from mechanisms import mechanism_world, run
from trees import random_state, random_tree

from solver.constraints.limits import BallLimits
from solver.parts.stage import Stage

HEAD = {"name": "Head", "shape": {"kind": "box", "params": {"size_x": 0.3, "size_y": 0.2, "size_z": 0.1}}}


def ball(folder, *, low, high, integrator="semi_implicit", gravity=(0.0, 0.0, 0.0), **joint):
    """A block on a ball half a metre beside its centre."""
    neck = {"name": "Neck", "kind": "spherical", "child": "Head", "position": [0.5, 0, 0], "low": low, "high": high,
            **joint}
    return mechanism_world(folder, [HEAD], [neck], gravity=list(gravity), integrator=integrator)


def test_a_row_is_the_slope_of_its_part_of_the_rotation_vector():
    """On any chart, of balls on balls and of bodies in the air, by finite differences."""
    rng = np.random.default_rng(3)
    tree = random_tree(rng, ["spherical", "free", "spherical", "revolute", "spherical"], parents=[None, 0, 1, 1, 3])
    q, u, centres = random_state(rng, tree)
    limits = BallLimits.of(tree, np.full(tree.rates, -4.0), np.full(tree.rates, 4.0))
    assert sorted(limits.rate) == [0, 3, 9, 13]
    at = tree.posture(q, u, centres)
    rows = limits.rows(q, u, q, 1e3, centres, at.X)  # so far ahead that all are near
    assert len(rows) == 24
    N = rows.jacobian(tree.parent, tree.dof, at.X, at.S)
    steps = 1e-6 * np.eye(tree.rates)
    slope = np.array([tree.absolute(q + e, centres) - tree.absolute(q - e, centres) for e in steps]).T / 2e-6
    part = (limits.rate[:, None] + np.arange(3)).ravel()
    assert N[:12] == pytest.approx(slope[part], abs=1e-8) and N[12:] == pytest.approx(-slope[part], abs=1e-8)
    # nothing is pushed that the joint does not turn
    other = np.setdiff1d(np.arange(tree.rates), part)
    assert np.abs(N[:, other]).max() < 1e-14


@pytest.mark.parametrize(("integrator", "beyond"), some([("semi_implicit", 2e-3), ("leapfrog", 2e-3),
                                                         ("backward_euler", 1e-6), ("bdf2", 1e-2), ("sdirk2", 1e-2)],
                                                        ("semi_implicit", 2e-3), ("leapfrog", 2e-3)))
def test_a_ball_stops_where_a_part_of_its_rotation_ends(tmp_path, integrator, beyond):
    """Thrown about a skew axis, it stops at once at the first limit, slides along it to the next, and stays inside.

    Stages of the methods of order 2 start with a part of the way that was gone before: half a step's at most.
    """
    world = ball(tmp_path, low=[-0.5, -0.3, -0.4], high=[0.5, 0.6, 0.4], rate=[0.5, 1.0, 2.0], integrator=integrator)
    state, places = world.initial_state(), []
    for _ in range(200):
        state = world.step(state, 1 / 100)
        places.append(world.tree.absolute(state.q, state.memory))
    places = np.array(places)
    high, low = np.array([0.5, 0.6, 0.4]), np.array([-0.5, -0.3, -0.4])
    assert (places < high + beyond).all() and (places > low - beyond).all()
    assert np.abs(places - high).min(axis=0)[2] < 2e-3
    assert world.energy(state) < 0.5 * world.energy(world.initial_state())


def test_a_ball_hangs_in_its_limit(tmp_path):
    """Gravity turns it down until the limit carries it; there it rests, and its joint carries the weight."""
    world = ball(tmp_path, low=[-0.2] * 3, high=[0.2] * 3, gravity=(0.0, 0.0, -9.81), damping=[0.05] * 3)
    state = run(world, 1 / 100, 300)
    place = world.tree.absolute(state.q, state.memory)
    assert np.abs(place).max() == pytest.approx(0.2, abs=1e-4) and np.abs(state.u).max() < 1e-6
    posed = world.pose(state, Stage(0.01, 1.0, 1.0, state.time + 0.01, None, state.u)).solve()
    u = posed.rates
    at = world.tree.posture(state.q, state.u, state.memory)
    # what the limit does is no load of the bearing: it does no work on the rates
    damped = posed.owner.on_rates.force - 0.01 * 0.05 * u
    assert world.tree.gather(at, posed.reaction(u)) == pytest.approx(damped, abs=1e-9)
    weight = at.E[0, :3, :3] @ posed.reaction(u)[0, 3:]
    assert weight == pytest.approx([0, 0, 0.01 * 9.81 * world.tree.inertia[0, 5, 5]], rel=1e-6, abs=1e-9)


def test_a_ball_outside_its_limits_is_pulled_in_softly(tmp_path):
    world = ball(tmp_path, low=[-0.5] * 3, high=[0.5] * 3, start=[0.0, 1.3, 0.0])
    assert world.notes == ['"Robot": joint "Neck" starts outside its limits and is pulled in softly']
    state, fastest = world.initial_state(), 0.0
    for _ in range(140):
        state = world.step(state, 1 / 100)
        fastest = max(fastest, np.linalg.norm(world.tree.posture(state.q, state.u, state.memory).twist[0, :3]))
    assert fastest == pytest.approx(1.0, abs=1e-6)
    assert world.tree.absolute(state.q, state.memory)[1] < 0.51


def test_a_ball_that_is_shut_does_not_turn(tmp_path):
    world = ball(tmp_path, low=[0.0] * 3, high=[0.0] * 3, gravity=(1.0, 2.0, -9.81))
    state = run(world, 1 / 100, 100)
    assert np.abs(world.tree.absolute(state.q, state.memory)).max() < 1e-6
