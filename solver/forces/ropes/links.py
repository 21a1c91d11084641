"""Links of ropes: inextensible or elastic. Entries of the family "rope"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...state import Index, Vec
from ..cloth.sheet import over_elements
from .rope_kernels import expect_links, fill_links, measure_links

STIFF = 1.0e5  #: k of an inextensible link relative to the inertia of a rope and its load over a step
FIRST = 1.0e-3  #: factor of k in a bake's first step, in which tensions are unknown


@dataclass(frozen=True)
class Strand:
    """Links of one body and their rest lengths."""

    nodes: Index  #: ends, numbers among all nodes of the part, (s, 2)
    length: Vec  #: L [m], (s,)
    mass: Vec  #: of everything connected to each [kg], (s,)
    step: float  #: the longest, h [s]


class Links:
    """Energy λ φ + ½ k φ² of each link, φ = l − L, and K = −k u uᵀ − T/l (1 − u uᵀ) on its ends, T = λ + k φ.

    λ is the tension of a link at the end of the last step, so that k only has to supply its change in one step: φ
    vanishes as the rope comes to rest, and a large k costs no accuracy. Projected, K uses λ for T, on which an
    inaccurate trial has no effect: a rope of light links under tension stays stiff laterally. Iterations without a
    merit that bounds them use the T that the last iteration expects (`expect`). [Notes, Compliant Constraints]
    [Tournier 2015]
    """

    augmented = True  #: whether λ is a force; else it only stiffens links under tension, and the force is k φ

    def __init__(self, strand: Strand, params: Mapping[str, float]) -> None:
        """strand: links of a rope. params: of the kind of links, see the catalogue's entry."""
        self.nodes = np.ascontiguousarray(strand.nodes, dtype=np.int32)
        self._length = np.ascontiguousarray(strand.length, dtype=float)
        self.stiffness = self._stiffnesses(strand, params)  #: k of each [N/m], (s,)
        self._stiffness = self.stiffness  #: k in this step
        self._tension: Vec = np.zeros(len(self.nodes))  #: at the end of the last step [N]
        self._acting = self._tension  #: λ [N]
        self._expected = self._tension  #: T of the projected K [N]
        self._memory = np.empty(len(self.nodes))
        self.energies: Vec = np.zeros(0)

    def _stiffnesses(self, strand: Strand, params: Mapping[str, float]) -> Vec:
        """Return k of each link, (s,) [N/m]."""
        raise NotImplementedError

    @property
    def remembers(self) -> int:
        """Return the number of multipliers, one for each link."""
        return len(self.nodes)

    def recall(self, multipliers: Vec | None) -> None:
        """Set the tensions to those at the end of the last step, (s,) [N]; None before the first step."""
        self._stiffness = self.stiffness if multipliers is not None or not self.augmented else FIRST * self.stiffness
        self._tension = (np.zeros(len(self.nodes)) if multipliers is None else
                         np.ascontiguousarray(multipliers, dtype=float))
        self._expected = self._tension
        if self.augmented:
            self._acting = self._tension

    def expect(self, before: Vec, after: Vec, time: float) -> None:
        """Let the projected K use, until the next `recall`, tensions at `after` that are linearised at `before`.

        before, after: positions (n, 3) [m]. time: unused.
        """
        self._expected = self._memory
        expect_links(before, after, self.nodes, self._length, self._stiffness, self._acting, self._expected)

    def multipliers(self, x: Vec, time: float) -> Vec:
        """Return the tension T of each link at positions x (n, 3) [m], (s,) [N]. time: unused."""
        return np.asarray(self._acting + self._stiffness * self.measure_stretch(x))

    def measure_stretch(self, x: Vec) -> Vec:
        """Return φ of each link at positions x (n, 3) [m], (s,) [m]."""
        away = x[self.nodes[:, 1]] - x[self.nodes[:, 0]]
        return np.asarray(np.sqrt(np.einsum("si,si->s", away, away)) - self._length)

    def measure(self, x: Vec, forces: Vec) -> float:
        """Return the energy [J] at positions x (n, 3) [m]; write forces on the ends, (s, 4, 3) [N]."""
        return float(measure_links(0, len(self.nodes), x, self.nodes, self._length, self._stiffness, self._acting,
                                   forces))

    def fill(self, x: Vec, project: bool, forces: Vec, blocks: Vec) -> None:
        """Write forces (s, 4, 3) [N] and blocks of K of pairs of nodes, (s, 6, 9) [N/m], in the order of `Stencils`.

        K is negative semi-definite if `project`. x: (n, 3) [m].
        """
        self.measure(x, forces)
        over_elements(fill_links, len(self.nodes), x, self.nodes, self._length, self._stiffness,
                      self._expected if project else self._acting, project, blocks)


class Inextensible(Links):
    """Links with k so large that the change of tension in a step does not stretch them visibly."""

    def _stiffnesses(self, strand: Strand, params: Mapping[str, float]) -> Vec:
        """Return k [N/m], (s,), by which a step changes the tension of links that do not stretch."""
        return np.asarray(STIFF * strand.mass / strand.step**2)


class Springy(Links):
    """Elastic links with k = E A/L: a compliance of α = 1/k. [Notes, Compliant Constraints]"""

    augmented = False

    def _stiffnesses(self, strand: Strand, params: Mapping[str, float]) -> Vec:
        """Return k [N/m], (s,): the axial stiffness [N] over the length of each link."""
        return np.asarray(params["axial_stiffness"] / strand.length)
