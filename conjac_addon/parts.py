"""Settings of jointed rigid bodies: of a bone or an object (`conjac` of pose bones, `conjac.part` of objects), and of a
whole mechanism (`conjac.mechanism` of armatures and of the Empty that stands for rigid body objects).
"""

import math
from typing import Any

import bpy

from ..solver import catalogue
from .handles import is_holder
from .menus import Item, item, items, worded

OVERRIDABLE: Any = {"LIBRARY_OVERRIDABLE"}

#: what a bone is to the mechanism
SIMULATED, ANIMATED, LEFT_OUT = "simulated", "animated", "none"

#: of menus: what the rig or the mesh says
AUTOMATIC = "auto"

#: shapes that a bone may have without a mesh of its own
BONE_SHAPES = ("capsule", "box", "sphere")

#: points at which a bearing touches: with fewer its friction swings as the load turns
FEWEST_POINTS = 12

#: what a joint is told to do besides being pushed
NO_MOTOR = "none"


def _menu(family: str, name: str, description: str, first: Item) -> Any:
    """A menu of a catalogue's family with an entry of our own on top."""
    return bpy.props.EnumProperty(name=name, description=description, default=first[0], override=OVERRIDABLE,
                                  items=[first, *items(catalogue.menu(family).values())])


class CONJAC_Part(bpy.types.PropertyGroup):
    """One rigid body and the joint that holds it to its parent."""

    __slots__ = ()

    role: bpy.props.EnumProperty(
        name="Role", description="What this bone is to the mechanism", default=SIMULATED, override=OVERRIDABLE,
        items=[item(SIMULATED, "Simulated", "A rigid body that falls, swings and is pushed", 0),
               item(ANIMATED, "Animated", "A rigid body that follows its animation and takes the others along", 1),
               item(LEFT_OUT, "Left Out", "No body: it goes where its parent goes", 2)])
    shape: bpy.props.EnumProperty(
        name="Shape", description="Shape of the rigid body around the bone", default="capsule", override=OVERRIDABLE,
        items=[worded("shape", key, "Along the bone" if key != "sphere" else "Around its middle")
               for key in BONE_SHAPES])
    radius: bpy.props.FloatProperty(
        name="Radius", description="Radius of the shape around the bone; 0 takes it from the skin",
        default=0.0, min=0.0, soft_max=1.0, precision=4, unit="LENGTH", override=OVERRIDABLE)
    mass: bpy.props.FloatProperty(
        name="Mass", description="Mass of the body; 0 takes it from the volume of the skin or of the shape",
        default=0.0, min=0.0, soft_max=100.0, precision=3, unit="MASS", override=OVERRIDABLE)
    joint: _menu("joint", "Joint", "How it can move against its parent",
                 item(AUTOMATIC, "Automatic", "From rotation limits, locks and limits of IK, and parents", 0))
    axis: bpy.props.EnumProperty(
        name="Axis", description="Axis of the bone about which a hinge turns, or along which a slider moves",
        default="X", override=OVERRIDABLE,
        items=[item(axis, axis, f"The bone's own {axis}", k) for k, axis in enumerate("XYZ")])
    use_limits: bpy.props.BoolProperty(
        name="Limits", description="Keep the angles of the joint within limits of its own, besides those of the rig",
        default=False, override=OVERRIDABLE)
    limit_low: bpy.props.FloatVectorProperty(
        name="Least", description="Limit of backward turns about each axis of the bone, from the rest pose. An axis "
        "with the same limit in both directions does not turn", size=3, subtype="EULER", min=-math.pi,
        max=math.pi, override=OVERRIDABLE)
    limit_high: bpy.props.FloatVectorProperty(
        name="Most", description="Limit of turns about each axis of the bone, from the rest pose", size=3,
        subtype="EULER", min=-math.pi, max=math.pi, override=OVERRIDABLE)
    stiffness: bpy.props.FloatProperty(
        name="Stiffness", description="Stiffness with which the joint pulls back to its pose, in N m per radian or N "
        "per metre",
        default=0.0, min=0.0, soft_max=1000.0, precision=3, override=OVERRIDABLE)
    damping: bpy.props.FloatProperty(
        name="Damping", description="Damping of the joint's motion, in N m s per radian or N s per metre",
        default=0.0, min=0.0, soft_max=100.0, precision=3, override=OVERRIDABLE)
    implicit: bpy.props.BoolProperty(
        name="Implicit", description="Evaluate stiffness and damping at the end of each step: stable at any "
        "stiffness. If off, they are evaluated at its start: a swing keeps its energy, and steps must be short",
        default=True, override=OVERRIDABLE)
    friction: bpy.props.FloatProperty(
        name="Friction", description="Coefficient of the friction inside the joint's bearing",
        default=0.0, min=0.0, soft_max=1.0, precision=3, override=OVERRIDABLE)
    bearing_radius: bpy.props.FloatProperty(
        name="Bearing Radius", description="Radius of the joint's bearing: a larger one has more friction",
        default=0.02,
        min=1.0e-5, soft_max=0.5, precision=4, unit="LENGTH", override=OVERRIDABLE)
    bearing_length: bpy.props.FloatProperty(
        name="Bearing Length", description="Length of the joint's bearing along its axis", default=0.04,
        min=1.0e-5, soft_max=0.5, precision=4, unit="LENGTH", override=OVERRIDABLE)
    bearing_points: bpy.props.IntProperty(
        name="Bearing Points", description="Number of contact points of the bearing: with more of them friction "
        "varies less as the load turns, and steps take longer", default=FEWEST_POINTS, min=FEWEST_POINTS, max=1000,
        soft_max=64,
        override=OVERRIDABLE)
    motor: bpy.props.EnumProperty(
        name="Motor", description="Motor of the joint", default=NO_MOTOR, override=OVERRIDABLE,
        items=[item(NO_MOTOR, "None", "Nothing does", 0),
               worded("motor", "servo", "A spring that pulls towards the target; keyframes of the target are followed"),
               worded("motor", "speed", "A push towards a speed"),
               worded("motor", "drive", "Exactly as told, whatever it takes")])
    motor_stiffness: bpy.props.FloatProperty(
        name="Motor Stiffness", description="Stiffness of a servo, in N m per radian or N per metre",
        default=100.0, min=0.0, soft_max=1.0e4, precision=2, override=OVERRIDABLE)
    motor_damping: bpy.props.FloatProperty(
        name="Motor Damping", description="Damping of the motor: its force against wrong speed, in N m s per radian "
        "or N s per metre", default=10.0, min=0.0, soft_max=1.0e3, precision=2, override=OVERRIDABLE)
    motor_implicit: bpy.props.BoolProperty(
        name="Implicit Motor", description="Evaluate the motor's force at the end of each step: stable at any "
        "stiffness. If off, it is evaluated at the start", default=True, override=OVERRIDABLE)
    motor_limit: bpy.props.FloatProperty(
        name="Largest Effort", description="Largest force of the motor, in N m or N; 0 means no limit",
        default=0.0, min=0.0, soft_max=1.0e4, precision=2, override=OVERRIDABLE)
    planar: bpy.props.BoolProperty(
        name="Closes Planar Ring", description="For a hinge that closes a ring of parallel hinges, such as a "
        "four-bar linkage: hold only a point on its axis, since the others keep the ring in its plane already",
        default=False, override=OVERRIDABLE)
    uuid: bpy.props.StringProperty(
        name="UUID", description="Tells this bone or object from the others of its mechanism, whatever it is called",
        options={"HIDDEN"}, override=OVERRIDABLE)
    called: bpy.props.StringProperty(
        name="Called", description="What it was called when it was baked; a copy of it has the same and another name",
        options={"HIDDEN"}, override=OVERRIDABLE)


class CONJAC_Spring(bpy.types.PropertyGroup):
    """A damped spring between points of two parts. `name` says which, for the list."""

    __slots__ = ()

    first: bpy.props.StringProperty(
        name="First", description="Bone or rigid body object at one end", override=OVERRIDABLE)
    first_point: bpy.props.FloatVectorProperty(
        name="At", description="Offset of the end from the middle of the bone or the origin of the object, along its "
        "own axes", size=3, subtype="XYZ", unit="LENGTH", override=OVERRIDABLE)
    second: bpy.props.StringProperty(
        name="Second", description="Bone or rigid body object at the other end; empty holds it in the world",
        override=OVERRIDABLE)
    second_point: bpy.props.FloatVectorProperty(
        name="At", description="Offset of the end from the middle of the bone or the origin of the object, along its "
        "own axes; a place in the world where Second is empty", size=3, subtype="XYZ", unit="LENGTH",
        override=OVERRIDABLE)
    stiffness: bpy.props.FloatProperty(
        name="Stiffness", description="Stiffness of the spring, in N per metre", default=1000.0, min=0.0,
        soft_max=1.0e6,
        precision=2, override=OVERRIDABLE)
    damping: bpy.props.FloatProperty(
        name="Damping", description="Damping of the spring, in N s per metre", default=1.0, min=0.0,
        soft_max=1.0e4, precision=3, override=OVERRIDABLE)
    as_placed: bpy.props.BoolProperty(
        name="Keep Placed Length", description="Its rest length is the one at the first frame",
        default=True, override=OVERRIDABLE)
    rest_length: bpy.props.FloatProperty(
        name="Rest Length", description="Length at which it does not pull", default=0.1, min=0.0, soft_max=10.0,
        precision=4, unit="LENGTH", override=OVERRIDABLE)
    implicit: bpy.props.BoolProperty(
        name="Implicit", description="Evaluate its force at the end of each step: stable at any stiffness. If off, "
        "it is evaluated at the start", default=True, override=OVERRIDABLE)


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
    density: bpy.props.FloatProperty(
        name="Density", description="Mass per volume of its bodies, in kg/m³", default=1000.0, min=1.0e-3,
        soft_min=10.0, soft_max=10000.0, precision=1, override=OVERRIDABLE)
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
    let_go: bpy.props.IntProperty(
        name="Let Go at", description="Frame from which it is simulated freely", default=24, override=OVERRIDABLE)
    self_collisions: bpy.props.BoolProperty(
        name="Self Collisions", description="Bodies of the mechanism collide with each other, except neighbors and "
        "jointed ones that overlap at the first frame", default=False, override=OVERRIDABLE)
    touch_soft: bpy.props.BoolProperty(
        name="Touch Soft Bodies", description="Its bodies collide with soft bodies. Soft bodies that touch it are "
        "baked together with it, attached or not", default=False, override=OVERRIDABLE)
    contact_friction: bpy.props.FloatProperty(
        name="Contact Friction", description="Coulomb's coefficient of its bodies in contact", default=0.5,
        min=0.0, soft_max=1.5, precision=3, override=OVERRIDABLE)
    joint_friction: bpy.props.EnumProperty(
        name="Joint Friction", description="How friction inside joints is computed", default="bisp",
        override=OVERRIDABLE, items=items(catalogue.menu("joint_friction").values()))
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


def register() -> None:
    for kind in (bpy.types.PoseBone, bpy.types.Object):
        # beside the settings and not among them: Blender finds no path for keyframes into a bone's property group
        kind.conjac_motor_target = bpy.props.FloatProperty(
            name="Target", description="Angle of a hinge or place of a slider from where it is at the start, in "
            "radians or metres; of a speed motor, that per second. It may have keyframes", default=0.0, precision=3,
            override=OVERRIDABLE)
    bpy.types.PoseBone.conjac = bpy.props.PointerProperty(type=CONJAC_Part, override=OVERRIDABLE)


def unregister() -> None:
    for kind in (bpy.types.PoseBone, bpy.types.Object):
        if hasattr(kind, "conjac_motor_target"):
            del kind.conjac_motor_target
    if hasattr(bpy.types.PoseBone, "conjac"):
        del bpy.types.PoseBone.conjac
