"""QLB with early stopping: a stage ends where the remaining strain of its elements is not visible."""

from __future__ import annotations

from ..errors import StepFailed
from ..linear.secant_pairs import SecantPairs
from ..state import Vec
from .bounded_search import LARGEST_STEP
from .corotated_factor import CorotatedFactor
from .descent import descend
from .descent_protocol import DescentDirections, Direction, Step
from .evaluation import Evaluation
from .fallback_euler import CONDENSED, raises_not_converged
from .interface import StageSolver
from .limits import StopRule
from .problem import StageProblem
from .reused_factor import ReusedFactor
from .stop_rules import EarlyStop


class EarlyDirections(DescentDirections):
    """Directions of a reused factor, or of the corotated one of the rest shape in a violent stage, with secant pairs.

    Projected stiffness is factored again where a step was cut, where an iteration moved further than the one before,
    after too many iterations, and where the body has left the region of a factor of an earlier stage.
    """

    patience = 6  #: iterations of a stage on one factor; most stages take two or three
    corotated_patience = 8  #: iterations of a stage on the corotated factor of the rest shape
    cut = 0.2  #: step length on that factor below which the body is too far from its rest shape
    #: relative change of an edge: a longer iteration after a cut one has left the region of its factor
    large_move = 0.15

    def __init__(self, factor: ReusedFactor, corotated: CorotatedFactor | None, pairs: SecantPairs,
                 aged: bool) -> None:
        """factor: renewed where it no longer suits. corotated: factor to start with in a violent stage, else None.
        pairs: secant pairs on the present factor. aged: whether `factor` is one of an earlier stage."""
        self._reused, self._pairs, self._aged = factor, pairs, aged
        self._factor: ReusedFactor | CorotatedFactor = factor if corotated is None else corotated
        self._is_violent = corotated is not None
        self._is_new, self._since = True, 0
        self._was_cut = self._needs_factor = False
        self._last = 0.0  #: change of the last iteration on this factor
        self.count = 0  #: iterations, those without an accepted step too

    def find(self, problem: StageProblem, at: Evaluation, last: Step | None) -> Direction | None:
        """Return the next direction; None where only rounding is left. Raises StepFailed where the stiffness cannot be
        factored."""
        if last is not None:
            self.follow(last)
        self.count += 1
        is_renewed = self._needs_factor or self._since == (self.patience if self._factor is self._reused
                                                           else self.corotated_patience)
        if is_renewed:
            self._renew(problem, at)
        vector = self._pairs.direction(at.residual, self._factor.solve)
        if not problem.moves(vector):
            return None  # only rounding is left, which no search could lower
        strain = problem.strain(vector)
        if self._aged and strain > LARGEST_STEP:
            # the body has left the region of the factor, where each step makes little progress
            self._renew(problem, at)
            is_renewed = True
            vector = self._pairs.direction(at.residual, self._factor.solve)
            strain = problem.strain(vector)
        return Direction(vector, strain, is_renewed=is_renewed)

    def retries(self, problem: StageProblem, at: Evaluation, failure: StepFailed) -> bool:
        """Return True, to try again with a new factor. Raises `failure` where the failed direction was that of a new
        factor."""
        if self._is_new and self._factor is self._reused and not len(self._pairs):
            raise failure
        self._needs_factor = True
        return True

    def follow(self, step: Step) -> None:
        """Add the secant pair of a step, and decide whether the next iteration renews the factor."""
        moved = step.moved
        self._pairs.add(step.change, step.after.residual - step.before.residual)
        self._is_new, self._since = False, self._since + 1
        if self._factor is not self._reused:
            self._needs_factor = step.fraction < self.cut
        elif not self._is_violent:
            self._needs_factor = not step.is_full or moved > self._last > 0.0
            self._was_cut |= self._needs_factor
            self._needs_factor |= self._was_cut and moved > self.large_move
        self._last = moved

    def _renew(self, problem: StageProblem, at: Evaluation) -> None:
        """Factor the projected matrix: where convergence stalls the body bends far, and the true matrix is nearly
        singular."""
        self._reused.renew_projected(problem, at.unknowns)
        self._pairs.clear(len(at.unknowns))
        self._factor, self._is_new, self._since = self._reused, True, 0
        self._aged = self._needs_factor = False
        self._last = 0.0


class EarlyStoppedQuasiNewton(StageSolver):
    """Stage solver QLB that iterates until the sum of all further changes would change no edge by more than a fraction
    of its length, extrapolated from the last two; that error is not visible, and the next step removes it.

    A tolerance relative to the first force would leave stiff parts unsolved wherever that was large. Where the
    ballistic guess would wreck elements a few of these come to rest long after all others: there the root mean square
    strain decides. [Witemeyer 2021]
    """

    refactor_cost = 30.0  #: cost of a new factor in iterations
    memory = 8  #: number of secant pairs of quasi-Newton directions

    def __init__(self, params: dict[str, float]) -> None:
        """params: strain_left, the admissible relative change of an edge; tries, iterations after which a linearised
        step replaces the stage."""
        self.limits = StopRule(CONDENSED, int(params["tries"]), 0.0, params["strain_left"], patience=self.refactor_cost)
        self._factor = ReusedFactor(self.refactor_cost)
        self._corotated = CorotatedFactor()
        self._pairs = SecantPairs(self.memory)

    def solve(self, problem: StageProblem, guess: Vec) -> Vec:
        """Return unknowns near the root, starting from a guess, both (3 p,) [m/s]. Raises StageNotConverged where a
        stage with inertia fails, StepFailed where one without inertia does."""
        with raises_not_converged(problem):
            return self._solve(problem, guess)

    def _solve(self, problem: StageProblem, guess: Vec) -> Vec:
        """Return unknowns near the root, (3 p,) [m/s], on the reused factor or, in violent motion, the corotated
        one."""
        at = problem.evaluate_once(guess)
        violent = problem.is_violent and self._corotated.ready(problem, guess)
        aged = not violent and not self._factor.ready(problem, guess)
        if not aged:
            self._pairs.clear(len(guess))
        directions = EarlyDirections(self._factor, self._corotated if violent else None, self._pairs, aged)
        end = descend(problem, at, directions, EarlyStop(problem, self.limits.strain_left, violent),
                      self.limits.iterations)
        if end.last is not None:
            directions.follow(end.last)
        if not end.has_converged:
            raise self.limits.failure(problem, end.at)
        if not end.is_rounding and not violent:
            self._factor.note_iterations(directions.count)
        return end.at.unknowns

    def forget_past(self) -> None:
        """Discard the factors and the secant pairs."""
        self._factor.forget()
        self._corotated.forget()
        self._pairs.clear(0)
