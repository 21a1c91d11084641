"""Where a body comes to rest: a stage without inertia, solved from far away."""

from __future__ import annotations

import numpy as np

from ..assembly.edges import Edges
from ..assembly.pattern import Pattern, node_graph
from ..linear.interface import LinearSolver
from ..parts.stage import NodeStage
from ..state import Index, Vec
from .newton import NewtonDirect
from .physics import Physics
from .problem import StageProblem
from .stage_matrix import StageMatrix

ITERATIONS = 300  #: at most


def equilibrium(physics: Physics, x: Vec, time: float, free: Index, tets: Index, linear: LinearSolver, *,
                tolerance: float = 1.0e-9) -> Vec:
    """Positions (n, 3) at which the free nodes carry no net force; the others stay where x has them.

    x: start, (n, 3) [m]. free: nodes that move, held by the others. tolerance: largest net force on a free node, as a
    share of the first one. Raises StepFailed where the iteration does not settle. [ConJac Alg. 1]
    """
    if not len(free):
        return x
    pattern = Pattern(tets, free[linear.order(node_graph(tets, len(x))[free][:, free])], len(x))
    matrix = pattern.matrix()
    linear.analyse(matrix, 0)
    still = NodeStage(1.0, 1.0, 1.0, time, None, np.zeros_like(x), None, inertia=0.0)
    system = StageMatrix(pattern, matrix, linear, Edges(tets, x))
    problem = StageProblem(physics, system, still, x, prescribed=np.zeros(0, dtype=np.int32))
    solver = NewtonDirect({"tolerance": tolerance, "iterations": ITERATIONS})
    return problem.positions(problem.velocities(solver.solve(problem, np.zeros(3 * len(free)))))
