"""All that a step of sliding cloth has to keep to."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from ...errors import StepFailed
from ...rows.sparse.rows import MOST, Keys, SpreadRows, VertexRows, no_spread_rows, no_vertex_rows
from ...state import Vec
from .cloth import Cloth
from .cone import Cone
from .contact_rows import SheetContacts, together
from .friction import SlipState
from .step_log import place_of
from .unknowns import Unknowns


@dataclass(frozen=True)
class StepRows:
    """All that a step has to keep to."""

    x: Vec  #: of vertices, where the step begins [m], (n, 3)
    on_features: Cone
    touched: SheetContacts  #: with what rounds of the step found besides
    held: VertexRows
    pressing: Vec  #: what pressed vertices onto what they rub on in the last answer, or the last step, (n,) [N s]
    rates: Vec  #: of the same answer, or step, (n, 5)
    slips: SlipState  #: of the same answer and the one before
    deepest: float = 0.0  #: how deep in a thing the last answer was [m]

    @property
    def on_vertices(self) -> VertexRows:
        return together(self.on_features.rows, self.touched.rows, self.held)

    def contradiction(self, keys: Keys, unknowns: Unknowns) -> StepFailed:
        """Return the error, with its remedy, of rows of these names that contradict each other."""
        alone, spread = self.on_vertices, self.touched.spread
        numbers = spread.matrix[np.isin(spread.key, keys)].indices
        over = np.searchsorted(unknowns.first, numbers, side="right") - 1
        pinned = self.held.vertex[np.isin(self.held.key, keys)]
        where = pinned if len(pinned) else np.concatenate([alone.vertex[np.isin(alone.key, keys)], over])
        place = place_of(self.x[where].mean(axis=0))
        if len(pinned):
            return StepFailed(f"pins lead the cloth into what it is kept out of, near {place}",
                              remedy="Keep pinned vertices outside of colliders, and a thickness away from them")
        return StepFailed(f"what the cloth is kept out of leaves it no room near {place}",
                          remedy="Leave colliders further apart there, or make the cloth thinner")


def pinned_rows(cloth: Cloth, pins: Vec, h: float) -> VertexRows:
    """Pinned vertices go where pins, (p, 3) [m], are at the end of a step of h [s]."""
    vertices = (cloth.pin >= 0).nonzero()[0].astype(np.int32)
    if not len(vertices):
        return no_vertex_rows()
    target = (pins[cloth.pin[vertices]] - cloth.mesh.x[vertices]) / h
    factor = np.zeros((3 * len(vertices), MOST))
    factor[np.arange(len(factor)), np.tile(np.arange(3), len(vertices))] = 1.0
    rows = np.repeat(vertices, 3)
    return VertexRows(rows, factor, target.ravel(), np.ones(len(rows), dtype=bool),
                      3 * rows.astype(np.int64) + np.tile(np.arange(3), len(vertices)) + (1 << 59))


def widened(rows: SpreadRows, unknowns: int) -> SpreadRows:
    """Return the rows over as many unknowns, zero on those after their own."""
    if rows.matrix.shape[1] == unknowns:
        return rows
    if not len(rows):
        return no_spread_rows(unknowns)
    matrix = sp.csr_matrix((rows.matrix.data, rows.matrix.indices, rows.matrix.indptr), shape=(len(rows), unknowns))
    return replace(rows, matrix=matrix)
