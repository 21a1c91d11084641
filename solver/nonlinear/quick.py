"""QLB until nothing is left that shows: a stage ends where its elements are strained as they should be."""

from __future__ import annotations

from ..errors import StepFailed
from ..state import Vec
from .calm import CONDENSED, given_up
from .interface import StageSolver
from .kept_factor import KeptFactor
from .limits import WORK_LEFT, StopRule, left
from .pairs import SecantPairs
from .problem import LARGEST_STEP, Evaluation, StageProblem
from .turned_factor import TurnedFactor

WORTH = 30.0  #: iterations that a new factor costs
PATIENCE = 6  #: iterations of a stage on one factor; most stages take two or three
ON_TURNED = 8  #: the same on that of the rest shape, turned
CUT = 0.2  #: of an iteration on that: where less of it can be taken the body is too far from its rest shape
MEMORY = 8
#: of an edge's length: an iteration that was cut and moves more has left the place that its factor knows
FAR = 0.15
USUAL = 0.3  #: of what may be left of the worst edge: the same of all edges of what is violent, root mean square


class Quick(StageSolver):
    """Each iteration moves less than the last. What all that would follow move changes no edge by more than a share of
    its length: the rest would not be seen, and does no harm in the next step, which removes it. [Witemeyer 2021]

    Who stops at a share of the first force instead leaves what is stiff unsolved wherever that was large. Where flying
    on would wreck elements a few of these are not at rest for long after all others are: there the usual edge counts.
    """

    def __init__(self, params: dict[str, float]) -> None:
        """params: strain_left, the share; tries, iterations after which a step is linearised instead."""
        self.limits = StopRule(CONDENSED, int(params["tries"]), 0.0, params["strain_left"], patience=WORTH)
        self._factor = KeptFactor(WORTH)
        self._turned = TurnedFactor()
        self._pairs = SecantPairs(MEMORY)

    def solve(self, problem: StageProblem, guess: Vec) -> Vec:
        """Near the root. Raises GaveUp; StepFailed where no step of Euler would do instead, as there is no inertia."""
        with given_up(problem):
            return self._solve(problem, guess)

    def _solve(self, problem: StageProblem, guess: Vec) -> Vec:
        at = problem.evaluated(guess)
        violent = problem.is_violent and self._turned.ready(problem, guess)
        factor: KeptFactor | TurnedFactor = self._turned if violent else self._factor
        aged = not violent and not self._factor.ready(problem, guess)
        if not aged:
            self._pairs.clear(len(guess))
        fresh, since, cut, astray = True, 0, False, False
        stage, mass, order = problem.stage, problem.mass, problem.order
        last, usually, worked, goal = 0.0, 0.0, 0.0, WORK_LEFT * stage.energy_at_stake(mass, order)
        for count in range(self.limits.iterations):
            if astray or since == (PATIENCE if factor is self._factor else ON_TURNED):
                self._renew(problem, at)
                factor, fresh, since, aged, astray = self._factor, True, 0, False, False
                last = usually = worked = 0.0
            direction = self._pairs.direction(at.residual, factor.solve)
            if not problem.moves(direction):
                return at.unknowns  # what is left is rounding, which no search could lower
            strain = problem.strain(direction)
            if aged and strain > LARGEST_STEP:
                # the body has left the place that the factor knows: there each of its steps gains little
                self._renew(problem, at)
                last = usually = worked = 0.0
                fresh, since, aged = True, 0, False
                direction = self._pairs.direction(at.residual, factor.solve)
                strain = problem.strain(direction)
            try:
                after, share = problem.search(at, direction, strain)
            except StepFailed:
                if fresh and factor is self._factor and not len(self._pairs):
                    raise
                astray = True
                continue
            moved, step = share * strain, after.unknowns - at.unknowns
            self._pairs.add(step, after.residual - at.residual)
            usual = problem.usual_strain(step) if violent else moved
            at, fresh, since = after, False, since + 1
            work = abs(stage.work(mass, order, step)) if problem.lies else 0.0
            if share == 1.0 and left(work, worked) <= goal and (
                    left(moved, last) <= self.limits.strain_left
                    or left(usual, usually) <= USUAL * self.limits.strain_left):
                if not violent:
                    self._factor.spent(count + 1)
                return at.unknowns
            if factor is self._turned:
                astray = share < CUT
            elif not violent:
                astray = share < 1.0 or moved > last > 0.0
                cut |= astray
                astray |= cut and moved > FAR
            last, usually, worked = moved, usual if share == 1.0 else 0.0, work if share == 1.0 else 0.0
        raise self.limits.failure(problem, at)

    def _renew(self, problem: StageProblem, at: Evaluation) -> None:
        """Where a factor has not led on the body bends far, and the true matrix there is nearly singular."""
        self._factor.renew_projected(problem, at.unknowns)
        self._pairs.clear(len(at.unknowns))

    def forget_past(self) -> None:
        """Drop the factor and the pairs."""
        self._factor.forget()
        self._turned.forget()
        self._pairs.clear(0)
