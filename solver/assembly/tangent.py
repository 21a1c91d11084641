"""K = ∂f/∂x and D = ∂f/∂v of the free nodes at one moment, for methods that ask for products and never factor them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..state import Index, Vec
from .linearised import Linearised
from .product import Product


class FreeProduct:
    """A symmetric matrix on a pattern, for products in the order of the free nodes."""

    def __init__(self, lower: sp.csc_matrix, rank: Index) -> None:
        """rank: where each node of the pattern's order stands among the free ones, (f,)."""
        self._product, self._rank = Product(lower), rank

    def __call__(self, columns: Vec) -> Vec:
        """Times columns, both (3 f, c)."""
        out = np.empty((len(self._rank), 3, columns.shape[1]))
        for c, column in enumerate(columns.T):
            ordered = column.reshape(-1, 3)[self._rank]
            out[self._rank, :, c] = self._product(ordered.ravel()).reshape(-1, 3)
        return out.reshape(columns.shape)


@dataclass(frozen=True)
class Tangent:
    """The true K, not projected, as it was when this was made; vectors are in the order of the free nodes."""

    lin: Linearised  #: what it was made from; its blocks are gone after the next linearisation
    free: Index  #: (f,)
    mass: Vec  #: of each row [kg], (3 f,)
    acceleration: Vec  #: M⁻¹ f, damping included [m/s²], (3 f,)
    pulled: Vec | None  #: K w of the prescribed nodes' velocities [N/s], (3 f,); None where all are still
    stiffness: Callable[[Vec], Vec]  #: K columns, both (3 f, c)
    #: factors μM − K and gives what solves with it, columns (3 f, c) each. Raises StepFailed
    shifted: Callable[[float], Callable[[Vec], Vec]]

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
