"""Mixed finite elements: the stretches of tetrahedra are unknowns of their own, so that stiff elements may rotate far
in an iteration."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, isfinite, sqrt

from ..catalogue.stepping import TOLERANCE
from ..errors import StepFailed
from ..iteration.iterate import iterate
from ..iteration.protocol import Bound, StageDirections, Stop
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
            end = problem.evaluate(self._solve_mixed(problem, forces, guess))
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

    def _solve_mixed(self, problem: StageProblem, forces: Stretched, guess: Vec) -> Vec:
        """Return the unknowns of the last iteration, (3 p,) [m/s]. Raises StepFailed where the iterations diverge, and
        where they do not converge in a stage without inertia."""
        forces.start()
        directions = SaddleDirections()
        self.decrements = directions.decrements
        end = iterate(problem.of(forces), guess, directions, LagrangianSearch(forces),
                      SaddleStop(self._decrement_left, self._strain_left),
                      self._most if problem.stage.inertia else self.limits.iterations)
        if not (end.has_converged or problem.stage.inertia):
            raise self.limits.failure(problem, problem.evaluate(end.at))
        return end.at


@dataclass(frozen=True)
class SaddleDirection:
    """A direction in positions and stretches towards the saddle of the Lagrangian."""

    vector: Vec  #: (3 p,) [m/s]
    strain: float  #: largest relative change of an edge along it
    decrement: float  #: Newton decrement, √(−rᵀ δ) [√J]


@dataclass(frozen=True)
class SaddleStep:
    """A step along a direction."""

    problem: StageProblem
    after: Vec  #: unknowns, (3 p,) [m/s]
    direction: SaddleDirection
    fraction: float  #: of the direction that was taken

    @property
    def is_full(self) -> bool:
        """Whether the whole direction was taken."""
        return self.fraction == 1.0


class SaddleDirections(StageDirections[StageProblem, Vec, SaddleStep, SaddleDirection]):
    """Newton directions of positions, from which the stretches are condensed in each element."""

    def __init__(self) -> None:
        self.decrements: list[float] = []  #: of all directions so far [√J]

    def find(self, problem: StageProblem, at: Vec, last: SaddleStep | None) -> SaddleDirection:
        """Return the direction at unknowns (3 p,) [m/s]. Raises StepFailed where the matrix cannot be factored."""
        residual = _factor(problem, at)
        vector = problem.system.linear.solve(-residual)
        self.decrements.append(sqrt(max(-float(residual @ vector), 0.0)))
        return SaddleDirection(vector, problem.strain(vector), self.decrements[-1])


class LagrangianSearch(Bound[StageProblem, Vec, SaddleDirection, SaddleStep]):
    """Line search on the Lagrangian with the multipliers of the end of a step. [MFEM 4]"""

    #: halvings of a step; if none lowers the Lagrangian, the last is taken and its energy is checked at the end
    halvings = 8

    def __init__(self, forces: Stretched) -> None:
        """forces: with the stretches."""
        self._forces = forces

    def step_along(self, problem: StageProblem, at: Vec, direction: SaddleDirection) -> SaddleStep:
        """Return the first step that lowers the Lagrangian, or else the shortest. Raises StepFailed where no energy is
        defined there."""
        forces, vector = self._forces, direction.vector
        bounded, moved = BoundedSearch(problem), problem.displacement(vector)
        longest = bounded.longest(at, moved, direction.strain)
        bends = forces.follow(moved)
        forces.set_fraction(0.0)
        start = problem.evaluate(at)
        slope = float(start.residual @ vector) - problem.stage.a / problem.stage.b * bends
        last, fraction = start, 0.0

        def trial(step: float) -> Evaluation:
            nonlocal last, fraction
            forces.set_fraction(step)
            last, fraction = problem.evaluate(at + step * vector), step
            return last

        if start.merit is None:
            trial(longest)
        else:
            search(start, trial, longest, longest * 0.5**self.halvings, slope, bounded.noise(start))
            if not isfinite(_merit(last)):
                raise problem.report_failure("no step lowers the Lagrangian", start)
        forces.keep()
        return SaddleStep(problem, last.unknowns, direction, fraction)


class SaddleStop(Stop[SaddleStep]):
    """Stop rule that is met after a full step where Newton's decrement has shrunk enough, further changes are not
    visible, or the direction moved nothing by more than rounding."""

    def __init__(self, decrement_left: float, strain_left: float) -> None:
        """decrement_left: relative to the first decrement. strain_left: admissible relative change of an edge."""
        self._decrement_left, self._strain_left = decrement_left, strain_left
        self._first: float | None = None
        self._last = 0.0

    def is_done(self, step: SaddleStep) -> bool:
        """Whether the stage has converged after a step."""
        direction, moved = step.direction, step.fraction * step.direction.strain
        self._first = direction.decrement if self._first is None else self._first
        settled = (direction.decrement <= self._decrement_left * self._first
                   or remaining(moved, self._last) <= self._strain_left or not step.problem.moves(direction.vector))
        self._last = moved if step.is_full else 0.0
        return step.is_full and settled


def _factor(mixed: StageProblem, unknowns: Vec) -> Vec:
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
