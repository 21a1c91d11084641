"""Stability limit of steps with explicit forces on mechanisms, reported before a simulation diverges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..coordinates.tree import CENTRES
from ..linear.tree.factor import TreeFactor
from ..state import Vec

if TYPE_CHECKING:
    from ..world.joints_part import JointsPart

#: (ω h)² + DAMPED c h of a swing with rate of damping c [1/s] has to stay below LARGEST with BDF2, the strictest: it is
#: 4 and 2 with both Eulers, more with SDIRK2
LARGEST, DAMPED = 3.69, 3.0
ITERATIONS = 40  #: of the power method
SHORTEST = 2.0**-20  #: of the scene's step


def notes_of_explicit(world: JointsPart, h: float) -> list[str]:
    """Return notes on explicit forces that are too stiff for steps of h [s], as the mechanisms start."""
    explicit = world.condensation.explicit
    if explicit is None:
        return []
    longest, (size, body) = h, _fastest(world, h)
    while size > LARGEST and longest > SHORTEST * h:
        longest *= 0.5
        size = _fastest(world, longest)[0]
    if longest == h:
        return []
    return [f'explicit forces on "{body}" are too stiff for steps of {1.0e3 * h:.3g} ms, with which they blow up: use '
            f"{1.0e3 * longest:.2g} ms, or make them implicit"]


def _fastest(world: JointsPart, h: float) -> tuple[float, str]:
    """Return the largest eigenvalue of M_r⁻¹ (−h² K − DAMPED h D) of explicit forces as the mechanisms start, by the
    power method, and the body that moves most in its mode."""
    explicit, tree, state = world.condensation.explicit, world.tree, world.initial_state()
    assert explicit is not None
    n, m, at = tree.count, tree.rates, tree.posture(state.q, state.u, state.memory)
    diagonal, below, reduced = (np.zeros((n, 6, 6)) for _ in range(3))
    damping_scale, stiffness_scale = DAMPED * h, h * h
    explicit.springs.add(at.E, at.twist, None, damping_scale, stiffness_scale, 0.0, np.zeros((n, 6)), diagonal, below)
    explicit.joints.at(state.time)
    explicit.joints.add(at, state.q, state.u, state.memory.get(CENTRES, tree.fresh), None, damping_scale,
                        stiffness_scale, 0.0, np.zeros(m), reduced)
    mass = TreeFactor(tree.parent, tree.dof)
    mass.factor(at.X, at.S, tree.inertia, np.zeros((n, 6, 6)), np.zeros((n, 6, 6)))

    # any start vector that is orthogonal to no mode
    vector: Vec = np.cos(np.arange(m, dtype=float))[:, None]
    product, size = np.zeros_like(vector), 0.0
    for _ in range(ITERATIONS):
        mass.multiply((diagonal, below, reduced), explicit.springs.pairs, explicit.springs.between, vector, product)
        after = mass.solve(product)
        size = float(np.linalg.norm(after) / np.linalg.norm(vector))
        if not size > 0.0:
            break
        vector = after / np.linalg.norm(after)
    owner = np.repeat(np.arange(n), np.diff(tree.dof))
    return size, tree.bodies[int(owner[np.argmax(np.abs(vector * product))])]
