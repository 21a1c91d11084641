"""Projection of positions onto loops and drives after a step, and of rates with them, since rows on velocities leave an
error by curvature."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import StepFailed
from ..rows.bilateral import Bilateral, Respond
from ..rows.tables import DenseRows
from ..state import Vec

CLOSED = 1.0e-10  #: [m, rad]: violations that are none
ITERATIONS = 20  #: of Newton's method, until constraints are met

#: at coordinates q: what rows are off by, (r,), its derivative, (r, m), and the rates that the rows should have, (r,)
Evaluate = Callable[[Vec], tuple[Vec, Vec, Vec]]


def project_onto_rows(q: Vec, u: Vec, evaluate: Evaluate, respond: Respond) -> tuple[Vec, Vec]:
    """Return (q, u), (m,) each: the nearest coordinates in A's metric at which the rows are satisfied, and the nearest
    rates that keep them satisfied. evaluate: function that returns the rows at q. respond: A⁻¹, of the step's end or
    near it. Raises StepFailed where the iteration does not converge. [Thesis 3.8]"""
    start = np.inf
    for _ in range(ITERATIONS):
        off, G, target = evaluate(q)
        largest = float(np.abs(off).max(initial=0.0))
        if not np.isfinite(largest) or largest > 10.0 * start:
            break
        rows = Bilateral(DenseRows.equations(G, target), respond)
        if largest <= CLOSED:
            return q, rows.solve(u)[0]
        start = min(start, largest)
        q = q - rows.Y @ rows.multipliers(off)
    raise StepFailed(f"its loops and drives do not all hold at once: one stays open by {largest:.2g} m or rad")
