"""Condensation of bodies that act on each other through bones alone: each is condensed by itself, on its own factor.

The matrix of all bodies is block diagonal. One J of all of them would be a dense array, mostly of zeros, that grows
with the square of their number. Each body may have a method of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from ..assembly.linearised import Linearised
from ..coordinates.floating import FloatingParts
from ..coordinates.free_nodes import SomeFreeNodes
from ..linear.interface import LinearSolver
from ..state import CarrierMotion, Index, Vec
from .interface import Balancing, Compliance, Eliminated, Evaluate, Mesh, NoQuasistatic, PosedNodes
from .stage import NodeStage, NoJoints, Stage


@dataclass(frozen=True)
class BlockSlice:
    """Bodies that are condensed together by one method, with its parameters and linear solver."""

    make: type[Balancing]
    params: dict[str, float]  #: of the method
    nodes: Index  #: of these bodies, ascending
    linear: LinearSolver


@dataclass(frozen=True)
class Member:
    """Bodies with a condensation of their own, and their numbers among all nodes and coordinates."""

    condensation: Balancing
    nodes: Index  #: of its bodies, ascending
    coordinates: Index  #: of its free nodes, numbers among all coordinates, (3 f_k,)
    attached: Vec  #: 1 at prescribed nodes that are its own, 0 elsewhere, (p,)

    def stage(self, stage: NodeStage) -> NodeStage:
        """Return the stage with the base coordinates of this member alone."""
        return stage if stage.base is None else replace(stage, base=stage.base[self.coordinates])


class BlockCondensation:
    """Condensation of several groups of bodies, each on its own factor."""

    sleep = None  #: refused where joints carry nodes
    whole = sweeps = None

    def __init__(self, mesh: Mesh, slices: Sequence[BlockSlice]) -> None:
        """Make the condensation of each slice. mesh: of all bodies. slices: slices that together contain each node
        once; β is the same in all."""
        prescribed = mesh.coordinates.prescribed
        self.floating = FloatingParts(mesh.rest, mesh.parts, prescribed)
        self.mesh, self.members = mesh, list[Member]()
        for block in slices:
            nodes = block.nodes
            own = replace(mesh, coordinates=SomeFreeNodes(mesh.coordinates, nodes, mesh.rest),
                          parts=[part for part in mesh.parts if np.isin(part[0], nodes)],
                          dynamic=np.intersect1d(mesh.dynamic, nodes).astype(np.int32),
                          patches=tuple(patch for patch in mesh.patches if np.isin(patch.nodes[0], nodes)))
            free = np.searchsorted(mesh.coordinates.free, own.coordinates.free)
            self.members.append(Member(block.make(own, block.linear, block.params), nodes,
                                       (3 * free[:, None] + np.arange(3)).ravel(),
                                       np.isin(prescribed, nodes).astype(float)))
        self.beta = slices[0].params["beta"]
        self.solves_impacts = all(block.params.get("solve_impacts", True) for block in slices)

    @property
    def at_once(self) -> Balancing | None:
        """Return None: the bodies are not in one equilibrium."""
        return None

    def pose(self, lin: Linearised, stage: NodeStage) -> PosedBlocks:
        """Return the stage of all bodies, each on a new factor of its own. Raises NotPositiveDefinite."""
        return self.join_members(lin, stage, [member.condensation.pose(lin, member.stage(stage))
                                              for member in self.members])

    def join_members(self, lin: Linearised, stage: NodeStage, each: Sequence[PosedNodes]) -> PosedBlocks:
        """Return the stage of all bodies. each: the posed stages of the members, in their order."""
        return PosedBlocks(self, lin, stage, each)

    def eliminate(self, lin: Linearised, stage: NodeStage, carried: Vec) -> Eliminated:
        """Return the stage on the rates of joints that carry some nodes, all other unknowns eliminated, on new factors.
        Raises NotPositiveDefinite. carried: velocities of the prescribed nodes for each rate, (p, 3, c).
        [ConJac MUSCLE]"""
        parts = [member.condensation.eliminate(lin, member.stage(stage), member.attached[:, None, None] * carried)
                 for member in self.members]
        columns = np.zeros((3 * len(self.mesh.coordinates.free), carried.shape[2]))
        for member, part in zip(self.members, parts):
            columns[member.coordinates] = part.columns

        def moving(u: Vec, carrier_motion: CarrierMotion) -> tuple[PosedBlocks, NodeStage]:
            known = stage.moving(carried @ u, carrier_motion)
            return self.join_members(lin, known, [part.moving(u, carrier_motion)[0] for part in parts]), known

        return Eliminated(np.sum([part.matrix for part in parts], axis=0),
                          np.sum([part.impulse for part in parts], axis=0), columns, moving)

    def forget_past(self) -> None:
        """Discard the factors of all members and what else depends on earlier steps."""
        for member in self.members:
            member.condensation.forget_past()


@dataclass(frozen=True)
class PosedBlocks(NoQuasistatic, NoJoints):
    """Stage of several groups of bodies, each posed on its own factor."""

    owner: BlockCondensation
    lin: Linearised
    stage: NodeStage
    posed: Sequence[PosedNodes]  #: of each member

    def _each(self, evaluate: Callable[[PosedNodes, Index], Vec], like: Vec | None = None) -> Vec:
        """Return the values of all coordinates, computed member by member. evaluate: function of one member's
        posed stage and its coordinates. like: array of the shape of the result; None: (3 f,)."""
        count = 3 * len(self.owner.mesh.coordinates.free)
        out = np.zeros(count if like is None else like.shape)
        for member, posed in zip(self.owner.members, self.posed):
            out[member.coordinates] = evaluate(posed, member.coordinates)
        return out

    def solve(self) -> Vec:
        """Return the rates of all members at the stage's end, (3 f,) [m/s]. Raises StepFailed where one has no
        solution."""
        return self._each(lambda posed, own: posed.solve())

    def correction(self, u: Vec) -> Vec:
        """Return the position correction of all members as a rate, (3 f,) [m/s], at velocities u, (3 f,) [m/s]."""
        return self._each(lambda posed, own: posed.correction(u[own]))

    def moving(self, u: Vec) -> Vec:
        """Return the rates of all members that contacts act on at velocities u, both (3 f,) [m/s]."""
        return self._each(lambda posed, own: posed.moving(u[own]))

    def respond(self, impulses: Vec) -> Vec:
        """Return the changes of the velocities of all members by impulses on them, both (3 f, c), [m/s] and [N s]; no
        impulse on one member moves another."""
        return self._each(lambda posed, own: posed.respond(impulses[own]), impulses)

    def compliance(self, nodes: Index) -> Compliance:
        """Return the response of free nodes, (c,), as a function from impulses, (c, 3) [N s], to changes of velocities,
        (c, 3) [m/s], each member by itself."""
        entries = [np.flatnonzero(np.isin(nodes, member.nodes)) for member in self.owner.members]
        responses = [(own, posed.compliance(nodes[own])) for own, posed in zip(entries, self.posed) if len(own)]

        def respond(impulses: Vec) -> Vec:
            out = np.zeros_like(impulses)
            for own, response in responses:
                out[own] = response(impulses[own])
            return out

        return respond

    def under(self, impulses: Vec) -> Self:
        """Return the stage with additional impulses on all nodes, (n, 3) [N s]."""
        return replace(self, posed=[posed.under(impulses) for posed in self.posed])

    def relax(self, q: Vec, u: Vec, evaluate: Evaluate, corrections: int | None = None,
              carrier_motion: CarrierMotion | None = None) -> Vec:
        """Return coordinates nearer to equilibrium, (3 f,), as `PosedNodes.relax`, each member with the others at q."""
        return self._each(lambda posed, own: posed.relax(q[own], u[own], evaluate, corrections, carrier_motion))

    def again(self, stage: Stage) -> Self:
        """Return another stage of this linearisation on the factors of all members."""
        known = NodeStage.of(stage, self.owner.mesh.coordinates)
        return replace(self, stage=known, posed=[
            posed.again(stage.part(member.coordinates, member.coordinates))
            for member, posed in zip(self.owner.members, self.posed)])
