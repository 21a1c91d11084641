"""A flying body is not turned by forces that balance inside of it."""

import numpy as np
import pytest
from bodies import box, make, nearest, positions
from scipy.spatial.transform import Rotation

from solver.nonlinear.early_stopped_qn import EarlyStoppedQuasiNewton
from solver.parts.stage import Stage
from solver.state import State
from solver.world import condensed_stages
from solver.world.free_flight import angle_between


@pytest.mark.parametrize("angle", [1e-9, 1e-3, 0.4, 2.5])
def test_the_angle_between_postures_is_that_of_the_turn(angle):
    rng = np.random.default_rng(1)
    x, weight = rng.normal(size=(20, 3)), rng.uniform(0.5, 2.0, 20)
    axis = rng.normal(size=3)
    turn = Rotation.from_rotvec(angle * axis / np.linalg.norm(axis)).as_matrix()
    weight /= weight.sum()
    assert angle_between(x, x @ turn.T + [1.0, -2.0, 0.5], weight) == pytest.approx(angle, rel=1e-6)
    assert angle_between(x, 1.3 * x, weight) <= 1e-12


def test_a_stage_that_turns_what_flies_too_far_is_solved_so_that_it_does_not(monkeypatch):
    """Against where its velocities bring it: the balance alone turns this one by 0.9 degrees."""
    nodes, tets = box((4, 3, 3), (0.4, 0.3, 0.3))
    corners = [nearest(nodes, at) for at in [(0, 0, 0.3), (0.4, 0, 0.3), (0.4, 0.3, 0), (0, 0.3, 0)]]
    x = nodes * [0.9, 1.05, 1.05] + 0.002 * np.random.default_rng(1).normal(size=nodes.shape)
    turned = []
    for astray in (np.inf, 0.0):
        monkeypatch.setattr(condensed_stages, "LARGEST_ROTATION", astray)
        world = make(nodes, tets, young=3e4, dynamic=corners, integrator="backward_euler")
        world.stage_solver = EarlyStoppedQuasiNewton({"strain_left": 0.01, "tries": 60})
        still = np.zeros(x.size)
        after = world.solve_stage(Stage(1 / 60, 1.0, 1.0, 1 / 60, None, still), State(0.0, x.ravel(), still))
        ahead = x + world.velocity(after) / 60
        turned.append(angle_between(ahead, positions(world, after), world.mass / world.mass.sum()))
    assert turned[0] >= np.radians(0.5) and turned[1] <= 0.02 * turned[0]


@pytest.mark.parametrize("integrator", ["sdirk2", "backward_euler", "bdf2"])
@pytest.mark.parametrize("stage_solver", [EarlyStoppedQuasiNewton({"strain_left": 0.03, "tries": 32}), None])
def test_what_flies_keeps_its_angular_momentum_however_it_bends(integrator, stage_solver):
    """Balancing moves nodes without their velocities, and moved nodes have another angular momentum."""
    nodes, tets = box((4, 3, 3), (0.4, 0.3, 0.3))
    corners = [nearest(nodes, at) for at in [(0, 0, 0.3), (0.4, 0, 0.3), (0.4, 0.3, 0), (0, 0.15, 0)]]
    world = make(nodes, tets, young=3e4, dynamic=corners, integrator=integrator)
    if stage_solver is not None:
        world.stage_solver = stage_solver
    arms = nodes - world.mass @ nodes / world.mass.sum()
    v = np.cross([1.0, -2.0, 3.0], arms) + 4.0 * arms * [1.0, -1.0, 0.5] + [0.3, 0.0, 2.0]
    state = State(0.0, nodes.ravel(), v.ravel())
    first, moved = momenta(world, state), 0.0
    for k in range(1, 13):
        before, state = state, world.step(state, 1 / 48)
        along = (positions(world, state) - positions(world, before)) - world.velocity(state) / 48
        moved = max(moved, float(np.abs(along).max()))
        straight, turning = momenta(world, state)
        assert turning == pytest.approx(first[1], abs=1e-9 * np.linalg.norm(first[1]))
        wanted = first[0] - [0.0, 0.0, 9.81 * k / 48 * world.mass.sum()]
        assert straight == pytest.approx(wanted, abs=1e-6 * np.linalg.norm(first[0]))
    assert moved > 0.001  # the balance did move it


def test_what_the_ground_pushes_is_turned_by_it():
    """A block that comes down on an edge spins as it leaves the ground, and not before; in the air it spins on."""
    nodes, tets = box((4, 3, 3), (0.4, 0.3, 0.3))
    tilted = Rotation.from_euler("y", 0.3).apply(nodes)
    tilted[:, 2] += 0.1 - tilted[:, 2].min()
    corners = [nearest(nodes, at) for at in [(0, 0, 0), (0.4, 0, 0.3), (0.4, 0.3, 0), (0, 0.3, 0.3)]]
    world = make(tilted, tets, dynamic=corners, integrator="sdirk2", ground=(0.0, 3000.0))
    world.stage_solver = EarlyStoppedQuasiNewton({"strain_left": 0.03, "tries": 32})
    state, turning = world.initial_state(), []
    for _ in range(20):
        state = world.step(state, 1 / 48)
        turning.append((len(world.touching(state)), abs(momenta(world, state)[1][1])))
    touched = next(k for k, (count, _) in enumerate(turning) if count)
    assert all(spin < 1e-9 for _, spin in turning[:touched])
    assert max(spin for _, spin in turning[touched:]) > 0.1
    left = len(turning) - next(k for k, (count, _) in enumerate(reversed(turning)) if count)
    in_the_air = [spin for _, spin in turning[left:]]
    assert len(in_the_air) > 2 and in_the_air[0] > 0.1
    assert in_the_air == pytest.approx([in_the_air[0]] * len(in_the_air), rel=1e-9)


@pytest.mark.parametrize("integrator", ["sdirk2", "tr_bdf2"])
def test_what_bounces_within_a_step_is_turned_by_it(integrator):
    """An edge is in the ground in the first stage and above it again at the end: what the ground gave, at the edge."""
    nodes, tets = box((4, 3, 3), (0.4, 0.3, 0.3))
    tilted = Rotation.from_euler("y", 0.3).apply(nodes)
    tilted[:, 2] += 1e-4 - tilted[:, 2].min()
    corners = [nearest(nodes, at) for at in [(0, 0, 0), (0.4, 0, 0.3), (0.4, 0.3, 0), (0, 0.3, 0.3)]]
    world = make(tilted, tets, young=1e7, dynamic=corners, integrator=integrator, ground=(0.0, 1e6))
    world.stage_solver = EarlyStoppedQuasiNewton({"strain_left": 0.03, "tries": 32})
    before = State(0.0, tilted.ravel(), np.tile([0.0, 0.0, -2.0], len(tilted)))
    after = world.step(before, 1 / 48)
    assert not len(world.touching(before)) and not len(world.touching(after))
    (fell, still), (rises, turning), mass = momenta(world, before), momenta(world, after), world.mass.sum()
    given = rises - fell + [0.0, 0.0, 9.81 / 48 * mass]
    edge = tilted[np.abs(tilted[:, 2] - tilted[:, 2].min()) < 1e-9].mean(axis=0)
    wanted = np.cross(edge - world.mass @ tilted / mass, given)
    assert np.abs(still).max() < 1e-9 and given[2] > 0.4 * -fell[2]
    # the block bends about its dynamic corners meanwhile
    assert turning == pytest.approx(wanted, abs=0.3 * np.linalg.norm(wanted))


def test_what_flies_through_what_brakes_it_loses_spin():
    """Mass damping of c a second leaves e^−ct."""
    nodes, tets = box((4, 3, 3), (0.4, 0.3, 0.3))
    world = make(nodes, tets, dynamic=[nearest(nodes, at) for at in [(0, 0, 0.3), (0.4, 0.3, 0)]], integrator="sdirk2",
                 damping=("rayleigh", 0.0, 2.0), young=1e6)
    arms = nodes - world.mass @ nodes / world.mass.sum()
    state = State(0.0, nodes.ravel(), np.cross([0.0, 0.0, 1.0], arms).ravel())
    first = momenta(world, state)[1][2]
    for _ in range(12):
        state = world.step(state, 1 / 48)
    assert momenta(world, state)[1][2] == pytest.approx(np.exp(-0.5) * first, rel=0.02)


def momenta(world, state):
    """Its momentum [kg m/s] and its angular momentum about its centre [kg m²/s]."""
    x, v = positions(world, state), world.velocity(state)
    arms = x - world.mass @ x / world.mass.sum()
    return world.mass @ v, np.cross(arms, world.mass[:, None] * v).sum(axis=0)
