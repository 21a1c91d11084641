"""Soft bodies and the joints that carry them, as one system that an integrator steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from ..assembly.damping import Damped
from ..errors import BadScene, StepFailed
from ..integrators.interface import System
from ..linear.interface import NotPositiveDefinite
from ..nonlinear.anderson import DEPTH, Anderson
from ..nonlinear.bounded import Bounded, BoundedQuasistatic
from ..nonlinear.condensed_stage import solve_condensed
from ..nonlinear.reused_velocities import solve_on_last_factor
from ..parts.interface import Balancing
from ..parts.joints.last_twist import find_time_since_last, record_step
from ..parts.nodes.full import Full
from ..parts.stage import Momentum, NodeStage, Stage
from ..rows.eliminated import EliminatedRows
from ..state import Index, State, Vec
from ..world.ground_friction import finish_linear_stage, remember, with_ground_friction
from ..world.in_contact import solve_without_contact, touches
from ..world.joints_part import JointsPart
from ..world.nodes_part import NodesPart
from .coupled_equations import CoupledEquations, LastStage
from .coupled_stage import CoupledStage
from .free_bones import FreeBones
from .joined_states import JOINTS, JoinedStates
from .quasistatic_equations import QuasistaticEquations
from .skeleton import Skeleton

UNKNOWNS = "flesh and bones"


class CoupledSystem(System[CoupledStage]):
    """System with the coordinates of soft bodies and joints, q̇ = u, whose states are joined."""

    def __init__(self, soft: NodesPart, jointed: JointsPart, skeleton: Skeleton, states: JoinedStates) -> None:
        """skeleton: the joints as carriers of attached nodes."""
        self._soft, self._jointed, self._skeleton, self._states = soft, jointed, skeleton, states
        self._flesh, self._cut = soft.coordinates, soft.unknowns
        self._last = LastStage()  #: stage of the last factor, for stages with an equal matrix
        self._changes = Anderson(DEPTH)  #: history of iterations on that factor
        self._whole: Full | None = None  #: all free nodes as unknowns, for quasistatic bodies in contact

    @cached_property
    def free_bones(self) -> FreeBones:
        """Return the object that restores the momenta of free mechanisms, built on first use."""
        return FreeBones(self._soft, self._jointed)

    @property
    def beta(self) -> float:
        """Return β, the factor on K in semi-implicit Euler."""
        return self._soft.beta

    def acceleration(self, state: State) -> Vec:
        """Raise BadScene: accelerations of attached soft bodies and their joints cannot be evaluated separately."""
        raise BadScene("soft bodies attached to bones load them, so their accelerations can only "
                       "be solved together", "Use an integrator that begins with no accelerations, such as SDIRK2")

    def keep_spin(self, before: State, after: State, h: float, posed: CoupledStage) -> State:
        """Return the state at the end of a step of h seconds, with the angular momentum of each free mechanism and free
        body restored from the state before."""
        damped = posed.lin.damped
        start, end = self._states.split_state(before), self._states.split_state(after)
        soft, joints = self.free_bones.restore_spin(start, end, h, damped)
        soft = replace(soft, carrier_motion=self._states.carrier_motion(joints))
        return self._states.merge_states([self._soft.with_spin(start[0], soft, h, damped), joints])

    def pose(self, at: State, stage: Stage, time: float | None = None) -> CoupledStage:
        """Linearise and factor the stage of both parts at a state. time: at which damping is evaluated [s]; None: that
        of the state. Raises StepFailed."""
        soft, joints = self._states.split(at)
        attached_velocities: Vec | None = None
        if stage.base is None:
            # in a linearised step bones and attached nodes have the momentum of the last linearisation
            earlier = self._skeleton.bodies(joints, find_time_since_last(joints.memory, stage.h))
            attached_velocities = self._flesh.attached.velocities(earlier.E, earlier.twist)
        bodies = self._skeleton.bodies(joints)
        lin = self._soft.linearise(replace(soft, carrier_motion=self._flesh.attached.carrier_motion(bodies)), time)
        of_flesh, of_joints = self._stages(stage)
        try:
            return CoupledStage(self._soft, self._skeleton, bodies, lin, of_flesh, joints, of_joints,
                                attached_velocities)
        except NotPositiveDefinite as failure:
            raise StepFailed("the system matrix is not positive definite") from failure

    def _stages(self, stage: Stage) -> tuple[NodeStage, Stage]:
        """Return the stages of the soft bodies and of the joints.

        Momentum of the joints is projected, not reflected: the soft bodies' momentum is not reflected, so reflected
        momentum of the joints alone would be inconsistent with it.
        """
        cut = self._cut
        if stage.momentum is not Momentum.STRAIGHT:
            stage = replace(stage, momentum=Momentum.PROJECTED)
        return (NodeStage.of(stage.part(slice(cut), slice(cut)), self._flesh),
                stage.part(slice(cut, None), slice(cut, None)))

    def finish_linear_stage(self, posed: CoupledStage, stage: Stage, start: State, is_last: bool = True) -> State:
        """Return the state at the end of a linearised stage, with friction on the ground. Quasistatic nodes are relaxed
        only where is_last, at the end of the step. A stage in which surfaces touch is solved to its root instead.

        Raises StepFailed.
        """
        self.free_bones.note_linearised_stage()
        after = finish_linear_stage(self._soft, posed, stage, start, is_last)
        if self._soft.contacts and touches(self._soft, self._states.positions(start), self._states.positions(after)):
            # a barrier cannot be linearised: the stage is solved, and momentum is that of its end
            after = self.solve_stage(replace(stage, base=start.q, beta=1.0), start)
            return replace(after, memory=record_step(after.memory, 0.0, JOINTS))
        return after if stage.base is not None else replace(after, memory=record_step(after.memory, stage.h, JOINTS))

    def touching(self, state: State) -> Index:
        """Return indices of nodes in contact with the ground, and of active motors and drives of the mechanisms, offset
        by the number of nodes."""
        soft, joints = self._states.split_state(state)
        return np.concatenate([self._soft.touching(soft), len(self._soft.rest) + self._jointed.touching(joints)])

    def solve_stage(self, stage: Stage, start: State,
                    prescribed_directions: EliminatedRows | None = None) -> State:
        """Return the state at the end of a stage of both parts: M (u − û) = a h f(q, u), q = base + b h u. Raises
        StepFailed.

        With ConJac the quasistatic nodes are in equilibrium at the end. [ConJac MUSCLE]
        """
        stages, states = self._stages(stage), self._states.split_state(start)
        damped = self._evaluate_damping(stage, states)
        equations = CoupledEquations(self._soft, self._skeleton, stages, states, damped, self._last)
        if not self._soft.contacts:
            after = self._without_contact(equations, stage, start)
        elif (reduced := self._soft.condensation.at_once) is not None:
            after = self._solve_quasistatic(reduced, equations, stage, start)
        else:
            after = Bounded(equations, stage, start, self._soft.stage_solver.limits).solve_stage()
        bones = after.tree_stage
        self._jointed.impacts.note(states[1], None if bones is None else bones.constraint_solution)
        self.free_bones.note_stage(self._states.split_state(after), damped)
        if not self._soft.ground.has_friction_at(self._states.positions(after), after.time):
            return remember(after, stages[0], None)
        return _with_friction(self._soft, self._states, equations.pose_at(after.q, after.u, self._soft.project), after)

    def _evaluate_damping(self, stage: Stage, states: Sequence[State]) -> Damped | None:
        """Return the damping matrix D through a stage, at the predicted end of both parts; None where nothing is
        damped. states: of both parts at the stage's start."""
        soft, joints = states
        predicted = replace(joints, q=joints.q + (stage.time - soft.time) * joints.u)
        moved = replace(soft, carrier_motion=self._states.carrier_motion(predicted))
        return self._soft.evaluate_stage_damping(stage, moved)

    def _without_contact(self, equations: CoupledEquations, stage: Stage, start: State) -> State:
        """Return the end of a stage without contact between surfaces. Raises StepFailed."""
        limits = self._soft.stage_solver.limits
        if self._soft.condensation.whole is not None and limits.reuses_factor:
            try:
                return solve_on_last_factor(equations.pose_at, equations.on_last_factor, self._changes, stage, start,
                                            limits, self._soft.extent, UNKNOWNS)
            except StepFailed:
                self._last.forget()
        return solve_condensed(equations.pose_at, self._soft.evaluate, stage, start, limits, self._soft.extent,
                               UNKNOWNS)

    def _solve_quasistatic(self, reduced: Balancing, equations: CoupledEquations, stage: Stage, start: State) -> State:
        """Return the end of a stage of mostly quasistatic nodes: solved without contact where the displacement has
        none, else in the positions of all nodes. Raises StepFailed."""
        def solve() -> tuple[State, Vec]:
            after = self._without_contact(equations, stage, start)
            return after, equations.positions_at(after.q)

        after = solve_without_contact(self._soft, equations.step_start, solve)
        if after is not None:
            return after
        if self._whole is None:
            self._whole = Full(reduced.mesh, type(reduced.linear)(), {"beta": 1.0})
        quasistatic = QuasistaticEquations(self._soft, self._skeleton, (equations.of_flesh, equations.of_joints),
                                           (equations.flesh, equations.joints), equations.damped, self._whole, reduced)
        limits = self._soft.stage_solver.limits
        return quasistatic.with_velocities(BoundedQuasistatic(quasistatic, stage, start, limits).solve_stage())

    def forget_past(self) -> None:
        """Discard the factor of the last stage and the history of its iterations; the parts discard their own
        caches."""
        self._last.forget()
        self._changes.clear()


def _with_friction(soft: NodesPart, states: JoinedStates, posed: CoupledStage, after: State) -> State:
    """Return the end of a stage with friction on the ground, up to the first contact of surfaces. posed: the stage
    linearised at the end `after`."""
    with_friction = with_ground_friction(soft, posed, after)
    fraction = soft.largest_step(states.positions(after), states.positions(with_friction)) if soft.contacts else 1.0
    if fraction == 1.0:
        return with_friction
    # linearised friction ignores the barrier: it acts as far as contact permits
    return replace(with_friction, q=after.q + fraction * (with_friction.q - after.q),
                   u=after.u + fraction * (with_friction.u - after.u))
