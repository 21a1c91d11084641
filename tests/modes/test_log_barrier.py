"""A material from outside whose energy has no end where a volume vanishes: μ/2 (I_C − 3) − μ ln J + λ/2 (ln J)²."""

import math
from contextlib import nullcontext, suppress

import numpy as np
import pytest
from bodies import box
from reduced import substance

from solver.errors import StepFailed
from solver.materials.algebra import decompose
from solver.materials.fixed_corotated import FixedCorotated
from solver.materials.interface import Material
from solver.materials.isotropic import add_stress, add_tangent
from solver.materials.lanes import (
    CONSTANT,
    ENERGY,
    FLIP,
    LANES,
    MATERIAL_KERNEL,
    SCALING,
    SIGMA,
    TWIST,
    put,
    vector,
)
from solver.parts.modes.body import ReducedBody, Stepping
from solver.parts.modes.stepping import Iterating
from solver.threads import kernel


@kernel(MATERIAL_KERNEL)
def _energy(work, project):
    decompose(work)
    for lane in range(LANES):
        mu, lam = work[CONSTANT * LANES + lane], work[(CONSTANT + 1) * LANES + lane]
        a, b, c = vector(work, SIGMA, lane)
        swell = math.log(max(a * b * c, 0.0))
        work[ENERGY * LANES + lane] += 0.5 * mu * (a * a + b * b + c * c - 3.0) - mu * swell + 0.5 * lam * swell * swell


@kernel(MATERIAL_KERNEL)
def _stress(work, project):
    decompose(work)
    for lane in range(LANES):
        mu, lam = work[CONSTANT * LANES + lane], work[(CONSTANT + 1) * LANES + lane]
        a, b, c = vector(work, SIGMA, lane)
        push = lam * math.log(max(a * b * c, 0.0)) - mu
        put(work, SCALING, lane, (mu * a + push / a, mu * b + push / b, mu * c + push / c))
    add_stress(work)


@kernel(MATERIAL_KERNEL)
def _tangent(work, project):
    decompose(work)
    for lane in range(LANES):
        mu, lam = work[CONSTANT * LANES + lane], work[(CONSTANT + 1) * LANES + lane]
        a, b, c = vector(work, SIGMA, lane)
        push = lam * math.log(max(a * b * c, 0.0)) - mu
        firm = lam - push
        put(work, SCALING, lane, (mu + firm / (a * a), mu + firm / (b * b), mu + firm / (c * c)))
        put(work, SCALING + 3, lane, (lam / (a * b), lam / (a * c), lam / (b * c)))
        put(work, TWIST, lane, (mu + push / (b * c), mu + push / (a * c), mu + push / (a * b)))
        put(work, FLIP, lane, (mu - push / (b * c), mu - push / (a * c), mu - push / (a * b)))
    add_tangent(work, project)


class LogBarrier(Material):
    energy, stress, tangent = _energy, _stress, _tangent
    constants = staticmethod(FixedCorotated.constants)


def stretches(points):
    """Smallest eigenvalue of the stretch of each cubature point."""
    z = points._z.transpose(0, 2, 1).reshape(-1, 6)[: points.count]
    if not np.isfinite(z).all():
        return np.full(1, -np.inf)
    return np.linalg.eigvalsh(z[:, [[0, 3, 4], [3, 1, 5], [4, 5, 2]]])[:, 0]


@pytest.mark.parametrize("search", [True, False])
def test_stretches_stay_positive_definite_where_a_step_would_turn_them_over(search, monkeypatch):
    """A bar that flies into its own wall. Whole steps turn stretches over; those that the Lagrangian picks do not."""
    nodes, tets = box((8, 2, 2), (0.2, 0.05, 0.05))
    body = ReducedBody.build(tets, nodes, substance(material=LogBarrier), [np.flatnonzero(nodes[:, 0] < 1e-9)], 4,
                             stepping=Stepping(iterating=Iterating(iterations=6, search=search, guarded=False)))
    least, keep = [], body.points.keep

    def keep_and_look(taken):
        keep(taken)
        least.append(stretches(body.points).min())

    monkeypatch.setattr(body.points, "keep", keep_and_look)
    state = body.moving(nodes * [-60.0, 0.0, 0.0])
    with nullcontext() if search else suppress(StepFailed):
        for _ in range(6):
            state = body.step(state, 1 / 60)
    assert np.isfinite(state.y).all()
    assert min(least) < 0.5  # it is pressed hard
    assert (min(least) > 0.0) == search, min(least)
