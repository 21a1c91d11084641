"""Edges of a volume as a graph, for paths along the body."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from ..state import Index, Vec
from .volume import EDGES, find_edges


def edge_graph(nodes: Vec, tets: Index) -> csr_matrix:
    """Return the lengths of all edges of tetrahedra (e, 4) as a matrix [m], (k, k), each once, in the row of its
    smaller node. nodes: (k, 3) [m]."""
    pairs = find_edges(tets, EDGES)
    lengths = np.linalg.norm(nodes[pairs[:, 0]] - nodes[pairs[:, 1]], axis=1)
    return csr_matrix((lengths, (pairs[:, 0], pairs[:, 1])), shape=(len(nodes),) * 2)
