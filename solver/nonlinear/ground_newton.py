"""Newton's method for quasistatic positions in contact with the ground, on few factors, with early stopping."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ..errors import StepFailed
from ..linear.secant_pairs import SecantPairs
from ..state import Vec
from .contact_iterations import CLEARANCE_REMEDY
from .contact_newton import LAGGED, lowers_potential_of_rest, with_lagged_friction
from .descent import descend
from .descent_protocol import DescentDirections, Direction, Step
from .fallback_euler import CONDENSED, FallbackEuler, StageNotConverged
from .initial_guess import backtrack_to_step_start
from .limits import StopRule
from .problem import Evaluation, StageProblem
from .stop_rules import StrainStop

MAX_ITERATIONS = 40  #: number of iterations after which a stage is accepted or has not converged
PATIENCE = 15  #: largest number of iterations on one factor


class GroundImpactEuler(FallbackEuler):
    """Fallback step after an impact on the ground: accepted at its end where the energy has not increased."""

    strain_left = 0.03  #: relative to an edge's length: a smaller change is not visible

    def __init__(self) -> None:
        self.limits = StopRule(CONDENSED, MAX_ITERATIONS, 0.0, self.strain_left, accepts=True, patience=PATIENCE)


class GroundDirections(DescentDirections):
    """Directions of projected stiffness with secant pairs, on a factor that is reused until a direction is far too long
    or no full step is accepted."""

    largest_growth = 4.0  #: relative to the last step: a reused factor with a longer direction is replaced
    memory = 8  #: number of secant pairs of quasi-Newton directions

    def __init__(self) -> None:
        self._pairs = SecantPairs(self.memory)
        self._uses, self._factors_next, self._last = 0, True, 0.0

    def find(self, problem: StageProblem, at: Evaluation, last: Step | None) -> Direction:
        """Return the next direction. Raises StepFailed where projected stiffness cannot be factored."""
        if last is not None:
            self._follow(last)
        vector = at.residual
        if not self._factors_next and self._uses < PATIENCE:
            vector = self._pairs.direction(at.residual, partial(problem.factors.approximate_solve, problem))
            self._factors_next = problem.strain(vector) > self.largest_growth * self._last
        if self._factors_next or self._uses == PATIENCE:
            problem.factors.factor(problem, at.unknowns, False)
            self._pairs.clear(len(at.unknowns))
            vector, self._uses, self._factors_next = problem.factors.direction(problem, at.residual), 0, True
        self._uses += 1
        return Direction(vector)

    def retries(self, problem: StageProblem, at: Evaluation, failure: StepFailed) -> bool:
        """Return True, to try again with a new factor, after a search on a reused one has failed; False where there is
        no further decrease but the energy has not increased. Raises StageNotConverged otherwise."""
        if not self._factors_next:
            self._factors_next = True
            return True
        if lowers_potential_of_rest(problem, at):
            return False
        raise StageNotConverged(str(failure), failure.object, failure.remedy or CLEARANCE_REMEDY) from failure

    def _follow(self, step: Step) -> None:
        """Add a secant pair; the next factor is a new one where the step was cut."""
        self._pairs.add(step.change, step.after.residual - step.before.residual)
        self._factors_next, self._last = not step.is_full, step.moved if step.is_full else 0.0


def solve_on_ground(problem_at: Callable[[Vec], StageProblem], step_start: Vec, guess: Vec,
                    strain_left: float) -> tuple[StageProblem, Vec]:
    """Solve a stage in contact with the ground; return it with its final friction, and its unknowns (3 p,) [m/s].

    A factor of projected stiffness, with the ground contacts of its positions, is reused in L-BFGS iterations until a
    direction is far too long or no full step is accepted: few nodes make contact in between, and lagged friction
    converges along with the positions. A stage that does not converge is accepted where its energy has not increased,
    else raises StageNotConverged.

    problem_at: the stage with friction's normal forces at positions (n, 3) [m]. step_start: positions at the start of
    the step, (n, 3) [m]. guess: initial unknowns, (3 p,) [m/s]. strain_left: admissible relative change of an edge by
    further iterations.
    """
    problem = problem_at(step_start)
    at = backtrack_to_step_start(problem, problem.evaluate(guess), step_start)
    end = descend(problem, at, GroundDirections(), StrainStop(strain_left), MAX_ITERATIONS,
                  partial(with_lagged_friction, problem_at), LAGGED)
    if end.has_converged or lowers_potential_of_rest(end.problem, end.at):
        return end.problem, end.at.unknowns
    unsettled = end.problem.report_failure(f"contact with the ground did not converge in {MAX_ITERATIONS} iterations",
                                           end.at)
    raise StageNotConverged(str(unsettled), unsettled.object, unsettled.remedy or CLEARANCE_REMEDY)
