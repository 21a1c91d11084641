"""Patterns that change: analysed and factored by ourselves in double precision, since CHOLMOD's analysis of all scalar
rows is a third of what a step costs whose elements come and go with each iteration."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from ...state import Index, Vec
from ..interface import NotPositiveDefinite
from .multifrontal import Multifrontal, Room, multifrontal
from .supernodal import Supernodes
from .symbolic import EliminationTree, NodeGraph, Symbolic

GROWN = 1.5  #: times the work that an order was found with: from there on a new one is worth its price
ENOUGH = 1.2  #: of that: what is found with pairs that touch is about so much more work than without
PATIENCE = 2.0  #: factors lost beyond that since an order was looked for, which costs a fifth of one
MOST_ROOM = 1 << 27  #: values, a gigabyte, in addition to L; CHOLMOD factors what would need more
SLOWLY = 1.0e5  #: work a node: a factor of less is made three times while a better order is looked for slowly
LARGE = 2000  #: nodes from which on an order is looked for as for one that lasts


class Fronts(Supernodes):
    """A factor with values of its own."""

    def __init__(self, found: Symbolic, lower: sp.csc_matrix, room: Room) -> None:
        """found: of the pattern of lower. Look at `usable` first."""
        self.nodes = found.nodes
        super().__init__(found.first, found.rows_start, found.values_start, found.rows, found.permutation)
        self._stands = False
        self._lower, self._room = copy(lower), room  # whose arrays are replaced where another pattern comes
        self._values = np.empty(0)

    @cached_property
    def _fronts(self) -> Multifrontal | None:
        """Plan of the factor, made at the first access: a factor in single precision plans its own."""
        found = multifrontal(self, self._lower, np.float64, self._room.updates, MOST_ROOM,
                             self._room.places(2 * len(self._lower.indices)))
        if found is not None:
            self._values = self._room.values(int(self.values_start[-1]))
        return found

    @property
    def usable(self) -> bool:
        """Whether it can factor: BLAS is as expected and there is room."""
        return self._fronts is not None

    @property
    def values(self) -> Vec:
        return self._values if self.usable else np.empty(0)

    @property
    def stands(self) -> bool:
        return self._stands

    def forget(self) -> None:
        """Mark the values of the factor as invalid."""
        self._stands = False

    def factor(self, lower: sp.csc_matrix) -> None:
        """Raises NotPositiveDefinite."""
        assert self._fronts is not None
        self._stands = self._fronts.factor(lower.data, 1.0, self.values)
        if not self._stands:
            raise NotPositiveDefinite("a front has a pivot that is not positive")


class LaterPatterns:
    """Factors of the patterns that come after a first one of the same unknowns, in the order that this has, nodes that
    are joined across its tree placed again; or, where what came since makes that a factor of much more work, at once or
    by and by, in one of their own, those that are kept last again.

    That one serves what comes after it in the same way: what touches goes on touching."""

    def __init__(self, first: sp.csc_matrix, retained: int, order: Callable[[sp.csc_matrix, bool], Index]) -> None:
        """order: of a graph, in which little fills in; that of a library."""
        self._first, self._retained, self._order = (first.indptr, first.indices), retained, order
        self._first_tree: EliminationTree | None = None  #: how the first pattern is eliminated
        self._work = 0.0  #: of the pattern that an order was looked for last
        self._own: EliminationTree | None = None  #: in that order, where one was found
        self._slowly = False  #: whether it is one that was looked for slowly: one found quickly did not do
        self._lost = 0.0  #: since then: factors' work that a better order might have spared, as shares of one
        self._room = Room()
        self._last: Fronts | None = None

    def follow(self, lower: sp.csc_matrix) -> Fronts | None:
        """Return a factor of another pattern; the one before is invalid then. None for the first pattern, so that its
        factor does not depend on later ones, and where the matrix is not over nodes or too large."""
        if self._last is not None:
            self._last.forget()
        if all(map(np.array_equal, self._first, (lower.indptr, lower.indices))):
            return None
        try:
            found = Fronts(self._symbolic(lower), lower, self._room)
        except (ValueError, OverflowError):
            return None
        self._last = found
        return found

    def _symbolic(self, lower: sp.csc_matrix) -> Symbolic:
        graph = NodeGraph(lower.indptr, lower.indices, self._retained)
        if self._first_tree is None:
            self._first_tree = NodeGraph(*self._first, self._retained).tree()
        first = self._first_tree
        tree = graph.tree(graph.lifted(first if self._own is None else self._own))
        known = max(self._work, first.work)
        if self._own is not None and tree.work > ENOUGH * known:
            other = graph.tree(graph.lifted(first))
            if other.work < tree.work:
                tree, self._own = other, None
        self._lost += max(0.0, tree.work - ENOUGH * known) / known
        if tree.work > GROWN * known or self._lost > PATIENCE:
            # an order that is found slowly where one found quickly does not do
            for lasts in (False, True)[self._slowly :] if graph.nodes >= LARGE else (False,):
                own = graph.tree(self._order(graph.symmetric(), lasts))
                if own.work < tree.work:
                    tree = self._own = own
                    self._slowly = lasts
                if tree.work <= max(GROWN * first.work, SLOWLY * graph.nodes):
                    break
            self._work, self._lost = tree.work, 0.0
        return tree.symbolic()

    def forget_past(self) -> None:
        """The order that earlier patterns led to."""
        self._work, self._own, self._lost, self._slowly = 0.0, None, 0.0, False
