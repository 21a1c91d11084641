"""Monolithic coupling of soft bodies with the rigid bodies that they are attached to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from ..assembly.damping import Damped
from ..assembly.linearised import Linearised
from ..coordinates.attached import Bodies
from ..coordinates.tree import PAIRS
from ..errors import BadScene, StepFailed
from ..forces.stencils import StencilForce
from ..integrators.interface import Integrator, System
from ..linear.interface import NotPositiveDefinite
from ..nonlinear.anderson import DEPTH, Anderson
from ..nonlinear.bounded import Bounded, BoundedQuasistatic, Surroundings, nearest
from ..nonlinear.intersection_free import BLOCKED_REMEDY
from ..nonlinear.iterations import Coupled, CoupledOnReusedFactor
from ..parts.interface import Balancing
from ..parts.joints.last_twist import flown_since, stepped
from ..parts.nodes.full import Full
from ..parts.stage import Momentum, NodeStage, Stage
from ..rows.eliminated import EliminatedRows
from ..state import CarrierMotion, Index, State, Vec
from ..world.ground_friction import finish_linear_stage, remember, with_ground_friction
from ..world.in_contact import solve_without_contact, touches
from ..world.interface import Coupling, StepInputs
from ..world.joints_part import JointsPart
from ..world.layout import of_another_version
from ..world.multipliers import Iterates, recall, remembering
from ..world.nodes_part import NodesPart
from ..world.stepped_soft import SteppedSoft
from .coupled_quasistatic import BodyPositions, CoupledQuasistatic
from .coupled_stage import CoupledStage, RelinearisedStage
from .free_bones import FreeBones
from .skeleton import Skeleton

WHO = "flesh and bones"
JOINTS = "joints/"  #: prefix of the joints' memory within a step
HISTORIES = [key for pair in PAIRS for key in pair]  #: keys of the memory with as many values as q


class FleshOnBones(Coupling, SteppedSoft, System[CoupledStage]):
    """Soft bodies attached to bones, and all mechanisms: two parts that are stepped as one system.

    To an integrator it is one system with the coordinates of both, q̇ = u. Its state joins theirs: within a step the
    integrator's history is one array of both, next to the memory of the soft bodies, and that of the joints has a
    prefix.
    """

    max_tries = 4  #: attempts of a step whose projected end is blocked by contact

    def __init__(self, soft: NodesPart, jointed: JointsPart, integrator: Integrator, by_body: bool = False) -> None:
        """integrator: of both. by_body: whether the mechanisms need the forces of soft bodies on each rigid body."""
        self.soft, self.jointed, self.integrator, self.by_body = soft, jointed, integrator, by_body
        self._flesh, attached = soft.coordinates, soft.coordinates.attached
        self._skeleton = Skeleton(jointed, attached.bodies, by_body)
        self._cut = soft.unknowns
        self._posed: CoupledStage | None = None  #: on the last factor, for stages with the same matrix
        self._changes = Anderson(DEPTH)  #: of iterations on it
        self._whole: Full | None = None  #: all free nodes as unknowns, for quasistatic bodies in contact
        on = "ride on" if soft.mass[attached.nodes].all() else "or corners of rigid surfaces ride on"
        self.notes = [f"{len(attached.nodes)} soft nodes {on} {len(np.unique(attached.bodies))} rigid bodies, and "
                      "both are solved at once"]

    @property
    def parts(self) -> tuple[NodesPart, JointsPart]:
        """Return the soft bodies and the mechanisms."""
        return self.soft, self.jointed

    def initial_state(self) -> State:
        """Return the joint initial state. Raises Diverged."""
        joints = self.jointed.initial_state()
        return self.merged([self.soft.initial_state(self.carrier_motion(joints)), joints])

    def carrier_motion(self, carrier: State) -> CarrierMotion:
        """Return the motion of attached nodes in a state of the joints."""
        return self._flesh.attached.carrier_motion(self._skeleton.bodies(carrier))

    def parted(self, state: State) -> list[State]:
        """Return the soft bodies' state, with attached nodes at their bones, and that of the joints."""
        soft, joints = self._split(state)
        flesh, bones = dict(soft.memory), dict(joints.memory)
        for key in HISTORIES:
            if key in flesh:
                bones[key], flesh[key] = flesh[key][self._cut :], flesh[key][: self._cut]
        joints = replace(joints, memory=bones)
        return [replace(soft, memory=flesh, carrier_motion=self.carrier_motion(joints)), joints]

    def _split(self, state: State) -> tuple[State, State]:
        """Return both states, the history of both with the soft bodies."""
        flesh = {key: value for key, value in state.memory.items() if not key.startswith(JOINTS)}
        bones = {key.removeprefix(JOINTS): value for key, value in state.memory.items() if key.startswith(JOINTS)}
        return (State(state.time, state.q[: self._cut], state.u[: self._cut], flesh),
                State(state.time, state.q[self._cut :], state.u[self._cut :], bones, tree_stage=state.tree_stage))

    def merged(self, states: Sequence[State]) -> State:
        """Return one state of both with one history. Raises BadInput where one lacks its own."""
        soft, jointed = states
        flesh, bones = dict(soft.memory), dict(jointed.memory)
        for key in HISTORIES:
            if key in flesh or key in bones:
                if key not in bones or len(flesh[key]) != len(soft.q):
                    raise of_another_version()
                flesh[key] = np.concatenate([flesh[key], bones.pop(key)])
        memory = flesh | {JOINTS + key: value for key, value in bones.items()}
        return State(soft.time, np.concatenate([soft.q, jointed.q]), np.concatenate([soft.u, jointed.u]), memory,
                     tree_stage=jointed.tree_stage)

    def begin(self, state: State, h: float) -> None:
        """Prepare the contact laws for a step."""
        for law in self.soft.contacts:
            law.begin(self.positions(state), state.time)

    def attempt(self, state: State, h: float, inputs: StepInputs) -> State:
        """Return the states after the integrator's step, before joints are closed."""
        soft, joints = self.parted(state)
        on_soft, on_bones = (inputs.external_forces.get(k) for k in range(2))
        start, external_force = self.soft.damped_start(soft, h, on_soft, self.integrator.remembered_rates)
        recall(self.soft.links, soft)
        before = [start, joints]
        self._free_bones.start_step(on_soft is None and on_bones is None)
        with self.soft.with_external_force(external_force), self.jointed.acted_on(on_bones, inputs.drive_lead):
            after = self.jointed.impacts.step(self.integrator, self, self.merged(before), h)
            flesh, bones = self._free_bones.restore_momenta(before, self.parted(after), h)
        if self.soft.links:
            flesh = remembering(self.soft.links, flesh, self.positions(after))
        return self.merged([self.soft.with_loss_memory(flesh, soft, h), bones])

    def judge(self, before: State, after: State, h: float, inputs: StepInputs) -> tuple[State, StepInputs | None]:
        """Return the states with exact constraints projected and None, or the state and inputs to repeat the step with.

        The rates of a drive overshoot its target by half of their change in the step, which the projection corrects.
        Where that correction is blocked by contact the step is repeated with rates that lead to the target, so that
        soft bodies give way.
        """
        soft, joints = self.parted(after)
        constraints, posed = self.jointed.constraints, joints.tree_stage
        drive_errors = np.zeros(0) if constraints is None or posed is None else constraints.drive_errors(joints, posed)
        solved = self._flesh.positions(soft.q, soft.time, soft.carrier_motion)
        joints = self.jointed.finish(joints, isolated=False)
        soft = replace(soft, carrier_motion=self.carrier_motion(joints))
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
        return self.merged([soft, joints]), None

    # the integrators' protocol

    @property
    def beta(self) -> float:
        """Return β of semi-implicit Euler, for K."""
        return self.soft.beta

    def acceleration(self, state: State) -> Vec:
        """Raise BadScene: neither part has an acceleration of its own."""
        raise BadScene("soft bodies attached to bones load them, so their accelerations can only "
                       "be solved together", "Use an integrator that begins with no accelerations, such as SDIRK2")

    def keep_spin(self, before: State, after: State, h: float, posed: CoupledStage) -> State:
        """Return the end of a step with the angular momentum of free bodies before it, with bones or without."""
        damped = posed.lin.damped
        start, end = self.parted(before), self.parted(after)
        soft, joints = self._free_bones.restore_spin(start, end, h, damped)
        return self.merged([self.soft.with_spin(start[0], replace(soft, carrier_motion=self.carrier_motion(joints)), h,
                                                damped), joints])

    @cached_property
    def _free_bones(self) -> FreeBones:
        return FreeBones(self.soft, self.jointed)

    def pose(self, at: State, stage: Stage, time: float | None = None) -> CoupledStage:
        """Linearise and factor the stage of both at a state. time: of D. Raises StepFailed."""
        soft, joints = self._split(at)
        carried_velocities: Vec | None = None
        if stage.base is None:
            # in a linearised step bones keep the momentum of the last linearisation, and so do attached nodes
            earlier = self._skeleton.bodies(joints, flown_since(joints.memory, stage.h))
            carried_velocities = self._flesh.attached.velocities(earlier.E, earlier.twist)
        bodies = self._skeleton.bodies(joints)
        lin = self.soft.linearise(replace(soft, carrier_motion=self._flesh.attached.carrier_motion(bodies)), time)
        of_flesh, of_joints = self._stages(stage)
        try:
            return CoupledStage(self.soft, self._skeleton, bodies, lin, of_flesh, joints, of_joints, carried_velocities)
        except NotPositiveDefinite as failure:
            raise StepFailed("the system matrix is not positive definite") from failure

    def _stages(self, stage: Stage) -> tuple[NodeStage, Stage]:
        """Return the stages of the soft bodies and of the joints.

        Both take projected momentum: reflected momentum of the bones alone would part from that of the soft bodies.
        """
        cut = self._cut
        if stage.momentum is not Momentum.STRAIGHT:
            stage = replace(stage, momentum=Momentum.PROJECTED)
        return (NodeStage.of(stage.part(slice(cut), slice(cut)), self._flesh),
                stage.part(slice(cut, None), slice(cut, None)))

    def finish_linear_stage(self, posed: CoupledStage, stage: Stage, start: State, is_last: bool = True) -> State:
        """Return the state at the end of a linearised stage with friction; quasistatic nodes are relaxed only at the
        step's end.

        Raises StepFailed.
        """
        self._free_bones.note_linearised_stage()
        after = finish_linear_stage(self.soft, posed, stage, start, is_last)
        if self.soft.contacts and touches(self.soft, self.positions(start), self.positions(after)):
            # a barrier cannot be linearised: the stage is solved, and momentum is that of its end
            after = self.solve_stage(replace(stage, base=start.q, beta=1.0), start)
            return replace(after, memory=stepped(after.memory, 0.0, JOINTS))
        return after if stage.base is not None else replace(after, memory=stepped(after.memory, stage.h, JOINTS))

    def touching(self, state: State) -> Index:
        """Return nodes in contact with the ground, and active motors and drives of the mechanisms."""
        soft, joints = self.parted(state)
        return np.concatenate([self.soft.touching(soft), len(self.soft.rest) + self.jointed.touching(joints)])

    def solve_stage(self, stage: Stage, start: State,
                    prescribed_directions: EliminatedRows | None = None) -> State:
        """Return the end of a stage of both: M (u − û) = a h f(q, u), q = base + b h u. Raises StepFailed.

        With ConJac the quasistatic nodes are in equilibrium there, as without bones. [ConJac MUSCLE]
        """
        flesh, limits, (of_flesh, of_joints) = self._flesh, self.soft.stage_solver.limits, self._stages(stage)
        soft, joints = self.parted(start)
        predicted = replace(joints, q=joints.q + (stage.time - start.time) * joints.u)
        # damping is evaluated at the predicted end of both
        damped = self.soft.damped_through(stage, replace(soft, carrier_motion=self.carrier_motion(predicted)))
        carried_velocities: Vec | None = None
        if stage.momentum is Momentum.STRAIGHT:
            # attached nodes keep their momentum as bones do
            stood = self._skeleton.bodies(joints)
            carried_velocities = flesh.attached.velocities(stood.E, stood.twist)
        # friction of surfaces with the present normal forces
        frictions, iterates = list[StencilForce](), Iterates(self.soft.links)

        def pose_at(q: Vec, u: Vec, project: bool = True) -> CoupledStage:
            where, at, _, x, v = self._at_coordinates(q, u, of_flesh, joints)
            iterates.follow(x, stage.time)
            lin = self.soft.linearise_at(x, v, stage.time, project, frictions)
            lin = replace(lin, damped=damped, memory=soft.memory)
            self._posed = posed = CoupledStage(self.soft, self._skeleton, at, lin, of_flesh, where, of_joints,
                                               carried_velocities)
            self._factored = self.soft.linear.factored
            return posed

        def on_last_factor(q: Vec, u: Vec) -> RelinearisedStage | None:
            posed = self._posed
            if posed is None or self.soft.linear.factored != self._factored or not posed.stage.shares(of_flesh):
                return None
            where, at, v, force = self._forces(q, u, of_flesh, joints, damped, frictions)
            return posed.on_last_factor(at, v, force, of_flesh, where, of_joints, carried_velocities)

        def slope_at(posed: CoupledStage, q: Vec, u: Vec) -> float:
            return posed.slope(*self._forces(q, u, of_flesh, joints, damped, frictions)[1:])

        def without_contact() -> State:
            arguments = self.soft.evaluate, stage, start, limits, self.soft.extent, WHO
            if self.soft.condensation.whole is not None and limits.patience:
                try:
                    return CoupledOnReusedFactor(pose_at, on_last_factor, self._changes, *arguments).solve_stage()
                except StepFailed:
                    self._posed = None
            return Coupled(pose_at, *arguments).solve_stage()

        if not self.soft.contacts:
            after = without_contact()
        elif (reduced := self.soft.condensation.at_once) is not None:
            after = self._quasistatic(reduced, without_contact, stage, start, damped)
        else:
            surroundings = self._surroundings(stage, start, frictions)
            after = Bounded(pose_at, slope_at, surroundings, stage, start, limits).solve_stage()
        self.jointed.impacts.note(joints)
        self._free_bones.note_stage(self.parted(after), damped)
        if not self.soft.ground.has_friction_at(self.positions(after), after.time):
            return remember(after, of_flesh, None)
        return _with_friction(self, pose_at(after.q, after.u, self.soft.project), after)

    def _at_coordinates(self, q: Vec, u: Vec, stage: NodeStage, joints: State) -> tuple[State, Bodies, CarrierMotion,
                                                                                        Vec, Vec]:
        """Return the joints' state, bodies, the motion of attached nodes, and positions and velocities of all nodes,
        (n, 3), at coordinates and rates of the stage's end; attached nodes have no velocities."""
        cut, flesh = self._cut, self._flesh
        where = State(stage.time, q[cut:], u[cut:], joints.memory)
        at = self._skeleton.bodies(where)
        carrier_motion = flesh.attached.carrier_motion(at)
        return where, at, carrier_motion, flesh.positions(q[:cut], stage.time, carrier_motion), flesh.spread(u[:cut],
                                                                                                             stage.w)

    def _forces(self, q: Vec, u: Vec, stage: NodeStage, joints: State, damped: Damped | None,
                frictions: Sequence[StencilForce]) -> tuple[State, Bodies, Vec, Vec]:
        """Return the joints' state, bodies, velocities of all nodes and forces on them, (n, 3) [m/s], [N], damping
        included, at coordinates and rates of the stage's end."""
        where, at, carrier_motion, x, v = self._at_coordinates(q, u, stage, joints)
        force = self.soft.evaluate(x, stage.time, frictions)[0]
        v[self._flesh.attached.nodes] = carrier_motion.velocities
        return where, at, v, force if damped is None else force + damped.force(v)

    def _surroundings(self, stage: Stage, start: State, frictions: list[StencilForce]) -> Surroundings:
        """Return the contact queries of a stage. frictions: receives the lagged friction."""
        seconds = stage.b * stage.h
        base = self.positions(replace(start, time=stage.time, q=start.q if stage.base is None else stage.base))

        def loads(x: Vec) -> None:
            frictions[:] = [one for law in self.soft.contacts
                            if (one := law.lagged_friction(x, base, seconds)) is not None]

        def positions_at(q: Vec) -> Vec:
            return self.positions(replace(start, time=stage.time, q=q))

        return Surroundings(positions_at, self.soft.largest_step, loads, self.soft.contact_forces_at,
                            self.positions(start),
                            self.soft.extent, min(law.edge for law in self.soft.contacts), self.soft.body_of)

    def _quasistatic(self, reduced: Balancing, without_contact: Callable[[], State], stage: Stage, start: State,
                     damped: Damped | None) -> State:
        """Return the end of a stage of mostly quasistatic nodes: without contact where there is none, else by positions
        of all nodes. Raises StepFailed."""
        of_flesh, of_joints = self._stages(stage)
        (soft, joints), step_start = self.parted(start), self.positions(start)
        after = solve_without_contact(self.soft, step_start, without_contact, self.positions)
        if after is not None:
            return after
        at, flesh, cut = self._skeleton.bodies(joints), self._flesh, self._cut
        if self._whole is None:
            self._whole = Full(reduced.mesh, type(reduced.linear)(), {"beta": 1.0})
        whole = self._whole
        carried = flesh.carried(flesh.attached.columns(at.E, at.twists))
        lin = replace(self.soft.linearise_without_contact(step_start, self.soft.velocity(soft), stage.time),
                      damped=damped,
                      memory=soft.memory)
        inertia = reduced.inertia(lin, of_flesh, bool(self.soft.between), carried)
        frictions: list[StencilForce] = []

        def at_coordinates(q: Vec, u: Vec) -> tuple[BodyPositions, Vec]:
            where, at, _, x, y = self._at_coordinates(q, u, of_flesh, joints)
            force = self.soft.evaluate(x, stage.time, frictions)[0]
            return BodyPositions(where, at, at.carrying(where.u), y, force), x

        def pose_at(q: Vec, u: Vec, project: bool) -> CoupledQuasistatic:
            here, x = at_coordinates(q, u)

            def lin_at(project: bool) -> Linearised:
                return replace(self.soft.linearise_at(x, here.positions, stage.time, project, frictions), damped=damped)

            return CoupledQuasistatic(whole, inertia, self._skeleton, here, lin_at, project, of_flesh, of_joints)

        def slope_at(posed: CoupledQuasistatic, q: Vec, u: Vec) -> float:
            return posed.slope(at_coordinates(q, u)[0])

        after = BoundedQuasistatic(pose_at, slope_at, self._surroundings(stage, start, frictions), stage, start,
                                   self.soft.stage_solver.limits).solve_stage()
        u = after.u.copy()
        there = at_coordinates(after.q, after.u)[0]
        u[:cut] = inertia.velocities(there.positions, there.rates)[flesh.free].ravel()
        return replace(after, u=u)

    def forget_past(self) -> None:
        """Discard the factor of the last stage; the rest belongs to the parts."""
        self._posed = None
        self._changes.clear()

    def positions(self, state: State) -> Vec:
        """Return positions of all nodes, (n, 3) [m]."""
        soft = self.parted(state)[0]
        return self._flesh.positions(soft.q, soft.time, soft.carrier_motion)


def _with_friction(both: FleshOnBones, posed: CoupledStage, after: State) -> State:
    """Return the end of a stage with friction on the ground, as far as contact of surfaces permits. posed: at that
    end."""
    with_friction = with_ground_friction(both.soft, posed, after)
    fraction = both.soft.largest_step(both.positions(after),
                                      both.positions(with_friction)) if both.soft.contacts else 1.0
    if fraction == 1.0:
        return with_friction
    # linearised friction ignores the barrier: it acts as far as contact permits
    return replace(with_friction, q=after.q + fraction * (with_friction.q - after.q),
                   u=after.u + fraction * (with_friction.u - after.u))
