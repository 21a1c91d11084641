"""Protocol of the equations of one stage, as searches and factorizations use them."""

from __future__ import annotations

from typing import Protocol

from ..assembly.damping import Damped
from ..assembly.linearised import Linearised
from ..errors import StepFailed
from ..parts.stage import NodeStage
from ..state import Index, Vec
from .evaluation import Evaluation
from .forces_protocol import Forces, Physics
from .stage_matrix import StageMatrix


class StageEquations(Protocol):
    """Residual, merit and matrix of one stage in the velocities of some nodes; others are prescribed."""

    physics: Physics
    forces: Forces
    system: StageMatrix
    stage: NodeStage
    damped: Damped | None
    order: Index  #: nodes of the unknowns, (p,)
    energy_noise: float  #: changes of the merit that may be rounding, whatever its size [J]

    def motion_at(self, unknowns: Vec) -> tuple[Vec, Vec]:
        """Return velocities [m/s] and positions [m] of all nodes, (n, 3) each, from unknowns (3 p,) [m/s]."""

    def positions_at(self, unknowns: Vec) -> Vec:
        """Return positions of all nodes, (n, 3) [m], from unknowns (3 p,) [m/s]."""

    def displacement(self, direction: Vec) -> Vec:
        """Return the displacement of all nodes, (n, 3) [m], by a change of the unknowns, (3 p,) [m/s]."""

    def strain(self, direction: Vec) -> float:
        """Return the largest relative change of an edge by a change of the unknowns, (3 p,) [m/s], rotation included.
        """

    def evaluate(self, unknowns: Vec) -> Evaluation:
        """Return residual and merit at unknowns (3 p,) [m/s]."""

    def fill(self, unknowns: Vec, project: bool = True, step_fraction: float = 1.0) -> Linearised:
        """Fill the matrix at this fraction of the step to `unknowns`, (3 p,) [m/s]; return the linearisation."""

    def report_failure(self, what: str, at: Evaluation) -> StepFailed:
        """Return the error of a stage: its cause `what`, the location of the largest residual, the body there and the
        time."""
