"""Motion of quasistatic nodes by that of the dynamic ones, at one stiffness. [ConJac 6]"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...state import Vec
from .constrained_patches import ConstrainedPatches
from .prescribed_response import PrescribedResponse
from .unconstrained import UnconstrainedParts


@dataclass(frozen=True)
class QuasistaticMotion:
    """Motion of the quasistatic nodes by the reduced unknowns and loads. Rows run over these nodes, then retained ones.
    """

    columns: Vec  #: −A_qq⁻¹ A_qk of all rows that are eliminated last, A = −K and its border, (3 q, 3 k + border)
    stiffness: Vec  #: Jᵀ K J, (3 k, 3 k) [N/m]
    velocities: Vec  #: V of the reduced unknowns, (3 (q + k), r)
    product: Vec  #: Vᵀ K V, (r, r)
    static: Vec  #: −K⁻¹ of the border's vectors with dynamic unknowns fixed, (3 (q + k), border)
    left: Vec  #: residual of these vectors then, (3 (q + k), border)
    patches: ConstrainedPatches | None = None  #: that are dynamic
    components: UnconstrainedParts | None = None  #: where nothing else constrains the retained nodes

    @property
    def jacobian(self) -> Vec:
        """Return J of the quasistatic rows on the retained ones, (3 q, 3 k). [ConJac 6]"""
        return self.columns[:, : len(self.stiffness)]

    def follow(self, column: int | slice) -> PrescribedResponse:
        """Return the response to velocities of prescribed nodes. column: those of the border's vectors that belong to
        them."""
        return PrescribedResponse(self.static[:, column], self.left[:, column])


def on_rows(left: Vec, rows: int) -> Vec:
    """Return a residual, (m, c), as the last of so many rows, after zeros, (rows, c)."""
    return np.concatenate([np.zeros((rows - len(left), left.shape[1])), left])
