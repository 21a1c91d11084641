"""Settings of cloth, with or without Sharp Edges, and of wind in scene.json."""

from __future__ import annotations

import math
from typing import Annotated

from msgspec import Meta

from .schema_values import BY_SAMPLE, Array, Called, Choice, Family, Positive, Strict, Vector, choose


class Eulerian(Strict, frozen=True):
    """Cloth that slides over sharp edges and corners of obstacles and bends exactly there.

    The cloth is remeshed along edges and corners that it touches and where it folds, so its faces differ from frame to
    frame. [Thesis Alg. 2.1]"""

    #: angle between faces of an obstacle above which their edge is sharp [rad]; marked edges are sharp, too
    angle: Annotated[float, Meta(ge=0, le=math.pi), Called("feature angle")] = math.radians(30.0)
    #: target for the shortest edges of remeshing [m]; 0: derived from the mesh
    finest: Annotated[float, Meta(ge=0), Called("finest edges")] = 0.0
    coarsest: Annotated[float, Meta(ge=0), Called("coarsest edges")] = 0.0  #: for the longest [m]; 0: derived
    #: factor of the lengths of all edges, above 1 for a preview
    coarser: Annotated[float, Meta(ge=1, le=16), Called("preview")] = 1.0
    #: Coulomb's coefficient at sharp edges; that of the contact where left out
    friction: Annotated[Annotated[float, Meta(ge=0, le=100)] | None, Called("friction at sharp edges")] = None
    #: friction of a fold over an edge is that of a rope around a capstan, T₂ ≤ T₁ e^{μθ}; else Coulomb's at one line
    capstan: Annotated[bool, Called("friction as of a rope")] = False
    #: forces on sliding vertices include the change of a face's energy with its size: the exact gradient of the energy
    exact: bool = False


class Cloth(Strict, frozen=True):
    """Cloth: a body of the triangles of its surface, whose vertices are its nodes, in that order in frames.

    The body's fields of a volume are not read: tets, mesher, material, density, dynamic.
    """

    membrane: Annotated[Choice, Called("membrane of the cloth"), Family("membrane")] = choose("corotated_membrane")
    bending: Annotated[Choice, Called("bending of the cloth"), Family("bending")] = choose("quadratic_bending")
    area_density: Annotated[Positive, Called("area density")] = 0.2  #: [kg/m²]
    #: distance from itself and from others in contact [m]
    thickness: Annotated[Positive, Called("thickness")] = 1.0e-3
    #: coordinates of each triangle's corners in material space, (m, 3, 2), such as a UV map, in any unit: they are
    #: scaled to the area of the mesh. Where left out the mesh is the rest shape
    uv: Annotated[Array | None, Called("UV map of the cloth")] = None
    #: direction of the warp threads in the world, without `uv`
    warp: Annotated[Vector, Called("warp of the cloth")] = (1.0, 0.0, 0.0)
    drag: Annotated[float, Meta(ge=0, le=1e6), Called("air drag")] = 1.2  #: coefficient for air normal to a face
    #: coefficient for air along a face
    air_friction: Annotated[float, Meta(ge=0, le=1e6), Called("air friction")] = 0.05
    #: pressure inside of a closed surface relative to outside [Pa]
    pressure: Annotated[float, Meta(ge=-1e6, le=1e6), Called("pressure")] = 0.0
    #: largest relative stretch of an edge, and relative change of the area of a triangle; 0: no limit
    length_limit: Annotated[float, Meta(ge=0, le=10), Called("length limit")] = 0.0
    area_limit: Annotated[float, Meta(ge=0, le=0.9), Called("area limit")] = 0.0
    #: pairs of vertices that springs pull together and then join, (k, 2)
    seams: Annotated[Array | None, Called("seams")] = None
    seam_stiffness: Annotated[Positive, Called("seam stiffness")] = 500.0  #: of a seam [N/m]
    seam_time: Annotated[float, Meta(ge=0, le=1e3), Called("time of the seams")] = 1.0  #: until seams are closed [s]
    eulerian: Annotated[Eulerian | None, Called("sharp edges")] = None  #: None: no remeshing
    #: corners of quads in cyclic order, (k, 4), which may be drawn with either diagonal: no surface crosses either one
    quads: Annotated[Array | None, Called("mesh")] = None


class Wind(Strict, frozen=True):
    """Uniform wind, which exerts drag on cloth."""

    velocity: Vector = (0.0, 0.0, 0.0)  #: [m/s]
    motion: Annotated[Array | None, BY_SAMPLE] = None  #: velocity at each sample, (T, 3) [m/s], instead of `velocity`
    density: Annotated[float, Meta(ge=0, le=1e6)] = 1.2  #: of the air [kg/m³]; 0: no air
