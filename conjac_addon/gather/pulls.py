"""Pulls: motion of the Empties that carry nearby parts of the body along, and their strength."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver.errors import BadInput
from ..declared import PULL
from . import fields
from .empties import check_empty
from .evaluation import Evaluation

Store = Callable[[str, NDArray[Any]], str]


def pull_settings(obj: bpy.types.Object, scene: bpy.types.Scene) -> list[dict[str, Any]]:
    """Return the pulls of scene.json's body that depend on settings only."""
    return [fields.gathered(PULL, obj, scene, item=pull) for pull in obj.conjac.pulls if pull.object is not None]


class Pulls:
    """The pulls of an evaluation's object; `sample` is to be called at every sample."""

    def __init__(self, evaluation: Evaluation) -> None:
        """Raises BadInput where a pull has no Empty that moves."""
        self._evaluation = evaluation
        obj = evaluation.object
        for number, pull in enumerate(obj.conjac.pulls, 1):
            if pull.object is None:
                raise BadInput(f"its pull {number} has no Empty", "Choose an Empty, or remove the pull", obj.name)
            check_empty(evaluation, pull.object, "pull")
        self._empties = [pull.object for pull in obj.conjac.pulls]
        self._places: list[list[NDArray[np.float64]]] = [[] for _ in self._empties]
        self._strengths: list[list[float]] = [[] for _ in self._empties]

    def __bool__(self) -> bool:
        return bool(self._empties)

    def sample(self) -> None:
        """Read where the pulls are at the present sample, and how strong. Raises BadInput where one's scale is zero on
        an axis."""
        now = self._evaluation.evaluated(self._evaluation.object).conjac.pulls
        for number, empty in enumerate(self._empties):
            self._places[number].append(self._evaluation.to_world(empty))
            self._strengths[number].append(float(now[number].strength))

    def fields(self, store: Store) -> dict[str, list[dict[str, Any]]]:
        """Return the field of scene.json's body, empty where there are none."""
        if not self._empties:
            return {}
        pulls = pull_settings(self._evaluation.object, self._evaluation.scene)
        for number, pull in enumerate(pulls):
            matrices, strengths = np.array(self._places[number]), np.clip(self._strengths[number], 0.0, 1.0)
            pull["position"] = matrices[0, :3, 3].tolist()
            if not np.array_equal(matrices, np.broadcast_to(matrices[0], matrices.shape)):
                pull["motion"] = store(f"pull_{number}", matrices)
            if (strengths != 1.0).any():
                pull["strength"] = store(f"pull_strength_{number}", strengths)
        return {"pulls": pulls}
