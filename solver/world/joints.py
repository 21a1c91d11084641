"""Mechanisms that are stepped alone: steps of an integrator, in one kernel where they have no constraints."""

from __future__ import annotations

from dataclasses import dataclass, fields

from ..forces.springs import Springs
from ..integrators.interface import Integrator
from ..parts.joints.tumbling import Tumbling
from ..parts.stage import Momentum
from ..state import State
from .dissipation import Dissipation
from .interface import StepInputs, SteppedPart
from .joints_part import JointsPart
from .joints_system import JointsSystem
from .tree_kernel_steps import TreeKernelSteps


@dataclass(kw_only=True)
class Joints(JointsPart, JointsSystem, SteppedPart):
    """Part of all mechanisms of a scene in no coupling, with their integrator. Steps are pure."""

    integrator: Integrator

    def __post_init__(self) -> None:
        super().__post_init__()
        self.iterations = 0
        self._dissipation, self._tumbling = Dissipation(), Tumbling(self.tree)

    @classmethod
    def of(cls, part: JointsPart, integrator: Integrator) -> Joints:
        """Return the mechanisms of a part with an integrator. Both share the mechanisms, their notes and records."""
        joints = cls(**{field.name: getattr(part, field.name) for field in fields(part)}, integrator=integrator)
        joints.impacts, joints._friction = part.impacts, part._friction
        return joints

    def exchange_springs(self, springs: Springs) -> None:
        """Replace the springs between bodies."""
        super().exchange_springs(springs)
        self._kernel_steps = TreeKernelSteps(self.condensation, self.integrator, self._bounds, self.recentres,
                                             self.reflects)

    @property
    def summary(self) -> list[str]:
        """Return sentences about friction that did not converge and about dissipation in the steps up to now."""
        sentences = super().summary
        if self._dissipation.sentence:
            others = "" if self.integrator.momentum is Momentum.REFLECTED else "Semi-Implicit Leapfrog, "
            sentences.append(f"{self._dissipation.sentence}: shorter steps, {others}BDF2 or SDIRK2 take less")
        return sentences

    def begin(self, state: State, h: float) -> None:
        """Prepare for a step of h seconds: measure the dissipation by linearisation in a sample of the steps."""
        if self._dissipation.due and self.recentres:
            self._dissipation.measure(self._leapfrog, self.linearise(state), h, self._kernel_steps.momentum)

    def attempt(self, state: State, h: float, inputs: StepInputs) -> State:
        """Return the state after one attempt of a step of h seconds, projected on loops and drives. Raises StepFailed.

        Mechanisms without constraints are stepped in one kernel.
        """
        external_force, kernels = inputs.external_forces.get(0), self._kernel_steps
        if external_force is None and kernels.fit:
            return kernels.step(state, h)
        if external_force is None and kernels.is_centred:
            return self.finish(self._leapfrog.step(self.linearise(state), state, h), self.integrator.remembered_motion)
        # stages with a base use one table of contacts
        if self.constraints is not None and (not self.recentres or kernels.momentum is Momentum.REFLECTED):
            self.constraints.begin(self.linearise(state), state.time, h)
        with self.with_external_force(external_force):
            solved = self.impacts.step(self.integrator, self, state, h)
        after, posed = self.finish(solved, self.integrator.remembered_motion), solved.tree_stage
        if (self.recentres or not len(self._tumbling) or len(self.touching(state))
                or not self.condensation.only_weight(external_force)):
            return after
        # bodies without forces conserve energy and angular momentum
        return self._tumbling.with_invariants(state, after, None if posed is None else posed.constraint_solution)
