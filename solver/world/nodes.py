"""Soft bodies that are stepped alone: steps of an integrator, and the steps that replace these where they fail."""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from ..errors import StepFailed
from ..integrators.interface import Integrator
from ..integrators.semi_implicit import SemiImplicit
from ..nonlinear.fallback_euler import FallbackEuler, StageNotConverged
from ..nonlinear.interface import StageSolver
from ..parts.stage import Stage
from ..state import State
from .energy_gains import StepRule, step_without_gain
from .interface import NO_INPUTS, StepInputs, SteppedPart
from .multipliers import recall, remembering
from .nodes_part import NodesPart
from .step_counts import FALLBACK_STEPS, RESCUED, sentences
from .stepped_soft import SteppedSoft


@dataclass(kw_only=True)
class Nodes(NodesPart, SteppedPart, SteppedSoft):
    """Part of soft bodies in no coupling, with their integrator. Steps are pure: each returns a new State."""

    integrator: Integrator

    def __post_init__(self) -> None:
        super().__post_init__()
        self.turns_freely = self.integrator.turns_freely and self.condensation.whole is not None
        self.counts = Counter[str]()  #: of steps by other methods

    def with_integrator(self, integrator: Integrator, impact_solver: StageSolver | None) -> Nodes:
        """Return a copy with another integrator, which shares the bodies, their notes and their counts.

        impact_solver: solver of linearised stages in which nodes hit the ground; None: these are linearised, too.
        """
        other = copy.copy(self)
        other.integrator, other.impact_solver = integrator, impact_solver
        return other

    def begin(self, state: State, h: float) -> None:
        """Prepare the contact laws for a step of h seconds from a state."""
        for law in self.contacts:
            law.begin(self.coordinates.positions(state.q, state.time, state.carrier_motion), state.time)

    def judge(self, before: State, after: State, h: float, inputs: StepInputs) -> tuple[State, StepInputs | None]:
        """Return the accepted state and None, or the state with awake nodes and the inputs for a repeated step.

        A step that wakes nodes is rejected, as these are awake from its start. Raises StepFailed where a body diverges.
        """
        self.refuse_blow_up(after)
        self.note_remarks(after)
        sleep = self.condensation.sleep
        if sleep is None:
            return after, None
        next_state, is_accepted = sleep.judge(before, after, h, self.stretching, self.integrator.remembers)
        return next_state, None if is_accepted else inputs

    def attempt(self, state: State, h: float, inputs: StepInputs) -> State:
        """Return the state after one attempt of a step of h seconds, with damping between steps. Raises StepFailed."""
        start, external_force = self.damp_start(state, h, inputs.external_forces.get(0),
                                                self.integrator.remembered_rates)
        recall(self.links, state)
        with self.with_external_force(external_force):
            after = self.with_loss_memory(self._attempt_step(start, h), state, h)
        if not self.links:
            return after
        return remembering(self.links, after, self.coordinates.positions(after.q, after.time, after.carrier_motion))

    def _attempt_step(self, state: State, h: float) -> State:
        """Return the state after an integrator's step, or after a fallback step where a stage did not converge."""
        self.stage_method.start_step()
        try:
            after = step_without_gain(self, self.condensation.whole is not None, self.step_rule, self._integrate,
                                      state, h, self.counts)
            return self.stage_method.end_step(state, after, h)
        except StageNotConverged:
            pass
        self.stage_method.start_step()
        after = self.stage_method.end_step(state, self._fallback_step(state, h), h)
        self.counts[FALLBACK_STEPS] += 1
        return self._without_past(after)

    @property
    def step_rule(self) -> StepRule:
        """Return the rule by which the stages of a first attempt are solved."""
        return StepRule(self.turns_freely, self.stage_solver.limits)

    def _integrate(self, state: State, h: float, rule: StepRule) -> State:
        """Return the state after an integrator's step by a rule. Raises StepFailed."""
        system = self
        if rule != self.step_rule:
            system = copy.copy(self)
            system.turns_freely, system.stage_solver = rule.turns_freely, self.stage_solver.under(rule.limits)
        return self.integrator.step(system, state, h)

    def _fallback_step(self, state: State, h: float) -> State:
        """Return the state after a dissipative step of backward Euler with a line search on the energy.

        Bodies that may sleep take a linearised step instead. Raises StepFailed.
        """
        stage = Stage(h, 1.0, 1.0, state.time + h, None, state.u, beta=1.0)
        if self.condensation.sleep is not None:
            return self.finish_linear_stage(self.pose(state, stage), stage, state)
        # in contact the search starts at rest instead of at ballistic velocities; condensed velocities have no energy
        # that a search could use, positions at rest have one
        if self.contacts or self.condensation.whole is None:
            state = replace(state, u=np.zeros_like(state.u))
        return self._solve_stage_by(FallbackEuler(), stage, state)

    def _without_past(self, after: State) -> State:
        """Return a state without the integrator's memory, after a step that the integrator did not take."""
        return replace(after, memory={key: value for key, value in after.memory.items()
                                      if key not in self.integrator.remembers})

    def rescue(self, state: State, h: float, failure: StepFailed, inputs: StepInputs = NO_INPUTS) -> State:
        """Return the state after a linearised step of backward Euler of h seconds, after the shortest step failed.

        It helps where a quasistatic stage has no solution nearby, as a compressed body snaps into another equilibrium.
        Raises the failure where the step was linearised already or no node is quasistatic.
        """
        if self.condensation.whole is not None or self.integrator.linear_euler and self.impact_solver is None:
            raise failure
        after = self.with_integrator(SemiImplicit({}), None).step(state, h, inputs)
        self.counts[RESCUED] += 1
        return self._without_past(after)

    @property
    def summary(self) -> list[str]:
        """Return sentences about compliant pins, and about steps by other methods than the integrator's."""
        return [*super().summary, *sentences(self.counts)]
