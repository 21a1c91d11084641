"""A constraint between points of bodies as a force in a bake: hard, or compliant."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...coordinates.prescribed import Constant, OverTime
from ...forces.stencils import Stencils
from ...state import Index, Vec
from .rows import PointKind, PointRows

STIFF = 1.0e4  #: of the inertia of the heavier body over a step: how firmly a hard constraint holds within a stage
FADED = 1.0e-8  #: of that: what is left of it as its strength goes to 0, evenly on a logarithmic scale


def stiffness_over_step(mass: float, h: float) -> float:
    """Return k of a hard constraint [N/m]. mass: of the heavier body [kg]. h: step [s]."""
    return STIFF * mass / h**2


@dataclass(frozen=True)
class NodePairs:
    """Pairs of nodes, of all joints of a constraint, whose weights are not 0. y = Σ w_j x_j with Σ w_j = 0, so each
    pair of a node of one end and one of the other takes −w_i w_j of the force."""

    nodes: Index  #: (p, 2)
    joint: Index  #: of each pair, (p,)
    product: Vec  #: w_i w_j, (p,)
    coupling: Vec  #: −w_i w_j between both ends, 0 within one, (p,)

    @classmethod
    def of(cls, rows: PointRows) -> NodePairs:
        """Return the node pairs of all joints of these rows."""
        width = rows.nodes.shape[1]
        one, other = (index.ravel() for index in np.meshgrid(np.arange(width), np.arange(width), indexing="ij"))
        one, other = one[one < other], other[one < other]
        product = rows.weights[:, one] * rows.weights[:, other]
        coupling = np.where((one < rows.first) & (other >= rows.first), -product, 0.0)
        joint, pair = np.nonzero(product)
        nodes = np.stack([rows.nodes[joint, one[pair]], rows.nodes[joint, other[pair]]], axis=1)
        return cls(np.ascontiguousarray(nodes, dtype=np.int32), joint, product[joint, pair], coupling[joint, pair])


class PointConstraint:
    """Constraint as a force: energy Σ λ φ + ½ k φ² of the rows φ of a kind, forces −T Jᵀ and K = −k JᵀJ − T φ″ on their
    nodes, T = λ + k φ.

    A hard constraint takes λ from the end of the last step, so that k only has to provide the change of T in one step,
    and `k φ` vanishes at rest (an augmented Lagrangian). A compliant one has k = 1/α and λ = 0. Projected, K has the T
    of the last step where that is positive, as links of ropes do. [Notes, Compliant Constraints] [Tournier 2015]
    """

    def __init__(self, kind: PointKind, firm: float, compliance: OverTime, strength: OverTime | None = None,
                 lasts: float = np.inf) -> None:
        """firm: k of a hard constraint [N/m]. compliance: α over time [m/N], (1,); below 1/firm the constraint is hard.
        strength: over time, in [0, 1], (1,): factor of 1/α of a compliant constraint; a hard one is soft below 1, and
        there is no constraint at 0. lasts: time at which the constraint ends [s]."""
        self._kind, self._firm, self._compliance, self._lasts = kind, firm, compliance, lasts
        self._strength = Constant(np.ones(1)) if strength is None else strength
        self._last: Vec | None = None  #: T at the end of the last step [N], (r,); None before the first
        self._expected: Vec | None = None  #: T that projected K takes [N], (r,); None: the last one
        self._none = np.zeros((0, 2), np.int32)
        self._known: tuple[float, Vec, PointRows] | None = None  #: the last rows, with their time and positions
        self._paired: tuple[Index, Vec, NodePairs] | None = None  #: node pairs of these nodes and weights

    def stiffness(self, time: float) -> float:
        """Return k at a time [s], 0 while there is no constraint [N/m]."""
        strength = float(self._strength.at(time)[0])
        if time >= self._lasts or strength <= 0.0:
            return 0.0
        alpha = max(float(self._compliance.at(time)[0]), 0.0)
        if alpha * self._firm > 1.0:
            return strength / alpha
        return self._firm * float(FADED ** (1.0 - min(strength, 1.0)))

    def is_hard(self, time: float) -> bool:
        """Whether all rows have to vanish at a time [s]."""
        return (time < self._lasts and float(self._strength.at(time)[0]) >= 1.0
                and float(self._compliance.at(time)[0]) * self._firm <= 1.0)

    def rows(self, x: Vec, time: float) -> PointRows:
        """Return all rows at positions (n, 3) [m] and a time [s]."""
        known = self._known
        if known is None or known[0] != time or not np.array_equal(known[1], x):
            self._known = known = time, x.copy(), self._kind.rows(x, time)
        return known[2]

    @property
    def remembers(self) -> int:
        """Return the number of multipliers that outlast a step."""
        return 3 * self._kind.joints

    def recall(self, multipliers: Vec | None) -> None:
        """Set T at the end of the last step [N], (`remembers`,); None before the first step."""
        self._last, self._expected = multipliers, None

    def expect(self, before: Vec, after: Vec, time: float) -> None:
        """Use in the projected K, until the next `recall`, T at positions `after` as extrapolated from T and its slope
        at `before`, both (n, 3) [m]. time: [s]."""
        rows = self.rows(before, time)
        moved = np.einsum("mw,mwi->mi", rows.weights, (after - before)[rows.nodes])[rows.joint]
        linear = replace(rows, value=rows.value + np.einsum("ri,ri->r", rows.direction, moved))
        self._expected = self._multipliers(linear, self.stiffness(time), time)

    def multipliers(self, x: Vec, time: float) -> Vec:
        """Return T of each row at positions (n, 3) [m] and a time [s], padded with zeros, (`remembers`,) [N]."""
        out = np.zeros(self.remembers)
        rows = self.rows(x, time)
        out[: len(rows.value)] = self._multipliers(rows, self.stiffness(time), time)
        return out

    def _acting(self, rows: PointRows, time: float) -> Vec:
        """Return λ of each row [N], (r,)."""
        if self._last is None or not self.is_hard(time):
            return np.zeros(len(rows.value))
        return np.where(rows.direction.any(axis=1), self._last[: len(rows.value)], 0.0)

    def _multipliers(self, rows: PointRows, stiffness: float, time: float) -> Vec:
        """Return T of each row [N], (r,)."""
        multiplier = self._acting(rows, time) + stiffness * rows.value
        return np.where(rows.one_sided, np.maximum(multiplier, 0.0), multiplier)

    def measure(self, x: Vec, time: float) -> Stencils:
        """Return forces and energy at positions (n, 3) [m] and a time [s], without blocks of K."""
        return self._stencils(x, time, False, False)

    def fill(self, x: Vec, time: float, project: bool) -> Stencils:
        """Return forces, energy and blocks of K, negative semi-definite if `project`, at positions (n, 3) [m] and a
        time [s]."""
        return self._stencils(x, time, True, project)

    def damp(self, x: Vec, v: Vec, time: float) -> Stencils | None:
        """Return None: point constraints have no damping."""
        return None

    def _stencils(self, x: Vec, time: float, with_blocks: bool, project: bool) -> Stencils:
        """Return forces, energy and stiffness of the rows at positions x (n, 3) [m] and `time` [s], on pairs of nodes.
        project: whether K is negative semi-definite."""
        k = self.stiffness(time)
        if k == 0.0:
            return Stencils(self._none, np.zeros((0, 2, 3)), np.zeros((0, 1, 9)), 0.0)
        rows = self.rows(x, time)
        multiplier, acting = self._multipliers(rows, k, time), self._acting(rows, time)
        # (T² − λ²)/2k: λ φ + ½ k φ² of two-sided rows
        energy = 0.5 * float(((multiplier - acting) * (multiplier + acting)).sum()) / k
        force = np.zeros((len(rows.nodes), 3))
        np.add.at(force, rows.joint, -multiplier[:, None] * rows.direction)
        pairs = self._pairs(rows)
        forces = np.empty((len(pairs.nodes), 2, 3))
        np.multiply(pairs.coupling[:, None], force[pairs.joint], out=forces[:, 0])
        np.negative(forces[:, 0], out=forces[:, 1])
        blocks = np.zeros((0, 1, 9))
        if with_blocks:
            bending = self._bending(rows, multiplier, k, project).reshape(-1, 9)
            blocks = (pairs.product[:, None] * bending[pairs.joint])[:, None]
        return Stencils(pairs.nodes, forces, blocks, energy)

    def _pairs(self, rows: PointRows) -> NodePairs:
        """Return the pairs of nodes of these rows' joints: the last ones where nodes and weights are the same arrays.
        """
        known = self._paired
        if known is None or known[0] is not rows.nodes or known[1] is not rows.weights:
            self._paired = known = rows.nodes, rows.weights, NodePairs.of(rows)
        return known[2]

    def _bending(self, rows: PointRows, multiplier: Vec, k: float, project: bool) -> Vec:
        """Return ∂²E/∂y∂y of each joint with its sign changed, (m, 3, 3) [N/m]."""
        works = np.where(rows.one_sided & (multiplier <= 0.0), 0.0, k)
        tension = multiplier
        if project:
            last = np.zeros(len(multiplier)) if self._last is None else self._last[: len(multiplier)]
            known = last if self._expected is None else self._expected
            tension = np.where(works > 0.0, np.maximum(known, 0.0), 0.0)
        out = -rows.curvature(tension)
        np.add.at(out, rows.joint, -works[:, None, None] * rows.direction[:, :, None] * rows.direction[:, None, :])
        return out


def select_rows(rows: PointRows, which: Index) -> PointRows:
    """Return the rows with these numbers, (k,)."""
    return replace(rows, joint=rows.joint[which], value=rows.value[which], direction=rows.direction[which],
                   bend=rows.bend[which], one_sided=rows.one_sided[which])
