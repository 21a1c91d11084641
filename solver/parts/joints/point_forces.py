"""External forces on points of a mechanism's bodies, constant through a step."""

from __future__ import annotations

import numpy as np

from ...state import Vec


def add_point_forces(forces: Vec, E: Vec, seconds: float, wrench: Vec) -> None:
    """Add the impulses of external forces, (k, 7), over `seconds` to wrenches in the bodies' frames, (n, 6)
    [N m s, N s].

    forces: body, point in its frame [m] and force in world [N] of each row. A force does not rotate with its body. E:
    (n, 4, 4).
    """
    bodies, points = forces[:, 0].astype(np.int32), forces[:, 1:4]
    own = seconds * np.einsum("kji,kj->ki", E[bodies, :3, :3], forces[:, 4:])
    np.add.at(wrench, bodies, np.concatenate([np.cross(points, own), own], axis=1))
