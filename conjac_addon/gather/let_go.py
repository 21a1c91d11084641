"""Pins that let go: where modifiers bring weights of Pin down on the way, as Vertex Weight Mix does by keyframes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..members import is_sharp
from . import maps, stack
from .evaluation import Evaluation

NEVER = np.iinfo(np.int32).max  #: frame of what is held to the end


class LettingGo:
    """Of an evaluation's object; `see` is to be called at every whole frame, the start frame first."""

    def __init__(self, evaluation: Evaluation, report: Callable[[str], None]) -> None:
        self._evaluation, self._report = evaluation, report
        self._group = evaluation.object.conjac.pin_group
        self._may_change = any(modifier.type in stack.REWEIGH for modifier in stack.above(evaluation.object))
        self._held: NDArray[np.bool_] | None = None  #: at the start frame, (n,)
        self._until = np.zeros(0, dtype=np.int32)  #: of each vertex, (n,)
        self._later: NDArray[np.bool_] = np.zeros(0, dtype=bool)  #: what is painted on the way alone, (n,)

    def see(self, frame: int) -> None:
        """Read which vertices are held at a whole frame, which the scene stands at. Raises NoSuchThing."""
        if not self._may_change:
            return
        mesh = self._evaluation.mesh(all_layers=True)
        name = self._evaluation.object.name
        held = maps.of_group(self._evaluation.evaluated(self._evaluation.object), mesh, self._group, "Pin", name,
                             lambda _: None) > maps.PAINTED
        self._evaluation.release()
        if self._held is None:
            self._held, self._later = held, np.zeros(len(held), dtype=bool)
            self._until = np.full(len(held), NEVER, dtype=np.int32)
        if len(held) == len(self._held):  # else the vertices of the mesh change, which its motion refuses
            self._until[self._held & ~held & (self._until == NEVER)] = frame
            self._later |= held & ((self._until < frame) | ~self._held)

    def fields(self, store: Callable[[str, NDArray[Any]], str]) -> dict[str, str]:
        """The field of scene.json's pin, empty where all is held to the end."""
        name = self._evaluation.object.name
        if self._later.any():
            self._report(f'"{name}": {np.count_nonzero(self._later)} vertices are painted with Pin at later frames '
                         "alone, and not held then: a nail holds from a frame on")
        if not (self._until < NEVER).any():
            return {}
        if is_sharp(self._evaluation.object):
            self._report(f'"{name}": its Pin fades at frame {self._until.min()}, and cloth with Sharp Edges is held to '
                         "the end")
            return {}
        return {"until": store("pin_until", self._until)}
