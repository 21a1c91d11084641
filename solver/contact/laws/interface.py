"""What a friction law sees of a step and what it answers; and what contact of surfaces answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import scipy.sparse as sp

from ...forces.stencils import StencilForce
from ...state import Index, Vec

if TYPE_CHECKING:
    from ..find.mesh import Surfaces

#: what impulses on the touching nodes change in their velocities, both (k, 3) [N s], [m/s]: W r, W symmetric
Respond = Callable[[Vec], Vec]


@dataclass(frozen=True)
class SlidingNodes:
    """A table of contacts that push in this step, before friction; one row a contact, no node twice."""

    nodes: Index  #: (k,)
    normal: Vec  #: unit, away from the obstacle, (k, 3)
    slip: Vec  #: velocity along the obstacle, relative to it [m/s], (k, 3)
    pressing: Vec  #: impulse along the normal in this step [N s], (k,), not negative
    yielding: float | Vec  #: by how much that falls with each m/s along the normal [kg], or of each, (k,)
    mass: Vec  #: lumped, of the nodes [kg], (k,)
    guess: Vec  #: impulses that the forces before would be now [N s], (k, 3); it saves time, no answer depends on it

    def along(self, vectors: Vec) -> Vec:
        """The part of vectors (k, 3) that lies along the obstacle."""
        return along(vectors, self.normal)


def along(vectors: Vec, normal: Vec) -> Vec:
    """The part of vectors at right angles to unit normals, both (k, 3)."""
    part: Vec = vectors - np.einsum("ka,ka->k", vectors, normal)[:, None] * normal
    return part


class Friction(Protocol):
    """Impulses against the slip. A law keeps nothing from step to step; its last answer comes with the table."""

    coefficient: float  #: μ
    grips: bool  #: whether what touches is held where it stands, so that positions which balance feel it too

    def __init__(self, params: dict[str, float]) -> None: ...

    def notes(self, has_dynamic: bool) -> list[str]:
        """Sentences for the log. has_dynamic: whether there are dynamic nodes, that quasistatic ones follow."""

    def impulses(self, rubbing: SlidingNodes, respond: Respond) -> Vec:
        """On the touching nodes, along the obstacle, (k, 3) [N s]."""


@dataclass(frozen=True)
class Gaps:
    """What a stage has to keep open, linear where it was asked: gap + N (x' − x) ≥ 0 at other positions x'."""

    normals: sp.csr_matrix  #: N, (k, 3 n)
    gap: Vec  #: less what is kept open [m], (k,)


class Bounds(Protocol):
    """Gaps of one stage, held by pushes as hard as that takes."""

    def look(self, x: Vec) -> None:
        """What is near at positions (n, 3) [m] is among the gaps from now on."""

    def gaps(self, x: Vec) -> Gaps:
        """Of what is near at positions (n, 3) [m], and of what was where it was looked before."""

    def pushed(self, x: Vec, forces: Vec) -> None:
        """Call at the stage's end, with what holds each of the gaps that were asked for last, (k,) [N]."""


@dataclass(frozen=True)
class LoadsOnCloth:
    """What cloth may have to carry of what lies on it, which its own mass and stiffness say nothing of: of a pair the
    area of one side times what is behind the other, both ways [N/m]."""

    area: Vec  #: of a node of cloth [m²], (n,); 0 of all else
    behind: Vec  #: mass behind a square metre of a surface, over a step's square [N/m³], (n,); 0 of cloth and obstacles


class ContactLaw(StencilForce, Protocol):
    """A force between surfaces that knows how far they may move, or what keeps them apart besides forces. Entries of
    the family "contact"."""

    def __init__(self, surfaces: Surfaces, rest: Vec, stiffness: Vec, friction: Vec,  # type: ignore[override]
                 activation: float | Vec, params: Mapping[str, float], thickness: Vec,
                 loads: LoadsOnCloth | None = None) -> None:
        """rest: of all nodes, (n, 3) [m]. stiffness: what a node's contact should resist with [N/m], infinite where it
        is an obstacle's, (n,). friction: Coulomb's coefficient of each, (n,); two that touch rub with the geometric
        mean. activation: how near surfaces may be before they push [m], all or two bodies each, (b, b). thickness: how
        far each stands out of its surface where another body comes, (n,) [m]. loads: None where nothing lies on
        cloth."""

    edge: float  #: a mean one of the bodies' surfaces [m]
    activation: float  #: how near surfaces are that push [m]

    def begin(self, x: Vec, time: float) -> None:
        """Call where a step starts, with positions of all nodes (n, 3) [m]. Raises StepFailed."""

    def nearest(self, x: Vec) -> Index | None:
        """The nodes, (4,), of a pair that is nearer to each other than both sides are thick; None where none is."""

    def paired(self, x: Vec, times: float) -> Index:
        """Nodes of both sides of each pair that is nearer than so many times what pushes, at positions (n, 3) [m],
        (k, 2)."""

    def told(self, x: Vec) -> Vec:
        """Of each pair that pushes at positions (n, 3) [m]: the middle between its nearest points [m], the force on the
        first side, which the other one feels the other way [N], and how near they are [m]; (k, 7)."""

    def largest_step(self, start: Vec, end: Vec) -> float:
        """The largest share of a straight move between positions (n, 3) [m], in [0, 1], in which nothing meets."""

    def largest_steps(self, start: Vec, end: Vec, alike: Index) -> Vec:
        """The same of each node, (n,), those of one number `alike` (n,) the same: what meets does not hold up the rest.
        """

    def bounds(self, begun: Vec) -> Bounds | None:
        """What a stage that stands at positions (n, 3) [m] has to keep open; None where forces do."""

    @property
    def is_rough(self) -> bool:
        """Whether there is friction anywhere."""

    def sliding(self, x: Vec, base: Vec, seconds: float) -> StencilForce | None:
        """Friction of a stage, with loads and normals as they are at positions x (n, 3) [m]; None where none is.

        base: positions of all nodes at v = 0, (n, 3) [m]. seconds: from there to the stage's end.
        """
