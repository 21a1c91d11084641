"""Newton's method with a line search on the energy: where a body comes to rest."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ..assembly.edges import Edges
from ..assembly.linearised import Linearised
from ..assembly.pattern import Pattern, node_graph
from ..errors import StepFailed
from ..linear.interface import LinearSolver, NotPositiveDefinite
from ..state import Index, Vec

LARGEST_STEP = 1.0  #: of an edge's length, in one iteration


class Potential(Protocol):
    """Forces that derive from an energy."""

    def linearise_at(self, x: Vec, time: float, project: bool = True) -> Linearised:
        """f and K = ∂f/∂x at positions x (n, 3), nodes at rest; negative semi-definite if `project`."""

    def energy(self, x: Vec, time: float) -> float:
        """Elastic, gravitational and contact energy [J]."""


def equilibrium(potential: Potential, x: Vec, time: float, free: Index, tets: Index, linear: LinearSolver, *,
                tolerance: float = 1.0e-9, iterations: int = 300) -> Vec:
    """Positions (n, 3) at which the free nodes carry no net force; the others stay where x has them.

    x: start, (n, 3) [m]. free: nodes that move, held by the others. tolerance: largest net force on a free node, as a
    share of the largest one on any node (what holds the body carries it) or of the heaviest node's weight.
    Raises StepFailed where the iteration does not settle. [ConJac Alg. 1]
    """
    if not len(free):
        return x
    search = _Search(potential, time, free, tets, linear, x)
    energy, whole = potential.energy(x, time), False
    for _ in range(iterations):
        direction, residual, scale = search.direction(x, whole)
        if np.abs(residual).max() <= tolerance * scale:
            return x
        slope = -float(np.vdot(residual, direction[search.order]))

        # a first step that turns elements upside down leads the search astray
        longest = min(1.0, LARGEST_STEP / max(search.edges.largest_change(direction), 1.0e-300))
        step = longest
        # Armijo; near the minimum rounding hides the fall of the energy, so a full step needs no proof there
        while True:
            trial = x + step * direction
            trial_energy = potential.energy(trial, time)
            if trial_energy <= energy + 1.0e-4 * step * slope + 1.0e-12 * abs(energy):
                break
            step *= 0.5
            if step < 1.0e-10:
                raise StepFailed("no step lowers the energy")
        # a whole step taken: close enough for the true stiffness, with which Newton ends in a few iterations
        whole = step == 1.0
        x, energy = trial, trial_energy
    raise StepFailed(f"no balance after {iterations} iterations")


class _Search:
    """Newton directions on one pattern."""

    def __init__(self, potential: Potential, time: float, free: Index, tets: Index, linear: LinearSolver,
                 x: Vec) -> None:
        self.potential, self.time, self.linear = potential, time, linear
        pattern = Pattern(tets, free[linear.order(node_graph(tets, len(x))[free][:, free])], len(x))
        self.pattern, self.order, self._matrix = pattern, pattern.order, pattern.matrix()
        self.edges = Edges(tets, x)
        linear.analyse(self._matrix, 0)

    def direction(self, x: Vec, try_true: bool) -> tuple[Vec, Vec, float]:
        """(−K)⁻¹ f, (n, 3) [m], the free nodes' f, (p, 3) [N], and the size of forces [N].

        With the true stiffness where `try_true` and that is definite, else with the projected one.
        """
        for project in (False, True) if try_true else (True,):
            lin = self.potential.linearise_at(x, self.time, project)
            self.pattern.gather(lin.blocks, lin.node_blocks, -1.0, np.zeros(len(x)))
            try:
                self.linear.factor(self._matrix)
                break
            except NotPositiveDefinite as failure:
                if project:
                    raise StepFailed("the stiffness is not positive definite") from failure
        residual = lin.force[self.order]
        out = np.zeros_like(x)
        out[self.order] = self.linear.solve(residual.ravel()).reshape(-1, 3)
        return out, residual, float(max(np.abs(lin.force).max(), lin.mass.max() * 9.81))
