"""Condensation of bodies of different methods that touch each other.

A linearised stage knows each body alone, the others fixed where they are, so a stage in contact is solved. A solved
stage has the positions of all bodies in one sparse matrix: velocities of a body follow its positions by its own V, the
identity where every node is dynamic, so bodies exchange momentum by their contact forces alone. Stages without contact
are solved that way as well: sweeps on a reused factor, which ConJac alone has, lower no energy, and with the error that
they leave a sheet of 32 g gained .13 J within 9 steps of Quick.
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
    """Condensation of bodies of different methods that touch each other."""

    def __init__(self, mesh: Mesh, slices: Sequence[BlockSlice], linear: LinearSolver) -> None:
        """Make the condensation of each slice. mesh, slices: as in `BlockCondensation`. linear: solver of a matrix of
        all nodes."""
        super().__init__(mesh, slices)
        self.linear = linear

    @property
    def at_once(self) -> MixedMethods:
        """Return the condensation itself, which has all bodies in one equilibrium."""
        return self

    def join_members(self, lin: Linearised, stage: NodeStage, each: Sequence[PosedNodes]) -> PosedMixed:
        """Return the stage of all bodies. each: the posed stages of the members, in their order."""
        return PosedMixed(self, lin, stage, each)

    def inertia(self, lin: Linearised, stage: NodeStage, is_coupled: bool, carried: Vec | None = None) -> _Inertia:
        """Return the inertia of positions of all bodies: the sum of their own, and the damping between bodies. Raises
        NotPositiveDefinite. Parameters as in `Balancing.inertia`."""
        lin, between = self._split_damping(lin)

        def of(one: Member) -> PositionInertia:
            own = None if carried is None else one.attached[:, None, None] * carried
            return one.condensation.inertia(lin, one.stage(stage), is_coupled, own)

        return _Inertia(self.members, [of(member) for member in self.members], between, stage, self.mesh)

    def _split_damping(self, lin: Linearised) -> tuple[Linearised, Damped | None]:
        """Return the linearisation without damping between bodies of different members, and that damping alone."""
        damped = lin.damped
        if damped is None or damped.between is None:
            return lin, None
        owner = np.full(len(self.mesh.rest), -1)
        for k, member in enumerate(self.members):
            owner[member.nodes] = k
        nodes, blocks = damped.between
        last = owner[nodes].max(axis=1)
        joins = ((owner[nodes] >= 0) & (owner[nodes] < last[:, None])).any(axis=1)
        own = None if joins.all() else (nodes[~joins], blocks[~joins])
        separate = replace(damped, blocks=None, node_blocks=None, between=(nodes[joins], blocks[joins]))
        return replace(lin, damped=replace(damped, between=own)), separate if joins.any() else None


class _Inertia:
    """Inertia of positions of all members; that of each is zero at nodes of the others."""

    def __init__(self, members: Sequence[Member], each: Sequence[PositionInertia], between: Damped | None,
                 stage: NodeStage, mesh: Mesh) -> None:
        """Add up the inertia of each member. between: damping between members, whose −a h D is part of A; None without
        any."""
        self._each, self._between, self._ah = each, between, stage.a * stage.h
        self._moving = np.zeros_like(mesh.rest)  #: w
        if stage.w is not None:
            self._moving[mesh.coordinates.prescribed] = stage.w
        self.carried: Vec = np.sum([inertia.carried for inertia in each], axis=0)
        self.regularisation_mass = np.zeros_like(each[0].regularisation_mass)
        for member, inertia in zip(members, each):
            self.regularisation_mass[member.nodes] = inertia.regularisation_mass[member.nodes]

    @property
    def columns(self) -> None:
        """Return None: each body has columns of its own, and one whose nodes are all dynamic as many as it has nodes.
        """

    def energy(self, v: Vec) -> tuple[Vec, float]:
        """Return the derivative, (n, 3) [N s], and value [J] of this energy at rates of positions v, (n, 3) [m/s]."""
        slope, value = np.zeros_like(v), 0.0
        for inertia in self._each:
            its, more = inertia.energy(v)
            slope, value = slope + its, value + more
        if self._between is not None:
            velocities = self.velocities(v) + self._moving
            impulse = self._damping_impulse(velocities)[:, :, None]
            slope = slope + self.project_loads(impulse)[:, :, 0]
            value += 0.5 * float(np.vdot(velocities, impulse))
        return slope, value

    def _damping_impulse(self, columns: Vec) -> Vec:
        """Return −a h D, D the damping between members, times columns, both (n, 3) or (n, 3, c)."""
        assert self._between is not None
        out: Vec = -self._ah * self._between.multiply(columns.reshape(*columns.shape[:2], -1)).reshape(columns.shape)
        return out

    def _sum(self, evaluate: Callable[[PositionInertia], Vec]) -> Vec:
        out: Vec = np.sum([evaluate(inertia) for inertia in self._each], axis=0)
        return out

    def times(self, v: Vec) -> Vec:
        """Return the curvature Cᵀ A C times rates of positions v, both (n, 3) or (n, 3, c)."""
        own = self._sum(lambda one: one.times(v))
        if self._between is None:
            return own
        columns = v.reshape(*v.shape[:2], -1)
        return own + self.project_loads(self._damping_impulse(self.following(columns))).reshape(v.shape)

    def following(self, columns: Vec) -> Vec:
        """Return velocities V C that follow rates of positions, both (n, 3, c)."""
        return self._sum(lambda one: one.following(columns))

    def project_loads(self, loads: Vec) -> Vec:
        """Return generalised forces (V C)ᵀ f on rates of positions, by loads f on all nodes, both (n, 3, c)."""
        return self._sum(lambda one: one.project_loads(loads))

    def velocities(self, v: Vec, rates: Vec | None = None) -> Vec:
        """Return velocities V u + F, (n, 3) [m/s], at rates of positions v, (n, 3) [m/s]; zero on prescribed nodes.
        rates: of the joints, (c,)."""
        return self._sum(lambda one: one.velocities(v, rates))


@dataclass(frozen=True)
class PosedMixed(PosedBlocks):
    """Stage of bodies of different methods, each posed with the others fixed where they are."""

    @property
    def balances(self) -> bool:
        """Whether positions of any member depend on the unknowns otherwise than its velocities do."""
        return any(posed.balances for posed in self.posed)

    def with_static_friction(self, friction: StaticFriction, x: Vec) -> PosedMixed:
        """Return the stage with static friction of the ground on quasistatic nodes of the members that have some, at
        positions x, (n, 3) [m]. Raises NotPositiveDefinite."""
        return replace(self, posed=[posed.with_static_friction(friction, x) if posed.balances else posed
                                    for posed in self.posed])

    def relax(self, q: Vec, u: Vec, evaluate: Evaluate, corrections: int | None = None,
              carrier_motion: CarrierMotion | None = None) -> Vec:
        """Return coordinates nearer to equilibrium, (3 f,), as `PosedNodes.relax`: bodies are relaxed in turn, each
        with the others at their latest positions."""
        coordinates, settled = self.owner.mesh.coordinates, q.copy()
        for member, posed in zip(self.owner.members, self.posed):
            x = coordinates.positions(settled, self.stage.time, carrier_motion)

            def among(own_x: Vec, time: float, member: Member = member, x: Vec = x) -> tuple[Vec, float]:
                x[member.nodes] = own_x[member.nodes]
                return evaluate(x, time)

            settled[member.coordinates] = posed.relax(q[member.coordinates], u[member.coordinates], among, corrections,
                                                   carrier_motion)
        return settled
