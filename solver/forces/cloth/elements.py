"""All elements of one cloth in one table: triangles of its membrane, then hinges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...state import Index, Vec
from ..elastic import corner_products
from ..stencils import WIDEST, StretchedElements
from .sheet import SheetLaw, TimedLaw


class ClothElements:
    """Elements of a cloth, with the interface of `Elastic`. A triangle repeats its last node, with zero stiffness."""

    family = None

    def __init__(self, laws: Sequence[SheetLaw], timed: Sequence[TimedLaw] = ()) -> None:
        """laws: of the membrane and of bending. timed: those of the laws that change over time."""
        self.laws, self._timed = laws, timed
        nodes = [np.concatenate([law.nodes, np.repeat(law.nodes[:, -1:], WIDEST - law.nodes.shape[1], axis=1)], axis=1)
                 for law in laws]
        self.tets: Index = np.concatenate(nodes).astype(np.int32)  #: nodes of the elements, (p, 4)
        ends = np.cumsum([0, *(len(law_nodes) for law_nodes in nodes)]).tolist()
        #: rows of each law
        self.slices = [slice(first, end) for first, end in zip(ends, ends[1:])]
        self._blocks = np.zeros((0, 6, 9))
        self._forces = np.zeros((0, 4, 3))

    def in_one(self, several: Sequence[ClothElements]) -> ClothElements:
        """Raise TypeError: each cloth is evaluated by itself."""
        raise TypeError("laws of cloth are not evaluated with those of other cloth")

    def activate(self, time: float) -> None:
        """Set the laws that change over time to their state at `time` [s], for all later calls."""
        for law in self._timed:
            law.activate(time)

    def fill(self, x: Vec, project: bool, forces: Vec, blocks: Vec) -> None:
        """Write forces (p, 4, 3) [N] and blocks of K of pairs of nodes, (p, 6, 9) [N/m], at positions x (n, 3) [m].

        K is negative semi-definite if `project`.
        """
        for law, where in zip(self.laws, self.slices):
            law.fill(x, project, forces[where], blocks[where])

    def fill_again(self, x: Vec, which: Index, blocks: Vec) -> None:
        """Recompute the projected blocks of the elements `which` (k,) in blocks (p, 6, 9) [N/m], at positions x (n, 3)
        [m]."""
        if not len(self._forces):
            self._forces = np.zeros((*self.tets.shape, 3))
        if not len(self._blocks):
            self._blocks = np.zeros((len(self.tets), 6, 9))
        self.fill(x, True, self._forces, self._blocks)
        blocks[which] = self._blocks[which]

    def measure(self, x: Vec, forces: Vec) -> float:
        """Return the energy [J] at positions x (n, 3) [m]; write forces (p, 4, 3) [N]."""
        return sum(law.measure(x, forces[where]) for law, where in zip(self.laws, self.slices))

    def multiply(self, x: Vec, columns: Vec) -> Vec:
        """Return forces [N] and products of the true K with `columns` (c, n, 3) at x (n, 3) [m], per node, (1 + c, p,
        4, 3)."""
        if not len(self._blocks):
            self._blocks = np.zeros((len(self.tets), 6, 9))
        out: Vec = np.empty((1 + len(columns), *self.tets.shape, 3))
        self.fill(x, False, out[0], self._blocks)
        out[1:] = corner_products(self._blocks, columns[:, self.tets])
        return out

    def stretching(self, x: Vec, v: Vec, out: Vec) -> None:
        """Write zeros to out (p,): no node of a cloth sleeps."""
        out[:] = 0.0

    def in_stretches(self, made: Callable[[Any], StretchedElements]) -> StretchedElements | None:
        """Return None: triangles have no form with stretches as unknowns."""
        return None
