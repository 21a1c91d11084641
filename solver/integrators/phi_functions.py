"""Entire functions in φ₁ of a second-order system: real at every λ, smooth through zero."""

from __future__ import annotations

from math import factorial

import numpy as np

from ..state import Vec

NEAR_ZERO = 4.0  #: |z| up to which the series is summed: there the closed forms lose digits
TERMS = 16  #: of the series: more change no digit up to there


def psi(z: Vec, highest: int) -> list[Vec]:
    """Return ψ_0 … ψ_highest at real z, ψ_k(z) = Σ_j z^j / (2j + k)!; each has the shape of z.

    ψ_0 and ψ_1 are cos and sin(y)/y of y = √−z for z ≤ 0 (modes that oscillate), cosh and sinh(y)/y of y = √z for z ≥ 0
    (modes that buckle), and ψ_k = 1/k! + z ψ_{k+2}. With z = h² λ they are the terms of φ₁(hJ), J = [0 1; λ 0]: h
    φ₁(hJ) (v, a) = (h ψ_1 v + h² ψ_2 a, h² λ ψ_2 v + h ψ_1 a). [Ascher 18]
    """
    z = np.asarray(z, dtype=float)
    oscillates, far = z < 0.0, np.abs(z) > NEAR_ZERO
    root = np.sqrt(np.abs(z))
    safe = np.where(far, z, 1.0)
    with np.errstate(over="ignore"):
        even = np.where(oscillates, np.cos(root), np.cosh(root))
        odd = np.where(oscillates, np.sin(root), np.sinh(root)) / np.where(far, root, 1.0)
    values = [even, odd]
    for k in range(2, highest + 1):
        values.append((values[k - 2] - 1.0 / factorial(k - 2)) / safe)
    return [np.where(far, value, _series(np.where(far, 0.0, z), k)) for k, value in enumerate(values[: highest + 1])]


def _series(z: Vec, k: int) -> Vec:
    """Return ψ_k by Horner's rule."""
    total: Vec = np.zeros_like(z)
    for j in range(TERMS, -1, -1):
        total = total * z + 1.0 / factorial(2 * j + k)
    return total
