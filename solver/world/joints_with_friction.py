"""Friction inside the joints of a mechanism, coupled with its constraints."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ..bearings.bearings import Bearings
from ..bearings.bisp import efforts
from ..bearings.interface import JointFriction
from ..bearings.kernels import add_lines
from ..bearings.staggered import OtherRows
from ..errors import StepFailed
from ..parts.joints.interface import ConstraintSolution
from ..parts.joints.jointed import PosedTree
from ..rows.dense_dual import DenseDual, Solution
from ..rows.names import NO_MULTIPLIERS, Multipliers, RowMultipliers
from ..state import Vec
from .constraints import ConstraintRows, MechanismConstraints
from .friction_record import BEARINGS

#: memory of friction along the rows of the law in the last step [N], (r,), and of the names of these rows
FRICTION, FRICTION_NAMES = "joints.friction", "joints.friction_names"


@dataclass(frozen=True)
class ExternalSolution:
    """Multipliers of loops, drives, limits and contacts in a stage."""

    rows: ConstraintRows
    program: DenseDual
    unconstrained: Vec  #: rates without them, (m,)
    solution: Solution

    def position_correction(self) -> Vec | None:
        """Return the rates that correct positions beyond the solution, (m,), or None. Raises StepFailed."""
        return self.rows.position_correction(self.program, self.unconstrained, self.solution)


@dataclass(frozen=True)
class SolvedRows:
    """Solution of a stage of a mechanism for laws of joint friction."""

    posed: PosedTree
    rates: Vec  #: (m,)
    external: ExternalSolution | None = None  #: None without constraint rows

    @property
    def reaction(self) -> Vec:
        """Return the reactions of joints on bodies, (n, 6) [N m s, N s], without the impulses of rows.

        [Thesis 3.8, changed: rows act as on the jointed bodies, not on bodies set free, so Jᵀ f_α = 0]
        """
        out = self.posed.compute_carried_impulses(self.rates)
        if self.external is not None:
            out -= self.external.rows.on_bodies(self.external.solution, self.posed.owner.tree.count)
        return out

    @property
    def effort(self) -> Vec:
        """Return the generalised impulses of springs, motors, drives and limits, (m,) [N m s, N s]."""
        on_rates = self.posed.owner.on_rates
        out: Vec = on_rates.force - on_rates.times(self.rates)
        if self.external is not None:
            out += self.external.rows.on_rates(self.external.solution, len(self.rates))
        return out

    @property
    def in_loops(self) -> Vec | None:
        """Return the wrench of each loop on its first body, (l, 6) [N m s, N s]; None without loops."""
        if self.external is None or not len(self.external.rows.loops):
            return None
        loops = self.external.rows.loops
        out = np.zeros((int(loops.owner[-1]) + 1, 6))
        add_lines(loops.owner, self.external.solution.bilateral[:len(loops), None],
                  np.ascontiguousarray(loops.wrench[:, :1]), 1.0, out)
        return out


class StageRows:
    """Stage of a mechanism for laws of joint friction, with loops, drives, limits and contacts eliminated."""

    def __init__(self, posed: PosedTree, free: Vec, bearings: Bearings, outside: ConstraintRows | None,
                 warm: Multipliers | None = None) -> None:
        """free: unconstrained rates, (m,). outside: constraint rows; None without. warm: initial guess of their
        impulses. Raises StepFailed."""
        self._warm = warm
        self._posed, self._bearings, self.outside = posed, bearings, outside
        at, tree = posed.lin.posture, posed.owner.tree
        self.parent, self.dof, self.E, self.X, self.S = tree.parent, tree.dof, at.E, at.X, at.S
        self.respond = posed.respond
        self.free = free
        self._external: DenseDual | None = None
        if outside is not None:
            try:
                self._external = DenseDual(posed.respond, outside.bilateral, outside.unilateral, outside.friction)
            except ValueError as failure:
                raise StepFailed(str(failure)) from failure
            if len(outside.bilateral):
                self.respond = self._external.bilateral.respond

    def solve(self, impulses: Vec) -> SolvedRows:
        """Return the solution under given impulses on rates, (m,), that satisfies all rows. [Thesis 3.9]"""
        u = self.free + self._posed.respond(impulses) if impulses.any() else self.free
        if self._external is None:
            return SolvedRows(self._posed, u)
        assert self.outside is not None
        solution = self._external.solve(u, self._warm)
        return SolvedRows(self._posed, solution.u, ExternalSolution(self.outside, self._external, u, solution))

    @property
    def other_rows(self) -> OtherRows | None:
        """Return the rows of loops and contacts, for laws that treat the bodies as unconnected; None without rows."""
        outside = self.outside
        return None if outside is None else OtherRows(outside.loops, outside.contacts, outside.along,
                                                      outside.friction.friction,
                                                      outside.bilateral.name[:len(outside.loops)],
                                                      outside.unilateral.name[:len(outside.contacts)])

    @property
    def momentum(self) -> Vec:
        """Return the wrench w of bodies with those of joint springs and motors on both bodies of each joint, (n, 6)."""
        owner = self._posed.owner
        out: Vec = owner.wrench + self._between(efforts(self, self._bearings, owner.on_rates.force))
        return out

    def free_response(self, wrench: Vec) -> Vec:
        """Return S⁻¹ times impulses on bodies without joints, (n, 6, c). wrench: impulses, (n, 6, c)."""
        owner, n = self._posed.owner, len(self.parent)
        if not len(owner.springs) and not len(owner.on_rates.bodies):
            return np.linalg.solve(owner.diagonal, wrench)
        if self._dense is None:
            columns = np.eye(6 * n).reshape(n, 6, 6 * n)
            S = np.stack([self._posed.multiply(columns[:, :, c]) for c in range(6 * n)], axis=2)
            directions = unit_efforts(self, self._bearings)
            across = np.stack([self._between(directions[:, :, k]).ravel() for k in range(directions.shape[2])])
            stiff = np.stack([owner.on_rates.times(unit) for unit in np.eye(len(self.S))])
            self._dense = cho_factor(S.reshape(6 * n, 6 * n) + across.T @ stiff @ across)
        out: Vec = cho_solve(self._dense, wrench.reshape(6 * n, -1)).reshape(wrench.shape)
        return out

    _dense: tuple[Vec, bool] | None = None

    def _between(self, wrench: Vec) -> Vec:
        """Return wrenches on the child bodies of joints plus the opposite wrenches on their parents, (n, 6)."""
        out = wrench.copy()
        inner = np.flatnonzero(self.parent >= 0)
        np.subtract.at(out, self.parent[inner], np.matmul(wrench[inner][:, None, :], self.X[inner])[:, 0])
        return out


def unit_efforts(posed: StageRows, bearings: Bearings) -> Vec:
    """Return the wrenches on the child bodies of joints for a unit effort on each rate, (n, 6, m)."""
    return np.stack([efforts(posed, bearings, unit) for unit in np.eye(len(posed.S))], axis=2)


@dataclass(kw_only=True)
class JointsWithFriction(MechanismConstraints):
    """Constraints of a mechanism with friction in its joints, and counts of all stages since the world was built."""

    #: error that iterations of contact and friction may leave, relative to the rates; it differs between stages
    rates_tolerance = 1.0e-6
    law: JointFriction
    bearings: Bearings
    stages: int = field(default=0, init=False)
    sweeps: int = field(default=0, init=False)  #: of contact and friction
    iterations: int = field(default=0, init=False)  #: of quadratic programs
    unsettled: int = field(default=0, init=False)  #: stages whose sweeps did not converge

    def solve(self, posed: PosedTree, free: Vec) -> ConstraintSolution:
        """Return the rates and impulses that satisfy all rows with joint friction. Raises StepFailed.

        free: unconstrained rates, (m,).
        """
        rows = StageRows(posed, free, self.bearings, None if self.is_bare else self.rows(posed), self.warm_start(posed))
        fraction = posed.stage.a * posed.stage.h
        memory = posed.lin.memory
        warm = RowMultipliers(memory[FRICTION_NAMES].astype(np.int64), fraction * memory[FRICTION]) if (
            FRICTION_NAMES in memory) else NO_MULTIPLIERS
        result = self.law.solve(rows, self.bearings, warm)
        self.stages, self.sweeps = self.stages + 1, self.sweeps + result.sweeps
        self.iterations += result.iterations
        self.unsettled += not result.converged
        memory = {FRICTION: result.friction.value / fraction, FRICTION_NAMES: result.friction.name.astype(float)}
        unsettled = () if result.converged else (BEARINGS,)
        external = None if result.solved is None else result.solved.external
        if external is None:
            return ConstraintSolution(result.u, memory=memory, unsettled=unsettled, tolerance=self.rates_tolerance)
        constrained = self.store_solution(posed, external.rows, external.solution, external.position_correction())
        return replace(constrained, rates=result.u, memory={**constrained.memory, **memory},
                       unsettled=(*constrained.unsettled, *unsettled), tolerance=self.rates_tolerance)
