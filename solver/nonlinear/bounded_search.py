"""The line search of a stage's iteration: bounded by strain and by contact."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..parts.line_search import lowers, search
from ..state import Vec
from .evaluation import Evaluation
from .stage_equations import StageEquations

ROUNDING = 1.0e-11  #: relative to the merit: smaller changes of it are rounding errors
LARGEST_STEP = 1.0  #: largest relative change of an edge in one iteration


@dataclass(frozen=True)
class BoundedSearch:
    """Step lengths along directions in one stage, bounded by contact and by elements that would invert."""

    shortest = 1.0e-10  #: smallest step length of a line search
    #: step length down to which only the nodes in contact stop; below it, all nodes take the same step length
    shortest_clipped = 0.25
    #: slope of the merit at the end of a step without jumps, relative to that at its start, up to which it may rise
    rising = 0.1
    secants = 2  #: evaluations of a step without jumps after which any sufficient decrease of the merit is accepted
    most_secants = 6  #: evaluations of a step without jumps after which `search` takes over
    problem: StageEquations

    def search(self, at: Evaluation, direction: Vec, strain: float | None = None) -> tuple[Evaluation, float]:
        """Return the evaluation after the first of the steps 1, 1/2, … with a sufficient decrease of the merit
        (Armijo), and the length of that step.

        Near the minimum rounding hides the decrease; then a smaller residual is sufficient, as it is for forces without
        an energy. The first step inverts no element, which would mislead the search, and is bounded by contact.
        direction: (3 p,) [m/s]. strain: of the direction, if known. Raises StepFailed where no step is accepted.
        """
        problem = self.problem
        moved = problem.displacement(direction)
        step, fractions = self._bounds(at.unknowns, moved, strain)
        longest = step
        if fractions.min() < 1.0:
            # nodes that make contact stop there, if that crushes nothing and the merit decreases
            clipped = direction * np.repeat(fractions[problem.order], 3)
            if step * problem.strain(clipped) <= LARGEST_STEP:
                accepted = self._search_between(at, clipped, step, self.shortest_clipped * step)
                if accepted is not None:
                    return accepted[0], accepted[1] * float(fractions.min())
            longest = self.longest(at.unknowns, moved, strain)
        accepted = self._search_between(at, direction, longest, self.shortest)
        if accepted is None:
            raise problem.report_failure("no step lowers the energy" if at.merit is not None else
                                         "no step lowers the net force", at)
        return accepted

    def search_without_jumps(self, at: Evaluation, direction: Vec) -> Evaluation:
        """Return the evaluation after a step with a sufficient decrease of the merit that depends continuously on start
        and direction.

        The first sufficient one of the steps 1, 1/2, … may be another one after a change of the last digits. This
        search takes the whole step if the merit rises at its end by no more than a tenth of the slope by which it falls
        at the start, and else the step at which it rises by that, found by secants of the slope. Secants go on after a
        step that decreases too little: each brings it nearer to the minimum, where `search` begins with the whole step
        again. `search` takes over for directions that bring nodes into contact, unknown merits and steps that decrease
        nothing. direction: (3 p,) [m/s]. Raises StepFailed where no step is accepted.
        """
        problem, slope = self.problem, float(np.vdot(at.residual, direction))
        step, fractions = self._bounds(at.unknowns, problem.displacement(direction), None)
        if at.merit is None or slope >= 0.0 or fractions.min() < 1.0:
            return self.search(at, direction)[0]
        for count in range(1, self.most_secants + 1):
            trial = problem.evaluate(at.unknowns + step * direction)
            rise = float(np.vdot(trial.residual, direction))
            is_lower = lowers(at, trial, step, slope, self.noise(at))
            if rise <= -self.rising * slope or is_lower and count >= self.secants or not np.isfinite(rise):
                break
            step *= (1.0 + self.rising) * slope / (slope - rise)
        if is_lower:
            return trial
        return self.search(at, direction)[0]

    def _search_between(self, at: Evaluation, direction: Vec, first: float,
                        least: float) -> tuple[Evaluation, float] | None:
        """Return the evaluation after the first sufficient step between two lengths, and its length; None where there
        is none."""
        slope = float(np.vdot(at.residual, direction))
        return search(at, lambda step: self.problem.evaluate(at.unknowns + step * direction), first, least, slope,
                      self.noise(at))

    def noise(self, at: Evaluation) -> float:
        """Return the largest change of the merit at an evaluation that may be rounding [J]."""
        return ROUNDING * abs(at.merit or 0.0) + self.problem.energy_noise

    def _bounds(self, unknowns: Vec, moved: Vec, strain: float | None) -> tuple[float, Vec]:
        """Return the largest fraction of a displacement that strain permits, and the largest fraction of the rest that
        contact permits each node, (n,)."""
        step = self._limit_strain(moved, strain)
        start = self.problem.positions_at(unknowns)
        return step, self.problem.physics.largest_steps(start, start + step * moved)

    def _limit_strain(self, moved: Vec, strain: float | None) -> float:
        """Return the largest fraction of a displacement that strain permits."""
        if strain is None:
            strain = self.problem.system.edges.largest_change(moved)
        return min(1.0, LARGEST_STEP / max(strain, 1.0e-300))

    def longest(self, unknowns: Vec, moved: Vec, strain: float | None = None) -> float:
        """Return the largest fraction in [0, 1] of a displacement `moved` of all nodes, (n, 3) [m], that strain and
        contact permit. unknowns: at its start, (3 p,) [m/s]. strain: of the displacement, if known."""
        step, start = self._limit_strain(moved, strain), self.problem.positions_at(unknowns)
        return step * self.problem.physics.largest_step(start, start + step * moved)
