"""Conjugate gradients with a V-cycle of smoothed aggregation: for meshes whose factor is too large or too slow.

Time and memory are proportional to the number of elements. The V-cycle is built once and reused while that pays; each
solve starts from the last solution.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ...errors import StepFailed
from ...state import Index, Vec
from ..analysed import Analysed
from ..banded import order_banded
from ..bordered import Bordered, block_diagonal
from ..interface import NotPositiveDefinite
from ..spread import Spread
from .columns import Columns, NegativeCurvature
from .hierarchy import Hierarchy, NotDefinite

TOLERANCE = 1.0e-6  #: |A x − b| over |b|; where a body comes to rest does not depend on it
PATIENCE = 8  #: iterations that building the V-cycle costs, of sixteen columns; of one, twice as many
MOST = 500  #: iterations of a solve
MOST_ON_OLD = 60  #: with a V-cycle that was built for an earlier matrix


class Multigrid(Bordered):
    """LinearSolver by conjugate gradients with multigrid, which factors nothing."""

    proves_definite = False

    def __init__(self) -> None:
        self.why = "conjugate gradients with multigrid"
        self.remarks: list[str] = []
        self.factored = 0
        self.built = 0  #: V-cycles so far
        self._built_for = 0
        self._columns = Columns(TOLERANCE, MOST)
        self._hierarchy: Hierarchy | None = None

    @property
    def tolerance(self) -> float:
        """Return the largest accepted |A x − b| / |b| of a column."""
        return self._columns.tolerance

    @tolerance.setter
    def tolerance(self, value: float) -> None:
        self._columns.tolerance = value

    @property
    def taken(self) -> int:
        """Return the number of iterations of the last solve."""
        return self._columns.taken

    @staticmethod
    def order(graph: sp.csc_matrix, lasts: bool = True) -> Index:
        """Return a banded order of the nodes of a graph (n, n), (n,), in which neighbours are close together in
        memory."""
        return order_banded(graph)

    def analyse(self, lower: sp.csc_matrix, retained: int) -> None:
        """Take the sparsity pattern of a lower triangle (m, m); `condense` is for the last `retained` unknowns."""
        self._spread, self._analysed = Spread(lower, retained), Analysed(lower)
        self.forget_past()

    def forget_past(self) -> None:
        """Discard the V-cycle and all earlier solutions: the next solve starts from zero."""
        self._hierarchy = None
        self._spent: list[int] = []  #: iterations for each matrix since the V-cycle was built
        self._since = 0
        self._last: dict[str, Vec] = {}
        self._jacobian = None

    def factor(self, lower: sp.csc_matrix, positions: Vec | None = None) -> None:
        """Take the values of the lower triangle (m, m), and build the V-cycle where there is none or a new one pays.

        positions: of the nodes of the rows [m], (m/3, 3). Raises NotPositiveDefinite only where the build detects it.
        """
        self.factored += 1
        if not self._analysed.is_of(lower):
            self.analyse(lower, self._spread.retained)
        if self._since:
            self._spent.append(self._since)
        self._since = 0
        self._lower, self._jacobian = lower, None
        self._spread.fill(lower)
        self._positions = None if positions is None else positions[: self._spread.inner // 3]
        if self._hierarchy is None or self._is_outdated:
            self._build()

    @property
    def _is_outdated(self) -> bool:
        """Whether a new V-cycle pays: the last matrix took more iterations than all since the last build on average,
        the cost of the build included."""
        spent = self._spent
        return bool(spent) and spent[-1] * len(spent) > PATIENCE + sum(spent)

    def _build(self) -> None:
        """Build the V-cycle of the present matrix. Raises NotPositiveDefinite."""
        self._spent, self._since = [], 0
        self._hierarchy = None  # its memory first
        try:
            self._hierarchy = Hierarchy(self._spread.blocks, self._positions)
        except NotDefinite as failure:
            raise NotPositiveDefinite(str(failure)) from None
        self.built += 1
        self._built_for = self.factored

    def _solve(self, columns: Vec, name: str, count: int) -> Vec:
        """Return A_qq⁻¹ columns, (inner, count), and overwrite the columns by their residuals. Raises
        NotPositiveDefinite, StepFailed."""
        if not columns.size:
            return np.zeros((self._spread.inner, count))
        last = self._last.get(name)
        if last is None or last.shape != columns.shape:
            last = self._last[name] = np.zeros(columns.shape)
        if not self._iterate(columns, last):
            # go on from there with a V-cycle of this matrix
            self._spread.blocks.multiply(last, columns, 1)
            self._build()
            if not self._iterate(columns, last):
                last[:] = 0.0
                raise StepFailed(f"multigrid did not solve the step's equations in {MOST} iterations")
            self._since = 0  # iterations with the old V-cycle say nothing about the new one
        return block_diagonal(last, count)

    def _iterate(self, columns: Vec, solution: Vec) -> bool:
        """Improve `solution` in place and return whether it has converged. columns: right-hand sides; residuals
        afterwards. Raises NotPositiveDefinite."""
        assert self._hierarchy is not None, "factor comes first"
        self._columns.most = MOST if self._built_for == self.factored else MOST_ON_OLD
        try:
            solved = self._columns.solve(self._spread.blocks, columns, solution, self._hierarchy.solve)
        except NegativeCurvature as failure:
            solution[:] = 0.0
            raise NotPositiveDefinite(str(failure)) from None
        self._since += self.taken
        return solved
