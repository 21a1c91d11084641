"""Newton's method for quasistatic positions in contact with the ground, on few factors, with early stopping."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import StepFailed
from ..linear.secant_pairs import SecantPairs
from ..state import Vec
from .contact_newton import CLEARANCE_REMEDY, LAGGED, lowers_potential_of_rest
from .fallback_euler import CONDENSED, FallbackEuler, StageNotConverged
from .initial_guess import backtrack_to_step_start
from .limits import StopRule, remaining
from .problem import StageProblem

MAX_ITERATIONS = 40  #: after these a stage is accepted, or not converged
PATIENCE = 15  #: iterations on one factor
ASTRAY = 4.0  #: relative to the last step: a reused factor with a longer direction is replaced
MEMORY = 8
STRAIN_LEFT = 0.03  #: relative to an edge's length: a smaller change is not visible


class GroundImpactEuler(FallbackEuler):
    """A linearised step after an impact on the ground: accepted at its end where the energy has not increased."""

    def __init__(self) -> None:
        self.limits = StopRule(CONDENSED, MAX_ITERATIONS, 0.0, STRAIN_LEFT, accepts=True, patience=PATIENCE)


def solve_on_ground(problem_at: Callable[[Vec], StageProblem], step_start: Vec, guess: Vec,
                    strain_left: float) -> tuple[StageProblem, Vec]:
    """Return the stage with its final friction, and its unknowns (3 p,) [m/s].

    A factor of projected stiffness, with the ground contacts of its positions, is reused in L-BFGS iterations until a
    direction is far too long or no full step is accepted: few nodes make contact in between, and lagged friction
    converges along with the positions. A stage that does not converge is accepted where its energy has not increased,
    else raises StageNotConverged. For the arguments see `solve_in_contact`.
    """
    problem = problem_at(step_start)
    at, last, served, renews = backtrack_to_step_start(problem, problem.evaluate(guess), step_start), 0.0, 0, True
    direction = guess
    pairs = SecantPairs(MEMORY)
    pairs.clear(len(guess))
    for count in range(MAX_ITERATIONS):
        if not renews and served < PATIENCE:
            direction = pairs.direction(at.residual, problem.approximate_solve)
            renews = problem.strain(direction) > ASTRAY * last
        if renews or served == PATIENCE:
            problem.factor(at.unknowns, False)
            pairs.clear(len(guess))
            direction, served, renews = problem.direction(at.residual), 0, True
        served += 1
        try:
            after, fraction = problem.search(at, direction)
        except StepFailed as failure:
            if not renews:
                renews = True
                continue
            if lowers_potential_of_rest(problem, at):
                return problem, at.unknowns
            raise StageNotConverged(str(failure), failure.object, failure.remedy or CLEARANCE_REMEDY) from failure
        step = after.unknowns - at.unknowns
        pairs.add(step, after.residual - at.residual)
        moved, at, renews = problem.strain(step), after, fraction < 1.0
        if fraction == 1.0 and remaining(moved, last) <= strain_left:
            return problem, at.unknowns
        last = moved if fraction == 1.0 else 0.0
        if fraction == 1.0 and count < LAGGED:
            before, problem = problem, problem_at(problem.positions(problem.velocities(at.unknowns)))
            at = at if problem is before else problem.evaluate(at.unknowns)
    if lowers_potential_of_rest(problem, at):
        return problem, at.unknowns
    unsettled = problem.failed(f"what lies on the ground did not settle in {MAX_ITERATIONS} iterations", at)
    raise StageNotConverged(str(unsettled), unsettled.object, unsettled.remedy or CLEARANCE_REMEDY)
