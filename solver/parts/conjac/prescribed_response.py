"""Response of nodes in equilibrium to prescribed ones."""

from __future__ import annotations

from dataclasses import dataclass

from ...state import Vec


@dataclass(frozen=True)
class PrescribedResponse:
    """Response to velocities w of prescribed nodes where nothing else acts.

    Of several w at once, each array has a column for each.
    """

    rows: Vec  #: velocities on the rows, (3 (q + k),) [m/s]
    left: Vec  #: K of them and of w, zero where nodes balance alone, (3 (q + k),) [N/s]
