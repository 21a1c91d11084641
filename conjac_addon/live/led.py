"""Pins in Play Live that follow bones: read from the armature whenever a bone has moved."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver.errors import BadInput
from ...solver.job.files import create, unwritable
from ...solver.live.board import LEADING
from .. import members
from ..gather import stack
from ..gather.evaluation import Evaluation
from . import shape

Array = NDArray[np.float64]


class Led:
    """Bodies with an armature above ConJac, and which of their vertices are pinned."""

    def __init__(self, bodies: Sequence[bpy.types.Object], pinned: Sequence[NDArray[np.int64]], folder: Path) -> None:
        """pinned: vertices of each body. Writes into the job folder which of them bones lead. Raises CacheUnwritable.
        """
        self._pinned = {k: own for k, (obj, own) in enumerate(zip(bodies, pinned)) if len(own) and armatures(obj)}
        self._pose, self._places = b"", np.zeros((0, 3))
        if self._pinned:
            body = np.repeat(list(self._pinned), [len(own) for own in self._pinned.values()])
            path = folder / LEADING
            try:
                with create(path, folder) as file:
                    np.savez(file, body=body, vertex=np.concatenate([*self._pinned.values()]))
            except OSError as error:
                raise unwritable(path, error) from error

    @property
    def count(self) -> int:
        """Return the number of vertices that follow bones."""
        return sum(map(len, self._pinned.values()))

    def places(self, bodies: Sequence[bpy.types.Object], scene: bpy.types.Scene) -> Array:
        """Return the present positions of these vertices in the world [m], (s, 3). Raises BadInput where the mesh has
        changed."""
        pose = b"".join(_pose(bodies[k]) for k in self._pinned)
        if pose != self._pose:
            self._pose = pose
            self._places = np.concatenate([_evaluated(bodies[k], scene, own) for k, own in self._pinned.items()])
        return self._places


def armatures(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """Return the armatures that deform an object above ConJac, except those that ConJac moves itself."""
    return [modifier.object for modifier in stack.above(obj) if modifier.type == "ARMATURE" and modifier.show_viewport
            and modifier.object is not None and not members.is_mechanism(modifier.object)]


def _pose(obj: bpy.types.Object) -> bytes:
    """Return the matrices of the object, its armatures and their bones as bytes, to be compared."""
    matrices = [obj.matrix_world]
    for armature in armatures(obj):
        matrices += [armature.matrix_world, *(bone.matrix for bone in armature.pose.bones)]
    return np.array(matrices, dtype=np.float32).tobytes()


def _evaluated(obj: bpy.types.Object, scene: bpy.types.Scene, vertices: NDArray[np.int64]) -> Array:
    """Return the vertices before ConJac and modifiers below it act on them [m], (k, 3)."""
    with Evaluation(obj, scene) as evaluation, shape.hidden(obj):
        evaluation.view_layer.update()
        places = evaluation.positions()
    if len(places) <= vertices.max():
        raise BadInput("its mesh has changed", "Press Play Live again", obj.name)
    found: Array = places[vertices]
    return found
