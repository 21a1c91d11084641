"""Newton's method with a line search on the energy: where a body comes to rest."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ..assembly.linearised import Linearised
from ..assembly.pattern import Pattern, node_graph
from ..errors import StepFailed
from ..linear.interface import LinearSolver, NotPositiveDefinite
from ..state import Index, Vec


class Potential(Protocol):
    """Forces that derive from an energy."""

    def linearise_at(self, x: Vec, time: float) -> Linearised:
        """f and K = ∂f/∂x at positions x (n, 3), nodes at rest."""

    def energy(self, x: Vec, time: float) -> float:
        """Elastic, gravitational and contact energy [J]."""


def equilibrium(potential: Potential, x: Vec, time: float, free: Index, tets: Index, linear: LinearSolver, *,
                tolerance: float = 1.0e-9, iterations: int = 200) -> Vec:
    """Positions (n, 3) at which the free nodes carry no net force; the others stay where x has them.

    x: start, (n, 3) [m]. free: nodes that move, held by the others. tolerance: largest net force on a node, as a
    share of the largest force of one element's corner.
    Raises StepFailed where the iteration does not settle. [ConJac Alg. 1]
    """
    if not len(free):
        return x
    count = len(x)
    pattern = Pattern(tets, free[linear.order(node_graph(tets, count)[free][:, free])], count)
    matrix = pattern.matrix()
    linear.analyse(matrix, 0)
    order, no_mass = pattern.order, np.zeros(count)
    energy = potential.energy(x, time)
    for _ in range(iterations):
        lin = potential.linearise_at(x, time)
        residual = lin.force[order]
        scale = max(np.abs(lin.force).max(), np.abs(lin.mass).max() * 9.81)
        if np.abs(residual).max() <= tolerance * scale:
            return x
        pattern.gather(lin.blocks, lin.node_blocks, -1.0, no_mass)
        try:
            linear.factor(matrix)
        except NotPositiveDefinite as failure:
            raise StepFailed("the stiffness is not positive definite") from failure
        direction = np.zeros_like(x)
        direction[order] = linear.solve(residual.ravel()).reshape(-1, 3)
        slope = -float(np.vdot(residual, direction[order]))

        # Armijo; near the minimum rounding hides the fall of the energy, so a full step needs no proof there
        step = 1.0
        while True:
            trial = x + step * direction
            trial_energy = potential.energy(trial, time)
            if trial_energy <= energy + 1.0e-4 * step * slope + 1.0e-12 * abs(energy):
                break
            step *= 0.5
            if step < 1.0e-10:
                raise StepFailed("no step lowers the energy")
        x, energy = trial, trial_energy
    raise StepFailed(f"no balance after {iterations} iterations")
