"""Symbolic factorization of a matrix over nodes: an elimination tree, supernodes and their rows, from its graph.

CHOLMOD's own analysis goes through every scalar row, thrice as many with nine times the entries. Where elements come
and go with each iteration, as pairs in contact do, that is a third of the cost of their step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ...state import Index
from .lifting_kernels import lift_nodes
from .symbolic_kernels import (
    by_columns,
    column_counts,
    elimination_tree,
    graph_of_nodes,
    in_order,
    in_postorder,
    join_columns,
    spread_rows,
    supernode_rows,
)

Rows: TypeAlias = npt.NDArray[np.uint32]


@dataclass(frozen=True)
class Symbolic:
    """Rows of each supernode of L, as scalar rows like those of CHOLMOD; row i of L is unknown permutation[i]."""

    first: Index  #: first column of each supernode, (s + 1,)
    rows_start: Index  #: where its rows begin, (s + 1,)
    values_start: Index  #: where its values begin, in full columns, (s + 1,)
    rows: Index  #: rising, its own columns first
    permutation: Index  #: (m,)
    nodes: int  #: unknowns up to three times as many are those of nodes, together in L too


class NodeGraph:
    """Graph of a lower triangle, (m, m), of 3 x 3 blocks of nodes, and of single rows, the last `retained`."""

    def __init__(self, indptr: Index, indices: Index, retained: int) -> None:
        """indptr, indices: compressed columns of the lower triangle. Raises ValueError where it does not have such
        blocks."""
        size = len(indptr) - 1
        self.nodes, self.retained = (size - retained) // 3, retained
        self.count = self.nodes + retained
        lengths = np.diff(indptr)
        most = int(lengths[: 3 * self.nodes : 3].sum() + lengths[3 * self.nodes :].sum())
        self.start, rows = np.zeros(self.count + 1, np.int32), np.empty(most, np.uint32)
        is_of_nodes = 3 * self.nodes + retained == size
        count = graph_of_nodes(indptr, indices, self.nodes, self.start, rows) if is_of_nodes else -1
        if count < 0:
            raise ValueError("not a matrix over nodes")
        self.rows: Rows = rows[:count]

    def symmetric(self) -> sp.csc_matrix:
        """Return the graph of the nodes alone, (nodes, nodes), with both triangles and without a diagonal."""
        shape = self.count, self.count
        lower = sp.csc_matrix((np.ones(len(self.rows)), self.rows.view(np.int32), self.start), shape=shape)
        both = lower + lower.T
        return both if not self.retained else both[: self.nodes, : self.nodes]

    def tree(self, order: Index | None = None) -> EliminationTree:
        """Return the elimination tree in this order of the nodes, (nodes,), or in the order of the columns; retained
        unknowns come last."""
        numbers = np.arange(self.count, dtype=np.int32)
        if order is not None:
            numbers[: self.nodes] = order
        across_start, across = np.empty_like(self.start), np.empty_like(self.rows)
        in_order(self.start, self.rows, numbers, across_start, across)
        parent, post = np.empty(self.count, np.int32), np.empty(self.count, np.int32)
        elimination_tree(across_start, across, parent, post)
        start, rows = np.empty_like(self.start), np.empty_like(self.rows)
        by_columns(across_start, across, post, start, rows)
        in_postorder(parent, post)
        counts = np.empty(self.count, np.int32)
        column_counts(start, rows, parent, counts)
        return EliminationTree(self, start, rows, numbers[post], parent, counts)

    def lift_nodes(self, tree: EliminationTree) -> Index:
        """Return the order of nodes of another graph's tree, (nodes,), with those moved that this graph joins across
        the tree."""
        order = np.empty(self.nodes, np.int32)
        lift_nodes(tree.order, tree.parent, self.start, self.rows, self.nodes, order)
        return order


@dataclass(frozen=True)
class EliminationTree:
    """Elimination tree in postorder: its graph in that numbering, node and parent of each column, −1 for roots, and the
    number of node rows of each column of L."""

    of: NodeGraph
    start: Index
    rows: Rows
    order: Index
    parent: Index
    counts: Index

    @property
    def work(self) -> float:
        """Return the cost of a factorization, the sum of the squared lengths of L's columns."""
        return 27.0 * float(np.square(self.counts.astype(np.float64)).sum())

    def symbolic(self) -> Symbolic:
        """Return the supernodes of this tree. Raises OverflowError where L has too many values."""
        first, lengths = np.empty(self.of.count + 1, np.int32), np.empty(self.of.count, np.int32)
        made = join_columns(self.parent, self.counts, first, lengths)
        first = first[: made + 1].copy()
        rows_start = np.zeros(made + 1, np.int32)
        np.cumsum(lengths[:made], out=rows_start[1:])
        rows = np.empty(rows_start[-1], np.uint32)
        supernode_rows(self.start, self.rows, first, rows_start, rows)
        return self._in_scalars(first, rows_start, rows)

    def _in_scalars(self, first: Index, node_start: Index, node_rows: Rows) -> Symbolic:
        """Return supernodes of nodes as supernodes of scalar rows."""
        nodes = self.of.nodes
        widths = np.where(self.order < nodes, 3, 1).astype(np.int32)
        begins = _sum_up(widths)
        # of each supernode the rows of the nodes that it has
        ends = _sum_up(widths[node_rows])
        rows_start = ends[node_start]
        rows = np.empty(rows_start[-1], np.int32)
        spread_rows(node_rows, begins[:-1], widths, rows)
        columns = begins[first]
        values_start = _sum_up(np.diff(columns).astype(np.int64) * np.diff(rows_start))
        if values_start[-1] >= 2**31:
            raise OverflowError("a factor of more than two thousand million values")
        unknown = np.where(self.order < nodes, 3 * self.order, self.order + 2 * nodes)
        permutation = np.repeat(unknown - begins[:-1], widths) + np.arange(begins[-1], dtype=np.int32)
        return Symbolic(columns, rows_start, values_start.astype(np.int32), rows, permutation.astype(np.int32), nodes)


def _sum_up(counts: Index) -> Index:
    """Return 0 and the cumulative sums of counts (n,), (n + 1,)."""
    out: Index = np.zeros(len(counts) + 1, counts.dtype)
    np.cumsum(counts, out=out[1:])
    return out
