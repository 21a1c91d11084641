"""The system at one moment: forces and stiffness, and products with a few rows or columns of K."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ..contact.find.half_space import Contacts
from ..state import Index, Vec
from .damping import Damped
from .kernels import multiply


@dataclass(frozen=True)
class Linearised:
    """Everything that a step needs of one moment, on nodes."""

    x: Vec  #: positions [m], (n, 3)
    v: Vec  #: full velocities of the last step [m/s], (n, 3)
    mass: Vec  #: lumped [kg], (n,)
    force: Vec  #: f(x) [N], (n, 3), without the damping D v
    blocks: Vec  #: K = ∂f/∂x of pairs of an element's corners, K_aa = −Σ_b K_ab [N/m], (e, 6, 9)
    node_blocks: Vec  #: blocks of K from forces on single nodes [N/m], (n, 3, 3)
    damped: Damped | None = None  #: D = ∂f/∂v; None where nothing is damped
    memory: Mapping[str, Vec] = field(default_factory=dict)  #: of the state that this is taken at
    is_fresh: bool = True  #: whether K is that of x, and not of a moment before
    contacts: Contacts | None = None  #: whose penalty is in f and K; None where there is no obstacle
    #: node_blocks without those of contacts, (n, 3, 3) [N/m], where velocities follow as if nothing touched; else None
    untouched: Vec | None = None


class Near:
    """Products with the rows or columns of K that belong to a few nodes, over the elements around them."""

    def __init__(self, tets: Index, nodes: Index, count: int) -> None:
        """tets: (e, 4). nodes: the few. count: number of all nodes."""
        few = np.zeros(count, dtype=bool)
        few[nodes] = True
        self.elements: Index = np.flatnonzero(few[tets].any(axis=1)).astype(np.int32)
        self.nodes, corners = np.unique(tets[self.elements], return_inverse=True)  #: (m,) the few and those around them
        self._corners = corners.reshape(-1, 4).astype(np.int32)
        place = np.full(count, -1)
        place[self.nodes] = np.arange(len(self.nodes))
        self.place = place  #: (count,) where each node stands in `nodes`, or -1
        self._own = np.flatnonzero(few[self.nodes])

    def multiply(self, lin: Linearised, columns: Vec) -> Vec:
        """K columns, (m, 3, c), complete in the rows of the few, or in all rows where columns are zero elsewhere.

        columns: (m, 3, c), in the order of `nodes`.
        """
        out = np.zeros(columns.shape)
        multiply(lin.blocks, self.elements, self._corners, np.ascontiguousarray(columns), out)
        own = self._own
        out[own] += np.einsum("nij,njc->nic", lin.node_blocks[self.nodes[own]], columns[own])
        return out
