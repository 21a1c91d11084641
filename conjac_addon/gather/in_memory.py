"""A mechanism as it is now, for display only: no job folder, nothing on disk."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import bpy
from numpy.typing import NDArray

from ..timeline import present_frame
from . import sources
from .evaluation import Evaluation
from .mechanism import MechanismReader


class Arrays(dict[str, NDArray[Any]]):
    """Substitute for a job folder: arrays by their names in scene.json."""

    def array(self, name: str, values: NDArray[Any]) -> str:
        self[name] = values
        return name


def mechanism_now(owner: bpy.types.Object, scene: bpy.types.Scene) -> tuple[dict[str, Any], Arrays]:
    """scene.json's mechanism at the present frame, and the arrays that it names. Raises ConJacError."""
    arrays = Arrays()
    with ExitStack() as stack:
        evaluation = stack.enter_context(Evaluation(owner, scene))
        source = sources.make(evaluation, stack)
        evaluation.stay()
        reader = MechanismReader(source, owner, arrays, scene, present_frame(scene))
        reader.begin(checked=False)
        return reader.document, arrays
