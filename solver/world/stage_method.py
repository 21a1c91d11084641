"""Protocol of the methods that solve the stages of soft bodies."""

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
    """Protocol of a method that solves the stages of soft bodies; most members have defaults.

    Copies of bodies with another integrator, or that repeat a step by another rule, share the method with the original.
    So it refers to `SoftBodies`, which copies share as well, and to no data of a single copy.
    """

    #: solver of linearised stages that hit the ground; None where they are linearised nevertheless
    impact_solver: StageSolver | None = None
    #: whether the last stage was solved with friction on the ground, which is in the memory of its end
    solves_friction: bool = False

    #: number of factorizations of some bodies alone, each as its fraction of all nodes
    island_factorizations: float = 0.0

    @abstractmethod
    def solve_stage(self, solver: StageSolver, stage: NodeStage, start: State, damped: Damped | None,
                    prescribed_directions: EliminatedRows | None = None) -> State:
        """Return the state at a stage's end, without ground friction unless `solves_friction`. Raises StepFailed.

        damped: D through the whole stage, None without damping. prescribed_directions: of velocities.
        """

    def start_step(self) -> None:
        """Prepare for the stages of a new step."""
        return  # nothing by default

    def end_step(self, before: State, after: State, h: float) -> State:
        """Return the corrected state at the end of a step of h seconds; by default `after` itself."""
        return after

    def modal_motion(self, stage: NodeStage, start: State, damped: Damped | None) -> State | None:
        """Return the end of a modal step, or of its first part; None in contact or without modes. Raises StepFailed."""
        return None

    def pose_at_end(self, lin: Linearised, stage: NodeStage) -> PosedNodes | None:
        """Return the last stage linearised at its end, on a factor of its iterations.

        lin: linearisation at that end. None where there is no such factor, or where it lacks contacts of `lin`.
        """
        return None

    def forget_past(self) -> None:
        """Discard cached data that depends on earlier steps and is not part of the State."""
        return
