"""The velocity filter: every touching node is braked as if it were alone."""

from __future__ import annotations

import numpy as np

from ...state import Vec
from .interface import Respond, SlidingNodes

DYNAMIC = ("Velocity Filter: a dynamic node that touches the ground is braked by its own mass alone, without the "
           "stiffness of what hangs on it; Coulomb has all of it")


class Filter:
    """v_t → max(1 − μ Δv_n / |v_t|, 0) v_t at each node, Δv_n = p_n / m; its momentum change is the impulse.

    Posed to the reduced system once, M (v_f − v) gives the weighted least squares min ‖v_f − J v_d‖ in M − βh²K where
    no dynamic node touches: Jᵀ K vanishes at quasistatic ones. At a dynamic one Jᵀ(−βh²K)(v_f − v) is left out, for
    it stops with its node all that hangs on it; a note says so. No impulse is larger than what stops its node's own
    mass, so it brakes what slides as Coulomb's law says, but does not hold what stands on a slope.
    [Bridson 2002] [ConJac BUNNY, changed: dynamic nodes]
    """

    grips = False  #: it brakes velocities alone

    def __init__(self, params: dict[str, float]) -> None:
        """params: friction_coefficient, μ."""
        self.coefficient = params["friction_coefficient"]

    def notes(self, has_dynamic: bool) -> list[str]:
        """What is left out where dynamic nodes touch."""
        return [DYNAMIC] if has_dynamic else []

    def impulses(self, rubbing: SlidingNodes, respond: Respond) -> Vec:
        """−min(μ p_n, m |v_t|) along the slip, (k, 3) [N s]."""
        speed = np.linalg.norm(rubbing.slip, axis=1)
        most = np.minimum(self.coefficient * rubbing.pressing, rubbing.mass * speed)
        out: Vec = -(most / np.maximum(speed, np.finfo(float).tiny))[:, None] * rubbing.slip
        return out
