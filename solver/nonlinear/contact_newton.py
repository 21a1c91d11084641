"""Newton's method for surfaces in contact, with early stopping."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import StepFailed
from ..state import Vec
from .fallback_euler import StageNotConverged
from .initial_guess import contact_start
from .limits import remaining
from .problem import Evaluation, StageProblem

#: factors before the stage has not converged; the iterations that find an impact's pairs count as well
MAX_FACTORIZATIONS = 30
ITERATIONS_PER_FACTOR = 4  #: times that: limit of iterations
CLEARANCE_REMEDY = "Give what touches there more room, move it more slowly, or use shorter steps"
#: ratio by which the remaining energy must be smaller where the factor is a reused one
REUSED_FACTOR_MARGIN = 1.0e3
LAGGED = 12  #: iterations after which the normal forces of friction are constant
LOAD_UPDATES = 3  #: iterations on the last factor in which a converged stage updates friction's normal forces
SLOW = 0.5  #: ratio of successive steps beyond which another factor of projected stiffness would converge as slowly
REUSE_LIMIT = 8  #: most iterations on one factor where convergence is slow
ASTRAY = 2.0  #: relative to the last step: a reused factor with a longer direction is replaced
#: relative change of an edge in an iteration: from there on a few nodes come to rest long after the others
VIOLENT = 0.35
USUAL = 0.1  #: root mean square strain of each body relative to the tolerance of the largest


def solve_in_contact(problem_at: Callable[[Vec], StageProblem], step_start: Vec, guess: Vec,
                     strain_left: float, accepts: bool = False, by_strain: bool = False) -> tuple[StageProblem, Vec]:
    """Return the stage with its final friction, and its unknowns (3 p,) [m/s]. Raises StageNotConverged.

    Each iteration factors projected stiffness: the last factor lacks the new contact pairs. Where cloth buckles,
    projected stiffness is far too stiff and each step short; a new factor is then no better than the last, which is
    reused. In an impact a few nodes slide from face to face for many iterations at hardly any remaining energy: there
    the root mean square strain of each body decides. Friction follows the normal forces of each full step, at first
    those of `step_start`; a step that was cut short would take those of surfaces that have just met.

    problem_at: the stage with friction's normal forces at positions (n, 3) [m]. step_start: positions at the start of
    the step, (n, 3). strain_left: admissible relative change of an edge by further iterations. accepts: whether a stage
    that has not converged is accepted, since each iteration lowers the incremental potential. by_strain: whether strain
    alone decides convergence, for quasistatic positions, whose directions are not exact.
    """
    problem = problem_at(step_start)
    at, last, factors, served = contact_start(problem, step_start, guess), 0.0, 0, 0
    is_slow = is_fresh = is_violent = False
    direction = np.zeros_like(guess)
    for count in range(ITERATIONS_PER_FACTOR * MAX_FACTORIZATIONS):
        try:
            reused = None
            if not by_strain and last > 0.0 and is_slow and served < REUSE_LIMIT:
                reused = _reused_direction(problem, at, last)
            is_fresh = reused is None
            if reused is None:
                if factors == MAX_FACTORIZATIONS:
                    break
                problem.factor_for_directions(at.unknowns)
                factors, served = factors + 1, 0
            direction = problem.direction(at.residual) if reused is None else reused
            served += 1
            after, fraction = problem.search(at, direction)
        except StepFailed as failure:
            if not is_fresh:
                last = 0.0
                continue
            if accepts and count:
                break
            raise StageNotConverged(str(failure), failure.object, failure.remedy or CLEARANCE_REMEDY) from failure
        step = after.unknowns - at.unknowns
        moved = problem.strain(step)
        at, is_slow, is_violent = after, moved > SLOW * last > 0.0, is_violent or moved > VIOLENT
        # quasistatic nodes may still slide a little in each iteration without any energy left
        remaining_strain = remaining(moved, last)
        if not is_fresh and fraction == 1.0 and not is_slow:
            # the remaining energy does not converge quadratically on a reused factor: it has to be far smaller
            direction = REUSED_FACTOR_MARGIN * problem.direction(at.residual)
            remaining_strain = problem.strain(direction) / REUSED_FACTOR_MARGIN
        # slow convergence on a reused factor says little about the remaining distance
        rest = remaining_strain if by_strain else min(moved,
                                                      remaining_strain) if is_fresh or not is_slow else max(moved,
                                                                                                            remaining_strain)
        if fraction == 1.0 and rest <= strain_left:
            if is_slow and not is_fresh:
                # a small step may be due to the factor: the next iteration factors again, or has a far smaller residual
                served = REUSE_LIMIT
            elif accepts or problem.has_converged_energy(at, direction):
                return (problem, at.unknowns) if by_strain else _with_final_loads(problem_at, problem, at)
        elif fraction == 1.0 and is_violent and is_fresh and not by_strain and problem.has_converged_energy(at,
                                                                                                            direction) \
                and problem.usual_strain_of_bodies(step) <= USUAL * strain_left:
            return _with_final_loads(problem_at, problem, at)
        last = moved if fraction == 1.0 else 0.0
        if fraction == 1.0 and count < LAGGED:
            before, problem = problem, problem_at(problem.positions_at(at.unknowns))
            at = at if problem is before else problem.evaluate(at.unknowns)
    if accepts or last > 0.0 and problem.has_converged_energy(at, direction) and lowers_potential_of_rest(problem, at):
        return problem, at.unknowns
    unsettled = problem.failed(f"surfaces did not settle in {MAX_FACTORIZATIONS} iterations", at)
    raise StageNotConverged(str(unsettled), unsettled.object, unsettled.remedy or CLEARANCE_REMEDY)


def _with_final_loads(problem_at: Callable[[Vec], StageProblem], problem: StageProblem,
                      at: Evaluation) -> tuple[StageProblem, Vec]:
    """Return a converged stage with friction of its final normal forces, by iterations on the last factor.

    The normal force of one stage and the sliding of the next do not belong together where a body hops.
    """
    for _ in range(LOAD_UPDATES):
        before, problem = problem, problem_at(problem.positions_at(at.unknowns))
        if problem is before:
            break
        at = problem.evaluate(at.unknowns)
        try:
            at, _ = problem.search(at, problem.direction(at.residual))
        except StepFailed:
            break  # no further decrease
    return problem, at.unknowns


def _reused_direction(problem: StageProblem, at: Evaluation, last: float) -> Vec | None:
    """Return the last factor's direction, (3 p,) [m/s], if its strain is about that of the last step; else None."""
    direction = problem.direction(at.residual)
    return direction if problem.strain(direction) <= ASTRAY * last else None


def lowers_potential_of_rest(problem: StageProblem, at: Evaluation) -> bool:
    """Whether the potential is below that of zero velocities, by which a step of Euler gains no energy: a linearised
    step instead would be farther from the root."""
    at_rest = problem.evaluate(np.zeros_like(at.unknowns))
    return problem.stage.a == problem.stage.b == 1.0 and at.merit is not None and at_rest.merit is not None \
        and at.merit <= at_rest.merit
