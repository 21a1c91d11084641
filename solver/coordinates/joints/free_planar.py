"""Free planar joint: a body that moves freely in a plane."""

from __future__ import annotations

from .planar import Planar


class FreePlanar(Planar):
    """Joint with the motion of a planar joint for a body without bearings: it has no friction."""
