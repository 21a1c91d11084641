"""Steps of rigid and soft bodies in contact are as long as slopes along them say."""

import pytest
from test_rigid_and_soft import made, rigid_on_jelly

from solver.nonlinear.contact_bound import ContactBound


def test_slopes_along_a_step_are_those_of_its_linearisation(tmp_path, monkeypatch):
    """At an iteration's start, and a thousandth of its way on; with the true stiffness both are exact."""
    seen, step_along = [], ContactBound.step_along

    def watched(self, problem, at, direction):
        posed, change, slope_at = direction.posed, direction.change, problem.equations.slope_at
        start = slope_at(posed, at.q, at.u)
        near = slope_at(posed, at.q + 1e-3 * problem.seconds * change, at.u + 1e-3 * change)
        seen.append((posed.start_slope, start, posed.curvature, 1e3 * (near - start), direction.is_true))
        return step_along(self, problem, at, direction)

    monkeypatch.setattr(ContactBound, "step_along", watched)
    world = made(rigid_on_jelly(tmp_path / "job", step=1 / 48, integrator={"kind": "backward_euler"}, stage_solver={
        "kind": "newton_d", "params": {"tolerance": 1e-8}}, contact={
            "law": {"kind": "barrier", "params": {"friction_coefficient": 0.0}}}))
    state = world.initial_state()
    for _ in range(12):
        state = world.step(state, 1 / 48)
    largest = max(abs(values[0]) for values in seen)
    for expected, start, curvature, rises, is_true in seen:
        assert start == pytest.approx(expected, rel=1e-6, abs=1e-9 * largest)
        if is_true:
            assert rises == pytest.approx(curvature, rel=0.05, abs=1e-6 * largest)
    assert sum(values[4] for values in seen) > 5
