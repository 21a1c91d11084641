"""What acts on rates directly in a stage of joints: R and r, on the rates of one joint or between those of several."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...coordinates.tree import Posture, Tree
from ...forces.joint_forces import JointForces
from ...forces.rate_blocks import RateBlocks, RateLaw
from ...state import Index, Vec


class OnRates:
    """R = M − a h D − β a b h² K and r = M û + a h (f + K moved). Its arrays are kept and written anew in each stage.

    What springs, dampers and motors of joints say, and any other law, stands in one table: blocks of single joints go
    into the tree's own elimination, what couples several joints is a dense block on their rates.
    """

    def __init__(self, tree: Tree, joints: JointForces, laws: Sequence[tuple[RateLaw, Index]] = ()) -> None:
        """joints: springs, dampers and motors. laws: others, and the rates (k,) that each is on."""
        self.joints, self.laws, self._tree = joints, laws, tree
        self.force: Vec = np.zeros(tree.rates)  #: r
        self.own: Vec = np.zeros((tree.count, 6, 6))  #: R of the joint above each body, in the upper left corner
        owner = np.repeat(np.arange(tree.count, dtype=np.int32), np.diff(tree.dof))
        #: below joints that something acts on
        self.bodies: Index = np.unique(np.concatenate([joints.bodies, *(owner[rates] for _, rates in laws)])
                                       ).astype(np.int32)
        self._inside = [owner[rates[0]] if len(np.unique(owner[rates])) == 1 else None for _, rates in laws]
        between = [rates for (_, rates), inside in zip(laws, self._inside) if inside is None]
        self.coupled: Index = np.unique(np.concatenate([np.zeros(0, np.int32), *between])).astype(np.int32)
        self.coupling: Vec = np.zeros((len(self.coupled), len(self.coupled)))  #: R on the coupled rates

    def weigh(self, at: Posture, q: Vec, u: Vec, centres: Vec, time: float, asked: float, moved: Vec | None,
              share: float, ahead: float, felt: float, kept: Vec | None) -> None:
        """Fill both where joints stand at q and u, (m,); asked: when motors are at work.

        share: a h. ahead: β a b h². felt: whether f has the damping, 1 or 0. kept: û; None where r has no inertia.
        """
        if self.laws:
            self.force[:], self.own[:], self.coupling[:] = 0.0, 0.0, 0.0
        if len(self.joints.bodies):
            self.joints.at(time, asked)
            self.joints.add(at, q, u, centres, moved, share, ahead, felt, self.force, self.own)
        for (law, rates), inside in zip(self.laws, self._inside):
            said = law.blocks(self.joints.readings(q, centres)[rates], u[rates], time)
            force = said.force.copy()
            if said.stiffness is not None and moved is not None:
                force += said.stiffness @ moved[rates]
            if said.damping is not None:
                force += felt * (said.damping @ u[rates])
            self.force[rates] += share * force
            if said.mass is not None and kept is not None:
                self.force[rates] += said.mass @ kept[rates]
            self._put(rates, inside, _weighed(said, share, ahead))

    def weigh_inertia(self, q: Vec, u: Vec, centres: Vec, time: float) -> None:
        """R = M, for what impulses change at once."""
        self.own[:], self.coupling[:] = 0.0, 0.0
        for (law, rates), inside in zip(self.laws, self._inside):
            said = law.blocks(self.joints.readings(q, centres)[rates], u[rates], time)
            self._put(rates, inside, _weighed(said, 0.0, 0.0))

    def _put(self, rates: Index, inside: int | None, block: Vec) -> None:
        if inside is None:
            rows = np.searchsorted(self.coupled, rates)
            self.coupling[np.ix_(rows, rows)] += block
        else:
            rows = rates - self._tree.dof[inside]
            self.own[inside][np.ix_(rows, rows)] += block

    def times(self, u: Vec) -> Vec:
        """R u, (m,)."""
        out, dof = np.zeros(len(u)), self._tree.dof
        rates = np.diff(dof)
        for count in np.unique(rates[rates > 0]) if len(self.bodies) else ():
            joints = np.flatnonzero(rates == count)
            entries = dof[joints][:, None] + np.arange(count)
            out[entries] = np.matmul(self.own[joints, :count, :count], u[entries][:, :, None])[:, :, 0]
        out[self.coupled] += self.coupling @ u[self.coupled]
        return out

    def energy(self, q: Vec, u: Vec, centres: Vec, time: float) -> float:
        """Of springs, of laws and of the motion of what only they know [J]."""
        total = self.joints.energy(q, centres)
        for law, rates in self.laws:
            said = law.blocks(self.joints.readings(q, centres)[rates], u[rates], time)
            total += said.energy + (0.0 if said.mass is None else 0.5 * float(u[rates] @ said.mass @ u[rates]))
        return total


def _weighed(said: RateBlocks, share: float, ahead: float) -> Vec:
    block = np.zeros((len(said.force), len(said.force)))
    for factor, part in ((1.0, said.mass), (-share, said.damping), (-ahead, said.stiffness)):
        if part is not None:
            block += factor * part
    return block
