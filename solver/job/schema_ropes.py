"""Settings of a rope in scene.json."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from .schema_values import Array, Choice, Family, Positive, Strict, choose


class Rope(Strict, frozen=True):
    """One or more ropes, wires, strings, chains or nets: each vertex of the surface is a node, each edge a link.

    The surface has no triangles. The body's fields of a volume are not read: tets, mesher, material, density, dynamic.
    """

    edges: Array  #: vertices at the ends of each link, (k, 2)
    #: law of the lengths of links
    length: Annotated[Choice, Family("rope")] = choose("inextensible")
    linear_density: Positive = 0.1  #: [kg/m]
    bending_stiffness: Annotated[float, Meta(ge=0, le=1e9)] = 1.0e-4  #: B [N m²]
    keeps_shape: bool = False  #: whether its rest shape is the drawn one, coiled or bent; else it is straight
    #: stiffness C [N m²] against torsion, of strands that are pinned at both ends, or closed
    twisting_stiffness: Annotated[float, Meta(ge=0, le=1e9)] = 0.0
    #: twist of one end of each strand, or of a closed one where it is joined [rad]; or one for each sample, (T,)
    twist: float | Array = 0.0
    #: time in which a twist that is a number is reached [s]; 0: at the start
    twist_time: Annotated[float, Meta(ge=0, le=1e3)] = 1.0
    thickness: Positive = 0.01  #: diameter [m]: its distance from itself; its distance from others is half of it
    loads: Array | None = None  #: additional mass at each vertex, (n,) [kg]: beads, hooks, lamps
