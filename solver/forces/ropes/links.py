"""Links of ropes: inextensible, or as springy as their settings have it. Entries of the family "rope"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...state import Index, Vec
from ..cloth.sheet import over_elements
from .rope_kernels import expect_links, fill_links, measure_links

STIFF = 1.0e5  #: of the inertia of a rope with what hangs on it over a step: how hard a link holds that may not stretch
FIRST = 1.0e-3  #: of that in a bake's first step, in which nothing is known of what links pull with


@dataclass(frozen=True)
class Strand:
    """Links of one body, and how far apart their ends are where they rest."""

    nodes: Index  #: ends, numbers among all nodes of the part, (s, 2)
    length: Vec  #: L [m], (s,)
    mass: Vec  #: of all that hangs together with each [kg], (s,)
    step: float  #: the longest, h [s]


class Links:
    """Energy λ φ + ½ k φ² of each link, φ = l − L, and K = −k u uᵀ − T/l (1 − u uᵀ) on its ends, T = λ + k φ.

    λ is what a link pulled with at the end of the last step, so that k only has to bring what changes in one: φ goes
    to 0 as the rope comes to rest, and nothing is lost where k is large. Projected, K takes λ for T, which a trial
    that is off by a little does not spoil: a rope of light links under tension stays stiff across it. Where iterations
    have no merit that bounds them it takes the T that the last one expects (`expect`).
    [Notes, Compliant Constraints] [Tournier 2015]
    """

    augmented = True  #: whether λ acts; else it only stiffens links under tension, and k alone pulls

    def __init__(self, strand: Strand, params: Mapping[str, float]) -> None:
        self.nodes = np.ascontiguousarray(strand.nodes, dtype=np.int32)
        self._length = np.ascontiguousarray(strand.length, dtype=float)
        self.stiffness = self._stiffnesses(strand, params)  #: k of each [N/m], (s,)
        self._stiffness = self.stiffness  #: k in this step
        self._tension: Vec = np.zeros(len(self.nodes))  #: at the end of the last step [N]
        self._acting = self._tension  #: λ [N]
        self._expected = self._tension  #: T that projected K takes [N]
        self._room = np.empty(len(self.nodes))
        self.energies: Vec = np.zeros(0)

    def _stiffnesses(self, strand: Strand, params: Mapping[str, float]) -> Vec:
        """k of each link [N/m], (s,)."""
        raise NotImplementedError

    @property
    def remembers(self) -> int:
        """Return the number of links."""
        return len(self.nodes)

    def recall(self, multipliers: Vec | None) -> None:
        """From now on these were the tensions at the end of the last step [N], (s,); None: there was none."""
        self._stiffness = self.stiffness if multipliers is not None or not self.augmented else FIRST * self.stiffness
        self._tension = (np.zeros(len(self.nodes)) if multipliers is None else
                         np.ascontiguousarray(multipliers, dtype=float))
        self._expected = self._tension
        if self.augmented:
            self._acting = self._tension

    def expect(self, before: Vec, after: Vec, time: float) -> None:
        """Let the projected K take T at positions `after` by T and its slope at `before`, both (n, 3) [m], until the
        next `recall`. time: unused."""
        self._expected = self._room
        expect_links(before, after, self.nodes, self._length, self._stiffness, self._acting, self._expected)

    def multipliers(self, x: Vec, time: float) -> Vec:
        """Return T of each link at positions (n, 3) [m], (s,) [N]."""
        return np.asarray(self._acting + self._stiffness * self.stretched(x))

    def stretched(self, x: Vec) -> Vec:
        """φ of each link at positions (n, 3) [m], (s,) [m]."""
        away = x[self.nodes[:, 1]] - x[self.nodes[:, 0]]
        return np.asarray(np.sqrt(np.einsum("si,si->s", away, away)) - self._length)

    def measure(self, x: Vec, forces: Vec) -> float:
        """Energy [J] at positions (n, 3) [m]; writes forces on the ends, (s, 4, 3) [N]."""
        return float(measure_links(0, len(self.nodes), x, self.nodes, self._length, self._stiffness, self._acting,
                                   forces))

    def fill(self, x: Vec, project: bool, forces: Vec, blocks: Vec) -> None:
        """Write forces and the blocks of pairs of nodes of K, (s, 6, 9) [N/m], as `Stencils` has them."""
        self.measure(x, forces)
        over_elements(fill_links, len(self.nodes), x, self.nodes, self._length, self._stiffness,
                      self._expected if project else self._acting, project, blocks)


class Inextensible(Links):
    """k so large that what tension changes by in a step stretches it by nothing that shows."""

    def _stiffnesses(self, strand: Strand, params: Mapping[str, float]) -> Vec:
        return np.asarray(STIFF * strand.mass / strand.step**2)


class Springy(Links):
    """k = E A/L: a compliance of α = 1/k. [Notes, Compliant Constraints]"""

    augmented = False

    def _stiffnesses(self, strand: Strand, params: Mapping[str, float]) -> Vec:
        return np.asarray(params["axial_stiffness"] / strand.length)
