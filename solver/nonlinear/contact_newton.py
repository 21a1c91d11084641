"""Newton's method for surfaces in contact, with early stopping."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ..errors import StepFailed
from ..iteration.iterate import iterate
from ..iteration.protocol import NO_STOP, Bound, Exhausted
from ..linear.secant_pairs import SecantPairs
from ..state import Vec
from .bounded_search import BoundedSearch
from .contact_iterations import CLEARANCE_REMEDY, ContactIterations
from .descent import descend
from .descent_protocol import DescentDirections, Direction, Step
from .fallback_euler import StageNotConverged
from .initial_guess import contact_start
from .problem import Evaluation, StageProblem

ITERATIONS_PER_FACTOR = 4  #: limit of iterations, relative to that of factors
LAGGED = 12  #: iterations after which the normal forces of friction are constant
#: largest number of these updates, which end once the remaining energy is small relative to the work of friction
MOST_UPDATES = 32
#: energy that these updates may leave, relative to what friction at Coulomb's limit would give each body from rest
FRICTION_ENERGY_LEFT = 0.001
#: and relative to the energy of the stage's change of velocities, which is far larger in an impact
CHANGE_ENERGY_LEFT = 0.002


def solve_in_contact(problem_at: Callable[[Vec], StageProblem], step_start: Vec, guess: Vec,
                     strain_left: float, accepts: bool = False, by_strain: bool = False) -> tuple[StageProblem, Vec]:
    """Solve a stage in contact; return it with its final friction, and its unknowns (3 p,) [m/s]. Raises
    StageNotConverged.

    Each iteration factors projected stiffness: the last factor lacks the new contact pairs. Where cloth buckles,
    projected stiffness is far too stiff and each step short; a new factor is then no better than the last, which is
    reused. There and in an impact a few nodes move on for many iterations at hardly any remaining energy: the stage has
    converged where the root mean square strain of each body's last step is not visible. Friction follows the normal
    forces of each full step, at first those at `step_start`; a step that was cut short would take those of surfaces
    that have just met.

    problem_at: the stage with friction's normal forces at positions (n, 3) [m]. step_start: positions at the start of
    the step, (n, 3). guess: initial unknowns, (3 p,) [m/s]. strain_left: admissible relative change of an edge by
    further iterations. accepts: whether a stage that has not converged is accepted, since each iteration lowers the
    incremental potential. by_strain: whether strain alone decides convergence, for quasistatic positions, whose
    directions are not exact.
    """
    problem = problem_at(step_start)
    at = contact_start(problem, step_start, guess)
    iterations = ContactIterations(strain_left, accepts, by_strain)
    end = descend(problem, at, iterations, iterations, ITERATIONS_PER_FACTOR * iterations.max_factorizations,
                  partial(with_lagged_friction, problem_at), LAGGED)
    problem, at = end.problem, end.at
    if end.has_converged:
        return (problem, at.unknowns) if by_strain else _solve_final_friction(problem_at, problem, at)
    if accepts or iterations.last > 0.0 and problem.relative_energy_left(at, iterations.vector) <= 1.0 \
            and lowers_potential_of_rest(problem, at):
        return problem, at.unknowns
    unsettled = problem.report_failure(f"contact did not converge in {iterations.max_factorizations} iterations", at)
    raise StageNotConverged(str(unsettled), unsettled.object, unsettled.remedy or CLEARANCE_REMEDY)


def with_lagged_friction(problem_at: Callable[[Vec], StageProblem], problem: StageProblem,
                         at: Evaluation) -> tuple[StageProblem, Evaluation]:
    """Return the stage with friction of the normal forces at an iterate, and its evaluation at the iterate's unknowns.
    problem_at: returns the stage with friction of the normal forces at positions (n, 3) [m]."""
    after = problem_at(problem.positions_at(at.unknowns))
    return (problem, at) if after is problem else (after, after.evaluate(at.unknowns))


def _solve_final_friction(problem_at: Callable[[Vec], StageProblem], problem: StageProblem,
                          at: Evaluation) -> tuple[StageProblem, Vec]:
    """Return a converged stage with friction of its final normal forces, and its unknowns (3 p,) [m/s], by quasi-Newton
    iterations on few factors.

    The normal force of one stage and the sliding of the next do not belong together where a body hops. Strain and
    energy that are not visible are as large as those that set a sliding body in motion: iterations go on until the
    remaining energy is small, at the nodes that friction acts on, relative to the work of friction and to the other
    changes in the stage. Where parts of a body slide and stick in turn, the remaining error adds energy in each stage,
    until a body slides down a slope on which it should rest.
    """
    def lag(problem: StageProblem, at: Evaluation) -> tuple[StageProblem, Evaluation]:
        before, (problem, at) = problem, with_lagged_friction(problem_at, problem, at)
        if problem is before:
            raise Exhausted  # normal forces no longer change
        return problem, at

    try:
        problem, at = lag(problem, at)
    except Exhausted:
        return problem, at.unknowns
    # the last iterate is not evaluated with other friction
    end = iterate(problem, at, FrictionDirections(len(at.unknowns)), SEARCH_WITHOUT_JUMPS, NO_STOP, MOST_UPDATES, lag,
                  MOST_UPDATES - 1)
    return end.problem, end.at.unknowns


class FrictionDirections(DescentDirections):
    """Secant directions with a factor that serves a few iterations, until little energy is left.

    The stiffness of friction rises by orders of magnitude where a contact that slid sticks: on the old factor
    iterations are slow, so it is renewed.
    """

    updates_per_factor = 8  #: largest number of these updates on one factor
    load_updates = 3  #: iterations on the last factor in which a converged stage updates the normal forces of friction

    def __init__(self, size: int) -> None:
        """size: number of unknowns, 3 p."""
        self._pairs, self._count = SecantPairs(self.updates_per_factor), 0
        self._pairs.clear(size)

    def find(self, problem: StageProblem, at: Evaluation, last: Step | None) -> Direction | None:
        """Return the next direction; None where little energy is left along it. Raises Exhausted where the stiffness
        cannot be factored."""
        if last is not None:
            self._pairs.add(last.change, last.after.residual - last.before.residual)
        count, self._count = self._count, self._count + 1
        if count and count % self.updates_per_factor == 0:
            self._refactor(problem, at)
        vector = self._pairs.direction(at.residual, partial(problem.factors.approximate_solve, problem))
        if count >= self.load_updates and _work_left(problem, at, vector) <= _energy_left(problem, at):
            return None
        return Direction(vector)

    def retries(self, problem: StageProblem, at: Evaluation, failure: StepFailed) -> bool:
        """Return False: there is no further decrease."""
        return False

    def _refactor(self, problem: StageProblem, at: Evaluation) -> None:
        """Factor the projected stiffness at an iterate and discard the secant pairs. Raises Exhausted where that
        fails."""
        self._pairs.clear(len(at.unknowns))
        try:
            problem.factors.factor_for_directions(problem, at.unknowns)
        except StepFailed as failure:
            raise Exhausted from failure


class SearchWithoutJumps(Bound[StageProblem, Evaluation, Direction, Step]):
    """Bound by a line search that depends continuously on start and direction."""

    def step_along(self, problem: StageProblem, at: Evaluation, direction: Direction) -> Step:
        """Return the step along a direction. Raises StepFailed where no step is accepted."""
        after = BoundedSearch(problem).search_without_jumps(at, direction.vector)
        return Step(problem, at, after, direction, 1.0)


SEARCH_WITHOUT_JUMPS = SearchWithoutJumps()


def _work_left(problem: StageProblem, at: Evaluation, direction: Vec) -> float:
    """Return the work of the residual along a direction, (3 p,) [m/s], or that at the nodes on which friction acts if
    it is less [J]: cloth that buckles away from its support does not slide by that."""
    limits = problem.forces.friction
    work = np.einsum("ni,ni->n", at.residual.reshape(-1, 3), direction.reshape(-1, 3))
    return 0.0 if limits is None else min(abs(float(work.sum())),
                                          float(np.abs(work[limits.nodes[problem.order]]).sum()))


def _energy_left(problem: StageProblem, at: Evaluation) -> float:
    """Return the admissible remaining energy of a stage with friction [J]."""
    limits = problem.forces.friction
    friction = 0.0 if limits is None else (problem.stage.a * problem.stage.h) ** 2 * limits.energy
    change = 0.5 * problem.inertia_of(at.unknowns - problem.stage.v_hat[problem.order].ravel())
    return FRICTION_ENERGY_LEFT * friction + CHANGE_ENERGY_LEFT * change


def lowers_potential_of_rest(problem: StageProblem, at: Evaluation) -> bool:
    """Whether a stage of backward Euler has an incremental potential no higher than that of zero velocities, so that
    the step gains no energy. A linearised step would be farther from the root."""
    at_rest = problem.evaluate(np.zeros_like(at.unknowns))
    return problem.stage.a == problem.stage.b == 1.0 and at.merit is not None and at_rest.merit is not None \
        and at.merit <= at_rest.merit
