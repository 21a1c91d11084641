"""A stage of positions most of which have no inertia: they balance, and velocities follow the dynamic ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from ..assembly.edges import Edges
from ..assembly.linearised import Linearised
from ..errors import StepFailed
from ..linear.interface import Factoring, NotPositiveDefinite
from ..parts.conjac.inertia import CLOSE, MOST
from ..parts.interface import PositionInertia, Whole
from ..parts.stage import NodeStage
from ..state import Index, Vec
from .around_factor import AroundFactor
from .conjugate_gradients import ConjugateGradients
from .physics import Physics
from .problem import Evaluation, StageProblem
from .stage_matrix import StageMatrix


class FollowingProblem(StageProblem):
    """Σ slope of inertia − a h f(base + b h v) = 0 for the rates v of all free positions."""

    def __init__(self, physics: Physics, whole: Whole, stage: NodeStage, base: Vec, prescribed: Index,
                 inertia: PositionInertia, edges: Edges) -> None:
        """base: positions of all nodes at v = 0, (n, 3) [m]. whole: matrix and factor of all free nodes."""
        self._light = inertia.light
        self._directions = BesidesFactor(whole.linear, inertia, self._light, whole.pattern.order)
        system = StageMatrix(whole.pattern, whole.matrix, self._directions, edges)
        super().__init__(physics, system, stage, base, prescribed)
        self._position_inertia = inertia

    def evaluate(self, unknowns: Vec) -> Evaluation:
        v = self.velocities(unknowns)
        force, energy = self.forces.evaluate(self.positions(v), self.stage.time)
        slope, value = self._position_inertia.energy(v)
        residual = self._residual(slope[self.order], force)
        merit = np.inf if energy is None else value + self.stage.a / self.stage.b * energy
        self._last = Evaluation(unknowns, residual, merit if np.isfinite(merit) else np.inf)
        return self._last

    def fill(self, unknowns: Vec, project: bool = True, way_gone: float = 1.0) -> Linearised:
        """Write −a b h² K and a little mass into the pattern's matrix."""
        v = self.velocities(unknowns)
        lin = self.forces.linearise_at(self.positions(way_gone * v), v, self.stage.time, project)
        self.system.pattern.gather(lin.blocks, lin.node_blocks, -self.stage.stiffness_factor, self._light, lin.others)
        return lin

    def factor_for_directions(self, unknowns: Vec) -> None:
        """The same as `factor`: what balances needs them exact. Raises StepFailed."""
        self.factor(unknowns, False)

    def direction(self, residual: Vec) -> Vec:
        """Where that leads, (3 p,) [m/s]."""
        return self.system.linear.solve(-residual)

    def nearly(self, right: Vec) -> Vec:
        """About the same of a right side, for a fraction of the time."""
        directions = self._directions
        return directions.nearly(right) if directions.knows_inertia else directions.solve(right)

    def factor(self, unknowns: Vec, try_true: bool, true_at: float = 1.0,
               factor: Callable[[sp.csc_matrix], None] | None = None, blends: Sequence[float] = ()) -> bool:
        """Factor the projected matrix; answers are those of the true one as far as that is definite. Raises StepFailed.

        What balances without inertia is led too slowly by the projected one. The other arguments are of no use here.
        """
        if try_true:
            self.fill(unknowns, project=False)
            self._directions.true = self.system.matrix.copy()
        self.fill(unknowns)
        try:
            self._directions.factor(self.system.matrix, self.positions(self.velocities(unknowns))[self.order])
        except NotPositiveDefinite as failure:
            raise StepFailed("the stiffness is not positive definite") from failure
        return try_true


class BesidesFactor(AroundFactor):
    """Answers of the exact matrix, by conjugate gradients on a factor of one that has a little mass instead, and beside
    it the exact inertia by the columns W that this has: (L + W Wᵀ)⁻¹ = L⁻¹ − L⁻¹ W (1 + Wᵀ L⁻¹ W)⁻¹ Wᵀ L⁻¹.

    Without these a body that mirrors itself turned: what is left of the rounding on both sides, which a right-hand side
    that mirrors itself does not show to conjugate gradients, grew by each iteration from 1e-15 to 1e-10 of it.
    """

    def __init__(self, linear: Factoring, inertia: PositionInertia, light: Vec, order: Index) -> None:
        """light: that mass, (n,) [kg]. order: nodes of the unknowns."""
        super().__init__(linear)
        self._inertia, self._light, self._order = inertia, light, order
        self._lower, self._diagonal = sp.csc_matrix((0, 0)), np.zeros(0)
        self._gradients = ConjugateGradients(CLOSE, MOST)
        self._answers: Vec | None = None  #: L⁻¹ W of the last factor, over a root of 1 + Wᵀ L⁻¹ W, (m, r)
        self.true: sp.csc_matrix | None = None  #: whose answers are asked for, in place of the matrix that is factored

    def factor(self, lower: sp.csc_matrix, places: Vec | None = None) -> None:
        """Factor A. Raises NotPositiveDefinite."""
        self._inner.factor(lower, places)
        self._lower, self.true = lower if self.true is None else self.true, None
        self._diagonal = self._lower.diagonal() + np.repeat(self._light[self._order], 3)
        columns = self._inertia.columns if self._inner.proves_definite else None
        if columns is not None:
            right = columns[self._order].reshape(lower.shape[0], -1)
            answers = self._inner.solve(right)
            root = np.linalg.cholesky(np.eye(right.shape[1]) + right.T @ answers)
            self._answers = scipy.linalg.solve_triangular(root, answers.T, lower=True).T

    @property
    def knows_inertia(self) -> bool:
        """Whether the exact inertia stands beside the factor."""
        return self._answers is not None

    def solve(self, right: Vec) -> Vec:
        """A direction for a residual, both (m,); where the matrix curves down, as far as it does not."""
        return self._gradients.solve(self._times, right, self.nearly)

    def nearly(self, right: Vec) -> Vec:
        """The same by the factor and the columns W alone."""
        answer = self._inner.solve(right)
        return answer if self._answers is None else answer - self._answers @ (self._answers.T @ right)

    def _times(self, v: Vec) -> Vec:
        field = np.zeros((len(self._light), 3))
        field[self._order] = v.reshape(-1, 3)
        out: Vec = self._lower @ v + self._lower.T @ v - self._diagonal * v
        return out + self._inertia.times(field)[self._order].ravel()
