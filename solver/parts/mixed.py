"""Bodies of different methods that touch each other, each condensed by itself as long as nothing meets.

A stage that is linearised knows of each body alone, its partners where they stand: where surfaces touch it is solved. A
stage that is solved is one of all positions, with one sparse matrix: each body's velocities follow its positions by a V
of its own, the identity where every node moves on its own, so momentum is handed on by the forces alone that two share.
That stage is also one of what flies: passes on a kept factor, which serve ConJac alone, lower no energy, and with what
they leave over a sheet of 32 g gained .13 J within 9 steps of Quick.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..assembly.damping import Damped
from ..assembly.linearised import Linearised
from ..contact.laws.static_friction import StaticFriction
from ..linear.interface import LinearSolver
from ..state import CarrierMotion, Vec
from .block_condensation import BlockCondensation, BlockSlice, Member, PosedBlocks
from .interface import Evaluate, Mesh, PosedNodes, PositionInertia
from .stage import NodeStage


class MixedMethods(BlockCondensation):
    """A condensation of all of them."""

    def __init__(self, mesh: Mesh, shares: Sequence[BlockSlice], linear: LinearSolver) -> None:
        """mesh, shares: as those of Apart. linear: as one of all nodes would be."""
        super().__init__(mesh, shares)
        self.linear = linear

    @property
    def at_once(self) -> MixedMethods:
        return self

    def posed(self, lin: Linearised, stage: NodeStage, each: Sequence[PosedNodes]) -> PosedMixed:
        """A stage that each of them has posed."""
        return PosedMixed(self, lin, stage, each)

    def inertia(self, lin: Linearised, stage: NodeStage, is_coupled: bool, carried: Vec | None = None) -> _Inertia:
        """The sum of theirs, and of what damps between them. Raises NotPositiveDefinite."""
        lin, between = self._parted(lin)

        def of(one: Member) -> PositionInertia:
            own = None if carried is None else one.attached[:, None, None] * carried
            return one.condensation.inertia(lin, one.stage(stage), is_coupled, own)

        return _Inertia(self.members, [of(one) for one in self.members], between, stage, self.mesh)

    def _parted(self, lin: Linearised) -> tuple[Linearised, Damped | None]:
        """Return the linearisation without damping between bodies of different members, and that damping alone."""
        damped = lin.damped
        if damped is None or damped.between is None:
            return lin, None
        owner = np.full(len(self.mesh.rest), -1)
        for k, one in enumerate(self.members):
            owner[one.nodes] = k
        nodes, blocks = damped.between
        last = owner[nodes].max(axis=1)
        joins = ((owner[nodes] >= 0) & (owner[nodes] < last[:, None])).any(axis=1)
        own = None if joins.all() else (nodes[~joins], blocks[~joins])
        apart = replace(damped, blocks=None, node_blocks=None, between=(nodes[joins], blocks[joins]))
        return replace(lin, damped=replace(damped, between=own)), apart if joins.any() else None


class _Inertia:
    """Inertia of the positions of all members, each zero at the nodes of others."""

    def __init__(self, members: Sequence[Member], each: Sequence[PositionInertia], between: Damped | None,
                 stage: NodeStage, mesh: Mesh) -> None:
        """between: what damps between those, −a h D of which is part of A."""
        self._each, self._between, self._share = each, between, stage.a * stage.h
        self._moving = np.zeros_like(mesh.rest)  #: w
        if stage.w is not None:
            self._moving[mesh.coordinates.prescribed] = stage.w
        self.carried: Vec = np.sum([one.carried for one in each], axis=0)
        self.regularisation_mass = np.zeros_like(each[0].regularisation_mass)
        for member, one in zip(members, each):
            self.regularisation_mass[member.nodes] = one.regularisation_mass[member.nodes]

    @property
    def columns(self) -> None:
        """Bodies have them each for itself, and those that move node by node as many as nodes."""

    def energy(self, v: Vec) -> tuple[Vec, float]:
        """Its slope, (n, 3) [N s], and value [J] at rates of positions v, (n, 3) [m/s]."""
        slope, value = np.zeros_like(v), 0.0
        for one in self._each:
            its, more = one.energy(v)
            slope, value = slope + its, value + more
        if self._between is not None:
            velocities = self.velocities(v) + self._moving
            impulse = self._damping_impulse(velocities)[:, :, None]
            slope = slope + self.generalised_force(impulse)[:, :, 0]
            value += 0.5 * float(np.vdot(velocities, impulse))
        return slope, value

    def _damping_impulse(self, columns: Vec) -> Vec:
        """−a h D of what damps between them times columns, both (n, 3) or (n, 3, c)."""
        assert self._between is not None
        out: Vec = -self._share * self._between.multiply(columns.reshape(*columns.shape[:2], -1)).reshape(columns.shape)
        return out

    def _sum(self, ask: Callable[[PositionInertia], Vec]) -> Vec:
        out: Vec = np.sum([ask(one) for one in self._each], axis=0)
        return out

    def times(self, v: Vec) -> Vec:
        """Cᵀ A C of rates of positions, both (n, 3) or (n, 3, c)."""
        own = self._sum(lambda one: one.times(v))
        if self._between is None:
            return own
        columns = v.reshape(*v.shape[:2], -1)
        return own + self.generalised_force(self._damping_impulse(self.following(columns))).reshape(v.shape)

    def following(self, columns: Vec) -> Vec:
        """V C of rates of positions, both (n, 3, c)."""
        return self._sum(lambda one: one.following(columns))

    def generalised_force(self, loads: Vec) -> Vec:
        """Return (V C)ᵀ times loads on all nodes, both (n, 3, c)."""
        return self._sum(lambda one: one.generalised_force(loads))

    def velocities(self, v: Vec, rates: Vec | None = None) -> Vec:
        """V u + F of rates of positions v, both (n, 3) [m/s]: zero on prescribed nodes. rates: of the joints, (c,)."""
        return self._sum(lambda one: one.velocities(v, rates))


@dataclass(frozen=True)
class PosedMixed(PosedBlocks):
    """A stage of all of them, each with the others where they stand."""

    @property
    def balances(self) -> bool:
        return any(posed.balances for posed in self.posed)

    def static_friction(self, grip: StaticFriction, x: Vec) -> PosedMixed:
        return replace(self, posed=[posed.static_friction(grip, x) if posed.balances else posed
                                    for posed in self.posed])

    def relax(self, q: Vec, u: Vec, evaluate: Evaluate, corrections: int | None = None,
              carrier_motion: CarrierMotion | None = None) -> Vec:
        """Each after the other, with the others where they are by then."""
        coordinates, settled = self.owner.mesh.coordinates, q.copy()
        for one, posed in zip(self.owner.members, self.posed):
            x = coordinates.positions(settled, self.stage.time, carrier_motion)

            def among(mine: Vec, time: float, one: Member = one, x: Vec = x) -> tuple[Vec, float]:
                x[one.nodes] = mine[one.nodes]
                return evaluate(x, time)

            settled[one.coordinates] = posed.relax(q[one.coordinates], u[one.coordinates], among, corrections,
                                                   carrier_motion)
        return settled
