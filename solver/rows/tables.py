"""Rows of one program: what poses a row says its kind, Jacobian, target, bounds, compliance and name.

Whatever solves them, dense or sparse, by their dual or by elimination, takes these tables and returns multipliers
under the same names.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from typing import Any, Self, TypeVar

import numpy as np
import scipy.sparse as sp

from ..state import Index, Mask, Vec
from .names import Names

MOST = 5  #: unknowns of a vertex: three of its position and two in its material


@dataclass(frozen=True)
class RowTable:
    """r rows G u + Σ λ = g where λ is within its bounds; each row's velocity may be above g where λ is at its lower
    bound, and below where it is at the upper one. A subclass has G in the form in which its poser knows it."""

    target: Vec  #: g, (r,)
    low: Vec  #: least multipliers, (r,): −∞ of equations, 0 of rows that may be exceeded
    high: Vec  #: largest, (r,)
    compliance: Vec  #: Σ, (r,); 0 of hard rows
    name: Names  #: (r,)

    def __len__(self) -> int:
        return len(self.target)

    @cached_property
    def is_equation(self) -> Mask:
        """Whether each row is bilateral, (r,): its multiplier has no bounds."""
        return np.isneginf(self.low) & np.isposinf(self.high)

    def of(self, k: Index | Mask | slice) -> Self:
        """Return some of the rows."""
        return type(self)(*(getattr(self, item.name)[k] for item in fields(self)))


def together(first: R, *others: R) -> R:
    """Return all rows of tables of one form in one table."""
    if not others:
        return first
    tables = (first, *others)
    return type(first)(*(_joined([getattr(table, item.name) for table in tables]) for item in fields(first)))


def _joined(columns: list[Any]) -> Any:
    return sp.vstack(columns, format="csr") if sp.issparse(columns[0]) else np.concatenate(columns)


def bounds_of(is_equation: Mask) -> tuple[Vec, Vec]:
    """Return bounds of multipliers, (r,) each, of rows that are equations or may be exceeded."""
    return np.where(is_equation, -np.inf, 0.0), np.full(len(is_equation), np.inf)


R = TypeVar("R", bound=RowTable)


@dataclass(frozen=True)
class DenseRows(RowTable):
    """Rows with a dense Jacobian."""

    G: Vec  #: (r, m)

    @classmethod
    def equations(cls, G: Vec, target: Vec | None = None, compliance: Vec | None = None,
                  name: Names | None = None) -> Self:
        """Return bilateral rows; hard, with targets 0 and named by their number where nothing else is given."""
        count = len(G)
        return cls(np.zeros(count) if target is None else target, np.full(count, -np.inf), np.full(count, np.inf),
                   np.zeros(count) if compliance is None else compliance,
                   np.arange(count) if name is None else name, G)

    @classmethod
    def none(cls, unknowns: int) -> Self:
        """Return a table without rows."""
        return cls.equations(np.zeros((0, unknowns)))

    def stacked(self, cones: ConeRows) -> tuple[Vec, Vec]:
        """Return all rows, those of cones last, (r + 2 k, m): for products with them, and as a dense matrix."""
        rows = np.concatenate([self.G, cones.T])
        return rows, rows


@dataclass(frozen=True)
class SparseRows(RowTable):
    """Rows with a sparse Jacobian."""

    matrix: sp.csr_matrix  #: G, (r, m)

    @classmethod
    def hard(cls, matrix: sp.csr_matrix, target: Vec, is_equation: Mask, name: Names) -> Self:
        """Return rows without compliance that are equations, or else may be exceeded."""
        return cls(target, *bounds_of(is_equation), np.zeros(len(target)), name, matrix)

    def stacked(self, cones: ConeRows) -> tuple[sp.csr_matrix, Vec]:
        """Return the rows as they are and as a dense matrix, (r, m). There are no cones."""
        return self.matrix, self.matrix.toarray()


@dataclass(frozen=True)
class VertexRows(RowTable):
    """Rows on one vertex each: factor · (the vertex' unknowns)."""

    vertex: Index  #: (r,)
    factor: Vec  #: (r, 5), in the order of the vertex' unknowns; those that it does not have are left out

    @classmethod
    def hard(cls, vertex: Index, factor: Vec, target: Vec, is_equation: Mask, name: Names) -> Self:
        """Return rows without compliance that are equations, or else may be exceeded."""
        return cls(target, *bounds_of(is_equation), np.zeros(len(target)), name, vertex, factor)


@dataclass(frozen=True)
class ConeRows:
    """Two rows along the surface of each of the k contacts: |impulse| ≤ μ × normal impulse, of the first k rows of the
    unilateral table, whose names they share."""

    T: Vec  #: (2 k, m)
    target: Vec  #: (2 k,)
    friction: Vec  #: μ, (k,)

    @classmethod
    def none(cls, unknowns: int) -> ConeRows:
        """Return a table without rows."""
        return cls(np.zeros((0, unknowns)), np.zeros(0), np.zeros(0))


def no_vertex_rows() -> VertexRows:
    """Return a table without rows."""
    none = np.zeros(0)
    return VertexRows(none, none, none, none, np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros((0, MOST)))


@lru_cache(maxsize=256)
def no_sparse_rows(unknowns: int) -> SparseRows:
    """Return a table without rows; one and the same for each number, as scipy takes long to make one."""
    none = np.zeros(0)
    return SparseRows(none, none, none, none, np.zeros(0, np.int64), sp.csr_matrix((0, unknowns)))
