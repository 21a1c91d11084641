"""Rayleigh damping: a multiple of the stiffness and a multiple of the mass."""

from __future__ import annotations

from collections.abc import Mapping

from ..state import Vec
from .elastic import Elastic


class Rayleigh:
    """Damping D = α K − β M of one body, K = ∂f/∂x projected, so that D = ∂f/∂v is negative semi-definite.

    A mode of frequency ω decays at the rate d = α ω² + β of q̈ + d q̇ + ω² q = 0. A rigid rotation near the rest shape
    is not damped by α, to first order in the step; one under load is, a little. [Ascher 2]
    """

    def __init__(self, nodes: Vec, elastic: Elastic, modulus: Vec, params: Mapping[str, float]) -> None:
        """nodes: rest positions of all nodes [m], (n, 3). modulus: Young's, (e,) [Pa]; not used here.
        params: stiffness_damping, α [s]; mass_damping, β [1/s]."""
        self.stiffness_damping = params["stiffness_damping"]
        self.drag = params["mass_damping"]
        self._elastic = elastic

    def within(self, h: float) -> Rayleigh:
        """Return the damping law for steps of h [s]: this object, for any h."""
        return self

    def fill(self, x: Vec, time: float, forces: Vec, blocks: Vec) -> None:
        """Write the element blocks of α K, (p, 6, 9) [N s/m], at positions x (n, 3) [m]; forces (p, 4, 3) are scratch.

        The blocks do not depend on `time`.
        """
        self._elastic.fill(x, True, forces, blocks)
        blocks *= self.stiffness_damping
