"""All rows of a step of sliding cloth."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from ...errors import StepFailed
from ...rows.names import Names
from ...rows.tables import MOST, SparseRows, VertexRows, concatenate_tables, no_sparse_rows, no_vertex_rows
from ...state import Vec
from .cloth import Cloth
from .cone import Cone
from .contact_rows import SheetContacts
from .friction import SlipState
from .step_log import format_position
from .unknowns import Unknowns


@dataclass(frozen=True)
class StepRows:
    """All rows of a step, with the normal impulses and rates that friction is computed from."""

    x: Vec  #: of vertices, at the start of the step [m], (n, 3)
    on_features: Cone
    touched: SheetContacts  #: with pairs that were found in rounds of the step
    on_pins: VertexRows  #: of pinned vertices
    pressing: Vec  #: normal impulse on each vertex in the last solution, or the last step, (n,) [N s]
    rates: Vec  #: of that solution, or step, (n, 5)
    slips: SlipState  #: of that solution and the one before
    deepest: float = 0.0  #: largest depth of the last solution in an obstacle [m]

    @property
    def on_vertices(self) -> VertexRows:
        """Return all rows on single vertices in one table: of features, of contacts and of pins, in this order."""
        return concatenate_tables(self.on_features.rows, self.touched.rows, self.on_pins)

    def contradiction(self, names: Names, unknowns: Unknowns) -> StepFailed:
        """Return the error, with its remedy, for rows of these names that contradict each other."""
        single, spread = self.on_vertices, self.touched.spread
        numbers = spread.matrix[np.isin(spread.name, names)].indices
        over = np.searchsorted(unknowns.first, numbers, side="right") - 1
        pinned = self.on_pins.vertex[np.isin(self.on_pins.name, names)]
        where = pinned if len(pinned) else np.concatenate([single.vertex[np.isin(single.name, names)], over])
        location = format_position(self.x[where].mean(axis=0))
        if len(pinned):
            return StepFailed(f"pins move the cloth into something that it collides with, near {location}",
                              remedy="Keep pinned vertices outside of colliders, and a thickness away from them")
        return StepFailed(f"colliders leave the cloth no room near {location}",
                          remedy="Leave colliders further apart there, or make the cloth thinner")


def build_pin_rows(cloth: Cloth, pins: Vec, h: float) -> VertexRows:
    """Return rows of pinned vertices. pins: positions of pins at the end of a step of h [s], (p, 3) [m]."""
    vertices = (cloth.pin >= 0).nonzero()[0].astype(np.int32)
    if not len(vertices):
        return no_vertex_rows()
    target = (pins[cloth.pin[vertices]] - cloth.mesh.x[vertices]) / h
    factor = np.zeros((3 * len(vertices), MOST))
    factor[np.arange(len(factor)), np.tile(np.arange(3), len(vertices))] = 1.0
    rows = np.repeat(vertices, 3)
    return VertexRows.hard(rows, factor, target.ravel(), np.ones(len(rows), dtype=bool),
                           3 * rows.astype(np.int64) + np.tile(np.arange(3), len(vertices)) + (1 << 59))


def widen(rows: SparseRows, unknowns: int) -> SparseRows:
    """Return the rows over as many unknowns, with zeros on those that they do not have."""
    if rows.matrix.shape[1] == unknowns:
        return rows
    if not len(rows):
        return no_sparse_rows(unknowns)
    matrix = sp.csr_matrix((rows.matrix.data, rows.matrix.indices, rows.matrix.indptr), shape=(len(rows), unknowns))
    return replace(rows, matrix=matrix)
