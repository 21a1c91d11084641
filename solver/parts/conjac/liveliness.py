"""Strain-rate activity around each dynamic node, by which nodes fall asleep and wake."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.sparse.csgraph import dijkstra

from ...meshing.edge_graph import edge_graph
from ...meshing.volume import tet_volumes
from ...state import Index, Mask, Vec
from ..interface import Stretching

#: a sleeping node wakes at so many times the threshold below which a waking one falls asleep. One that falls asleep as
#: it oscillates by at most π/2 thresholds over ω until equilibrium; a window of 1/ω makes that π/2 thresholds
WAKE = 2.0

DROWSY, DOZING = 0.5, 0.25  #: of nodes that sleep if the next step, and the one after it, show that they can

AWAKE, LEVEL, MOVED = "liveliness.awake", "liveliness.level", "liveliness.moved"


def regions(tets: Index, rest: Vec, nodes: Index) -> Index:
    """Return for each element which of `nodes` is nearest along edges, (e,); −1 where none is in its part.
    [Thesis 4.4.1]"""
    count = len(rest)
    graph = edge_graph(rest, tets)
    away, _, source = dijkstra(graph, directed=False, indices=nodes, min_only=True, return_predecessors=True)
    index = np.full(count + 1, -1, dtype=np.int32)
    index[nodes] = np.arange(len(nodes))
    nearest = np.argmin(away[tets], axis=1)
    owner = source[tets[np.arange(len(tets)), nearest]]
    owners: Index = index[np.where(owner < 0, count, owner)]
    return owners


class Liveliness:
    """Strain-rate activity: the mean rate of stretch around each dynamic node, over a window of time."""

    def __init__(self, tets: Index, rest: Vec, nodes: Index, threshold: float, window: float) -> None:
        """Assign elements to nodes. nodes: (m,) dynamic ones. threshold: activity below which nodes sleep [1/s].
        window: time constant of the mean over time [s]."""
        self.nodes, self.threshold, self.window = nodes, threshold, window
        self.regions = regions(tets, rest, nodes)
        self._inside = np.flatnonzero(self.regions >= 0)
        # elements that fill up a lane block are copies, and stretch by nothing
        first = np.unique(tets, axis=0, return_index=True)[1]
        volumes = np.zeros(len(tets))
        volumes[first] = tet_volumes(rest, tets[first])
        self._volumes = np.maximum(self._sum(volumes), np.finfo(float).tiny)

    def awake(self, memory: Mapping[str, Vec]) -> Mask:
        """Return a mask of the dynamic nodes, (m,); all where the memory has none, as after a cut. [Thesis Alg. 4.3]"""
        return self._are(1.0, memory)

    def drowsy(self, memory: Mapping[str, Vec]) -> Mask:
        """Return a mask of the nodes that are quasistatic for the first step, (m,)."""
        return self._are(DROWSY, memory)

    def _are(self, mark: float, memory: Mapping[str, Vec]) -> Mask:
        marked: Mask = memory.get(AWAKE, np.ones(len(self.nodes))) == mark
        return marked

    def now(self, before: Vec, after: Vec, h: float, stretching: Stretching) -> Vec:
        """Return the mean rate of stretch around each node, (m,) [1/s], of a motion from positions `before` to `after`,
        (n, 3) [m], in h seconds.

        It is computed from displacements, since velocities are zero where all nodes sleep, and midway between the
        positions, where a rotation stretches nothing. [Thesis 4.16, changed: displacements]
        [Thesis 4.20, changed: weighted by volume]
        """
        return self.rates(0.5 * (before + after), (after - before) / h, stretching)

    def rates(self, x: Vec, v: Vec, stretching: Stretching) -> Vec:
        """Return the mean rate of stretch around each node, (m,) [1/s], at positions x [m] and velocities v [m/s], (n,
        3)."""
        rates: Vec = self._sum(stretching(x, v)) / self._volumes
        return rates

    def past(self, memory: Mapping[str, Vec]) -> Vec:
        """Return the mean over the window so far, (m,) [1/s]; where the memory has none, that of a node that wakes."""
        return memory.get(LEVEL, np.full(len(self.nodes), WAKE**2 * self.threshold))

    def level(self, past: Vec, now: Vec, h: float) -> Vec:
        """Return the mean over the window after h more seconds at the rates `now`, (m,) [1/s].

        Its weights decay exponentially, so that steps of any length may follow each other.
        """
        level: Vec = past + (1.0 - np.exp(-h / self.window)) * (now - past)
        return level

    def to_balance(self, past: Vec, now: Vec, h: float, fraction: float) -> Vec:
        """Return the mean at the time when sleeping nodes are in equilibrium, (m,) [1/s], if this step of h seconds is
        the fraction `fraction` of their displacement to it."""
        mean: Vec = past + now * h / (max(fraction, 1.0e-3) * self.window)
        return mean

    def _sum(self, values: Vec) -> Vec:
        """Return sums over each node's region, (m,)."""
        inside = self._inside
        total: Vec = np.bincount(self.regions[inside], values[inside], minlength=len(self.nodes))  # type: ignore[assignment]
        return total
