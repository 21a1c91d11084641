"""scene.json: constraints between points of bodies."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from .schema_values import BY_SAMPLE, Array, Choice, Family, NotNegative, Positive, Strict, Vector


class ConstraintEnd(Strict, frozen=True):
    """One side of a constraint: a soft body, cloth or rope, a rigid body of a mechanism, or an object of given motion.
    """

    body: str = ""  #: name of a body; empty where `vertices` are given
    mechanism: str = ""  #: that the body is a rigid one of
    point: Vector | None = None  #: in the world at the start [m]; unused where a curve or a surface is the end
    #: of what of a soft body moves the point, where that is more than one tetrahedron [m]
    radius: NotNegative = 0.0
    vertices: Array | None = None  #: (n, 3) of an object of given motion, at the start [m]
    edges: Array | None = None  #: (k, 2) of these
    triangles: Array | None = None  #: (t, 3) of these
    motion: Annotated[Array | None, BY_SAMPLE] = None  #: (T, n, 3) of these; still where left out


class Constraint(Strict, frozen=True):
    """Points of two ends keep a relation to each other, exactly or softly."""

    kind: Annotated[Choice, Family("constraint")]
    ends: list[ConstraintEnd]  #: two; the point of the first one slides on the curve or surface of the second one
    name: str = ""  #: in sentences
    axis: Vector | None = None  #: of a hinge: from its point to the other end of the axis [m]
    #: of a distance [m], or (T,) such; as at the start where left out
    length: Annotated[Positive | Array | None, BY_SAMPLE] = None
    #: displacement over force [m/N], or (T,) such; 0: the constraint is hard
    compliance: Annotated[NotNegative | Array, BY_SAMPLE] = 0.0
    #: (T,) in [0, 1]: a soft constraint has that share of its stiffness, a hard one gives way below 1; 0: none
    strength: Annotated[Array | None, BY_SAMPLE] = None
    lasts: Annotated[float, Meta(ge=0)] = 0.0  #: for how long [s]; 0: for ever
