"""Pins that change: where modifiers bring weights of Pin down on the way, as Vertex Weight Mix does by keyframes, what
is hard lets go, and soft pins are as strong as their weights at each frame."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import members
from . import maps, pins, stack
from .evaluation import Evaluation

NEVER = np.iinfo(np.int32).max  #: frame of what stays pinned to the end


class LettingGo:
    """Recorder of pins that let go, of an evaluation's object; call `see` at every whole frame, the start frame first.
    """

    def __init__(self, evaluation: Evaluation, report: Callable[[str], None]) -> None:
        self._evaluation, self._report = evaluation, report
        self._group = evaluation.object.conjac.pin_group
        self._may_change = any(modifier.type in stack.REWEIGH for modifier in stack.above(evaluation.object))
        self._pinned: NDArray[np.bool_] | None = None  #: at the start frame, (n,)
        self._until = np.zeros(0, dtype=np.int32)  #: of each vertex, (n,)
        self._later: NDArray[np.bool_] = np.zeros(0, dtype=bool)  #: what is painted on the way alone, (n,)
        self._weights: list[NDArray[np.float64]] = []  #: of soft pins at each frame, (n,)

    def see(self, frame: int) -> None:
        """Read which vertices are pinned hard at a whole frame, the present frame of the scene. Raises NoSuchThing."""
        if not self._may_change:
            return
        mesh = self._evaluation.mesh(all_layers=True)
        name = self._evaluation.object.name
        weights = maps.as_set(self._evaluation.object.conjac, "pin", maps.of_group(
            self._evaluation.evaluated(self._evaluation.object), mesh, self._group, "Pin", name, lambda _: None))
        pinned = pins.is_hard(self._evaluation.object, weights)
        self._evaluation.release()
        if self._pinned is None:
            self._pinned, self._later = pinned, np.zeros(len(pinned), dtype=bool)
            self._until = np.full(len(pinned), NEVER, dtype=np.int32)
        if len(pinned) == len(self._pinned):  # else the vertices of the mesh change, which its motion refuses
            self._until[self._pinned & ~pinned & (self._until == NEVER)] = frame
            self._later |= pinned & ((self._until < frame) | ~self._pinned)
            if members.has_soft_pins(self._evaluation.object):
                self._weights.append(weights)

    def fields(self, store: Callable[[str, NDArray[Any]], str]) -> dict[str, str]:
        """Return the fields of scene.json's pin, empty where all stays pinned to the end."""
        name, changing = self._evaluation.object.name, self._strengths(store)
        if self._later.any() and not self._weights:
            self._report(f'"{name}": {np.count_nonzero(self._later)} vertices are painted with Pin only at later '
                         "frames, and are not held: use a nail to hold them from a frame on")
        if not (self._until < NEVER).any():
            return changing
        if members.is_sharp(self._evaluation.object):
            self._report(f'"{name}": its Pin fades at frame {self._until.min()}, but cloth with Sharp Edges is held to '
                         "the end")
            return {}
        return changing | {"until": store("pin_until", self._until)}

    def _strengths(self, store: Callable[[str, NDArray[Any]], str]) -> dict[str, str]:
        """Return the weights of soft pins that change, empty if none does."""
        weights = np.array(self._weights)
        changing = np.flatnonzero(np.ptp(weights, axis=0)) if len(weights) else np.zeros(0, dtype=np.int64)
        if not len(changing):
            return {}
        return {"strengths": store("pin_strengths", weights[:, changing]),
                "strength_vertices": store("pin_strength_vertices", changing.astype(np.int32))}
