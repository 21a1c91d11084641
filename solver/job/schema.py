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

from msgspec import Meta, Struct, field

from ..catalogue import SCENE_VERSION

VERSION = SCENE_VERSION

Positive = Annotated[float, Meta(gt=0)]
Array = Annotated[str, Meta(pattern=r"^[^/\\:][^\\:]*\.npy$")]  #: path of a .npy file inside the job folder


class Strict(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True, omit_defaults=True):
    """Base of all: an unknown field is an error, so that a typing slip is never silently ignored."""


class Time(Strict):
    start: int
    end: int
    fps: Positive
    step: Positive  #: largest step [s]; a frame holds a whole number of steps
    samples_per_frame: Annotated[int, Meta(ge=1)] = 2
    snapshot_every: Annotated[int, Meta(ge=1, le=10)] = 10  #: frames
    #: largest error of a step, as a share of the body's size; 0: every step is as long as `step`
    tolerance: Annotated[float, Meta(ge=0, le=1)] = 0.0
    #: how much a step may change an edge, as a share of its length; a step that changes one more is halved. 0: any
    largest_deformation: Annotated[float, Meta(ge=0)] = 0.5


def step_size(fps: float, step: float) -> tuple[int, float]:
    """(steps a frame, their length [s]): the fewest steps no longer than `step` that fill a frame exactly."""
    count = max(1, math.ceil(1.0 / (fps * step) - 1e-9))
    return count, 1.0 / fps / count


class Choice(Strict):
    """A key of one catalogue family and the values of its parameters; those left out take their defaults."""

    kind: str
    params: dict[str, float | bool] = field(default_factory=dict)


class Painted(Strict):
    """A number per place, painted on the surface: low where the weight is 0, high where it is 1.

    Carried into the volume as the body's `carry` says. Moduli and densities blend log-linearly, ratios linearly.
    """

    low: float
    high: float
    weights: Array  #: (n,) in [0, 1]


class Ground(Strict):
    """A half space that pushes back: f = -k (n . (x - x_s)) n. [ConJac BUNNY, changed: α = 0]"""

    point: tuple[float, float, float]
    normal: tuple[float, float, float]
    stiffness: Positive = 1.0e3  #: N/m per node
    motion: Array | None = None  #: (T, 3) positions of `point`, where it moves; along itself too, as a belt does
    friction: Choice | None = None  #: without it nothing is held against sliding


class Surface(Strict):
    """The artist's mesh at the start frame, in world space [m]. The output has its vertices, in its order."""

    vertices: Array  #: (n, 3) float64
    triangles: Array  #: (m, 3) int32
    to_object: Array | None = None  #: (frames, 4, 4): world [m] to object space at each frame; identity where left out


class Tets(Strict):
    """A volume mesh given by hand; without it the surface is tetrahedralized by `mesher`."""

    nodes: Array  #: (k, 3) float64 [m]
    tets: Array  #: (e, 4) int32


class Dynamic(Strict):
    """Where the lively nodes are. Everything left out means none: a quasistatic body."""

    weights: Array | None = None  #: (n,): every connected painted patch (> 0.5) gives one node
    points: Array | None = None  #: (p, 3) [m]: each picks its nearest free node
    nodes: Array | None = None  #: indices of nodes, for volumes given by hand


class Pin(Strict):
    """What is held or moved: a node is pinned where the harmonic field of `weights` is above 0.5, or by index."""

    weights: Array | None = None  #: (n,) in [0, 1]
    motion: Array | None = None  #: (T, s, 3): where `motion_vertices` are at each sample; still where left out
    motion_vertices: Array | None = None  #: (s,) vertices of the surface that `motion` tells of
    nodes: Array | None = None  #: indices of nodes, for volumes given by hand
    node_motion: Array | None = None  #: (T, len(nodes), 3): where those nodes are at each sample


class Cut(Strict):
    """Where the body comes apart once `frame` has been reached, between its tetrahedra.

    World space at that frame, where the body is then. The catalogue says which fields each kind reads.
    """

    frame: int  #: this one is still whole
    kind: str  #: a key of the catalogue
    point: tuple[float, float, float] | None = None  #: of a plane [m]
    normal: tuple[float, float, float] | None = None
    vertices: Array | None = None  #: (s, 3) of a sheet [m]
    triangles: Array | None = None  #: (t, 3)
    faces: Array | None = None  #: (f, 3) nodes of faces of the body's `tets`


class Nail(Strict):
    """What is held once `frame` has been reached: the nodes near a line, where they are then. World space [m]."""

    frame: int  #: in this one it holds nothing yet
    head: tuple[float, float, float]  #: the line's ends
    tip: tuple[float, float, float]
    radius: Positive  #: how near
    until: int | None = None  #: once this frame has been reached it is drawn; it stays where left out
    motion: Array | None = None  #: (T, 4, 4): what it sits in, with `head` and `tip` in that; still where left out


class Body(Strict):
    name: str
    surface: Surface | None = None
    tets: Tets | None = None
    mesher: Choice = field(default_factory=lambda: Choice(kind="tetwild"))
    material: Choice = field(default_factory=lambda: Choice(kind="stable_neo_hookean"))
    damping: Choice = field(default_factory=lambda: Choice(kind="rayleigh"))  #: off by its defaults
    painted: dict[str, Painted] = field(default_factory=dict)  #: replaces a parameter with `field=True`, by key
    carry: Choice = field(default_factory=lambda: Choice(kind="smooth"))  #: what `painted` does inside
    density: Positive = 1000.0
    dynamic: Dynamic = field(default_factory=Dynamic)
    pin: Pin = field(default_factory=Pin)
    fiber_material: Choice | None = None  #: what fibres add to `material`; without it there are none
    fiber_field: Choice = field(default_factory=lambda: Choice(kind="gradient"))  #: which way they run at rest
    fibers: Array | None = None  #: (n,) from origin (0) to insertion (1) of a muscle, for the field "gradient"
    fiber_vectors: Array | None = None  #: (n, 3) directions at vertices, for the field "attribute"
    fiber_curves: Array | None = None  #: (s, 2, 3) places [m] and tangents along combed curves, for the field "combed"
    fiber_activation: Array | None = None  #: (T,) activation over time, in [0, 1]; times what is painted, if it is
    cuts: list[Cut] = field(default_factory=list)
    nails: list[Nail] = field(default_factory=list)


class Scene(Strict):
    version: int
    name: str
    time: Time
    bodies: Annotated[list[Body], Meta(min_length=1)]
    method: Choice = field(default_factory=lambda: Choice(kind="conjac"))
    integrator: Choice = field(default_factory=lambda: Choice(kind="semi_implicit"))
    stage_solver: Choice = field(default_factory=lambda: Choice(kind="newton_d"))  #: of integrators that iterate
    linear_solver: str = "auto"  #: a key of the catalogue, or "auto": the fastest that is installed
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    ground: Ground | None = None
