"""Rows φ(x) of constraints between points, each a weighted sum of nodes: values, Jacobian and geometric stiffness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from ...coordinates.prescribed import OverTime
from ...state import Index, Mask, Vec

PARALLEL = 0.9  #: |cos| of an angle: an axis nearer to a direction does not span the plane across it


@dataclass(frozen=True)
class PointRows:
    """Rows of a constraint between points: r rows on m joints. The displacement of a joint is y = Σ w_j x_j, from a
    point of one body to one of another, so that Σ w_j = 0; a row φ(y) has the gradient d = ∂φ/∂y, J = d ⊗ w and φ″ =
    bend (1 − d dᵀ) ⊗ w wᵀ."""

    nodes: Index  #: nodes of each joint, those of the first body before those of the second, (m, w)
    weights: Vec  #: w_j, 1 in sum over the first body and −1 over the second, (m, w)
    first: int  #: number of the nodes that belong to the first body
    joint: Index  #: joint of each row, (r,)
    value: Vec  #: φ [m], (r,)
    direction: Vec  #: d, of length 1, or 0 where the row is idle, (r, 3)
    bend: Vec  #: [1/m], (r,)
    one_sided: Mask  #: whether a row is φ ≤ 0 instead of φ = 0, (r,)

    def jacobian(self, count: int) -> sp.csr_array:
        """Return the Jacobian J of all rows, (r, 3 count), of the positions of `count` nodes. [Notes, Hard Constraints]
        """
        nodes, weights = self.nodes[self.joint], self.weights[self.joint]
        r, w = nodes.shape
        data = weights[:, :, None] * self.direction[:, None, :]
        columns = 3 * nodes[:, :, None] + np.arange(3)
        rows = np.broadcast_to(np.arange(r)[:, None, None], data.shape)
        return sp.csr_array((data.ravel(), (rows.ravel(), columns.ravel())), shape=(r, 3 * count))

    def curvature(self, multiplier: Vec) -> Vec:
        """Return Σ λ_i φ_i″ of the displacement y of each joint, (m, 3, 3). multiplier: λ of each row, (r,)."""
        across = np.eye(3) - self.direction[:, :, None] * self.direction[:, None, :]
        out = np.zeros((len(self.nodes), 3, 3))
        np.add.at(out, self.joint, (multiplier * self.bend)[:, None, None] * across)
        return out

    def geometric_stiffness(self, multiplier: Vec, count: int) -> sp.csr_array:
        """Return Σ λ_i φ_i″ of the positions of `count` nodes, (3 count, 3 count). multiplier: λ of each row, (r,).
        [Tournier 2015]"""
        m, w = self.nodes.shape
        data = np.einsum("ma,mb,mij->maibj", self.weights, self.weights, self.curvature(multiplier))
        number = 3 * self.nodes[:, :, None] + np.arange(3)
        rows = np.broadcast_to(number[:, :, :, None, None], (m, w, 3, w, 3))
        columns = np.broadcast_to(number[:, None, None, :, :], (m, w, 3, w, 3))
        return sp.csr_array((data.ravel(), (rows.ravel(), columns.ravel())), shape=(3 * count, 3 * count))


class PointKind(Protocol):
    """Displacement function between two ends of a constraint: an entry of the catalogue's family "constraint"."""

    joints: int  #: number of joints, whatever the positions

    def rows(self, x: Vec, time: float) -> PointRows:
        """Return all rows at positions (n, 3) [m] and a time [s]; their number and order never change."""


class Displacement(OverTime, Protocol):
    """Prescribed displacement y of each joint over time, (m, 3) [m]."""

    jump: float  #: largest sudden change of it at the start [m]


class WholeDisplacement(PointKind, Protocol):
    """Constraint whose rows prescribe all of y: an entry with the capability "whole displacement"."""

    displacement: Displacement


def across(direction: Vec) -> tuple[Vec, Vec]:
    """Return two unit vectors that complete directions of length 1 to right-handed frames; all are (k, 3).

    The vectors are continuous in the direction, except where the axis that they are derived from changes.
    """
    axis = np.where(np.abs(direction[:, :1]) < PARALLEL, np.eye(3)[0], np.eye(3)[1])
    one = np.cross(direction, axis)
    one /= np.linalg.norm(one, axis=1, keepdims=True)
    return one, np.cross(direction, one)
