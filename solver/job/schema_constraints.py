"""Constraints between points of bodies in scene.json."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from .schema_values import BY_SAMPLE, Array, Choice, Family, NotNegative, Positive, Strict, Vector


class ConstraintEnd(Strict, frozen=True):
    """End of a constraint: on a soft body, cloth or rope, a rigid body, or an object of prescribed motion."""

    body: str = ""  #: name of a body; empty where `vertices` are given
    mechanism: str = ""  #: name of the mechanism of a rigid body; empty for a soft body
    point: Vector | None = None  #: in the world at the start [m]; unused where a curve or a surface is the end
    #: radius of the part of a soft body that moves with the point [m]; 0: one tetrahedron
    radius: NotNegative = 0.0
    vertices: Array | None = None  #: vertices of an object of prescribed motion at the start, (n, 3) [m]
    edges: Array | None = None  #: edges between `vertices`, (k, 2)
    triangles: Array | None = None  #: triangles of `vertices`, (t, 3)
    #: `vertices` at each sample, (T, n, 3) [m]; at rest where left out
    motion: Annotated[Array | None, BY_SAMPLE] = None


class Constraint(Strict, frozen=True):
    """A hard or soft constraint between points of two bodies."""

    kind: Annotated[Choice, Family("constraint")]
    ends: list[ConstraintEnd]  #: two; the point of the first one slides on the curve or surface of the second one
    name: str = ""  #: in messages; may be empty
    axis: Vector | None = None  #: of a hinge: from its point to the other end of the axis [m]
    #: of a distance constraint [m], a number or one for each sample, (T,); that of the start where left out
    length: Annotated[Positive | Array | None, BY_SAMPLE] = None
    #: displacement over force [m/N], a number or one for each sample, (T,); 0: the constraint is hard
    compliance: Annotated[NotNegative | Array, BY_SAMPLE] = 0.0
    #: (T,) in [0, 1]: factor of the stiffness of a soft constraint; a hard one is soft below 1; 0: no constraint
    strength: Annotated[Array | None, BY_SAMPLE] = None
    lasts: Annotated[float, Meta(ge=0)] = 0.0  #: duration [s]; 0: for ever
