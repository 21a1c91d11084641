"""Projected elements of cloth, springs and ropes, with the stiffness of the full simulation for small strains."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...forces.cloth.corotated_membrane import STIFFER
from ...forces.cloth.membrane_kernels import DIAGONAL_FACTOR
from ...forces.cloth.quadratic_kernels import weigh
from ...forces.cloth.sheet import Sheet
from ...state import Index, Vec
from .constraints import FlatRows, Lengths, ProjectedElements, Triangles

#: directions across a triangle in material space: warp, weft and both diagonals, and the factor of each on the limit
DIRECTIONS = ((1.0, 0.0, 1.0), (0.0, 1.0, 1.0), (np.sqrt(0.5), np.sqrt(0.5), DIAGONAL_FACTOR),
              (np.sqrt(0.5), -np.sqrt(0.5), DIAGONAL_FACTOR))


def membrane_moduli(params: Mapping[str, float]) -> tuple[Vec, float, list[str]]:
    """Return weights of four directions across the material [N/m], (4,), the weight of |F − R|² [N/m], and remarks for
    the artist. For small strains they reproduce C₁₁, C₂₂, C₁₂ and G of the woven membrane; a remark says where that is
    impossible.

    A direction's ½ w (|F e| − 1)² has w e⁴, so two diagonals of w give C₁₁ = C₂₂ = C₁₂ = G = w/2, and |F − R|² of g
    gives C₁₁ = C₂₂ = 2 g and G = g.
    """
    warp, weft, ratio, shear = (params[key] for key in ("stretch_warp", "stretch_weft", "poisson_ratio", "shear"))
    whole = 1.0 - ratio**2
    c11, c22, c12 = warp / whole, weft / whole, ratio * np.sqrt(warp * weft) / whole
    both = min(c12, shear)
    corotated = shear - both
    moduli = np.array([c11 - 2.0 * corotated - both, c22 - 2.0 * corotated - both, 2.0 * both, 2.0 * both])
    notes = []
    if c12 > shear:
        notes.append("cloth with less shear stiffness than its Poisson ratio takes contracts less where it is pulled")
    if moduli.min() < 0.0:
        notes.append("cloth that resists shear more than half of its stretch is stiffer along its threads")
    return np.maximum(moduli, 0.0), corotated, notes


def cloth_constraints(sheet: Sheet, membrane: Mapping[str, float], bending: Mapping[str, float],
                      flat: bool = True) -> list[ProjectedElements]:
    """Return the constraints of a sheet: its triangles, by directions and |F − R|², and its bends.

    membrane: stretch_warp, stretch_weft, shear [N/m], poisson_ratio, stretch_limit. bending: bending_stiffness [N m].
    flat: whether the sheet is flat at rest; else its rest curvature is that of the rest shape, with either sign.
    [Notes, Projective Dynamics]
    """
    moduli, corotated, _ = membrane_moduli(membrane)
    triangles, gradients, areas = sheet.triangles, sheet.gradients, sheet.areas
    limit = membrane.get("stretch_limit", 0.0)
    stretch_moduli = [membrane["stretch_warp"], membrane["stretch_weft"]]
    stretch_moduli += 2 * [float(np.sqrt(stretch_moduli[0] * stretch_moduli[1]))]
    hard = STIFFER if limit > 0.0 else 0.0
    table = np.array([(e0, e1, stiffness, hard * modulus, 1.0 + limit_factor * limit)
                      for (e0, e1, limit_factor), stiffness, modulus in zip(DIRECTIONS, moduli, stretch_moduli)])
    constraints: list[ProjectedElements] = [Triangles(triangles, gradients, areas, table[table[:, 2:4].any(axis=1)],
                                                2.0 * corotated)]
    bending_rows = bends(sheet, bending["bending_stiffness"], flat)
    return constraints + ([FlatRows(rows, len(sheet.rest)) for rows in bending_rows] if flat else list(bending_rows))


def bends(sheet: Sheet, stiffness: float, flat: bool = True) -> list[Lengths]:
    """Return the bending rows of a sheet, an empty list without stiffness [N m]. flat: whether the rest curvature is
    zero; else it is that of the rest shape."""
    hinges = sheet.bends
    if not len(hinges.nodes) or stiffness <= 0.0:
        return []
    weights, stiff = np.empty((len(hinges.nodes), 4)), np.empty(len(hinges.nodes))
    weigh(hinges.cotangents, hinges.areas, stiffness, weights, stiff)
    curved = np.einsum("ka,kai->ki", weights, sheet.rest[hinges.nodes])
    rest = np.zeros(len(hinges.nodes)) if flat else np.sqrt(np.einsum("ki,ki->k", curved, curved))
    return [Lengths.of(hinges.nodes, weights, stiff * hinges.weight, rest)]


def springs(rest: Vec, pairs: Index, stiffness: Vec | float, lengths: Vec | None = None) -> Lengths:
    """Return springs between pairs of nodes (k, 2), of lengths (k,) [m] or, where None, their rest lengths. stiffness:
    [N/m]."""
    if lengths is None:
        lengths = np.linalg.norm(rest[pairs[:, 1]] - rest[pairs[:, 0]], axis=1)
    return Lengths.of(pairs, np.array([-1.0, 1.0]), stiffness, lengths)


def ropes(rest: Vec, pairs: Index, stiffness: Vec | float) -> Lengths:
    """Return links between pairs of nodes (k, 2) that resist only lengths above those at rest. stiffness: [N/m]."""
    length = np.linalg.norm(rest[pairs[:, 1]] - rest[pairs[:, 0]], axis=1)
    return Lengths.of(pairs, np.array([-1.0, 1.0]), stiffness, 0.0, length)


def welds(nodes: Index, coefficients: Vec, stiffness: Vec | float) -> Lengths:
    """Return rows Σ c_a x_a = 0 that tie points of one body to another, from nodes and coefficients (k, 2…4).
    stiffness: [N/m]."""
    return Lengths.of(nodes, coefficients, stiffness, 0.0)
