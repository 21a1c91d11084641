"""Bodies that do not touch each other, solved apart: those of one group take iterations and factors of their own.

What flies is solved on the factor that is kept, a group that touches something by Newton's method on a matrix of its
nodes alone, while all others stand where they will. Nothing meets on the way, whoever moves; and where two groups push
each other in the end, they were one.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ..assembly.edges import Edges
from ..assembly.linearised import Linearised
from ..assembly.pattern import Pattern
from ..nonlinear.contact_newton import solve_in_contact
from ..nonlinear.fallback_euler import StageNotConverged
from ..nonlinear.initial_guess import lowest_potential_start
from ..nonlinear.interface import StageSolver
from ..nonlinear.problem import StageProblem
from ..nonlinear.stage_matrix import StageMatrix
from ..parts.interface import Whole
from ..state import Index, Mask, Vec
from .in_contact import RubbingAt, StageForces
from .soft_bodies import ALL, Among, SoftBodies

KEPT = 8  #: matrices of groups; older ones are made anew
NONE = np.zeros((0, 2), dtype=np.int64)
#: groups that are solved one after the other: each looks for pairs among all surfaces, so more are solved as one
MANY = 3
WORTH = 4000  #: nodes: a factor of fewer costs less than looking for pairs once more
#: of the nodes in what touches: solving the rest apart saves less than it takes to begin with other matrices
MOST = 0.35
NEAR = 2.0  #: times as far as surfaces push: who is so near to one that touches something may, and lands with it
SAME = 1.0e-9  #: of an edge: who was held up by less was not


class Islands:
    """Those of some soft bodies."""

    def __init__(self, soft: SoftBodies, whole: Whole) -> None:
        self._soft, self._whole = soft, whole
        self._body: Index = np.full(len(soft.mass), -1)
        for number, body in enumerate(soft.bodies_in_world):
            self._body[body.nodes] = number
        self._systems: dict[tuple[int, ...], StageMatrix] = {}

    def solved(self, plain: StageProblem, rubbing: RubbingAt, begun: Vec, guess: Vec, unknowns: Vec,
               solver: StageSolver) -> tuple[StageProblem, Vec]:
        """A stage and its unknowns (3 p,), to which Quick leaves nothing that shows. Raises StepFailed.

        plain: without friction. rubbing: with it, its loads as they are at positions (n, 3). begun: where the stage
        stands, (n, 3) [m]. guess: velocities with which it flies on, (3 p,). unknowns: as far as nothing meets.
        """
        x = plain.positions(plain.velocities(unknowns))
        far = np.abs(plain.positions(plain.velocities(guess)) - x).max(axis=1)
        held_up = self._body[far > SAME * min(law.edge for law in self._soft.contacts)]
        links, touched = self._links(plain, (begun, x))
        wanted = np.union1d(held_up[held_up >= 0], touched)
        groups, flying = self._parted(links, wanted)
        if groups and len(flying) > 0:
            links = np.concatenate([links, self._links(plain, (x,), NEAR)[0]])
            groups, flying = self._parted(links, wanted)
        alone = np.isin(self._body[plain.order], flying)
        if np.mean(alone) <= 1.0 - MOST:  # groups of a heap are one in the end, mostly
            return solve_in_contact(lambda at: rubbing(at, ALL), begun, unknowns, solver.limits.strain_left)
        if len(groups) > MANY:
            groups = [sorted(sum(groups, []))]
        v = plain.velocities(unknowns)
        if flying:
            try:
                v = self._flown(plain, v, begun, flying, solver)
            except StageNotConverged:  # it may have met something
                groups += self._grouped(links, np.array(flying))
        for group in groups:
            v = self._landed(rubbing, v, begun, group, solver)
        while True:
            merged = self._merged(plain, v, groups)
            news = [group for group in merged if group not in groups]
            if not news:
                break
            groups = merged
            for group in news:
                v = self._landed(rubbing, v, begun, group, solver)
        # a factor of some bodies, or of all as if nothing touched, is none of the whole
        plain.system.factored.stamp = -1
        return plain, v[plain.order].ravel()

    def forget_past(self) -> None:
        """Drop the matrices of groups."""
        self._systems.clear()

    def _flown(self, plain: StageProblem, v: Vec, begun: Vec, bodies: list[int], solver: StageSolver) -> Vec:
        """Velocities (n, 3) with those of bodies that nothing touches, on the kept factor. Raises StageNotConverged."""
        moving: Mask = np.isin(self._body[plain.order], bodies)
        problem = plain.restricted_to(UntouchedForces(self._soft, (), Among(bodies, touch=False)), v, moving=moving)
        unknowns = v[plain.order].ravel()
        lower = problem.velocities(lowest_potential_start(problem, unknowns, begun))
        # they may not go back to where others came since
        if self._soft.largest_step(problem.positions(v), problem.positions(lower)) == 1.0:
            unknowns = lower[plain.order].ravel()
        return problem.velocities(solver.solve(problem, unknowns))

    def _landed(self, rubbing: RubbingAt, v: Vec, begun: Vec, bodies: list[int],
                solver: StageSolver) -> Vec:
        """Velocities (n, 3) with those of one group. Raises StageNotConverged."""
        system = self._system(tuple(bodies))

        def problem_at(x: Vec) -> StageProblem:
            problem = rubbing(x, Among(bodies))
            return problem.restricted_to(problem.forces, v, system)

        before = system.linear.factored
        problem, unknowns = solve_in_contact(problem_at, begun, v[system.pattern.order].ravel(),
                                             solver.limits.strain_left)
        share = len(system.pattern.order) / len(self._whole.pattern.order)
        self._soft.factored_apart += share * (system.linear.factored - before)
        return problem.velocities(unknowns)

    def _links(self, problem: StageProblem, places: Iterable[Vec], times: float = 1.0) -> tuple[Index, Index]:
        """Pairs of bodies that are joined or so near at any of these positions (n, 3), and bodies that are to anything.

        times: how near, as so many times what pushes.
        """
        time, places = problem.stage.time, tuple(places)
        near = [self._body[law.node_pairs_within(x, times)] for law in self._soft.contacts for x in places]
        joined = [self._body[law.measure(x, time).nodes] for law in self._soft.between for x in places]
        pairs = [bodies[:, [a, b]] for bodies in (*near, *joined) for a in range(bodies.shape[1]) for b in range(a)]
        first, second = np.concatenate([NONE, *pairs]).T
        # in most both are one body; those that are not come often, which takes less than to sort them
        are_two = (first >= 0) & (second >= 0) & (first != second)
        is_near = np.zeros(len(self._soft.bodies_in_world) + 1, dtype=bool)  # the last one of what is no body
        for bodies in near:
            is_near[bodies] = True
        return np.column_stack([first[are_two], second[are_two]]), np.flatnonzero(is_near[:-1])

    def _parted(self, links: Index, wanted: Index) -> tuple[list[list[int]], list[int]]:
        """Groups that have a wanted body, and bodies of none of these, rising."""
        groups = self._grouped(links, wanted)
        return groups, sorted(set(range(len(self._soft.bodies_in_world))).difference(*groups))

    def _grouped(self, links: Index, wanted: Index) -> list[list[int]]:
        """Bodies that pairs of them, (k, 2), make one group, those groups that have a wanted one; all rise."""
        count = len(self._soft.bodies_in_world)
        graph = sp.coo_matrix((np.ones(len(links)), tuple(links.T)), shape=(count, count))
        labels = connected_components(graph, directed=False)[1]
        return [np.flatnonzero(labels == label).tolist() for label in np.unique(labels[wanted])]

    def _merged(self, problem: StageProblem, v: Vec, groups: list[list[int]]) -> list[list[int]]:
        """Groups with what they push where nodes have velocities v (n, 3), and those that only now touch something."""
        links, touched = self._links(problem, [problem.positions(v)])
        own = [np.column_stack([group, np.roll(group, 1)]) for group in groups]
        return self._grouped(np.concatenate([links, *own]), np.concatenate([touched, *groups]))

    def _system(self, bodies: tuple[int, ...]) -> StageMatrix:
        """The unknowns' side of a group, in the order that its nodes have in the whole."""
        if bodies not in self._systems:
            if len(self._systems) == KEPT:
                self._systems.pop(next(iter(self._systems)))
            whole = self._whole.pattern
            pattern = Pattern(whole.tets, whole.order[np.isin(self._body[whole.order], bodies)], len(self._body))
            linear = type(self._whole.linear)()
            linear.analyse(pattern.matrix(), 0)
            own = np.isin(self._body[whole.tets[:, 0]], bodies)
            self._systems[bodies] = StageMatrix(pattern, pattern.matrix(), linear,
                                                Edges(whole.tets[own], self._soft.rest))
        self._systems[bodies] = self._systems.pop(bodies)  # the last ones are those that were asked for last
        return self._systems[bodies]


class UntouchedForces(StageForces):
    """Bodies that nothing touches."""

    def linearise_at(self, x: Vec, v: Vec | None, time: float, project: bool = True) -> Linearised:
        """f and K of all, as if nothing touched: the factor serves whoever flies later."""
        return self.soft.linearise_at(x, v, time, project, (), Among(touch=False))
