"""Vertices that a step moves off their features, and the distance up to which they are put back."""

from __future__ import annotations

import numpy as np

from ...sheet.limits import RemeshLimits
from ...sheet.sheet_mesh import SheetMesh
from ...state import Vec
from .cone import Cone

OFF = 0.25  #: of the thickness: a vertex that is further off its feature after a step has lifted off
#: [rad], [m/s], of the shortest edges: where cloth folds further, and slides slower than its tension, at least what it
#: weighs over so much, would let go of, only slack lifts it that comes and goes, no faster than this
FOLDED, LIFTS, HANGS = 0.5, 0.5, 5.0


def displacements_off(on_features: Cone, moved: SheetMesh, h: float) -> Vec:
    """Return displacements of vertices off their features after a step of h [s], (k, 3) [m]."""
    displacement = moved.x[on_features.vertices] - on_features.positions - h * on_features.velocity
    along = np.einsum("ki,ki->k", displacement, on_features.along)[:, None] * on_features.along
    off: Vec = displacement - along
    return off


def stays_within(on_features: Cone, moved: SheetMesh, h: float, limits: RemeshLimits, gravity: Vec) -> Vec:
    """Return distances, (k,) [m], up to which vertices that are off their features after a step of h [s] are put back.
    """
    least = OFF * limits.thickness
    # nothing hangs across what stands upright
    along = on_features.along
    weighs = np.linalg.norm(gravity - (along @ gravity)[:, None] * along, axis=1)
    slow = HANGS * limits.shortest * weighs
    speed = np.linalg.norm(moved.slide[on_features.vertices], axis=1)
    return np.where((on_features.fold > FOLDED) & (speed**2 < slow), max(least, LIFTS * h), least)
