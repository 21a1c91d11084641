"""K = ∂f/∂x and D = ∂f/∂v of the free nodes at one moment, for methods that ask for products and never factor them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..state import Index, Vec
from ..threads import kernel
from .linearised import Linearised
from .pattern import Pattern


@kernel("void(i4[::1], i4[::1], f8[::1], f8[:,::1], f8[:,::1])")
def multiply_lower(indptr, indices, data, columns, out):  # type: ignore[no-untyped-def]
    """out = A columns, both (m, c), of a symmetric matrix given by its lower triangle in compressed columns."""
    width = columns.shape[1]
    out[:] = 0.0
    for j in range(columns.shape[0]):
        first = indptr[j]
        for c in range(width):  # the diagonal entry is the first of its column
            out[j, c] += data[first] * columns[j, c]
        for k in range(first + 1, indptr[j + 1]):
            i, value = indices[k], data[k]
            for c in range(width):
                out[i, c] += value * columns[j, c]
                out[j, c] += value * columns[i, c]


@dataclass(frozen=True)
class Product:
    """A symmetric matrix on a pattern, for products in the order of the free nodes."""

    pattern: Pattern
    values: Vec  #: the lower triangle
    rank: Index  #: where each node of the pattern's order stands among the free ones, (f,)

    def __call__(self, columns: Vec) -> Vec:
        """Times columns, both (3 f, c)."""
        width = columns.shape[1]
        ordered = columns.reshape(-1, 3 * width)[self.rank].reshape(-1, width)
        product = np.empty_like(ordered)
        multiply_lower(self.pattern.indptr, self.pattern.indices, self.values, ordered, product)
        out = np.empty((len(self.rank), 3 * width))
        out[self.rank] = product.reshape(-1, 3 * width)
        return out.reshape(-1, width)


@dataclass(frozen=True)
class Tangent:
    """The true K, not projected, as it was when this was made; vectors are in the order of the free nodes."""

    lin: Linearised  #: what it was made from; its blocks are gone after the next linearisation
    free: Index  #: (f,)
    mass: Vec  #: of each row [kg], (3 f,)
    acceleration: Vec  #: M⁻¹ f, damping included [m/s²], (3 f,)
    pulled: Vec | None  #: K w of the prescribed nodes' velocities [N/s], (3 f,); None where all are still
    stiffness: Callable[[Vec], Vec]  #: K columns, both (3 f, c)

    @property
    def is_damped(self) -> bool:
        """Whether there is any D."""
        return self.lin.damped is not None

    def damping(self, columns: Vec) -> Vec:
        """D columns, both (3 f, c); D = ∂f/∂v, negative semi-definite."""
        damped = self.lin.damped
        if damped is None:
            return np.zeros_like(columns)
        spread = np.zeros((len(self.lin.mass), 3, columns.shape[1]))
        spread[self.free] = columns.reshape(len(self.free), 3, -1)
        product = damped.multiply(spread) - damped.drag[:, None, None] * spread
        return product[self.free].reshape(columns.shape)
