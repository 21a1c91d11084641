"""Unconstrained components without a dynamic node, in equilibrium with their own inertia.

Anchors make K_qq regular, and have no force where forces and inertia are in equilibrium. A rotation of a body under
stress is no null vector of K, though: anchors that only rigid motions may move then take a part of the moment, and
three of them break the symmetry of a symmetric body. So the anchors are released, and inertia takes that moment as it
does that of forces. With R the rigid motions, the displacement z by loads b is

    K z + b + M R μ = 0,   Rᵀ M z = 0,

which Σ a + L μ = −l, Lᵀ a + G μ = −Rᵀ M z₀ solves on the anchors: a is their displacement, Σ is K condensed onto them,
l the residual of b there while they are fixed and the others, displaced by z₀, are in equilibrium, L that of M R, and G
its Rᵀ M z₀. [ConJac 6, changed: rigid modes]
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from ...coordinates.floating_frames import Frame
from ...state import Index, Vec
from .rigid_modes import rows_of


class UnconstrainedParts:
    """Unconstrained components at one stiffness. Rows run over quasistatic nodes, then anchors."""

    def __init__(self, rigid: Vec, mass: Vec, jacobian: Vec, stiffness: Vec, responses: Vec, left: Vec) -> None:
        """Factor the system of the anchors. rigid: R, (3 (q + k), m). mass: of the rows [kg]. jacobian: J, (3 q, 3 k).
        stiffness: Σ, (3 k, 3 k). responses: −K_qq⁻¹ M R, (3 q, m). left: L, (3 k, m)."""
        self._weighted, self._jacobian, self._responses = mass[:, None] * rigid, jacobian, responses
        self._squares: Vec = rigid.T @ self._weighted
        # of one size, else the small system loses digits
        self._size = float(np.abs(stiffness).max() / np.abs(left).max())
        onto, gram = self._size * left, self._size**2 * (self._weighted[: len(jacobian)].T @ responses)
        self._small = scipy.linalg.lu_factor(np.block([[stiffness, onto], [onto.T, 0.5 * (gram + gram.T)]]))

    @classmethod
    def of(cls, frames: list[Frame], position: Index, mass: Vec, columns: Vec, stiffness: Vec, left: Vec,
           first: int) -> UnconstrainedParts:
        """Return the components with the rigid motions of these frames. position: row of each node, or −1. columns:
        −A_qq⁻¹ A_qk of all rows that are eliminated last, (3 q, 3 k + border). left: residual of the border's vectors
        on the anchors, (3 k, border); from column `first` on these vectors are M R, in which groups of several
        components share columns."""
        count = sum(frame.field.shape[2] for frame in frames)
        rigid, at = np.zeros((len(mass) // 3, 3, count)), 0
        responses, onto = np.zeros((len(columns), count)), np.zeros((len(stiffness), count))
        for frame in frames:
            modes = frame.field.shape[2]
            own, shared = slice(at, at + modes), slice(first + frame.first, first + frame.first + modes)
            rows = position[frame.nodes]
            rigid[rows[rows >= 0], :, own] = frame.field[rows >= 0]
            rows = position[frame.component]
            near = rows_of(rows[rows >= 0])
            inner, retained = near[near < len(columns)], near[near >= len(columns)] - len(columns)
            responses[inner, own] = columns[inner, len(stiffness) :][:, shared]
            onto[retained, own] = left[retained, shared]
            at += modes
        return cls(rigid.reshape(len(mass), count), mass, columns[:, : len(stiffness)], stiffness, responses, onto)

    def balance(self, responses: Vec, left: Vec) -> tuple[Vec, Vec]:
        """Return the displacements z by loads b and K z + b, both (3 (q + k), c). responses: −K_qq⁻¹ b, (3 q, c). left:
        residual of b then on the anchors, (3 k, c)."""
        return self._solve(responses, left, -(self._weighted[: len(responses)].T @ responses))

    def balance_rigid_motions(self) -> tuple[Vec, Vec]:
        """Return velocities z in equilibrium with inertia for which Rᵀ M z = Rᵀ M R, R the rigid motions, and K z, both
        (3 (q + k), m)."""
        count = len(self._squares)
        return self._solve(np.zeros((len(self._jacobian), count)), np.zeros((self._jacobian.shape[1], count)),
                           self._squares)

    def amplitudes(self, rows: Vec) -> Vec:
        """Return the coefficients of the velocities `rigid` in velocities on the rows, (3 (q + k),): (m,)."""
        out: Vec = np.linalg.solve(self._squares, self._weighted.T @ rows)
        return out

    def _solve(self, responses: Vec, left: Vec, along: Vec) -> tuple[Vec, Vec]:
        """Return z and K z + b, both (3 (q + k), c), with Rᵀ M z = along + Rᵀ M z₀, (m, c). responses, left: as in
        `balance`."""
        solution = scipy.linalg.lu_solve(self._small, np.concatenate([-left, self._size * along]))
        own, multipliers = solution[: len(left)], self._size * solution[len(left) :]
        moved = responses + self._responses @ multipliers + self._jacobian @ own
        return np.concatenate([moved, own]), -(self._weighted @ multipliers)
