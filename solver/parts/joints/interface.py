"""Interface between stages of joints and their constraints: the point of linearisation and the constraints'
solution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...coordinates.tree import Posture
from ...rows.names import Names
from ...state import Index, Vec


@dataclass(frozen=True)
class LinearizationPoint:
    """State at which a stage of a mechanism is linearised; its posture is overwritten when the next point is
    evaluated."""

    posture: Posture
    q: Vec  #: coordinates, (m,)
    v: Vec  #: rates u, (m,)
    memory: Mapping[str, Vec]
    #: on points of rigid bodies from outside of the mechanism, (k, 7): body, position in its frame [m], force in world
    #: [N]; None where there is none
    external_force: Vec | None = None
    drive_lead: Vec | None = None  #: rates of drives in excess of their target, (m,)
    #: momentum of bodies extrapolated to the midpoint of a centred step, in their frames, (n, 6); None in other steps
    brought: Vec | None = None


@dataclass(frozen=True)
class Unsettled:
    """Largest residual of contact and friction after their last pass."""

    off: float  #: size of the residual [m/s]
    bodies: Index  #: both bodies of the contact, −1 for none, (2,)
    position: Vec  #: position of the contact, (3,) [m]


@dataclass(frozen=True)
class ConstraintSolution:
    """Solution of the constraints of a stage. Impulses are those of the constraints alone, without those of forces."""

    rates: Vec  #: (m,)
    active: Names = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  #: active contacts and limits, (k,)
    on_bodies: Vec | None = None  #: impulses in the bodies' frames, (n, 6) [N m s, N s]
    memory: Mapping[str, Vec] = field(default_factory=dict)  #: for the State: multipliers, warm starts, efforts
    efforts: Vec | None = None  #: efforts of drives [N m, N], (m,); None without drives
    unsettled: Sequence[str] = ()  #: names of frictions that did not converge within their passes
    worst: Unsettled | None = None  #: largest residual of contacts that did not converge; None for none
    position_correction: Vec | None = None  #: rates that act on positions and not on velocities, (m,); None for none
    tolerance: float = 0.0  #: relative error of the rates where passes of the constraints end


@dataclass(frozen=True)
class AttachedLoads:
    """Contribution of attached soft bodies to a stage of joints: G and g, for velocities that are linear in joint
    rates. [ConJac MUSCLE]"""

    rates: Index  #: of the joints that move attached nodes, (r,)
    columns: Vec  #: velocities for unit rates, (c, r)
    matrix: Vec  #: G, (c, c)
    impulse: Vec  #: g, (c,)
    #: (b,): the velocities are their twists, S φ gets G φ, and w gets g; None: they are the rates themselves
    bodies: Index | None
