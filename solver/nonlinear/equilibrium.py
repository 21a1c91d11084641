"""Static equilibrium of a body: a stage without inertia, solved from far away."""

from __future__ import annotations

import numpy as np

from ..assembly.edges import Edges
from ..assembly.pattern import Pattern, node_graph
from ..linear.interface import LinearSolver
from ..parts.stage import NodeStage
from ..state import Index, Vec
from .forces_protocol import Physics
from .newton import NewtonDirect
from .problem import StageProblem
from .stage_matrix import StageMatrix

ITERATIONS = 300  #: largest number of iterations


def equilibrium(physics: Physics, x: Vec, time: float, free: Index, tets: Index, linear: LinearSolver, *,
                tolerance: float = 1.0e-9) -> Vec:
    """Return positions (n, 3) [m] at which the net force on each free node vanishes; the others stay at x.

    x: start, (n, 3) [m]. time: of the forces [s]. free: nodes that move, constrained by the others. tets: (e, 4).
    tolerance: largest net force on a free node, relative to that at the start. Raises StepFailed where the iteration
    does not converge. [ConJac Alg. 1]
    """
    if not len(free):
        return x
    pattern = Pattern(tets, free[linear.order(node_graph(tets, len(x))[free][:, free])], len(x))
    matrix = pattern.matrix()
    linear.analyse(matrix, 0)
    static_stage = NodeStage(1.0, 1.0, 1.0, time, None, np.zeros_like(x), None, inertia=0.0)
    system = StageMatrix(pattern, matrix, linear, Edges(tets, x))
    problem = StageProblem(physics, system, static_stage, x, prescribed=np.zeros(0, dtype=np.int32))
    solver = NewtonDirect({"tolerance": tolerance, "iterations": ITERATIONS})
    return problem.positions(problem.velocities(solver.solve(problem, np.zeros(3 * len(free)))))
