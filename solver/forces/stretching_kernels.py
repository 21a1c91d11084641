"""Rate of stretch of elements: the rate of S in F = R S; only adaptive bakes compile it."""

from __future__ import annotations

from ..materials.algebra import decompose
from ..materials.lanes import GRADIENT, LANES, LEFT, RIGHT, SIGMA, vector
from ..threads import inline, kernel
from .elastic_kernels import VOLUME, load_block

#: of the largest singular value: lower bound of a sum of two, since inverted elements have no unique R
FLOOR = 0.1


@inline
def _rotate_back(u, gradient, v):  # type: ignore[no-untyped-def]
    """Return uᵀ Ḟ v. gradient: columns of Ḟ."""
    a, b, c = gradient
    return (
        u[0] * (a[0] * v[0] + b[0] * v[1] + c[0] * v[2]) + u[1] * (a[1] * v[0] + b[1] * v[1] + c[1] * v[2])
        + u[2] * (a[2] * v[0] + b[2] * v[1] + c[2] * v[2])
    )


@inline
def _shear(s, t, st, ts, floor):  # type: ignore[no-untyped-def]
    """Return the entry of Ŝ between two principal directions: that of Uᵀ Ḟ V without its part in Ṙ S."""
    return (s * st + t * ts) / max(s + t, floor)


@inline
def _entry(i, j, p, q, r, d, e):  # type: ignore[no-untyped-def]
    """Return |V Ŝ Vᵀ| at (i, j). p, q, r: columns of V. d: diagonal of Ŝ. e: its entries 12, 13, 23."""
    return abs(
        d[0] * p[i] * p[j] + d[1] * q[i] * q[j] + d[2] * r[i] * r[j] + e[0] * (p[i] * q[j] + q[i] * p[j])
        + e[1] * (p[i] * r[j] + r[i] * p[j]) + e[2] * (q[i] * r[j] + r[i] * q[j])
    )


@kernel("void(i8, i8, f8[:,::1], f8[:,::1], i4[:,:,::1], f8[:,:,::1], f8[:,:,::1], f8[:,::1], f8[::1])")
def stretching(start, stop, x, v, nodes, rest, constants, works, out):  # type: ignore[no-untyped-def]
    """Write volume times the mean of the nine |Ṡ_ij|, out (16 b,) [m³/s], chunks `start` to `stop`; S in the rest
    frame.

    x: (n, 3) [m]. v: (n, 3) [m/s]. nodes: (b, 4, LANES). rest: (b, 10, LANES). constants: (b, c, LANES). works:
    (chunks, slots). With F = U Σ Vᵀ and G = Uᵀ Ḟ V, Ŝ = Vᵀ Ṡ V is the symmetric part of G weighted by σ; the rest of G
    is in Ṙ S. [Thesis 4.17] [Thesis 4.18]
    """
    chunks = works.shape[0]
    count = nodes.shape[0]
    for chunk in range(start, stop):
        work = works[chunk]
        for block in range(chunk * count // chunks, (chunk + 1) * count // chunks):
            load_block(work, x, nodes, rest, constants, block)
            decompose(work)
            load_block(work, v, nodes, rest, constants, block)
            for lane in range(LANES):
                gradient = (vector(work, GRADIENT, lane), vector(work, GRADIENT + 3, lane),
                            vector(work, GRADIENT + 6, lane))
                a, b, c = vector(work, LEFT, lane), vector(work, LEFT + 3, lane), vector(work, LEFT + 6, lane)
                p, q, r = vector(work, RIGHT, lane), vector(work, RIGHT + 3, lane), vector(work, RIGHT + 6, lane)
                sigma = vector(work, SIGMA, lane)
                floor = FLOOR * sigma[0]
                d = (_rotate_back(a, gradient, p), _rotate_back(b, gradient, q), _rotate_back(c, gradient, r))
                e = (
                    _shear(sigma[0], sigma[1], _rotate_back(a, gradient, q), _rotate_back(b, gradient, p), floor),
                    _shear(sigma[0], sigma[2], _rotate_back(a, gradient, r), _rotate_back(c, gradient, p), floor),
                    _shear(sigma[1], sigma[2], _rotate_back(b, gradient, r), _rotate_back(c, gradient, q), floor),
                )
                total = _entry(0, 0, p, q, r, d, e) + _entry(1, 1, p, q, r, d, e) + _entry(2, 2, p, q, r, d, e)
                total += 2.0 * (_entry(0, 1, p, q, r, d, e) + _entry(0, 2, p, q, r, d, e) + _entry(1, 2, p, q, r, d, e))
                out[block * LANES + lane] = total / 9.0 * work[VOLUME * LANES + lane]
