"""Compliance of a reduced step to impulses at a few nodes."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from ...state import Index, Vec
from ..interface import Compliance


def compliance(velocities: Vec, reduced: Vec, rows: Index) -> Compliance:
    """Return the compliance V (VᵀSV)⁻¹ Vᵀ of some nodes, by small dense factors, as a function from impulses on them,
    (c, 3) [N s], to changes of their velocities, (c, 3) [m/s].

    velocities: V, (3 (q + k), r). reduced: VᵀSV, (r, r). rows: of the nodes, (c,).
    """
    columns = velocities[(3 * rows[:, None] + np.arange(3)).ravel()]
    if len(reduced):
        columns = scipy.linalg.solve_triangular(np.linalg.cholesky(reduced), columns.T, lower=True).T

    def respond(impulses: Vec) -> Vec:
        changed: Vec = (columns @ (columns.T @ impulses.ravel())).reshape(-1, 3)
        return changed

    return respond


def compliance_without_contact(velocities: Vec, positions: Vec, slope: Vec, rows: Index, normals: Vec) -> Compliance:
    """Return the compliance C Bᵀ of some nodes, as `compliance`, where velocities follow the reduced unknowns by V and
    positions by B.

    C is V S⁻¹ across the normals (c, 3), for slip, and B S⁻¹ along them, for normal forces of contacts. velocities,
    positions: V and B, (3 (q + k), r). slope: S of the stage, (r, r). rows: of the nodes, (c,).
    """
    entries = (3 * rows[:, None] + np.arange(3)).ravel()
    back = positions[entries]
    deeper = np.einsum("ca,cak->ck", normals, (back - velocities[entries]).reshape(len(rows), 3, -1))
    mixed = velocities[entries] + (normals[:, :, None] * deeper[:, None, :]).reshape(back.shape)
    columns = np.linalg.solve(slope.T, mixed.T).T if len(slope) else mixed

    def respond(impulses: Vec) -> Vec:
        changed: Vec = (columns @ (back.T @ impulses.ravel())).reshape(-1, 3)
        return changed

    return respond
