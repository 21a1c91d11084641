"""The ground plane: a height, or the origin and the local Z axis of an object that may move."""

from __future__ import annotations

import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver.errors import BadInput
from .. import settings
from .evaluation import Evaluation

#: a ground whose normal turns by more than this [rad] is refused
TURNED = 1.0e-4


class GroundPlane:
    """The plane at the present frame of an evaluation, and whether it moves as the frames go by."""

    def __init__(self, body_settings: bpy.types.PropertyGroup, evaluation: Evaluation) -> None:
        self._object: bpy.types.Object | None = body_settings.ground_object
        self._evaluation = evaluation
        if self._object is not None and self._object == evaluation.object:
            raise BadInput("it is its own ground", "Choose another object as ground", evaluation.object.name)
        if self._object is not None:
            evaluation.check_enabled(self._object, f'it is the ground of "{evaluation.object.name}"')
        self._height = settings.si(body_settings, "ground_height", evaluation.scene)
        self.point, self.normal = self._plane()
        self.moves = False

    def follow(self) -> NDArray[np.float64]:
        """Return the plane's point at the present frame [m], (3,). Raises BadInput if the plane has turned."""
        point, normal = self._plane()
        if np.linalg.norm(np.cross(normal, self.normal)) > TURNED or normal @ self.normal < 0.0:
            raise BadInput("the ground turns, but a ground plane can only be moved", "Remove its rotation",
                           self._object.name if self._object else None, self._evaluation.frame)
        self.moves |= not np.array_equal(point, self.point)
        return point

    @property
    def may_move(self) -> bool:
        return self._object is not None

    def _plane(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        if self._object is None:
            return np.array([0.0, 0.0, self._height]), np.array([0.0, 0.0, 1.0])
        # the cross product of the other two axes stays at right angles to the plane under any scale
        matrix = self._evaluation.to_world(self._object)
        normal = np.cross(matrix[:3, 0], matrix[:3, 1])
        normal *= np.sign(normal @ matrix[:3, 2]) / np.linalg.norm(normal)
        return matrix[:3, 3].copy(), normal
