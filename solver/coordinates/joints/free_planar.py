"""A body in the plane."""

from __future__ import annotations

from .planar import Planar


class FreePlanar(Planar):
    """The motion of a planar joint, of a body that nothing bears: its joint has no friction."""
