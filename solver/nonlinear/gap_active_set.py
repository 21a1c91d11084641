"""Newton's method with inequality constraints on gaps: each direction solves a quadratic program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.sparse as sp

from ..contact.laws.interface import Bounds, Gaps
from ..errors import StepFailed
from ..iteration.iterate import iterate
from ..iteration.protocol import Bound, Exhausted, StageDirections, Stop
from ..parts.line_search import search
from ..rows.dense_dual import DenseDual
from ..rows.names import KIND, Multipliers
from ..rows.tables import ConeRows, DenseRows, SparseRows
from ..state import Vec
from .bounded_search import LARGEST_STEP, BoundedSearch
from .contact_iterations import CLEARANCE_REMEDY
from .evaluation import Evaluation
from .fallback_euler import StageNotConverged
from .interface import StageSolver
from .intersection_free import COMPLIANT_PINS_REMEDY
from .limits import remaining as remaining
from .prescribed_increments import stiffness_product
from .problem import StageProblem
from .residual_report import ResidualReport


@dataclass(frozen=True)
class PenalisedEvaluation:
    """A trial point with a penalty for its violated gaps."""

    at: Evaluation
    merit: float  #: merit plus penalty [J]
    violation: float  #: largest violation of a gap [m]
    size: float
    norm: float


@dataclass(frozen=True)
class GapIterate:
    """An iterate of a stage with gap constraints."""

    unknowns: Vec  #: (3 p,) [m/s]
    prescribed_left: Vec  #: of the prescribed nodes' motion, which contact has blocked so far, (n, 3) [m]

    @property
    def is_blocked(self) -> bool:
        """Whether prescribed motion is left."""
        return bool(self.prescribed_left.any())


@dataclass(frozen=True)
class GapDirection:
    """The solution of a program of gaps."""

    problem: StageProblem  #: with prescribed nodes where contact has blocked them
    at: Evaluation  #: at the iterate
    vector: Vec  #: (3 p,) [m/s]
    impulse: Vec  #: multipliers of the gaps, (k,) [N s]
    gaps: Gaps


@dataclass(frozen=True)
class GapStep:
    """A step along a direction."""

    after: GapIterate
    direction: GapDirection
    at: Evaluation | None  #: after it; None while prescribed motion is left
    fraction: float  #: of the direction that was taken

    @property
    def is_full(self) -> bool:
        """Whether the whole direction was taken."""
        return self.fraction == 1.0


class GapActiveSet(StageDirections[StageProblem, GapIterate, GapStep, GapDirection],
                   Bound[StageProblem, GapIterate, GapDirection, GapStep], Stop[GapStep]):
    """Solver of one stage with gap constraints: min ½ |v − v̂|²_M + (a/b) W subject to open gaps. [Ascher 28]"""

    max_iterations = 60  #: largest number of iterations of a stage
    #: rounds of contact detection along a direction in an iteration: new pairs are added to the program
    detection_rounds = 4
    penalty_ratio = 2.0  #: penalty of a violated gap relative to the largest multiplier
    closed = 0.05  #: admissible violation, relative to the smallest gap that a stage enforces
    free = 1.0e-6  #: violation without a penalty, relative to the admissible one
    closer = 0.5  #: relative to the net force: a smaller one after a full step is accepted without a test of the merit
    shortest = 1.0e-8  #: smallest step length of the line search

    def __init__(self, problem: StageProblem, bounds: Sequence[Bounds], solver: StageSolver, open_by: float) -> None:
        """bounds: the gap constraints. solver: stage solver whose limits decide convergence. open_by: the smallest gap
        that a stage enforces [m]."""
        self._problem, self._bounds, self._limits = problem, bounds, solver.limits
        self._closed = self.closed * open_by
        self._seconds = problem.stage.b * problem.stage.h
        self._columns = (3 * problem.order[:, None] + np.arange(3)).ravel()
        self._zero_motion = np.zeros((len(problem.physics.mass), 3))
        self._penalty = 0.0  #: of the rate of a gap [N s]
        self._warm: Multipliers | None = None  #: of the last program
        self._evaluation: Evaluation | None = None  #: at the start of the last iteration
        self._goal, self._moved = -1.0, 0.0  #: largest admissible residual [N s]; strain of the last full step
        self._steps = 0  #: accepted steps so far

    def solve(self, step_start: Vec, guess: Vec) -> Vec:
        """Return the unknowns (3 p,) [m/s] of the stage. Raises StageNotConverged where a linearised step may replace
        the stage, else StepFailed.

        step_start: positions at the start of the step, (n, 3) [m], free of intersections. guess: velocities, (3 p,)
        [m/s].
        """
        first = self._start(step_start, guess)
        self._evaluation, self._goal, self._moved, self._steps = None, -1.0, 0.0, 0
        end = iterate(self._problem, first, self, self, self, self.max_iterations)
        if end.has_converged or self._limits.accepts and not end.at.is_blocked:
            return self._record_forces(end.at.unknowns)
        assert self._evaluation is not None
        worst = ResidualReport(self._problem).worst_node(self._evaluation)
        raise self._not_converged(f"gap constraints did not converge in {self.max_iterations} iterations",
                                  self._problem.physics.body_of(worst))

    def find(self, problem: StageProblem, at: GapIterate, last: GapStep | None) -> GapDirection:
        """Return the direction that solves the program of the gaps at an iterate. Raises Exhausted where the matrix
        cannot be factored at an iterate that may be accepted; StageNotConverged or StepFailed where it cannot at
        another."""
        try:
            if at.is_blocked:
                problem = problem.displace_by(-at.prescribed_left)
            problem.factors.factor(problem, at.unknowns, False)
            self._evaluation = evaluation = problem.evaluate(at.unknowns)
            self._goal = self._limits.goal(problem, evaluation) if self._goal < 0.0 else self._goal
            vector, impulse, gaps = self._direction(problem, evaluation, at.prescribed_left)
        except StepFailed as failure:
            self.retries(problem, at, failure)
            raise Exhausted from failure
        return GapDirection(problem, evaluation, vector, impulse, gaps)

    def step_along(self, problem: StageProblem, at: GapIterate, direction: GapDirection) -> GapStep:
        """Return the step along a direction: as long as contact allows while prescribed motion is left, else one that
        lowers the penalised merit. Raises StepFailed."""
        problem, vector = direction.problem, direction.vector
        if at.is_blocked:
            unknowns, prescribed_left = self._advance_prescribed(problem, at.unknowns, vector, at.prescribed_left)
            return GapStep(GapIterate(unknowns, prescribed_left), direction, None, 0.0)
        after, fraction = self._search_along(problem, direction.at, vector, direction.impulse, direction.gaps)
        return GapStep(GapIterate(after.unknowns, at.prescribed_left), direction, after, fraction)

    def retries(self, problem: StageProblem, at: GapIterate, failure: StepFailed) -> bool:
        """Return False where the iterate may be accepted. Raises StageNotConverged or StepFailed otherwise."""
        if self._limits.accepts and self._steps and not at.is_blocked:
            return False
        raise self._not_converged(str(failure), failure.object) from failure

    def is_done(self, step: GapStep) -> bool:
        """Whether the remaining change after a full step is not visible, or the residual within its tolerance."""
        self._steps += 1
        if step.at is None:
            return False
        problem, direction = step.direction.problem, step.direction
        moved, last = problem.strain(step.fraction * direction.vector), self._moved
        self._moved = moved if step.is_full else 0.0
        return step.is_full and self._is_solved(direction, step.at, moved, last)

    def _start(self, step_start: Vec, guess: Vec) -> GapIterate:
        """Return the iterate as near to a guess as contact allows."""
        problem = self._problem
        end = problem.positions_at(guess)
        fractions = problem.physics.largest_steps(step_start, end)
        if fractions.min() == 1.0:
            return GapIterate(guess, self._zero_motion)
        x = step_start + fractions[:, None] * (end - step_start)
        if problem.system.edges.largest_change(x - step_start) > LARGEST_STEP:
            x = step_start + problem.physics.largest_step(step_start, end) * (end - step_start)
        for bound in self._bounds:
            bound.add_near_pairs(x)
        unknowns = problem.unknowns_at(x)
        prescribed_left = problem.positions_at(unknowns) - x
        prescribed_left[problem.order] = 0.0
        return GapIterate(unknowns, prescribed_left)

    def _direction(self, problem: StageProblem, at: Evaluation, prescribed_left: Vec) -> tuple[Vec, Vec, Gaps]:
        """Return the direction (3 p,) [m/s], the multipliers of all gaps (k,) [N s], and the gaps.

        Pairs that the direction would bring into contact are added to the program, so one program finds all pairs of an
        impact.
        """
        start = problem.positions_at(at.unknowns)
        residual = at.residual
        if prescribed_left.any():
            lin = problem.forces.linearise_at(start, None, problem.stage.time)
            residual = residual - problem.stage.a * problem.stage.h * stiffness_product(lin, problem.tets,
                                                                                        prescribed_left)[
                problem.order].ravel()
        free = problem.system.linear.solve(-residual)
        for _ in range(self.detection_rounds):
            gaps = self._gaps(start)
            direction, impulse = self._gap_program(problem, gaps, free, prescribed_left)
            moved = problem.displacement(direction) + prescribed_left
            fractions = problem.physics.largest_steps(start, start + moved)
            if fractions.min() == 1.0:
                break
            known = len(gaps.gap)
            for bound in self._bounds:
                bound.add_near_pairs(start + fractions[:, None] * moved)
            if len(self._gaps(start).gap) == known:
                break
        return direction, impulse, gaps

    def _gap_program(self, problem: StageProblem, gaps: Gaps, free: Vec, prescribed_left: Vec) -> tuple[Vec, Vec]:
        """Return the direction nearest to an unconstrained one that leaves gaps open to first order, and the gaps'
        multipliers."""
        N = gaps.normals[:, self._columns]
        target = -(gaps.gap + gaps.normals @ prescribed_left.ravel()) / self._seconds
        impulse, direction = np.zeros(len(gaps.gap)), free
        none, no_cones = DenseRows.none(len(free)), ConeRows.none(len(free))
        near = np.flatnonzero(N @ free - target < 0.0)
        # gaps that the other multipliers would close are added in turn
        while len(near):
            rows = SparseRows.hard(N[near], target[near], np.zeros(len(near), np.bool_), gaps.name[near])
            solution = DenseDual(partial(_respond, problem), none, rows, no_cones).solve(free, self._warm)
            direction, impulses, self._warm = solution.u, solution.unilateral, solution.active
            short = np.flatnonzero(N @ direction - target < -1.0e-6 * self._closed / self._seconds)
            added = np.setdiff1d(short, near)
            if not len(added):
                break
            near = np.union1d(near, added)
        if len(near):
            impulse[near] = impulses
        return direction, impulse

    def _advance_prescribed(self, problem: StageProblem, unknowns: Vec, direction: Vec,
                            prescribed_left: Vec) -> tuple[Vec, Vec]:
        """Return unknowns and the remaining prescribed displacement after a step that is as long as contact allows.
        Raises StepFailed."""
        fraction = BoundedSearch(problem).longest(unknowns, problem.displacement(direction) + prescribed_left)
        if fraction < self.shortest:
            furthest = int(np.abs(prescribed_left).max(axis=1).argmax())
            x = problem.positions_at(unknowns)[furthest]
            raise StepFailed(f"an animated part is blocked near ({', '.join(f'{c:.4g}' for c in x)}) m, with "
                             f"{np.abs(prescribed_left).max():.3g} m of its motion left",
                             problem.physics.body_of(furthest), COMPLIANT_PINS_REMEDY)
        return unknowns + fraction * direction, (1.0 - fraction) * prescribed_left

    def _search_along(self, problem: StageProblem, at: Evaluation, direction: Vec, impulse: Vec,
                      gaps: Gaps) -> tuple[Evaluation, float]:
        """Return the evaluation after the first of the steps that lowers the penalised merit, and its length. Raises
        StepFailed."""
        self._penalty = max(self._penalty, self.penalty_ratio * float(impulse.max(initial=0.0)))
        bounded = BoundedSearch(problem)
        longest = bounded.longest(at.unknowns, problem.displacement(direction))
        contact_impulse = gaps.normals[:, self._columns].T @ impulse
        start = self._penalise(at, gaps, contact_impulse)
        slope = float(np.vdot(at.residual, direction)) - (start.merit - _merit(at))

        def trial(step: float) -> PenalisedEvaluation:
            evaluation = problem.evaluate(at.unknowns + step * direction)
            return self._penalise(evaluation, self._gaps(problem.positions_at(evaluation.unknowns)),
                                   contact_impulse)

        whole = trial(longest) if longest == 1.0 else None
        if whole is not None and whole.violation <= self._closed and whole.size <= self.closer * start.size:
            return whole.at, 1.0
        accepted = search(start, trial, longest, self.shortest * longest, min(slope, 0.0), bounded.noise(at))
        if accepted is None:
            raise problem.report_failure("no step lowers the energy and keeps gaps open", at)
        return accepted[0].at, accepted[1]

    def _penalise(self, at: Evaluation, gaps: Gaps, contact_impulse: Vec) -> PenalisedEvaluation:
        short = float(np.maximum(-gaps.gap - self.free * self._closed, 0.0).sum())
        prescribed_left = np.abs(at.residual - contact_impulse)
        return PenalisedEvaluation(at, _merit(at) + self._penalty * short / self._seconds,
                                   float(-gaps.gap.min(initial=0.0)),
                                   float(prescribed_left.max()), float(np.linalg.norm(prescribed_left)))

    def _is_solved(self, direction: GapDirection, at: Evaluation, moved: float, last: float) -> bool:
        """Whether the remaining change after a full step is not visible, or the residual within its tolerance. at: the
        evaluation after it. moved, last: strain of this step and of the full one before it."""
        problem, gaps = direction.problem, direction.gaps
        now = self._gaps(problem.positions_at(at.unknowns))
        if len(now.gap) and float(-now.gap.min()) > self._closed:
            return False
        if self._limits.strain_left:
            return min(moved, remaining(moved, last)) <= self._limits.strain_left
        if not problem.moves(direction.vector):
            return True
        impulse = gaps.normals[:, self._columns].T @ direction.impulse
        return float(np.abs(at.residual - impulse).max(initial=0.0)) <= self._goal

    def _gaps(self, x: Vec) -> Gaps:
        gaps = [bound.gaps(x) for bound in self._bounds]
        if len(gaps) == 1:
            return gaps[0]
        return Gaps(sp.vstack([table.normals for table in gaps], format="csr"),
                    np.concatenate([table.gap for table in gaps]),
                    np.concatenate([table.name + k * KIND for k, table in enumerate(gaps)]))

    def _record_forces(self, unknowns: Vec) -> Vec:
        """Return the unknowns, after each bound has recorded its contact forces as of the last factor."""
        problem = self._problem
        impulse = self._direction(problem, problem.evaluate_once(unknowns), self._zero_motion)[1]
        forces, first = impulse / (problem.stage.a * problem.stage.h), 0
        x = problem.positions_at(unknowns)
        for bound in self._bounds:
            count = len(bound.gaps(x).gap)
            bound.record_forces(x, forces[first : first + count])
            first += count
        return unknowns

    def _not_converged(self, message: str, name: str | None) -> StepFailed:
        kind = StageNotConverged if self._limits.strain_left and self._problem.stage.inertia else StepFailed
        return kind(message, name, CLEARANCE_REMEDY)


def _merit(at: Evaluation) -> float:
    return np.inf if at.merit is None else at.merit


def _respond(problem: StageProblem, impulses: Vec) -> Vec:
    """Return A⁻¹ of impulses, both (3 p, k)."""
    return np.column_stack([problem.system.linear.solve(np.ascontiguousarray(column)) for column in impulses.T])
