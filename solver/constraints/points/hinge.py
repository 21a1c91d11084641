"""Two bodies turn about an axis."""

from __future__ import annotations

from .ball import BallConstraint


class HingeConstraint(BallConstraint):
    """Both ends of an axis stay together: two balls, of which the sixth row is redundant where the bodies are rigid."""
