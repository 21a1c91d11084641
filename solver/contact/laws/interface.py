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
    """Nodes with active contacts of a step before friction, one row for each; no node occurs twice."""

    nodes: Index  #: (k,)
    normal: Vec  #: unit, away from the obstacle, (k, 3)
    slip: Vec  #: tangential velocity relative to the obstacle [m/s], (k, 3)
    normal_impulse: Vec  #: normal impulse of this step [N s], (k,), not negative
    normal_inertia: float | Vec  #: decrease of the normal impulse for each m/s along the normal [kg], one or (k,)
    mass: Vec  #: lumped, of the nodes [kg], (k,)
    guess: Vec  #: the last step's impulses [N s], (k, 3), an initial guess that changes no result

    def along(self, vectors: Vec) -> Vec:
        """Return the tangential components of vectors (k, 3), (k, 3)."""
        return along(vectors, self.normal)


def along(vectors: Vec, normal: Vec) -> Vec:
    """Return the tangential components of vectors (k, 3), those perpendicular to unit normals (k, 3), (k, 3)."""
    part: Vec = vectors - np.einsum("ka,ka->k", vectors, normal)[:, None] * normal
    return part


class Friction(Protocol):
    """A friction law: impulses against the slip. A law has no memory; the last impulses come with the contacts."""

    coefficient: float  #: μ
    #: whether sticking contacts have anchors, so that quasistatic positions have friction as well
    has_static_friction: bool

    def __init__(self, params: dict[str, float]) -> None: ...

    def notes(self, has_dynamic: bool) -> list[str]:
        """Return sentences for the log. has_dynamic: whether there are dynamic nodes, which quasistatic ones follow."""

    def impulses(self, contacts: SlidingNodes, respond: Respond) -> Vec:
        """Return tangential impulses on the nodes in contact, (k, 3) [N s]. respond: velocity changes by impulses."""


@dataclass(frozen=True)
class Gaps:
    """Inequality constraints of a stage, linearised at positions x: gap + N (x' − x) ≥ 0 at positions x'."""

    normals: sp.csr_matrix  #: N, (k, 3 n)
    gap: Vec  #: distance less the enforced gap [m], (k,)
    name: Names  #: of each pair during one stage, (k,)


class Bounds(Protocol):
    """Gaps of one stage, enforced by multipliers."""

    def add_near_pairs(self, x: Vec) -> None:
        """Add the pairs that are near at positions (n, 3) [m] to the gaps."""

    def gaps(self, x: Vec) -> Gaps:
        """Return the linearised gaps at positions x, (n, 3) [m], of pairs that are near or were detected before."""

    def record_forces(self, x: Vec, forces: Vec) -> None:
        """Record the contact forces, (k,) [N], of the last gaps at the stage's end, positions x (n, 3) [m]."""


@dataclass(frozen=True)
class LoadsOnCloth:
    """Loads that cloth may have to support beyond its own mass and stiffness.

    They increase the contact stiffness of a pair by the area of each side times the areal mass of the other [N/m].
    """

    area: Vec  #: of a node of cloth [m²], (n,); 0 of others
    #: mass per area of a body's surface over the squared step [N/m³], (n,); 0 of cloth and obstacles
    areal_mass: Vec


class FrictionForce(StencilForce, Protocol):
    """A friction force with given normal forces."""

    def add_limits(self, limits: Vec) -> None:
        """Add Coulomb's limit of each pair, μ λ, to `limits` of the nodes of both sides, (n,) [N]."""


class ContactLaw(StencilForce, Protocol):
    """A contact law between surfaces: forces or gap constraints, with a bound on displacements.

    Implementations are the entries of the family "contact".
    """

    def __init__(self, surfaces: Surfaces, rest: Vec, stiffness: Vec, friction: Vec,  # type: ignore[override]
                 activation: float | Vec, params: Mapping[str, float], thickness: Vec,
                 loads: LoadsOnCloth | None = None) -> None:
        """rest: rest positions of all nodes, (n, 3) [m]. stiffness: contact stiffness of a node [N/m], infinite for
        obstacles, (n,). friction: Coulomb's coefficient of each node, (n,); a pair has the geometric mean.
        activation: distance below which contact forces act [m], of all pairs or of each two bodies, (b, b). thickness:
        distance from each node to the outer surface for other bodies, (n,) [m]. loads: None without loaded cloth."""

    edge: float  #: mean edge of the bodies' surfaces [m]
    activation: float  #: distance below which contact forces act [m]
    creep_speed: float  #: friction of slower slip is reduced [m/s]

    def begin(self, x: Vec, time: float) -> None:
        """Prepare for a step that starts at `time` [s] from positions x of all nodes, (n, 3) [m]. Raises StepFailed
        where surfaces that intersect at the start of the simulation are not separated in time."""

    def nearest(self, x: Vec) -> Index | None:
        """Return the nodes, (4,), of the nearest pair that is nearer than its thickness; None without such a pair.

        x: positions of all nodes, (n, 3) [m].
        """

    def node_pairs_within(self, x: Vec, times: float) -> Index:
        """Return one node of each side of all pairs that are nearer than `times` the activation distance, (k, 2).

        x: positions of all nodes, (n, 3) [m].
        """

    def point_pairs(self, x: Vec) -> tuple[Index, Vec, Vec]:
        """Return nodes (k, 4), absolute weights (k, 4) and thicknesses (k,) [m] of the active point-triangle pairs.

        x: positions of all nodes, (n, 3) [m].
        """

    def slips(self, x: Vec, v: Vec) -> tuple[Index, Vec]:
        """Return one node of each side of the active point-triangle pairs, (k, 2), and the slips, (k, 3) [m/s].

        The slip is the tangential velocity of the point relative to the triangle. x, v: positions and velocities of all
        nodes, (n, 3) [m, m/s].
        """

    def contact_forces(self, x: Vec) -> Vec:
        """Return the midpoint [m], force on the first side [N] and distance [m] of each active pair, (k, 7).

        The midpoint is that of the closest points; the force on the second side is opposite. x: positions of all nodes,
        (n, 3) [m].
        """

    def largest_step(self, start: Vec, end: Vec) -> float:
        """Return the contact-free fraction, in [0, 1], of straight displacements from start to end, (n, 3) [m] each."""

    def largest_steps(self, start: Vec, end: Vec, alike: Index) -> Vec:
        """Return the contact-free fraction of the displacement of each node, in [0, 1], (n,).

        start, end: positions, (n, 3) [m]. alike: group of each node, (n,); a group has one fraction, and contact of one
        group does not reduce the fractions of the others.
        """

    def bounds(self, step_start: Vec) -> Bounds | None:
        """Return the gap constraints of a stage that starts at positions `step_start`, (n, 3) [m]; None where forces
        enforce contact."""

    @property
    def has_friction(self) -> bool:
        """Whether any node has friction."""

    def lag_friction(self, x: Vec, base: Vec, seconds: float) -> FrictionForce | None:
        """Return the friction of a stage with the normal forces and normals at positions x, (n, 3) [m]; None without
        friction.

        base: positions of all nodes at v = 0, (n, 3) [m]. seconds: time from base to the stage's end [s].
        """
