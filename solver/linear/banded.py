"""An elimination order for solvers that do not eliminate in it."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import reverse_cuthill_mckee

from ..state import Index


def banded_order(graph: sp.csc_matrix) -> Index:
    """Nodes of a symmetric graph, (n,), so that neighbours stand near each other in memory."""
    if graph.shape[0] == 0:
        return np.zeros(0, dtype=np.int32)
    order: Index = reverse_cuthill_mckee(graph.tocsr(), symmetric_mode=True).astype(np.int32)
    return order
