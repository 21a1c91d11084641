"""Hard limits of strain: lines that stretch by no more than a fraction, triangles that grow and shrink by no more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ..state import Index, Vec
from .cloth.sheet import over_elements
from .limit_kernels import fill_areas, fill_lengths, measure_areas, measure_lengths
from .multipliers import WithMultipliers

STIFF = 100.0  #: k of a body relative to its inertia over a step
FIRST = 1.0e-2  #: factor of k in a bake's first step, in which multipliers are unknown


class Limits(WithMultipliers):
    """Energies ½ k (y − clip(y))² − λ²/2k of elements, y = g + λ/k, at a strain g, which pull with T = k (y − clip(y)).

    λ is T at the end of the last step, so that k only has to supply the change of T in one step: an element past a
    limit returns to it, and one within has no force. [Notes, Hard Constraints]
    """

    measured: ClassVar[Callable[..., Any]]
    filled: ClassVar[Callable[..., Any]]

    def __init__(self, nodes: Index, rest: Vec, low: float, high: float, mass: float, step: float) -> None:
        """nodes: (s, 2) or (s, 3). rest: length [m] or area [m²] of each element, (s,). low, high: limits of g =
        size/rest − 1. mass: of the whole body [kg]. step: the longest step h [s]."""
        self.nodes = np.ascontiguousarray(nodes, dtype=np.int32)
        self._rest = np.ascontiguousarray(rest, dtype=float)
        self._low, self._high = low, high
        self._whole = np.ascontiguousarray(STIFF * mass / step**2 * self._square_sizes())  #: k [J]
        self.energies: Vec = np.zeros(0)
        self.recall(None)

    def _square_sizes(self) -> Vec:
        """Return the square of the length by which a strain of 1 moves an element [m²], (s,)."""
        raise NotImplementedError

    @property
    def stiffness(self) -> Vec:
        """Return k of each element as force per length [N/m], (s,)."""
        return np.asarray(self._whole / self._square_sizes())

    @property
    def remembers(self) -> int:
        """Return the number of multipliers, one for each element."""
        return len(self.nodes)

    def recall(self, multipliers: Vec | None) -> None:
        """Set the multipliers λ to T at the end of the last step [J], (s,); None before the first step."""
        self._stiffness = self._whole if multipliers is not None else FIRST * self._whole
        self._acting = (np.zeros(len(self.nodes)) if multipliers is None else
                        np.ascontiguousarray(multipliers, dtype=float))

    def multipliers(self, x: Vec, time: float) -> Vec:
        """Return T of each element at positions x (n, 3) [m], (s,) [J]."""
        y = self.strains(x) + self._acting / self._stiffness
        return np.asarray(self._stiffness * (y - np.clip(y, self._low, self._high)))

    def strains(self, x: Vec) -> Vec:
        """Return the strain g of each element at positions x (n, 3) [m], (s,)."""
        raise NotImplementedError

    def measure(self, x: Vec, forces: Vec) -> float:
        """Return the energy [J] at positions x (n, 3) [m]; write forces (s, 4, 3) [N]."""
        return float(type(self).measured(0, len(self.nodes), x, self.nodes, self._rest, self._stiffness, self._acting,
                                         self._low, self._high, forces))

    def fill(self, x: Vec, project: bool, forces: Vec, blocks: Vec) -> None:
        """Write forces (s, 4, 3) [N] and blocks of K of pairs of nodes, (s, 6, 9) [N/m], at positions x (n, 3) [m].

        K is negative semi-definite if `project`.
        """
        self.measure(x, forces)
        over_elements(type(self).filled, len(self.nodes), x, self.nodes, self._rest, self._stiffness, self._acting,
                      self._low, self._high, project, blocks)


class LengthLimit(Limits):
    """Limits of the lengths of lines between two nodes, (s, 2)."""

    measured, filled = staticmethod(measure_lengths), staticmethod(fill_lengths)

    def _square_sizes(self) -> Vec:
        """Return the squared rest lengths, (s,) [m²]."""
        return np.asarray(self._rest**2)

    def strains(self, x: Vec) -> Vec:
        """Return the strain of each element at positions x (n, 3) [m], (s,): length over rest length, minus 1."""
        away = x[self.nodes[:, 1]] - x[self.nodes[:, 0]]
        return np.asarray(np.sqrt(np.einsum("si,si->s", away, away)) / self._rest - 1.0)


class AreaLimit(Limits):
    """Limits of the areas of triangles, (s, 3)."""

    measured, filled = staticmethod(measure_areas), staticmethod(fill_areas)

    def _square_sizes(self) -> Vec:
        """Return the rest areas, (s,) [m²]."""
        return self._rest

    def strains(self, x: Vec) -> Vec:
        """Return the strain of each element at positions x (n, 3) [m], (s,): area over rest area, minus 1."""
        a, b, c = (x[self.nodes[:, k]] for k in range(3))
        return np.asarray(0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1) / self._rest - 1.0)
