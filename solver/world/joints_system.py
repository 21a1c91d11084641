"""Mechanisms as a system for integrators: stages in the rates of their joints."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace

from ..integrators.interface import System
from ..nonlinear.joint_rates import solve_joints
from ..nonlinear.limits import StopRule
from ..parts.joints.interface import LinearizationPoint
from ..parts.joints.jointed import Jointed, PosedTree, SolvedTree
from ..parts.joints.last_twist import record_step
from ..parts.stage import Momentum, Stage
from ..rows.eliminated import EliminatedRows
from ..state import State, Vec
from .impact_steps import ImpactSteps
from .tree_kernel_steps import TreeKernelSteps


class JointsSystem(System[PosedTree]):
    """System of mechanisms, whose stages are linearised or solved iteratively."""

    condensation: Jointed
    limits: StopRule  #: of stages that are solved iteratively
    impacts: ImpactSteps
    iterations: int  #: of all stages that were solved iteratively
    _kernel_steps: TreeKernelSteps

    @abstractmethod
    def linearise(self, state: State) -> LinearizationPoint:
        """Return the posture and loads at a state, for linearisation; overwritten by the next call."""

    @property
    def beta(self) -> float:
        """Return β of semi-implicit Euler, the factor of K."""
        return self.condensation.beta

    def acceleration(self, state: State) -> Vec:
        """Return the acceleration of rates at a state without constraints, (m,) [rad/s², m/s²]."""
        return self.condensation.acceleration(self.linearise(state), state.time)

    def pose(self, at: State, stage: Stage, time: float | None = None) -> PosedTree:
        """Return a stage linearised and factored at a state. Raises StepFailed, and TypeError where damping is to be
        that of another `time`, as linearised methods of order 2 request, which do not step joints."""
        if time is not None:
            raise TypeError("damping of joints is evaluated at the state of linearisation")
        momentum = self._kernel_steps.momentum
        if stage.momentum is not momentum:
            stage = replace(stage, momentum=momentum)
        return self.condensation.pose(self.linearise(at), stage)

    def finish_linear_stage(self, posed: PosedTree, stage: Stage, start: State, is_last: bool = True) -> State:
        """Return the state at the end of a linearised stage. start: of the step. Raises StepFailed."""
        solved = posed.solve()
        u = solved.rates
        base = start.q if stage.base is None else stage.base
        continues = stage.base is None and self._kernel_steps.momentum is Momentum.PROJECTED
        memory = record_step(start.memory, stage.h) if continues else start.memory
        return State(stage.time, base + stage.b * stage.h * (u + solved.correction(u)), u, memory, tree_stage=solved)

    def solve_stage(self, stage: Stage, start: State,
                    prescribed_directions: EliminatedRows | None = None) -> State:
        """Return the state at the end of a stage, solved iteratively. start: of the step. Raises StepFailed, and
        TypeError for prescribed directions, which exponential methods have, that do not step joints."""
        if prescribed_directions is not None:
            raise TypeError("rates of joints have no prescribed directions")
        if stage.base is None:
            stage = replace(stage, base=start.q)

        def solve_at(q: Vec, u: Vec) -> SolvedTree:
            return self.condensation.pose(self.linearise(State(start.time, q, u, start.memory)), stage).solve()

        after, iterations = solve_joints(solve_at, stage, start, self.limits, "the joints")
        self.iterations += iterations
        self.impacts.note(start, None if after.tree_stage is None else after.tree_stage.constraint_solution)
        return after
