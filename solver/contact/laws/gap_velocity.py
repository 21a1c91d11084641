"""Gaps that are linear where a step begins: what touches may not come nearer along the normal that it had there."""

from __future__ import annotations

from .gap import Gap


class GapVelocity(Gap):
    """d(x⁰) − t − δ/2 + h n⁰ · v ≥ 0: n⁰ · v ≥ 0 of what touches, one side of the plane through it.

    That plane goes on where the surface bends away, so in large steps what goes over an edge is held up in the air: for
    comparison. [Ascher 28b, changed: what does not touch yet may come as near as what does]
    """

    linear_at_start = True
