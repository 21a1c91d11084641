"""Reading of additional files of a cache: cuts, meshes of single frames, strain-rate activity, drawn out edges.

Needs only numpy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput
from ..job.arrays import read_npy, read_npz
from .layout import CUTS, LIVELINESS, NEEDLES, SHEETS, file_of
from .needles import LONGEST, describe


@dataclass(frozen=True)
class CutMade:
    """Changes of one shown body's mesh by a cut. Old vertices retain their numbers, new ones follow them."""

    frame: int  #: the last one before the cut
    parents: NDArray[np.int32]  #: vertices between which each new one is, (s, 2)
    fractions: NDArray[np.float64]  #: fraction of the distance from the first to the second, (s,)
    triangles: NDArray[np.int32]  #: all of them from now on, (t, 3); none where the body has no surface
    source: NDArray[np.int32]  #: triangle of the uncut mesh that each is a piece of, (t,); -1 for what was inside

    def add_to(self, vertices: NDArray[Any]) -> NDArray[Any]:
        """Return the vertices, (n, 3), followed by the new ones, (n + s, 3), in the same precision."""
        first, second = vertices[self.parents[:, 0]], vertices[self.parents[:, 1]]
        added = first + self.fractions[:, None].astype(vertices.dtype) * (second - first)
        return np.concatenate([vertices, added])


@dataclass(frozen=True)
class Lively:
    """Strain-rate activity of the dynamic nodes of a body, where nodes may sleep."""

    frames: NDArray[np.int32]  #: (f,), rising
    levels: NDArray[np.float32]  #: [1/s], (f, m)
    awake: NDArray[np.bool_]  #: (f, m)


@dataclass(frozen=True)
class SheetBeside:
    """Mesh of a cloth with faces of its own at one frame, in object space."""

    x: NDArray[Any]  #: [m], (n, 3); float64 where it is far from zero
    faces: NDArray[np.int32]  #: (m, 3)
    material: NDArray[np.float32]  #: X, the position in material space [m], (n, 2)
    source: NDArray[np.int32]  #: (m, 3): the triangle of the mesh at rest that each corner lies in
    rest: NDArray[np.float32]  #: X of the vertices of the mesh at rest [m], (N, 2)
    sliding: NDArray[np.int32]  #: vertices on features, (k,)
    speed: NDArray[np.float32]  #: velocity of the cloth through these vertices [m/s], (k, 3)

    def barycentric_weights(self, triangles: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return weights of the corners of `source` at each corner of the faces, (m, 3, 3), which interpolate values of
        the mesh at rest. triangles: of that mesh, (M, 3)."""
        points = self.material[self.faces].astype(float)
        a, b, c = (self.rest[triangles[self.source][:, :, k]].astype(float) for k in range(3))
        u, v, w = b - a, c - a, points - a
        twice = u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0]
        second = (w[..., 0] * v[..., 1] - w[..., 1] * v[..., 0]) / twice
        third = (u[..., 0] * w[..., 1] - u[..., 1] * w[..., 0]) / twice
        return np.stack([1.0 - second - third, second, third], axis=2)


def sheets(folder: Path, frame: int, names: Sequence[str]) -> dict[str, SheetBeside]:
    """Return the meshes of a frame by the names of their bodies. names: of all bodies.

    Raises FileNotFoundError where there is none, BadInput where it cannot be read.
    """
    path = file_of(folder, SHEETS, frame)
    try:
        stored = read_npz(path, folder)
        by_name = {}
        for k, body in enumerate(stored["bodies"]):
            sheet = SheetBeside(**{field.name: stored[f"{k}.{field.name}"] for field in fields(SheetBeside)})
            _check(sheet)
            by_name[names[int(body)]] = sheet
        return by_name
    except FileNotFoundError:
        raise
    except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
        raise BadInput(f"{path} is damaged", "Resume the bake to make it again") from error


def _check(sheet: SheetBeside) -> None:
    """Raise ValueError where arrays do not fit each other: drawing must not read beyond their ends."""
    count, shape = len(sheet.x), sheet.faces.shape
    fits = (sheet.x.shape == (count, 3) and sheet.material.shape == (count, 2) and shape == (len(sheet.faces), 3)
            and sheet.source.shape == shape and sheet.rest.ndim == 2 and sheet.rest.shape[1] == 2
            and sheet.speed.shape == (len(sheet.sliding), 3))
    if not fits:
        raise ValueError("its arrays do not fit each other")
    for numbers, end in ((sheet.faces, count), (sheet.sliding, count)):
        if numbers.size and not (0 <= numbers.min() and numbers.max() < end):
            raise ValueError("a vertex number is invalid")


def cuts(folder: Path, frames: Sequence[int], names: Sequence[str]) -> dict[str, list[CutMade]]:
    """Return the cuts of each body that was cut, in order, by its name. frames: after which there were cuts, ascending.
    names: of all bodies.

    Raises BadInput where a file cannot be read.
    """
    by_name: dict[str, list[CutMade]] = {}
    for frame in frames:
        path = file_of(folder, CUTS, frame)
        try:
            stored = read_npz(path, folder)
            for k, body in enumerate(stored["bodies"]):
                parts = (stored[f"{k}.{name}"] for name in ("parents", "shares", "triangles", "source"))
                by_name.setdefault(names[int(body)], []).append(CutMade(frame, *parts))
        except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
            raise BadInput(f"{path} is damaged", "Bake again to recreate it") from error
    return by_name


def needles(folder: Path, frames: Sequence[int], names: Sequence[str]) -> list[str]:
    """Return a message for each body whose edges were drawn out in some of the frames; damaged files are left out.
    names: of all bodies."""
    by_name: dict[str, dict[int, float]] = {}
    for frame in frames:
        try:
            for name, times in zip(names, read_npy(file_of(folder, NEEDLES, frame), folder).tolist()):
                if times > LONGEST:
                    by_name.setdefault(name, {})[frame] = times
        except (OSError, ValueError, TypeError):  # a damaged file is left out, the frame itself is another file
            continue
    return [describe(name, drawn, max(drawn.values())) for name, drawn in by_name.items()]


def liveliness(folder: Path, frames: Sequence[int], names: Sequence[str]) -> dict[str, Lively]:
    """Return the strain-rate activity of each body's dynamic nodes, by its name; empty where none may sleep. frames:
    ascending. names: of all bodies.

    Raises BadInput where a file cannot be read.
    """
    tables: list[NDArray[np.float32]] = []
    for frame in frames:
        path = file_of(folder, LIVELINESS, frame)
        try:
            table = read_npy(path, folder)
            if table.ndim != 2 or len(table) != 3:
                raise ValueError(f"it holds an array of shape {table.shape}")
            tables.append(table)
        except (OSError, ValueError) as error:
            raise BadInput(f"{path} is damaged", "Free the cache and bake again") from error
    lively = {}
    for index, name in enumerate(names):
        own = [table[1:, table[0] == index] for table in tables]
        # a cut may add nodes: earlier frames have zeros for them
        count = max((rows.shape[1] for rows in own), default=0)
        if count:
            whole = np.stack([np.pad(rows, ((0, 0), (0, count - rows.shape[1]))) for rows in own])
            lively[name] = Lively(np.array(frames, dtype=np.int32), whole[:, 0], whole[:, 1] > 0.5)
    return lively
