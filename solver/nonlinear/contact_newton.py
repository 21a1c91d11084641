"""Newton's method for surfaces in contact, with early stopping."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ..errors import StepFailed
from ..linear.secant_pairs import SecantPairs
from ..state import Vec
from .descent import DescentDirections, Direction, Exhausted, Step, Stop, descend
from .fallback_euler import StageNotConverged
from .initial_guess import contact_start
from .limits import remaining
from .problem import Evaluation, StageProblem

#: factors before the stage has not converged; the iterations that find an impact's pairs count as well
MAX_FACTORIZATIONS = 30
ITERATIONS_PER_FACTOR = 4  #: times that: limit of iterations
CLEARANCE_REMEDY = "Give what touches there more room, move it more slowly, or use shorter steps"
LAGGED = 12  #: iterations after which the normal forces of friction are constant
LOAD_UPDATES = 3  #: iterations on the last factor in which a converged stage updates friction's normal forces
MOST_UPDATES = 32  #: and at most, until what is left is small beside what friction does
UPDATES_PER_FACTOR = 8  #: of these on one factor
#: energy left by these, relative to what friction at Coulomb's limit would give each body from rest
FRICTION_ENERGY_LEFT = 0.001
CHANGE_ENERGY_LEFT = 0.002  #: and to that of the stage's change of velocities, which is far larger in an impact
ASTRAY = 2.0  #: relative to the last step: a reused factor with a longer direction is replaced


class ContactIterations(DescentDirections, Stop):
    """Directions and stop rule of a stage in contact: the rule depends on how far the factor can be trusted."""

    #: ratio by which the remaining energy must be smaller where the factor is a reused one
    reused_factor_margin = 1.0e3
    slow = 0.5  #: ratio of successive steps beyond which another factor of projected stiffness would converge as slowly
    reuse_limit = 8  #: most iterations on one factor where convergence is slow
    #: root mean square relative change of a body's edges, which nobody sees: a few nodes come to rest long after the
    #: others
    usual = 0.003
    #: relative to a negligible decrease of energy along the last direction: up to it the next one is solved for
    worth_a_solve = 8.0

    def __init__(self, strain_left: float, accepts: bool, by_strain: bool) -> None:
        """For the arguments see `solve_in_contact`."""
        self._strain_left, self._accepts, self._by_strain = strain_left, accepts, by_strain
        self._factors = self._served = self._count = 0  #: factors; iterations on the last one, and in all
        self.last = 0.0  #: strain of the last full step
        self._is_slow = self._is_fresh = False
        self.vector: Vec = np.zeros(0)  #: the last direction

    def find(self, problem: StageProblem, at: Evaluation) -> Direction:
        """Return the next direction. Raises Exhausted after too many factors, StageNotConverged."""
        self._count += 1
        reused = None
        if not self._by_strain and self.last > 0.0 and self._is_slow and self._served < self.reuse_limit:
            reused = _reused_direction(problem, at, self.last)
        self._is_fresh = reused is None
        if reused is None:
            if self._factors == MAX_FACTORIZATIONS:
                raise Exhausted
            try:
                problem.factor_for_directions(at.unknowns)
            except StepFailed as failure:
                self.retries(problem, at, failure)
                raise Exhausted from failure
            self._factors, self._served = self._factors + 1, 0
        self.vector = problem.direction(at.residual) if reused is None else reused
        self._served += 1
        return Direction(self.vector)

    def retries(self, problem: StageProblem, at: Evaluation, failure: StepFailed) -> bool:
        """Return True, to try with a new factor, or False where the iterate may be accepted. Raises StageNotConverged
        else."""
        if not self._is_fresh:
            self.last = 0.0
            return True
        if self._accepts and self._count > 1:
            return False
        raise StageNotConverged(str(failure), failure.object, failure.remedy or CLEARANCE_REMEDY) from failure

    def is_done(self, step: Step) -> bool:
        """Whether neither the remaining strain nor the remaining energy is visible."""
        problem, at, moved = step.problem, step.after, step.moved
        self._is_slow = moved > self.slow * self.last > 0.0
        rest = self._remaining_strain(step)
        self.last = moved if step.is_full else 0.0
        if not step.is_full:
            return False
        if rest <= self._strain_left:
            if self._is_slow and not self._is_fresh:
                # a small step may be due to the factor: the next iteration factors again, or has a far smaller residual
                self._served = self.reuse_limit
                return False
            return self._accepts or self._has_converged_energy(problem, at)
        return ((self._is_fresh or self._is_slow) and not self._by_strain
                and problem.system.edges.usual_change_of_pieces(problem.displacement(step.change))
                <= min(self.usual, self._strain_left)
                and self._has_converged_energy(problem, at))

    def _has_converged_energy(self, problem: StageProblem, at: Evaluation) -> bool:
        """Whether hardly any energy is left along the last direction, or along the next one on a factor that has just
        been made: a solve says so where another iteration would take a factor."""
        left = problem.relative_energy_left(at, self.vector)
        if left <= 1.0 or not self._is_fresh or left > self.worth_a_solve:
            return left <= 1.0
        self.vector = problem.direction(at.residual)
        return problem.relative_energy_left(at, self.vector) <= 1.0

    def _remaining_strain(self, step: Step) -> float:
        # quasistatic nodes may still slide a little in each iteration without any energy left
        moved, left = step.moved, remaining(step.moved, self.last)
        if not self._is_fresh and step.is_full and not self._is_slow:
            # the remaining energy does not converge quadratically on a reused factor: it has to be far smaller
            self.vector = self.reused_factor_margin * step.problem.direction(step.after.residual)
            left = step.problem.strain(self.vector) / self.reused_factor_margin
        if self._by_strain:
            return left
        # slow convergence on a reused factor says little about the remaining distance
        return min(moved, left) if self._is_fresh or not self._is_slow else max(moved, left)


def solve_in_contact(problem_at: Callable[[Vec], StageProblem], step_start: Vec, guess: Vec,
                     strain_left: float, accepts: bool = False, by_strain: bool = False) -> tuple[StageProblem, Vec]:
    """Return the stage with its final friction, and its unknowns (3 p,) [m/s]. Raises StageNotConverged.

    Each iteration factors projected stiffness: the last factor lacks the new contact pairs. Where cloth buckles,
    projected stiffness is far too stiff and each step short; a new factor is then no better than the last, which is
    reused. There and in an impact a few nodes move on for many iterations at hardly any remaining energy: the stage has
    converged where nobody sees the root mean square strain of any body's last step. Friction follows the normal forces
    of each full step, at first those of `step_start`; a step that was cut short would take those of surfaces that have
    just met.

    problem_at: the stage with friction's normal forces at positions (n, 3) [m]. step_start: positions at the start of
    the step, (n, 3). strain_left: admissible relative change of an edge by further iterations. accepts: whether a stage
    that has not converged is accepted, since each iteration lowers the incremental potential. by_strain: whether strain
    alone decides convergence, for quasistatic positions, whose directions are not exact.
    """
    problem = problem_at(step_start)
    at = contact_start(problem, step_start, guess)
    iterations = ContactIterations(strain_left, accepts, by_strain)
    end = descend(problem, at, iterations, iterations, ITERATIONS_PER_FACTOR * MAX_FACTORIZATIONS,
                  partial(with_lagged_friction, problem_at), LAGGED)
    problem, at = end.problem, end.at
    if end.has_converged:
        return (problem, at.unknowns) if by_strain else _with_final_loads(problem_at, problem, at)
    if accepts or iterations.last > 0.0 and problem.relative_energy_left(at, iterations.vector) <= 1.0 \
            and lowers_potential_of_rest(problem, at):
        return problem, at.unknowns
    unsettled = problem.failed(f"surfaces did not settle in {MAX_FACTORIZATIONS} iterations", at)
    raise StageNotConverged(str(unsettled), unsettled.object, unsettled.remedy or CLEARANCE_REMEDY)


def with_lagged_friction(problem_at: Callable[[Vec], StageProblem], problem: StageProblem,
                         at: Evaluation) -> tuple[StageProblem, Evaluation]:
    """Return the stage with friction of the normal forces at an iterate, and the evaluation there. For `problem_at` see
    `solve_in_contact`."""
    after = problem_at(problem.positions_at(at.unknowns))
    return (problem, at) if after is problem else (after, after.evaluate(at.unknowns))


def _with_final_loads(problem_at: Callable[[Vec], StageProblem], problem: StageProblem,
                      at: Evaluation) -> tuple[StageProblem, Vec]:
    """Return a converged stage with friction of its final normal forces, by quasi-Newton iterations on few factors.

    The normal force of one stage and the sliding of the next do not belong together where a body hops. Strain and
    energy that nobody sees are as large as what sets a sliding body in motion: iterations go on until what is left is
    small, at the nodes that friction acts on, beside friction and beside what else changes in the stage. What is left
    where parts of a body slide and stick in turn adds energy in each stage, until a body slides down a slope that holds
    it. The stiffness of friction rises by orders of magnitude where a contact that slid sticks: on the factor of before
    iterations are slow, and it is renewed.
    """
    pairs = SecantPairs(UPDATES_PER_FACTOR)
    pairs.clear(len(at.unknowns))
    for count in range(MOST_UPDATES):
        before, (problem, at) = problem, with_lagged_friction(problem_at, problem, at)
        if problem is before:
            break
        if count and count % UPDATES_PER_FACTOR == 0 and not _is_refactored(problem, at, pairs):
            break
        direction = pairs.direction(at.residual, problem.approximate_solve)
        if count >= LOAD_UPDATES and _work_left(problem, at, direction) <= _energy_left(problem, at):
            break
        start = at
        try:
            at, _ = problem.search(start, direction)
        except StepFailed:
            break  # no further decrease
        pairs.add(at.unknowns - start.unknowns, at.residual - start.residual)
    return problem, at.unknowns


def _is_refactored(problem: StageProblem, at: Evaluation, pairs: SecantPairs) -> bool:
    """Factor the projected stiffness at an iterate and discard the secant pairs; return whether that succeeded."""
    pairs.clear(len(at.unknowns))
    try:
        problem.factor_for_directions(at.unknowns)
    except StepFailed:
        return False
    return True


def _work_left(problem: StageProblem, at: Evaluation, direction: Vec) -> float:
    """Return the work of the residual along a direction, (3 p,) [m/s], or that at the nodes on which friction acts if
    it is less [J]: cloth that buckles beside what supports it does not slide by that."""
    limits = problem.forces.friction
    work = np.einsum("ni,ni->n", at.residual.reshape(-1, 3), direction.reshape(-1, 3))
    return 0.0 if limits is None else min(abs(float(work.sum())),
                                          float(np.abs(work[limits.nodes[problem.order]]).sum()))


def _energy_left(problem: StageProblem, at: Evaluation) -> float:
    """Return the admissible energy that is left of a stage with friction [J]."""
    limits = problem.forces.friction
    friction = 0.0 if limits is None else (problem.stage.a * problem.stage.h) ** 2 * limits.energy
    change = 0.5 * problem.inertia_of(at.unknowns - problem.stage.v_hat[problem.order].ravel())
    return FRICTION_ENERGY_LEFT * friction + CHANGE_ENERGY_LEFT * change


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
