"""Tables of the rows of one program: Jacobian, target, bounds, compliance and name of each row.

All solvers, dense or sparse, by the dual or by elimination, take these tables and return multipliers with the rows'
names.
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
    """Table of r rows G u + Σ λ = g with λ within bounds: a row's velocity may exceed g where λ is at its lower bound,
    and fall below where it is at its upper one. A subclass has G in a dense, sparse or nodal form."""

    target: Vec  #: g, (r,)
    low: Vec  #: least multipliers, (r,): −∞ of equations, 0 of rows that may be exceeded
    high: Vec  #: largest, (r,)
    compliance: Vec  #: Σ, (r,); 0 of hard rows
    name: Names  #: (r,)

    def __len__(self) -> int:
        return len(self.target)

    @cached_property
    def is_equation(self) -> Mask:
        """Return whether each row is bilateral, (r,): its multiplier has no bounds."""
        return np.isneginf(self.low) & np.isposinf(self.high)

    def of(self, k: Index | Mask | slice) -> Self:
        """Return the table of some of the rows."""
        return type(self)(*(getattr(self, item.name)[k] for item in fields(self)))


def concatenate_tables(first: R, *others: R) -> R:
    """Return one table of the rows of several tables of one class."""
    if not others:
        return first
    tables = (first, *others)
    return type(first)(*(_join([getattr(table, item.name) for table in tables]) for item in fields(first)))


def _join(columns: list[Any]) -> Any:
    """Return tables of rows one below the other, sparse or dense."""
    return sp.vstack(columns, format="csr") if sp.issparse(columns[0]) else np.concatenate(columns)


def bounds_of(is_equation: Mask) -> tuple[Vec, Vec]:
    """Return lower and upper bounds of multipliers, (r,) each. is_equation: (r,), False for rows that may be
    exceeded."""
    return np.where(is_equation, -np.inf, 0.0), np.full(len(is_equation), np.inf)


R = TypeVar("R", bound=RowTable)


@dataclass(frozen=True)
class DenseRows(RowTable):
    """Rows with a dense Jacobian."""

    G: Vec  #: (r, m)

    @classmethod
    def equations(cls, G: Vec, target: Vec | None = None, compliance: Vec | None = None,
                  name: Names | None = None) -> Self:
        """Return bilateral rows from a Jacobian (r, m). By default targets are 0, rows are hard and their names are
        their indices."""
        count = len(G)
        return cls(np.zeros(count) if target is None else target, np.full(count, -np.inf), np.full(count, np.inf),
                   np.zeros(count) if compliance is None else compliance,
                   np.arange(count) if name is None else name, G)

    @classmethod
    def none(cls, unknowns: int) -> Self:
        """Return a table without rows on `unknowns` unknowns."""
        return cls.equations(np.zeros((0, unknowns)))

    def stack(self, cones: ConeRows) -> tuple[Vec, Vec]:
        """Return the Jacobian of all rows, those of cones last, (r + 2 k, m), twice: for products, and as a dense
        matrix."""
        rows = np.concatenate([self.G, cones.T])
        return rows, rows


@dataclass(frozen=True)
class SparseRows(RowTable):
    """Rows with a sparse Jacobian."""

    matrix: sp.csr_matrix  #: G, (r, m)

    @classmethod
    def hard(cls, matrix: sp.csr_matrix, target: Vec, is_equation: Mask, name: Names) -> Self:
        """Return rows without compliance. is_equation: (r,), False for rows that may be exceeded."""
        return cls(target, *bounds_of(is_equation), np.zeros(len(target)), name, matrix)

    def stack(self, cones: ConeRows) -> tuple[sp.csr_matrix, Vec]:
        """Return the Jacobian of the rows, (r, m), sparse for products and as a dense matrix. `cones` has to be
        empty."""
        return self.matrix, self.matrix.toarray()


@dataclass(frozen=True)
class VertexRows(RowTable):
    """Rows on one vertex each: factor · (the vertex' unknowns)."""

    vertex: Index  #: (r,)
    factor: Vec  #: (r, 5), in the order of the vertex' unknowns; those that it does not have are left out

    @classmethod
    def hard(cls, vertex: Index, factor: Vec, target: Vec, is_equation: Mask, name: Names) -> Self:
        """Return rows without compliance. is_equation: (r,), False for rows that may be exceeded."""
        return cls(target, *bounds_of(is_equation), np.zeros(len(target)), name, vertex, factor)


@dataclass(frozen=True)
class ConeRows:
    """Two tangential rows for each of k contacts: |impulse| ≤ μ × normal impulse. The normal rows are the first k of
    the unilateral table, whose names the cones share."""

    T: Vec  #: (2 k, m)
    target: Vec  #: (2 k,)
    friction: Vec  #: μ, (k,)

    @classmethod
    def none(cls, unknowns: int) -> ConeRows:
        """Return a table without cones on `unknowns` unknowns."""
        return cls(np.zeros((0, unknowns)), np.zeros(0), np.zeros(0))


def no_vertex_rows() -> VertexRows:
    """Return a table without rows of vertices."""
    none = np.zeros(0)
    return VertexRows(none, none, none, none, np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros((0, MOST)))


@lru_cache(maxsize=256)
def no_sparse_rows(unknowns: int) -> SparseRows:
    """Return a table without rows on `unknowns` unknowns; cached, since scipy takes long to construct one."""
    none = np.zeros(0)
    return SparseRows(none, none, none, none, np.zeros(0, np.int64), sp.csr_matrix((0, unknowns)))
