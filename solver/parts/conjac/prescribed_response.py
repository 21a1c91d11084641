"""Response of nodes in equilibrium to prescribed ones."""

from __future__ import annotations

from dataclasses import dataclass

from ...state import Vec


@dataclass(frozen=True)
class PrescribedResponse:
    """Response to velocities w of prescribed nodes without other loads. For several w at once, each array has a column
    for each."""

    rows: Vec  #: velocities on the rows, (3 (q + k),) [m/s]
    left: Vec  #: K times them and w, zero on nodes in equilibrium, (3 (q + k),) [N/s]
