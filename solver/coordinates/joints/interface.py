"""Protocol of a joint type: the pose of its moving frame, and its Jacobian of the rates.

A joint joins a frame fixed in the parent to a frame fixed in the child, its moving frame. Rates are angular first, as
in a twist, and q̇ = u: the coordinates of each joint are on a chart. The catalogue's entry has the kind of each rate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ...state import Index, Mask, Vec

#: fill(bodies, dof, q, u, start, centres, pose, subspace, bend): for the joints above `bodies` (k,), of one type,
#: write Q(q) into pose (n, 4, 4), which starts as identities; the columns of S(q) into subspace (m, 6), row by row,
#: which starts as zeros; Ṡ(q, u) u into bend (n, 6), zeros as well. S and Ṡ are twists [angular; linear] of the moving
#: frame in its own axes. Joint i owns entries dof[i] to dof[i + 1] of q and u, and centres from start[i] on.
JOINT_KERNEL = ("void(i4[::1], i4[::1], f8[::1], f8[::1], i4[::1], f8[::1], f8[:,:,::1], f8[:,::1], f8[:,::1])")


class JointType(Protocol):
    """A type of joint; one object serves all joints of the type."""

    centre: tuple[float, ...]  #: a fresh chart's centre, in State.memory; empty where one chart serves everywhere
    fill: Callable[..., None]  #: a kernel or a function over arrays, see JOINT_KERNEL


class Charted(JointType, Protocol):
    """A type of joint whose chart is re-centred as the joint rotates. k joints of d rates, centres of c numbers."""

    def is_far(self, q: Vec) -> Mask:
        """Return a mask of the joints whose charts should be re-centred, (k,), from their coordinates (k, d)."""

    def recentre(self, q: Vec, centre: Vec) -> Vec:
        """Return the centres of charts on which joints with coordinates q (k, d) about centres (k, c) are at zero,
        (k, c)."""

    def centre_in_place(self, entries: Index, centre_entries: Index, q: Vec, u: Vec, centres: Vec) -> None:
        """Centre the chart of every joint at its present rotation, with q = 0, in place: the effect of `recentre` and
        `carry` in one call.

        entries: indices in q and u (m,), (k, d). centre_entries: indices in centres (s,), (k, c).
        """

    def carry(self, q: Vec, u: Vec, old: Vec, new: Vec) -> tuple[Vec, Vec]:
        """Return q and u, (k, d) each, for unchanged positions and velocities, transformed from the charts about `old`
        centres to those about `new` ones, (k, c) each. Linear in u."""
