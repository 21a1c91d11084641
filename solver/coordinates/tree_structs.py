"""Structs of kernels for a tree of joints: what is fixed, what the joints' types fill, and the motion of the bodies."""

from __future__ import annotations

from typing import NamedTuple

from ..kernel_structs import struct
from ..state import Index, Vec


@struct("i4[::1], i4[::1], f8[:,:,::1], f8[:,:,::1], f8[:,:,::1]")
class TreeFrames(NamedTuple):
    """Bodies and frames of a tree, fixed between reshapes. Joint i is above body i."""

    parent: Index  #: (n,), parent[i] < i, −1 is the world
    dof: Index  #: (n + 1,): rates dof[i] to dof[i + 1] belong to joint i
    in_parent: Vec  #: the joint's frame in the parent's body frame, or in the world, (n, 4, 4) [m]
    in_child: Vec  #: the joint's moving frame in the child's body frame, (n, 4, 4) [m]
    from_child: Vec  #: inverse of in_child, (n, 4, 4) [m]


@struct("f8[:,:,::1], f8[:,::1], f8[:,::1]")
class JointMotion(NamedTuple):
    """Poses and motion of the joints at one time, filled by their types."""

    moving_frame: Vec  #: each joint's moving frame in its frame in the parent, Q(q), (n, 4, 4) [m]
    subspace: Vec  #: column of each rate in the joint's moving frame, (m, 6)
    bend: Vec  #: Ṡ u in the joint's moving frame, (n, 6) [rad/s², m/s²]


@struct("f8[:,:,::1], f8[:,:,::1], f8[:,::1], f8[:,::1], f8[:,::1]")
class BodyMotion(NamedTuple):
    """Poses and motion of the bodies at one time."""

    E: Vec  #: body → world, (n, 4, 4) [m]
    X: Vec  #: parent's twist → its part of the body's twist, (n, 6, 6); of roots: world → body
    S: Vec  #: column of each rate in its child's body frame, (m, 6)
    twist: Vec  #: φ, (n, 6) [rad/s, m/s]
    drift: Vec  #: J̇ u, (n, 6) [rad/s², m/s²]
