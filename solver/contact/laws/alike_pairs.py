"""Groups of pairs with the same nearest points, of which one pair represents all.

A vertex that is a nearest point belongs to several triangles and edges, each of which makes a pair of its own: where
two grids lie on each other, half of the pairs repeat others. Energies and forces add up, so only one pair of each group
is linearised, with the stiffness of all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...state import Index, Vec
from ...threads import kernel
from ..find.distance_kernels import FREE
from .barrier_kernels import mollify


@dataclass(frozen=True)
class AlikePairs:
    """Groups of pairs that have the same nearest points."""

    which: Index  #: first pair of each group, rising, (g,)
    number: Index  #: group of each pair, (k,)

    def sums(self, values: Vec) -> Vec:
        """Return the sum over each group, (g,), of values of the pairs, (k,)."""
        sums: Vec = np.bincount(self.number, weights=values, minlength=len(self.which)).astype(float, copy=False)
        return sums


def alike_pairs(x: Vec, nodes: Index, points: int, rest: Vec, work: Vec) -> AlikePairs:
    """Return groups of pairs with the same nearest points: two vertices, or a vertex and a point on an edge.

    Any other pair is a group by itself, as are edges whose barrier is mollified.

    x: positions, (n, 3) [m]. nodes: (k, 4), the first `points` pairs of a point and a triangle. rest, work: as in
    ActivePairs.
    """
    count = len(nodes)
    first, keys = np.empty(count, np.int32), np.empty((count, 3), np.int32)
    table = np.full(1 << (2 * count).bit_length(), -1, np.int32)
    find_first(x, nodes, points, rest, work, keys, table, first)
    is_first = first == np.arange(count)
    number = (np.cumsum(is_first) - 1)[first]
    return AlikePairs(np.flatnonzero(is_first), number)


@kernel("void(f8[:,::1], i4[:,::1], i8, f8[::1], f8[:,::1], i4[:,::1], i4[::1], i4[::1])")
def find_first(x, nodes, points, rest, work, keys, table, first):  # type: ignore[no-untyped-def]
    """Write to `first`, (k,), the number of the first pair with the same nearest points as each pair, by a hash table.

    x, nodes, points, rest, work: as in `alike_pairs`. keys: (k, 3), scratch space. table: all −1, a power of two of
    entries, more than twice the number of pairs.
    """
    soft, mask = np.empty(4), table.shape[0] - 1
    for k in range(nodes.shape[0]):
        first[k] = k
        if work[k, FREE] > 1.5:
            continue
        # the nodes of each side on which its nearest point depends
        first_side = 1 if k < points else 2
        a0, a1, b0, b1, many = -1, -1, -1, -1, 0
        for c in range(4):
            if work[k, c] != 0.0:
                node = nodes[k, c]
                many += 1
                if c < first_side:
                    a0, a1 = max(a0, node), a0 if node > a0 else node
                else:
                    b0, b1 = max(b0, node), b0 if node > b0 else node
        if many != 2 + int(work[k, FREE]) or a0 < 0 or b0 < 0:
            continue
        if k >= points:
            mollify(x, nodes[k], rest[k], soft)
            if soft[0] < 1.0:
                continue
        # the vertex and then the edge, or both vertices
        if a1 >= 0 or (b1 < 0 and b0 > a0):
            a0, a1, b0, b1 = b0, b1, a0, a1
        keys[k, 0], keys[k, 1], keys[k, 2] = a0, b0, b1
        at = (a0 * 73856093 ^ b0 * 19349663 ^ b1 * 83492791) & mask
        while table[at] >= 0:
            other = table[at]
            if keys[other, 0] == a0 and keys[other, 1] == b0 and keys[other, 2] == b1:
                first[k] = other
                break
            at = (at + 1) & mask
        else:
            table[at] = k
