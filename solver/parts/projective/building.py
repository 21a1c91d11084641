"""ProjectedElements of bodies: those that resist small strains as the same body of a bake does."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...forces.cloth.quadratic_kernels import weigh
from ...forces.cloth.sheet import Sheet
from ...state import Index, Vec
from .constraints import FlatRows, Lengths, ProjectedElements, Triangles

LIMIT_RATIO = 500.0  #: times as stiff is cloth past the limit of its stretch
GIVES = 2.0  #: times that limit along diagonals, where threads turn first
#: ways across a triangle in material space: warp, weft and both diagonals, and how many limits each gives
WAYS = ((1.0, 0.0, 1.0), (0.0, 1.0, 1.0), (np.sqrt(0.5), np.sqrt(0.5), GIVES), (np.sqrt(0.5), -np.sqrt(0.5), GIVES))


def membrane_moduli(params: Mapping[str, float]) -> tuple[Vec, float, list[str]]:
    """Return weights of the ways [N/m], (4,), and of |F − R|² [N/m], which for small strains are those of the woven
    membrane C₁₁, C₂₂, C₁₂ and G; and sentences where that cannot be.

    A way's ½ w (|F e| − 1)² has w e⁴, so two diagonals of w give C₁₁ = C₂₂ = C₁₂ = G = w/2, and |F − R|² of g gives
    C₁₁ = C₂₂ = 2 g and G = g.
    """
    warp, weft, ratio, shear = (params[key] for key in ("stretch_warp", "stretch_weft", "poisson_ratio", "shear"))
    whole = 1.0 - ratio**2
    c11, c22, c12 = warp / whole, weft / whole, ratio * np.sqrt(warp * weft) / whole
    both = min(c12, shear)
    turned = shear - both
    ways = np.array([c11 - 2.0 * turned - both, c22 - 2.0 * turned - both, 2.0 * both, 2.0 * both])
    notes = []
    if c12 > shear:
        notes.append("cloth with less shear stiffness than its Poisson ratio takes contracts less where it is pulled")
    if ways.min() < 0.0:
        notes.append("cloth that resists shear more than half of its stretch is stiffer along its threads")
    return np.maximum(ways, 0.0), turned, notes


def cloth_constraints(sheet: Sheet, membrane: Mapping[str, float], bending: Mapping[str, float],
                      flat: bool = True) -> list[ProjectedElements]:
    """Return the constraints of a sheet: of its triangles by ways and |F − R|², and bends.

    membrane: stretch_warp, stretch_weft, shear [N/m], poisson_ratio, stretch_limit. bending: bending_stiffness [N m].
    flat: whether it wants to be flat; else as curved as at rest, whichever way. [Notes, Projective Dynamics]
    """
    ways, turned, _ = membrane_moduli(membrane)
    triangles, gradients, areas = sheet.triangles, sheet.gradients, sheet.areas
    limit = membrane.get("stretch_limit", 0.0)
    stretch_moduli = [membrane["stretch_warp"], membrane["stretch_weft"]]
    stretch_moduli += 2 * [float(np.sqrt(stretch_moduli[0] * stretch_moduli[1]))]
    hard = LIMIT_RATIO if limit > 0.0 else 0.0
    table = np.array([(e0, e1, stiffness, hard * modulus, 1.0 + gives * limit)
                      for (e0, e1, gives), stiffness, modulus in zip(WAYS, ways, stretch_moduli)])
    found: list[ProjectedElements] = [Triangles(triangles, gradients, areas, table[table[:, 2:4].any(axis=1)],
                                                2.0 * turned)]
    bending_rows = bends(sheet, bending["bending_stiffness"], flat)
    return found + ([FlatRows(one, len(sheet.rest)) for one in bending_rows] if flat else list(bending_rows))


def bends(sheet: Sheet, stiffness: float, flat: bool = True) -> list[Lengths]:
    """Return the rows of what bends in a sheet, none without a stiffness [N m]. flat: else as curved as at rest."""
    hinges = sheet.bends
    if not len(hinges.nodes) or stiffness <= 0.0:
        return []
    weights, stiff = np.empty((len(hinges.nodes), 4)), np.empty(len(hinges.nodes))
    weigh(hinges.cotangents, hinges.areas, stiffness, weights, stiff)
    curved = np.einsum("ka,kai->ki", weights, sheet.rest[hinges.nodes])
    rest = np.zeros(len(hinges.nodes)) if flat else np.sqrt(np.einsum("ki,ki->k", curved, curved))
    return [Lengths.of(hinges.nodes, weights, stiff * hinges.share, rest)]


def springs(rest: Vec, pairs: Index, stiffness: Vec | float, lengths: Vec | None = None) -> Lengths:
    """Return springs between pairs of nodes, (k, 2), of these lengths (k,) [m] or those at rest."""
    if lengths is None:
        lengths = np.linalg.norm(rest[pairs[:, 1]] - rest[pairs[:, 0]], axis=1)
    return Lengths.of(pairs, np.array([-1.0, 1.0]), stiffness, lengths)


def ropes(rest: Vec, pairs: Index, stiffness: Vec | float) -> Lengths:
    """Return links that get no longer than at rest and may get shorter."""
    length = np.linalg.norm(rest[pairs[:, 1]] - rest[pairs[:, 0]], axis=1)
    return Lengths.of(pairs, np.array([-1.0, 1.0]), stiffness, 0.0, length)


def welds(nodes: Index, coefficients: Vec, stiffness: Vec | float) -> Lengths:
    """Return rows Σ c_a x_a = 0 that hold points of one body on another's, (k, 2…4) nodes and coefficients."""
    return Lengths.of(nodes, coefficients, stiffness, 0.0)
