"""Settings of cloth, with or without Sharp Edges, and of wind in scene.json."""

from __future__ import annotations

import math
from typing import Annotated

from msgspec import Meta

from .schema_values import BY_SAMPLE, Array, Called, Choice, Family, Positive, Strict, Vector, chosen


class Eulerian(Strict, frozen=True):
    """Cloth that slides over sharp edges and corners of obstacles and bends exactly there.

    The cloth is remeshed along edges and corners that it touches and where it folds, so its faces differ from frame to
    frame. [Thesis Alg. 2.1]"""

    #: edges of obstacles whose faces turn by more than this are sharp [rad], and those that are marked
    angle: Annotated[float, Meta(ge=0, le=math.pi), Called("feature angle")] = math.radians(30.0)
    #: shortest edge that remeshing aims at [m]; 0: what suits the mesh
    finest: Annotated[float, Meta(ge=0), Called("finest edges")] = 0.0
    coarsest: Annotated[float, Meta(ge=0), Called("coarsest edges")] = 0.0  #: longest such; 0: what suits the mesh
    #: how many times longer all edges may be: a preview
    coarser: Annotated[float, Meta(ge=1, le=16), Called("preview")] = 1.0
    #: where it is sharp; that of the contact if left out
    friction: Annotated[Annotated[float, Meta(ge=0, le=100)] | None, Called("friction at sharp edges")] = None
    #: a fold over an edge holds as a rope around a capstan does, T₂ ≤ T₁ e^{μθ}; else as Coulomb says of one sharp line
    capstan: Annotated[bool, Called("friction as of a rope")] = False
    exact: bool = False  #: forces on what slides are the exact slope of the energy; else what faces' forces do there


class Cloth(Strict, frozen=True):
    """Cloth: a body of the triangles of its surface, whose vertices are its nodes, in that order in frames.

    The body's fields of a volume are not read: tets, mesher, material, density, dynamic.
    """

    membrane: Annotated[Choice, Called("membrane of the cloth"), Family("membrane")] = chosen("corotated_membrane")
    bending: Annotated[Choice, Called("bending of the cloth"), Family("bending")] = chosen("quadratic_bending")
    area_density: Annotated[Positive, Called("area density")] = 0.2  #: [kg/m²]
    #: how far it keeps from itself and from what it touches [m]
    thickness: Annotated[Positive, Called("thickness")] = 1.0e-3
    #: (m, 3, 2) places of each triangle's corners in material space, as of a UV map, in any unit: they are scaled to
    #: the area of the mesh. The mesh itself is the cloth at rest where left out
    uv: Annotated[Array | None, Called("UV map of the cloth")] = None
    #: without `uv`: along which the threads of the warp run, in the world
    warp: Annotated[Vector, Called("warp of the cloth")] = (1.0, 0.0, 0.0)
    drag: Annotated[float, Meta(ge=0, le=1e6), Called("air drag")] = 1.2  #: of air that blows onto its face
    air_friction: Annotated[float, Meta(ge=0, le=1e6), Called("air friction")] = 0.05  #: of air that blows along it
    #: inside of a closed surface, above that outside [Pa]
    pressure: Annotated[float, Meta(ge=-1e6, le=1e6), Called("pressure")] = 0.0
    #: shares by which no edge gets longer, and no triangle larger or smaller; 0 for none
    length_limit: Annotated[float, Meta(ge=0, le=10), Called("length limit")] = 0.0
    area_limit: Annotated[float, Meta(ge=0, le=0.9), Called("area limit")] = 0.0
    #: (k, 2) vertices that pull each other together, and hold on then
    seams: Annotated[Array | None, Called("seams")] = None
    seam_stiffness: Annotated[Positive, Called("seam stiffness")] = 500.0  #: of each [N/m]
    seam_time: Annotated[float, Meta(ge=0, le=1e3), Called("time of the seams")] = 1.0  #: in which they close [s]
    eulerian: Annotated[Eulerian | None, Called("sharp edges")] = None  #: without it the cloth keeps its mesh
    #: (k, 4) corners of its faces with four, in turn: they may be drawn with either diagonal, and nothing crosses both
    quads: Annotated[Array | None, Called("mesh")] = None


class Wind(Strict, frozen=True):
    """Uniform wind, which exerts drag on cloth."""

    velocity: Vector = (0.0, 0.0, 0.0)  #: [m/s]
    motion: Annotated[Array | None, BY_SAMPLE] = None  #: (T, 3) such at each sample, instead
    density: Annotated[float, Meta(ge=0, le=1e6)] = 1.2  #: of the air [kg/m³]; 0 for none
