"""Check whether hard constraints can be satisfied all at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from ..constraints.enforcement.hard import Hard
from ..constraints.enforcement.interface import RowSystem
from ..constraints.points.rows import PointKind
from ..errors import BadScene
from ..state import Mask, Vec

CLOSED = 1.0e9  #: a time by which all gaps are to be closed [s]
LEFT = 1.0e-6  #: of the size of all: rows that are farther from 0 are not met
FAR = 1.0e-3  #: of that: what is left of constraints that contradict each other after all rounds
ROUNDS = 20  #: of Newton's method
CHANGE = "Make one of them soft, or change its length or its point"


def refuse_unmet(kinds: Sequence[tuple[str, PointKind]], rest: Vec, mass: Vec, is_free: Mask) -> None:
    """Raise BadScene that names a constraint which no positions of the free nodes satisfy, or which contradicts others.

    kinds: each with its name in a sentence. rest: (n, 3) [m]. mass: (n,) [kg]. is_free: which nodes move, (n,).
    """
    moves = np.repeat(is_free & (mass > 0.0), 3)
    each = np.repeat(np.where(is_free & (mass > 0.0), mass, 1.0), 3)
    size, x = float(np.ptp(rest, axis=0).max()), rest.copy()
    movable = sp.diags_array(moves.astype(float))
    for _ in range(ROUNDS):
        tables = [kind.rows(x, CLOSED) for _, kind in kinds]
        value = np.concatenate([np.where(table.one_sided, np.maximum(table.value, 0.0), table.value)
                                for table in tables])
        if float(np.abs(value).max()) <= LEFT * size:
            return
        J = sp.csr_array(sp.vstack([table.jacobian(len(x)) for table in tables]) @ movable)
        owner = [name for (name, _), table in zip(kinds, tables) for _ in table.value]
        stuck = np.flatnonzero((np.asarray(abs(J).sum(axis=1)).ravel() == 0.0) & (np.abs(value) > LEFT * size))
        if len(stuck):
            raise BadScene(f"{owner[stuck[0]]} holds only what is pinned or animated, and that is "
                           f"{abs(value[stuck[0]]):.3g} m from meeting",
                           "Unpin its points, or move them together")
        system = RowSystem(sp.csc_array(sp.diags_array(each)), np.zeros(len(each)),
                           lambda rhs: rhs / each.reshape(-1, *[1] * (rhs.ndim - 1)), J, value, 1.0, 1.0)
        try:
            x = x + Hard().solve(system, np.zeros(len(value))).v.reshape(-1, 3)
        except ValueError as failure:
            worst = int(np.abs(value).argmax())
            others = sorted(set(owner) - {owner[worst]})
            raise BadScene(f"{owner[worst]} and {others[0] if others else 'its own rows'} contradict each other: both "
                           "are hard, and no place of their points satisfies both",
                           CHANGE) from failure
    if float(np.abs(value).max()) > FAR * size:
        worst = int(np.abs(value).argmax())
        raise BadScene(f"{owner[worst]} and others contradict each other: all are hard, and {abs(value[worst]):.3g} m "
                       "of it is left wherever their points are", CHANGE)
