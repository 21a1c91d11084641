"""Half-life damping of the oscillations of a reduced body, applied to its velocities after each step."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..parts.modes.body import ReducedBody, ReducedState
from ..state import Vec

TAKEN = 1.5  #: factor of BDF2 on a relative loss of velocities in every step


def damp_oscillations(state: ReducedState, h: float, half_life: float, body: ReducedBody, shape: Vec) -> ReducedState:
    """Return the state after half-life damping over h seconds. half_life: of oscillations [s]; 0: no damping.

    Half of the energy of an oscillation is kinetic, so that velocities decay at twice the rate of amplitudes:
    v ← v exp(−2 ln 2 h / T). BDF2, whose next velocity is (4 v − v₋) / 3 plus changes, multiplies the relative loss
    of v by 1.5, by which the exponent is divided. Rigid motion is not damped, unless the body has pins. shape:
    coordinates of the rest shape, (p, 3) [√kg m].
    """
    if not half_life:
        return state
    u, whole = state.u, np.zeros_like(state.u)
    if not len(body.pins.groups):
        whole = project_rigid_rates(state, body.weighed, shape)
    left = 2.0 ** (-2.0 * h / (TAKEN * half_life))
    return replace(state, u=whole + left * (u - whole))


def project_rigid_rates(state: ReducedState, shift: Vec, shape: Vec) -> Vec:
    """Return the rates of the rigid motion nearest to the rates of a state in the mass norm, (p, 3) [√kg m/s].

    shift: Φᵀ M 1, (p,) [√kg]. shape: coordinates of the rest shape, (p, 3) [√kg m].
    """
    positions = shape + state.y
    columns = []
    for k in range(3):
        move, rotation = np.zeros_like(state.u), np.zeros_like(state.u)
        move[:, k] = shift
        a, b = (k + 1) % 3, (k + 2) % 3
        rotation[:, b], rotation[:, a] = positions[:, a], -positions[:, b]
        columns += [move.ravel(), rotation.ravel()]
    basis = np.stack(columns, axis=1)
    rates: Vec = basis @ np.linalg.lstsq(basis, state.u.ravel(), rcond=None)[0]
    return rates.reshape(state.u.shape)
