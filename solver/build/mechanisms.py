"""From a job's mechanisms to their world: one tree of all bodies, its springs, joint forces and motors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .. import catalogue
from ..coordinates.prescribed import OverTime
from ..coordinates.tree import Tree
from ..coordinates.tree_build import Body, Joint, build
from ..errors import BadInput, BadScene
from ..forces import joint_kernels as columns
from ..forces.explicit import ExplicitForces
from ..forces.joint_forces import JointForces, MotorOverTime, no_law
from ..forces.rate_blocks import RateLaw
from ..forces.springs import Springs
from ..job import schema, schema_mechanisms
from ..job.folder import Job, parameters
from ..nonlinear.limits import StopRule
from ..parts.joints.jointed import Constraints, Jointed
from ..parts.joints.on_rates import OnRates
from ..state import Index, Vec
from ..world.joints import Joints
from ..world.joints_part import JointsPart
from ..world.mechanisms import JointInWorld, MechanismInWorld, OwnFrames
from .constraints import constraints_of, notes_of
from .explicit_steps import notes_of_explicit
from .inputs import over_time
from .integrators import integrator_of
from .positions import WorldPositions, frame, inverse, place_mechanism, target_of, until_of


def build_mechanisms(job: Job) -> Joints:
    """Return a scene's mechanisms as a part that steps by itself. Raises BadInput or BadScene that names the body and
    its field."""
    return build_uncoupled_joints(job, mechanisms_part(job))


def build_uncoupled_joints(job: Job, part: JointsPart) -> Joints:
    """Return a scene's mechanisms as a part that steps by itself, with the scene's integrator. part: the mechanisms as
    a part of a coupling."""
    return Joints.of(part, integrator_of(job.scene, keep_spin=False))  # rigid bodies conserve their spin anyway


def mechanisms_part(job: Job) -> JointsPart:
    """Return a scene's mechanisms as a part of a coupling. Raises BadInput or BadScene that names the body and its
    field."""
    scene = job.scene
    placed = [place_mechanism(job, i, mechanism) for i, mechanism in enumerate(scene.mechanisms)]
    tree, q = _tree(placed)
    body_index = {name: i for i, name in enumerate(tree.bodies)}
    rates = {mechanism.key(joint.child): np.arange(tree.dof[body_index[mechanism.key(joint.child)]],
                                                   tree.dof[body_index[mechanism.key(joint.child)] + 1], dtype=np.int32)
             for mechanism in placed for joint in mechanism.scene.joints}

    balls = {first for batch in tree.batches if batch.centres.shape[1] for first in batch.entries[:, 0].tolist()}
    u = np.zeros(tree.rates)
    for mechanism in placed:
        for joint in mechanism.scene.joints:
            if joint.rate:
                u[rates[mechanism.key(joint.child)]] = joint.rate
    springs, forces = (_springs(placed, body_index, tree.parent, implicit=True),
                       JointForces(tree, *_law(job, placed, rates, q, balls, implicit=True)))
    explicit = ExplicitForces(tree, _springs(placed, body_index, tree.parent, implicit=False),
                              JointForces(tree, *_law(job, placed, rates, q, balls, implicit=False)))
    mechanism_constraints = constraints_of(job, placed, tree, body_index, q)
    constraints: Constraints | None = mechanism_constraints
    has_friction, reflects = False, True
    bearings = [joint.friction for placed_mechanism in placed for joint in placed_mechanism.scene.joints]
    bearings += [loop.friction for mechanism in placed for loop in mechanism.scene.loops]
    if any(bearings):
        from .bearings import friction_of  # its kernels are compiled where something has friction

        constraints = friction_of(job, placed, tree, body_index, mechanism_constraints)
        law = catalogue.find("joint_friction", scene.joint_friction.kind).load()
        has_friction = law.acts_on != "nothing" and any(bearing.mu > 0.0 for bearing in bearings if bearing is not None)
        reflects = law.acts_on != "joints"
    params = parameters("method", scene.method)
    on_rates = OnRates(tree, forces, _rate_laws(placed, rates, balls))
    beta = float(params.get("beta", catalogue.BETA.default))
    jointed = Jointed(tree, springs, on_rates, np.array(scene.gravity, dtype=float), beta,
                      explicit if len(explicit) else None, constraints, has_friction)
    limits = StopRule.of(parameters("stage_solver", scene.stage_solver))
    entry = catalogue.find("integrator", scene.integrator.kind)
    world = JointsPart([_in_world(mechanism, tree, body_index) for mechanism in placed],
                       _build_own_frames(job, placed, body_index), tree,
                       jointed, limits, q, u, scene.time.start, not entry.able("iterates"), reflects)
    notes = notes_of(world, mechanism_constraints, placed, rates)
    return replace(world, notes=notes + notes_of_explicit(world, schema.step_size(scene.time.fps, scene.time.step)[1]))


def _tree(placed: list[WorldPositions]) -> tuple[Tree, Vec]:
    """Return the tree of all mechanisms, and its coordinates at the start, (m,)."""
    bodies, joints, started = [], [], {}
    for mechanism in placed:
        with_joint = {joint.child for joint in mechanism.scene.joints}
        for name, at in mechanism.bodies.items():
            bodies.append(Body(mechanism.key(name), mechanism.solids[name].spatial()))
            if name not in with_joint:
                joints.append(Joint(mechanism.key(name), "free", mechanism.key(name), None, at, np.eye(4)))
        for joint in mechanism.scene.joints:
            parent = None if joint.parent is None else mechanism.key(joint.parent)
            where = frame(joint.position, joint.rotation)
            above = where if joint.parent is None else inverse(mechanism.bodies[joint.parent]) @ where
            below = inverse(mechanism.bodies[joint.child]) @ where
            joints.append(Joint(f"{mechanism.scene.name}/{joint.name}", joint.kind, mechanism.key(joint.child), parent,
                                above, below))
            if joint.start:
                started[mechanism.key(joint.child)] = joint.start
    tree = build(bodies, joints)
    q = np.zeros(tree.rates)
    for i, name in enumerate(tree.bodies):
        if name in started:
            q[tree.dof[i]:tree.dof[i + 1]] = started[name]
    # the joint's frame is fixed in the parent: the child's frame is where the start moves it
    start_poses = tree.posture(q, np.zeros(tree.rates), tree.fresh).joint_poses
    return replace(tree, in_child=tree.in_child @ start_poses), q


def _law(job: Job, placed: list[WorldPositions], rates: dict[str, Index], start: Vec, balls: set[int],
         implicit: bool) -> tuple[Vec, list[MotorOverTime]]:
    """Return the law on rates, (m, 8), and the motors: the implicit ones, or the explicit ones."""
    law, motors = no_law(len(start)), list[MotorOverTime]()
    for placed_mechanism in placed:
        for joint in placed_mechanism.scene.joints:
            of = rates[placed_mechanism.key(joint.child)]
            if joint.implicit == implicit:
                law[of, columns.REST] = start[of]
                for column, values in ((columns.STIFFNESS, joint.stiffness), (columns.DAMPING, joint.damping),
                                       (columns.REST, joint.rest)):
                    if values:
                        law[of, column] = values
            if joint.motor is not None and joint.motor.implicit == implicit:
                motors += _motor(job, joint.motor, of, law, of[0] in balls)
    return law, motors


def _motor(job: Job, motor: schema_mechanisms.Motor, rates: Index, law: Vec, is_ball: bool) -> list[MotorOverTime]:
    mode = catalogue.find("motor", motor.mode.kind).load()(parameters("motor", motor.mode))
    if mode.exact:  # rows enforce it
        return []
    if motor.limit is not None:
        law[rates, columns.MOTOR_LIMIT] = motor.limit
    return [MotorOverTime(rates, target_of(job, motor), mode.stiffness, mode.damping, until_of(job, motor), is_ball)]


def _springs(placed: list[WorldPositions], body_index: dict[str, int], parent: Index, implicit: bool) -> Springs:
    """Return the implicit springs, or the explicit ones. Raises BadInput where a spring ends in an animated body."""
    body: list[list[int]] = []
    point: list[list[Vec]] = []
    law: list[list[float]] = []
    for mechanism in placed:
        for spring in mechanism.scene.springs:
            if spring.implicit != implicit:
                continue
            ends: list[tuple[int, Vec]] = []
            for name, world in ((spring.body_a, spring.point_a), (spring.body_b, spring.point_b)):
                at = np.array([*world, 1.0])
                if name is None:
                    ends.append((-1, at[:3]))
                elif name in mechanism.bodies:
                    ends.append((body_index[mechanism.key(name)], (inverse(mechanism.bodies[name]) @ at)[:3]))
                else:
                    raise BadInput(f'a spring of "{mechanism.scene.name}" ends in "{name}", which is animated',
                                   "Join it to a body that is moved by forces")
            rest = spring.rest_length
            length = float(np.linalg.norm(np.subtract(spring.point_b, spring.point_a)))
            body.append([end[0] for end in ends])
            point.append([end[1] for end in ends])
            law.append([spring.stiffness, spring.damping, length if rest is None else rest])
    return Springs(np.array(body, np.int32), np.array(point), np.array(law), parent)


def _rate_laws(placed: list[WorldPositions], rates: dict[str, Index], balls: set[int]) -> list[tuple[RateLaw, Index]]:
    """Return the laws on joints other than their own springs and motors, and the rates of each. Raises BadScene.

    balls: first rates of the joints that a chart of rotations has.
    """
    laws = []
    for m, placed_mechanism in enumerate(placed):
        child = {joint.name: joint.child for joint in placed_mechanism.scene.joints}
        for f, force in enumerate(placed_mechanism.scene.rate_forces):
            of = [rates[placed_mechanism.key(child[name])] for name in force.joints]
            for k, each in enumerate(of):
                if balls & {*each.tolist()} or not len(each):
                    raise BadScene(f'"{force.joints[k]}" neither turns about axes nor slides along them, so a force '
                                   "has no angle to go by", "Name hinges and sliders",
                                   where=f"$.mechanisms[{m}].rate_forces[{f}].joints[{k}]")
            ends = np.cumsum([len(each) for each in of])
            law = catalogue.find("rate_law", force.rate_law.kind).load()(
                np.split(np.arange(ends[-1], dtype=np.int32), ends[:-1]), parameters("rate_law", force.rate_law))
            laws.append((law, np.concatenate(of)))
    return laws


def _in_world(one: WorldPositions, tree: Tree, body_index: dict[str, int]) -> MechanismInWorld:
    """Return a mechanism with the slices of its joints among the rates of the tree."""
    def in_world(name: str, kind: str, child: str) -> JointInWorld:
        i = body_index[one.key(child)]
        return JointInWorld(name, kind, int(tree.dof[i]), int(tree.dof[i + 1] - tree.dof[i]))

    with_joint = {joint.child for joint in one.scene.joints}
    joints = [in_world(joint.name, joint.kind, joint.child) for joint in one.scene.joints]
    joints += [in_world(name, "free", name) for name in one.bodies if name not in with_joint]
    return MechanismInWorld(one.scene.name, [body.name for body in one.scene.bodies], joints,
                            [loop.name for loop in one.scene.loops])


def _build_own_frames(job: Job, placed: list[WorldPositions], body_index: dict[str, int]) -> OwnFrames:
    """Return the own frames of all rigid bodies, in the order of the scene."""
    body: list[int] = []
    own: list[Vec] = []
    obstacles: dict[int, OverTime] = {}
    for placed_mechanism in placed:
        for rigid in placed_mechanism.scene.bodies:
            if rigid.motion is not None:
                obstacles[len(body)] = over_time(job, rigid.motion)
                body.append(-1)
                own.append(np.eye(4))
                continue
            body.append(body_index[placed_mechanism.key(rigid.name)])
            own.append(inverse(placed_mechanism.bodies[rigid.name]) @ placed_mechanism.own[rigid.name])
    return OwnFrames(np.array(body, np.int32), np.array(own).reshape(-1, 4, 4), obstacles)
