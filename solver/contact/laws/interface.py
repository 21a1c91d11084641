"""Protocols of friction laws and of contact laws between surfaces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import scipy.sparse as sp

from ...forces.stencils import StencilForce
from ...rows.names import Names
from ...state import Index, Vec

if TYPE_CHECKING:
    from ..find.mesh import Surfaces

#: velocity changes of nodes in contact by impulses on them, both (k, 3) [m/s], [N s]: W r, W symmetric
Respond = Callable[[Vec], Vec]


@dataclass(frozen=True)
class SlidingNodes:
    """Active contacts of a step before friction; one row for each, no node twice."""

    nodes: Index  #: (k,)
    normal: Vec  #: unit, away from the obstacle, (k, 3)
    slip: Vec  #: tangential velocity relative to the obstacle [m/s], (k, 3)
    normal_impulse: Vec  #: normal impulse of this step [N s], (k,), not negative
    normal_inertia: float | Vec  #: decrease of the normal impulse for each m/s along the normal [kg], one or (k,)
    mass: Vec  #: lumped, of the nodes [kg], (k,)
    guess: Vec  #: the last step's impulses [N s], (k, 3), an initial guess that changes no result

    def along(self, vectors: Vec) -> Vec:
        """Return the tangential part of vectors (k, 3)."""
        return along(vectors, self.normal)


def along(vectors: Vec, normal: Vec) -> Vec:
    """Return the part of vectors normal to unit normals, both (k, 3)."""
    part: Vec = vectors - np.einsum("ka,ka->k", vectors, normal)[:, None] * normal
    return part


class Friction(Protocol):
    """A friction law: impulses against the slip. It has no memory; the last impulses come with the contacts."""

    coefficient: float  #: μ
    #: whether sticking contacts have anchors, so that quasistatic positions have friction as well
    has_static_friction: bool

    def __init__(self, params: dict[str, float]) -> None: ...

    def notes(self, has_dynamic: bool) -> list[str]:
        """Return sentences for the log. has_dynamic: whether there are dynamic nodes, which quasistatic ones follow."""

    def impulses(self, contacts: SlidingNodes, respond: Respond) -> Vec:
        """Return tangential impulses on the nodes in contact, (k, 3) [N s]."""


@dataclass(frozen=True)
class Gaps:
    """Inequality constraints of a stage, linearised at x: gap + N (x' − x) ≥ 0 at other positions x'."""

    normals: sp.csr_matrix  #: N, (k, 3 n)
    gap: Vec  #: less the enforced gap [m], (k,)
    name: Names  #: of each pair during one stage, (k,)


class Bounds(Protocol):
    """Gaps of one stage, enforced by multipliers."""

    def add_near_pairs(self, x: Vec) -> None:
        """Add the pairs that are near at positions (n, 3) [m] to the gaps."""

    def gaps(self, x: Vec) -> Gaps:
        """Return the gaps of pairs that are near at positions (n, 3) [m] or were detected before."""

    def record_forces(self, x: Vec, forces: Vec) -> None:
        """Record the contact forces of the last gaps at the stage's end, (k,) [N]."""


@dataclass(frozen=True)
class LoadsOnCloth:
    """Loads that cloth may have to support beyond its own mass and stiffness: the contact stiffness of a pair is the
    area of one side times the areal mass of the other, both ways [N/m]."""

    area: Vec  #: of a node of cloth [m²], (n,); 0 of others
    #: mass per area of a body's surface over the squared step [N/m³], (n,); 0 of cloth and obstacles
    areal_mass: Vec


class FrictionForce(StencilForce, Protocol):
    """Friction on given normal forces."""

    def add_limits(self, limits: Vec) -> None:
        """Add Coulomb's limit of each pair, μ λ, to nodes of both sides, (n,) [N]."""


class ContactLaw(StencilForce, Protocol):
    """A contact force between surfaces with a bound on their motion, or constraints in place of the force. Entries of
    the family "contact"."""

    def __init__(self, surfaces: Surfaces, rest: Vec, stiffness: Vec, friction: Vec,  # type: ignore[override]
                 activation: float | Vec, params: Mapping[str, float], thickness: Vec,
                 loads: LoadsOnCloth | None = None) -> None:
        """rest: rest positions of all nodes, (n, 3) [m]. stiffness: contact stiffness of a node [N/m], infinite for
        obstacles, (n,). friction: Coulomb's coefficient of each, (n,); that of a pair is the geometric mean.
        activation: distance below which contact forces act [m], of all or of each two bodies, (b, b). thickness:
        distance from each node to the outer surface for other bodies, (n,) [m]. loads: None without loaded cloth."""

    edge: float  #: mean edge of the bodies' surfaces [m]
    activation: float  #: distance below which contact forces act [m]
    creep_speed: float  #: friction of slower slip is reduced [m/s]

    def begin(self, x: Vec, time: float) -> None:
        """Prepare for a step from positions of all nodes (n, 3) [m]. Raises StepFailed."""

    def nearest(self, x: Vec) -> Index | None:
        """Return the nodes, (4,), of a pair that is nearer than its thickness; None without such a pair."""

    def node_pairs_within(self, x: Vec, times: float) -> Index:
        """Return a node of either side of each pair nearer than `times` the activation distance at positions (n, 3)
        [m], (k, 2)."""

    def point_pairs(self, x: Vec) -> tuple[Index, Vec, Vec]:
        """Return nodes (k, 4), a point and a triangle, weights (k, 4) and thicknesses (k,) [m] of active pairs at
        positions (n, 3) [m]."""

    def slips(self, x: Vec, v: Vec) -> tuple[Index, Vec]:
        """Return a node of either side of each active pair of a point and a triangle at positions x (n, 3) [m], (k, 2),
        and the velocity of the point along the triangle at velocities v (n, 3) [m/s], (k, 3)."""

    def contact_forces(self, x: Vec) -> Vec:
        """Return for each active pair at positions (n, 3) [m] the midpoint of its closest points [m], the force on its
        first side, opposite to that on the second [N], and its distance [m]; (k, 7)."""

    def largest_step(self, start: Vec, end: Vec) -> float:
        """Return the largest fraction in [0, 1] of a straight displacement between positions (n, 3) [m] without
        contact."""

    def largest_steps(self, start: Vec, end: Vec, alike: Index) -> Vec:
        """Return the largest fraction of each node, (n,); nodes of one group `alike` (n,) have the same, and contact of
        a group does not cut the others."""

    def bounds(self, step_start: Vec) -> Bounds | None:
        """Return the gaps of a stage that starts at positions (n, 3) [m]; None where forces enforce contact."""

    @property
    def has_friction(self) -> bool:
        """Whether any node has friction."""

    def lagged_friction(self, x: Vec, base: Vec, seconds: float) -> FrictionForce | None:
        """Return the friction of a stage with normal forces and normals at positions x (n, 3) [m]; None where there is
        none.

        base: positions of all nodes at v = 0, (n, 3) [m]. seconds: from there to the stage's end.
        """
