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
from .schema_constraints import Constraint
from .schema_mechanisms import Mechanism
from .schema_ropes import Rope
from .schema_values import Array, Choice, Frame, Positive, Strict, Subframe, Vector

VERSION = SCENE_VERSION


class Time(Strict):
    start: Frame
    end: Frame
    fps: Positive
    step: Positive  #: largest step [s]; a frame holds a whole number of steps
    samples_per_frame: Annotated[int, Meta(ge=1, le=1000)] = 2
    snapshot_every: Annotated[int, Meta(ge=1, le=10)] = 10  #: frames
    #: largest error of a step, as a share of the body's size; 0: every step is as long as `step`
    tolerance: Annotated[float, Meta(ge=0, le=1)] = 0.0
    #: how much a step may change an edge, as a share of its length; a step that changes one more is halved. 0: any
    largest_deformation: Annotated[float, Meta(ge=0)] = 0.5


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
    stiffness_per_area: Positive | None = None  #: in its place [N/m³]: bodies sink as far at any resolution
    tangential_share: Annotated[float, Meta(ge=0, le=1)] = 0.0  #: of the stiffness, along the ground: it drags
    motion: Array | None = None  #: (T, 3) positions of `point`, where it moves; along itself too, as a belt does
    friction: Choice | None = None  #: without it there is no friction


class Surface(Strict):
    """The artist's mesh at the start frame, in world space [m]. The output has its vertices, in its order."""

    vertices: Array  #: (n, 3) float64
    triangles: Array  #: (m, 3) int32
    #: (n, 3) the same in object space; with it tetrahedra are made there and outlast moves and turns of the object
    object_vertices: Array | None = None
    to_object: Array | None = None  #: (frames, 4, 4): world [m] to object space at each frame; identity where left out


class Tets(Strict):
    """A volume mesh given by hand; without it the surface is tetrahedralized by `mesher`."""

    nodes: Array  #: (k, 3) float64 [m]
    tets: Array  #: (e, 4) int32


class Spots(Strict):
    """Spots that move in a way of their own, whatever the body's `spot` says."""

    spot: Choice | None = None  #: how they move; None: each by a single node
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
    motion: Array | None = None  #: (T, s, 3): where `motion_vertices` are at each sample; still where left out
    motion_vertices: Array | None = None  #: (s,) vertices of the surface of `motion`
    nodes: Array | None = None  #: indices of nodes, for volumes given by hand
    node_motion: Array | None = None  #: (T, len(nodes), 3): where those nodes are at each sample
    #: (n,) frames: once a vertex's has been reached, what `weights` pin there is let go; never after the last frame
    until: Array | None = None
    #: with it `weights` are strengths: from 0.999 on they hold hard, and a smaller w by springs of w / (1 - w) times
    #: this for each kg that they hold [1/s²]; or such over time, (T,). Left out, what is above 0.5 is hard and no more
    stiffness: Positive | Array | None = None
    strengths: Array | None = None  #: (frames, s) in [0, 1]: the weights of `strength_vertices` at each frame
    strength_vertices: Array | None = None  #: (s,) those whose weights change; all others keep theirs


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
    motion: Array | None = None  #: (T, 4, 4): what it sits in, with `head` and `tip` in that; still where left out


class Pull(Strict):
    """Springs from the nodes near a point to where those places are carried. World space [m]."""

    position: Vector  #: at the start frame
    radius: Positive  #: how near
    stiffness: Positive = 100.0  #: of all nodes together, shared by their masses [N/m]
    motion: Array | None = None  #: (T, 4, 4): what carries them; they stay where left out
    strength: Array | None = None  #: (T,) in [0, 1]: how much of the stiffness there is; all of it where left out


class Follow(Strict):
    """The body takes part in the rigid motion of an object, so that it feels less of it as inertia."""

    motion: Array  #: (T, 4, 4): the object's frame; only its place and turn count
    #: how much it takes part, in [0, 1]: at 1 it goes along and feels nothing of it; or such over time, (T,)
    share: Annotated[float, Meta(ge=0, le=1)] | Array = 1.0


class Attach(Strict):
    """Nodes that follow a rigid body, or, of cloth with `eulerian` and without a mechanism, a soft one: where `weights`
    carried into the volume are above 0.5, or by index."""

    body: str
    mechanism: str = ""
    weights: Array | None = None  #: (n,) in [0, 1]
    nodes: Array | None = None  #: indices of nodes, for volumes given by hand


class Eulerian(Strict):
    """Cloth that bends exactly at features and slides over them: its mesh follows edges and corners that it touches and
    is remeshed as it folds, so each frame has faces of its own. [Thesis Alg. 2.1]"""

    #: edges of obstacles whose faces turn by more than this are sharp [rad], and those that are marked
    angle: Annotated[float, Meta(ge=0, le=math.pi)] = math.radians(30.0)
    finest: Annotated[float, Meta(ge=0)] = 0.0  #: shortest edge that remeshing aims at [m]; 0: what suits the mesh
    coarsest: Annotated[float, Meta(ge=0)] = 0.0  #: longest such; 0: what suits the mesh
    coarser: Annotated[float, Meta(ge=1, le=16)] = 1.0  #: how many times longer all edges may be: a preview
    friction: Annotated[float, Meta(ge=0, le=100)] | None = None  #: where it is sharp; that of the contact if left out
    #: a fold over an edge holds as a rope around a capstan does, T₂ ≤ T₁ e^{μθ}; else as Coulomb says of one sharp line
    capstan: bool = False
    exact: bool = False  #: forces on what slides are the exact slope of the energy; else what faces' forces do there


class Cloth(Strict):
    """A body that is its surface's triangles themselves: each vertex is a node, and frames have them in their order.

    Of the body's other fields those of a volume are not read: tets, mesher, material, density, dynamic.
    """

    membrane: Choice = field(default_factory=lambda: Choice(kind="corotated_membrane"))
    bending: Choice = field(default_factory=lambda: Choice(kind="quadratic_bending"))
    area_density: Positive = 0.2  #: [kg/m²]
    thickness: Positive = 1.0e-3  #: how far it keeps from itself and from what it touches [m]
    #: (m, 3, 2) places of each triangle's corners in material space, as of a UV map, in any unit: they are scaled to
    #: the area of the mesh. The mesh itself is the cloth at rest where left out
    uv: Array | None = None
    warp: Vector = (1.0, 0.0, 0.0)  #: without `uv`: along which the threads of the warp run, in the world
    drag: Annotated[float, Meta(ge=0, le=1e6)] = 1.2  #: of air that blows onto its face
    air_friction: Annotated[float, Meta(ge=0, le=1e6)] = 0.05  #: of air that blows along it
    pressure: Annotated[float, Meta(ge=-1e6, le=1e6)] = 0.0  #: inside of a closed surface, above that outside [Pa]
    #: shares by which no edge gets longer, and no triangle larger or smaller; 0 for none
    length_limit: Annotated[float, Meta(ge=0, le=10)] = 0.0
    area_limit: Annotated[float, Meta(ge=0, le=0.9)] = 0.0
    seams: Array | None = None  #: (k, 2) vertices that pull each other together, and hold on then
    seam_stiffness: Positive = 500.0  #: of each [N/m]
    seam_time: Annotated[float, Meta(ge=0, le=1e3)] = 1.0  #: in which they close [s]
    eulerian: Eulerian | None = None  #: without it the cloth keeps its mesh
    #: (k, 4) corners of its faces with four, in turn: they may be drawn with either diagonal, and nothing crosses both
    quads: Array | None = None


class Wind(Strict):
    """Air that drags cloth along, the same everywhere."""

    velocity: Vector = (0.0, 0.0, 0.0)  #: [m/s]
    motion: Array | None = None  #: (T, 3) such at each sample, instead
    density: Annotated[float, Meta(ge=0, le=1e6)] = 1.2  #: of the air [kg/m³]; 0 for none


class Body(Strict):
    name: str
    uuid: str = ""  #: of the artist's object, whatever it is called
    surface: Surface | None = None
    tets: Tets | None = None
    cloth: Cloth | None = None  #: with it the surface is no skin of a volume but all there is
    rope: Rope | None = None  #: with it the body is edges between the surface's vertices, which has no triangles
    mesher: Choice = field(default_factory=lambda: Choice(kind="tetwild"))
    material: Choice = field(default_factory=lambda: Choice(kind="stable_neo_hookean"))
    damping: Choice = field(default_factory=lambda: Choice(kind="rayleigh"))  #: off by its defaults
    #: seconds in which each wobble that can be seen loses half of its height, 0 never; or such over time, (T,). What
    #: `damping` and the integrator lack for it is taken from motion relative to what carries the body
    wobble_half_life: Annotated[float, Meta(ge=0)] | Array = 0.0
    painted: dict[str, Painted] = field(default_factory=dict)  #: replaces a parameter with `field=True`, by key
    carry: Choice = field(default_factory=lambda: Choice(kind="smooth"))  #: what `painted` does inside
    density: Positive = 1000.0
    method: Choice | None = None  #: None: the scene's
    #: by which it moves where surfaces touch, as long as all that it may touch moves by the same; else by the scene's
    integrator: Choice | None = None
    stage_solver: Choice | None = None  #: likewise
    #: its largest step [s], that of `time` where left out: what may touch each other takes the shortest one's
    step: Positive | None = None
    largest_deformation: Annotated[float, Meta(ge=0)] | None = None  #: likewise; that of `time` where left out
    dynamic: Dynamic = field(default_factory=Dynamic)
    spot: Choice | None = None  #: how painted spots and points of `dynamic` move; None: each by a single node
    pin: Pin = field(default_factory=Pin)
    #: whether pins are stiff springs, which yield to obstacles; else their motion is prescribed
    pins_yield: bool = False
    fiber_material: Choice | None = None  #: what fibers add to `material`; without it there are none
    fiber_field: Choice = field(default_factory=lambda: Choice(kind="gradient"))  #: which way they run at rest
    fibers: Array | None = None  #: (n,) from origin (0) to insertion (1) of a muscle, for the field "gradient"
    fiber_vectors: Array | None = None  #: (n, 3) directions at vertices, for the field "attribute"
    fiber_curves: Array | None = None  #: (s, 2, 3) places [m] and tangents along combed curves, for the field "combed"
    fiber_activation: Array | None = None  #: (T,) activation over time, in [0, 1]; times what is painted, if it is
    cuts: list[Cut] = field(default_factory=list)
    nails: list[Nail] = field(default_factory=list)
    pulls: list[Pull] = field(default_factory=list)
    attach: list[Attach] = field(default_factory=list)
    follow: Follow | None = None
    #: whether stress, stretch, pressure and speed are written at its vertices; older caches do not know it
    stress_output: bool | None = None
    friction: Annotated[float, Meta(ge=0, le=100)] | None = None  #: in contact of surfaces, as of an Obstacle
    friction_weights: Array | None = None  #: (n,) in [0, 1]: how much of it each vertex has; all where left out
    #: how far out of its surface others stay in contact of surfaces, in addition to their own [m]; its own parts do not
    thickness: Annotated[float, Meta(ge=0, le=1e6)] | None = None
    #: whether the surface itself touches, as its tetrahedra carry it; else the boundary of these
    touches_by_mesh: bool = False
    #: names of the soft bodies and obstacles that it touches, its own for contact with itself, and of mechanisms whose
    #: rigid bodies it touches; all where left out. Two soft bodies touch where both say so
    touches: list[str] | None = None

    @property
    def is_reshaped(self) -> bool:
        """Whether its pins or its topology change within the scene."""
        return bool(self.cuts or self.nails or self.pin.until is not None)


class Force(Strict):
    """A force between nodes of soft bodies in addition to their materials. Bodies that it acts on are solved as one."""

    law: Choice
    bodies: list[str]  #: names of soft bodies, in an order that the law defines


class Obstacle(Strict):
    """A mesh that soft bodies touch, closed or a sheet; also wires and nails, which only cloth with `eulerian` touches.
    World space [m]."""

    name: str
    vertices: Array  #: (n, 3) at the start frame
    triangles: Array | None = None  #: (m, 3)
    wires: Array | None = None  #: (k, 2) ends of the straight pieces of wires: thin lines, which cloth lies on
    nails: Array | None = None  #: (k, 2) head and tip of each nail: its tip is felt
    motion: Array | None = None  #: (T, n, 3): where its vertices are at each sample; still where left out
    friction: Annotated[float, Meta(ge=0, le=100)] | None = None  #: Coulomb's coefficient; the contact's where left out
    friction_weights: Array | None = None  #: (n,) in [0, 1]: how much of it each vertex has; all where left out
    sharp_edges: Array | None = None  #: (k, 2) ends of edges that are sharp to cloth, whatever their angle


class Contact(Strict):
    """Soft bodies touch each other, themselves and the obstacles, and nothing goes through anything."""

    law: Choice = field(default_factory=lambda: Choice(kind="barrier"))


class Scene(Strict):
    version: int
    name: str
    time: Time
    uuid: str = ""  #: of the object that the cache belongs to
    bodies: list[Body] = field(default_factory=list)  #: soft ones; may be empty where there are mechanisms
    mechanisms: list[Mechanism] = field(default_factory=list)
    method: Choice = field(default_factory=lambda: Choice(kind="conjac"))
    integrator: Choice = field(default_factory=lambda: Choice(kind="semi_implicit"))
    stage_solver: Choice = field(default_factory=lambda: Choice(kind="newton_d"))  #: of integrators that iterate
    linear_solver: str = "auto"  #: a key of the catalogue, or "auto": the fastest that is installed
    gravity: Vector = (0.0, 0.0, -9.81)
    ground: Ground | None = None
    joint_friction: Choice = field(default_factory=lambda: Choice(kind="none"))
    forces: list[Force] = field(default_factory=list)
    constraints: list[Constraint] = field(default_factory=list)  #: between points of bodies
    contact: Contact | None = None  #: without it soft bodies touch nothing but the ground
    obstacles: list[Obstacle] = field(default_factory=list)  #: of the contact
    wind: Wind | None = None  #: what cloth moves in; still air where left out

    def method_of(self, body: Body) -> Choice:
        """How a body is solved: by its own method, else by the scene's."""
        return self.method if body.method is None else body.method

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
