"""Kernel of the product with a lower triangle; a module of its own, as a bake that factors its matrices never compiles
it."""

from __future__ import annotations

from ..threads import kernel


@kernel("void(f8[::1], i4[::1], i4[::1], f8[::1], f8[::1])")
def multiply_lower(data, indices, indptr, x, out):  # type: ignore[no-untyped-def]
    """Write out = A x, both (m,), from the lower triangle of A, whose columns begin with the diagonal entry."""
    for i in range(out.shape[0]):
        out[i] = 0.0
    for j in range(out.shape[0]):
        begin, end = indptr[j], indptr[j + 1]
        own = x[j]
        total = data[begin] * own
        for k in range(begin + 1, end):
            value, i = data[k], indices[k]
            out[i] += value * own
            total += value * x[i]
        out[j] += total
