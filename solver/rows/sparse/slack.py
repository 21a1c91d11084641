"""Rows with compliance in a sparse program, each with a slack unknown of its own."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from ...state import Index, Vec
from ..tables import MOST, SparseRows, VertexRows, concatenate_tables
from .minimum import Minimum


@dataclass(frozen=True)
class SlackProgram:
    """A program of hard rows whose minimum is that of a program with compliant rows.

    With λ = w/Σ, G u + Σ λ = g becomes G u + w = g, and ½ w²/Σ is the energy of the row: an entry 1/Σ of the matrix.
    Compliant rows of vertices become rows over their unknowns and w.
    """

    matrix: sp.csc_matrix  #: (m + c, m + c)
    unknowns: Index  #: of each vertex and of each w, (n + c, 5)
    rows: VertexRows  #: hard ones
    spread: SparseRows
    hard: Index  #: numbers of `rows` among the given ones, (h,)
    compliant: Index  #: numbers of the compliant rows, which are the last of `spread`, (r − h,)
    own: int  #: m

    @classmethod
    def of(cls, matrix: sp.csc_matrix, unknowns: Index, rows: VertexRows, spread: SparseRows) -> SlackProgram | None:
        """Return the program of these rows; None where none has compliance."""
        if not (rows.compliance.any() or spread.compliance.any()):
            return None
        m = matrix.shape[0]
        hard, compliant = np.flatnonzero(rows.compliance == 0.0), np.flatnonzero(rows.compliance)
        every = concatenate_tables(spread, _over_unknowns(rows.of(compliant), unknowns, m))
        soft = np.flatnonzero(every.compliance)
        count = len(soft)
        slack = sp.csr_matrix((np.ones(count), (soft, np.arange(count))), shape=(len(every), count))
        more = np.full((count, MOST), -1, np.int32)
        more[:, 0] = m + np.arange(count)
        whole = sp.block_diag([matrix, sp.diags(1.0 / every.compliance[soft])], format="csc")
        return cls(whole, np.concatenate([unknowns, more]), rows.of(hard),
                   replace(every, matrix=sp.hstack([every.matrix, slack], format="csr"),
                           compliance=np.zeros(len(every))), hard, compliant, m)

    def extend(self, rhs: Vec) -> Vec:
        """Return b of all unknowns, (m + c,), zero for the slack ones. rhs: b, (m,)."""
        return np.concatenate([rhs, np.zeros(self.matrix.shape[0] - self.own)])

    def minimum(self, extended: Minimum) -> Minimum:
        """Return the minimum in terms of the original rows and unknowns."""
        rows, others = len(self.hard) + len(self.compliant), len(extended.spread) - len(self.compliant)
        on_vertex, active, names = np.empty(rows), np.empty(rows, np.bool_), np.empty(rows, np.int64)
        for out, first, second in ((on_vertex, extended.on_vertex, extended.spread),
                                   (active, extended.active, extended.spread_active), (names, *extended.names)):
            out[self.hard], out[self.compliant] = first, second[others:]
        return replace(extended, u=extended.u[:self.own], on_vertex=on_vertex, spread=extended.spread[:others],
                       active=active, spread_active=extended.spread_active[:others],
                       names=(names, extended.names[1][:others]))


def _over_unknowns(rows: VertexRows, unknowns: Index, count: int) -> SparseRows:
    """Return rows of vertices as rows over all `count` unknowns, (r, m)."""
    column = unknowns[rows.vertex]
    row, entry = np.nonzero(column >= 0)
    matrix = sp.csr_matrix((rows.factor[row, entry], (row, column[row, entry])), shape=(len(rows), count))
    return SparseRows(rows.target, rows.low, rows.high, rows.compliance, rows.name, matrix)
