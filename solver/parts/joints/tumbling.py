"""Conservation of the energy and angular momentum of freely rotating bodies over a step that is solved to its root.

The rates of a body without torque obey Euler's equations, I ω̇ = I ω × ω, in every orientation: ω stays on the curve
where ½ ω·Iω and |Iω| are constant. A step of order p leaves that curve by an error of order h^(p+1). Near the
intermediate axis that small error changes by much when the body flips over.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ...coordinates.tree import Tree
from ...state import Index, State, Vec
from .interface import ConstraintSolution

ROUNDS = 3  #: of Newton's method on both invariants
LARGEST = 0.01  #: relative error of an invariant beyond which a step is no small error
PARALLEL = 1e-6  #: ratio of singular values below which both invariants are one: on an axis, or with equal moments


class Tumbling:
    """Bodies of a tree that are free and have no children."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        isolated = (tree.parent == -1) & (np.diff(tree.dof) == 6)
        isolated[tree.parent[tree.parent >= 0]] = False
        self._bodies = np.flatnonzero(isolated)
        self._inertia = tree.inertia[self._bodies, :3, :3]
        self._postures = (tree.blank(), tree.blank())

    def __len__(self) -> int:
        return len(self._bodies)

    def with_invariants(self, before: State, after: State, constraints: ConstraintSolution | None) -> State:
        """Return the state at the end of a step with rates corrected so that energy and angular momentum of each free
        body are those before it; coordinates do not change.

        constraints: solution of the step's last stage; bodies with constraint impulses are not corrected. None: no
        constraints.
        """
        free = np.ones(len(self._bodies), bool)
        if constraints is not None:
            free &= constraints.on_bodies is not None and ~constraints.on_bodies[self._bodies].any(axis=1)
        bodies, inertia = self._bodies[free], self._inertia[free]
        if not len(bodies):
            return after
        omega = self._rotation(before, bodies, 0)
        omega_after = self._rotation(after, bodies, 1)
        moved = restore_invariants(inertia, omega, omega_after) - omega_after
        return replace(after, u=self._with_rotation(after, bodies, moved))

    def _rotation(self, state: State, bodies: Index, which: int) -> Vec:
        """Return angular velocities in the bodies' frames, (k, 3) [rad/s]."""
        centres: Mapping[str, Vec] = state.memory
        at = self._tree.posture(state.q, state.u, centres, self._postures[which])
        rotation: Vec = at.twist[bodies, :3].copy()
        return rotation

    def _with_rotation(self, after: State, bodies: Index, moved: Vec) -> Vec:
        """Return rates (m,) with angular velocities changed by `moved` (k, 3). The posture of `after` is that of the
        last call of `_rotation`."""
        rates = self._tree.dof[bodies][:, None] + np.arange(6)
        columns = np.swapaxes(self._postures[1].S[rates], 1, 2)
        change = np.zeros((len(bodies), 6))
        change[:, :3] = moved
        u = after.u.copy()
        u[rates] += np.linalg.solve(columns, change[:, :, None])[:, :, 0]
        return u


def restore_invariants(inertia: Vec, before: Vec, after: Vec) -> Vec:
    """Return the angular velocities nearest to `after` with the energy and angular momentum of `before`, (k, 3)
    [rad/s].

    inertia: (k, 3, 3) [kg m²]. Bodies of which the step changed either by more than a hundredth keep the values of
    `after`.
    """
    omega = after.copy()
    target = _invariants(inertia, before)[0]
    scale = np.where(target > 0.0, target, 1.0)
    near = (np.abs(_invariants(inertia, omega)[0] - target) <= LARGEST * scale).all(axis=1)
    for _ in range(ROUNDS):
        values, slopes = _invariants(inertia, omega)
        step = np.linalg.pinv(slopes / scale[:, :, None], rcond=PARALLEL) @ ((target - values) / scale)[:, :, None]
        omega = omega + np.where(near[:, None], step[:, :, 0], 0.0)
    return omega


def _invariants(inertia: Vec, omega: Vec) -> tuple[Vec, Vec]:
    """Return ½ ω·Iω and ½ |Iω|², (k, 2), and their derivatives by ω, (k, 2, 3)."""
    spin = np.einsum("kab,kb->ka", inertia, omega)
    values = 0.5 * np.stack([np.einsum("ka,ka->k", omega, spin), np.einsum("ka,ka->k", spin, spin)], axis=1)
    return values, np.stack([spin, np.einsum("kab,kb->ka", inertia, spin)], axis=1)
