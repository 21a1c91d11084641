"""Mechanisms of rigid bodies and joints in scene.json. SI units, Z up, world space."""

from __future__ import annotations

from typing import Annotated

from msgspec import field

from .schema_values import (
    BY_SAMPLE,
    SOLVE,
    UNREAD,
    Array,
    Called,
    Choice,
    Family,
    Quaternion,
    Strict,
    Vector,
    choose,
)


class RigidBody(Strict):
    """A rigid body. Its shape and arrays are in its local frame, that of the artist's object."""

    name: str
    uuid: str = ""  #: identifier of the artist's object or bone, which outlasts a change of its name
    position: Vector = (0.0, 0.0, 0.0)  #: of the local frame at the start frame, in world [m]
    rotation: Quaternion = (1.0, 0.0, 0.0, 0.0)  #: of the local frame, (w, x, y, z), of any length
    shape: Annotated[Choice, Family("shape")] = choose("box")
    vertices: Array | None = None  #: (n, 3) [m], of hull and mesh
    triangles: Array | None = None  #: (m, 3), of mesh
    mass: float | None = None  #: [kg]; from the density where left out
    density: float = 1000.0  #: [kg/m³]
    is_collider: bool = True  #: whether it touches the ground, obstacles and bodies of other mechanisms
    friction: float = 0.5  #: Coulomb's coefficient
    #: local frame in world at each sample, (T, 4, 4), of a body of prescribed motion
    motion: Annotated[Array | None, BY_SAMPLE] = None


class JointFriction(Strict):
    """Friction of a bearing: a cylindrical pin in contact at points around its circumference."""

    mu: float
    radius: float = 0.02  #: [m]
    length: float = 0.04  #: [m]
    points: int = 12  #: at least 12: with fewer the friction varies as the load rotates


class Motor(Strict):
    """A motor of a joint. Its targets, one for each rate, are coordinates, or rates in the mode "speed"."""

    mode: Annotated[Choice, Family("motor")] = choose("servo")
    #: targets of k rates, (T, k) or k numbers [rad or m; rad/s or m/s]
    target: Annotated[Array | list[float], BY_SAMPLE] = field(default_factory=list)
    until: int | None = None  #: frame at which the motor is switched off; never where left out
    limit: float | None = None  #: largest effort [N m or N]
    #: whether its effort is that of the end of a step, else of its start; unused in the mode "drive"
    implicit: bool = True


class Joint(Strict):
    """A joint between a body and its parent. Each list has a number for each rate of the joint's kind, or is empty.

    The frame of the joint is fixed in the parent; `start` gives the pose of the child's frame relative to it.
    """

    name: str
    child: str
    parent: str | None = None  #: the world where left out
    kind: str = "revolute"  #: a key of the catalogue
    position: Vector = (0.0, 0.0, 0.0)  #: of its frame at the start frame, in world [m]
    rotation: Quaternion = (1.0, 0.0, 0.0, 0.0)  #: of its frame, whose Z is the axis of hinges and sliders
    start: list[float] = field(default_factory=list)  #: coordinates at the start frame [rad or m]; 0 by default
    rate: list[float] = field(default_factory=list)  #: rates at the start frame [rad/s or m/s]; 0 by default
    stiffness: list[float] = field(default_factory=list)  #: [N m/rad or N/m]; 0 by default
    damping: list[float] = field(default_factory=list)  #: [N m s/rad or N s/m]; 0 by default
    #: coordinates at which the spring is relaxed [rad or m]; `start` by default
    rest: list[float] = field(default_factory=list)
    implicit: bool = True  #: whether springs and damping act as at the end of a step, else as at its start
    low: list[float] = field(default_factory=list)  #: limits [rad or m]
    high: list[float] = field(default_factory=list)
    motor: Motor | None = None
    friction: JointFriction | None = None


class Loop(Strict):
    """A constraint between two bodies in addition to the tree of joints."""

    body_a: str
    body_b: str | None = None  #: the world where left out
    name: str = ""
    kind: str = "ball"  #: a key of the catalogue
    position: Vector = (0.0, 0.0, 0.0)  #: of its frame at the start frame, in world [m]
    rotation: Quaternion = (1.0, 0.0, 0.0, 0.0)
    friction: JointFriction | None = None


class Spring(Strict):
    """A damped spring between two points that are fixed in bodies, in world space at the start frame [m]."""

    point_a: Vector
    point_b: Vector
    stiffness: float  #: [N/m]
    body_a: str | None = None  #: the world where left out
    body_b: str | None = None
    damping: float = 0.0  #: [N s/m]
    rest_length: float | None = None  #: [m]; that of the start where left out
    implicit: bool = True  #: whether its force is that of the end of a step, else of its start


class RateForce(Strict):
    """A generalised force on joints in addition to their springs and motors."""

    rate_law: Annotated[Choice, Family("rate_law")]
    joints: list[str]  #: hinges and sliders, in an order that the law defines


class Mechanism(Strict):
    """Rigid bodies with their joints, loops and springs. A body that is no joint's child is free."""

    name: Annotated[str, UNREAD]
    bodies: Annotated[list[RigidBody], SOLVE, Called("rigid bodies")]
    uuid: Annotated[str, UNREAD] = ""  #: identifier of the artist's armature or Empty
    joints: Annotated[list[Joint], SOLVE, Called("joints")] = field(default_factory=list)
    loops: Annotated[list[Loop], SOLVE, Called("loops")] = field(default_factory=list)
    springs: Annotated[list[Spring], SOLVE, Called("springs")] = field(default_factory=list)
    rate_forces: Annotated[list[RateForce], SOLVE, Called("forces on joints")] = field(default_factory=list)
    #: whether its bodies touch each other, except neighbours in the tree
    self_collisions: Annotated[bool, SOLVE, Called("self collisions")] = False
