"""Factors of patterns that change, analysed and factored in double precision without CHOLMOD, whose analysis of all
scalar rows is a third of the cost of a step where elements come and go with each iteration."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from ...state import Index, Vec
from ..interface import NotPositiveDefinite
from .multifrontal import Multifrontal, Workspace, multifrontal
from .supernodal import Supernodes
from .symbolic import EliminationTree, NodeGraph, Symbolic

GROWN = 1.5  #: times the work that an order was found with: from there on a new one is worth its price
ENOUGH = 1.2  #: of that: what is found with pairs that touch is about so much more work than without
PATIENCE = 2.0  #: factors lost beyond that since an order was looked for, which costs a fifth of one
MOST_UPDATE_VALUES = 1 << 27  #: values, a gigabyte, in addition to L; CHOLMOD factors what would need more
SLOWLY = 1.0e5  #: work a node: a factor of less is made three times while a better order is looked for slowly
LARGE = 2000  #: nodes from which on an order is looked for as for one that lasts


class Fronts(Supernodes):
    """Supernodal factor in double precision with values of its own, computed by the multifrontal kernels."""

    def __init__(self, symbolic: Symbolic, lower: sp.csc_matrix, workspace: Workspace) -> None:
        """symbolic: symbolic factorization of the pattern of `lower`. workspace: memory that successive factors share.
        Check `usable` before `factor`."""
        self.nodes = symbolic.nodes
        super().__init__(symbolic.first, symbolic.rows_start, symbolic.values_start, symbolic.rows,
                         symbolic.permutation)
        self._is_complete = False
        self._lower, self._workspace = copy(lower), workspace  # whose arrays are replaced where another pattern comes
        self._values = np.empty(0)

    @cached_property
    def _fronts(self) -> Multifrontal | None:
        """Return the plan of the factor, made at the first access: a factor in single precision makes its own plan."""
        factor = multifrontal(self, self._lower, np.float64, self._workspace.updates, MOST_UPDATE_VALUES,
                              self._workspace.index_memory(2 * len(self._lower.indices)))
        if factor is not None:
            self._values = self._workspace.values(int(self.values_start[-1]))
        return factor

    @property
    def usable(self) -> bool:
        """Whether `factor` can be used: BLAS is as expected and memory suffices."""
        return self._fronts is not None

    @property
    def values(self) -> Vec:
        """Return the values of L, supernode by supernode in full columns; empty where the factor is not usable."""
        return self._values if self.usable else np.empty(0)

    @property
    def is_complete(self) -> bool:
        """Whether the last matrix was factored completely."""
        return self._is_complete

    def forget(self) -> None:
        """Mark the values of the factor as invalid."""
        self._is_complete = False

    def factor(self, lower: sp.csc_matrix) -> None:
        """Factor the matrix with this lower triangle (m, m) on the pattern of this object. Raises
        NotPositiveDefinite."""
        assert self._fronts is not None
        self._is_complete = self._fronts.factor(lower.data, 1.0, self.values)
        if not self._is_complete:
            raise NotPositiveDefinite("a front has a pivot that is not positive")


class LaterPatterns:
    """Factors of the patterns that follow a first one of the same unknowns.

    Each pattern is factored in the elimination order of the first one, with only the nodes moved that it joins across
    the elimination tree. Where this takes much more work, at once or summed over several patterns, a new order is
    computed and reused in the same manner, as contacts persist. The retained unknowns come last in every order.
    """

    def __init__(self, first: sp.csc_matrix, retained: int, order: Callable[[sp.csc_matrix, bool], Index]) -> None:
        """first: lower triangle of the first pattern, (m, m). retained: number of unknowns that come last. order:
        returns a library's fill-reducing order of a graph, given whether the pattern lasts."""
        self._first, self._retained, self._order = (first.indptr, first.indices), retained, order
        self._first_tree: EliminationTree | None = None  #: that of the first pattern
        self._work = 0.0  #: that of the pattern for which an order was computed last
        self._own: EliminationTree | None = None  #: that of the order computed last, where it was better
        self._slowly = False  #: whether that was computed slowly: a quick one did not suffice
        self._excess_work = 0.0  #: since then: work that a better order might have saved, in factors
        self._workspace = Workspace()
        self._last: Fronts | None = None

    def follow(self, lower: sp.csc_matrix) -> Fronts | None:
        """Return a factor on the pattern of `lower`, (m, m), without values; the factor returned before is invalid
        afterwards.

        None for the first pattern, so that its factor does not depend on later ones, and where the matrix is not over
        nodes or is too large.
        """
        if self._last is not None:
            self._last.forget()
        if all(map(np.array_equal, self._first, (lower.indptr, lower.indices))):
            return None
        try:
            factor = Fronts(self._symbolic(lower), lower, self._workspace)
        except (ValueError, OverflowError):
            return None
        self._last = factor
        return factor

    def _symbolic(self, lower: sp.csc_matrix) -> Symbolic:
        """Return the symbolic factorization of a pattern, with an elimination order of little work."""
        graph = NodeGraph(lower.indptr, lower.indices, self._retained)
        if self._first_tree is None:
            self._first_tree = NodeGraph(*self._first, self._retained).tree()
        first = self._first_tree
        tree = graph.tree(graph.lift_nodes(first if self._own is None else self._own))
        known = max(self._work, first.work)
        if self._own is not None and tree.work > ENOUGH * known:
            other = graph.tree(graph.lift_nodes(first))
            if ENOUGH * other.work < tree.work:  # a switch costs the fronts that another factor would reuse
                tree, self._own = other, None
        self._excess_work += max(0.0, tree.work - ENOUGH * known) / known
        if tree.work > GROWN * known or self._excess_work > PATIENCE:
            # an order that is found slowly where one found quickly does not do
            for lasts in (False, True)[self._slowly :] if graph.nodes >= LARGE else (False,):
                own = graph.tree(self._order(graph.symmetric(), lasts))
                if own.work < tree.work:
                    tree = self._own = own
                    self._slowly = lasts
                if tree.work <= max(GROWN * first.work, SLOWLY * graph.nodes):
                    break
            self._work, self._excess_work = tree.work, 0.0
        return tree.symbolic()

    def forget_past(self) -> None:
        """Discard the elimination order that earlier patterns led to."""
        self._work, self._own, self._excess_work, self._slowly = 0.0, None, 0.0, False
