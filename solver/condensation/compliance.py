"""How a reduced step gives way to impulses at a few nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg

from ..state import Index, Vec
from .interface import Compliance

if TYPE_CHECKING:
    from .conjac import PosedConJac


def compliance(posed: PosedConJac, nodes: Index) -> Compliance:
    """J (JᵀSJ)⁻¹ Jᵀ on the rows and columns of some free nodes, (c,), as a product of small dense factors."""
    size, count = len(posed.jacobian) // 3, posed.basis.shape[1]
    rows = posed.owner.pattern.position[nodes]
    inner = rows < size
    reach = np.empty((len(nodes), 3, count))
    reach[inner] = posed.jacobian.reshape(size, 3, len(posed.basis))[rows[inner]] @ posed.basis
    reach[~inner] = posed.basis.reshape(len(posed.basis) // 3, 3, count)[rows[~inner] - size]
    reach = reach.reshape(3 * len(nodes), count)
    if count:
        reach = scipy.linalg.solve_triangular(np.linalg.cholesky(posed.reduced), reach.T, lower=True).T

    def respond(impulses: Vec) -> Vec:
        changed: Vec = (reach @ (reach.T @ impulses.ravel())).reshape(-1, 3)
        return changed

    return respond
