"""Patches that are dynamic by their amplitudes y = C v, constrained by forces Cᵀ λ on all their nodes.

Without the constraint, the force of each amplitude has a response Z in equilibrium, K Z = −Cᵀ except on retained nodes,
and Y = Cᵀ Z is the compliance between patches. Velocities Z Y⁻¹ y move the patches by y, and their motion by other
loads is compensated. C is taken without the rigid motions of floating parts, so that those are no amplitude of a patch.
[ConJac 6, changed: dynamic patches]
"""

from __future__ import annotations

import numpy as np

from ...coordinates.floating_frames import Frame, Frames
from ...coordinates.patches import Patch, Patches
from ...state import Index, Vec
from ..interface import Mesh


def free_patches(mesh: Mesh) -> list[Patch]:
    """Return the mesh's patches without their prescribed nodes; patches of prescribed nodes alone are left out."""
    free = [Patch(np.intersect1d(patch.nodes, mesh.coordinates.free), patch.motions) for patch in mesh.patches]
    return [patch for patch in free if len(patch.nodes)]


def patch_loads(patches: Patches, x: Vec, mass: Vec, frames: Frames, at: list[Frame]) -> Vec:
    """Return C without rigid motions of floating parts, (c, n, 3), at positions x, (n, 3) [m]. mass: (n,) [kg]. at:
    frames of the rigid motions; empty where none is free."""
    rows = patches.rows(x)
    if not at:
        return rows
    accelerations = np.divide(rows, mass[:, None], out=np.zeros_like(rows), where=mass[:, None] > 0.0)
    return np.stack([row - frames.inertia(at, mass, acceleration) for row, acceleration in zip(rows, accelerations)])


class ConstrainedPatches:
    """Amplitudes and constraint forces of patches at one stiffness."""

    def __init__(self, loads: Vec, order: Index, response: Vec, left: Vec) -> None:
        """Compute the compliance between patches. loads: C, (c, n, 3). order: nodes of the rows. response: −K⁻¹ of C
        with other dynamic unknowns fixed, (3 (q + k), c). left: residual of C then on the retained nodes, (3 k, c)."""
        self._rows = np.ascontiguousarray(loads[:, order].reshape(len(loads), -1).T)
        self._span = np.linalg.qr(self._rows)[0]
        self._response, self._left = response, left
        self._inverse = _symmetric(np.linalg.inv(self._rows.T @ response))

    def amplitudes(self, rows: Vec) -> Vec:
        """Return amplitudes C v, (c,), of velocities v on the rows, (3 (q + k),)."""
        out: Vec = self._rows.T @ rows
        return out

    def not_shared(self, rows: Vec) -> Vec:
        """Return forces on the rows, (3 (q + k),) [N], without the part that constraint forces of patches balance."""
        out: Vec = rows - self._span @ (self._span.T @ rows)
        return out

    def velocities(self, others: Vec, stiffness_rows: Vec) -> tuple[Vec, Vec]:
        """Return V of the other dynamic unknowns and then of the amplitudes, (3 (q + k), r), and Vᵀ K V, (r, r).

        others: velocities by the other unknowns without the constraint, (3 (q + k), o). stiffness_rows: K times those
        on the retained nodes, (3 k, o); zero on quasistatic ones.
        """
        first = others.shape[1]
        forces = np.concatenate([-self._inverse @ (self._rows.T @ others), self._inverse], axis=1)
        velocities = self._response @ forces
        velocities[:, :first] += others
        on_retained = self._left @ forces
        on_retained[:, :first] += stiffness_rows
        product: Vec = velocities[len(velocities) - len(stiffness_rows) :].T @ on_retained
        product[first:] = product[first:] - forces
        return velocities, _symmetric(product)

    def with_fixed_patches(self, response: Vec, left: Vec) -> tuple[Vec, Vec]:
        """Return a response −K⁻¹ b with the patches fixed and the residual of b then, both (3 (q + k), c).

        response: −K⁻¹ b without the constraint. left: residual of b without it on the retained nodes, (3 k, c).
        """
        forces: Vec = self._inverse @ (self._rows.T @ response)
        rest: Vec = self._rows @ forces
        rest[len(rest) - len(left) :] += left - self._left @ forces
        return response - self._response @ forces, rest


def _symmetric(matrix: Vec) -> Vec:
    out: Vec = 0.5 * (matrix + matrix.T)
    return out
