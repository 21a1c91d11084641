"""Damping of threads of cloth under tension: a fraction of the membrane's stiffness."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np

from ...state import Vec
from .corotated_membrane import CorotatedMembrane
from .elements import ClothElements

STRETCHED = 0.05  #: stretch of cloth from which on threads are damped in full; slack cloth is not damped


class Threads:
    """Damping of a cloth: D of its material, and α(t) times the membrane's projected K = ∂f/∂x where it is stretched.

    D is negative semi-definite. α does not damp bending and slack cloth.
    """

    stiffness_damping = None  #: no constant factor of K: it varies over elements

    def __init__(self, cloth: ClothElements, own_damping: float, drag: float, strength: Callable[[float], float]
                 ) -> None:
        """own_damping, drag: of the material, factors of K [s] and of the mass [1/s]. strength: α [s] at a time [s]."""
        self._cloth, self._own, self._strength, self.drag = cloth, own_damping, strength, drag
        self._membrane, self._threads = cast(CorotatedMembrane, cloth.laws[0]), cloth.slices[0]

    def within(self, h: float) -> Threads:
        """Return the damping law for steps of h [s]: this object, for any h."""
        return self

    def fill(self, x: Vec, time: float, forces: Vec, blocks: Vec) -> None:
        """Write the element blocks of D, (p, 6, 9) [N s/m], at positions x (n, 3) [m] and `time` [s].

        forces (p, 4, 3) are scratch.
        """
        if self._own:
            self._cloth.fill(x, True, forces, blocks)
        else:
            blocks[:] = 0.0
            self._membrane.fill(x, True, forces[self._threads], blocks[self._threads])
        coefficients = np.full(len(blocks), self._own)
        stretch = self._membrane.measure_stretch(x) / STRETCHED
        coefficients[self._threads] += self._strength(time) * np.clip(stretch, 0.0, 1.0)
        blocks *= coefficients[:, None, None]
