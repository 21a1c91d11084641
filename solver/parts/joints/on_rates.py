"""Forces on rates in a stage of joints, R and r, which act on the rates of one joint or couple those of several."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...coordinates.tree import Posture, Tree
from ...forces.joint_forces import JointForces
from ...forces.rate_blocks import RateBlocks, RateLaw
from ...state import Index, Vec


class OnRates:
    """R = M − a h D − β a b h² K and r = M û + a h (f + K moved) of laws on rates. Arrays are overwritten in each
    stage.

    Springs, dampers and motors of joints, and any other law, are in one table: blocks of single joints enter the tree's
    elimination, couplings of several joints are a dense block on their rates.
    """

    def __init__(self, tree: Tree, joints: JointForces, laws: Sequence[tuple[RateLaw, Index]] = ()) -> None:
        """joints: springs, dampers and motors. laws: other laws, each with the rates (k,) on which it acts."""
        self.joints, self.laws, self._tree = joints, laws, tree
        self.force: Vec = np.zeros(tree.rates)  #: r
        self.own: Vec = np.zeros((tree.count, 6, 6))  #: R of the joint above each body, in the upper left corner
        owner = np.repeat(np.arange(tree.count, dtype=np.int32), np.diff(tree.dof))
        #: bodies below joints on which a law acts
        self.bodies: Index = np.unique(np.concatenate([joints.bodies, *(owner[rates] for _, rates in laws)])
                                       ).astype(np.int32)
        self._inside = [owner[rates[0]] if len(np.unique(owner[rates])) == 1 else None for _, rates in laws]
        between = [rates for (_, rates), inside in zip(laws, self._inside) if inside is None]
        self.coupled: Index = np.unique(np.concatenate([np.zeros(0, np.int32), *between])).astype(np.int32)
        self.coupling: Vec = np.zeros((len(self.coupled), len(self.coupled)))  #: R on the coupled rates

    def weigh(self, at: Posture, q: Vec, u: Vec, centres: Vec, time: float, motor_time: float, moved: Vec | None,
              ah: float, stiffness_factor: float, damping_scale: float, u_hat: Vec | None) -> None:
        """Fill R and r for joints at coordinates q and rates u, (m,). motor_time: at which motors are evaluated [s].

        moved: displacement from the point of linearisation to the stage's base, (m,); None for none. ah: a h.
        stiffness_factor: β a b h². damping_scale: 1 where f includes damping, else 0. u_hat: û; None where r has no
        inertia.
        """
        if self.laws:
            self.force[:], self.own[:], self.coupling[:] = 0.0, 0.0, 0.0
        if len(self.joints.bodies):
            self.joints.at(time, motor_time)
            self.joints.add(at, q, u, centres, moved, ah, stiffness_factor, damping_scale, self.force, self.own)
        for (law, rates), inside in zip(self.laws, self._inside):
            law_blocks = law.blocks(self.joints.readings(q, centres)[rates], u[rates], time)
            force = law_blocks.force.copy()
            if law_blocks.stiffness is not None and moved is not None:
                force += law_blocks.stiffness @ moved[rates]
            if law_blocks.damping is not None:
                force += damping_scale * (law_blocks.damping @ u[rates])
            self.force[rates] += ah * force
            if law_blocks.mass is not None and u_hat is not None:
                self.force[rates] += law_blocks.mass @ u_hat[rates]
            self._put(rates, inside, _weigh_blocks(law_blocks, ah, stiffness_factor))

    def weigh_inertia(self, q: Vec, u: Vec, centres: Vec, time: float) -> None:
        """Fill R = M, the inertia of laws on rates alone, for velocity changes by impulses."""
        self.own[:], self.coupling[:] = 0.0, 0.0
        for (law, rates), inside in zip(self.laws, self._inside):
            law_blocks = law.blocks(self.joints.readings(q, centres)[rates], u[rates], time)
            self._put(rates, inside, _weigh_blocks(law_blocks, 0.0, 0.0))

    def _put(self, rates: Index, inside: int | None, block: Vec) -> None:
        if inside is None:
            rows = np.searchsorted(self.coupled, rates)
            self.coupling[np.ix_(rows, rows)] += block
        else:
            rows = rates - self._tree.dof[inside]
            self.own[inside][np.ix_(rows, rows)] += block

    def times(self, u: Vec) -> Vec:
        """Return R u, (m,)."""
        out, dof = np.zeros(len(u)), self._tree.dof
        rates = np.diff(dof)
        for count in np.unique(rates[rates > 0]) if len(self.bodies) else ():
            joints = np.flatnonzero(rates == count)
            entries = dof[joints][:, None] + np.arange(count)
            out[entries] = np.matmul(self.own[joints, :count, :count], u[entries][:, :, None])[:, :, 0]
        out[self.coupled] += self.coupling @ u[self.coupled]
        return out

    def energy(self, q: Vec, u: Vec, centres: Vec, time: float) -> float:
        """Return the energy of springs and laws, and the kinetic energy of the mass of laws [J]."""
        total = self.joints.energy(q, centres)
        for law, rates in self.laws:
            law_blocks = law.blocks(self.joints.readings(q, centres)[rates], u[rates], time)
            total += law_blocks.energy + (0.0 if law_blocks.mass is None
                                          else 0.5 * float(u[rates] @ law_blocks.mass @ u[rates]))
        return total


def _weigh_blocks(law_blocks: RateBlocks, ah: float, stiffness_factor: float) -> Vec:
    block = np.zeros((len(law_blocks.force), len(law_blocks.force)))
    for factor, part in ((1.0, law_blocks.mass), (-ah, law_blocks.damping), (-stiffness_factor, law_blocks.stiffness)):
        if part is not None:
            block += factor * part
    return block
