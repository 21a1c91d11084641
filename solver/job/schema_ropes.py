"""Settings of a rope in scene.json."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from .schema_values import Array, Choice, Family, Positive, Strict, chosen


class Rope(Strict, frozen=True):
    """A body that is edges: each vertex of its surface is a node, each edge a link, and `triangles` of the surface are
    none. Ropes, wires, strings, chains, nets; many of them in one body.

    Of the body's other fields those of a volume are not read: tets, mesher, material, density, dynamic.
    """

    edges: Array  #: (k, 2) vertices that links join
    #: how links keep their lengths
    length: Annotated[Choice, Family("rope")] = chosen("inextensible")
    linear_density: Positive = 0.1  #: [kg/m]
    bending_stiffness: Annotated[float, Meta(ge=0, le=1e9)] = 1.0e-4  #: B [N m²]
    keeps_shape: bool = False  #: whether it rests as it is drawn, coiled or bent; else it wants to be straight
    #: C [N m²]: what resists being twisted, of strands that are pinned at both ends, or closed
    twisting_stiffness: Annotated[float, Meta(ge=0, le=1e9)] = 0.0
    #: what one end of each is turned by about the strand, or a closed one where it is joined [rad], or (T,) such
    twist: float | Array = 0.0
    twist_time: Annotated[float, Meta(ge=0, le=1e3)] = 1.0  #: in which a number is turned [s]; 0: from the start
    thickness: Positive = 0.01  #: diameter: how far it keeps from itself, and half of it from what it touches [m]
    loads: Array | None = None  #: (n,) mass at each vertex in addition: beads, hooks, lamps [kg]
