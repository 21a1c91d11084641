"""Gap constraints linearised at the start of a step: contacts do not approach along their initial normal."""

from __future__ import annotations

from .gap import Gap


class GapVelocity(Gap):
    """Gap constraints d(x⁰) − t − δ/2 + h n⁰ · v ≥ 0, linearised at the step start x⁰: a half-space for each contact.

    The half-space extends beyond the surface, so in large steps a body that slides over an edge stays in the air; the
    law serves for comparison. [Ascher 28b, changed: open gaps may close as far as contacts]
    """

    linear_at_start = True
