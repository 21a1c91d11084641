"""Detection of tetrahedra that have deformed or rotated since their stiffness was evaluated."""

from __future__ import annotations

from ..threads import inline, kernel


@inline
def _square(x, y, z):  # type: ignore[no-untyped-def]
    return x * x + y * y + z * z


@kernel("void(i8, i8, f8[:,::1], i4[:,::1], f4[:,:,::1], f4[:,::1], f8, b1[::1])")
def find_strained_elements(start, stop, x, corners, edges, inverse_square, most, out):  # type: ignore[no-untyped-def]
    """Mark elements start to stop with an edge whose relative change, squared, exceeds `most`.

    x: (n, 3) [m]. corners: (k, 4). edges: reference edges from the first corner to the others, (k, 3, 3) [m].
    inverse_square: of the six edges' lengths in the order of `EDGES`, (k, 6) [1/m²]. out: (k,).
    """
    for k in range(start, stop):
        p = x[corners[k, 0]]
        q, r, s = x[corners[k, 1]], x[corners[k, 2]], x[corners[k, 3]]
        was, fraction = edges[k], inverse_square[k]
        a0, a1, a2 = q[0] - p[0] - was[0, 0], q[1] - p[1] - was[0, 1], q[2] - p[2] - was[0, 2]
        b0, b1, b2 = r[0] - p[0] - was[1, 0], r[1] - p[1] - was[1, 1], r[2] - p[2] - was[1, 2]
        c0, c1, c2 = s[0] - p[0] - was[2, 0], s[1] - p[1] - was[2, 1], s[2] - p[2] - was[2, 2]
        largest = max(_square(a0, a1, a2) * fraction[0], _square(b0, b1, b2) * fraction[1])
        largest = max(largest, _square(c0, c1, c2) * fraction[2])
        largest = max(largest, _square(b0 - a0, b1 - a1, b2 - a2) * fraction[3])
        largest = max(largest, _square(c0 - a0, c1 - a1, c2 - a2) * fraction[4])
        out[k] = max(largest, _square(c0 - b0, c1 - b1, c2 - b2) * fraction[5]) > most


@kernel("void(i8, i8, f8[:,::1], i4[:,::1], f4[:,:,::1])")
def element_edges(start, stop, x, corners, edges):  # type: ignore[no-untyped-def]
    """Write the edges of elements start to stop from the first corner to the others, (k, 3, 3) [m], at positions x
    (n, 3) [m]. corners: (k, 4)."""
    for k in range(start, stop):
        for a in range(3):
            for i in range(3):
                edges[k, a, i] = x[corners[k, a + 1], i] - x[corners[k, 0], i]
