"""Soft bodies as a part of a world: steps of an integrator, with those that replace it where it fails."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..errors import StepFailed
from ..integrators.control import Controller
from ..integrators.interface import Integrator
from ..integrators.semi_implicit import SemiImplicit
from ..nonlinear.fallback_euler import FallbackEuler, StageNotConverged
from ..parts.stage import Stage
from ..state import CarrierMotion, State, Vec
from .bodies import BodyInWorld
from .energy_gains import StepRule, step_without_gain
from .following import Followers
from .half_life_damping import HalfLifeDampers
from .interface import NO_INPUTS, Part, StepInputs
from .multipliers import recall, remembering
from .sliding_damping import SlidingDampers
from .soft_system import SoftSystem
from .start_in_equilibrium import start_in_equilibrium
from .step_counts import FALLBACK_STEPS, RESCUED, sentences


@dataclass(kw_only=True)
class Nodes(SoftSystem, Part):
    """A part of soft bodies. Steps are pure: they take a State and return a new one."""

    integrator: Integrator
    notes: list[str] = field(default_factory=list)  #: for the log; a step may add to them
    balanced: Sequence[BodyInWorld] = ()  #: bodies that start in equilibrium; others start in their rest shape
    losses: HalfLifeDampers | None = None  #: half-life damping between steps
    sliding: SlidingDampers | None = None  #: damping of what slides between steps
    following: Followers | None = None  #: bodies that take part in the motion of objects

    def __post_init__(self) -> None:
        super().__post_init__()
        self.turns_freely = self.integrator.turns_freely and self.condensation.whole is not None
        self.counts = Counter[str]()  #: of steps by other methods

    def initial_state(self, carrier_motion: CarrierMotion | None = None) -> State:
        """Return the state at the start frame, in the rest shape or in equilibrium. carrier_motion: of attached nodes.
        Raises Diverged."""
        x = self.coordinates.positions(self.rest[self.coordinates.free].ravel(), 0.0, carrier_motion)
        if self.balanced:
            x = start_in_equilibrium(self, x, self.balanced, self.condensation.floating.groups, type(self.linear)())
        q = x[self.coordinates.free].ravel()
        sleep = self.condensation.sleep
        return State(0.0, q, np.zeros_like(q), {} if sleep is None else sleep.at_rest(), carrier_motion)

    def begin(self, state: State, h: float) -> None:
        """Prepare the contact laws for a step."""
        for law in self.contacts:
            law.begin(self.coordinates.positions(state.q, state.time, state.carrier_motion), state.time)

    def judge(self, before: State, after: State, h: float, inputs: StepInputs) -> tuple[State, StepInputs | None]:
        """Return the state, or reject a step that awakens nodes: they are awake from its start."""
        self.refuse_blow_up(after)
        self.note_remarks(after)
        sleep = self.condensation.sleep
        if sleep is None:
            return after, None
        next_state, is_accepted = sleep.judge(before, after, h, self.stretching, self.integrator.remembers)
        return next_state, None if is_accepted else inputs

    def attempt(self, state: State, h: float, inputs: StepInputs) -> State:
        """Return the end of a step."""
        start, external_force = self.damped_start(state, h, inputs.external_forces.get(0))
        recall(self.links, state)
        with self.with_external_force(external_force):
            after = self.with_loss_memory(self._attempted(start, h), state, h)
        if not self.links:
            return after
        return remembering(self.links, after, self.coordinates.positions(after.q, after.time, after.carrier_motion))

    def damped_start(self, state: State, h: float, external_force: Vec | None = None,
                     rates: Sequence[str] | None = None) -> tuple[State, Vec | None]:
        """Return the state at the start of a step of h seconds after half-life damping and what objects that bodies
        follow change, and the external force on nodes with what that damping takes, (n, 3) [N].

        rates: keys of the memory with earlier rates of an integrator; None: of the part's own.
        """
        rates = self.integrator.remembered_rates if rates is None else rates
        if self._damping is not None:
            self._damping.begin(h, self.nodes_at_ground(state, h))
        if self.losses is not None:
            state, pushes = self.losses.apply(self, state, h, rates)
            forces = [force for force in (external_force, pushes) if force is not None]
            external_force = sum(forces[1:], forces[0]) if forces else None
        if self.sliding is not None:
            state = self.sliding.apply(self, state, h, rates)
        return self.following.apply(self, state, h, rates) if self.following else state, external_force

    def with_loss_memory(self, after: State, before: State, h: float) -> State:
        """Return the end of a step with the memory of half-life damping."""
        return after if self.losses is None else self.losses.with_touched(self, after, before.memory, h)

    def _attempted(self, state: State, h: float) -> State:
        """Return the integrator's step, or the fallback step of Euler after a stage that did not converge."""
        self.stage_method.start_step()
        try:
            after = step_without_gain(self, self.condensation.whole is not None, self.step_rule, self._integrated,
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
        """Return the rule by which stages are solved, unless a repeated step has another."""
        return StepRule(self.turns_freely, self.stage_solver.limits)

    def _integrated(self, state: State, h: float, rule: StepRule) -> State:
        """Return the integrator's step by a rule. Raises StepFailed."""
        system = self
        if rule != self.step_rule:
            system = copy.copy(self)
            system.turns_freely, system.stage_solver = rule.turns_freely, self.stage_solver.under(rule.limits)
        return self.integrator.step(system, state, h)

    def _fallback_step(self, state: State, h: float) -> State:
        """Return a dissipative step of Euler by a line search on the energy; bodies that may sleep are linearised
        nevertheless. Raises StepFailed."""
        stage = Stage(h, 1.0, 1.0, state.time + h, None, state.u, beta=1.0)
        if self.condensation.sleep is not None:
            return self.finish_linear_stage(self.pose(state, stage), stage, state)
        # in contact it starts at rest, not at the ballistic velocities; and condensed velocities have no energy for a
        # search: that of positions at rest has
        if self.contacts or self.condensation.whole is None:
            state = replace(state, u=np.zeros_like(state.u))
        return self._solve_stage_by(FallbackEuler(), stage, state)

    def _without_past(self, after: State) -> State:
        """Discard the integrator's memory after a step that it did not take."""
        return replace(after, memory={key: value for key, value in after.memory.items()
                                      if key not in self.integrator.remembers})

    def rescue(self, state: State, h: float, failure: StepFailed, inputs: StepInputs = NO_INPUTS) -> State:
        """Return a linearised step of Euler where a quasistatic stage has no solution nearby: a body that is pressed
        until it snaps into another equilibrium. Raises StepFailed where the step was linearised already, or where no
        node is quasistatic."""
        if self.condensation.whole is not None or self.integrator.linear_euler and self.impact_solver is None:
            raise failure
        linearised = copy.copy(self)
        linearised.integrator, linearised.impact_solver = SemiImplicit({}), None
        after = linearised.step(state, h, inputs)
        self.counts[RESCUED] += 1
        return self._without_past(after)

    @property
    def summary(self) -> list[str]:
        """Return sentences about fallback steps and compliant pins."""
        return [*(sentence for pull in self.pulls for sentence in pull.summary), *sentences(self.counts)]

    def note_remarks(self, after: State) -> None:
        """Add remarks of the linear solver and of pins after a step to the notes."""
        if self.pulls:
            x = self.coordinates.positions(after.q, after.time, after.carrier_motion)
            self.notes += filter(None, (pull.look(x, after.time) for pull in self.pulls))
        self.notes += self.linear.remarks
        self.linear.remarks.clear()

    def controller(self, tolerance: float, largest: int) -> Controller:
        """Return a controller of steps with errors below `tolerance`; largest: number of largest steps in a frame."""
        return Controller(tolerance, self.integrator.order, self.integrator.equal_steps, largest)

    def error(self, before: State, after: State, h: float) -> float:
        """Return the error of a step of h seconds at its worst node, relative to the size of its body."""
        of_free = self.integrator.error(self.damped_start(before, h)[0], after, h)
        wrong = np.linalg.norm(self.coordinates.spread(of_free, None), axis=1)
        return max(float(wrong[body.nodes].max()) / body.size for body in self.bodies_in_world)

    def liveliness(self, state: State) -> Vec | None:
        """Return body, strain-rate activity [1/s] and awake (1 or 0) of each dynamic node, (3, m); None where none may
        sleep."""
        sleep = self.condensation.sleep
        if sleep is None:
            return None
        level, up = sleep.activity(state.memory)
        owner = np.searchsorted([body.nodes.stop for body in self.bodies_in_world], sleep.nodes, side="right")
        values: Vec = np.stack([owner.astype(float), level, up])
        return values

    def forget_past(self) -> None:
        """Discard what depends on earlier steps and is not in the State."""
        self.stage_solver.forget_past()
        self.stage_method.forget_past()
        self.condensation.forget_past()
