"""Structs of scene.json, the public and versioned input of a bake: a field is deprecated, never renamed in place.

A job folder has

    JOB/scene.json
    JOB/arrays/*.npy      arrays that the scene names by their paths relative to JOB ("arrays/vertices.npy")
    JOB/stages/           written by the solver: tetrahedra and other intermediate results, with hashes of their inputs
    JOB/cache/            written by the solver: frames, manifest, snapshots, lock

Units are SI, Z is up, coordinates are in world space. A mesh of the artist has n vertices. Motion has T samples, where
T = (end - start) * samples_per_frame + 1, and sample i is i / (fps * samples_per_frame) seconds after the start frame.
"""

from __future__ import annotations

import math
from typing import Annotated

from msgspec import Meta, field

from ..catalogue import SCENE_VERSION
from .schema_cloth import Cloth as Cloth
from .schema_cloth import Eulerian as Eulerian
from .schema_cloth import Wind as Wind
from .schema_constraints import Constraint
from .schema_mechanisms import Mechanism, RigidBody
from .schema_ropes import Rope
from .schema_values import (
    AMONG_BODIES,
    BY_FRAME,
    BY_SAMPLE,
    FIELDS,
    MESH,
    SEPARATE,
    SOLVE,
    TETS,
    UNREAD,
    Array,
    Called,
    Choice,
    Family,
    Frame,
    NotNegative,
    Positive,
    Strict,
    Subframe,
    Vector,
    choose,
)

VERSION = SCENE_VERSION


class Time(Strict):
    """Frames and time steps of a scene."""

    start: Annotated[Frame, Called("first frame")]
    end: Annotated[Frame, UNREAD, Called("last frame")]
    fps: Annotated[Positive, Called("frame rate")]
    step: Annotated[Positive, Called("step")]  #: largest step [s]; a frame holds a whole number of steps
    samples_per_frame: Annotated[int, Meta(ge=1, le=1000), Called("samples per frame")] = 2
    snapshot_every: Annotated[int, Meta(ge=1, le=10), Called("snapshot interval")] = 10  #: frames
    #: largest error of a step, as a fraction of the body's size; 0: every step is as long as `step`
    tolerance: Annotated[float, Meta(ge=0, le=1), Called("accuracy")] = 0.0
    #: largest change of an edge in a step, as a fraction of its length, above which the step is halved; 0: any is right
    largest_deformation: Annotated[float, Meta(ge=0), Called("largest deformation")] = 0.5


def step_size(fps: float, step: float) -> tuple[int, float]:
    """Return the number of steps in a frame and their length [s]: the fewest equal ones that are no longer than `step`.

    fps: frames a second. step: [s].
    """
    count = max(1, math.ceil(1.0 / (fps * step) - 1e-9))
    return count, 1.0 / fps / count


class Painted(Strict):
    """A parameter that varies over a body, by weights painted on its surface.

    Weights are continued into the volume by the body's `carry`. Moduli and densities are interpolated on a logarithmic
    scale, ratios on a linear one.
    """

    low: float  #: value where the weight is 0
    high: float  #: value where the weight is 1
    weights: Array  #: (n,) in [0, 1]


class Ground(Strict):
    """Ground: a half space with a penalty force -k (n . (x - x_s)) n on nodes. [ConJac BUNNY, changed: α may be 0]"""

    point: Vector  #: x_s [m], on the surface
    normal: Vector  #: n, out of the ground
    stiffness: Positive = 1.0e3  #: N/m per node of a soft body
    #: stiffness by area [N/m³] instead of by node, with which bodies sink equally far at any resolution
    stiffness_per_area: Annotated[Positive | None, Called("stiffness per area")] = None
    #: stiffness along the ground as a fraction of that across it; it resists sliding
    tangential_share: Annotated[float, Meta(ge=0, le=1), Called("tangential share")] = 0.0
    #: positions of `point`, (T, 3) [m], of a ground that moves; also along its surface, like a conveyor belt
    motion: Annotated[Array | None, Called("motion of the ground"), BY_SAMPLE] = None
    friction: Annotated[Choice | None, Called("friction")] = None  #: friction law; none where left out


class Surface(Strict):
    """The artist's mesh at the start frame, in world space [m]. Baked frames have the vertices in this order."""

    vertices: Array  #: (n, 3) float64
    triangles: Array  #: (m, 3) int32
    #: vertices in object space, (n, 3), in which tetrahedra are then made, so that they last when the object is moved
    object_vertices: Array | None = None
    #: (frames, 4, 4): world [m] to object space at each frame; identity where left out
    to_object: Annotated[Array | None, SOLVE, Called("motion"), BY_FRAME] = None


class Tets(Strict):
    """A given tetrahedral mesh; a body without one is tetrahedralized by its `mesher`."""

    nodes: Array  #: (k, 3) float64 [m]
    tets: Array  #: (e, 4) int32


class Spots(Strict):
    """Dynamic spots of a body whose motion is given here instead of in the body's `spot`."""

    spot: Annotated[Choice | None, Family("spot")] = None  #: how they move; None: each by a single node
    weights: Array | None = None  #: (n,): every connected painted patch (> 0.5) is one
    points: Array | None = None  #: (p, 3) [m]: each picks its nearest free node, or those around it


class Dynamic(Strict):
    """Dynamic nodes of a body, which have inertia; without any of these fields the whole body is quasistatic."""

    weights: Array | None = None  #: (n,): every connected painted patch (> 0.5) gets one node, or moves as `spot` says
    points: Array | None = None  #: (p, 3) [m]: each picks its nearest free node, or those around it
    nodes: Array | None = None  #: indices of nodes, for volumes given by hand
    spots: list[Spots] = field(default_factory=list)  #: additional ones, each entry with a motion of its own
    #: number of nodes that are found where the body oscillates most, without any of the fields above; fewer in a small
    #: body
    suggested: Annotated[int, Meta(ge=1, le=1000)] | None = None


class Pin(Strict):
    """Prescribed nodes of a body, by painted weights or by index.

    A node is pinned where weights, continued into the volume harmonically, are above 0.5, and where it is a vertex of
    such a weight. With `stiffness` weights are strengths, of which only full ones count as 1 there, others as 0.
    """

    weights: Array | None = None  #: (n,) in [0, 1]
    #: positions of `motion_vertices` at each sample, (T, s, 3) [m]; at rest where left out
    motion: Annotated[Array | None, Called("motion of the pins"), BY_SAMPLE] = None
    motion_vertices: Array | None = None  #: (s,) vertices of the surface of `motion`
    nodes: Array | None = None  #: indices of nodes, for volumes given by hand
    #: positions of `nodes` at each sample, (T, len(nodes), 3) [m]
    node_motion: Annotated[Array | None, Called("motion of the pins"), BY_SAMPLE] = None
    #: frame in which the pin of each vertex is released, (n,); a frame after the last one means never
    until: Annotated[Array | None, SOLVE, Called("when pins let go")] = None
    #: stiffness per mass of springs that pin nodes [1/s²], times w / (1 - w) for a weight w; weights from 0.999 on
    #: prescribe the motion. A number, or one for each sample, (T,). Left out, weights above 0.5 prescribe the motion
    stiffness: Annotated[Positive | Array | None, Called("stiffness of the pins"), BY_SAMPLE] = None
    #: (frames, s) in [0, 1]: the weights of `strength_vertices` at each frame
    strengths: Annotated[Array | None, Called("strength of the pins"), BY_FRAME] = None
    #: vertices whose weights change over time, (s,)
    strength_vertices: Annotated[Array | None, Called("strength of the pins")] = None


class Cut(Strict):
    """A cut between tetrahedra of a body at one moment, in world space [m], where the body is at that moment.

    The catalogue lists which fields each kind of cut reads.
    """

    frame: int  #: last frame before the cut
    kind: str  #: a key of the catalogue
    subframe: Subframe = 0.0
    point: Vector | None = None  #: of a plane [m]
    normal: Vector | None = None
    vertices: Array | None = None  #: (s, 3) of a sheet [m]
    triangles: Array | None = None  #: (t, 3)
    faces: Array | None = None  #: (f, 3) nodes of faces of the body's `tets`


class Nail(Strict):
    """A nail that, from one moment on, fixes the nodes near a line segment at their positions. World space [m]."""

    frame: int  #: last frame before the nail
    head: Vector  #: one end of the segment
    tip: Vector  #: other end of the segment
    radius: Positive  #: largest distance of a node from the segment
    subframe: Subframe = 0.0
    until: int | None = None  #: last frame with the nail, after which it is drawn; never where left out
    until_subframe: Subframe = 0.0
    #: frames (T, 4, 4) of an object that carries the nail, whose `head` and `tip` are then in its coordinates; at rest
    #: where left out
    motion: Annotated[Array | None, BY_SAMPLE] = None


class Pull(Strict):
    """Springs from the nodes near a point to targets that move with an object. World space [m]."""

    position: Vector  #: the point, at the start frame
    radius: Positive  #: largest distance of a node from the point
    stiffness: Positive = 100.0  #: sum of all springs, distributed by the masses of nodes [N/m]
    motion: Annotated[Array | None, BY_SAMPLE] = None  #: frames (T, 4, 4) of the object; at rest where left out
    #: factor of the stiffness at each sample, (T,) in [0, 1]; 1 where left out
    strength: Annotated[Array | None, BY_SAMPLE] = None


class Follow(Strict):
    """A rigid motion of an object that a body takes part in, which reduces the inertial forces of this motion."""

    motion: Annotated[Array, BY_SAMPLE]  #: frames of the object, (T, 4, 4); their scale is ignored
    #: fraction of the motion in which the body takes part: at 1 none of it acts as inertia. A number in [0, 1], or one
    #: for each sample, (T,)
    share: Annotated[Annotated[float, Meta(ge=0, le=1)] | Array, BY_SAMPLE] = 1.0


class Attach(Strict):
    """Attachment of nodes to a rigid body, or of nodes of cloth with `eulerian` to a soft body.

    The nodes are those where `weights`, continued into the volume, are above 0.5, or are given by index.
    """

    body: str  #: name of the rigid or soft body
    mechanism: str = ""  #: name of the mechanism of the rigid body; empty for a soft body
    weights: Array | None = None  #: (n,) in [0, 1]
    nodes: Array | None = None  #: indices of nodes, for volumes given by hand


class Body(Strict):
    """A soft body: mesh, material, pins, dynamic nodes, contact, and methods of its solution."""

    name: Annotated[str, UNREAD]
    uuid: Annotated[str, UNREAD] = ""  #: identifier of the artist's object, which outlasts a change of its name
    surface: Annotated[Surface | None, MESH, Called("mesh")] = None
    tets: Annotated[Tets | None, MESH, Called("volume mesh")] = None
    #: cloth: the body is its surface, which encloses no volume
    cloth: Annotated[Cloth | None, FIELDS, Called("cloth")] = None
    #: rope: the body is edges between vertices of its surface, which has no triangles
    rope: Annotated[Rope | None, FIELDS] = None
    mesher: Annotated[Choice, TETS, Called("mesher")] = choose("tetwild")
    material: Annotated[Choice, FIELDS, Called("material")] = choose("stable_neo_hookean")
    #: damping law; its defaults damp nothing
    damping: Annotated[Choice, SOLVE, Called("damping law")] = choose("rayleigh")
    #: time in which each visible oscillation loses half of its amplitude [s], or one for each sample, (T,); 0: never.
    #: Damping of the motion relative to the body's carrier makes up for what `damping` and the integrator lack for it
    wobble_half_life: Annotated[NotNegative | Array, SOLVE, Called("wobble half-life")] = 0.0
    #: parameters that vary over the body, by their key in the catalogue, where they have `field=True`
    painted: Annotated[dict[str, Painted], FIELDS] = field(default_factory=dict)
    #: how weights of `painted` are continued into the volume
    carry: Annotated[Choice, FIELDS, Called("inside of maps")] = choose("smooth")
    density: Annotated[Positive, FIELDS, Called("density")] = 1000.0
    method: Annotated[Choice | None, SOLVE, Called("method"), AMONG_BODIES] = None  #: None: the scene's
    #: integrator; None: the scene's. With contact of surfaces it applies where all bodies that may touch have it
    integrator: Annotated[Choice | None, SOLVE, Called("integrator"), AMONG_BODIES] = None
    stage_solver: Annotated[Choice | None, SOLVE, Called("stage solver"), AMONG_BODIES] = None  #: like `integrator`
    #: largest step [s]; that of `time` where left out. Bodies that may touch each other take the shortest of theirs
    step: Annotated[Positive | None, SOLVE, Called("step"), AMONG_BODIES] = None
    #: largest change of an edge in a step, see `Time`; that of `time` where left out
    largest_deformation: Annotated[NotNegative | None, SOLVE, Called("largest deformation"), AMONG_BODIES] = None
    dynamic: Annotated[Dynamic, FIELDS, Called("dynamic nodes")] = field(default_factory=Dynamic)
    #: how painted spots and points of `dynamic` move; None: each by a single node
    spot: Annotated[Choice | None, FIELDS, Called("how spots move")] = None
    pin: Annotated[Pin, FIELDS, Called("pins")] = field(default_factory=Pin)
    #: whether pins are stiff springs, which obstacles can displace; else their motion is prescribed
    pins_yield: Annotated[bool, SOLVE, AMONG_BODIES] = False
    #: material of fibers in addition to `material`; without it there are none
    fiber_material: Annotated[Choice | None, FIELDS, Called("fibers")] = None
    #: directions of fibers at rest
    fiber_field: Annotated[Choice, FIELDS, Called("direction of the fibers")] = choose("gradient")
    #: (n,) from origin (0) to insertion (1) of a muscle, for the field "gradient"
    fibers: Annotated[Array | None, FIELDS, Called("paint of fibers")] = None
    #: (n, 3) directions at vertices, for the field "attribute"
    fiber_vectors: Annotated[Array | None, FIELDS, Called("direction of the fibers")] = None
    #: (s, 2, 3) positions [m] and tangents along combed curves, for the field "combed"
    fiber_curves: Annotated[Array | None, FIELDS, Called("curves of the fibers")] = None
    #: activation at each sample, (T,) in [0, 1]; a factor of the painted one where there is one
    fiber_activation: Annotated[Array | None, SOLVE, Called("activation"), BY_SAMPLE] = None
    cuts: Annotated[list[Cut], SOLVE, Called("cuts")] = field(default_factory=list)
    nails: Annotated[list[Nail], SOLVE, Called("nails")] = field(default_factory=list)
    pulls: Annotated[list[Pull], SOLVE, Called("pulls")] = field(default_factory=list)
    attach: Annotated[list[Attach], SOLVE, Called("attached bones")] = field(default_factory=list)
    follow: Annotated[Follow | None, SOLVE, Called("followed object")] = None
    #: whether stress, stretch, pressure and speed are written at its vertices; older caches do not know it
    stress_output: Annotated[bool | None, SOLVE, Called("stress and stretch")] = None
    #: Coulomb's coefficient in contact of surfaces; that of `contact` where left out
    friction: Annotated[Annotated[float, Meta(ge=0, le=100)] | None, SOLVE, AMONG_BODIES] = None
    #: factor of the coefficient at each vertex, (n,) in [0, 1]; 1 where left out
    friction_weights: Annotated[Array | None, SOLVE, Called("paint of friction"), AMONG_BODIES] = None
    #: distance from its surface that others have in contact, in addition to their own [m]; contact with itself has none
    thickness: Annotated[Annotated[float, Meta(ge=0, le=1e6)] | None, SOLVE, Called("thickness"), AMONG_BODIES] = None
    #: whether the embedded surface is what touches others; else the boundary of the tetrahedra
    touches_by_mesh: Annotated[bool, SOLVE, Called("colliding mesh"), AMONG_BODIES] = False
    #: largest distance, as a fraction of the body's extent, of a surface of fewer faces that touches then; 0: all faces
    #: touch
    simplify: Annotated[Annotated[float, Meta(ge=0, le=0.1)], SOLVE, Called("simplified faces"), AMONG_BODIES] = 0.0
    #: names of the soft bodies, obstacles and mechanisms that it touches, its own name for contact with itself; all
    #: where left out. Two soft bodies touch where each has the other's name
    touches: Annotated[list[str] | None, SOLVE, Called("objects that it touches"), AMONG_BODIES] = None

    @property
    def is_reshaped(self) -> bool:
        """Whether the pins or the topology of the body change within the scene."""
        return bool(self.cuts or self.nails or self.pin.until is not None)


class Force(Strict):
    """A force between nodes of soft bodies in addition to their materials. Bodies that it joins are solved as one."""

    law: Annotated[Choice, Family("force")]
    bodies: list[str]  #: names of soft bodies, in an order that the law defines
    #: (n,) in [0, 1] of the first body's vertices: where it acts, and factor of its strength; None: 1 everywhere
    weights: Array | None = None


class Obstacle(Strict):
    """A mesh that soft bodies touch, closed or a sheet; also wires and nails, which only cloth with `eulerian` touches.
    World space [m]."""

    name: str
    vertices: Array  #: positions at the start frame, (n, 3) [m]
    triangles: Array | None = None  #: (m, 3)
    wires: Array | None = None  #: vertices at both ends of each straight piece of a thin wire, (k, 2)
    nails: Array | None = None  #: vertices of head and tip of each nail, (k, 2), whose tips touch cloth
    #: positions of its vertices at each sample, (T, n, 3) [m]; at rest where left out
    motion: Annotated[Array | None, BY_SAMPLE] = None
    friction: Annotated[float, Meta(ge=0, le=100)] | None = None  #: Coulomb's coefficient; the contact's where left out
    friction_weights: Array | None = None  #: factor of it at each vertex, (n,) in [0, 1]; 1 where left out
    sharp_edges: Array | None = None  #: (k, 2) ends of edges that are sharp to cloth, whatever their angle


class Contact(Strict):
    """Contact of the surfaces of soft bodies with each other, with themselves and with obstacles."""

    law: Annotated[Choice, Family("contact")] = choose("barrier")


class Scene(Strict):
    """Contents of a scene.json."""

    version: Annotated[int, UNREAD]
    name: Annotated[str, UNREAD]
    time: Annotated[Time, SOLVE]
    uuid: Annotated[str, UNREAD] = ""  #: identifier of the object that the cache belongs to
    #: soft bodies; may be empty where there are mechanisms
    bodies: Annotated[list[Body], SEPARATE] = field(default_factory=list)
    mechanisms: Annotated[list[Mechanism], SEPARATE] = field(default_factory=list)
    method: Annotated[Choice, SOLVE, Called("method"), AMONG_BODIES] = choose("conjac")
    integrator: Annotated[Choice, SOLVE, Called("integrator"), AMONG_BODIES] = choose("semi_implicit")
    #: iterations of implicit stages, of integrators that iterate
    stage_solver: Annotated[Choice, SOLVE, Called("stage solver"), AMONG_BODIES] = choose("newton_d")
    #: a key of the catalogue, or "auto": the fastest that is installed
    linear_solver: Annotated[str, SOLVE, Called("linear solver")] = "auto"
    gravity: Annotated[Vector, SOLVE, Called("gravity")] = (0.0, 0.0, -9.81)
    ground: Annotated[Ground | None, SOLVE, Called("ground")] = None
    joint_friction: Annotated[Choice, SOLVE, Called("friction inside joints")] = choose("none")
    forces: Annotated[list[Force], SOLVE, Called("forces between bodies")] = field(default_factory=list)
    #: constraints between points of bodies
    constraints: Annotated[list[Constraint], SOLVE, Called("constraints")] = field(default_factory=list)
    #: without it soft bodies touch nothing but the ground
    contact: Annotated[Contact | None, SOLVE, Called("contact of surfaces"), AMONG_BODIES] = None
    obstacles: Annotated[list[Obstacle], SOLVE, Called("obstacles")] = field(default_factory=list)  #: of the contact
    wind: Annotated[Wind | None, SOLVE, Called("wind")] = None  #: wind on cloth; still air where left out

    def method_of(self, body: Body) -> Choice:
        """Return the method of a body: its own, or else the scene's."""
        return self.method if body.method is None else body.method

    def holder_of(self, attach: Attach) -> RigidBody | None:
        """Return the rigid body of an attachment; None where the scene has no rigid body of that name."""
        return next((body for mechanism in self.mechanisms if mechanism.name == attach.mechanism
                     for body in mechanism.bodies if body.name == attach.body), None)

    def joins(self) -> list[list[str]]:
        """Return for each force and each constraint the names of the soft bodies that it joins."""
        return [*(force.bodies for force in self.forces),
                *([end.body for end in item.ends if end.body and not end.mechanism] for item in self.constraints)]

    def find_joined_bodies(self, name: str) -> set[str]:
        """Return the names of all soft bodies that forces and constraints join to a body, directly or through others.

        name: of the body, which is included. With contact of surfaces all soft bodies are joined.
        """
        if self.contact is not None:
            return {body.name for body in self.bodies}
        names, pending = {name}, [name]
        while pending:
            body = pending.pop()
            new = {another for bodies in self.joins() if body in bodies for another in bodies} - names
            names |= new
            pending += sorted(new)
        return names
