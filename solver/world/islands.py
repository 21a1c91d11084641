"""Contact islands: groups of bodies without mutual contact, each with its own iterations and factor.

Free bodies are solved with the reused factor, each group in contact by Newton's method with a matrix of its nodes
only, while all other bodies are fixed. Each motion is bounded by contact with all bodies; groups that are in contact at
the end are merged and solved again.
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
from ..nonlinear.limits import INSIGNIFICANT
from ..nonlinear.problem import StageProblem
from ..nonlinear.stage_matrix import StageMatrix
from ..parts.interface import Whole
from ..state import Index, Mask, Vec
from .in_contact import FrictionProblemAt
from .soft_bodies import ALL, Selection, SoftBodies
from .stage_forces import StageForces

NO_PAIRS = np.zeros((0, 2), dtype=np.int64)
LEAST_NODES = 4000  #: number of nodes below which a factor costs less than another contact detection


class Islands:
    """Solver of stages by contact islands of soft bodies."""

    near_factor = 2.0  #: distance at which a body joins a group, relative to the activation distance
    cached_matrices = 8  #: number of groups whose matrices are cached
    #: largest number of groups that are solved in turn: each detects contact with all surfaces, so more groups are
    #: solved together
    max_groups = 3
    largest_fraction = 0.35  #: fraction of the nodes in contact above which separate solves do not pay off

    def __init__(self, soft: SoftBodies, whole: Whole) -> None:
        self._soft, self._whole = soft, whole
        self._body: Index = np.full(len(soft.mass), -1)
        for number, body in enumerate(soft.bodies_in_world):
            self._body[body.nodes] = number
        self._systems: dict[tuple[int, ...], StageMatrix] = {}
        self.factored = 0.0  #: number of factorizations so far, each as its fraction of all nodes

    def solve(self, plain: StageProblem, with_friction: FrictionProblemAt, step_start: Vec, guess: Vec, unknowns: Vec,
              on_ground: Index, solver: StageSolver) -> tuple[StageProblem, Vec]:
        """Solve a stage with early stopping, and return it with its unknowns, (3 p,) [m/s]. Raises StepFailed.

        plain: stage without friction. with_friction: returns the stage with normal forces at positions, (n, 3) [m].
        step_start: positions at the stage's start, (n, 3) [m]. guess: ballistic velocities, (3 p,) [m/s]. unknowns:
        velocities of the contact-free part of the ballistic displacement, (3 p,) [m/s].
        on_ground: nodes with friction on the ground, (k,), whose bodies are in contact.
        """
        x = plain.positions_at(unknowns)
        far = np.abs(plain.positions_at(guess) - x).max(axis=1)
        cut_short = self._body[far > INSIGNIFICANT * min(law.edge for law in self._soft.contacts)]
        links, touched = self._links(plain, (step_start, x))
        seeds = np.union1d(np.union1d(cut_short[cut_short >= 0], touched), self._body[on_ground])
        groups, free = self._split(links, seeds)
        if groups and self._is_split(plain, free):
            links = np.concatenate([links, self._links(plain, (x,), self.near_factor)[0]])
            groups, free = self._split(links, seeds)
        if not self._is_split(plain, free):  # groups of a heap mostly merge in the end
            return solve_in_contact(lambda at: with_friction(at, ALL), step_start, unknowns, solver.limits.strain_left)
        if len(groups) > self.max_groups:
            groups = [sorted(sum(groups, []))]
        v = plain.velocities(unknowns)
        if free:
            try:
                v = self._solve_free(plain, v, step_start, free, solver)
            except StageNotConverged:  # it may have made contact
                groups += self._group_bodies(links, np.array(free))
        for group in groups:
            v = self._solve_group(with_friction, v, step_start, group, solver)
        while True:
            merged = self._merge_groups(plain, v, groups)
            new_groups = [group for group in merged if group not in groups]
            if not new_groups:
                break
            groups = merged
            for group in new_groups:
                v = self._solve_group(with_friction, v, step_start, group, solver)
        # a factor of some bodies, or of all without contact, is not valid for the whole
        plain.system.factored.stamp = -1
        ended = with_friction(plain.positions(v), ALL) if len(on_ground) else plain
        return ended, v[plain.order].ravel()

    def forget_past(self) -> None:
        """Discard the cached matrices and factors of groups."""
        self._systems.clear()

    def _solve_free(self, plain: StageProblem, v: Vec, step_start: Vec, bodies: list[int], solver: StageSolver) -> Vec:
        """Return velocities of all nodes, (n, 3), with bodies without contact solved on the reused factor.

        Raises StageNotConverged.
        """
        moving: Mask = np.isin(self._body[plain.order], bodies)
        problem = plain.restrict_to(ForcesWithoutContact(self._soft, (), Selection(bodies, touch=False)), v,
                                      moving=moving)
        unknowns = v[plain.order].ravel()
        lower = problem.velocities(lowest_potential_start(problem, unknowns, step_start))
        # bodies may not move back through others that have moved since
        if self._soft.largest_step(problem.positions(v), problem.positions(lower)) == 1.0:
            unknowns = lower[plain.order].ravel()
        return problem.velocities(solver.solve(problem, unknowns))

    def _solve_group(self, with_friction: FrictionProblemAt, v: Vec, step_start: Vec, bodies: list[int],
                     solver: StageSolver) -> Vec:
        """Return velocities of all nodes, (n, 3), with the bodies of one group solved. Raises StageNotConverged."""
        system = self._system(tuple(bodies))

        def problem_at(x: Vec) -> StageProblem:
            problem = with_friction(x, Selection(bodies))
            return problem.restrict_to(problem.forces, v, system)

        before = system.linear.factored
        problem, unknowns = solve_in_contact(problem_at, step_start, v[system.pattern.order].ravel(),
                                             solver.limits.strain_left)
        fraction = len(system.pattern.order) / len(self._whole.pattern.order)
        self.factored += fraction * (system.linear.factored - before)
        return problem.velocities(unknowns)

    def _links(self, problem: StageProblem, all_positions: Iterable[Vec], times: float = 1.0) -> tuple[Index, Index]:
        """Return pairs of bodies that are coupled or near each other, (k, 2), and bodies near any surface, (m,).

        all_positions: (n, 3) [m] each, at any of which bodies count as near. times: distance below which they do,
        relative to the activation distance.
        """
        time, all_positions = problem.stage.time, tuple(all_positions)
        near = [self._body[law.node_pairs_within(x, times)] for law in self._soft.contacts for x in all_positions]
        joined = [self._body[law.measure(x, time).nodes] for law in self._soft.between for x in all_positions]
        pairs = [bodies[:, [a, b]] for bodies in (*near, *joined) for a in range(bodies.shape[1]) for b in range(a)]
        first, second = np.concatenate([NO_PAIRS, *pairs]).T
        # most pairs are of one body; the others repeat often, and sorting would cost more than the duplicates
        are_two = (first >= 0) & (second >= 0) & (first != second)
        is_near = np.zeros(len(self._soft.bodies_in_world) + 1, dtype=bool)  # the last entry is for nodes of no body
        for bodies in near:
            is_near[bodies] = True
        return np.column_stack([first[are_two], second[are_two]]), np.flatnonzero(is_near[:-1])

    def _split(self, links: Index, seeds: Index) -> tuple[list[list[int]], list[int]]:
        """Return the groups that contain a seed body, and the bodies in no such group, ascending."""
        groups = self._group_bodies(links, seeds)
        return groups, sorted(set(range(len(self._soft.bodies_in_world))).difference(*groups))

    def _is_split(self, problem: StageProblem, free: list[int]) -> bool:
        """Return whether free bodies have enough nodes for groups in contact to be solved separately."""
        return float(np.mean(np.isin(self._body[problem.order], free))) > 1.0 - self.largest_fraction

    def _group_bodies(self, links: Index, seeds: Index) -> list[list[int]]:
        """Return the connected components of bodies that contain a seed, ascending. links: pairs of bodies, (k, 2)."""
        count = len(self._soft.bodies_in_world)
        graph = sp.coo_matrix((np.ones(len(links)), tuple(links.T)), shape=(count, count))
        labels = connected_components(graph, directed=False)[1]
        return [np.flatnonzero(labels == label).tolist() for label in np.unique(labels[seeds])]

    def _merge_groups(self, problem: StageProblem, v: Vec, groups: list[list[int]]) -> list[list[int]]:
        """Return groups merged with the bodies that they touch at velocities v, (n, 3), and new groups in contact."""
        links, touched = self._links(problem, [problem.positions(v)])
        own = [np.column_stack([group, np.roll(group, 1)]) for group in groups]
        return self._group_bodies(np.concatenate([links, *own]), np.concatenate([touched, *groups]))

    def _system(self, bodies: tuple[int, ...]) -> StageMatrix:
        """Return the matrix and factor of a group of bodies, with nodes in the order of the whole matrix."""
        if bodies not in self._systems:
            if len(self._systems) == self.cached_matrices:
                self._systems.pop(next(iter(self._systems)))
            whole = self._whole.pattern
            pattern = Pattern(whole.tets, whole.order[np.isin(self._body[whole.order], bodies)], len(self._body))
            linear = type(self._whole.linear)()
            linear.analyse(pattern.matrix(), 0)
            own = np.isin(self._body[whole.tets[:, 0]], bodies)
            self._systems[bodies] = StageMatrix(pattern, pattern.matrix(), linear,
                                                Edges(whole.tets[own], self._soft.rest))
        self._systems[bodies] = self._systems.pop(bodies)  # the most recently used ones are last
        return self._systems[bodies]


class ForcesWithoutContact(StageForces):
    """Forces of one stage on bodies without contact."""

    def linearise_at(self, x: Vec, v: Vec | None, time: float, project: bool = True) -> Linearised:
        """Return f and K of all bodies without contact, so that the factor can be reused for other free bodies.

        x, v: positions and velocities, (n, 3) [m], [m/s]; v None: at rest.
        """
        return self.soft.linearise_at(x, v, time, project, (), Selection(touch=False))
