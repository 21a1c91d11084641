"""Rows of a constrained program, and its solution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ...errors import StepFailed
from ...state import Index, Mask, Vec

MOST = 5  #: unknowns of a vertex: three of x' and two of X'
Keys = npt.NDArray[np.int64]


@dataclass(frozen=True)
class VertexRows:
    """r rows on one vertex each: factor · (the vertex' unknowns) = target, or ≥ target."""

    vertex: Index  #: (r,)
    factor: Vec  #: (r, 5), in the order of the vertex' unknowns; those that it does not have are left out
    target: Vec  #: (r,)
    equal: Mask  #: (r,), true where the row has to hold, else it may be exceeded
    key: Keys  #: (r,) the caller's names of rows; the same at the next step for the same contact

    def __len__(self) -> int:
        return len(self.target)

    def first(self, count: int) -> VertexRows:
        """So many of them."""
        return VertexRows(self.vertex[:count], self.factor[:count], self.target[:count], self.equal[:count],
                          self.key[:count])


@dataclass(frozen=True)
class SpreadRows:
    """s rows on any unknowns: matrix u = target, or ≥ target."""

    matrix: sp.csr_matrix  #: (s, m)
    target: Vec  #: (s,)
    equal: Mask  #: (s,)
    key: Keys  #: (s,)

    def __len__(self) -> int:
        return len(self.target)


def no_vertex_rows() -> VertexRows:
    """A table without rows."""
    none = np.zeros(0)
    return VertexRows(np.zeros(0, np.int32), np.zeros((0, MOST)), none, np.zeros(0, bool), np.zeros(0, np.int64))


@lru_cache(maxsize=256)
def no_spread_rows(unknowns: int) -> SpreadRows:
    """A table without rows; the very same each time, as scipy takes long to make one."""
    return SpreadRows(sp.csr_matrix((0, unknowns)), np.zeros(0), np.zeros(0, bool), np.zeros(0, np.int64))


@dataclass(frozen=True)
class WarmStart:
    """Which rows held as equations in an answer; it saves time, the minimum does not depend on it."""

    keys: Keys  #: of active rows that may be exceeded


@dataclass(frozen=True)
class Minimum:
    """The minimum: A u = b + Gᵀ μ + Cᵀ λ, λ ≥ 0."""

    u: Vec  #: (m,)
    on_vertex: Vec  #: multipliers of the vertex' rows, (r,)
    spread: Vec  #: of the others, (s,)
    active: Mask  #: vertex' rows that hold as equations, (r,); rows that others imply are not among them
    spread_active: Mask  #: (s,)
    warm: WarmStart
    factored: int  #: how often the matrix was factored
    tried: int  #: how many sets of rows were held
    one_by_one: bool  #: whether the rows had to be taken one at a time


class Infeasible(StepFailed):
    """No u meets all of these rows; `keys` names those that contradict each other."""

    def __init__(self, keys: Sequence[int] | Keys) -> None:
        self.keys: Keys = np.unique(np.asarray(keys, dtype=np.int64))
        named = ", ".join(str(key) for key in self.keys[:8]) + (", ..." if len(self.keys) > 8 else "")
        super().__init__(f"constraints contradict each other (rows {named})")


class Singular(StepFailed):
    """Nothing resists a motion that no equation forbids; `unknowns` moves most in it, `vertices` are theirs."""

    def __init__(self, unknowns: Index, vertices: Index, share: float) -> None:
        self.unknowns, self.vertices = unknowns, vertices
        named = ", ".join(str(one) for one in unknowns[:8]) + (", ..." if len(unknowns) > 8 else "")
        where = ", ".join(str(one) for one in np.unique(vertices)[:8])
        super().__init__(f"nothing resists a motion of unknowns {named} (vertices {where}): the matrix' share in it is "
                         f"{share:.1e} of its diagonal")
