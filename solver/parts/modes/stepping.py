"""Stages of a reduced body, by mixed or plain finite elements on its subspace.

A stage solves M (u − û) = a h f(y), y = base + b h u, for y: the incremental potential κ/2 |y − ŷ|² + V(y), κ = 1/(a h
b h), ŷ = base + b h û, is stationary there. [MFEM 4]
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dposv

from ...errors import StepFailed
from ...iteration.iterate import iterate
from ...iteration.protocol import Bound, StageDirections, Stop
from ...state import Vec
from .loads import StageLoads
from .points import PAIRS, CubaturePoints

HALVINGS = 8  #: of a step, at most, until it lowers the potential; then the shortest is taken
ENOUGH = 1.0e-4  #: of the slope: least decrease by a fraction of a step (Armijo)
ROUNDING = 1.0e-13  #: of a potential and of gradients: what is won less than that is not seen


@dataclass(frozen=True)
class Iterating:
    """Settings of the iterations of a stage."""

    mixed: bool = True
    iterations: int = 2  #: largest number of iterations
    tolerance: float = 1.0e-5  #: mean step relative to the body's size at which the stage ends
    search: bool = True  #: whether steps are halved that do not decrease the potential
    guarded: bool = True  #: whether a mixed stage that increases the potential is solved again by plain iterations


class ReducedStage:
    """Incremental potential of one stage."""

    def __init__(self, points: CubaturePoints, base: Vec, rate: Vec, ah: float, bh: float, carrier_motion: Vec,
                 carrier_base: Vec,
                 carrier_rate: Vec, coupling: Vec, weight: Vec, drag: float, damped: tuple[Vec, float] | None,
                 loads: StageLoads) -> None:
        """base, rate: coordinates and û, (p, 3). carrier_base, carrier_rate: those of groups of pins, (4 g, 3).
        carrier_motion: coordinates of groups of pins at the stage's end, (4 g, 3).

        coupling: Φᵀ M Ψ, (p, 4 g). weight: gravity on coordinates, (p, 3) [N]. drag: mass damping [1/s]. damped:
        weighted derivatives of stress (c, 54) at the step's start, and stiffness damping [s]; None for none.
        """
        self.points, self.loads, self.carrier_motion = points, loads, carrier_motion
        self.kappa, self.bh = 1.0 / (ah * bh), bh
        self.factor: Vec = np.zeros((0, 0))  #: factor of the last iteration's matrix, from `factor_pairs`
        self.base, self.start = base, base + bh * rate
        self.force = weight
        if len(carrier_motion):
            self.force = self.force - self.kappa * coupling @ (carrier_motion - carrier_base - bh * carrier_rate)
            self.force = self.force - drag / bh * coupling @ (carrier_motion - carrier_base)
        self.drag = drag / bh
        self.damped = damped
        self._rate = 0.0 if damped is None else damped[1] / bh
        self._before = points.gradients(base, carrier_base) if damped is not None else np.zeros(0)

    def smooth(self, y: Vec, gradients: Vec) -> float:
        """Return the potential without the elastic energy [J], at coordinates y (p, 3) with gradients (c, 9)."""
        inertia, moved = y - self.start, y - self.base
        total = 0.5 * self.kappa * float(np.vdot(inertia, inertia)) - float(np.vdot(self.force, y))
        if self.drag:
            total += 0.5 * self.drag * float(np.vdot(moved, moved))
        if self.damped is not None:
            total += self.points.damp(self.damped[0], gradients - self._before, self._rate, False)
        return total + self.loads.energy(y)

    def potential(self, y: Vec) -> float:
        """Return the potential at coordinates y (p, 3) [J], with the stretches of positions."""
        gradients = self.points.gradients(y, self.carrier_motion)
        return self.points.measure(gradients) + self.smooth(y, gradients)

    def linearise(self, y: Vec, gradients: Vec, mixed: bool, exact: bool = False) -> tuple[Vec, Vec]:
        """Return force (p, 3) and matrix (p, 6, p) of one iteration at coordinates y (p, 3) with gradients (c, 9).
        mixed, exact: as in `CubaturePoints.linearise`. [MFEM 6]"""
        self.points.linearise(gradients, mixed, exact)
        if self.damped is not None:
            self.points.damp(self.damped[0], gradients - self._before, self._rate, True)
        force = self.points.forces() + self.force - self.kappa * (y - self.start) - self.drag * (y - self.base)
        matrix = self.points.stiffness()
        p, flat = len(y), matrix.reshape(-1)
        for pair in (0, 2, 5):
            flat[pair * p :: 6 * p + 1] += self.kappa + self.drag
        self.loads.add(y, force, matrix)
        return force, matrix


@dataclass(frozen=True)
class SolvedStage:
    """Solution of a stage and the course of its iterations."""

    y: Vec  #: coordinates, (p, 3)
    iterations: int
    decrements: tuple[float, ...]  #: Newton decrement of each iteration [√J]
    again: bool  #: whether the stage was solved again by plain iterations


def solve_stage(stage: ReducedStage, y: Vec, how: Iterating, length: float) -> SolvedStage:
    """Return the solution of a stage from initial coordinates y (p, 3). length: step length below which iterations end
    [√kg m].

    A guarded mixed stage that fails or increases the potential is solved again by plain iterations. Raises StepFailed
    where numbers are not finite or the matrix is not positive definite.
    """
    guarded = how.mixed and how.guarded
    try:
        solution = _solve(stage, y, how.mixed, how, length)
    except StepFailed:
        if not guarded:
            raise
        solution = None
    if solution is not None and (not guarded or stage.potential(solution.y) <= stage.potential(y)):
        return solution
    plain = _solve(stage, y, False, how, length)
    before = (0, ()) if solution is None else (solution.iterations, solution.decrements)
    return SolvedStage(plain.y, before[0] + plain.iterations, (*before[1], *plain.decrements), True)


class ReducedIterate(NamedTuple):
    """Coordinates of a reduced body and gradients at its points."""

    y: Vec  #: (p, 3)
    gradients: Vec  #: (c, 9)


class ReducedDirection(NamedTuple):
    """A step of an iteration."""

    step: Vec  #: of coordinates, (p, 3)
    moved: Vec  #: of gradients, (c, 9)
    decrement: float  #: Newton decrement, squared [J]


class ReducedStep(NamedTuple):
    """A step along a direction."""

    after: ReducedIterate
    direction: ReducedDirection
    is_full: bool


class ReducedDirections(StageDirections[ReducedStage, ReducedIterate, ReducedStep, ReducedDirection]):
    """Directions by sequential quadratic programming on coordinates and stretches, or by Newton's method on
    coordinates. [MFEM 5-8]"""

    def __init__(self, mixed: bool) -> None:
        """mixed: whether stretches are unknowns."""
        self._mixed = mixed
        self.decrements: list[float] = []  #: Newton decrement of each iteration [√J]

    def find(self, problem: ReducedStage, at: ReducedIterate, last: ReducedStep | None) -> ReducedDirection:
        """Return the direction at an iterate. Raises StepFailed where numbers are not finite or the matrix is not
        positive definite."""
        force, step = _direction(problem, at.y, at.gradients, self._mixed, self._mixed and bool(self.decrements))
        decrement = float(np.vdot(force, step))
        if not np.isfinite(decrement):
            raise StepFailed("a stage of the reduced body has no solution in numbers")
        self.decrements.append(float(np.sqrt(max(decrement, 0.0))))
        return ReducedDirection(step, problem.points.gradients(step, problem.carrier_motion[:0]), decrement)


class ReducedSearch(Bound[ReducedStage, ReducedIterate, ReducedDirection, ReducedStep]):
    """Line search on the potential, or on the Lagrangian of coordinates and stretches."""

    def __init__(self, mixed: bool, halves: bool) -> None:
        """mixed: whether stretches are unknowns. halves: whether steps are halved; else they are taken whole."""
        self._mixed, self._halves = mixed, halves

    def step_along(self, problem: ReducedStage, at: ReducedIterate, direction: ReducedDirection) -> ReducedStep:
        """Return the step along a direction."""
        (y, gradients), (step, moved, decrement), points = at, direction, problem.points
        taken = 1.0
        if self._mixed:
            slope = -(decrement + points.follow(moved))
            taken = _search_mixed(problem, y, step, gradients, moved, slope) if self._halves else 1.0
            points.keep(taken)
        elif self._halves:
            taken = _search(problem, y, step, gradients, moved, -decrement)
        after = ReducedIterate(y + taken * step, gradients + taken * moved)
        return ReducedStep(after, direction, taken == 1.0)


class LengthStop(Stop[ReducedStep]):
    """Stop rule that is met where a direction is short enough."""

    def __init__(self, length: float) -> None:
        """length: of a step of coordinates [√kg m]."""
        self._length = length

    def is_done(self, step: ReducedStep) -> bool:
        """Whether the direction of a step is short enough."""
        return bool(np.linalg.norm(step.direction.step) <= self._length)


def _solve(stage: ReducedStage, y: Vec, mixed: bool, how: Iterating, length: float) -> SolvedStage:
    """Return a stage's solution by iterations on coordinates and, if mixed, on stretches. [MFEM Alg. 1]"""
    points, directions = stage.points, ReducedDirections(mixed)
    points.restart()
    first = ReducedIterate(y, points.gradients(y, stage.carrier_motion))
    end = iterate(stage, first, directions, ReducedSearch(mixed, how.search), LengthStop(length), how.iterations)
    return SolvedStage(end.at.y, len(directions.decrements), tuple(directions.decrements), False)


def _direction(stage: ReducedStage, y: Vec, gradients: Vec, mixed: bool, exact: bool) -> tuple[Vec, Vec]:
    """Return the force (p, 3) of an iteration and its step (p, 3).

    exact: by the Hessian of the Lagrangian with the last multipliers, where that is positive definite: near a root
    iterations converge quadratically then. Raises StepFailed. [MFEM 6, changed: how multipliers resist turning counts]
    """
    if exact:
        with suppress(StepFailed):
            force, matrix = stage.linearise(y, gradients, mixed, True)
            stage.factor, step = factor_pairs(matrix, force)
            return force, step
    force, matrix = stage.linearise(y, gradients, mixed)
    stage.factor, step = factor_pairs(matrix, force)
    return force, step


def _search(stage: ReducedStage, y: Vec, step: Vec, gradients: Vec, moved: Vec, slope: float) -> float:
    """Return the largest of the step lengths 1, ½, ¼… that decreases the potential sufficiently."""
    points = stage.points
    before = points.measure(gradients) + stage.smooth(y, gradients)
    before += ROUNDING * (abs(before) + points.pull()) + points.noise()
    taken = 1.0
    for _ in range(HALVINGS):
        trial = gradients + taken * moved
        if points.measure(trial) + stage.smooth(y + taken * step, trial) <= before + ENOUGH * taken * slope:
            break
        taken *= 0.5
    return taken


def _search_mixed(stage: ReducedStage, y: Vec, step: Vec, gradients: Vec, moved: Vec, slope: float) -> float:
    """Return the step length by the Lagrangian at the new multipliers. [MFEM 4]"""
    points = stage.points
    before = points.measure_start() + stage.smooth(y, gradients)
    before += ROUNDING * (abs(before) + points.pull()) + points.noise()
    taken = 1.0
    for _ in range(HALVINGS):
        trial = gradients + taken * moved
        after = points.measure_mixed(trial, taken) + stage.smooth(y + taken * step, trial)
        if after <= before + ENOUGH * taken * slope:
            break
        taken *= 0.5
    return taken


def solve_pairs(matrix: Vec, force: Vec) -> Vec:
    """Return the solution (p, 3) of a symmetric positive definite system with a matrix in blocks of pairs of axes,
    (p, 6, p).

    Raises StepFailed where the matrix is not positive definite.
    """
    return factor_pairs(matrix, force)[1]


def factor_pairs(matrix: Vec, force: Vec) -> tuple[Vec, Vec]:
    """Return the upper Cholesky factor (3 p, 3 p), axis by axis, of a matrix in blocks of pairs of axes, (p, 6, p), and
    the solution (p, 3) for `force` (p, 3). Raises StepFailed where the matrix is not positive definite."""
    p = len(force)
    lower = np.empty((3 * p, 3 * p))  # its upper triangle is not read
    for pair, (i, k) in enumerate(PAIRS):
        lower[i * p : (i + 1) * p, k * p : (k + 1) * p] = matrix[:, pair]
    factor, solution, info = dposv(lower.T, force.T.reshape(-1), lower=0, overwrite_a=1)
    if info != 0:
        raise StepFailed("the stiffness of the reduced body is not positive definite")
    step: Vec = np.ascontiguousarray(solution.reshape(3, p).T)
    return factor, step
