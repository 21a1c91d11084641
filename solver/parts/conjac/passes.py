"""Quasi-Newton passes over a stage that ConJac has condensed, on a factor of a moment nearby.

At the root of a stage positions x balance, velocities v follow the dynamic unknowns, and momentum changes by forces.
With Π what is quasistatic, m = M (v − v̂) − a h (f(x) + D v) and V the velocities of the reduced unknowns,

    Π (f(x) − M a) = 0,   Π K(x) v = 0,   Π (m − K(x) p) = 0,   Ṽᵀ (m − K(x) p) = 0

for any Ṽ near V that moves the dynamic unknowns alike: p [m s], zero along them, stands for what K⁻¹ does to m, so that
no J has to be made anew where the body has turned a little. A pass asks for K at the last iterate in products only, and
costs one solve of three columns.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.linalg

from ...assembly.linearised import Linearised
from ...state import State, Vec
from ..interface import NodeStage
from .posed import PosedConJac

#: a factor serves until an edge has changed by this share of its length, turning included: from there on the passes
#: that it takes more cost as much as a new one
NEAR = 0.2


class Passes:
    """On the factor of one posed stage, for stages of the same inertia and β a b h²."""

    def __init__(self, posed: PosedConJac) -> None:
        self.posed, self._order, self._stamp = posed, posed.owner.pattern.order, posed.owner.linear.factored
        self._velocities = posed.velocities()  #: Ṽ, (3 (q + k), r)
        self._positions = self._velocities if posed.positions is None else posed.positions
        self._slope = None
        if len(posed.reduced):
            self._slope = scipy.linalg.lu_factor(posed.reduced if posed.slope is None else posed.slope)

    @property
    def serves_contacts(self) -> bool:
        """Whether velocities can follow as if nothing touched."""
        return self.posed.untouched is not None

    def serves(self, x: Vec, stage: NodeStage, start: State) -> bool:
        """Whether its factor is there still, for such a stage near x, and those are dynamic who are so now."""
        posed, owner = self.posed, self.posed.owner
        mine = posed.stage
        same = stage.inertia == mine.inertia and stage.stiffness_factor == mine.stiffness_factor
        if not same or owner.linear.factored != self._stamp or owner.hold_of(start.memory) is not posed.hold:
            return False
        return owner.edges.largest_change(x - posed.lin.x) <= NEAR

    def change(self, lin: Linearised, stage: NodeStage, p: Vec) -> Vec:
        """What a pass changes in x − b h v, b h v and p, x and v those of `lin`, (3, n, 3) [m], [m], [m s].

        lin: with the true K. [ConJac 11, changed: iterated on one factor]
        """
        owner, order = self.posed.owner, self._order
        inert = stage.inertia * lin.mass[:, None]
        bare = lin if lin.untouched is None else replace(lin, node_blocks=lin.untouched)
        pulled, felt = owner.loads.products(bare, np.stack([lin.v, p]))
        lost, reached = lin.v - stage.v_hat, stage.b * stage.h
        momentum = inert * lost - stage.a * stage.h * lin.force
        if lin.damped is not None:
            momentum -= stage.a * stage.h * lin.damped.force(lin.v)
        left = momentum - felt

        followed = self._balance_velocities(np.stack([pulled, -left], axis=2))
        # what the changes of v and x do to m
        given = left[order].ravel() + np.repeat(inert[order, 0], 3) * followed[:, 0]
        ahead = self._velocities.T @ given
        if self._positions is not self._velocities:
            unbalanced = lin.force - self._carried(lin, stage, lin.v)
            ahead += stage.a * stage.h * (self._velocities - self._positions).T @ unbalanced[order].ravel()
        change = np.zeros(len(ahead)) if self._slope is None else -scipy.linalg.lu_solve(self._slope, ahead)

        v = followed[:, 0] + self._velocities @ change
        faster = lin.v.copy()
        faster[order] += v.reshape(-1, 3)
        unbalanced = lin.force - self._carried(lin, stage, faster)
        x = owner.balance(self.posed, unbalanced[:, :, None])[0][:, 0] + reached * self._positions @ change
        changed = np.stack([x - reached * v, reached * v, followed[:, 1]], axis=1)
        out: Vec = np.zeros((3, *lin.x.shape))
        out[:, order] = changed.T.reshape(3, -1, 3)
        return out

    def _balance_velocities(self, loads: Vec) -> Vec:
        """−K⁻¹ of loads (n, 3, c) across the dynamic unknowns, as if nothing touched, (3 (q + k), c)."""
        alone = self.posed.untouched
        return self.posed.owner.balance(self.posed, loads)[0] if alone is None else alone(loads)

    def _carried(self, lin: Linearised, stage: NodeStage, v: Vec) -> Vec:
        """M a, a the rigid part of what velocities v (n, 3) have lost of v̂ a second, (n, 3) [N]."""
        frames = self.posed.owner.frames
        if not self.posed.frames:
            return np.zeros_like(v)
        return frames.inertia(frames.at(lin.x), lin.mass, stage.acceleration(lin, v))
