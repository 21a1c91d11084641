"""Leapfrog steps of a tree of joints: where bodies' momentum is between two of them.

The rates of a step are solved midway through it, where half its weight has acted: what joints do not allow of the
bodies' momentum is lost there, as in any linearised step. Where the step ends the other half acts, and that part is
turned round instead (2 P − 1, P the projection onto what joints allow, which changes no energy): by symmetry hardly any
of it is left midway through the next, so that a turning rod loses a share of (h ω)⁴ and not of (h ω)² in a step.
Nothing of it solves more than once: no step can gain energy of motion.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...coordinates.tree import Posture
from ...state import Vec

#: keys of the memory; twists have ω in the bodies' frames and the centres' velocities in world
CARRIED = "joints.carried"  #: twists of the bodies where the step starts, half its weight not yet in them, (n, 6)
CHANGE = "joints.change"  #: what joints changed of them as they were turned round there, (n, 6)
#: rates where the step starts and how they change with time there, about, (2, m)
RATES = "joints.rates"


def predicted_rates(u: Vec, memory: Mapping[str, Vec], h: float) -> Vec:
    """Rates (m,) that a step of h seconds will have, about, from a state of rates u and this memory."""
    rates = memory.get(RATES)
    return u if rates is None else rates[0] + 0.5 * h * rates[1]


def started(at: Posture, fallen: Vec) -> Vec:
    """Return CARRIED of a motion without a previous leapfrog step, at a posture: the twists of its rates, (n, 6).

    fallen: velocity by weight in addition, (3,) [m/s]: none where rates are of this time, half a step's where they are
    those of midway through the last one.
    """
    carried = in_world(at.E, at.twist)
    carried[:, 3:] += fallen
    return carried


def half_step_rates(u: Vec, memory: Mapping[str, Vec], h: float) -> Vec:
    """Return rates (m,) with which a linearised step of h seconds led to a state of rates u and this memory."""
    known = memory.get(RATES)
    return u if known is None else known[0] - 0.5 * h * known[1]


def turned_round(E: Vec, projected: Vec, impulse: Vec, light: Vec) -> tuple[Vec, Vec]:
    """(twists that fly on, what joints changed of them), as CARRIED, (n, 6), of bodies at E (n, 4, 4).

    projected: twists P φ that joints allow, impulse: M φ, in bodies' frames, (n, 6). light: M⁻¹, (n, 6, 6).
    """
    free = np.einsum("nab,nb->na", light, impulse)
    change = in_world(E, 2.0 * (projected - free))
    return in_world(E, free) + change, change


def in_world(E: Vec, twist: Vec) -> Vec:
    """Twists (n, 6) with the centres' velocities in world."""
    return np.concatenate([twist[:, :3], np.einsum("nij,nj->ni", E[:, :3, :3], twist[:, 3:])], axis=1)


def impulse_of(E: Vec, twist: Vec, inertia: Vec) -> Vec:
    """M φ in the frames of bodies at E, (n, 6) [N m s, N s], of twists as CARRIED."""
    own = np.concatenate([twist[:, :3], np.einsum("nji,nj->ni", E[:, :3, :3], twist[:, 3:])], axis=1)
    out: Vec = np.einsum("nab,nb->na", inertia, own)
    return out
