"""φ₁ of a large symmetric system times vectors, by Lanczos' method: by products with the stiffness, without a factor.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg

from ..errors import StepFailed
from ..state import Vec
from .phi_functions import psi

LARGEST = 96  #: vectors of one Krylov space; where they do not reach the step's end, it is taken in parts
MOST_PRODUCTS = 20_000  #: of a step: as many as a thousand times the highest frequency that it resolves well

Product = Callable[[Vec], Vec]


class Lanczos:
    """Krylov spaces of a symmetric S from several vectors at once: one recurrence each, with common products."""

    def __init__(self, product: Product, vectors: Vec, largest: int) -> None:
        """product: S times (m, c). vectors: first vectors of the spaces, (m, c). largest: number of vectors of a space.
        """
        self._product, self._count = product, vectors.shape[1]
        self.norms = np.sqrt(np.einsum("mc,mc->c", vectors, vectors))
        self._diagonal, self._below = np.zeros((2, largest, self._count))
        self._basis = np.zeros((largest + 1, *vectors.shape))
        self._basis[0] = vectors / np.where(self.norms > 0.0, self.norms, 1.0)
        self.size = 0

    def grow(self) -> None:
        """Extend each space by one vector."""
        m, basis = self.size, self._basis
        out = self._product(basis[m])
        if m:
            out -= self._below[m - 1] * basis[m - 1]
        self._diagonal[m] = np.einsum("mc,mc->c", basis[m], out)
        out -= self._diagonal[m] * basis[m]
        below = np.sqrt(np.einsum("mc,mc->c", out, out))
        # a space that is invariant under S is complete
        scale = np.abs(self._diagonal[: m + 1]).max(axis=0)
        below[below <= 1.0e-14 * scale] = 0.0
        self._below[m] = below
        basis[m + 1] = out / np.where(below > 0.0, below, 1.0)
        self.size = m + 1

    def spectra(self) -> list[tuple[Vec, Vec, float]]:
        """Return for each of the c spaces the eigenvalues of its tridiagonal T, (size,), the eigenvectors,
        (size, size), and the residual's norm."""
        m = self.size
        return [(*scipy.linalg.eigh_tridiagonal(self._diagonal[:m, c], self._below[: m - 1, c],
                                               lapack_driver="stev"),
                 float(self._below[m - 1, c])) for c in range(self._count)]

    def combine(self, weights: Vec) -> Vec:
        """Return Σ_c Σ_i weights_ic v_ic of the spaces' vectors v, (m,), for weights (size, c)."""
        total: Vec = np.einsum("imc,ic->m", self._basis[: self.size], weights)
        return total


def exponential(product: Product, velocity: Vec, acceleration: Vec, drift: Vec | None, h: float, tolerance: float
                ) -> tuple[Vec, Vec, int]:
    """Integrate δ̈ = S δ + acceleration + t drift, δ(0) = 0, δ̇(0) = velocity, over h [s]; return δ, δ̇ − velocity,
    (m,) each, and the number of products.

    product: S times (m, c), symmetric, of either sign. velocity, acceleration, drift: (m,). tolerance: of the error,
    relative to the velocities that take part. Raises StepFailed where the products are too many. [Ascher 18]
    """
    moved, gained = np.zeros_like(velocity), np.zeros_like(velocity)
    done, products = 0.0, 0
    while done < h:
        columns = [velocity + gained, acceleration]
        if done > 0.0:
            columns[1] = acceleration + product(moved[:, None])[:, 0] + (0.0 if drift is None else done * drift)
            products += 1
        if drift is not None:
            columns.append(drift)
        part, change, rate, used = _in_one_space(product, np.stack(columns, axis=1), h - done, tolerance)
        products += used
        if products > MOST_PRODUCTS:
            raise StepFailed(f"the exponential took more than {MOST_PRODUCTS} products with the stiffness")
        moved, gained = moved + change, gained + rate
        done = h if part == h - done else done + part
    return moved, gained, products


def _in_one_space(product: Product, vectors: Vec, h: float, tolerance: float) -> tuple[float, Vec, Vec, int]:
    """Return the time up to h that one Krylov space reaches, the changes of δ and δ̇ by that time, and the number of
    products."""
    space = Lanczos(product, vectors, LARGEST)
    next_check = 4
    part = h
    while True:
        space.grow()
        if space.size < next_check and space.size < LARGEST:
            continue
        spectra = space.spectra()
        full = space.size == LARGEST
        while True:
            left, change, rate = _evaluate(spectra, space.norms, part)
            if left <= tolerance * part / h * float(space.norms[0] + h * space.norms[1]):
                return part, space.combine(change), space.combine(rate), space.size
            if not full:
                break
            part *= 0.5
        next_check = space.size + max(3, space.size // 4)


def _evaluate(spectra: list[tuple[Vec, Vec, float]], norms: Vec, h: float) -> tuple[float, Vec, Vec]:
    """Return the first neglected term's velocity after h, and weights (m, c) of the spaces' vectors in both changes."""
    left, change, rate = 0.0, [], []
    for c, ((values, vectors, leaves), norm) in enumerate(zip(spectra, norms)):
        # δ has h^k ψ_k with k = 1 of the velocity, 2 of the acceleration, 3 of the drift
        k, z, first = c + 1, h * h * values, vectors[0]
        functions = psi(z, k + 2)
        grown = z * functions[2] if k == 1 else functions[k - 1]  # ψ_0 − 1, without cancelling
        change.append(norm * h**k * (vectors @ (functions[k] * first)))
        rate.append(norm * h ** (k - 1) * (vectors @ (grown * first)))
        last = vectors[-1] * first
        neglected = abs(float(last @ functions[k + 1])) + abs(float(last @ functions[k + 2]))
        left += norm * h ** (k + 1) * leaves * neglected
    return left, np.stack(change, axis=1), np.stack(rate, axis=1)
