"""Diagonally implicit Runge-Kutta methods: a table of weights, one row a stage."""

from __future__ import annotations

from collections.abc import Sequence

from ..parts.stage import Stage
from ..state import State, Vec
from .control import beside_trapezoid
from .interface import Integrator, P, System


class RungeKutta(Integrator):
    """Diagonally implicit Runge-Kutta method: q_i = q⁰ + h Σ_j a_ij v_j, v_i = v⁰ + h Σ_j a_ij M⁻¹ f_j, j ≤ i; the last
    stage is the step.

    The linearised variant takes one Newton iteration from the last stage, whose matrix it reuses where the next stage
    has the same diagonal.
    """

    order = 2
    table: Sequence[Sequence[float]] = ()  #: row i has i + 1 weights
    #: where each stage evaluates explicit forces: 0 the step's start, 1 the last stage's end; empty: all at the start
    foresight: Sequence[float] = ()
    linearised = False
    #: C / (C + 1/12), C the first term of e^z − R(z) over z³: a step's error relative to that of the trapezoidal rule
    error_ratio = 1.0

    def step(self, system: System[P], state: State, h: float) -> State:
        """Return the state after a step of h seconds. Raises StepFailed; `state` stays as it is."""
        after = state
        rates: list[Vec] = []
        accelerations: list[Vec] = []
        posed: P | None = None
        factored_weight = 0.0
        for i, row in enumerate(self.table):
            if row[-1] == 0.0:
                rates.append(state.u)
                accelerations.append(system.acceleration(state))
                continue
            base = state.q + h * _blend(row, rates, state.u)
            predicted = _extrapolate(state, after, self.foresight[i] if self.foresight else 0.0)
            stage = Stage(h, row[-1], row[-1], state.time + h * sum(row), base,
                          state.u + h * _blend(row, accelerations, state.u), predicted=predicted,
                          momentum=self.momentum)
            after_impact = system.impact(stage, after) if self.linearised else None
            if after_impact is not None:
                after, posed = after_impact, None
            elif self.linearised:
                # one factor has one damping, which keeps the order in the middle of the stages that it serves
                middle = state.time + 0.5 * h if self._has_one_factor else stage.time
                posed = _pose_stage(system, posed if row[-1] == factored_weight else None, after, stage, middle)
                after = system.finish_linear_stage(posed, stage, after, is_last=row is self.table[-1])
            else:
                after = system.solve_stage(stage, after)
            rates.append(after.u)
            accelerations.append((after.u - stage.u_hat) / (row[-1] * h))
            factored_weight = row[-1]
        return after

    @property
    def _has_one_factor(self) -> bool:
        return len({row[-1] for row in self.table if row[-1] != 0.0}) == 1

    def error(self, before: State, after: State, h: float) -> Vec:
        """Return the estimated error of a step of h seconds in positions, by comparison with the trapezoidal rule on
        its velocities, (3 f,) [m]."""
        return self.error_ratio * beside_trapezoid(before, after, h)


def _pose_stage(system: System[P], last: P | None, at: State, stage: Stage, time: float) -> P:
    """Return a stage with the factor of the last one, or linearised again at `at`, with the damping of `time`."""
    return system.pose(at, stage, time) if last is None else last.again(stage)


def _extrapolate(start: State, last: State, fraction: float) -> tuple[Vec, Vec]:
    """Return coordinates and rates on the line from one state to another."""
    if fraction == 0.0:
        return start.q, start.u
    return start.q + fraction * (last.q - start.q), start.u + fraction * (last.u - start.u)


def _blend(row: Sequence[float], values: Sequence[Vec], like: Vec) -> Vec:
    """Return Σ_j row_j values_j of the stages so far, of one shape with `like`."""
    total: Vec = 0.0 * like
    for weight, value in zip(row, values):
        total = total + weight * value
    return total
