"""Aggregates of neighbouring nodes, and the prolongation of their rigid motions, for smoothed aggregation multigrid."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ...state import Index, Vec
from ...threads import kernel
from ..blocks import Blocks

MODES = 6  #: translations and rotations
STRONG = 0.06  #: a block beside the diagonal ones of its row and column
INDEPENDENT = 1.0e-4  #: a mode that keeps less of its length once the earlier ones are taken out is none of its own


@kernel("i8(i4[::1], i4[::1], i4[::1])")
def _aggregate(first, column, owner):  # type: ignore[no-untyped-def]
    """Write the aggregate of each node to `owner`, (n,), −1 before; return the number of aggregates."""
    count, number = owner.shape[0], 0
    # a node with its neighbours, where none of them has an owner yet
    for i in range(count):
        free = True
        for k in range(first[i], first[i + 1]):
            free = free and owner[column[k]] == -1
        if free:
            for k in range(first[i], first[i + 1]):
                owner[column[k]] = number
            owner[i] = number
            number += 1
    # the others join a neighbour's; nobody joins a node that joined just now, marked by a number below −1
    for i in range(count):
        if owner[i] == -1:
            for k in range(first[i], first[i + 1]):
                if owner[column[k]] >= 0:
                    owner[i] = -2 - owner[column[k]]
                    break
    for i in range(count):
        if owner[i] == -1:
            for k in range(first[i], first[i + 1]):
                if owner[column[k]] == -1:
                    owner[column[k]] = number
            owner[i] = number
            number += 1
        elif owner[i] < -1:
            owner[i] = -2 - owner[i]
    return number


@kernel("void(i4[::1], i4[::1], f8[:,:,::1], f8[:,:,::1])")
def _orthonormalise(members, start, modes, coarse):  # type: ignore[no-untyped-def]
    """Orthonormalise the modes of each aggregate's nodes, (n, height, 6), in place; write the former ones in terms of
    them to coarse.

    Gram-Schmidt, twice. A mode that depends on the earlier ones becomes zero.
    """
    height = modes.shape[1]
    for g in range(start.shape[0] - 1):
        own = members[start[g] : start[g + 1]]
        for a in range(MODES):
            before = 0.0
            for i in own:
                for r in range(height):
                    before += modes[i, r, a] * modes[i, r, a]
            for _ in range(2):
                for b in range(a):
                    total = 0.0
                    for i in own:
                        for r in range(height):
                            total += modes[i, r, a] * modes[i, r, b]
                    coarse[g, b, a] += total
                    for i in own:
                        for r in range(height):
                            modes[i, r, a] -= total * modes[i, r, b]
            after = 0.0
            for i in own:
                for r in range(height):
                    after += modes[i, r, a] * modes[i, r, a]
            length = np.sqrt(after)
            is_independent = after > INDEPENDENT * INDEPENDENT * before and after > 0.0
            coarse[g, a, a] = length if is_independent else 0.0
            for i in own:
                for r in range(height):
                    modes[i, r, a] = modes[i, r, a] / length if is_independent else 0.0


def make_rigid_modes(positions: Vec) -> Vec:
    """Return translations and rotations of nodes at positions (n, 3) [m] as columns, (n, 3, 6), each of about unit
    size."""
    modes = np.zeros((len(positions), 3, MODES))
    modes[:, [0, 1, 2], [0, 1, 2]] = 1.0
    away = positions - positions.sum(axis=0) / max(1, len(positions))
    away /= max(float(np.sqrt((away**2).sum() / max(1, away.size))), 1.0e-300)
    x, y, z = away.T
    modes[:, 1, 3], modes[:, 2, 3] = -z, y
    modes[:, 0, 4], modes[:, 2, 4] = z, -x
    modes[:, 0, 5], modes[:, 1, 5] = -y, x
    return modes


def aggregates(matrix: Blocks) -> tuple[int, Index]:
    """Return the number of aggregates of neighbouring block rows, and the aggregate of each row, (n,).

    Neighbours are rows whose common block is not small beside their diagonal blocks: otherwise aggregates of
    aggregates, which are all adjacent, would be far too large.
    """
    count = len(matrix.first) - 1
    row = np.repeat(np.arange(count), np.diff(matrix.first))
    size = np.einsum("bi,bi->b", matrix.values, matrix.values)
    own = np.sqrt(size[row == matrix.column])
    strong = size > STRONG**2 * own[row] * own[matrix.column]
    first = np.zeros(count + 1, dtype=np.int32)
    first[1:] = np.cumsum(np.bincount(row[strong], minlength=count))
    owner = np.full(count, -1, dtype=np.int32)
    return int(_aggregate(first, matrix.column[strong], owner)), owner


def tentative(number: int, owner: Index, modes: Vec) -> tuple[sp.bsr_matrix, Vec]:
    """Return the prolongation of the rigid motions of each aggregate, (n height, 6 g), and these as modes of the
    aggregates, (g, 6, 6).

    number: g. owner: aggregate of each row, (n,). modes: of the finer rows, (n, height, 6); overwritten.
    """
    count, height = modes.shape[:2]
    members = np.argsort(owner, kind="stable").astype(np.int32)
    start = np.zeros(number + 1, dtype=np.int32)
    start[1:] = np.cumsum(np.bincount(owner, minlength=number))
    coarse = np.zeros((number, MODES, MODES))
    _orthonormalise(members, start, modes, coarse)
    prolong = sp.bsr_matrix((modes, owner, np.arange(count + 1, dtype=np.int32)),
                            shape=(count * height, number * MODES))
    return prolong, coarse
