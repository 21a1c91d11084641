"""Closed loops of a mechanism: joints between bodies that the tree does not join, as rows with their violations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..state import Index, Vec
from .loops_kernels import fill_loops
from .rows import Rows, on_bodies


class Ball:
    """Loop joint that keeps a point of both bodies together: three rows."""

    along = (0, 1, 2)  #: axes of b's frame along which a's point may not leave b's
    across: tuple[int, ...] = ()  #: axes of b's frame to which a's Z stays at right angles


class Hinge:
    """Loop joint that keeps a point and an axis together: five rows. In a planar mechanism the tree implies three of
    them."""

    along = (0, 1, 2)
    across = (0, 1)


class PointOnLine:
    """Loop joint that keeps a point of a on the Z axis of b's frame: two rows; along the axis of planar hinges it
    closes their loop."""

    along = (0, 1)
    across: tuple[int, ...] = ()


Kind = type[Ball] | type[Hinge] | type[PointOnLine]


@dataclass(frozen=True)
class Loops:
    """Closed loops of a mechanism: l loop joints as r rows."""

    body: Index  #: (l, 2): a, b; −1 for the world
    frame_a: Vec  #: the loop's frame in a's body frame (origin: centre of mass), (l, 4, 4)
    frame_b: Vec  #: the loop's frame in b's body frame, or in the world, (l, 4, 4)
    names: tuple[str, ...]  #: names of the loops, (l,)
    loop: Index  #: loop of each row, (r,)
    axis: Index  #: of b's frame, 0 … 2; 3 … 5 where it is a's Z that stays at right angles to it, (r,)

    _closed: Rows = field(init=False, repr=False)  #: the part of the rows that does not depend on poses

    def __post_init__(self) -> None:
        r = len(self.loop)
        rows = on_bodies(self.body[self.loop], np.zeros((r, 2, 6)), np.zeros(r), self.loop)
        object.__setattr__(self, "_closed", rows)

    @classmethod
    def of(cls, kinds: Sequence[Kind], body: Index, frame_a: Vec, frame_b: Vec, names: Sequence[str]) -> Loops:
        """Return loops of these kinds, one for each loop, which define `along` and `across`; the other arguments are
        the fields."""
        rows = [(i, axis) for i, kind in enumerate(kinds) for axis in (*kind.along, *(3 + a for a in kind.across))]
        table = np.array(rows, dtype=np.int32).reshape(-1, 2)
        return cls(np.ascontiguousarray(body, dtype=np.int32).reshape(-1, 2),
                   np.ascontiguousarray(frame_a, dtype=float).reshape(-1, 4, 4),
                   np.ascontiguousarray(frame_b, dtype=float).reshape(-1, 4, 4), tuple(names),
                   np.ascontiguousarray(table[:, 0]), np.ascontiguousarray(table[:, 1]))

    def __len__(self) -> int:
        return len(self.loop)

    def rows(self, E: Vec) -> tuple[Rows, Vec]:
        """Return the rows, with target zero, and the violation of each [m, rad], (r,), for bodies with poses E,
        (n, 4, 4).

        A row is the exact rate of its violation, also while the loop is open.
        """
        off = np.empty(len(self))
        wrench = np.empty((len(self), 2, 6))
        fill_loops(E, self.body, self.frame_a, self.frame_b, self.loop, self.axis, off, wrench)
        return self._closed.with_wrenches(wrench), off

    def names_of(self, rows: Index) -> list[str]:
        """Return the names of the loops that own these rows, each once."""
        return [self.names[i] for i in np.unique(self.loop[rows])]


def frames_in_bodies(E: Vec, body: Index, frames: Vec) -> Vec:
    """Return world frames (l, 4, 4) in the frames of the bodies `body`, (l,), whose poses are E (n, 4, 4); −1 is the
    world."""
    padded = np.concatenate([E, np.eye(4)[None]])
    inside: Vec = np.linalg.solve(padded[body], frames)
    return inside
