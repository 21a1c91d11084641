"""Products with K = ∂f/∂x on the free nodes at one moment, for methods that ask often and never factor it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..state import Index, Vec
from ..threads import kernel
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
class Tangent:
    """K = ∂f/∂x of the free nodes, as it was when this was made."""

    pattern: Pattern
    values: Vec  #: of K on the pattern, the lower triangle [N/m]
    rank: Index  #: where each node of the pattern's order stands among the free ones, (f,)
    pulled: Vec | None  #: K w of the prescribed nodes' velocities on the free nodes, (3 f,) [N/s]; None where still

    def times(self, columns: Vec) -> Vec:
        """K columns, both (3 f, c), in the order of the free nodes."""
        width = columns.shape[1]
        ordered = np.ascontiguousarray(columns.reshape(-1, 3 * width)[self.rank].reshape(-1, width))
        product = np.empty_like(ordered)
        multiply_lower(self.pattern.indptr, self.pattern.indices, self.values, ordered, product)
        out = np.empty((len(self.rank), 3 * width))
        out[self.rank] = product.reshape(-1, 3 * width)
        return out.reshape(-1, width)
