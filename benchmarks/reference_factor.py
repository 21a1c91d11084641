"""Time of one factor of a fixed matrix, by which times of rows compare that were measured on other machines or beside
other programs: 12,288 unknowns of a grid, by CHOLMOD's supernodes on one thread.
"""

from __future__ import annotations

import time

import numpy as np
import scipy.sparse as sp
from sksparse.cholmod import analyze

SIDE, RUNS = 16, 5


def reference_ms() -> float:
    """Return the thread's milliseconds of the factor, the median of some."""
    line, one = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], (SIDE, SIDE)), sp.eye(SIDE)
    grid = sum(sp.kron(sp.kron(a, b), c) for a, b, c in ((line, one, one), (one, line, one), (one, one, line)))
    matrix = sp.csc_matrix(sp.kron(grid, np.eye(3) + 0.1) + 1e-3 * sp.eye(3 * SIDE**3))
    factor, spent = analyze(matrix, mode="supernodal"), []
    for _ in range(RUNS):
        began = time.thread_time()
        factor.cholesky(matrix)
        spent.append(time.thread_time() - began)
    return 1e3 * float(np.median(spent))
