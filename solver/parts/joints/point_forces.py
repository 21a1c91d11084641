"""Forces that something outside of a mechanism has on points of its bodies, the same through a step."""

from __future__ import annotations

import numpy as np

from ...state import Vec


def add_point_forces(forces: Vec, E: Vec, seconds: float, wrench: Vec) -> None:
    """Add impulses in so many seconds of external forces, (k, 7), to wrenches in the bodies' frames, (n, 6) [N m s, N
    s].

    They do not rotate: each is constant in world for bodies at E (n, 4, 4).
    """
    bodies, points = forces[:, 0].astype(np.int32), forces[:, 1:4]
    own = seconds * np.einsum("kji,kj->ki", E[bodies, :3, :3], forces[:, 4:])
    np.add.at(wrench, bodies, np.concatenate([np.cross(points, own), own], axis=1))
