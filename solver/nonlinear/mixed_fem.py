"""Mixed finite elements: the stretches of tetrahedra are unknowns of their own, so that stiff elements may rotate far
in an iteration."""

from __future__ import annotations

from dataclasses import replace
from math import inf, isfinite, sqrt

from ..catalogue.stepping import TOLERANCE
from ..errors import StepFailed
from ..linear.interface import NotPositiveDefinite
from ..parts.line_search import search
from ..state import Vec
from .bounded_search import BoundedSearch
from .forces_protocol import Stretched
from .interface import StageSolver
from .limits import StopRule, remaining
from .newton_visible import NewtonVisible
from .problem import Evaluation, StageProblem


class MixedFEM(StageSolver):
    """Stage solver by sequential quadratic programming in positions and stretches, the latter condensed in each
    element, with a line search on the Lagrangian. A stage takes a few iterations. Where these end with more incremental
    potential than they started with, by which a body gains energy, Newton's method solves the stage instead.

    Newton's method takes a stiff element that rotates along a straight line for one that is stretched, and takes short
    steps. Here the stretch of the element changes as linearised, independently of its rotation.
    [MFEM 4-8, changed: guarded]
    """

    #: halvings of an iteration's step; if none decreases the merit, the last is taken and its energy is checked at the
    #: end
    halvings = 8
    edge_left = 3.0e-3  #: relative change of an edge that Newton's method may leave where stretches mislead

    def __init__(self, params: dict[str, float]) -> None:
        """params: mixed_iterations, of a stage with inertia; decrement_left and strain_left, relative to the first
        Newton decrement and to an edge's length, for early stopping; iterations, of a static stage and of Newton's
        method."""
        self.limits = StopRule(TOLERANCE.default, int(params["iterations"]), 0.0, ends_early=True)
        self._most = int(params["mixed_iterations"])
        self._decrement_left, self._strain_left = params["decrement_left"], params["strain_left"]
        self._newton = NewtonVisible({"edge_left": min(self.edge_left, self._strain_left),
                                      "iterations": params["iterations"]})
        self.newton_stages = 0  #: stages that Newton's method solved instead
        self.decrements: list[float] = []  #: of the last stage's iterations, √(−rᵀ δ) [√J]

    def solve(self, problem: StageProblem, guess: Vec) -> Vec:
        """Return unknowns near the root, starting from a guess, both (3 p,) [m/s]. Raises StageNotConverged where
        Newton's method does, StepFailed for a stage without inertia."""
        forces = problem.forces.in_stretches()
        if forces is None:
            return self._newton.solve(problem, guess)
        begins = self._lowest_start(problem, guess)
        try:
            end = problem.evaluate(self._iterated(problem, forces, guess))
        except StepFailed:
            pass  # Newton's method may know a way
        else:
            if not self._gains(problem, begins, end):
                return end.unknowns
        self.newton_stages += 1
        return self._newton.solve(problem, begins.unknowns)

    def _lowest_start(self, problem: StageProblem, guess: Vec) -> Evaluation:
        """Return the guess, or the positions at the stage's start if these have a lower potential and the path to them
        is free of contact: a root has no more than either."""
        ballistic = problem.evaluate(guess)
        stays = problem.evaluate(problem.unknowns_at(problem.step_start))
        if _merit(stays) >= _merit(ballistic):
            return ballistic
        x_ballistic, x_stays = (problem.positions_at(evaluation.unknowns) for evaluation in (ballistic, stays))
        return stays if problem.physics.largest_step(x_ballistic, x_stays) == 1.0 else ballistic

    def _gains(self, problem: StageProblem, begins: Evaluation, end: Evaluation) -> bool:
        """Whether the end has more potential than the start of the iterations; without an energy, whether its residual
        is larger."""
        if end.merit is None:
            return end.norm > begins.norm
        return end.merit > _merit(begins) + BoundedSearch(problem).noise(begins)

    def _iterated(self, problem: StageProblem, forces: Stretched, guess: Vec) -> Vec:
        """Return the unknowns of the last iteration, (3 p,) [m/s]. Raises StepFailed where the iterations diverge, and
        where they do not converge in a stage without inertia."""
        mixed, unknowns = problem.of(forces), guess
        forces.start()
        last, self.decrements = 0.0, []
        for _ in range(self._most if problem.stage.inertia else self.limits.iterations):
            residual = _factored(mixed, unknowns)
            direction = mixed.system.linear.solve(-residual)
            self.decrements.append(sqrt(max(-float(residual @ direction), 0.0)))
            strain = problem.strain(direction)
            unknowns, fraction = self._searched(mixed, forces, unknowns, direction, strain)
            forces.keep()
            moved = fraction * strain
            settled = self.decrements[-1] <= self._decrement_left * self.decrements[0]
            settled = settled or remaining(moved, last) <= self._strain_left or not problem.moves(direction)
            if fraction == 1.0 and settled:
                return unknowns
            last = moved if fraction == 1.0 else 0.0
        if not problem.stage.inertia:
            raise self.limits.failure(problem, problem.evaluate(unknowns))
        return unknowns

    def _searched(self, mixed: StageProblem, forces: Stretched, unknowns: Vec, direction: Vec,
                  strain: float) -> tuple[Vec, float]:
        """Return the unknowns after the first of the steps that lowers the Lagrangian with the multipliers of its end,
        or else after the shortest, and the length of that step. Raises StepFailed where no energy is defined there.
        [MFEM 4]"""
        bounded, moved = BoundedSearch(mixed), mixed.displacement(direction)
        longest = bounded.longest(unknowns, moved, strain)
        bends = forces.follow(moved)
        forces.set_fraction(0.0)
        at = mixed.evaluate(unknowns)
        slope = float(at.residual @ direction) - mixed.stage.a / mixed.stage.b * bends
        last, fraction = at, 0.0

        def trial(step: float) -> Evaluation:
            nonlocal last, fraction
            forces.set_fraction(step)
            last, fraction = mixed.evaluate(unknowns + step * direction), step
            return last

        if at.merit is None:
            return trial(longest).unknowns, fraction
        search(at, trial, longest, longest * 0.5**self.halvings, slope, bounded.noise(at))
        if not isfinite(_merit(last)):
            raise mixed.failed("no step lowers the Lagrangian", at)
        return last.unknowns, fraction


def _factored(mixed: StageProblem, unknowns: Vec) -> Vec:
    """Factor the matrix at unknowns (3 p,) [m/s]; return the residual of the forces that it was filled with, (3 p,)
    [N s]. Raises StepFailed. [MFEM 6]"""
    lin = replace(mixed.fill(unknowns), damped=mixed.damped)
    try:
        mixed.system.linear.factor(mixed.system.matrix, lin.x[mixed.order])
    except NotPositiveDefinite as failure:
        raise StepFailed("the stiffness is not positive definite") from failure
    residual: Vec = -mixed.stage.net_impulse(lin)[mixed.order].ravel()
    return residual if mixed.prescribed_directions is None else mixed.prescribed_directions.residual_across(residual)


def _merit(at: Evaluation) -> float:
    return inf if at.merit is None else at.merit
