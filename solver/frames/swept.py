"""Space that the bodies and the obstacles of a bake fill from its first frame to its last. Needs only numpy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..reshape.boxes import Boxes
from ..state import Vec

if TYPE_CHECKING:
    from ..job.folder import Job

#: of a body's size: how far an obstacle has to be from all that it sweeps to leave its motion as it is. Contact reaches
#: over a tenth of an edge or its thickness, and iterations of a step go beyond where it ends
ROOM = 1.0


@dataclass(frozen=True)
class Swept:
    """Boxes around all positions of the bodies of a bake."""

    boxes: Boxes
    room: Vec  #: distance from each box within which an obstacle may change its body's motion [m], (b,)

    @classmethod
    def through(cls, records: Sequence[Mapping[str, NDArray[Any]]]) -> Swept:
        """Return the boxes of bodies through some frames. records: the arrays of the `GroupRecord` of each, one at
        least. Raises KeyError, ValueError where they are not of the same bodies."""
        boxes = reduce(Boxes.around, (Boxes(record["token"], record["low"], record["high"]) for record in records))
        size, thickness = (records[-1][name][boxes.token] for name in ("size", "thickness"))
        extent = np.linalg.norm(records[0]["high"] - records[0]["low"], axis=1)  # mechanisms have no size of their own
        return cls(boxes, ROOM * np.where(size > 0.0, size, extent) + 2.0 * thickness)

    def find_near_bodies(self, low: NDArray[Any], high: NDArray[Any]) -> frozenset[int]:
        """Return the tokens of bodies near enough to a box for an obstacle in it to change their motion. low, high:
        corners of the box, (3,) [m]."""
        room = self.room[:, None]
        near = ((self.boxes.low - room <= high) & (self.boxes.high + room >= low)).all(axis=1)
        return frozenset(self.boxes.token[near].tolist())


def obstacle_boxes(job: Job) -> list[dict[str, Any]]:
    """Return for each obstacle its name, the number of nodes that can be touched and the corners of a box around all
    its positions [m], as plain values for the manifest."""
    boxes = []
    for obstacle in job.scene.obstacles:
        paths = [path for path in (obstacle.vertices, obstacle.motion) if path is not None]
        positions = [np.asarray(job.array(path), dtype=float).reshape(-1, 3) for path in paths]
        boxes.append({"name": obstacle.name, "nodes": 0 if obstacle.triangles is None else len(positions[0]),
                      "low": np.min([rows.min(axis=0) for rows in positions], axis=0).tolist(),
                      "high": np.max([rows.max(axis=0) for rows in positions], axis=0).tolist()})
    return boxes


def obstacles_in(manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the `obstacle_boxes` in a bake's manifest. Raises KeyError where an earlier version wrote it without them.
    """
    obstacles: list[dict[str, Any]] = manifest["obstacles"] if manifest["scene"].get("obstacles") else []
    return obstacles


def corners_of(obstacles: Iterable[Mapping[str, Any]]) -> dict[str, tuple[Vec, Vec]]:
    """Return the corners of each box of `obstacle_boxes` [m], by name. Raises KeyError, TypeError, ValueError where
    they are damaged."""
    corners_by_name = {str(obstacle["name"]): (np.array(obstacle["low"], dtype=float),
                                               np.array(obstacle["high"], dtype=float)) for obstacle in obstacles}
    if not all(corner.shape == (3,) for corners in corners_by_name.values() for corner in corners):
        raise ValueError("corners of obstacles are not three numbers")
    return corners_by_name
