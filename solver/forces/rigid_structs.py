"""Structs of kernels for forces on rigid bodies and on the rates of joints: their tables, and the system they fill."""

from __future__ import annotations

from typing import NamedTuple

from ..kernel_structs import struct
from ..state import Index, Vec


@struct("f8, f8, f8")
class ForceWeights(NamedTuple):
    """Weights of forces and of their derivatives in a stage: ah (f + K moved), and −ah D − scale K."""

    ah: float  #: a h [s]
    scale: float  #: [s²]
    damped: float  #: 1 if f includes damping, else 0


@struct("f8[:,::1], f8[:,:,::1], f8[:,:,::1], f8[:,:,::1]")
class BodySystem(NamedTuple):
    """Right-hand side and matrix B of a stage on the twists of bodies."""

    wrench: Vec  #: (n, 6) [N m s, N s]
    diagonal: Vec  #: blocks of B on bodies, (n, 6, 6)
    below: Vec  #: blocks of B in rows of bodies and columns of their parents, (n, 6, 6)
    between: Vec  #: blocks of B between bodies that are not parent and child, (p, 6, 6)


@struct("f8[::1], f8[:,:,::1], f8[::1]")
class RateSystem(NamedTuple):
    """Right-hand side and matrix R of a stage on the rates of joints."""

    force: Vec  #: (m,) [N m s, N s]
    reduced: Vec  #: R of the joint above each body, in the upper left corner, (n, 6, 6)
    effort: Vec  #: part of motors in the force, not weighted, (m,) [N m, N]


@struct("i4[:,::1], f8[:,:,::1], f8[:,::1], i4[::1]")
class SpringTable(NamedTuple):
    """Damped springs between points of two bodies."""

    body: Index  #: (s, 2), −1 for the world
    point: Vec  #: in the bodies' frames, or in the world, (s, 2, 3) [m]
    law: Vec  #: stiffness [N/m], damping [N s/m] and rest length [m], (s, 3)
    slot: Index  #: position of the block between both bodies, (s,): WORLD for none, PARENT_FIRST or CHILD_FIRST in
    #: `below`, or a row of `between`


@struct("i4[::1], i4[::1], f8[:,::1]")
class JointTable(NamedTuple):
    """Laws of the rates of joints with springs, dampers or motors."""

    bodies: Index  #: below these joints, (b,)
    chart: Index  #: index in `centres` of the centre of a joint's chart of rotation, −1 for a joint without one, (n,)
    law: Vec  #: columns as in joint_kernels, (m, 8)


@struct("f8[::1], f8[::1], f8[::1], f8[:,::1], f8[::1]")
class JointPoint(NamedTuple):
    """Coordinates at which the forces of joints are linearised."""

    q: Vec  #: (m,) [rad, m]
    u: Vec  #: rates, (m,) [rad/s, m/s]
    centres: Vec  #: of charts of rotation, (s,)
    subspace: Vec  #: column of each rate in the joint's moving frame, (m, 6)
    moved: Vec  #: coordinates at the base of the stage minus q, (m,) [rad, m]
