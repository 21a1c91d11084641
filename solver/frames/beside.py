"""What a cache keeps beside its frames, read: what came apart, how lively dynamic nodes were, edges drawn out.

Needs only numpy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput
from ..job.arrays import read_npy, read_npz
from .layout import CUTS, LIVELINESS, NEEDLES, file_of
from .needles import LONGEST, said


@dataclass(frozen=True)
class CutMade:
    """What a cut did to the mesh of one body that is shown. Old vertices keep their numbers, new ones follow them."""

    frame: int  #: the last one that is whole
    parents: NDArray[np.int32]  #: vertices between which each new one stands, (s, 2)
    shares: NDArray[np.float64]  #: how far along from the first to the second, (s,)
    triangles: NDArray[np.int32]  #: all of them from now on, (t, 3); none where the body has no surface
    source: NDArray[np.int32]  #: triangle of the uncut mesh that each is a piece of, (t,); -1 for what was inside

    def add_to(self, vertices: NDArray[Any]) -> NDArray[Any]:
        """The vertices, (n, 3), and after them where the new ones stand, in the same precision."""
        first, second = vertices[self.parents[:, 0]], vertices[self.parents[:, 1]]
        added = first + self.shares[:, None].astype(vertices.dtype) * (second - first)
        return np.concatenate([vertices, added])


@dataclass(frozen=True)
class Lively:
    """How lively the surroundings of each dynamic node of a body were, where nodes may sleep."""

    frames: NDArray[np.int32]  #: (f,), rising
    levels: NDArray[np.float32]  #: [1/s], (f, m)
    awake: NDArray[np.bool_]  #: (f, m)


def cuts(folder: Path, frames: Sequence[int], names: Sequence[str]) -> dict[str, list[CutMade]]:
    """What was cut of every body that was, in order. frames: after which, rising. names: of all bodies.

    Raises BadInput where a file cannot be read.
    """
    found: dict[str, list[CutMade]] = {}
    for frame in frames:
        path = file_of(folder, CUTS, frame)
        try:
            stored = read_npz(path, folder)
            for k, body in enumerate(stored["bodies"]):
                parts = (stored[f"{k}.{name}"] for name in ("parents", "shares", "triangles", "source"))
                found.setdefault(names[int(body)], []).append(CutMade(frame, *parts))
        except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
            raise BadInput(f"{path} is damaged", "Bake again to make it anew") from error
    return found


def needles(folder: Path, frames: Sequence[int], names: Sequence[str]) -> list[str]:
    """A sentence on each body whose edges were drawn out in some of the frames."""
    told: dict[str, dict[int, float]] = {}
    for frame in frames:
        try:
            for name, times in zip(names, read_npy(file_of(folder, NEEDLES, frame), folder).tolist()):
                if times > LONGEST:
                    told.setdefault(name, {})[frame] = times
        except (OSError, ValueError, TypeError):  # what is damaged says nothing, the frame itself is another file
            continue
    return [said(name, drawn, max(drawn.values())) for name, drawn in told.items()]


def liveliness(folder: Path, frames: Sequence[int], names: Sequence[str]) -> dict[str, Lively]:
    """What each body's dynamic nodes did, by its name; empty where none may sleep. frames: rising.

    Raises BadInput where a file cannot be read.
    """
    told: list[NDArray[np.float32]] = []
    for frame in frames:
        path = file_of(folder, LIVELINESS, frame)
        try:
            one = read_npy(path, folder)
            if one.ndim != 2 or len(one) != 3:
                raise ValueError(f"it holds an array of shape {one.shape}")
            told.append(one)
        except (OSError, ValueError) as error:
            raise BadInput(f"{path} is damaged", "Free the cache and bake again") from error
    found = {}
    for index, name in enumerate(names):
        mine = [one[1:, one[0] == index] for one in told]
        # a cut may bring more nodes: those before it have the rest
        count = max((one.shape[1] for one in mine), default=0)
        if count:
            whole = np.stack([np.pad(one, ((0, 0), (0, count - one.shape[1]))) for one in mine])
            found[name] = Lively(np.array(frames, dtype=np.int32), whole[:, 0], whole[:, 1] > 0.5)
    return found
