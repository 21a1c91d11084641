"""QLB with early stopping: a stage ends where the remaining strain of its elements is not visible."""

from __future__ import annotations

from ..errors import StepFailed
from ..linear.secant_pairs import SecantPairs
from ..state import Vec
from .corotated_factor import CorotatedFactor
from .fallback_euler import CONDENSED, raises_not_converged
from .interface import StageSolver
from .limits import WORK_LEFT, StopRule, remaining
from .problem import LARGEST_STEP, Evaluation, StageProblem
from .reused_factor import ReusedFactor

REFACTOR_COST = 30.0  #: iterations that a new factor costs
PATIENCE = 6  #: iterations of a stage on one factor; most stages take two or three
COROTATED_PATIENCE = 8  #: iterations of a stage on the corotated factor of the rest shape
CUT = 0.2  #: step length on that factor below which the body is too far from its rest shape
MEMORY = 8
#: relative change of an edge: a longer iteration after a cut one has left the region of its factor
LARGE_MOVE = 0.15
USUAL = 0.3  #: root mean square strain of a violent body relative to the tolerance of the largest


class EarlyStoppedQuasiNewton(StageSolver):
    """Iterates until the sum of all further changes would change no edge by more than a fraction of its length,
    extrapolated from the last two; that error is not visible, and the next step removes it. [Witemeyer 2021]

    A tolerance relative to the first force would leave stiff parts unsolved wherever that was large. Where the
    ballistic guess would wreck elements a few of these come to rest long after all others: there the root mean square
    strain decides.
    """

    def __init__(self, params: dict[str, float]) -> None:
        """params: strain_left, that fraction; tries, iterations after which a linearised step replaces the stage."""
        self.limits = StopRule(CONDENSED, int(params["tries"]), 0.0, params["strain_left"], patience=REFACTOR_COST)
        self._factor = ReusedFactor(REFACTOR_COST)
        self._corotated = CorotatedFactor()
        self._pairs = SecantPairs(MEMORY)

    def solve(self, problem: StageProblem, guess: Vec) -> Vec:
        """Return unknowns near the root. Raises StageNotConverged; StepFailed for a stage without inertia."""
        with raises_not_converged(problem):
            return self._solve(problem, guess)

    def _solve(self, problem: StageProblem, guess: Vec) -> Vec:
        at = problem.evaluated(guess)
        violent = problem.is_violent and self._corotated.ready(problem, guess)
        factor: ReusedFactor | CorotatedFactor = self._corotated if violent else self._factor
        aged = not violent and not self._factor.ready(problem, guess)
        if not aged:
            self._pairs.clear(len(guess))
        fresh, since, cut, astray = True, 0, False, False
        stage, mass, order = problem.stage, problem.mass, problem.order
        last, usually, worked, goal = 0.0, 0.0, 0.0, WORK_LEFT * stage.energy_at_stake(mass, order)
        for count in range(self.limits.iterations):
            if astray or since == (PATIENCE if factor is self._factor else COROTATED_PATIENCE):
                self._renew(problem, at)
                factor, fresh, since, aged, astray = self._factor, True, 0, False, False
                last = usually = worked = 0.0
            direction = self._pairs.direction(at.residual, factor.solve)
            if not problem.moves(direction):
                return at.unknowns  # only rounding is left, which no search could lower
            strain = problem.strain(direction)
            if aged and strain > LARGEST_STEP:
                # the body has left the region of the factor, where each step makes little progress
                self._renew(problem, at)
                last = usually = worked = 0.0
                fresh, since, aged = True, 0, False
                direction = self._pairs.direction(at.residual, factor.solve)
                strain = problem.strain(direction)
            try:
                after, fraction = problem.search(at, direction, strain)
            except StepFailed:
                if fresh and factor is self._factor and not len(self._pairs):
                    raise
                astray = True
                continue
            moved, step = fraction * strain, after.unknowns - at.unknowns
            self._pairs.add(step, after.residual - at.residual)
            usual = problem.usual_strain(step) if violent else moved
            at, fresh, since = after, False, since + 1
            work = abs(stage.work(mass, order, step)) if problem.touches_ground else 0.0
            if fraction == 1.0 and remaining(work, worked) <= goal and (
                    remaining(moved, last) <= self.limits.strain_left
                    or remaining(usual, usually) <= USUAL * self.limits.strain_left):
                if not violent:
                    self._factor.spent(count + 1)
                return at.unknowns
            if factor is self._corotated:
                astray = fraction < CUT
            elif not violent:
                astray = fraction < 1.0 or moved > last > 0.0
                cut |= astray
                astray |= cut and moved > LARGE_MOVE
            last, usually, worked = moved, usual if fraction == 1.0 else 0.0, work if fraction == 1.0 else 0.0
        raise self.limits.failure(problem, at)

    def _renew(self, problem: StageProblem, at: Evaluation) -> None:
        """Factor the projected matrix: where convergence stalls the body bends far, and the true matrix is nearly
        singular."""
        self._factor.renew_projected(problem, at.unknowns)
        self._pairs.clear(len(at.unknowns))

    def forget_past(self) -> None:
        """Discard the factors and the secant pairs."""
        self._factor.forget()
        self._corotated.forget()
        self._pairs.clear(0)
