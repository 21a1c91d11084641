"""Adapter of a mechanism as the carrier of attached soft bodies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..coordinates.attached import Bodies
from ..coordinates.tree import Tree
from ..parts.interface import ReducedOnRates
from ..parts.joints.interface import AttachedLoads
from ..parts.joints.jointed import SolvedTree
from ..parts.stage import Stage
from ..state import Index, State, Vec
from ..world.joints_part import JointsPart


def rates_that_move(tree: Tree, bodies: Index) -> Index:
    """Return indices of the joint rates on the path from the world to any of these bodies, ascending."""
    on_path: set[int] = set()
    for body in {*bodies.tolist()}:
        while body >= 0 and body not in on_path:
            on_path.add(body)
            body = int(tree.parent[body])
    return np.array([rate for body in sorted(on_path) for rate in range(tree.dof[body], tree.dof[body + 1])],
                    dtype=np.int32)


class Skeleton:
    """Mechanism as the carrier of attached soft bodies.

    Soft bodies are condensed to one column for each rate that moves attached nodes. Friction inside joints needs their
    forces on each body, not on rates alone: then there are six columns for each body, which are projected on rates
    later.
    """

    def __init__(self, world: JointsPart, bodies: Index, by_body: bool) -> None:
        """bodies: those with attached nodes. by_body: whether columns are six for each body instead of one for each
        rate."""
        self._world, tree = world, world.tree
        own = np.unique(bodies).astype(np.int32)
        self._bodies = own if by_body else None
        self._rates = rates = rates_that_move(tree, own)
        self._unit = np.zeros((tree.rates, len(rates)))
        self._unit[rates, np.arange(len(rates))] = 1.0
        self._twists = np.zeros((tree.count, 6, 6 * len(own)))
        for k, body in enumerate(own):
            self._twists[body, :, 6 * k : 6 * k + 6] = np.eye(6)
        self._columns, self._posture = np.eye(len(rates)), tree.blank()

    def bodies(self, state: State, earlier: float = 0.0) -> Bodies:
        """Return the bodies in a state of the joints; with `earlier` those that many seconds before, extrapolated
        back at constant rates."""
        tree = self._world.tree
        at = tree.posture(state.q - earlier * state.u if earlier else state.q, state.u, state.memory, self._posture)
        moved, columns = tree.spread(at, self._unit), self._columns
        if self._bodies is not None:
            columns, moved = moved[self._bodies].reshape(6 * len(self._bodies), -1), self._twists
        return Bodies(at.E.copy(), moved, at.twist.copy(), at.drift.copy(), self._rates, columns)

    def solve_at(self, at: Bodies, state: State, stage: Stage, eliminated: ReducedOnRates) -> SolvedSkeleton:
        """Linearise the joints' stage at a state whose bodies are `at`, add G and g of the soft bodies, and solve.
        Raises NotPositiveDefinite, StepFailed. [Thesis 3.6]"""
        flesh = AttachedLoads(self._rates, at.columns, eliminated.matrix, eliminated.impulse, self._bodies)
        posed = self._world.condensation.pose(self._world.linearise(state), stage, flesh)
        return SolvedSkeleton(posed.solve(), at, self._unit)


@dataclass(frozen=True)
class SolvedSkeleton:
    """A solved stage of joints with attached soft bodies, valid until the next one is posed."""

    solved: SolvedTree
    at: Bodies
    unit: Vec  #: 1 at each rate that moves attached nodes, (m, r)

    @property
    def tree_stage(self) -> SolvedTree:
        """Return the stage of joints."""
        return self.solved

    @property
    def rates(self) -> Vec:
        """Return the rates of the joints at the stage's end, (m,) [rad/s, m/s]."""
        return self.solved.rates

    def respond(self, impulses: Vec) -> Vec:
        """Return velocity changes by impulses on all rates, both (m, c), with the inertia of the soft bodies."""
        return self.solved.owner.factor.solve(impulses)

    def correction(self, u: Vec) -> Vec:
        """Return the position correction at the new rates u (m,), as a rate, (m,)."""
        return self.solved.correction(u)

    def compliance(self) -> Vec:
        """Return velocity changes by unit impulses on the rates to which soft bodies are condensed, (c, c)."""
        changes: Vec = self.respond(self.unit)[self.at.rates]
        return self.at.columns @ changes @ self.at.columns.T
