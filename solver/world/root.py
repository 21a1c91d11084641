"""What soft bodies ask of how their stages come to a root."""

from __future__ import annotations

from abc import abstractmethod
from typing import Protocol

from ..assembly.damping import Damped
from ..assembly.linearised import Linearised
from ..nonlinear.interface import StageSolver
from ..nonlinear.prescribed_directions import PrescribedDirections
from ..parts.interface import PosedNodes
from ..parts.stage import NodeStage
from ..state import State


class Root(Protocol):
    """Of stages of one method, with what most say of theirs."""

    #: by which a linearised stage that hits the ground is solved instead; None where it is linearised all the same
    of_hits: StageSolver | None = None

    @abstractmethod
    def solve_stage(self, solver: StageSolver, stage: NodeStage, start: State, damped: Damped | None,
                    held: PrescribedDirections | None = None) -> State:
        """The state at a stage's end without friction of the ground. Raises StepFailed.

        damped: D through the whole stage. held: directions in which velocities are given.
        """

    def begin_step(self) -> None:
        """The stages that follow are those of a new step."""
        return  # most keep nothing of them

    def end_step(self, before: State, after: State, h: float) -> State:
        """The state at the end of a step of h seconds, whose stages were reached since it began: as it is, where nodes
        go where their velocities bring them."""
        return after

    def modal_motion(self, stage: NodeStage, start: State, damped: Damped | None) -> State | None:
        """The end of a step, or of its first part, in which dynamic unknowns swing by their own modes; None where there
        are none such, or something touches. Raises StepFailed."""
        return None

    def posed_at_end(self, lin: Linearised, stage: NodeStage) -> PosedNodes | None:
        """The stage that was reached last, linearised at its end, on a factor that its iterations left there; None
        where there is none, or nodes touch the ground of which it knows nothing."""
        return None

    def forget_past(self) -> None:
        """Drop what depends on earlier steps and is not in the State."""
        return
