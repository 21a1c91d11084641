"""The velocity filter: friction of each node by its own mass, without coupling."""

from __future__ import annotations

import numpy as np

from ...state import Vec
from .interface import Respond, SlidingNodes

DYNAMIC = ("Velocity Filter: friction slows a dynamic node on the ground by its own mass alone, without the "
           "stiffness of the nodes around it; Coulomb includes all of it")


class Filter:
    """Friction that reduces the slip of each node, v_t → max(1 − μ Δv_n / |v_t|, 0) v_t with Δv_n = p_n / m.

    The momentum change of the node is its impulse. Applied to the reduced system once, M (v_f − v) yields the weighted
    least squares min ‖v_f − J v_d‖ in M − βh²K where no dynamic node has contact: Jᵀ K vanishes at quasistatic ones. At
    a dynamic one Jᵀ(−βh²K)(v_f − v) is left out, since it would stop all quasistatic nodes along with the node; a note
    reports it. No impulse exceeds what stops its node's own mass, so sliding obeys Coulomb's law, but nothing sticks on
    a slope. [Bridson 2002] [ConJac BUNNY, changed: dynamic nodes]
    """

    has_static_friction = False  #: it acts on velocities only

    def __init__(self, params: dict[str, float]) -> None:
        """params: friction_coefficient, μ."""
        self.coefficient = params["friction_coefficient"]

    def notes(self, has_dynamic: bool) -> list[str]:
        """Return a sentence for the log on the coupling that the filter leaves out, if there are dynamic nodes."""
        return [DYNAMIC] if has_dynamic else []

    def impulses(self, contacts: SlidingNodes, respond: Respond) -> Vec:
        """Return the friction impulses on the nodes in contact, min(μ p_n, m |v_t|) against the slip, (k, 3) [N s]."""
        speed = np.linalg.norm(contacts.slip, axis=1)
        bound = np.minimum(self.coefficient * contacts.normal_impulse, contacts.mass * speed)
        out: Vec = -(bound / np.maximum(speed, np.finfo(float).tiny))[:, None] * contacts.slip
        return out
