"""Forces that something outside of a mechanism has on points of its bodies, the same through a step."""

from __future__ import annotations

import numpy as np

from ...state import Vec


def add_point_forces(borne: Vec, E: Vec, seconds: float, wrench: Vec) -> None:
    """Add impulses in so many seconds of BORNE, (k, 7), to wrenches in the bodies' frames, (n, 6) [N m s, N s].

    They turn with nothing: each is the same in world where bodies stand at E (n, 4, 4).
    """
    bodies, places = borne[:, 0].astype(np.int32), borne[:, 1:4]
    own = seconds * np.einsum("kji,kj->ki", E[bodies, :3, :3], borne[:, 4:])
    np.add.at(wrench, bodies, np.concatenate([np.cross(places, own), own], axis=1))
