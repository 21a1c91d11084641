"""Settings of jointed rigid bodies: of a bone or an object (`conjac` of pose bones, `conjac.part` of objects), and of a
whole mechanism (`conjac.mechanism` of armatures and of the Empty that stands for rigid body objects).

What scene.json has of them is declared once, in FIELDS. A joint's fields follow from its settings and from what the rig
says of it, `reading.plan`: a `JointStart` of gather/mechanism.py. Rows of joints and springs are drawn by their panels.
"""

import math
from dataclasses import replace
from typing import Any

import bpy

from ..solver import catalogue
from . import members
from .declared import (
    BOOL,
    ENUM,
    FLOAT,
    INT,
    JOINT,
    LOOP,
    MECHANISM,
    RIGID_BODY,
    SCENE,
    SPRING,
    STRING,
    UNWRITTEN,
    JobField,
    Reading,
)
from .handles import is_holder
from .menus import Item, item, items, worded

OVERRIDABLE: Any = {"LIBRARY_OVERRIDABLE"}

#: roles of a bone in the mechanism
SIMULATED, ANIMATED, LEFT_OUT = "simulated", "animated", "none"

#: of menus: taken from the rig or the mesh
AUTOMATIC = "auto"

#: shapes that a bone may have without a mesh of its own
BONE_SHAPES = ("capsule", "box", "sphere")

#: points at which a bearing touches: with fewer its friction swings as the load turns
FEWEST_POINTS = 12

#: key of a joint that no motor drives
NO_MOTOR = "none"


def _menu(family: str, name: str, description: str, first: Item) -> Any:
    """Return a menu of a catalogue's family with an additional first entry."""
    return bpy.props.EnumProperty(name=name, description=description, default=first[0], override=OVERRIDABLE,
                                  items=[first, *items(catalogue.menu(family).values())])


class CONJAC_Part(bpy.types.PropertyGroup):
    """One rigid body and the joint that holds it to its parent."""

    __slots__ = ()

    role: bpy.props.EnumProperty(
        name="Role", description="Role of the bone in the mechanism", default=SIMULATED, override=OVERRIDABLE,
        items=[item(SIMULATED, "Simulated", "A rigid body that falls, swings and is pushed", 0),
               item(ANIMATED, "Animated", "A rigid body that follows its animation and takes the others along", 1),
               item(LEFT_OUT, "Left Out", "No rigid body: it moves with its parent", 2)])
    shape: bpy.props.EnumProperty(
        name="Shape", description="Shape of the rigid body around the bone", default="capsule", override=OVERRIDABLE,
        items=[worded("shape", key, "Along the bone" if key != "sphere" else "Around its middle")
               for key in BONE_SHAPES])
    radius: bpy.props.FloatProperty(
        name="Radius", description="Radius of the shape around the bone; 0 takes it from the skin",
        default=0.0, min=0.0, soft_max=1.0, precision=4, unit="LENGTH", override=OVERRIDABLE)
    joint: _menu("joint", "Joint", "How it can move relative to its parent",
                 item(AUTOMATIC, "Automatic", "From rotation limits, locks and limits of IK, and parents", 0))
    axis: bpy.props.EnumProperty(
        name="Axis", description="Axis of the bone about which a hinge turns, or along which a slider moves",
        default="X", override=OVERRIDABLE,
        items=[item(axis, axis, f"The bone's own {axis}", k) for k, axis in enumerate("XYZ")])
    use_limits: bpy.props.BoolProperty(
        name="Limits", description="Keep the joint within its own limits, in addition to those of the rig",
        default=False, override=OVERRIDABLE)
    limit_low: bpy.props.FloatVectorProperty(
        name="Least", description="Limit of backward turns about each axis of the bone, from the rest pose. An axis "
        "with the same limit in both directions does not turn", size=3, subtype="EULER", min=-math.pi,
        max=math.pi, override=OVERRIDABLE)
    limit_high: bpy.props.FloatVectorProperty(
        name="Most", description="Limit of turns about each axis of the bone, from the rest pose", size=3,
        subtype="EULER", min=-math.pi, max=math.pi, override=OVERRIDABLE)
    planar: bpy.props.BoolProperty(
        name="Closes Planar Ring", description="For a hinge that closes a ring of parallel hinges, such as a "
        "four-bar linkage: hold only a point on its axis, since the others keep the ring in its plane already",
        default=False, override=OVERRIDABLE)
    uuid: bpy.props.StringProperty(
        name="UUID", description="Identifies this bone or object in its mechanism, whatever its name",
        options={"HIDDEN"}, override=OVERRIDABLE)
    called: bpy.props.StringProperty(
        name="Called", description="Its name when it was baked; a copy has another name",
        options={"HIDDEN"}, override=OVERRIDABLE)


class CONJAC_Spring(bpy.types.PropertyGroup):
    """A damped spring between points of two parts. `name` is shown in the list."""

    __slots__ = ()

    first_point: bpy.props.FloatVectorProperty(
        name="At", description="Offset of the end from the middle of the bone or the origin of the object, along its "
        "own axes", size=3, subtype="XYZ", unit="LENGTH", override=OVERRIDABLE)
    second_point: bpy.props.FloatVectorProperty(
        name="At", description="Offset of the end from the middle of the bone or the origin of the object, along its "
        "own axes; a place in the world where Second is empty", size=3, subtype="XYZ", unit="LENGTH",
        override=OVERRIDABLE)
    as_placed: bpy.props.BoolProperty(
        name="Keep Placed Length", description="Use the length at the first frame as rest length",
        default=True, override=OVERRIDABLE)


class CONJAC_Attachment(bpy.types.PropertyGroup):
    """One part of a soft body that follows a bone or a rigid object."""

    __slots__ = ()

    object: bpy.props.PointerProperty(
        name="Mechanism", description="Armature whose bone, or Empty of a mechanism whose object, holds the soft body; "
        "or a soft body that holds cloth with Sharp Edges", type=bpy.types.Object, poll=is_holder, override=OVERRIDABLE)
    part: bpy.props.StringProperty(
        name="Bone", description="Name of the bone, or of the rigid body object", override=OVERRIDABLE)
    group: bpy.props.StringProperty(
        name="Group", description="Vertex group of the attached part; if empty, the group with the name of the bone "
        "or object",
        override=OVERRIDABLE)


class CONJAC_Mechanism(bpy.types.PropertyGroup):
    """Settings of a whole mechanism."""

    __slots__ = ()

    collection: bpy.props.PointerProperty(
        name="Objects", description="Collection with the rigid body objects of the mechanism and the Empties that join "
        "them", type=bpy.types.Collection, override=OVERRIDABLE)
    obstacles: bpy.props.PointerProperty(
        name="Obstacles", description="Collection of meshes that it collides with; each loose part counts as convex",
        type=bpy.types.Collection, override=OVERRIDABLE)
    use_skin: bpy.props.BoolProperty(
        name="Mass from Skin", description="Take the mass and thickness of each bone from the meshes that it deforms",
        default=True, override=OVERRIDABLE)
    pull_to: bpy.props.EnumProperty(
        name="Pulls to", description="Pose that stiff joints pull back to", default="start",
        override=OVERRIDABLE, items=[item("start", "Start Pose", "The pose at the first frame", 0),
                                     item("rest", "Rest Pose", "The pose of the armature's Edit Mode", 1)])
    follow: bpy.props.BoolProperty(
        name="Follow Animation", description="Drive every simulated bone along its animation, and then let go",
        default=False, override=OVERRIDABLE)
    touch_soft: bpy.props.BoolProperty(
        name="Touch Soft Bodies", description="Its bodies collide with soft bodies. Soft bodies that touch it are "
        "baked together with it, attached or not", default=False, override=OVERRIDABLE)
    springs: bpy.props.CollectionProperty(
        name="Springs", description="Damped springs between points of its parts", type=CONJAC_Spring,
        override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"})
    active_spring: bpy.props.IntProperty(name="Active Spring", description="The spring whose settings are shown",
                                         default=0, min=0, override=OVERRIDABLE)
    use_decimation: bpy.props.BoolProperty(
        name="Fewer Keyframes", description="Leave out keyframes that the curve does not need",
        default=False, override=OVERRIDABLE)
    tolerance: bpy.props.FloatProperty(
        name="Tolerance", description="Largest deviation of a curve from the bake, in radians and Blender units",
        default=0.001, min=1.0e-6, soft_max=0.1, precision=6, override=OVERRIDABLE)


classes = (CONJAC_Part, CONJAC_Spring, CONJAC_Attachment, CONJAC_Mechanism)

#: motors that have a largest effort; those that need a damping; those that pull as well as they push
MOTORS, PUSHING, PULLING = ("servo", "speed", "drive"), ("servo", "speed"), ("servo",)


def _mass(reading: Reading) -> Any:
    """Return the mass of a body [kg]: that of its rigid body, or the setting of a bone; else it is measured."""
    return reading.plan.mass or reading.number("mass") or UNWRITTEN


def _on_each_rate(reading: Reading, name: str) -> Any:
    """Return a number for each rate of a joint, (k,); none where nothing joins the body, or it is 0."""
    value = reading.number(name)
    return [value] * len(reading.plan.rates) if value and reading.plan.is_joined else UNWRITTEN


def _explicit(reading: Reading) -> Any:
    """Return that springs of a joint act as at the start of a step, where it has any and they do."""
    part = reading.holder
    has_springs = reading.plan.is_joined and (part.stiffness or part.damping)
    return False if has_springs and not part.implicit else UNWRITTEN


def _limits(reading: Reading, end: str) -> Any:
    """Return the limits of a joint at one end, (k,) [rad or m]; none where the rig and the artist set none."""
    return list(getattr(reading.plan, end)) if reading.plan.low else UNWRITTEN


def _rubs(reading: Reading) -> bool:
    """Whether there is friction in a bearing."""
    plan = reading.plan
    return bool(reading.holder.friction) and (plan is None or bool(plan.is_joined and plan.rates))


def _in_bearing(name: str, least: float = 0.0) -> Any:
    """Return a function that reads a number of a bearing with friction, where it is above the least one."""
    return lambda reading: reading.number(name) if _rubs(reading) and reading.number(name) > least else UNWRITTEN


def _motor(reading: Reading) -> Any:
    """Return the motor of a joint without its numbers: a drive where it moves along its animation."""
    plan, chosen = reading.plan, reading.holder.motor
    if not plan.rates or not plan.is_driven and (chosen == NO_MOTOR or not plan.is_joined):
        return UNWRITTEN
    return {"kind": "drive" if plan.is_driven else chosen, "params": {}}


def _of_motor(reading: Reading, kinds: tuple[str, ...], name: str) -> Any:
    """Return a number of a joint's own motor, of these kinds."""
    plan = reading.plan
    has_one = reading.holder.motor in kinds and plan.is_joined and plan.rates and not plan.is_driven
    return reading.number(name) if has_one else UNWRITTEN


def _explicit_motor(reading: Reading) -> Any:
    """Return that a motor acts as at the start of a step, where it does."""
    return False if _of_motor(reading, PUSHING, "motor_implicit") is False else UNWRITTEN


def _most_effort(reading: Reading) -> Any:
    return _of_motor(reading, MOTORS, "motor_limit") or UNWRITTEN


def _until(reading: Reading) -> Any:
    """Return the frame from which a body that follows its animation is simulated; none for one that follows for good.
    """
    plan = reading.plan
    return reading.holder.let_go if plan.is_driven and plan.rates and not plan.is_animated else UNWRITTEN


JOINTS = [
    JobField("uuid", of=RIGID_BODY, value=lambda reading: reading.plan.uuid or UNWRITTEN),
    JobField("mass", FLOAT(
        name="Mass", description="Mass of the body; 0 takes it from the volume of the skin or of the shape",
        default=0.0, min=0.0, soft_max=100.0, precision=3, unit="MASS", override=OVERRIDABLE),
        group="part", of=RIGID_BODY, value=_mass),
    JobField("stiffness", FLOAT(
        name="Stiffness", description="Stiffness with which the joint pulls back to its pose, in N m per radian or N "
        "per meter",
        default=0.0, min=0.0, soft_max=1000.0, precision=3, override=OVERRIDABLE),
        group="part", of=JOINT, value=lambda reading: _on_each_rate(reading, "stiffness")),
    JobField("implicit", BOOL(
        name="Implicit", description="Evaluate stiffness and damping at the end of each step: stable at any "
        "stiffness. If off, they are evaluated at its start: a swing keeps its energy, and steps must be short",
        default=True, override=OVERRIDABLE),
        group="part", of=JOINT, value=_explicit),
    JobField("damping", FLOAT(
        name="Damping", description="Damping of the joint's motion, in N m s per radian or N s per meter",
        default=0.0, min=0.0, soft_max=100.0, precision=3, override=OVERRIDABLE),
        group="part", of=JOINT, value=lambda reading: _on_each_rate(reading, "damping")),
    *(JobField(end, of=JOINT, called="Limits", value=lambda reading, end=end: _limits(reading, end))
      for end in ("low", "high")),
    JobField("friction.mu", FLOAT(
        name="Friction", description="Coefficient of the friction inside the joint's bearing",
        default=0.0, min=0.0, soft_max=1.0, precision=3, override=OVERRIDABLE),
        group="part", property_name="friction", of=JOINT, called="Joint Friction", value=_in_bearing("friction")),
    JobField("friction.radius", FLOAT(
        name="Bearing Radius", description="Radius of the joint's bearing: a larger one has more friction",
        default=0.02,
        min=1.0e-5, soft_max=0.5, precision=4, unit="LENGTH", override=OVERRIDABLE),
        group="part", property_name="bearing_radius", of=JOINT, value=_in_bearing("bearing_radius")),
    JobField("friction.length", FLOAT(
        name="Bearing Length", description="Length of the joint's bearing along its axis", default=0.04,
        min=1.0e-5, soft_max=0.5, precision=4, unit="LENGTH", override=OVERRIDABLE),
        group="part", property_name="bearing_length", of=JOINT, value=_in_bearing("bearing_length")),
    JobField("friction.points", INT(
        name="Bearing Points", description="Number of contact points of the bearing: with more of them friction "
        "varies less as the load turns, and steps take longer", default=FEWEST_POINTS, min=FEWEST_POINTS, max=1000,
        soft_max=64,
        override=OVERRIDABLE),
        group="part", property_name="bearing_points", of=JOINT, value=_in_bearing("bearing_points", FEWEST_POINTS)),
    JobField("motor.mode", ENUM(
        name="Motor", description="Motor of the joint", default=NO_MOTOR, override=OVERRIDABLE,
        items=[item(NO_MOTOR, "None", "No motor", 0),
               worded("motor", "servo", "A spring that pulls towards the target; keyframes of the target are followed"),
               worded("motor", "speed", "Pushes towards a speed"),
               worded("motor", "drive", "Follows the target exactly, with any effort")]),
        group="part", property_name="motor", of=JOINT, value=_motor),
    JobField("motor.mode.params.stiffness", FLOAT(
        name="Motor Stiffness", description="Stiffness of a servo, in N m per radian or N per meter",
        default=100.0, min=0.0, soft_max=1.0e4, precision=2, override=OVERRIDABLE),
        group="part", property_name="motor_stiffness", of=JOINT,
        value=lambda reading: _of_motor(reading, PULLING, "motor_stiffness")),
    JobField("motor.mode.params.damping", FLOAT(
        name="Motor Damping", description="Damping of the motor: its force per deviation from the target speed, in N "
        "m s per radian or N s per meter", default=10.0, min=0.0, soft_max=1.0e3, precision=2, override=OVERRIDABLE),
        group="part", property_name="motor_damping", of=JOINT,
        value=lambda reading: _of_motor(reading, PUSHING, "motor_damping")),
    JobField("motor.until", INT(
        name="Let Go at", description="Frame from which it is simulated freely", default=24, override=OVERRIDABLE),
        "letting go", "mechanism", "let_go", of=JOINT, grey_without="follow", reads=("follow",), value=_until),
    JobField("motor.implicit", BOOL(
        name="Implicit Motor", description="Evaluate the motor's force at the end of each step: stable at any "
        "stiffness. If off, it is evaluated at the start", default=True, override=OVERRIDABLE),
        group="part", property_name="motor_implicit", of=JOINT, value=_explicit_motor),
    JobField("motor.limit", FLOAT(
        name="Largest Effort", description="Largest force of the motor, in N m or N; 0 means no limit",
        default=0.0, min=0.0, soft_max=1.0e4, precision=2, override=OVERRIDABLE),
        group="part", property_name="motor_limit", of=JOINT, value=_most_effort),
]

#: bearings of loops are those of their joints' settings
LOOPS = [replace(joint_field, definition=None, called=joint_field.label, of=LOOP)
         for joint_field in JOINTS if joint_field.field.startswith("friction.")]

SPRINGS = [
    JobField("body_a", STRING(
        name="First", description="Bone or rigid body object at one end", override=OVERRIDABLE),
        group="spring", property_name="first", of=SPRING, value=lambda reading: reading.plan[0]),
    JobField("stiffness", FLOAT(
        name="Stiffness", description="Stiffness of the spring, in N per meter", default=1000.0, min=0.0,
        soft_max=1.0e6,
        precision=2, override=OVERRIDABLE),
        group="spring", of=SPRING, always=True),
    JobField("damping", FLOAT(
        name="Damping", description="Damping of the spring, in N s per meter", default=1.0, min=0.0,
        soft_max=1.0e4, precision=3, override=OVERRIDABLE),
        group="spring", of=SPRING, always=True),
    JobField("body_b", STRING(
        name="Second", description="Bone or rigid body object at the other end; empty holds it in the world",
        override=OVERRIDABLE),
        group="spring", property_name="second", of=SPRING, value=lambda reading: reading.plan[1] or UNWRITTEN),
    JobField("rest_length", FLOAT(
        name="Rest Length", description="Length at which it does not pull", default=0.1, min=0.0, soft_max=10.0,
        precision=4, unit="LENGTH", override=OVERRIDABLE),
        group="spring", of=SPRING, reads=("as_placed",),
        value=lambda reading: UNWRITTEN if reading.holder.as_placed else reading.number("rest_length")),
    JobField("implicit", BOOL(
        name="Implicit", description="Evaluate its force at the end of each step: stable at any stiffness. If off, "
        "it is evaluated at the start", default=True, override=OVERRIDABLE),
        group="spring", of=SPRING),
]

MECHANISMS = [
    JobField("density", FLOAT(
        name="Density", description="Mass per volume of its bodies, in kg/m³", default=1000.0, min=1.0e-3,
        soft_min=10.0, soft_max=10000.0, precision=1, override=OVERRIDABLE),
        fold="density of bodies", group="mechanism", of=RIGID_BODY, always=True),
    JobField("friction", FLOAT(
        name="Contact Friction", description="Coulomb's coefficient of its bodies in contact", default=0.5,
        min=0.0, soft_max=1.5, precision=3, override=OVERRIDABLE),
        fold="mechanism", group="mechanism", property_name="contact_friction", of=RIGID_BODY, always=True),
    JobField("self_collisions", BOOL(
        name="Self Collisions", description="Bodies of the mechanism collide with each other, except neighbors and "
        "jointed ones that overlap at the first frame", default=False, override=OVERRIDABLE),
        fold="mechanism", group="mechanism", of=MECHANISM, always=True),
    JobField("joint_friction.kind", ENUM(
        name="Joint Friction", description="How friction inside joints is computed", default="bisp",
        override=OVERRIDABLE, items=items(catalogue.menu("joint_friction").values())),
        fold="mechanism", group="mechanism", property_name="joint_friction", of=SCENE, always=True,
        suits=lambda obj: members.is_mechanism(obj)),
]

FIELDS = [*MECHANISMS, *JOINTS, *LOOPS, *SPRINGS]


def register() -> None:
    for kind in (bpy.types.PoseBone, bpy.types.Object):
        # beside the settings and not among them: Blender finds no path for keyframes into a bone's property group
        kind.conjac_motor_target = bpy.props.FloatProperty(
            name="Target", description="Angle of a hinge or position of a slider relative to the start, in "
            "radians or meters; of a speed motor, per second. Can be animated", default=0.0, precision=3,
            override=OVERRIDABLE)
    bpy.types.PoseBone.conjac = bpy.props.PointerProperty(type=CONJAC_Part, override=OVERRIDABLE)


def unregister() -> None:
    for kind in (bpy.types.PoseBone, bpy.types.Object):
        if hasattr(kind, "conjac_motor_target"):
            del kind.conjac_motor_target
    if hasattr(bpy.types.PoseBone, "conjac"):
        del bpy.types.PoseBone.conjac
