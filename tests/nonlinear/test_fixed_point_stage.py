"""ConJac's stages by passes on a kept factor: the same roots as with a factor in each iteration."""

import numpy as np
import pytest
from bodies import box, make, nearest, positions, run
from matrix import crossed

from benchmarks.scenes import plucked
from solver.nonlinear import fixed_point_stage
from solver.nonlinear.anderson import Anderson
from solver.nonlinear.fixed_point_stage import FixedPointStage
from solver.simulate import advance

BAR = box((6, 2, 2), (0.12, 0.04, 0.04))


class Nowhere(FixedPointStage):
    """Passes that never converge."""

    def solve_stage(self, *_):
        return None


def swing(reused, integrator, steps=8, **more):
    nodes, tets = BAR
    choice = {"pinned": np.flatnonzero(nodes[:, 0] < 1e-9), "young": 2e3, "tolerance": 1e-10,
              "dynamic": [nearest(nodes, (0.12, 0.02, 0.02)), nearest(nodes, (0.06, 0.04, 0.04))], **more}
    world = make(nodes, tets, integrator=integrator, **choice)
    if not reused:
        world.stage_method.fixed_point = Nowhere()
    return world, run(world, steps, 1 / 60)


MORE = {"held": {}, "damped": {"damping": ("rayleigh", 0.01, 1.0)}, "flying": {"pinned": np.zeros(0, np.int32)},
        "flying on one node": {"pinned": np.zeros(0, np.int32), "dynamic": [0], "damping": ("rayleigh", 0.01, 1.0)},
        "touching": {"ground": (-0.002, 1e2), "young": 3e4}}


@pytest.mark.parametrize("integrator, name", crossed(["backward_euler", "bdf2", "sdirk2"], MORE))
def test_the_root_is_that_of_full_iterations(integrator, name):
    more = MORE[name]
    (world, ours), (other, reference) = (swing(reused, integrator, **more) for reused in (True, False))
    assert np.abs(ours.q - reference.q).max() <= 1e-9
    assert np.abs(ours.u - reference.u).max() <= 1e-7
    if "ground" in more:
        # the bar is so soft that it falls onto the ground within the first step, where passes lead nowhere
        assert len(world.touching(ours))
        assert world.linear.factored < other.linear.factored
    else:
        assert world.linear.factored <= 0.6 * other.linear.factored


def test_prescribed_motion_reaches_the_same_root():
    from solver.coordinates.prescribed import Motion

    nodes, _ = BAR
    pinned = np.flatnonzero(nodes[:, 0] < 1e-9)
    swinging = 0.02 * np.sin(2 * np.pi * 2.0 * np.arange(60) / 60)[:, None, None] * [0.2, 1.0, 0.4]
    motion = Motion(nodes[pinned] + swinging, 1 / 60)
    ends = [swing(reused, "sdirk2", motion=motion)[1] for reused in (True, False)]
    assert np.abs(ends[0].q - ends[1].q).max() <= 1e-9
    assert np.abs(ends[0].u - ends[1].u).max() <= 1e-7


def test_a_factor_turns_with_the_body():
    """Its held end turns by 115 degrees within half a second, and hardly anything stretches."""
    from solver.coordinates.prescribed import Motion

    nodes, _ = BAR
    pinned, angle = np.flatnonzero(nodes[:, 0] < 1e-9), np.linspace(0.0, 2.0, 31)
    turn = np.zeros((31, 3, 3))
    turn[:, 2, 2] = 1.0
    turn[:, 0, 0] = turn[:, 1, 1] = np.cos(angle)
    turn[:, 1, 0], turn[:, 0, 1] = np.sin(angle), -np.sin(angle)
    motion = Motion(np.einsum("tab,pb->tpa", turn, nodes[pinned]), 1 / 60)
    world, _ = swing(True, "backward_euler", 30, motion=motion, young=2e6)
    assert world.linear.factored <= 6


def test_where_passes_lead_nowhere_every_iteration_factors(monkeypatch):
    monkeypatch.setattr(fixed_point_stage.FixedPointStage, "max_sweeps", 1)
    (world, ours), (other, reference) = (swing(reused, "backward_euler", 4) for reused in (True, False))
    assert np.array_equal(ours.q, reference.q) and np.array_equal(ours.u, reference.u)
    assert world.linear.factored > other.linear.factored


def test_what_is_forgotten_does_not_change_a_root():
    """As at a snapshot: a run that forgets half-way ends where one does that does not."""
    world, middle = swing(True, "sdirk2", 4)
    ends = []
    for forgets in (True, False):
        if forgets:
            world.forget_past()
        ends.append(run(world, 4, 1 / 60, middle))
    assert np.abs(ends[0].q - ends[1].q).max() <= 1e-9


def test_combined_changes_solve_a_linear_problem_in_as_many_passes_as_it_has_unknowns():
    rng = np.random.default_rng(3)
    slope = 0.9 * rng.normal(size=(6, 6)) / np.sqrt(6)
    goal = rng.normal(size=6)
    anderson, z, plain = Anderson(6), np.zeros(6), np.zeros(6)
    for _ in range(8):
        z = anderson.next(z, goal + slope @ z - z, 6)
        plain = goal + slope @ plain
    root = np.linalg.solve(np.eye(6) - slope, goal)
    assert np.abs(z - root).max() <= 1e-9 * np.abs(root).max() < np.abs(plain - root).max()


def test_stages_that_end_quickly_keep_what_solved_ones_keep():
    """TWIST's bar plucked hard, whose first passes would change edges by more than their length."""
    scene, h = plucked.scene(), 1 / 48
    solvers = {"solved": {"kind": "newton_d", "params": {"tolerance": 1e-6}}, "quick": {"kind": "quick"}}
    left = {}
    for name, solver in solvers.items():
        world = scene.world("conjac", 8, integrator="sdirk2", stage_solver=solver)
        state = scene.start(world)
        for _ in range(5):
            state = advance(world, state, h, 1)
        x, v = positions(world, state), world.velocity(state)
        left[name] = world.evaluate(x, state.time)[1] + 0.5 * float(np.vdot(world.mass[:, None] * v, v))
        assert not world.summary  # no step was linearised
    assert abs(left["quick"] - left["solved"]) <= 0.05 * left["solved"]
