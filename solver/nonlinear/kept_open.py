"""Newton's method under gaps that have to stay open: each iteration's direction is that of a quadratic program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..constraints.bounded_program import BoundedProgram
from ..contact.laws.interface import Bounds, Gaps
from ..errors import StepFailed
from ..parts.line_search import search
from ..state import Vec
from .approach import LET_YIELD, pulled
from .calm import GaveUp
from .interface import StageSolver
from .limits import left as left_ahead
from .problem import LARGEST_STEP, Evaluation, StageProblem

TRIES = 60  #: iterations after which a stage is given up
LOOKS = 4  #: times in an iteration that it is looked where a direction leads: what meets there is kept apart as well
INDETERMINATE = 1.0e-9  #: of the mean of what gaps answer each other: two that say the same are softened by so much
STEEP = 2.0  #: times the hardest push: what a gap that is not kept open costs
SHUT = 0.05  #: of the narrowest gap that is kept open: so much may be missing of it
FREE = 1.0e-6  #: of that: what costs nothing
CLOSER = 0.5  #: of the net force that pushes leave: less of it after a whole step is proof enough
SHORTEST = 1.0e-8  #: share of a step that a line search tries
MORE_ROOM = "Give what touches there more room, move it more slowly, or use shorter steps"


@dataclass(frozen=True)
class Costing:
    """A trial point whose gaps cost what they are short of."""

    at: Evaluation
    merit: float  #: with that cost [J]
    shut: float  #: what the worst of them is short of [m]
    size: float
    norm: float


class KeptOpen:
    """One stage: min ½ |v − v̂|²_M + (a/b) W over what leaves all gaps open. [Ascher 28]"""

    def __init__(self, problem: StageProblem, bounds: Sequence[Bounds], solver: StageSolver, open_by: float) -> None:
        """open_by: the narrowest gap that is kept open [m]."""
        self._problem, self._bounds, self._limits = problem, bounds, solver.limits
        self._shut = SHUT * open_by
        self._seconds = problem.stage.b * problem.stage.h
        self._columns = (3 * problem.order[:, None] + np.arange(3)).ravel()
        self._none_left = np.zeros((len(problem.physics.mass), 3))
        self._price = 0.0  #: of a gap's speed [N s]

    def solve(self, begun: Vec, guess: Vec) -> Vec:
        """Unknowns (3 p,) [m/s]. Raises StepFailed, GaveUp where a linearised step would do.

        begun: positions where the step stands, (n, 3) [m], in which nothing crosses. guess: velocities, (3 p,).
        """
        unknowns, left = self._start(begun, guess)
        goal, last, push = -1.0, 0.0, np.zeros(0)
        for count in range(TRIES):
            problem = self._problem.lagging(-left) if left.any() else self._problem
            try:
                problem.factor(unknowns, False)
                at = problem.evaluate(unknowns)
                goal = self._limits.goal(problem, at) if goal < 0.0 else goal
                direction, push, gaps = self._direction(problem, at, left)
                if left.any():
                    unknowns, left = self._led(problem, unknowns, direction, left)
                    continue
                after, share = self._searched(problem, at, direction, push, gaps)
            except StepFailed as failure:
                if self._limits.accepts and count and not left.any():
                    return self._told(unknowns)
                raise self._given_up(str(failure), failure.object) from failure
            moved = problem.strain(share * direction)
            unknowns = after.unknowns
            if share == 1.0 and self._is_solved(problem, after, push, gaps, direction, goal, moved, last):
                return self._told(unknowns)
            last = moved if share == 1.0 else 0.0
        if self._limits.accepts and not left.any():
            return self._told(unknowns)
        raise self._given_up(f"gaps did not settle in {TRIES} iterations", self._problem.physics.body_of(
            self._problem.worst(at)))

    def _start(self, begun: Vec, guess: Vec) -> tuple[Vec, Vec]:
        """Unknowns that let nothing meet, as near to a guess as may be, and what is left of what is prescribed [m]."""
        problem = self._problem
        end = problem.positions(problem.velocities(guess))
        shares = problem.physics.largest_steps(begun, end)
        if shares.min() == 1.0:
            return guess, self._none_left
        x = begun + shares[:, None] * (end - begun)
        if problem.system.edges.largest_change(x - begun) > LARGEST_STEP:
            x = begun + problem.physics.largest_step(begun, end) * (end - begun)
        for bound in self._bounds:
            bound.look(x)
        unknowns = problem.unknowns_at(x)
        left = problem.positions(problem.velocities(unknowns)) - x
        left[problem.order] = 0.0
        return unknowns, left

    def _direction(self, problem: StageProblem, at: Evaluation, left: Vec) -> tuple[Vec, Vec, Gaps]:
        """(3 p,) [m/s], the pushes on all gaps (k,) [N s], and these.

        What a direction would lead into is kept apart as well: one program finds all that an impact touches.
        """
        start = problem.positions(problem.velocities(at.unknowns))
        residual = at.residual
        if left.any():
            lin = problem.forces.linearise_at(start, None, problem.stage.time)
            residual = residual - problem.stage.a * problem.stage.h * pulled(lin, problem.tets, left)[
                problem.order].ravel()
        free = problem.system.linear.solve(-residual)
        for _ in range(LOOKS):
            gaps = self._gaps(start)
            direction, push = self._kept(problem, gaps, free, left)
            moved = problem.displacement(direction) + left
            shares = problem.physics.largest_steps(start, start + moved)
            if shares.min() == 1.0:
                break
            known = len(gaps.gap)
            for bound in self._bounds:
                bound.look(start + shares[:, None] * moved)
            if len(self._gaps(start).gap) == known:
                break
        return direction, push, gaps

    def _kept(self, problem: StageProblem, gaps: Gaps, free: Vec, left: Vec) -> tuple[Vec, Vec]:
        """The direction nearest to a free one that leaves gaps open to first order, and the pushes on them."""
        N = gaps.normals[:, self._columns]
        wanted = -(gaps.gap + gaps.normals @ left.ravel()) / self._seconds
        push, direction = np.zeros(len(gaps.gap)), free
        near = np.flatnonzero(N @ free - wanted < 0.0)
        # gaps that the others' pushes would close come in turn
        while len(near):
            rows = N[near]
            answers = _solved(problem, rows)
            W = rows @ answers
            W = 0.5 * (W + W.T)
            W[np.diag_indices_from(W)] += INDETERMINATE * float(np.trace(W)) / max(len(W), 1) + _LEAST
            slip = rows @ free - wanted[near]
            few = BoundedProgram(W, slip).solve(slip, np.zeros(len(near)), np.full(len(near), np.inf))
            direction = free + answers @ few
            short = np.flatnonzero(N @ direction - wanted < -1.0e-6 * self._shut / self._seconds)
            news = np.setdiff1d(short, near)
            if not len(news):
                break
            near = np.union1d(near, news)
        if len(near):
            push[near] = few
        return direction, push

    def _led(self, problem: StageProblem, unknowns: Vec, direction: Vec, left: Vec) -> tuple[Vec, Vec]:
        """Unknowns and what is left once what is prescribed went as far as nothing meets. Raises StepFailed."""
        share = problem.longest(unknowns, problem.displacement(direction) + left)
        if share < SHORTEST:
            furthest = int(np.abs(left).max(axis=1).argmax())
            x = problem.positions(problem.velocities(unknowns))[furthest]
            raise StepFailed(f"what is moved by hand has {np.abs(left).max():.3g} m of its way left near "
                             f"({', '.join(f'{c:.4g}' for c in x)}) m and something is before it",
                             problem.physics.body_of(furthest), LET_YIELD)
        return unknowns + share * direction, (1.0 - share) * left

    def _searched(self, problem: StageProblem, at: Evaluation, direction: Vec, push: Vec,
                  gaps: Gaps) -> tuple[Evaluation, float]:
        """The first of the steps that lowers the merit with what gaps cost, and its length. Raises StepFailed."""
        self._price = max(self._price, STEEP * float(push.max(initial=0.0)))
        longest = problem.longest(at.unknowns, problem.displacement(direction))
        push_back = gaps.normals[:, self._columns].T @ push
        start = self._costing(at, gaps, push_back)
        slope = float(np.vdot(at.residual, direction)) - (start.merit - _merit(at))

        def trial(step: float) -> Costing:
            there = problem.evaluate(at.unknowns + step * direction)
            return self._costing(there, self._gaps(problem.positions(problem.velocities(there.unknowns))),
                                 push_back)

        whole = trial(longest) if longest == 1.0 else None
        if whole is not None and whole.shut <= self._shut and whole.size <= CLOSER * start.size:
            return whole.at, 1.0
        found = search(start, trial, longest, SHORTEST * longest, min(slope, 0.0), problem.noise(at))
        if found is None:
            raise problem.failed("no step lowers the energy and keeps gaps open", at)
        return found[0].at, found[1]

    def _costing(self, at: Evaluation, gaps: Gaps, push_back: Vec) -> Costing:
        short = float(np.maximum(-gaps.gap - FREE * self._shut, 0.0).sum())
        left = np.abs(at.residual - push_back)
        return Costing(at, _merit(at) + self._price * short / self._seconds, float(-gaps.gap.min(initial=0.0)),
                       float(left.max()), float(np.linalg.norm(left)))

    def _is_solved(self, problem: StageProblem, at: Evaluation, push: Vec, gaps: Gaps, direction: Vec, goal: float,
                   moved: float, last: float) -> bool:
        """Whether nothing is left that shows, or no more than a share of the first force."""
        now = self._gaps(problem.positions(problem.velocities(at.unknowns)))
        if len(now.gap) and float(-now.gap.min()) > self._shut:
            return False
        if self._limits.strain_left:
            return min(moved, left_ahead(moved, last)) <= self._limits.strain_left
        if not problem.moves(direction):
            return True
        return float(np.abs(at.residual - gaps.normals[:, self._columns].T @ push).max(initial=0.0)) <= goal

    def _gaps(self, x: Vec) -> Gaps:
        found = [bound.gaps(x) for bound in self._bounds]
        if len(found) == 1:
            return found[0]
        return Gaps(sp.vstack([one.normals for one in found], format="csr"),
                    np.concatenate([one.gap for one in found]))

    def _told(self, unknowns: Vec) -> Vec:
        """The unknowns; who holds gaps is told how hard, as far as the last factor knows."""
        problem = self._problem
        push = self._direction(problem, problem.evaluated(unknowns), self._none_left)[1]
        forces, first = push / (problem.stage.a * problem.stage.h), 0
        x = problem.positions(problem.velocities(unknowns))
        for bound in self._bounds:
            count = len(bound.gaps(x).gap)
            bound.pushed(x, forces[first : first + count])
            first += count
        return unknowns

    def _given_up(self, said: str, name: str | None) -> StepFailed:
        kind = GaveUp if self._limits.strain_left and self._problem.stage.inertia else StepFailed
        return kind(said, name, MORE_ROOM)


def _merit(at: Evaluation) -> float:
    return np.inf if at.merit is None else at.merit


def _solved(problem: StageProblem, rows: sp.csr_matrix) -> Vec:
    """A⁻¹ Nᵀ, (3 p, k)."""
    right = rows.toarray().T
    return np.column_stack([problem.system.linear.solve(np.ascontiguousarray(right[:, k]))
                            for k in range(right.shape[1])]) if right.shape[1] else right


_LEAST = float(np.finfo(float).tiny)
