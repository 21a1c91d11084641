"""Corotated membrane: linear in its strain after removal of the rotation, with a warp and a weft."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...state import Index, Vec
from .membrane_kernels import CONSTANTS, fill, measure
from .sheet import Sheet, over_elements

STIFFER = 500.0  #: stiffness of cloth beyond the limit of its stretch, relative to that below it


class CorotatedMembrane:
    """Membrane with ψ = ½ ε : C : ε per area, ε = S − 1 of F = R S, with moduli of warp, weft and shear [N/m].

    Forces are the exact gradient of this energy: more than R T in a sheet that is not isotropic, since T and S need not
    commute. K = ∂f/∂x is negative semi-definite if projected. Beyond a limit of its stretch the membrane is far
    stiffer, as straight threads are.
    """

    def __init__(self, sheet: Sheet, params: Mapping[str, float]) -> None:
        """params: stretch_warp, stretch_weft, shear [N/m]; poisson_ratio, of lateral contraction, as that of an
        isotropic sheet; stretch_limit, along threads, 0 for none."""
        warp, weft, ratio = params["stretch_warp"], params["stretch_weft"], params["poisson_ratio"]
        whole = 1.0 - ratio**2
        both = np.sqrt(warp * weft)
        self._constants = np.array([warp / whole, weft / whole, ratio * both / whole, params["shear"],
                                    params.get("stretch_limit", 0.0), STIFFER * warp, STIFFER * weft, STIFFER * both])
        assert len(self._constants) == CONSTANTS
        self.nodes: Index = np.ascontiguousarray(sheet.triangles, dtype=np.int32)
        self._gradients, self._areas = np.ascontiguousarray(sheet.gradients), sheet.areas
        self.energies = np.zeros(len(self.nodes))  #: of the elements at the last `measure` [J], (e,)

    def measure_stretch(self, x: Vec) -> Vec:
        """Return (‖F‖² − 2) / 2 of each element, (e,), at positions x (n, 3) [m]: the sum of both strains where they
        are small."""
        F = np.einsum("eai,eaj->eij", x[self.nodes], self._gradients)
        out: Vec = 0.5 * np.einsum("eij,eij->e", F, F) - 1.0
        return out

    def measure(self, x: Vec, forces: Vec) -> float:
        """Return the energy [J] at positions x (n, 3) [m]; write forces (e, 4, 3) [N]."""
        over_elements(measure, len(self.nodes), x, self.nodes, self._gradients, self._areas, self._constants, forces,
                      self.energies)
        return float(self.energies.sum())

    def fill(self, x: Vec, project: bool, forces: Vec, blocks: Vec) -> None:
        """Write forces (e, 4, 3) [N] and blocks of K = ∂f/∂x, (e, 6, 9) [N/m], at positions x (n, 3) [m].

        K is negative semi-definite if `project`.
        """
        over_elements(fill, len(self.nodes), x, self.nodes, self._gradients, self._areas, self._constants, project,
                      forces, blocks)
