"""Linearisation of the system at one moment: forces and stiffness, and products with a few rows or columns of K."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ..contact.find.ground import NO_CONTACTS, Contacts
from ..state import Index, Vec
from .damping import Damped
from .kernels import multiply, multiply_one


@dataclass(frozen=True)
class Linearised:
    """Forces, stiffness and damping at one moment, on nodes, as a step needs them."""

    x: Vec  #: positions [m], (n, 3)
    v: Vec  #: full velocities of the last step [m/s], (n, 3)
    mass: Vec  #: lumped [kg], (n,)
    force: Vec  #: f(x) [N], (n, 3), without the damping D v
    #: K = ∂f/∂x of pairs of an element's corners, K_aa = −Σ_b K_ab [N/m], of the tets and then of `others`,
    #: (e + s, 6, 9)
    blocks: Vec
    node_blocks: Vec  #: blocks of K from forces on single nodes [N/m], (n, 3, 3)
    damped: Damped | None = None  #: D = ∂f/∂v; None where nothing is damped
    memory: Mapping[str, Vec] = field(default_factory=dict)  #: of the state of this linearisation
    is_fresh: bool = True  #: whether K is that of x, and not of a moment before
    contacts: Contacts = NO_CONTACTS  #: with the ground, whose forces are in f and K
    #: node_blocks without those of contacts, (n, 3, 3) [N/m], where velocities follow as if nothing touched; else None
    contact_free_blocks: Vec | None = None
    others: Index | None = None  #: nodes of the elements other than tets, (s, 4), where there are any
    is_tried: bool = False  #: whether another K is available where this one is not definite in single precision


class Near:
    """Products with the rows or columns of K that belong to a few nodes, over the elements around these."""

    def __init__(self, tets: Index, nodes: Index, count: int) -> None:
        """tets: nodes of elements, (e, 4). nodes: the few nodes, (k,). count: number of all nodes."""
        self._few = np.zeros(count, dtype=bool)
        self._few[nodes] = True
        self._first = len(tets)
        self._others: tuple[Index, Near] | None = None  #: the last other elements, and the products with them
        elements = np.flatnonzero(self._few[tets].any(axis=1))
        self._take(elements, tets[elements])

    def _take(self, elements: Index, corners: Index) -> None:
        """Prepare products over these elements, (k,), with their nodes, (k, 4)."""
        self.elements: Index = elements.astype(np.int32)
        self.around = corners  #: nodes of the elements, (k, 4)
        count = len(self._few)
        near = self._few.copy()  # also those that no element has, as of obstacles
        near[corners] = True
        self.nodes = np.flatnonzero(near)  #: (m,) the few and those around them
        self.row_of = np.full(count, -1)  #: (count,) row of each node in `nodes`, or −1
        self.row_of[self.nodes] = np.arange(len(self.nodes))
        self._corners = self.row_of[corners].astype(np.int32)
        self._own = np.flatnonzero(self._few[self.nodes])
        ordered = np.sort(corners, axis=1)
        #: whether these are the first elements, of which all are, each with four different corners
        self._is_whole = bool(np.array_equal(elements, np.arange(len(elements))) and (np.diff(ordered) > 0).all())

    def of(self, lin: Linearised) -> Near:
        """Return these products with the elements other than tets of `lin` included."""
        if lin.others is None:
            return self
        if self._others is None or not np.array_equal(self._others[0], lin.others):
            touching = np.flatnonzero(self._few[lin.others].any(axis=1))
            self._others = None  # the copy would refer to the last one, and that to the one before
            whole = copy.copy(self)
            whole._take(np.concatenate([self.elements, self._first + touching]),
                        np.concatenate([self.around, lin.others[touching]]))
            self._others = (lin.others, whole)
        return self._others[1]

    def multiply(self, lin: Linearised, columns: Vec) -> Vec:
        """Return K columns, (m, 3, c), complete in the rows of the few nodes, or in all rows where columns are zero
        elsewhere.

        columns: (m, 3, c), in the order of `nodes`. lin: linearisation that this object was returned for by `of`.
        """
        out = np.zeros(columns.shape)
        if self._is_whole and columns.shape[2] == 1:
            multiply_one(lin.blocks, self._corners, np.ascontiguousarray(columns[:, :, 0]), out[:, :, 0])
        else:
            multiply(lin.blocks, self.elements, self._corners, np.ascontiguousarray(columns), out)
        # no force acts on most corners of rigid surfaces alone
        own = self._own[lin.node_blocks[self.nodes[self._own]].any(axis=(1, 2))]
        out[own] += np.einsum("nij,njc->nic", lin.node_blocks[self.nodes[own]], columns[own])
        return out
