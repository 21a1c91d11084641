"""scene.json as typed structs. Public and versioned: fields are deprecated, never renamed in place.

A job folder is

    JOB/scene.json
    JOB/arrays/*.npy      every array the scene names, by its path relative to JOB ("arrays/vertices.npy")
    JOB/stages/           made by the solver: tets, each with the hash of its inputs
    JOB/cache/            made by the solver: frames, manifest, snapshots, lock

SI units, Z up, world space. n vertices of the artist's mesh, T samples of motion: sample i stands at
i / (fps * samples_per_frame) seconds after the start frame, T = (end - start) * samples_per_frame + 1.
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
    chosen,
)

VERSION = SCENE_VERSION


class Time(Strict):
    start: Annotated[Frame, Called("first frame")]
    end: Annotated[Frame, UNREAD, Called("last frame")]
    fps: Annotated[Positive, Called("frame rate")]
    step: Annotated[Positive, Called("step")]  #: largest step [s]; a frame holds a whole number of steps
    samples_per_frame: Annotated[int, Meta(ge=1, le=1000), Called("samples per frame")] = 2
    snapshot_every: Annotated[int, Meta(ge=1, le=10), Called("snapshot interval")] = 10  #: frames
    #: largest error of a step, as a share of the body's size; 0: every step is as long as `step`
    tolerance: Annotated[float, Meta(ge=0, le=1), Called("accuracy")] = 0.0
    #: how much a step may change an edge, as a share of its length; a step that changes one more is halved. 0: any
    largest_deformation: Annotated[float, Meta(ge=0), Called("largest deformation")] = 0.5


def step_size(fps: float, step: float) -> tuple[int, float]:
    """(steps a frame, their length [s]): the fewest steps no longer than `step` that fill a frame exactly."""
    count = max(1, math.ceil(1.0 / (fps * step) - 1e-9))
    return count, 1.0 / fps / count


class Painted(Strict):
    """A number per place, painted on the surface: low where the weight is 0, high where it is 1.

    Carried into the volume as the body's `carry` says. Moduli and densities blend log-linearly, ratios linearly.
    """

    low: float
    high: float
    weights: Array  #: (n,) in [0, 1]


class Ground(Strict):
    """A half space with a penalty: f = -k (n . (x - x_s)) n. [ConJac BUNNY, changed: α may be 0]"""

    point: Vector
    normal: Vector
    stiffness: Positive = 1.0e3  #: N/m per node of a soft body
    #: in its place [N/m³]: bodies sink as far at any resolution
    stiffness_per_area: Annotated[Positive | None, Called("stiffness per area")] = None
    #: of the stiffness, along the ground: it drags
    tangential_share: Annotated[float, Meta(ge=0, le=1), Called("tangential share")] = 0.0
    #: (T, 3) positions of `point`, where it moves; along itself too, as a belt does
    motion: Annotated[Array | None, Called("motion of the ground"), BY_SAMPLE] = None
    friction: Annotated[Choice | None, Called("friction")] = None  #: without it there is no friction


class Surface(Strict):
    """The artist's mesh at the start frame, in world space [m]. The output has its vertices, in its order."""

    vertices: Array  #: (n, 3) float64
    triangles: Array  #: (m, 3) int32
    #: (n, 3) the same in object space; with it tetrahedra are made there and outlast moves and turns of the object
    object_vertices: Array | None = None
    #: (frames, 4, 4): world [m] to object space at each frame; identity where left out
    to_object: Annotated[Array | None, SOLVE, Called("motion"), BY_FRAME] = None


class Tets(Strict):
    """A volume mesh given by hand; without it the surface is tetrahedralized by `mesher`."""

    nodes: Array  #: (k, 3) float64 [m]
    tets: Array  #: (e, 4) int32


class Spots(Strict):
    """Spots with their own kind of motion, independent of the body's `spot`."""

    spot: Annotated[Choice | None, Family("spot")] = None  #: how they move; None: each by a single node
    weights: Array | None = None  #: (n,): every connected painted patch (> 0.5) is one
    points: Array | None = None  #: (p, 3) [m]: each picks its nearest free node, or those around it


class Dynamic(Strict):
    """The dynamic nodes. Everything left out means none: a quasistatic body."""

    weights: Array | None = None  #: (n,): every connected painted patch (> 0.5) gets one node, or moves as `spot` says
    points: Array | None = None  #: (p, 3) [m]: each picks its nearest free node, or those around it
    nodes: Array | None = None  #: indices of nodes, for volumes given by hand
    spots: list[Spots] = field(default_factory=list)  #: others, each list of them with its own way of moving
    #: where none of these is there, so many points are found where the body oscillates most, fewer in a small body
    suggested: Annotated[int, Meta(ge=1, le=1000)] | None = None


class Pin(Strict):
    """Prescribed nodes: a node is pinned where the harmonic field of `weights` is above 0.5 or it contains a vertex
    with such a weight, or by index. Of weights that are strengths, those of full strength count as 1 there, and the
    others as 0."""

    weights: Array | None = None  #: (n,) in [0, 1]
    #: (T, s, 3): where `motion_vertices` are at each sample; still where left out
    motion: Annotated[Array | None, Called("motion of the pins"), BY_SAMPLE] = None
    motion_vertices: Array | None = None  #: (s,) vertices of the surface of `motion`
    nodes: Array | None = None  #: indices of nodes, for volumes given by hand
    #: (T, len(nodes), 3): where those nodes are at each sample
    node_motion: Annotated[Array | None, Called("motion of the pins"), BY_SAMPLE] = None
    #: (n,) frames: once a vertex's has been reached, what `weights` pin there is let go; never after the last frame
    until: Annotated[Array | None, SOLVE, Called("when pins let go")] = None
    #: with it `weights` are strengths: from 0.999 on they hold hard, and a smaller w by springs of w / (1 - w) times
    #: this for each kg that they hold [1/s²]; or such over time, (T,). Left out, what is above 0.5 is hard and no more
    stiffness: Annotated[Positive | Array | None, Called("stiffness of the pins"), BY_SAMPLE] = None
    #: (frames, s) in [0, 1]: the weights of `strength_vertices` at each frame
    strengths: Annotated[Array | None, Called("strength of the pins"), BY_FRAME] = None
    #: (s,) those whose weights change; all others keep theirs
    strength_vertices: Annotated[Array | None, Called("strength of the pins")] = None


class Cut(Strict):
    """A cut between the body's tetrahedra once `frame` has been reached.

    World space at that moment, where the body is then. The catalogue lists which fields each kind reads.
    """

    frame: int  #: this one is still whole
    kind: str  #: a key of the catalogue
    subframe: Subframe = 0.0
    point: Vector | None = None  #: of a plane [m]
    normal: Vector | None = None
    vertices: Array | None = None  #: (s, 3) of a sheet [m]
    triangles: Array | None = None  #: (t, 3)
    faces: Array | None = None  #: (f, 3) nodes of faces of the body's `tets`


class Nail(Strict):
    """Nodes that are fixed once `frame` has been reached: those near a line, where they are then. World space [m]."""

    frame: int  #: in this one it holds nothing yet
    head: Vector  #: the line's ends
    tip: Vector
    radius: Positive  #: how near
    subframe: Subframe = 0.0
    until: int | None = None  #: once this frame has been reached it is drawn; it stays where left out
    until_subframe: Subframe = 0.0
    #: (T, 4, 4): what it sits in, with `head` and `tip` in that; still where left out
    motion: Annotated[Array | None, BY_SAMPLE] = None


class Pull(Strict):
    """Springs from the nodes near a point to where those places are carried. World space [m]."""

    position: Vector  #: at the start frame
    radius: Positive  #: how near
    stiffness: Positive = 100.0  #: of all nodes together, shared by their masses [N/m]
    motion: Annotated[Array | None, BY_SAMPLE] = None  #: (T, 4, 4): what carries them; they stay where left out
    #: (T,) in [0, 1]: how much of the stiffness there is; all of it where left out
    strength: Annotated[Array | None, BY_SAMPLE] = None


class Follow(Strict):
    """The body takes part in the rigid motion of an object, so that it feels less of it as inertia."""

    motion: Annotated[Array, BY_SAMPLE]  #: (T, 4, 4): the object's frame; only its place and turn count
    #: how much it takes part, in [0, 1]: at 1 it goes along and feels nothing of it; or such over time, (T,)
    share: Annotated[Annotated[float, Meta(ge=0, le=1)] | Array, BY_SAMPLE] = 1.0


class Attach(Strict):
    """Nodes that follow a rigid body, or, of cloth with `eulerian` and without a mechanism, a soft one: where `weights`
    carried into the volume are above 0.5, or by index."""

    body: str
    mechanism: str = ""
    weights: Array | None = None  #: (n,) in [0, 1]
    nodes: Array | None = None  #: indices of nodes, for volumes given by hand


class Body(Strict):
    name: Annotated[str, UNREAD]
    uuid: Annotated[str, UNREAD] = ""  #: of the artist's object, whatever it is called
    surface: Annotated[Surface | None, MESH, Called("mesh")] = None
    tets: Annotated[Tets | None, MESH, Called("volume mesh")] = None
    #: with it the surface is no skin of a volume but all there is
    cloth: Annotated[Cloth | None, FIELDS, Called("cloth")] = None
    #: with it the body is edges between the surface's vertices, which has no triangles
    rope: Annotated[Rope | None, FIELDS] = None
    mesher: Annotated[Choice, TETS, Called("mesher")] = chosen("tetwild")
    material: Annotated[Choice, FIELDS, Called("material")] = chosen("stable_neo_hookean")
    #: off by its defaults
    damping: Annotated[Choice, SOLVE, Called("damping law")] = chosen("rayleigh")
    #: seconds in which each wobble that can be seen loses half of its height, 0 never; or such over time, (T,). What
    #: `damping` and the integrator lack for it is taken from motion relative to what carries the body
    wobble_half_life: Annotated[NotNegative | Array, SOLVE, Called("wobble half-life")] = 0.0
    #: replaces a parameter with `field=True`, by key
    painted: Annotated[dict[str, Painted], FIELDS] = field(default_factory=dict)
    #: what `painted` does inside
    carry: Annotated[Choice, FIELDS, Called("inside of maps")] = chosen("smooth")
    density: Annotated[Positive, FIELDS, Called("density")] = 1000.0
    method: Annotated[Choice | None, SOLVE, Called("method"), AMONG_BODIES] = None  #: None: the scene's
    #: by which it moves where surfaces touch, as long as all that it may touch moves by the same; else by the scene's
    integrator: Annotated[Choice | None, SOLVE, Called("integrator"), AMONG_BODIES] = None
    stage_solver: Annotated[Choice | None, SOLVE, Called("stage solver"), AMONG_BODIES] = None  #: likewise
    #: its largest step [s], that of `time` where left out: what may touch each other takes the shortest one's
    step: Annotated[Positive | None, SOLVE, Called("step"), AMONG_BODIES] = None
    #: likewise; that of `time` where left out
    largest_deformation: Annotated[NotNegative | None, SOLVE, Called("largest deformation"), AMONG_BODIES] = None
    dynamic: Annotated[Dynamic, FIELDS, Called("dynamic nodes")] = field(default_factory=Dynamic)
    #: how painted spots and points of `dynamic` move; None: each by a single node
    spot: Annotated[Choice | None, FIELDS, Called("how spots move")] = None
    pin: Annotated[Pin, FIELDS, Called("pins")] = field(default_factory=Pin)
    #: whether pins are stiff springs, which yield to obstacles; else their motion is prescribed
    pins_yield: Annotated[bool, SOLVE, AMONG_BODIES] = False
    #: what fibers add to `material`; without it there are none
    fiber_material: Annotated[Choice | None, FIELDS, Called("fibers")] = None
    #: which way they run at rest
    fiber_field: Annotated[Choice, FIELDS, Called("direction of the fibers")] = chosen("gradient")
    #: (n,) from origin (0) to insertion (1) of a muscle, for the field "gradient"
    fibers: Annotated[Array | None, FIELDS, Called("paint of fibers")] = None
    #: (n, 3) directions at vertices, for the field "attribute"
    fiber_vectors: Annotated[Array | None, FIELDS, Called("direction of the fibers")] = None
    #: (s, 2, 3) places [m] and tangents along combed curves, for the field "combed"
    fiber_curves: Annotated[Array | None, FIELDS, Called("curves of the fibers")] = None
    #: (T,) activation over time, in [0, 1]; times what is painted, if it is
    fiber_activation: Annotated[Array | None, SOLVE, Called("activation"), BY_SAMPLE] = None
    cuts: Annotated[list[Cut], SOLVE, Called("cuts")] = field(default_factory=list)
    nails: Annotated[list[Nail], SOLVE, Called("nails")] = field(default_factory=list)
    pulls: Annotated[list[Pull], SOLVE, Called("pulls")] = field(default_factory=list)
    attach: Annotated[list[Attach], SOLVE, Called("attached bones")] = field(default_factory=list)
    follow: Annotated[Follow | None, SOLVE, Called("followed object")] = None
    #: whether stress, stretch, pressure and speed are written at its vertices; older caches do not know it
    stress_output: Annotated[bool | None, SOLVE, Called("stress and stretch")] = None
    #: in contact of surfaces, as of an Obstacle
    friction: Annotated[Annotated[float, Meta(ge=0, le=100)] | None, SOLVE, AMONG_BODIES] = None
    #: (n,) in [0, 1]: how much of it each vertex has; all where left out
    friction_weights: Annotated[Array | None, SOLVE, Called("paint of friction"), AMONG_BODIES] = None
    #: how far out of its surface others stay in contact of surfaces, in addition to their own [m]; its own parts do not
    thickness: Annotated[Annotated[float, Meta(ge=0, le=1e6)] | None, SOLVE, Called("thickness"), AMONG_BODIES] = None
    #: whether the surface itself touches, as its tetrahedra carry it; else the boundary of these
    touches_by_mesh: Annotated[bool, SOLVE, Called("colliding mesh"), AMONG_BODIES] = False
    #: as a share of its largest extent, how far outside of the surface fewer faces may be by which it touches then; 0:
    #: all faces touch
    simplify: Annotated[Annotated[float, Meta(ge=0, le=0.1)], SOLVE, Called("simplified faces"), AMONG_BODIES] = 0.0
    #: names of the soft bodies and obstacles that it touches, its own for contact with itself, and of mechanisms whose
    #: rigid bodies it touches; all where left out. Two soft bodies touch where both say so
    touches: Annotated[list[str] | None, SOLVE, Called("objects that it touches"), AMONG_BODIES] = None

    @property
    def is_reshaped(self) -> bool:
        """Whether its pins or its topology change within the scene."""
        return bool(self.cuts or self.nails or self.pin.until is not None)


class Force(Strict):
    """A force between nodes of soft bodies in addition to their materials. Bodies that it acts on are solved as one."""

    law: Annotated[Choice, Family("force")]
    bodies: list[str]  #: names of soft bodies, in an order that the law defines
    #: (n,) in [0, 1], of the first body's vertices: where it acts, and the share of what it bears; None: everywhere
    weights: Array | None = None


class Obstacle(Strict):
    """A mesh that soft bodies touch, closed or a sheet; also wires and nails, which only cloth with `eulerian` touches.
    World space [m]."""

    name: str
    vertices: Array  #: (n, 3) at the start frame
    triangles: Array | None = None  #: (m, 3)
    wires: Array | None = None  #: (k, 2) ends of the straight pieces of wires: thin lines, which cloth lies on
    nails: Array | None = None  #: (k, 2) head and tip of each nail: its tip makes contact
    #: (T, n, 3): where its vertices are at each sample; still where left out
    motion: Annotated[Array | None, BY_SAMPLE] = None
    friction: Annotated[float, Meta(ge=0, le=100)] | None = None  #: Coulomb's coefficient; the contact's where left out
    friction_weights: Array | None = None  #: (n,) in [0, 1]: how much of it each vertex has; all where left out
    sharp_edges: Array | None = None  #: (k, 2) ends of edges that are sharp to cloth, whatever their angle


class Contact(Strict):
    """Soft bodies touch each other, themselves and the obstacles, and nothing goes through anything."""

    law: Annotated[Choice, Family("contact")] = chosen("barrier")


class Scene(Strict):
    version: Annotated[int, UNREAD]
    name: Annotated[str, UNREAD]
    time: Annotated[Time, SOLVE]
    uuid: Annotated[str, UNREAD] = ""  #: of the object that the cache belongs to
    #: soft ones; may be empty where there are mechanisms
    bodies: Annotated[list[Body], SEPARATE] = field(default_factory=list)
    mechanisms: Annotated[list[Mechanism], SEPARATE] = field(default_factory=list)
    method: Annotated[Choice, SOLVE, Called("method"), AMONG_BODIES] = chosen("conjac")
    integrator: Annotated[Choice, SOLVE, Called("integrator"), AMONG_BODIES] = chosen("semi_implicit")
    #: of integrators that iterate
    stage_solver: Annotated[Choice, SOLVE, Called("stage solver"), AMONG_BODIES] = chosen("newton_d")
    #: a key of the catalogue, or "auto": the fastest that is installed
    linear_solver: Annotated[str, SOLVE, Called("linear solver")] = "auto"
    gravity: Annotated[Vector, SOLVE, Called("gravity")] = (0.0, 0.0, -9.81)
    ground: Annotated[Ground | None, SOLVE, Called("ground")] = None
    joint_friction: Annotated[Choice, SOLVE, Called("friction inside joints")] = chosen("none")
    forces: Annotated[list[Force], SOLVE, Called("forces between bodies")] = field(default_factory=list)
    #: between points of bodies
    constraints: Annotated[list[Constraint], SOLVE, Called("constraints")] = field(default_factory=list)
    #: without it soft bodies touch nothing but the ground
    contact: Annotated[Contact | None, SOLVE, Called("contact of surfaces"), AMONG_BODIES] = None
    obstacles: Annotated[list[Obstacle], SOLVE, Called("obstacles")] = field(default_factory=list)  #: of the contact
    wind: Annotated[Wind | None, SOLVE, Called("wind")] = None  #: what cloth moves in; still air where left out

    def method_of(self, body: Body) -> Choice:
        """How a body is solved: by its own method, else by the scene's."""
        return self.method if body.method is None else body.method

    def holder_of(self, attach: Attach) -> RigidBody | None:
        """Return the rigid body that an attachment names; None where there is none of that name."""
        return next((body for one in self.mechanisms if one.name == attach.mechanism for body in one.bodies
                     if body.name == attach.body), None)

    def joins(self) -> list[list[str]]:
        """Names of the soft bodies of each force and each constraint between such."""
        return [*(force.bodies for force in self.forces),
                *([end.body for end in one.ends if end.body and not end.mechanism] for one in self.constraints)]

    def joined(self, name: str) -> set[str]:
        """Names of the soft bodies that forces or constraints join to this one, and of those that they join to these,
        and it.

        Contact may join any to any.
        """
        if self.contact is not None:
            return {body.name for body in self.bodies}
        found, pending = {name}, [name]
        while pending:
            body = pending.pop()
            new = {other for bodies in self.joins() if body in bodies for other in bodies} - found
            found |= new
            pending += sorted(new)
        return found
