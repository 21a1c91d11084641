"""Rigid bodies with joints in scene.json. SI units, Z up, world space."""

from __future__ import annotations

from typing import Annotated

from msgspec import field

from .schema_values import BY_SAMPLE, SOLVE, UNREAD, Array, Called, Choice, Family, Quaternion, Strict, Vector, chosen


class RigidBody(Strict):
    """A body that keeps its shape. Its own frame is the artist's; the shape and all arrays stand in it."""

    name: str
    uuid: str = ""  #: of the artist's object or bone, whatever it is called
    position: Vector = (0.0, 0.0, 0.0)  #: of the own frame at the start frame, in world [m]
    rotation: Quaternion = (1.0, 0.0, 0.0, 0.0)  #: of the same, (w, x, y, z); its length does not matter
    shape: Annotated[Choice, Family("shape")] = chosen("box")
    vertices: Array | None = None  #: (n, 3) [m], of hull and mesh
    triangles: Array | None = None  #: (m, 3), of mesh
    mass: float | None = None  #: [kg]; from the density where left out
    density: float = 1000.0  #: [kg/m³]
    is_collider: bool = True  #: it touches the ground, obstacles and the bodies of other mechanisms
    friction: float = 0.5  #: Coulomb's coefficient where it touches something
    #: (T, 4, 4) own frame in world: an obstacle with this motion, whatever touches it
    motion: Annotated[Array | None, BY_SAMPLE] = None


class JointFriction(Strict):
    """A bearing: a pin of this radius and length, which touches at points around it."""

    mu: float
    radius: float = 0.02  #: [m]
    length: float = 0.04  #: [m]
    points: int = 12  #: at least 12: with fewer the friction varies as the load rotates


class Motor(Strict):
    """A motor of a joint. One target for each of its rates: angles and lengths, or speeds of the mode "speed"."""

    mode: Annotated[Choice, Family("motor")] = chosen("servo")
    #: (T, k), or k numbers [rad, m or their rates]
    target: Annotated[Array | list[float], BY_SAMPLE] = field(default_factory=list)
    until: int | None = None  #: frame from which it lets go
    limit: float | None = None  #: largest effort [N m or N]
    implicit: bool = True  #: pulls as it will at the step's end; else as it does at its start. Not of the mode "drive"


class Joint(Strict):
    """How a body moves against its parent. Lists have a number for each rate of the kind, or none at all.

    Its frame is fixed in the parent; the child's stands where `start` brings it.
    """

    name: str
    child: str
    parent: str | None = None  #: the world where left out
    kind: str = "revolute"  #: a key of the catalogue
    position: Vector = (0.0, 0.0, 0.0)  #: of its frame at the start frame, in world [m]
    rotation: Quaternion = (1.0, 0.0, 0.0, 0.0)  #: of the same; axes of hinges and sliders are its Z
    start: list[float] = field(default_factory=list)  #: what the coordinates read at the start frame [rad or m]; 0
    rate: list[float] = field(default_factory=list)  #: how fast they change then [rad/s or m/s]; 0
    stiffness: list[float] = field(default_factory=list)  #: [N m/rad or N/m]; 0
    damping: list[float] = field(default_factory=list)  #: [N m s/rad or N s/m]; 0
    rest: list[float] = field(default_factory=list)  #: where the stiffness pulls to [rad or m]; `start`
    implicit: bool = True  #: stiffness and damping are what they will be at the step's end; else at its start
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
    """Between two points that are fixed in bodies, given in world at the start frame [m]."""

    point_a: Vector
    point_b: Vector
    stiffness: float  #: [N/m]
    body_a: str | None = None  #: the world where left out
    body_b: str | None = None
    damping: float = 0.0  #: [N s/m]
    rest_length: float | None = None  #: [m]; that of the start where left out
    implicit: bool = True  #: pulls as it will at the step's end; else as it does at its start


class RateForce(Strict):
    """A force on the rates of joints in addition to their own springs and motors."""

    rate_law: Annotated[Choice, Family("rate_law")]
    joints: list[str]  #: hinges and sliders, in an order that the law defines


class Mechanism(Strict):
    """Rigid bodies and what joins them. A body that is no joint's child is free."""

    name: Annotated[str, UNREAD]
    bodies: Annotated[list[RigidBody], SOLVE, Called("rigid bodies")]
    uuid: Annotated[str, UNREAD] = ""  #: of the armature or the Empty that stands for it
    joints: Annotated[list[Joint], SOLVE, Called("joints")] = field(default_factory=list)
    loops: Annotated[list[Loop], SOLVE, Called("loops")] = field(default_factory=list)
    springs: Annotated[list[Spring], SOLVE, Called("springs")] = field(default_factory=list)
    rate_forces: Annotated[list[RateForce], SOLVE, Called("forces on joints")] = field(default_factory=list)
    #: its bodies touch each other, neighbours in the tree excepted
    self_collisions: Annotated[bool, SOLVE, Called("self collisions")] = False
