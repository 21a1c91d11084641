"""Hinge constraint: two bodies rotate about a common axis."""

from __future__ import annotations

from .ball import BallConstraint


class HingeConstraint(BallConstraint):
    """Hinge constraint that keeps both ends of an axis together: two ball constraints, of which the sixth row is
    redundant where the bodies are rigid."""
