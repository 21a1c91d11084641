"""Monolithic coupling of soft bodies with the rigid bodies to which they are attached."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..errors import StepFailed
from ..integrators.interface import Integrator
from ..nonlinear.bounded import nearest
from ..nonlinear.intersection_free import BLOCKED_REMEDY
from ..state import State
from ..world.interface import Coupling, StepInputs
from ..world.joints_part import JointsPart
from ..world.multipliers import recall, remembering
from ..world.nodes_part import NodesPart
from ..world.stepped_soft import SteppedSoft
from .coupled_system import CoupledSystem
from .joined_states import JoinedStates
from .skeleton import Skeleton


class FleshOnBones(Coupling, SteppedSoft):
    """Coupling of attached soft bodies with all mechanisms: two parts that are stepped as one system."""

    max_tries = 4  #: attempts of a step whose projected end is blocked by contact

    def __init__(self, soft: NodesPart, jointed: JointsPart, integrator: Integrator, by_body: bool = False) -> None:
        """integrator: steps both parts. by_body: whether the mechanisms need the soft bodies' forces on each rigid
        body, as friction in joints does."""
        self.soft, self.jointed, self.integrator, self.by_body = soft, jointed, integrator, by_body
        self._flesh, attached = soft.coordinates, soft.coordinates.attached
        skeleton = Skeleton(jointed, attached.bodies, by_body)
        self._states = JoinedStates(soft, skeleton, self.histories)
        self.system = CoupledSystem(soft, jointed, skeleton, self._states)  #: of the integrator
        on = "ride on" if soft.mass[attached.nodes].all() else "or corners of rigid surfaces ride on"
        self.notes = [f"{len(attached.nodes)} soft nodes {on} {len(np.unique(attached.bodies))} rigid bodies, and "
                      "both are solved at once"]

    @property
    def parts(self) -> tuple[NodesPart, JointsPart]:
        """Return the part of the soft bodies and the part of the mechanisms."""
        return self.soft, self.jointed

    @property
    def histories(self) -> tuple[str, ...]:
        """Return the keys of the integrator's memory with earlier coordinates and rates of both parts."""
        return tuple(key for pair in self.integrator.remembered_motion for key in pair)

    def initial_state(self) -> State:
        """Return the joined state of both parts at the start frame. Raises Diverged."""
        joints = self.jointed.initial_state()
        return self.merge_states([self.soft.initial_state(self._states.carrier_motion(joints)), joints])

    def split_state(self, state: State) -> list[State]:
        """Return the soft bodies' state, with attached nodes at their bones, and the joints' state."""
        return self._states.split_state(state)

    def merge_states(self, states: Sequence[State]) -> State:
        """Return the joined state of both parts, with one history. Raises BadInput where only one of the states has a
        history."""
        return self._states.merge_states(states)

    def begin(self, state: State, h: float) -> None:
        """Prepare the contact laws for a step from a state."""
        for law in self.soft.contacts:
            law.begin(self._states.positions(state), state.time)

    def attempt(self, state: State, h: float, inputs: StepInputs) -> State:
        """Return the joined state after the integrator's step of h seconds, before exact constraints are projected.
        Raises StepFailed."""
        soft, joints = self.split_state(state)
        on_soft, on_bones = (inputs.external_forces.get(k) for k in range(2))
        start, external_force = self.soft.damp_start(soft, h, on_soft, self.integrator.remembered_rates)
        recall(self.soft.links, soft)
        before = [start, joints]
        self.system.free_bones.start_step(on_soft is None and on_bones is None)
        with (self.soft.with_external_force(external_force),
              self.jointed.with_external_force(on_bones, inputs.drive_lead)):
            after = self.jointed.impacts.step(self.integrator, self.system, self.merge_states(before), h)
            flesh, bones = self.system.free_bones.restore_momenta(before, self.split_state(after), h)
        if self.soft.links:
            flesh = remembering(self.soft.links, flesh, self._states.positions(after))
        return self.merge_states([self.soft.with_loss_memory(flesh, soft, h), bones])

    def judge(self, before: State, after: State, h: float, inputs: StepInputs) -> tuple[State, StepInputs | None]:
        """Return the joined state with exact constraints projected and None, or `before` and the inputs to repeat the
        step with.

        The rates of a drive overshoot its target by half of their change in the step, which the projection corrects.
        Where that correction is blocked by contact the step is repeated with drive rates that lead to the target, so
        that soft bodies are moved aside. Raises StepFailed after `max_tries` attempts, and where positions diverge.
        """
        soft, joints = self.split_state(after)
        constraints, posed = self.jointed.constraints, joints.tree_stage
        drive_errors = np.zeros(0) if constraints is None or posed is None else constraints.drive_errors(joints, posed)
        solved = self._flesh.positions(soft.q, soft.time, soft.carrier_motion)
        joints = self.jointed.finish(joints, self.integrator.remembered_motion, isolated=False)
        soft = replace(soft, carrier_motion=self._states.carrier_motion(joints))
        finished = self._flesh.positions(soft.q, soft.time, soft.carrier_motion)
        if self.soft.largest_step(solved, finished) < 1.0:
            earlier = np.zeros((0, self.jointed.unknowns)) if inputs.drive_leads is None else inputs.drive_leads
            if drive_errors.any() and len(earlier) + 1 < self.max_tries:
                leads = np.concatenate([earlier, earlier[-1:].sum(axis=0, keepdims=True) + drive_errors / h])
                return before, replace(inputs, drive_leads=leads)
            by = float(np.abs(finished - solved).max())
            raise StepFailed(f"joints move attached parts by {by:.3g} m at the end of a step, and these "
                             f"are blocked{nearest(self.soft.contact_forces_at(solved))}", None, BLOCKED_REMEDY)
        self.soft.refuse_blow_up(soft)
        self.soft.note_remarks(soft)
        return self.merge_states([soft, joints]), None

    def forget_past(self) -> None:
        """Discard the factor of the last stage; the parts discard their own caches."""
        self.system.forget_past()
