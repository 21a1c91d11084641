"""A stage of mostly quasistatic positions: they are in equilibrium, and velocities follow from the dynamic ones."""

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
from .conjugate_gradients import ConjugateGradients
from .factor_wrapper import FactorWrapper
from .forces_protocol import Physics
from .problem import Evaluation, StageProblem
from .stage_matrix import StageMatrix


class QuasistaticProblem(StageProblem):
    """Σ gradient of inertia − a h f(base + b h v) = 0 for the rates v of all free positions."""

    def __init__(self, physics: Physics, whole: Whole, stage: NodeStage, base: Vec, prescribed: Index,
                 inertia: PositionInertia, edges: Edges) -> None:
        """base: positions of all nodes at v = 0, (n, 3) [m]. whole: matrix and factor of all free nodes. inertia: of
        positions. edges: for step lengths."""
        self._regularisation_mass = inertia.regularisation_mass
        self._directions = InertiaUpdatedFactor(whole.linear, inertia, self._regularisation_mass, whole.pattern.order)
        system = StageMatrix(whole.pattern, whole.matrix, self._directions, edges)
        super().__init__(physics, system, stage, base, prescribed)
        self._position_inertia = inertia

    def evaluate(self, unknowns: Vec) -> Evaluation:
        v, x = self.motion_at(unknowns)
        force, energy = self.forces.evaluate(x, self.stage.time)
        slope, value = self._position_inertia.energy(v)
        residual: Vec = (slope - self.stage.a * self.stage.h * force)[self.order].ravel()
        merit = np.inf if energy is None else value + self.stage.a / self.stage.b * energy
        self._last = Evaluation(unknowns, residual, merit if np.isfinite(merit) else np.inf)
        return self._last

    def fill(self, unknowns: Vec, project: bool = True, step_fraction: float = 1.0) -> Linearised:
        """Write −a b h² K and the regularisation mass into the pattern's matrix; return the linearisation."""
        v = self.velocities(unknowns)
        lin = self.forces.linearise_at(self.positions(step_fraction * v), v, self.stage.time, project)
        self.system.pattern.gather(lin.blocks, lin.node_blocks, -self.stage.stiffness_factor,
                                   self._regularisation_mass, lin.others)
        return lin

    def factor_for_directions(self, unknowns: Vec) -> None:
        """Factor exactly: quasistatic positions converge only with exact directions. Raises StepFailed."""
        self.factor(unknowns, False)

    def direction(self, residual: Vec) -> Vec:
        """Return the Newton direction (3 p,) [m/s]."""
        return self.system.linear.solve(-residual)

    def approximate_solve(self, right: Vec) -> Vec:
        """Return an approximate solution (3 p,) of a right-hand side, for a fraction of the time."""
        directions = self._directions
        return directions.approximate_solve(right) if directions.has_inertia_update else directions.solve(right)

    def factor(self, unknowns: Vec, try_true: bool, true_at: float = 1.0,
               factor: Callable[[sp.csc_matrix], None] | None = None, blends: Sequence[float] = ()) -> bool:
        """Factor the projected matrix; solutions are those of the true one as far as that is definite. Returns
        `try_true`.

        With projected stiffness alone quasistatic positions converge too slowly. The other arguments have no effect.
        Raises StepFailed.
        """
        if try_true:
            self.fill(unknowns, project=False)
            self._directions.true = self.system.matrix.copy()
        self.fill(unknowns)
        try:
            self._directions.factor(self.system.matrix, self.positions_at(unknowns)[self.order])
        except NotPositiveDefinite as failure:
            raise StepFailed("the stiffness is not positive definite") from failure
        return try_true


class InertiaUpdatedFactor(FactorWrapper):
    """Solves with the exact matrix, by conjugate gradients on a factor that has a regularisation mass in place of the
    exact inertia W Wᵀ, which is added by (L + W Wᵀ)⁻¹ = L⁻¹ − L⁻¹ W (1 + Wᵀ L⁻¹ W)⁻¹ Wᵀ L⁻¹.

    Without this update a mirror-symmetric body rotated: rounding errors that differ on both sides, which a symmetric
    right-hand side hides from conjugate gradients, grew with each iteration from 1e-15 to 1e-10 of the solution.
    """

    def __init__(self, linear: Factoring, inertia: PositionInertia, regularisation_mass: Vec, order: Index) -> None:
        """regularisation_mass: (n,) [kg]. order: nodes of the unknowns."""
        super().__init__(linear)
        self._inertia, self._regularisation_mass, self._order = inertia, regularisation_mass, order
        self._lower, self._diagonal = sp.csc_matrix((0, 0)), np.zeros(0)
        self._gradients = ConjugateGradients(CLOSE, MOST)
        #: L⁻¹ W of the last factor times the inverse Cholesky factor of 1 + Wᵀ L⁻¹ W, (m, r)
        self._inertia_solutions: Vec | None = None
        self.true: sp.csc_matrix | None = None  #: the matrix to solve with, where it is not the one that is factored

    def factor(self, lower: sp.csc_matrix, positions: Vec | None = None) -> None:
        """Factor A. Raises NotPositiveDefinite."""
        self._inner.factor(lower, positions)
        self._lower, self.true = lower if self.true is None else self.true, None
        self._diagonal = self._lower.diagonal() + np.repeat(self._regularisation_mass[self._order], 3)
        columns = self._inertia.columns if self._inner.proves_definite else None
        if columns is not None:
            right = columns[self._order].reshape(lower.shape[0], -1)
            solutions = self._inner.solve(right)
            root = np.linalg.cholesky(np.eye(right.shape[1]) + right.T @ solutions)
            self._inertia_solutions = scipy.linalg.solve_triangular(root, solutions.T, lower=True).T

    @property
    def has_inertia_update(self) -> bool:
        """Whether solutions of the factor are corrected by the exact inertia."""
        return self._inertia_solutions is not None

    def solve(self, right: Vec) -> Vec:
        """Return a descent direction for a right-hand side, both (m,); conjugate gradients stop at negative curvature.
        """
        return self._gradients.solve(self._times, right, self.approximate_solve)

    def approximate_solve(self, right: Vec) -> Vec:
        """Return the solution (m,) by the factor and its inertia update alone."""
        solution = self._inner.solve(right)
        if self._inertia_solutions is None:
            return solution
        return solution - self._inertia_solutions @ (self._inertia_solutions.T @ right)

    def _times(self, v: Vec) -> Vec:
        field = np.zeros((len(self._regularisation_mass), 3))
        field[self._order] = v.reshape(-1, 3)
        out: Vec = self._lower @ v + self._lower.T @ v - self._diagonal * v
        return out + self._inertia.times(field)[self._order].ravel()
