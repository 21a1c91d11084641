"""Joint limits: one-sided rows on the rates of joints that are near the end of their range."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..coordinates.joints.rotations import jacobian, logarithm, product, quaternion
from ..coordinates.tree import Tree
from ..state import Index, Vec
from .rows import Rows, on_bodies, on_rates

NEAR = 0.02  #: [rad, m] from a limit there is a row whatever the speed
RETURN_TIME = 0.1  #: [s] in which a joint outside its limits is pulled in …
INWARD = 1.0  #: [rad/s, m/s] … but no faster


@dataclass(frozen=True)
class JointLimits:
    """Limits of l rates whose coordinates are angles or lengths: of hinges and sliders, not of ball joints."""

    rate: Index  #: (l,)
    low: Vec  #: [rad, m], −∞ for none, (l,)
    high: Vec  #: [rad, m], ∞ for none, (l,)

    @classmethod
    def of(cls, tree: Tree, low: Vec, high: Vec) -> JointLimits:
        """Return the limits of all rates of which at least one side is finite. low, high: (m,) [rad, m]."""
        limited = np.isfinite(low) | np.isfinite(high)
        for batch in tree.batches:
            if batch.centres.shape[1]:
                limited[batch.entries[:, :3]] = False
        rate = np.flatnonzero(limited).astype(np.int32)
        return cls(rate, low[rate], high[rate])

    def __len__(self) -> int:
        return len(self.rate)

    def outside(self, q: Vec) -> Index:
        """Return the rates whose limits are passed at coordinates q (m,), ascending."""
        coordinate = q[self.rate]
        passed: Index = self.rate[(coordinate < self.low) | (coordinate > self.high)]
        return passed

    def rows(self, q: Vec, u: Vec, base: Vec, lookahead: float) -> Rows:
        """Return one-sided rows of the rates that are near their limits at q; with their targets q = base + ahead u
        stays within the limits, or returns to them.

        q, base: (m,) [rad, m]. u: (m,) [rad/s, m/s]. lookahead: [s].
        """
        coordinate, within = q[self.rate], NEAR + 2.0 * lookahead * np.abs(u[self.rate])
        below, above = np.flatnonzero(coordinate - self.low < within), np.flatnonzero(self.high - coordinate < within)
        of = np.concatenate([below, above]).astype(np.int32)
        factor = np.repeat([1.0, -1.0], [len(below), len(above)])
        distance = factor * base[self.rate[of]] - np.concatenate([self.low[below], -self.high[above]])
        return on_rates(self.rate[of], factor, _target(distance, lookahead), of)


@dataclass(frozen=True)
class BallLimits:
    """Limits of b joints whose first three coordinates are a rotation: bounds on the components of its rotation vector
    r."""

    rate: Index  #: first rate of each joint, (b,)
    body: Index  #: below and above the joint, (b, 2)
    centre: Index  #: indices of the chart's centre in the memory's array, (b, 4)
    moving_frame: Vec  #: the joint's moving frame in the child's body frame, (b, 3, 3)
    low: Vec  #: [rad], −∞ for none, (b, 3)
    high: Vec  #: [rad], ∞ for none, (b, 3)

    @classmethod
    def of(cls, tree: Tree, low: Vec, high: Vec) -> BallLimits:
        """Return the limits of all ball joints of which at least one side of a component is finite. low, high: (m,)
        [rad]."""
        rate, body, centre = np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros((0, 4), np.int32)
        for batch in tree.batches:
            if batch.centres.shape[1]:
                rate, body = np.append(rate, batch.entries[:, 0]), np.append(body, batch.bodies)
                centre = np.concatenate([centre, batch.centres])
        each = rate[:, None] + np.arange(3)
        limited = (np.isfinite(low[each]) | np.isfinite(high[each])).any(axis=1)
        rate, body, centre, each = rate[limited], body[limited], centre[limited], each[limited]
        return cls(rate, np.stack([body, tree.parent[body]], axis=1), centre, tree.in_child[body, :3, :3], low[each],
                   high[each])

    def __len__(self) -> int:
        return len(self.rate)

    def outside(self, q: Vec, centres: Vec) -> Index:
        """Return the first rates of the joints that have passed a limit at coordinates q (m,), ascending; centres: of
        the charts, (s,)."""
        r = self._read(q, centres)[0]
        passed: Index = np.sort(self.rate[((r < self.low) | (r > self.high)).any(axis=1)])
        return passed

    def rows(self, q: Vec, u: Vec, base: Vec, lookahead: float, centres: Vec, X: Vec) -> Rows:
        """Return one-sided rows of the joints that are near their limits, with the targets of `JointLimits.rows`:
        torques on both bodies that do work on one component of r alone.

        q, base: (m,) [rad, m]. u: (m,) [rad/s, m/s]. lookahead: [s]. centres: of the charts, (s,). X: of the posture,
        (n, 6, 6).
        """
        r, slope, chart = self._read(q, centres)
        each = self.rate[:, None] + np.arange(3)
        along = slope @ chart
        rate, moved = ((along @ vector[each][:, :, None])[:, :, 0] for vector in (u, base - q))
        within = NEAR + 2.0 * lookahead * np.abs(rate)
        below, above = np.nonzero(r - self.low < within), np.nonzero(self.high - r < within)
        joint, part = (np.concatenate(pair) for pair in zip(below, above))
        factor = np.repeat([1.0, -1.0], [len(below[0]), len(above[0])])
        distance = factor * (r + moved)[joint, part] - np.concatenate([self.low[below], -self.high[above]])
        # ṙ = slope ω, ω in the moving frame
        torque = np.einsum("k,kab,kb->ka", factor, self.moving_frame[joint], slope[joint, part])
        wrench = np.zeros((len(joint), 2, 6))
        wrench[:, 0, :3] = torque
        wrench[:, 1, :3] = -np.einsum("kab,ka->kb", X[self.body[joint, 0], :3, :3], torque)
        return on_bodies(self.body[joint], wrench, _target(distance, lookahead), joint)

    def _read(self, q: Vec, centres: Vec) -> tuple[Vec, Vec, Vec]:
        """Return r, at most half a turn, (b, 3); ∂r/∂ω, (b, 3, 3), with ω in the moving frame; ω of the chart's rates,
        (b, 3, 3)."""
        chart = q[self.rate[:, None] + np.arange(3)]
        r = logarithm(product(centres[self.centre], quaternion(chart)))
        return r, np.linalg.inv(jacobian(r)), jacobian(chart)


def _target(distance: Vec, lookahead: float) -> Vec:
    """Return the least speeds inward, (r,), with this room [rad, m], negative outside, after `lookahead` [s]."""
    inward = np.minimum(-distance / max(lookahead, RETURN_TIME), INWARD)
    target: Vec = np.where(distance < 0.0, inward, -distance / lookahead)
    return target
