"""Nails: transforms of Empties while they hold parts of the body."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver.errors import BadInput
from ..declared import NAIL
from . import fields
from .empties import check_empty
from .evaluation import Evaluation

Store = Callable[[str, NDArray[Any]], str]


def nail_settings(obj: bpy.types.Object, scene: bpy.types.Scene) -> list[dict[str, Any]]:
    """Return the nails of scene.json's body that depend on settings only."""
    return [fields.gathered(NAIL, obj, scene, item=nail) for nail in obj.conjac.nails if nail.object is not None]


class Nails:
    """The nails of an evaluation's object; `sample` is to be called at every sample."""

    def __init__(self, evaluation: Evaluation, frames: tuple[int, int]) -> None:
        """Raises BadInput where a nail has no Empty that moves, or would hold nothing between first and last frame."""
        self._evaluation = evaluation
        obj, (start, end) = evaluation.object, frames
        for nail in obj.conjac.nails:
            if nail.object is None:
                raise BadInput(f"its nail at frame {nail.frame} has no Empty", "Choose an Empty, or remove the nail",
                               obj.name)
            if not start <= nail.frame < end:
                raise BadInput(f"its nail at frame {nail.frame} would hold nothing: it is baked from frame {start} to "
                               f"{end}", f"Drive it in from frame {start} to {end - 1}", obj.name)
            if nail.is_drawn and nail.until + nail.until_subframe <= nail.frame + nail.subframe:
                raise BadInput(f"its nail at frame {nail.frame} lets go at frame {nail.until} already",
                               "Let it go later", obj.name)
            check_empty(evaluation, nail.object, "nail")
        self._empties = [nail.object for nail in obj.conjac.nails]
        self._places: list[list[NDArray[np.float64]]] = [[] for _ in self._empties]

    def __bool__(self) -> bool:
        return bool(self._empties)

    def sample(self) -> None:
        """Read where the nails are at the present sample. Raises BadInput where one's scale is zero on an axis."""
        for places, empty in zip(self._places, self._empties):
            places.append(self._evaluation.to_world(empty))

    def fields(self, store: Store) -> dict[str, list[dict[str, Any]]]:
        """Return the field of scene.json's body, empty without nails. A nail lies along its Empty's Z axis."""
        if not self._empties:
            return {}
        nails = nail_settings(self._evaluation.object, self._evaluation.scene)
        for number, (nail, places, empty) in enumerate(zip(nails, self._places, self._empties)):
            matrices, half = np.array(places), empty.empty_display_size
            ends = np.array([[0.0, 0.0, half], [0.0, 0.0, -half]])
            if np.array_equal(matrices, np.broadcast_to(matrices[0], matrices.shape)):
                ends = ends @ matrices[0, :3, :3].T + matrices[0, :3, 3]
            else:
                nail["motion"] = store(f"nail_{number}", matrices)
            nail["head"], nail["tip"] = ends.tolist()
        return {"nails": nails}
