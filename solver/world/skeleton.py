"""A mechanism as the soft bodies on it see it."""

from __future__ import annotations

import numpy as np

from ..coordinates.attached import Bodies
from ..coordinates.tree import Tree
from ..linear.woodbury import WoodburyUpdate
from ..parts.interface import ReducedOnRates
from ..parts.joints.jointed import OnBodies
from ..parts.stage import Stage
from ..state import Index, State, Vec
from .joints import Joints


def rates_that_move(tree: Tree, bodies: Index) -> Index:
    """Rates of the joints on the way from the world to these bodies, ascending."""
    on_the_way: set[int] = set()
    for body in {*bodies.tolist()}:
        while body >= 0 and body not in on_the_way:
            on_the_way.add(body)
            body = int(tree.parent[body])
    return np.array([rate for body in sorted(on_the_way) for rate in range(tree.dof[body], tree.dof[body + 1])],
                    dtype=np.int32)


class Skeleton:
    """A mechanism as the soft bodies on it see it.

    What is condensed for them is one column for each rate that moves attached nodes. Friction inside joints has to know
    what they do to each body, not to rates alone: then it is six columns a body, and the rates come after.
    """

    def __init__(self, world: Joints, bodies: Index, by_body: bool) -> None:
        """bodies: those that carry nodes. From now on the world's steps have soft bodies in them."""
        self.world, tree = world, world.tree
        self._bodies, self._by_body = np.unique(bodies).astype(np.int32), by_body
        self._rates = rates = rates_that_move(tree, self._bodies)
        self._factor = WoodburyUpdate(world.condensation.factor)
        world.condensation.factor = self._factor
        self._unit = np.zeros((tree.rates, len(rates)))
        self._unit[rates, np.arange(len(rates))] = 1.0
        self._twists = np.zeros((tree.count, 6, 6 * len(self._bodies)))
        for k, body in enumerate(self._bodies):
            self._twists[body, :, 6 * k : 6 * k + 6] = np.eye(6)
        self._map = np.eye(len(rates))  #: columns' rates from those of the joints
        self._posture = tree.blank()

    def bodies(self, state: State) -> Bodies:
        """Where the bodies are; written anew by the next call."""
        tree = self.world.tree
        at = tree.posture(state.q, state.u, state.memory, self._posture)
        moved = tree.spread(at, self._unit)
        if self._by_body:
            self._map = moved[self._bodies].reshape(6 * len(self._bodies), -1)
            moved = self._twists
        return Bodies(at.E, moved, at.twist, at.drift)

    def earlier(self, state: State, h: float) -> Bodies:
        """Where their momentum flies on from, h seconds ago, with the velocities that it has there.

        Written anew by the next call of `bodies`.
        """
        at = self.world.tree.posture(state.q - h * state.u, state.u, state.memory, self._posture)
        return Bodies(at.E, self._twists, at.twist, at.drift)

    def carrying(self, u: Vec) -> Vec:
        """Rates that move attached nodes, (c,), of all rates (m,), where `bodies` was asked last."""
        out: Vec = self._map @ u[self._rates]
        return out

    def solve(self, state: State, stage: Stage, eliminated: ReducedOnRates) -> Vec:
        """Rates (m,) at the end of a stage linearised at a state, with G and g of the soft bodies in its equations.

        `bodies` was asked of that state last. Raises StepFailed. [Thesis 3.6]
        """
        lifted = self._factor.add(self._rates, self._map.T @ eliminated.matrix @ self._map)
        condensation = self.world.condensation
        if self._by_body:
            condensation.on_bodies = OnBodies(self._bodies, eliminated.matrix, eliminated.impulse)
        posed = condensation.pose(self.world.linearise(state), stage)
        if not self._by_body:
            posed.right[self._rates] += self._map.T @ eliminated.impulse
        # what makes G positive does nothing at the rates where all is linearised, so a stage keeps its root
        posed.right[self._rates] += lifted @ state.u[self._rates]
        return posed.solve()

    def respond(self, impulses: Vec) -> Vec:
        """What impulses on all rates change in them, both (m, c), soft bodies included."""
        return self._factor.solve(impulses)

    def onto(self, impulses: Vec) -> Vec:
        """Impulses on all rates, (m, c), of those on the rates that move attached nodes."""
        out: Vec = self._unit @ (self._map.T @ impulses)
        return out

    def correction(self, u: Vec) -> Vec:
        """What coordinates owe at the rates that the last `solve` found, as a rate, (m,)."""
        posed = self.world.condensation.last
        assert posed is not None
        return posed.correction(u)

    def compliance(self) -> Vec:
        """What impulses on the rates that move attached nodes change in them, (c, c), as `solve` found it last."""
        found: Vec = self._factor.solve(self._unit)[self._rates]
        return self._map @ found @ self._map.T
