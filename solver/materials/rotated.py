"""Functions of energies that measure F from its nearest rotation: μ Σ (σ_i − 1)², with the sign of det F on σ₃.

F has no nearest rotation where σ₂ + σ₃ = 0 (an element inverted along its shortest axis): there the energy has a kink.
Divisors σ_i + σ_j are at least `NARROW`, so the tangent is inexact within that of the kink and nowhere else. [Smith
2019]
"""

from __future__ import annotations

from ..threads import inline
from .lanes import SIGMA, vector

NARROW = 1.0e-3  #: lower bound of a sum of two stretches, near which F has no nearest rotation


@inline
def strains(work, lane):  # type: ignore[no-untyped-def]
    """Return the three σ_i − 1 of a lane."""
    s1, s2, s3 = vector(work, SIGMA, lane)
    return s1 - 1.0, s2 - 1.0, s3 - 1.0


@inline
def over_pairs(work, lane):  # type: ignore[no-untyped-def]
    """Return 2 / (σ_i + σ_j) of the pairs 23, 13, 12 of a lane, with sums of at least `NARROW`."""
    s1, s2, s3 = vector(work, SIGMA, lane)
    return 2.0 / max(s2 + s3, NARROW), 2.0 / max(s1 + s3, NARROW), 2.0 / max(s1 + s2, NARROW)
