"""Twist of ropes: discrete elastic rods with uniform twist along each strand."""

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
    path: Index  #: index of each bend's strand, (b,)
    length: Vec  #: of each strand at rest [m], (p,)


class RodTwist(WithMultipliers):
    """Twist energy ½ (C/L) (Θ + m)² of each strand, Θ the prescribed rotation of its ends.

    m is the rotation of the strand's reference frames by parallel transport since the start; its gradient is κb/2l.
    Twist equilibrates instantly, so it is uniform along a strand. K = −M ∇²m with the moment M = (C/L) (Θ + m), without
    −(C/L) ∇m ∇mᵀ, which couples all nodes of a strand; projected it is 0. [Bergou 2008]
    """

    def __init__(self, strands: TwistedStrands, rest: Vec, stiffness: float, angle: Callable[[float], float]) -> None:
        """rest: of all nodes, (n, 3) [m]. stiffness: C [N m²]. angle: Θ [rad] at a time [s]."""
        self.nodes = np.ascontiguousarray(strands.nodes, dtype=np.int32)
        self._path = np.ascontiguousarray(strands.path, dtype=np.int32)
        self._stiffness = np.ascontiguousarray(stiffness / strands.length)  #: C/L [N m/rad], (p,)
        self._angle = angle
        self.activate(0.0)
        self._t, self._lengths = np.empty((len(self.nodes), 2, 3)), np.empty((len(self.nodes), 2))
        link_directions(rest, self.nodes, self._t, self._lengths)
        self._rest = self._t.copy()
        self.energies: Vec = np.zeros(0)
        self.recall(None)

    @property
    def remembers(self) -> int:
        """Return the number of stored values: the twist of each strand, and the directions of the links at each
        bend."""
        return len(self._stiffness) + 6 * len(self.nodes)

    def recall(self, multipliers: Vec | None) -> None:
        """Set twist [rad] and link directions to those at the end of the last step, (`remembers`,); None: those at
        rest."""
        count = len(self._stiffness)
        self._twist, self._before = np.zeros(count), self._rest
        if multipliers is not None:
            self._twist = np.array(multipliers[:count])
            self._before = np.ascontiguousarray(multipliers[count:]).reshape(-1, 2, 3)

    def multipliers(self, x: Vec, time: float) -> Vec:
        """Return twist [rad] and link directions at positions x (n, 3) [m], (`remembers`,), for `recall`."""
        link_directions(x, self.nodes, self._t, self._lengths)
        return np.concatenate([self._twists(), self._t.ravel()])

    def _twists(self) -> Vec:
        """Return m of each strand at the present directions of links, (p,) [rad]."""
        m = self._twist.copy()
        add_twist(self._before, self._t, self._path, m)
        return m

    def activate(self, time: float) -> None:
        """Set the rotation of the ends to that at `time` [s], for all later calls."""
        self._now = self._angle(time)

    def moment(self, x: Vec) -> Vec:
        """Return M of each strand at positions x (n, 3) [m], (p,) [N m]."""
        link_directions(x, self.nodes, self._t, self._lengths)
        return np.asarray(self._stiffness * (self._now + self._twists()))

    def measure(self, x: Vec, forces: Vec) -> float:
        """Return the energy [J] at positions x (n, 3) [m]; write forces on the three nodes, (b, 4, 3) [N], fourth row
        zero."""
        moment = self.moment(x)
        twist_forces(self._t, self._lengths, moment[self._path], forces)
        return 0.5 * float((moment * moment / self._stiffness).sum())

    def fill(self, x: Vec, project: bool, forces: Vec, blocks: Vec) -> None:
        """Write forces (b, 4, 3) [N] and blocks of K of pairs of nodes, (b, 6, 9) [N/m], in the order of `Stencils`.

        K is zero if `project`. x: (n, 3) [m].
        """
        moment = self.moment(x)
        twist_forces(self._t, self._lengths, moment[self._path], forces)
        if project:
            blocks[:] = 0.0
        else:
            twist_blocks(self._t, self._lengths, moment[self._path], blocks)


def build_winding(angle: float, seconds: float = 0.0) -> Callable[[float], float]:
    """Return Θ [rad] as a function of time [s] that rises linearly to `angle` in `seconds`, or is `angle` at once for
    0."""
    return lambda time: angle * min(time / seconds, 1.0) if seconds > 0.0 else angle


def find_pinned_strands(edges: Index, pinned: Index, rest: Vec) -> TwistedStrands:
    """Return the strands that are pinned at both ends, or closed; components in which more than two edges meet have
    none.

    edges: (k, 2). pinned: nodes, (m,). rest: (n, 3) [m].
    """
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
        strand = _walk(around, start, seen)
        is_plain = all(len(around[node]) <= 2 for node in strand)
        is_closed = is_plain and len(strand) > 2 and strand[0] in around[strand[-1]]
        if not is_plain or len(strand) < 3 or not (is_closed or {strand[0], strand[-1]} <= pinned_nodes):
            continue
        along = [*strand, *strand[:2]] if is_closed else strand
        bends = np.column_stack([along[:-2], along[1:-1], along[2:]]).astype(np.int32)
        links = along[:-1] if is_closed else along
        path += [len(length)] * len(bends)
        length.append(float(np.linalg.norm(np.diff(rest[links], axis=0), axis=1).sum()))
        nodes.append(bends)
    return TwistedStrands(np.concatenate(nodes), np.array(path, np.int32), np.array(length))


def _walk(around: dict[int, list[int]], start: int, seen: set[int]) -> list[int]:
    """Return the nodes from `start` along edges to an end, or to a node where more than two edges meet."""
    strand = [start]
    seen.add(start)
    while len(around[strand[-1]]) <= 2 or len(strand) == 1:
        unseen = [node for node in around[strand[-1]] if node not in seen]
        if not unseen:
            break
        strand.append(unseen[0])
        seen.add(unseen[0])
    return strand
