"""Half-life of a reduced body's wobbles, taken of its velocities in each step."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..parts.modes.body import ReducedBody, ReducedState
from ..state import Vec

TAKEN = 1.5  #: what BDF2 makes of a share that is taken of velocities in every step


def faded(state: ReducedState, h: float, half_life: float, body: ReducedBody, shape: Vec) -> ReducedState:
    """Return the state without what a half-life [s] takes in h seconds of the motion but of rigid motion; 0 takes none.

    Velocities lose half as much of what oscillates: v ← v exp(−2 ln 2 h / T). BDF2, whose next velocity is
    (4 v − v₋) / 3 and more, takes half as much again of what v loses in each step. shape: coordinates of the rest shape
    itself, (p, 3).
    """
    if not half_life:
        return state
    u, whole = state.u, np.zeros_like(state.u)
    if not len(body.pins.groups):
        whole = rigid_rates(state, body.weighed, shape)
    left = 2.0 ** (-2.0 * h / (TAKEN * half_life))
    return replace(state, u=whole + left * (u - whole))


def rigid_rates(state: ReducedState, shift: Vec, shape: Vec) -> Vec:
    """Return the part of the rates that moves and turns all of a body, nearest in mass, (p, 3). shift: Φᵀ M 1, (p,)."""
    places = shape + state.y
    columns = []
    for k in range(3):
        move, turn = np.zeros_like(state.u), np.zeros_like(state.u)
        move[:, k] = shift
        a, b = (k + 1) % 3, (k + 2) % 3
        turn[:, b], turn[:, a] = places[:, a], -places[:, b]
        columns += [move.ravel(), turn.ravel()]
    basis = np.stack(columns, axis=1)
    found: Vec = basis @ np.linalg.lstsq(basis, state.u.ravel(), rcond=None)[0]
    return found.reshape(state.u.shape)
