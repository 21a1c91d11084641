"""K = ∂f/∂x and D = ∂f/∂v of the free nodes at one moment, for methods that need products and never factor them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..state import Index, Vec
from .linearised import Linearised
from .product import Product


class FreeProduct:
    """Product with a symmetric matrix on a pattern, for columns in the order of the free nodes."""

    def __init__(self, lower: sp.csc_matrix, rank: Index) -> None:
        """lower: lower triangle, (3 f, 3 f). rank: index of each node of the pattern's order among the free nodes,
        (f,)."""
        self._product, self._rank = Product(lower), rank

    def __call__(self, columns: Vec) -> Vec:
        """Return the matrix times columns, both (3 f, c)."""
        out = np.empty((len(self._rank), 3, columns.shape[1]))
        for c, column in enumerate(columns.T):
            ordered = column.reshape(-1, 3)[self._rank]
            out[self._rank, :, c] = self._product(ordered.ravel()).reshape(-1, 3)
        return out.reshape(columns.shape)


@dataclass(frozen=True)
class Tangent:
    """True K = ∂f/∂x, not projected, and D of the free nodes at the moment of construction; vectors are in the order of
    these nodes."""

    lin: Linearised  #: linearisation; its blocks are overwritten by the next one
    free: Index  #: (f,)
    mass: Vec  #: of each row [kg], (3 f,)
    acceleration: Vec  #: M⁻¹ f, damping included [m/s²], (3 f,)
    pulled: Vec | None  #: K w of the prescribed nodes' velocities [N/s], (3 f,); None where all are still
    stiffness: Callable[[Vec], Vec]  #: K columns, both (3 f, c)
    #: factors μM − K and returns a function that solves with it, columns (3 f, c) each. Raises StepFailed
    shifted: Callable[[float], Callable[[Vec], Vec]]

    @property
    def is_damped(self) -> bool:
        """Whether the linearisation has a damping matrix D."""
        return self.lin.damped is not None

    def damping(self, columns: Vec) -> Vec:
        """Return D columns, both (3 f, c), D = ∂f/∂v negative semi-definite.

        Raises ValueError where D is stored as a multiple of K: this K is not projected, so that multiple would not be
        semi-definite.
        """
        damped = self.lin.damped
        if damped is None:
            return np.zeros_like(columns)
        if damped.stiffness_damping:
            raise ValueError("damping in proportion to a stiffness that is not projected")
        spread = np.zeros((len(self.lin.mass), 3, columns.shape[1]))
        spread[self.free] = columns.reshape(len(self.free), 3, -1)
        product = damped.multiply(spread) - damped.drag[:, None, None] * spread
        return product[self.free].reshape(columns.shape)
