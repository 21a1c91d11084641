"""Protocol of methods that solve the stages of soft bodies."""

from __future__ import annotations

from abc import abstractmethod
from typing import Protocol

from ..assembly.damping import Damped
from ..assembly.linearised import Linearised
from ..nonlinear.interface import StageSolver
from ..parts.interface import PosedNodes
from ..parts.stage import NodeStage
from ..rows.eliminated import EliminatedRows
from ..state import State


class StageMethod(Protocol):
    """Solves stages of one method; most members have defaults.

    Bodies that are stepped by another integrator, or repeat a step by another rule, are copies that share this with the
    first ones. So it knows `SoftBodies`, which they share as well, and nothing that a copy has of its own.
    """

    #: solver of linearised stages that hit the ground; None where they are linearised nevertheless
    impact_solver: StageSolver | None = None
    #: whether the last stage was solved with the ground's friction, which is in the memory of its end
    solves_friction: bool = False

    #: number of factorizations of some bodies alone, each as its fraction of all nodes
    island_factorizations: float = 0.0

    @abstractmethod
    def solve_stage(self, solver: StageSolver, stage: NodeStage, start: State, damped: Damped | None,
                    prescribed_directions: EliminatedRows | None = None) -> State:
        """Return the state at a stage's end, without friction of the ground unless `solves_friction`. Raises
        StepFailed.

        damped: D through the whole stage. prescribed_directions: of velocities.
        """

    def start_step(self) -> None:
        """Prepare for the stages of a new step."""
        return  # nothing by default

    def end_step(self, before: State, after: State, h: float) -> State:
        """Return the state at the end of a step of h seconds; unchanged, where positions follow velocities."""
        return after

    def modal_motion(self, stage: NodeStage, start: State, damped: Damped | None) -> State | None:
        """Return the end of a step, or of its first part, by modes of the dynamic unknowns; None where there are none,
        or in contact. Raises StepFailed."""
        return None

    def posed_at_end(self, lin: Linearised, stage: NodeStage) -> PosedNodes | None:
        """Return the last stage linearised at its end, on a factor of its iterations; None where there is none, or with
        contacts that the factor lacks."""
        return None

    def forget_past(self) -> None:
        """Discard what depends on earlier steps and is not in the State."""
        return
