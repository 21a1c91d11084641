"""Mixed iterations of a reduced body converge as Newton's method does near a root, in stiff and in soft bodies."""

from dataclasses import replace

import numpy as np
import pytest
from bodies import box
from reduced import bar, substance

from solver.parts.modes import stepping
from solver.parts.modes.body import ReducedBody, Stepping
from solver.parts.modes.points import PAIRS
from solver.parts.modes.stepping import Iterating

STRETCHED = Stepping(gravity=(0.0, 0.0, 0.0), iterating=Iterating(iterations=40, tolerance=1e-12, guarded=False))


def form_of(stiffness, along):
    """δyᵀ K δy of a matrix in blocks of pairs of axes."""
    return sum((1.0 if i == k else 2.0) * along[:, i] @ stiffness[:, pair] @ along[:, k]
               for pair, (i, k) in enumerate(PAIRS))


def test_multipliers_resist_turning_as_the_lagrangian_curves():
    """By second differences of Σ w λᵀ z̄, of which all else in the Lagrangian is linear or constant."""
    body, _, _ = bar()
    points, rng = body.points, np.random.default_rng(3)
    y = 5e-4 * rng.normal(size=body.rest().y.shape) * np.sqrt(body.subspace.mass.sum())
    along = rng.normal(size=y.shape)
    none = body.rest().carrier_motion
    gradients, moved = points.gradients(y, none), points.gradients(along, none)
    points.restart()
    points.linearise(gradients, True)
    points.follow(points.gradients(0.1 * y, none))
    points.linearise(gradients, True, exact=True)
    curved = form_of(points.stiffness(), along)
    points._multipliers[:] = 0.0
    points.linearise(gradients, True, exact=True)
    curved -= form_of(points.stiffness(), along)
    points.follow(points.gradients(0.1 * y, none))
    step = 1e-5
    above, here, below = (points.measure_mixed(gradients + s * moved, 0.0) for s in (step, 0.0, -step))
    assert curved == pytest.approx((above - 2.0 * here + below) / step**2, rel=1e-3)


def bent(ratio):
    """A hinge between blocks of a given stiffness ratio, and its state at the release."""
    nodes, tets = box((12, 2, 2), (0.6, 0.1, 0.1))
    middle = nodes[tets].mean(axis=1)[:, 0]
    pins = [np.flatnonzero(nodes[:, 0] < 1e-9).astype(np.int32)]
    young = np.where(abs(middle - 0.3) < 0.06, 1e5, 1e5 * ratio)
    body = ReducedBody.build(tets, nodes, substance(young), pins, 8, 200, stepping=STRETCHED)
    far = int(body.rest_surface[:, 0].argmax())
    state = body.rest()
    for _ in range(10):
        state = body.step(state, 0.1, [body.grab(far, body.rest_surface[far] + [-0.1, 0.0, 0.4], 200.0)])
    return body, state


@pytest.mark.parametrize("ratio", [1.0, 1e3, 1e5])
def test_a_stage_converges_quadratically_however_stiff_parts_are(ratio):
    """A hinge between blocks, after its release."""
    body, state = bent(ratio)
    state = body.step(state, 1 / 15)
    decrements = np.array(body.last[0].decrements)
    assert len(decrements) <= 9, decrements
    assert decrements[-1] < 1e-3 * decrements[-2] < 1e-4 * decrements[-3], decrements


@pytest.mark.parametrize("ratio", [1.0, 1e5])
def test_steps_that_win_less_than_rounding_are_taken_whole(ratio, monkeypatch):
    """At the root, energies of stiff parts change by rounding only, which cannot judge a step."""
    body, state = bent(ratio)
    taken, search = [], stepping._search_mixed

    def noted(*arguments):
        taken.append(search(*arguments))
        return taken[-1]

    monkeypatch.setattr(stepping, "_search_mixed", noted)
    body.step(state, 1 / 15, stepping=replace(STRETCHED, iterating=replace(STRETCHED.iterating, tolerance=0.0)))
    assert len(taken) == 40 and set(taken[10:]) == {1.0}, taken


def test_a_crushed_body_recovers_in_a_few_iterations():
    body, nodes, _ = bar(m=6, points=100, pinned=False)
    body.stepping = STRETCHED
    state = body.fit_state(nodes * [0.5, 1.1, 1.0])
    body.step(state, 1 / 10)
    decrements = body.last[0].decrements
    assert len(decrements) <= 10 and decrements[-1] < 1e-8 * decrements[0]
