"""Leapfrog steps of a tree of joints: memory of the bodies' momentum between two steps.

The rates of a step are solved at its midpoint, after half its weight has acted. The part of the bodies' momentum that
the joints do not permit is lost there, as in any linearised step. At the step's end the other half of the weight acts,
and that part is reflected instead: 2 P − 1, P the projection onto the motions that the joints permit, which conserves
energy. By symmetry nearly none of it remains at the midpoint of the next step, so the relative energy loss of a turning
rod is of order (h ω)⁴ in a step, not (h ω)². Each projection is solved exactly once, so no step gains kinetic energy.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...coordinates.tree import Posture
from ...state import Vec

#: keys of the memory; twists have ω in the bodies' frames and the centres' velocities in world
CARRIED = "joints.carried"  #: twists of the bodies where the step starts, half its weight not yet in them, (n, 6)
CHANGE = "joints.change"  #: what joints changed of them as they were reflected there, (n, 6)
#: rates where the step starts and how they change with time there, about, (2, m)
RATES = "joints.rates"


def predict_rates(u: Vec, memory: Mapping[str, Vec], h: float) -> Vec:
    """Return predicted rates (m,) for the midpoint of a step of h seconds, from a state of rates u (m,) and its
    memory."""
    rates = memory.get(RATES)
    return u if rates is None else rates[0] + 0.5 * h * rates[1]


def start_carried_twists(at: Posture, fallen: Vec) -> Vec:
    """Return CARRIED of a motion without a previous leapfrog step: the twists of the rates at a posture, (n, 6).

    fallen: additional velocity by weight, (3,) [m/s]: zero where rates are those of the step's start, that of half a
    step where they are those of the last midpoint.
    """
    carried = in_world(at.E, at.twist)
    carried[:, 3:] += fallen
    return carried


def half_step_rates(u: Vec, memory: Mapping[str, Vec], h: float) -> Vec:
    """Return the midpoint rates (m,) of the linearised step of h seconds that ended in a state of rates u (m,) with
    this memory."""
    known = memory.get(RATES)
    return u if known is None else known[0] - 0.5 * h * known[1]


def reflect(E: Vec, projected: Vec, impulse: Vec, inverse_inertia: Vec) -> tuple[Vec, Vec]:
    """Return reflected twists and the change that joints made to them, both as CARRIED, (n, 6), of bodies at E
    (n, 4, 4).

    projected: twists P φ that joints permit. impulse: M φ. Both are in the bodies' frames, (n, 6).
    inverse_inertia: M⁻¹, (n, 6, 6).
    """
    free = np.einsum("nab,nb->na", inverse_inertia, impulse)
    change = in_world(E, 2.0 * (projected - free))
    return in_world(E, free) + change, change


def in_world(E: Vec, twist: Vec) -> Vec:
    """Return twists (n, 6) with the linear part rotated from the bodies' frames into world. E: (n, 4, 4)."""
    return np.concatenate([twist[:, :3], np.einsum("nij,nj->ni", E[:, :3, :3], twist[:, 3:])], axis=1)


def impulse_of(E: Vec, twist: Vec, inertia: Vec) -> Vec:
    """Return M φ in the frames of bodies at E (n, 4, 4), (n, 6) [N m s, N s], from twists φ (n, 6) in the form of
    CARRIED."""
    own = np.concatenate([twist[:, :3], np.einsum("nji,nj->ni", E[:, :3, :3], twist[:, 3:])], axis=1)
    out: Vec = np.einsum("nab,nb->na", inertia, own)
    return out
