"""Rayleigh damping: a share of the stiffness and a share of the mass."""

from __future__ import annotations

from collections.abc import Mapping

from ..state import Vec
from .elastic import Elastic


class Rayleigh:
    """D = α K − β M of one body, K = ∂f/∂x projected, so that D = ∂f/∂v is negative semi-definite. [Ascher 2]

    A mode of frequency ω dies at the rate d = α ω² + β of q̈ + d q̇ + ω² q = 0. A body that turns rigidly near its rest
    shape is not damped by α, to first order in the step; one that is under load is, a little.
    """

    def __init__(self, nodes: Vec, elastic: Elastic, modulus: Vec, params: Mapping[str, float]) -> None:
        """nodes: rest positions of all nodes [m], (n, 3). modulus: Young's, (e,) [Pa]; not used here.
        params: stiffness_damping, α [s]; mass_damping, β [1/s]."""
        self.share = params["stiffness_damping"]
        self.drag = params["mass_damping"]
        self._elastic = elastic

    def within(self, h: float) -> Rayleigh:
        """The law of a step of h seconds: the same in any."""
        return self

    def fill(self, x: Vec, time: float, forces: Vec, blocks: Vec) -> None:
        """Write α K [N s/m] at positions x (n, 3) [m] as the element blocks; forces (p, 4, 3) are scratch. It
        is the same at all times."""
        self._elastic.fill(x, True, forces, blocks)
        blocks *= self.share
