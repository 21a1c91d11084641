"""Overview of a wedge, also while it is baked: one picture (a line per row, a column per frame) and one table."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import BadInput, NoSuchThing
from ..frames.layout import TOUCHED
from ..frames.read import Cache
from ..job.folder import Job
from ..job.load import load
from ..state import Vec
from . import picture, standing
from .in_world import InWorld
from .wedge import Row

CELL = (160, 120)  # pixels
LEFT_OUT = 40_000_000  #: pixels of a picture: a larger one has fewer columns


@dataclass(frozen=True)
class Result:
    """Result of one bake of a sweep over settings: its progress, time, energies and closest approach."""

    row: int
    settings: str
    state: str
    done: int
    total: int
    seconds: float | None  #: median time of a frame
    energy: float | None  #: kinetic, at the last frame, mean over visible vertices [J/kg]
    most_energy: float | None  #: largest of the sampled frames [J/kg]
    closest: float | None  #: smallest distance of surfaces [m]; None without contact
    text: str  #: the last sentence, such as the error of a failed bake

    def cells(self) -> list[str]:
        """Return the result as the cells of one row of a table, in the order of its columns."""
        def shown(value: float | None, digits: str) -> str:
            return "" if value is None else f"{value:{digits}}"
        return [str(self.row), self.settings, self.state, f"{self.done}/{self.total}", shown(self.seconds, ".3f"),
                shown(self.energy, ".4g"), shown(self.most_energy, ".4g"), shown(self.closest, ".3g"), self.text]


TITLES = ("row", "settings", "state", "frames", "s/frame", "J/kg", "most J/kg", "closest [m]", "last sentence")


def result(row: Row, folder: Path, looked: int = 12) -> Result:
    """Return the result of a row so far. folder: of all rows. looked: number of frames whose energy is read."""
    job = folder / row.folder
    if not (job / "scene.json").exists():
        return Result(row.number, row.sentence, "none", 0, 0, None, None, None, None, "Nothing is baked")
    one, cache = standing.standing(job, row.folder), Cache(job / "cache")
    energies = _energies(load(job), cache, looked) if one.done > 1 else []
    return Result(row.number, row.sentence, one.state, one.done, one.total, standing.seconds_a_frame(cache, None),
                  energies[-1] if energies else None, max(energies, default=None), _closest(cache), one.text)


def _energies(job: Job, cache: Cache, looked: int) -> list[float]:
    """Return ½ v², the mean over visible vertices, at frames spread over the bake and at the last one [J/kg]."""
    done = cache.frames_done()
    pairs = [frame for frame in done if frame - 1 in set(done)]
    chosen = sorted({pairs[round(k)] for k in np.linspace(0, len(pairs) - 1, min(looked, len(pairs)))}) if pairs else []
    shown, fps = InWorld(job, cache), float(job.scene.time.fps)
    energies = []
    for frame in chosen:
        before, after = (_points(shown, at) for at in (frame - 1, frame))
        if len(before) and len(before) == len(after):
            energies.append(float(0.5 * fps**2 * ((after - before) ** 2).sum(axis=1).mean()))
    return energies


def _points(shown: InWorld, frame: int) -> Vec:
    return np.concatenate([*shown.vertices(frame).values(), shown.read_rigid_centres(frame)])


def _closest(cache: Cache) -> float | None:
    """Return the smallest distance of surfaces at the frames on disk [m]; None where none were in contact."""
    distances = []
    for kind, frame in cache.log:
        if kind == TOUCHED:
            try:
                near = cache.diagnostics.contacts(frame)[:, 6]
            except (NoSuchThing, BadInput):
                continue
            if len(near):
                distances.append(float(near.min()))
    return min(distances, default=None)


def table(results: Sequence[Result]) -> list[str]:
    """Return the results as lines of text with aligned columns."""
    return standing.table(TITLES, [result.cells() for result in results], frozenset({0, 3, 4, 5, 6, 7}))


def as_csv(results: Sequence[Result]) -> bytes:
    """Return the results as the bytes of a CSV file."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(TITLES)
    writer.writerows(result.cells() for result in results)
    return text.getvalue().encode()


def as_plain(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Return the results as plain values, for JSON."""
    plain: list[dict[str, Any]] = json.loads(json.dumps([vars(result) for result in results]))
    return plain


def draw_rows(rows: Sequence[Row], folder: Path, columns: int = 6) -> bytes:
    """Return a PNG with a line of frames for each row, grey where they are not baked yet.

    folder: of all rows. columns: largest number of frames in a line. All cells have the same view, which contains the
    bodies of every row at those frames. Raises NoSuchThing where no row has a frame yet.
    """
    shown = {row.number: _open(folder / row.folder) for row in rows}
    frames = next((cache.job.frames for cache in shown.values() if cache is not None), None)
    if frames is None:
        raise NoSuchThing(f"no row of the wedge was begun in {folder}", "Bake one first")
    chosen = frames_shown(frames, columns, len(rows))
    boxes = [_box(cache, frame) for cache in shown.values() if cache is not None for frame in chosen]
    known = [box for box in boxes if box is not None]
    if not known:
        raise NoSuchThing(f"no row of the wedge has a frame in {folder}", "Bake one first")
    view = picture.View(np.min([low for low, _ in known], axis=0), np.max([high for _, high in known], axis=0), CELL)
    cells = [[None if (one := shown[row.number]) is None else _cell(view, one, frame) for frame in chosen]
             for row in rows]
    return picture.png(picture.sheet(cells, CELL, [row.number for row in rows], chosen))


def frames_shown(frames: Sequence[int], columns: int, rows: int) -> list[int]:
    """Return the frames of a picture's columns, ascending: some of `frames`, spread evenly, `columns` at most, and so
    few that a picture with these rows is not too large."""
    fit = max(1, LEFT_OUT // (CELL[0] * CELL[1] * rows))
    return sorted({frames[round(k)] for k in np.linspace(0, len(frames) - 1, min(columns, fit, len(frames)))})


def _open(job: Path) -> InWorld | None:
    return InWorld(load(job), Cache(job / "cache")) if (job / "scene.json").exists() else None


def _box(shown: InWorld, frame: int) -> tuple[Vec, Vec] | None:
    try:
        points = _points(shown, frame)
    except (NoSuchThing, BadInput):
        return None
    points = points[np.isfinite(points).all(axis=1)]
    return (points.min(axis=0), points.max(axis=0)) if len(points) else None


def _cell(view: picture.View, shown: InWorld, frame: int) -> picture.Image | None:
    try:
        return picture.draw(view, [(points, shown.triangles(name)) for name, points in shown.vertices(frame).items()],
                            shown.read_rigid_centres(frame))
    except (NoSuchThing, BadInput):
        return None
