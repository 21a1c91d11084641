"""Reverse Cuthill-McKee order of nodes: a narrow band, and neighbours close together in memory."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import reverse_cuthill_mckee

from ..state import Index


def order_banded(graph: sp.csc_matrix) -> Index:
    """Return the reverse Cuthill-McKee order of the nodes of a symmetric graph (n, n): node indices, (n,), int32."""
    if graph.shape[0] == 0:
        return np.zeros(0, dtype=np.int32)
    order: Index = reverse_cuthill_mckee(graph.tocsr(), symmetric_mode=True).astype(np.int32)
    return order
