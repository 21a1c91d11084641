"""Factors of a stage's matrix: the true one where it is definite, and projected ones that directions may reuse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import scipy.sparse as sp

from ..errors import StepFailed
from ..linear.interface import NotPositiveDefinite
from ..state import Index, Vec
from .stage_equations import StageEquations
from .stage_matrix import StageMatrix


class StageFactors:
    """Factorizations of the matrix of a stage whose nodes have inertia, and solutions with them.

    Each method takes the stage's equations. Factors are those of the stage's `StageMatrix`, and are reused from stage
    to stage.
    """

    def factor(self, problem: StageEquations, unknowns: Vec, try_true: bool, true_at: float = 1.0,
               factor: Callable[[sp.csc_matrix], None] | None = None, blends: Sequence[float] = ()) -> bool:
        """Fill and factor the matrix at `unknowns`, (3 p,) [m/s], for exact directions: the true one if `try_true` and
        it is definite, else the projected one. Return whether it was the true one.

        true_at: fraction of the step to `unknowns` at which the true one is evaluated. factor: a factorization other
        than the linear solver's. blends: fractions of the projected one that are tried in between. Raises StepFailed
        where the projected one is not positive definite.
        """
        is_own = factor is None
        if factor is None:
            positions = problem.positions_at(unknowns)[problem.order]
            factor = partial(problem.system.linear.factor, positions=positions)
        if try_true and problem.system.linear.proves_definite:
            problem.fill(unknowns, project=False, step_fraction=true_at)
            try:
                factor(problem.system.matrix)
            except NotPositiveDefinite:
                pass
            else:
                return True
        true = problem.system.pattern.data.copy() if try_true and blends else None
        lin = problem.fill(unknowns)
        if true is not None and self._factor_between(problem.system, true, blends, factor):
            return False
        try:
            factor(problem.system.matrix)
        except NotPositiveDefinite as failure:
            raise StepFailed("the stiffness is not positive definite") from failure
        if is_own:
            system = problem.system
            system.factored.stamp, system.factored.contacts = system.linear.factored, lin.contacts
        return False

    def factor_for_directions(self, problem: StageEquations, unknowns: Vec) -> None:
        """Fill and factor the projected matrix at `unknowns`, (3 p,) [m/s], for `direction`, which may be inexact:
        blocks of little deformed tetrahedra may be reused. Raises StepFailed."""
        system, (v, x) = problem.system, problem.motion_at(unknowns)
        strained = system.reused_blocks.find_strained(problem.stage, problem.damped,
                                                      problem.forces.count_evaluations(), x)
        if strained is not None and self._refactor_reusing(problem, x, v, strained):
            return
        system.reused_blocks.forget()
        lin = problem.fill(unknowns)
        try:
            is_own = system.directions.factor(system.linear, system.matrix, lin, x[problem.order])
        except NotPositiveDefinite as failure:
            raise StepFailed("the stiffness is not positive definite") from failure
        if is_own:
            system.factored.stamp, system.factored.contacts = system.linear.factored, lin.contacts
        else:
            system.reused_blocks.take(problem.stage, problem.damped, problem.forces.count_evaluations(), lin,
                                      system.pattern, problem.physics.rest)
        system.directions.note(problem.stage)

    def direction(self, problem: StageEquations, residual: Vec) -> Vec:
        """Return the Newton direction (3 p,) [m/s] of a residual (3 p,) [N s], by the factor of
        `factor_for_directions`."""
        return problem.system.directions.solve(-residual)

    def approximate_solve(self, problem: StageEquations, rhs: Vec) -> Vec:
        """Return the solution of a right-hand side, both (3 p,), by the factor of `factor_for_directions`."""
        return problem.system.directions.solve(rhs)

    def _refactor_reusing(self, problem: StageEquations, x: Vec, v: Vec, strained: Index) -> bool:
        """Update the last factor to positions [m] and velocities [m/s], (n, 3), and reuse the blocks of its tetrahedra
        except strained ones; return whether that succeeded."""
        system = problem.system
        lin = problem.forces.linearise_reusing_at(x, v, problem.stage.time, strained)
        system.pattern.update_pairs(lin.others, stays=True)
        changed = system.reused_blocks.update(problem.order, lin, strained, problem.forces.count_evaluations())
        required_columns = system.directions.select_columns(system.linear, system.matrix, lin, changed)
        lin = lin if problem.damped is None else replace(lin, damped=problem.damped)
        if required_columns is not None:
            problem.stage.fill(system.pattern, lin, required_columns.reshape(-1, 3).any(axis=1))
            if not system.directions.refactor_columns(system.matrix):
                return False
        elif system.directions.can_refactor(system.linear, system.matrix, lin):
            problem.stage.fill(system.pattern, lin)
            if not system.directions.refactor(system.linear, system.matrix):
                return False
        else:
            return False
        system.directions.note(problem.stage)
        return True

    @staticmethod
    def _factor_between(system: StageMatrix, true: Vec, blends: Sequence[float],
                          factor: Callable[[sp.csc_matrix], None]) -> bool:
        """Factor the first definite blend of the true values and the projected ones, which are in the pattern and
        restored where there is none; return whether there is one."""
        data = system.pattern.data
        projected = data.copy()
        for fraction in blends:
            data[:] = fraction * projected + (1.0 - fraction) * true
            try:
                factor(system.matrix)
            except NotPositiveDefinite:
                continue
            return True
        data[:] = projected
        return False
