"""Validation of mechanisms beyond types: names exist, trees have no cycle, lists fit their joints."""

from __future__ import annotations

import numpy as np

from .. import catalogue
from ..state import Vec
from . import schema, schema_mechanisms, schema_values
from .expect import check_array, check_choice, check_indices, check_one_damping, check_vector, check_weights
from .folder import FARTHEST, Job, refuse
from .kinds import kind_of

FLAT = 1.0e-6  #: a shape is flat where its least extent is below this fraction of its largest
FEWEST_POINTS, MOST_POINTS = 12, 1000  #: of a bearing
RIGID = 1.0e-3  #: what a rotation's columns may differ from unit ones at right angles


def check_mechanisms(job: Job) -> None:
    """Check the mechanisms of a scene. Raises BadScene or NoSuchThing."""
    scene, seen = job.scene, set[str]()
    if not scene.bodies and not scene.mechanisms:
        raise refuse("the scene has neither soft bodies nor mechanisms", "$.bodies", "Add one")
    check_choice("joint_friction", scene.joint_friction, "$.joint_friction")
    if scene.mechanisms:
        _check_stepping(scene)
    for i, mechanism in enumerate(scene.mechanisms):
        _check_unique(mechanism.name, seen, "mechanism", f"$.mechanisms[{i}].name")
        _check_mechanism(job, mechanism, f"$.mechanisms[{i}]")


def _check_stepping(scene: schema.Scene) -> None:
    integrator = catalogue.find("integrator", scene.integrator.kind)
    if why := integrator.why_not("joints"):
        works = [entry.label for entry in catalogue.able("integrator", "joints")]
        raise refuse(f"{integrator.label} does not move jointed bodies: {why}", "$.integrator.kind",
                     f"Use {', '.join(works[:-1])} or {works[-1]}")
    _check_hanging(scene)
    if scene.time.tolerance:
        raise refuse("an accuracy cannot choose the steps of jointed bodies", "$.time.tolerance", "Set it to 0")


def _check_hanging(scene: schema.Scene) -> None:
    """Check that a scene has no settings that soft bodies on mechanisms do not support. Raises BadScene."""
    bodies = [body for body in scene.bodies if (body.attach or scene.contact is not None)
              and not kind_of(body).steps_by_itself]
    if not bodies:
        return
    hanging = bodies[0].name
    check_one_damping(scene, bodies, "hang on mechanisms" if scene.contact is None else "touch each other")
    friction = catalogue.find("joint_friction", scene.joint_friction.kind)
    if why := friction.why_not("flesh"):
        works = [entry.label for entry in catalogue.able("joint_friction", "flesh")]
        raise refuse(f'{friction.label} ignores the pull of "{hanging}" on its bones: {why}',
                     "$.joint_friction.kind", f"Use {' or '.join(reversed(works))}")
    for body in bodies:
        if scene.method_of(body).params.get("adaptive"):
            where = "$.method" if body.method is None else f"$.bodies[{scene.bodies.index(body)}].method"
            raise refuse(f'dynamic nodes cannot sleep where "{body.name}" hangs on bones', f"{where}.params.adaptive",
                         "Switch it off")


def _check_unique(name: str, seen: set[str], kind: str, where: str) -> None:
    if not name or name in seen:
        raise refuse(f"the {kind} has no name" if not name else f'two {_plural(kind)} are called "{name}"', where)
    seen.add(name)


def _plural(kind: str) -> str:
    return kind[:-1] + "ies" if kind.endswith("y") else kind + "s"


def _check_mechanism(job: Job, mechanism: schema_mechanisms.Mechanism, where: str) -> None:
    """Check a mechanism with its bodies, joints, loops, springs and forces. Raises BadScene."""
    subject = f'"{mechanism.name}"'
    if not mechanism.bodies:
        raise refuse(f"{subject} has no body", f"{where}.bodies", "Give it at least one")
    names, joints = set[str](), set[str]()
    for i, body in enumerate(mechanism.bodies):
        _check_unique(body.name, names, "rigid body", f"{where}.bodies[{i}].name")
        _check_body(job, body, f"{where}.bodies[{i}]")
    moved = {body.name for body in mechanism.bodies if body.motion is not None}
    for i, joint in enumerate(mechanism.joints):
        path = f"{where}.joints[{i}]"
        _check_unique(joint.name, joints, "joint", f"{path}.name")
        for field, name in (("child", joint.child), ("parent", joint.parent)):
            _check_known(name, names, f'joint "{joint.name}"', f"{path}.{field}")
            if name in moved:
                raise refuse(f'joint "{joint.name}" holds "{name}", which is animated', f"{path}.{field}",
                             "Take the motion from the body, or drive the joint")
        _check_joint(job, joint, path)
    _check_tree(mechanism, where)
    for i, loop in enumerate(mechanism.loops):
        _check_loop(loop, names, f"{where}.loops[{i}]")
    for i, spring in enumerate(mechanism.springs):
        _check_spring(spring, names, f"{where}.springs[{i}]")
    for i, force in enumerate(mechanism.rate_forces):
        _check_rate_force(mechanism, force, f"{where}.rate_forces[{i}]")


def _check_rate_force(mechanism: schema_mechanisms.Mechanism, force: schema_mechanisms.RateForce, where: str) -> None:
    check_choice("rate_law", force.rate_law, f"{where}.rate_law")
    kinds = {joint.name: joint.kind for joint in mechanism.joints}
    if not force.joints:
        raise refuse("a force acts on no joint", f"{where}.joints", "Name the joints that it acts on")
    for k, name in enumerate(force.joints):
        if name not in kinds or name in force.joints[:k]:
            what = "is named twice" if name in kinds else f'is no joint of "{mechanism.name}"'
            raise refuse(f'"{name}" {what}', f"{where}.joints[{k}]", f"Use {', '.join(kinds) or 'a joint'}")


def _check_known(name: str | None, names: set[str], subject: str, where: str) -> None:
    if name is not None and name not in names:
        raise refuse(f'{subject} names the body "{name}", which is not there', where,
                     f"The mechanism has {', '.join(sorted(names))}")


def _check_frame(position: schema_values.Vector, rotation: schema_values.Quaternion, subject: str, where: str) -> None:
    check_vector(position, f"{where}.position")
    # also false for NaN
    if not 1.0 / FARTHEST < max(map(abs, rotation)) <= FARTHEST or not all(abs(r) <= FARTHEST for r in rotation):
        raise refuse(f"the rotation of {subject} is zero", f"{where}.rotation", "Use (1, 0, 0, 0) for none")


def _check_body(job: Job, body: schema_mechanisms.RigidBody, where: str) -> None:
    """Check the shape, mass and motion of a rigid body. Raises BadScene."""
    subject = f'body "{body.name}"'
    _check_frame(body.position, body.rotation, subject, where)
    check_choice("shape", body.shape, f"{where}.shape")
    entry = catalogue.find("shape", body.shape.kind)
    for field in ("vertices", "triangles"):
        if (getattr(body, field) is None) == (field in entry.reads):
            raise refuse(f"{subject} is a {entry.label.lower()}, which {'needs' if field in entry.reads else 'has no'} "
                         f"{field}", f"{where}.{field}")
    for param in entry.params:
        value = body.shape.params.get(param.key, param.default)
        if param.low == 0.0 and not value > 0.0 and param.key != "length":  # a capsule of no length is a sphere
            raise refuse(f"{subject} is flat: {param.label} is {value:g}", f"{where}.shape.params.{param.key}",
                         "Give it some thickness")
    if body.vertices is not None:
        vertices = check_array(job, body.vertices, f"{where}.vertices", "f", (None, 3))
        if len(vertices) < 4:
            raise refuse(f"{subject} has {len(vertices)} vertices, which enclose nothing", f"{where}.vertices",
                         "Give it at least four")
        extents = np.linalg.svd(vertices - vertices.mean(axis=0), compute_uv=False)
        if not extents[2] > FLAT * extents[0]:
            raise refuse(f"{subject} is flat: its vertices lie in a plane", f"{where}.vertices",
                         "Give it some thickness")
        if body.triangles is not None:
            triangles = check_array(job, body.triangles, f"{where}.triangles", "i", (None, 3))
            check_indices(triangles, len(vertices), f"{where}.triangles", "vertices")
    if body.mass is not None and not 0.0 < body.mass <= FARTHEST:
        raise refuse(f"{subject} has a mass of {body.mass:g} kg", f"{where}.mass", "Give it more than 0")
    if not 0.0 < body.density <= FARTHEST:
        raise refuse(f"{subject} has a density of {body.density:g} kg/m³", f"{where}.density", "Give it more than 0")
    if not 0.0 <= body.friction <= FARTHEST:
        raise refuse(f"{subject} has a friction of {body.friction:g}", f"{where}.friction", "Give it 0 or more")
    if body.motion is not None:
        _check_motion(check_array(job, body.motion, f"{where}.motion", "f", (job.samples, 4, 4)), subject,
                      f"{where}.motion")


def _check_motion(motion: Vec, subject: str, where: str) -> None:
    """Check that matrices of a motion, (T, 4, 4), are rotations and translations. Raises BadScene."""
    rotation = motion[:, :3, :3]
    off = np.abs(np.swapaxes(rotation, 1, 2) @ rotation - np.eye(3)).max(axis=(1, 2), initial=0.0)
    bad = ~(off <= RIGID) | (motion[:, 3] != [0.0, 0.0, 0.0, 1.0]).any(axis=1)
    bad |= np.linalg.det(rotation) < 0.0
    if bad.any():
        raise refuse(f"the motion of {subject} scales, shears or mirrors it at sample {int(np.argmax(bad))}", where,
                     "Use rotations and translations only, with (0, 0, 0, 1) as their last row")


def _check_joint(job: Job, joint: schema_mechanisms.Joint, where: str) -> None:
    """Check the kind, frame, numbers, limits and motor of a joint. Raises BadScene."""
    subject, known = f'joint "{joint.name}"', catalogue.family("joint")
    if joint.kind not in known:
        raise refuse(f'there is no joint "{joint.kind}"', f"{where}.kind", f"Use one of {', '.join(known)}")
    rates = len(known[joint.kind].rates)
    _check_frame(joint.position, joint.rotation, subject, where)
    for name in ("start", "rate", "stiffness", "damping", "rest", "low", "high"):
        values: list[float] = getattr(joint, name)
        if values and len(values) != rates:
            raise refuse(f"{subject} of kind {joint.kind} has {rates} rates and {len(values)} numbers in {name}",
                         f"{where}.{name}", f"Give {rates} or none" if rates else "Give none")
        if not all(abs(value) <= FARTHEST for value in values):
            raise refuse(f"{subject} has a number beyond {FARTHEST:g} in {name}", f"{where}.{name}")
        if name in ("stiffness", "damping") and min(values, default=0.0) < 0.0:
            raise refuse(f"{subject} has a {name} of {min(values):g}", f"{where}.{name}", "Give 0 or more")
    for low, high in zip(joint.low, joint.high):
        if low > high:
            raise refuse(f"{subject} has its lower limit, {low:g}, above its upper one, {high:g}", f"{where}.low",
                         "Swap them")
    if bool(joint.low) != bool(joint.high):
        raise refuse(f"{subject} has limits on one side only", f"{where}.{'high' if joint.low else 'low'}",
                     "Give both; a number as large as 1e9 means none")
    if joint.motor is not None:
        _check_motor(job, joint.motor, subject, rates, f"{where}.motor")
    if joint.friction is not None:
        _check_bearing(joint.friction, subject, f"{where}.friction")


def _check_motor(job: Job, motor: schema_mechanisms.Motor, subject: str, rates: int, where: str) -> None:
    """Check a motor. subject: its joint, for messages. rates: number of the joint's rates. Raises BadScene."""
    if not rates:
        raise refuse(f"{subject} does not move, so no motor can drive it", where, "Leave the motor out")
    check_choice("motor", motor.mode, f"{where}.mode")
    if isinstance(motor.target, str):
        check_array(job, motor.target, f"{where}.target", "f", (job.samples, rates))
    elif len(motor.target) != rates or not all(abs(value) <= FARTHEST for value in motor.target):
        raise refuse(f"the motor of {subject} has {len(motor.target)} targets for {rates} rates", f"{where}.target",
                     f"Give {rates}")
    if motor.until is not None and motor.until <= job.scene.time.start:
        raise refuse(f"the motor of {subject} lets go at frame {motor.until}, before anything moves", f"{where}.until",
                     "Let it go later, or leave the motor out")
    if not motor.implicit and catalogue.find("motor", motor.mode.kind).load().exact:
        raise refuse(f"the drive of {subject} is explicit, but it is not a force: its motion is prescribed",
                     f"{where}.implicit", "Leave `implicit` out, or use a servo")
    if motor.limit is not None and not 0.0 < motor.limit <= FARTHEST:
        raise refuse(f"the motor of {subject} has a largest effort of {motor.limit:g}", f"{where}.limit",
                     "Give it more than 0")


def _check_bearing(friction: schema_mechanisms.JointFriction, subject: str, where: str) -> None:
    """Check the friction of a bearing. subject: its joint or loop, for messages. Raises BadScene."""
    for name, low in (("mu", 0.0), ("radius", 1.0 / FARTHEST), ("length", 1.0 / FARTHEST)):
        if not low <= getattr(friction, name) <= FARTHEST:
            raise refuse(f"the bearing of {subject} has a {name} of {getattr(friction, name):g}", f"{where}.{name}",
                         "Give 0 or more" if name == "mu" else "Give it more than 0")
    if friction.points < FEWEST_POINTS:
        raise refuse(f"the bearing of {subject} touches at {friction.points} points", f"{where}.points",
                     f"Give it at least {FEWEST_POINTS}: with fewer the friction varies as the load turns")
    if friction.points > MOST_POINTS:
        raise refuse(f"the bearing of {subject} touches at {friction.points} points", f"{where}.points",
                     f"Give it {MOST_POINTS} at most; a few dozen are as accurate")


def _check_tree(mechanism: schema_mechanisms.Mechanism, where: str) -> None:
    """Check that each body is the child of one joint at most, and that joints form no cycle. Raises BadScene."""
    above: dict[str, int] = {}
    for i, joint in enumerate(mechanism.joints):
        if joint.child in above:
            first = mechanism.joints[above[joint.child]]
            raise refuse(f'"{joint.child}" is attached to two joints, "{first.name}" and "{joint.name}"',
                         f"{where}.joints[{i}].child", "Make one of them a loop")
        above[joint.child] = i
    fine: set[str] = set()  # bodies whose chain of parents is known to end
    for start, i in above.items():
        chain, at = [start], mechanism.joints[i].parent
        while at is not None and at in above and at not in fine:
            chain.append(at)
            if at == start:
                raise refuse(f"the joints go around in a circle: {' on '.join(chain)}", f"{where}.joints[{i}].parent",
                             "Make one of the joints a loop")
            if len(chain) > len(above):  # it ends in a cycle of others, which report it
                break
            at = mechanism.joints[above[at]].parent
        else:
            fine.update(chain)


def _check_loop(loop: schema_mechanisms.Loop, names: set[str], where: str) -> None:
    """Check a loop. names: of the mechanism's bodies. Raises BadScene."""
    subject, known = f'loop "{loop.name}"', catalogue.family("loop")
    if loop.kind not in known:
        raise refuse(f'there is no loop "{loop.kind}"', f"{where}.kind", f"Use one of {', '.join(known)}")
    for field, name in (("body_a", loop.body_a), ("body_b", loop.body_b)):
        _check_known(name, names, subject, f"{where}.{field}")
    if loop.body_a == loop.body_b:
        raise refuse(f'{subject} holds "{loop.body_a}" on itself', f"{where}.body_b", "Name another body")
    _check_frame(loop.position, loop.rotation, subject, where)
    if loop.friction is not None:
        _check_bearing(loop.friction, subject, f"{where}.friction")


def _check_spring(spring: schema_mechanisms.Spring, names: set[str], where: str) -> None:
    """Check a spring. Raises BadScene."""
    for field, name in (("body_a", spring.body_a), ("body_b", spring.body_b)):
        _check_known(name, names, "a spring", f"{where}.{field}")
    if spring.body_a == spring.body_b:
        raise refuse("both ends of a spring are in one body", f"{where}.body_b", "Name another body")
    check_vector(spring.point_a, f"{where}.point_a")
    check_vector(spring.point_b, f"{where}.point_b")
    for field, value in (("stiffness", spring.stiffness), ("damping", spring.damping),
                         ("rest_length", spring.rest_length or 0.0)):
        if not 0.0 <= value <= FARTHEST:
            raise refuse(f"a spring has a {field.replace('_', ' ')} of {value:g}", f"{where}.{field}",
                         "Give it 0 or more")


def check_attached(job: Job, body: schema.Body, vertices: int, nodes: int | None, where: str) -> None:
    """Check the attachments of a soft body. Raises BadScene or NoSuchThing.

    vertices: number of vertices of its surface. nodes: number of nodes of a given volume, cloth or rope, else None.
    where: path of the body in scene.json.
    """
    mechanisms = {mechanism.name: mechanism for mechanism in job.scene.mechanisms}
    for i, attach in enumerate(body.attach):
        path = f"{where}.attach[{i}]"
        if not attach.mechanism:
            _check_on_flesh(job.scene, body, attach.body, path)
        elif attach.mechanism not in mechanisms:
            raise refuse(f'it is attached to the mechanism "{attach.mechanism}", which is not there',
                         f"{path}.mechanism", f"The scene has {', '.join(mechanisms) or 'none'}")
        else:
            _check_known(attach.body, {rigid.name for rigid in mechanisms[attach.mechanism].bodies}, "an attachment",
                         f"{path}.body")
        if (attach.weights is None) == (attach.nodes is None):
            raise refuse("an attachment needs either weights or nodes", f"{path}.weights", "Give one of them")
        if attach.weights is not None:
            check_weights(job, attach.weights, f"{path}.weights", vertices)
        if attach.nodes is not None:
            if nodes is None:
                raise refuse("nodes can be listed only for a volume given by hand, in `tets`", f"{path}.nodes")
            check_indices(check_array(job, attach.nodes, f"{path}.nodes", "i", (None,)), nodes, f"{path}.nodes",
                          "nodes")


def _check_on_flesh(scene: schema.Scene, body: schema.Body, holder: str, where: str) -> None:
    """Check an attachment of cloth to a soft body. holder: name of that soft body. Raises BadScene."""
    if not kind_of(body).attaches_to_bodies:
        raise refuse(f'it is attached to "{holder}" of no mechanism, and only cloth with Sharp Edges can be '
                     "attached to soft bodies", f"{where}.mechanism", "Name the mechanism, or switch Sharp Edges on")
    bodies = {soft.name: soft for soft in scene.bodies if kind_of(soft).is_filled}
    _check_known(holder, set(bodies), "an attachment", f"{where}.body")
    if bodies[holder].is_reshaped:
        raise refuse(f'it is attached to "{holder}", which is cut, nailed or released, so the part that it is '
                     "attached to may come off",
                     f"{where}.body", "Leave the cuts and nails out, or attach it to something else")
