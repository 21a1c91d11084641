"""Slots of each quantity in the lane array that the element loop and the materials share.

F, P, U and V are 3 x 3, column-major: entry (i, j) at slot i + 3 j. The tangent dP/dF is six 3 x 3 blocks, row-major:
H_jl[i, k] = ∂P_ij/∂F_kl for (j, l) = (0,0), (1,1), (2,2), (1,0), (2,0), (2,1); the rest follows by symmetry.
"""

from __future__ import annotations

from ..threads import inline

LANES = 16
GRADIENT = 0  #: F, 9 slots
CONSTANT = 9  #: the material's constants at this element, up to 8 slots
ENERGY = 17  #: energy density ψ [J/m³], 1 slot
STRESS = 18  #: P [Pa], 9 slots
TANGENT = 27  #: dP/dF [Pa], 54 slots

# what isotropic materials pass on to `isotropic.add_tangent`
LEFT = 81  #: U of F = U diag(σ) Vᵀ, 9 slots
RIGHT = 90  #: V, 9 slots
SIGMA = 99  #: σ, 3 slots
SCALING = 102  #: ∂²ψ/∂σ_i∂σ_j as 11, 22, 33, 12, 13, 23 [Pa], 6 slots
TWIST = 108  #: eigenvalues of the twist modes of the pairs 23, 13, 12 [Pa], 3 slots
FLIP = 111  #: eigenvalues of the flip modes, 3 slots
EIGENVECTORS = 114  #: scratch of the projection, 9 slots
CHANGE = RIGHT  #: dF, once the tangent is known or where none is required, 9 slots
MATERIAL_SLOTS = 123  #: slots that materials know of; the element loop has its own after them

MAX_CONSTANTS = ENERGY - CONSTANT
MATERIAL_KERNEL = "void(f8[::1], b1)"  #: (work, project): adds to what the slots hold


@inline
def vector(work, slot, lane):  # type: ignore[no-untyped-def]
    """Return the values of three consecutive slots, from `slot` on, of a lane."""
    first = slot * LANES + lane
    return (work[first], work[first + LANES], work[first + 2 * LANES])


@inline
def put(work, slot, lane, a):  # type: ignore[no-untyped-def]
    """Write a (3,) to three consecutive slots, from `slot` on, of a lane."""
    first = slot * LANES + lane
    work[first] = a[0]
    work[first + LANES] = a[1]
    work[first + 2 * LANES] = a[2]
