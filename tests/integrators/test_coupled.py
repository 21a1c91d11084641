"""Implicit methods with ConJac's velocity map: dynamics and balance solved together to a tolerance."""

from dataclasses import replace

import numpy as np
import pytest
from bodies import box, make, nearest, positions
from matrix import crossed, some

from solver.errors import StepFailed
from solver.meshing.volume import tet_volumes
from solver.state import State

BAR = box((6, 2, 2), (0.12, 0.04, 0.04))
COUPLED = ["backward_euler", "bdf2", "sdirk2"]


def bar(integrator, **more):
    nodes, tets = BAR
    choice = {"pinned": np.flatnonzero(nodes[:, 0] < 1e-9), "young": 2e3, "tolerance": 1e-9,
              "dynamic": [nearest(nodes, (0.12, 0.02, 0.02)), nearest(nodes, (0.06, 0.04, 0.04))], **more}
    return make(nodes, tets, integrator=integrator, **choice)


def swung(integrator, steps, seconds=0.1, **more):
    world = bar(integrator, **more)
    state = world.initial_state()
    for i in range(steps):
        state = world.step(replace(state, time=i * seconds / steps), seconds / steps)
    return world, state


@pytest.fixture(scope="module")
def exact(once):
    return once("coupled-swing", lambda: swung("sdirk2", 160)[1].q)


@pytest.mark.parametrize("integrator,order",
                         some([("backward_euler", 1), ("bdf2", 2), ("sdirk2", 2)], ("backward_euler", 1), ("bdf2", 2)))
def test_the_order_is_that_of_the_method(exact, integrator, order):
    """A bar that falls into a deep swing; the resting shape in between is found anew in every step."""
    errors = [np.abs(swung(integrator, steps)[1].q - exact).max() for steps in (20, 40)]
    print(integrator, errors, np.log2(errors[0] / errors[1]))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.25)


@pytest.mark.parametrize("integrator", COUPLED)
def test_quasistatic_nodes_balance_at_the_end_of_a_step(integrator):
    world, state = swung(integrator, 4, 0.2)
    x = positions(world, state)
    force, _ = world.evaluate(x, state.time)
    weight = 9.81 * world.mass.max()
    assert np.abs(force[world.condensation.inner]).max() <= 1e-5 * weight
    assert np.abs(force[world.condensation.retained]).max() > 1e-2 * weight


def test_a_step_is_the_root_of_the_reduced_equations():
    """Jᵀ (M (v − v⁰) − h f) = 0 with J of the end, by finite differences of the quasistatic answer."""
    world = bar("backward_euler")
    before = swung("backward_euler", 3, 0.2)[1]
    h = 1 / 60
    after = world.step(before, h)
    x, v, v0 = positions(world, after), world.velocity(after), world.velocity(before)
    force, _ = world.evaluate(x, after.time)
    left = world.mass[:, None] * (v - v0) - h * force
    lin = world.linearise_at(x, v, after.time, project=False)
    posed = world.condensation.pose(lin, replace(_stage(world, after, h), v_hat=v0))
    order = world.condensation.pattern.order
    reduced = posed.onto_basis(left[order].ravel())
    scale = posed.onto_basis((world.mass[:, None] * 9.81 * h * np.ones(3))[order].ravel())
    assert np.abs(reduced).max() <= 1e-5 * np.abs(scale).max()


def _stage(world, state, h):
    from solver.parts.stage import NodeStage

    return NodeStage(h, 1.0, 1.0, state.time, None, np.zeros_like(world.rest), None)


@pytest.mark.parametrize("integrator, count", crossed(COUPLED, [0, 1, 2, 4]))
def test_a_spinning_body_falls_keeps_its_size_and_its_momentum(integrator, count):
    nodes, tets = BAR
    spots = [(0.0, 0.0, 0.0), (0.12, 0.04, 0.0), (0.06, 0.04, 0.04), (0.12, 0.0, 0.04)][:count]
    world = make(nodes, tets, young=1e5, dynamic=[nearest(nodes, p) for p in spots], integrator=integrator,
                 tolerance=1e-8)
    centre = np.average(nodes, axis=0, weights=world.mass)
    state = State(0.0, nodes.ravel().copy(), np.cross([0.0, 0.0, 6.0], nodes - centre).ravel())
    for i in range(12):
        state = world.step(replace(state, time=i / 48), 1 / 48)
    x = positions(world, state)
    momentum = (world.mass[:, None] * state.u.reshape(-1, 3)).sum(axis=0)
    assert np.abs(momentum - world.mass.sum() * np.array([0, 0, -9.81 * 12 / 48])).max() <= 1e-7 * world.mass.sum()
    assert tet_volumes(x, tets).sum() == pytest.approx(tet_volumes(nodes, tets).sum(), rel=5e-3)


def test_a_stage_that_does_not_settle_is_a_failed_step():
    world = bar("backward_euler")
    world.stage_solver.limits = replace(world.stage_solver.limits, iterations=2)
    with pytest.raises(StepFailed, match="did not converge in 2 iterations; positions still change by"):
        world.step(world.initial_state(), 1 / 24)
