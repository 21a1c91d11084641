"""Reading of a cache folder: its content, and whether that is complete and up to date. Needs only numpy.

A frame is done when its file, and those of the cuts before it, are as they were written (`files`).
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput, CacheBusy, NoSuchThing
from ..job.arrays import read_npz
from ..job.files import LARGEST_JSON, TEMPORARY, open_regular, refuse_links, unwritable
from . import beside, lock, manifest
from .diagnostics import Diagnostics, read_rows
from .files import CacheFiles
from .job_comparison import JobComparison
from .layout import (
    CUTS,
    FILES,
    FORMAT,
    FRAME,
    LOG,
    MANIFEST,
    POSES,
    SHEETS,
    file_of,
)


@dataclass(frozen=True)
class Status:
    """Status of a cache for a panel, computed from the folder on request and stored nowhere."""

    state: str  #: none, partial, complete, stale, broken or baking
    done: int  #: frames on disk
    total: int  #: frames that the scene has
    text: str  #: a sentence without a full stop
    changed: tuple[str, ...] = ()  #: inputs that make it stale, in plain names


class Cache(CacheFiles):
    """Content of one cache folder at present; create a new object to read it again."""

    @cached_property
    def manifest(self) -> dict[str, Any] | None:
        """Return the manifest; None where nothing was baked. Raises BadInput where the file is damaged or of another
        version."""
        path = self.folder / MANIFEST
        try:
            with open_regular(path) as stream:
                content = json.loads(stream.read(LARGEST_JSON))
            known = content["format"] == FORMAT
            wrong = manifest.wrong(content) if known else ""
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise BadInput(f"{path} is damaged", "Free the cache and bake again") from error
        if not known:
            raise BadInput(f"{path} was written by another version of ConJac", "Free the cache and bake again")
        if wrong:
            raise BadInput(f"{path} is damaged: it has no {wrong} that can be used", "Free the cache and bake again")
        return content  # type: ignore[no-any-return]

    @cached_property
    def frames(self) -> range:
        """Return every frame that the scene has; empty where nothing was baked."""
        return range(self.manifest["start"], self.manifest["end"] + 1) if self.manifest else range(0)

    @property
    def uuid(self) -> str:
        """Return the UUID of the object that was baked; "" where none is known."""
        return str(self.manifest.get("uuid", "")) if self.manifest else ""

    def bodies(self) -> list[tuple[str, int, int]]:
        """Return (name, first vertex, number of vertices) of every body."""
        return [(b["name"], b["first"], b["count"]) for b in self.manifest["bodies"]] if self.manifest else []

    @property
    def names(self) -> list[str]:
        """Return the names of all bodies."""
        return [name for name, _, _ in self.bodies()]

    def body_uuids(self) -> dict[str, str]:
        """Return the UUIDs of all bodies by their names; "" where none is known."""
        return {b["name"]: b.get("uuid", "") for b in self.manifest["bodies"]} if self.manifest else {}

    def frames_done(self) -> list[int]:
        """Return the frames on disk that can be shown, ascending. Files that changed after they were written do not
        count."""
        intact = [{w.frame for w in self.log.values() if w.kind == kind and self.is_intact(w)} for kind in self._needed]
        torn = self.first_torn_cut(lambda cut: self.is_intact(self.log[CUTS, cut]))
        return sorted(frame for frame in set.intersection(*intact) if torn is None or frame <= torn)

    @property
    def _needed(self) -> tuple[str, ...]:
        """Return the kinds of files without which no frame is shown."""
        return (FRAME, *((POSES,) if self.mechanisms() else ()), *((SHEETS,) if self.sheet_names() else ()))

    def sheet_names(self) -> list[str]:
        """Return the names of bodies whose frames have faces of their own; empty in caches without any."""
        return list(self.manifest.get("sheets", ())) if self.manifest else []

    def sheets(self, frame: int) -> dict[str, beside.SheetBeside]:
        """Return the mesh at a frame of each body whose frames have faces of their own, by name. Raises NoSuchThing
        where it is not on disk, BadInput where it cannot be read."""
        try:
            by_name = beside.sheets(self.folder, frame, self.names)
        except FileNotFoundError as error:
            raise NoSuchThing(f"frame {frame} is not in {self.folder}", "Bake it first") from error
        far = self.origins()
        return {name: replace(sheet, x=sheet.x + far[name]) if name in far else sheet
                for name, sheet in by_name.items()}

    def is_whole(self, frame: int) -> bool:
        """Return whether all files that show a frame are as written, byte for byte, those of the cuts before it
        included."""
        return (all(self.good(kind, frame) for kind in self._needed)
                and (self.torn_cut is None or frame <= self.torn_cut))

    def verify(self) -> list[int]:
        """Return the frames that were written and are now missing, changed or cannot be shown. Reads every byte."""
        return sorted(w.frame for w in self.log.values() if w.kind == FRAME and not self.is_whole(w.frame))

    def origins(self) -> dict[str, NDArray[np.float64]]:
        """Return the origins of bodies' vertices in the files [m], (3,), by the bodies' names, where they are not zero.
        """
        return {b["name"]: np.array(b["origin"]) for b in self.manifest["bodies"]
                if "origin" in b} if self.manifest else {}

    def vertices(self, frame: int) -> NDArray[np.float32]:
        """Return object-space positions of all bodies at a frame, (V, 3) [m], as in the file, relative to `origins`.

        Raises NoSuchThing where the frame is not on disk, BadInput where it cannot be read.
        """
        path = file_of(self.folder, FRAME, frame)
        try:
            return read_rows(path, self.folder, 3)
        except FileNotFoundError as error:
            raise NoSuchThing(f"frame {frame} is not in {self.folder}", "Bake it first") from error
        except (OSError, ValueError) as error:
            raise BadInput(f"{path} is damaged", "Resume the bake to make it again") from error

    def mechanisms(self) -> list[dict[str, Any]]:
        """Return for every mechanism name, first (the number of bodies before it), bodies, loops, and joints with name,
        kind, first and count of their rates; empty in caches without any."""
        return list(self.manifest.get("mechanisms", ())) if self.manifest else []

    def poses(self, frame: int) -> dict[str, NDArray[np.float64]]:
        """Return pose, rates, effort and loops of all mechanisms at a frame, as `layout` describes them. Raises
        NoSuchThing where the frame is not on disk, BadInput where it cannot be read."""
        path = file_of(self.folder, POSES, frame)
        try:
            arrays = read_npz(path, self.folder)
            if not {"pose", "rates", "effort", "loops"} <= arrays.keys() or arrays["pose"].shape[1:] != (4, 4):
                raise ValueError(f"it holds {', '.join(arrays)}")
            return arrays
        except FileNotFoundError as error:
            raise NoSuchThing(f"frame {frame} is not in {self.folder}", "Bake it first") from error
        except (OSError, ValueError) as error:
            raise BadInput(f"{path} is damaged", "Resume the bake to make it again") from error

    def frame(self, frame: int) -> dict[str, NDArray[Any]]:
        """Return object-space positions of every body at a frame, (n, 3) [m], by its name: float32, or float64 far from
        zero.

        Raises NoSuchThing where the frame is not on disk, BadInput where it cannot be read.
        """
        positions = self.by_body(self.vertices(frame), frame)
        for name, origin in self.origins().items():
            positions[name] = positions[name] + origin
        return positions

    def by_body(self, rows: NDArray[Any], frame: int) -> dict[str, NDArray[Any]]:
        """Return rows of all vertices at a frame, (V, k), by the names of their bodies."""
        return {name: rows[own] for name, own in vertices_of_bodies(self, frame).items()}

    def read_all_vertices(self, frame: int) -> dict[str, NDArray[Any]]:
        """Return the positions of `frame` with as many vertices as the last frame: those that a later cut adds are
        where it will pass.

        A seam is closed until its cut, and internal faces have no area. Raises NoSuchThing, BadInput.
        """
        positions = self.frame(frame)
        for name, cuts in self.cuts.items():
            for made in cuts:
                if made.frame >= frame:
                    positions[name] = made.add_to(positions[name])
        return positions

    @cached_property
    def cuts(self) -> dict[str, list[beside.CutMade]]:
        """Return the cuts of each body that was cut, in order, by its name. Raises BadInput where a file cannot be
        read."""
        return beside.cuts(self.folder, self.cut_frames(), self.names)

    @property
    def diagnostics(self) -> Diagnostics:
        """Return the records of contacts, stress and steps."""
        return Diagnostics(self)

    def compare(self, job: Path | None = None) -> JobComparison:
        """Return the comparison with a job folder, by default the one around the cache."""
        return JobComparison(self, job or self.folder.parent)

    def status(self, job: Path | None = None) -> Status:
        """Return the status for a panel, from the folder, the job and the lock file. job: folder of the job; None: the
        one around the cache."""
        try:
            frames, done = self.compare(job).frames, self.frames_done()
        except BadInput as error:
            return Status("broken", 0, 0, error.what)
        total, count = len(frames), sum(frame in frames for frame in done)
        if lock.busy(self.folder):
            return Status("baking", count, total, f"Baking: {count} of {total} frames" if total else "Baking")
        if self.manifest is None:
            return Status("none", 0, 0, "Nothing is baked")
        changed = self.compare(job).list_changes()
        if changed:
            return Status("stale", count, total, f"Baked before these changed: {', '.join(changed)}", changed)
        missing = sum(w.kind == FRAME and w.frame in frames for w in self.log.values()) - count
        if missing:
            missing_are = "1 baked frame is" if missing == 1 else f"{missing} baked frames are"
            return Status("broken", count, total, f"{missing_are} missing or damaged")
        if count < total:
            return Status("partial", count, total, f"{count} of {total} frames are baked")
        return Status("complete", count, total, f"All {total} frames are baked")

    def files(self) -> list[Path]:
        """Return the existing files that `free` deletes: names in the log or in the manifest's range."""
        try:
            frames = set(self.frames)
        except BadInput:
            frames = set()
        frames |= {written.frame for written in self.log.values()}
        listed = [file_of(self.folder, kind, frame) for kind in FILES for frame in sorted(frames)]
        listed += [self.folder / LOG, self.folder / MANIFEST]
        return [each for path in listed for each in (path.with_name(path.name + TEMPORARY), path)
                if os.path.lexists(each)]

    def free(self) -> int:
        """Delete the frames, snapshots, log and manifest of this bake and nothing else, and return the number of files.

        Only `files` are deleted, and folders that are empty then. Raises CacheBusy while a process bakes into the
        folder, CacheUnwritable where a file cannot be deleted.
        """
        holding = lock.holder(self.folder)
        if lock.busy(self.folder) and holding != lock.this_process():
            raise CacheBusy(f"a bake into {self.folder} is running", "Cancel it first")
        freed = 0
        for path in self.files():
            try:
                # files beyond a link are not ours
                refuse_links(self.folder.parent, path.parent)
                path.unlink()
                freed += 1
            except FileNotFoundError:
                pass
            except OSError as error:
                raise unwritable(path, error) from error
        if holding != lock.this_process():
            lock.sweep(self.folder)
        for name in ("frames", "snapshots", "cuts", "liveliness", "poses", "needles", "sheets", "contacts",
                     "halved", "stress", "groups", "."):
            try:
                (self.folder / name).rmdir()
            except OSError:
                continue  # not empty: someone else's files stay, and so does their folder
        for name in ("manifest", "log", "frames", "torn_cut"):
            self.__dict__.pop(name, None)
        return freed


def vertices_of_bodies(cache: Cache, frame: int) -> dict[str, slice]:
    """Return the slice of each body's vertices among all at a frame, by its name; cuts before the frame add some."""
    slices, first = {}, 0
    for name, _, count in cache.bodies():
        count += sum(len(made.parents) for made in cache.cuts.get(name, ()) if made.frame < frame)
        slices[name] = slice(first, first + count)
        first += count
    return slices
