"""A posed step that impulses act on besides: the same as one whose force has them, and `compliance` as `respond`."""

from dataclasses import replace

import numpy as np
import pytest
from bodies import box, make, nearest
from test_step import left_end, shaken, stage_of

H = 1 / 60


@pytest.mark.parametrize("support", ["pinned", "free"])
@pytest.mark.parametrize("method", ["vanilla", "conjac"])
def test_impulses_besides_are_forces_over_the_step(method, support):
    nodes, tets = box((5, 2, 2), (0.1, 0.04, 0.04))
    dynamic = [nearest(nodes, (0.1, 0, 0))] if method == "conjac" else []
    world = make(nodes, tets, method=method, dynamic=dynamic, pinned=left_end(nodes) if support == "pinned" else [],
                 corrections=2)
    state = shaken(world)
    impulses = np.zeros_like(nodes)
    impulses[[1, 7, nearest(nodes, (0.1, 0, 0)), 20]] = 0.01 * np.random.default_rng(1).normal(size=(4, 3))
    lin = world.linearise(state)
    stage = stage_of(world, lin, 0.0, H)
    besides = world.condensation.pose(lin, stage).under(impulses)
    u = besides.solve()
    answers = u, besides.correction(u), besides.relax(state.q + H * u, u, world.evaluate)

    pushed = replace(lin, force=lin.force + impulses / H)
    inside = world.condensation.pose(pushed, stage)

    def evaluate(x, time):
        force, energy = world.evaluate(x, time)
        return force + impulses / H, energy - float(np.vdot(impulses / H, x))

    u = inside.solve()
    wanted = u, inside.correction(u), inside.relax(state.q + H * u, u, evaluate)
    for value, reference in zip(answers, wanted):
        assert np.abs(value - reference).max() <= 1e-8 * np.abs(reference).max() + 1e-15
    assert (np.abs(answers[1]).max() > 0) == (method == "conjac")
    without = world.condensation.pose(lin, stage).solve()
    assert np.abs(without - u).max() > 1e-3 * np.abs(u).max()


@pytest.mark.parametrize("method", ["vanilla", "conjac"])
def test_compliance_is_what_respond_says_at_a_few_nodes(method):
    nodes, tets = box((5, 2, 2), (0.1, 0.04, 0.04))
    corner = nearest(nodes, (0.1, 0, 0))
    world = make(nodes, tets, method=method, dynamic=[corner] if method == "conjac" else [], pinned=left_end(nodes))
    lin = world.linearise(shaken(world))
    posed = world.condensation.pose(lin, stage_of(world, lin, 0.0, H))
    few = np.array([corner, 30, 12, nearest(nodes, (0.06, 0.04, 0.0))])
    impulses = np.random.default_rng(2).normal(size=(4, 3))
    everywhere = np.zeros_like(nodes)
    everywhere[few] = impulses
    free = world.coordinates.free
    whole = world.coordinates.spread(posed.respond(everywhere[free].reshape(-1, 1))[:, 0], None)
    ours = posed.compliance(few)(impulses)
    assert np.abs(ours - whole[few]).max() <= 1e-10 * np.abs(whole).max()
    assert np.vdot(impulses, ours) > 0.0
