"""Ropes that resist being twisted: discrete elastic rods whose twist is even along each strand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...state import Index, Vec
from ..multipliers import WithMultipliers
from .twist_kernels import add_twist, link_directions, twist_blocks, twist_forces


@dataclass(frozen=True)
class TwistedStrands:
    """Bends along strands that are pinned at both ends, or closed."""

    nodes: Index  #: three of each bend, in their order along the strand, (b, 3)
    path: Index  #: which strand each bend is of, (b,)
    length: Vec  #: of each strand at rest [m], (p,)


class RodTwist(WithMultipliers):
    """½ (C/L) (Θ + m)² of each strand: Θ is what its ends are turned by, and m what parallel transport turns its
    reference frames by since the start, whose slopes are κb/2l. Twist spreads at once, so it is even along a strand.

    K = −M ∇²m with the moment M = (C/L) (Θ + m), without −(C/L) ∇m ∇mᵀ, which joins all nodes of a strand; projected it
    is 0. [Bergou 2008]
    """

    def __init__(self, strands: TwistedStrands, rest: Vec, stiffness: float, turn: Callable[[float], float]) -> None:
        """rest: of all nodes, (n, 3) [m]. stiffness: C [N m²]. turn: Θ [rad] at a time [s]."""
        self.nodes = np.ascontiguousarray(strands.nodes, dtype=np.int32)
        self._path = np.ascontiguousarray(strands.path, dtype=np.int32)
        self._stiffness = np.ascontiguousarray(stiffness / strands.length)  #: C/L [N m/rad], (p,)
        self._turn = turn
        self.activate(0.0)
        self._t, self._lengths = np.empty((len(self.nodes), 2, 3)), np.empty((len(self.nodes), 2))
        link_directions(rest, self.nodes, self._t, self._lengths)
        self._rest = self._t.copy()
        self.energies: Vec = np.zeros(0)
        self.recall(None)

    @property
    def remembers(self) -> int:
        """Return the number of entries: the twist of each strand, and the directions of the links at each bend."""
        return len(self._stiffness) + 6 * len(self.nodes)

    def recall(self, multipliers: Vec | None) -> None:
        """From now on these were twist [rad] and directions at the end of the last step; None: those at rest."""
        count = len(self._stiffness)
        self._twist, self._before = np.zeros(count), self._rest
        if multipliers is not None:
            self._twist = np.array(multipliers[:count])
            self._before = np.ascontiguousarray(multipliers[count:]).reshape(-1, 2, 3)

    def multipliers(self, x: Vec, time: float) -> Vec:
        """Return what `recall` takes at positions (n, 3) [m], (`remembers`,)."""
        link_directions(x, self.nodes, self._t, self._lengths)
        return np.concatenate([self._turned(), self._t.ravel()])

    def _turned(self) -> Vec:
        """Return m of each strand at the present directions of links, (p,) [rad]."""
        m = self._twist.copy()
        add_twist(self._before, self._t, self._path, m)
        return m

    def activate(self, time: float) -> None:
        """From now on ends are turned as they are at a time [s]."""
        self._now = self._turn(time)

    def moment(self, x: Vec) -> Vec:
        """Return M of each strand at positions (n, 3) [m], (p,) [N m]."""
        link_directions(x, self.nodes, self._t, self._lengths)
        return np.asarray(self._stiffness * (self._now + self._turned()))

    def measure(self, x: Vec, forces: Vec) -> float:
        """Return the energy [J] at positions (n, 3) [m]; write forces on the nodes, (b, 4, 3) [N], the last one's zero.
        """
        moment = self.moment(x)
        twist_forces(self._t, self._lengths, moment[self._path], forces)
        return 0.5 * float((moment * moment / self._stiffness).sum())

    def fill(self, x: Vec, project: bool, forces: Vec, blocks: Vec) -> None:
        """Write forces and the blocks of pairs of nodes of K, (b, 6, 9) [N/m], as `Stencils` has them."""
        moment = self.moment(x)
        twist_forces(self._t, self._lengths, moment[self._path], forces)
        if project:
            blocks[:] = 0.0
        else:
            twist_blocks(self._t, self._lengths, moment[self._path], blocks)


def wound(turn: float, seconds: float = 0.0) -> Callable[[float], float]:
    """Return Θ [rad] at a time [s] that gets to `turn` evenly in so many seconds, 0 at once."""
    return lambda time: turn * min(time / seconds, 1.0) if seconds > 0.0 else turn


def pinned_strands(edges: Index, pinned: Index, rest: Vec) -> TwistedStrands:
    """Return the strands that are pinned at both ends, or closed. Where more than two edges meet, as in nets, there is
    none. edges: (k, 2). pinned: nodes. rest: (n, 3) [m]."""
    around: dict[int, list[int]] = {}
    for first, second in edges.tolist():
        around.setdefault(first, []).append(second)
        around.setdefault(second, []).append(first)
    pinned_nodes, seen = set(pinned.tolist()), set[int]()
    nodes, path, length = [np.zeros((0, 3), np.int32)], list[int](), list[float]()
    ends = [node for node in sorted(around) if len(around[node]) == 1]
    for start in (*ends, *sorted(around)):
        if start in seen:
            continue
        way = _walked(around, start, seen)
        is_plain = all(len(around[node]) <= 2 for node in way)
        is_closed = is_plain and len(way) > 2 and way[0] in around[way[-1]]
        if not is_plain or len(way) < 3 or not (is_closed or {way[0], way[-1]} <= pinned_nodes):
            continue
        along = [*way, *way[:2]] if is_closed else way
        bends = np.column_stack([along[:-2], along[1:-1], along[2:]]).astype(np.int32)
        links = along[:-1] if is_closed else along
        path += [len(length)] * len(bends)
        length.append(float(np.linalg.norm(np.diff(rest[links], axis=0), axis=1).sum()))
        nodes.append(bends)
    return TwistedStrands(np.concatenate(nodes), np.array(path, np.int32), np.array(length))


def _walked(around: dict[int, list[int]], start: int, seen: set[int]) -> list[int]:
    """Return the nodes from one along its edges as far as they lead; a knot of several ends the way."""
    way = [start]
    seen.add(start)
    while len(around[way[-1]]) <= 2 or len(way) == 1:
        unseen = [node for node in around[way[-1]] if node not in seen]
        if not unseen:
            break
        way.append(unseen[0])
        seen.add(unseen[0])
    return way
