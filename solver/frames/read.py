"""A cache folder, read: what is in it, whether it is whole, whether it is still true. Needs only numpy.

A frame is done when its file, and those of the cuts before it, are as they were written (`files`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput, CacheBusy, NoSuchThing
from ..job.arrays import read_npy, read_npz
from ..job.files import TEMPORARY, open_regular, refuse_links, unwritable
from . import beside, lock, manifest
from .compared import different, same_file, same_so_far
from .files import CacheFiles
from .halved import HalvedFrames, halved_frames
from .layout import (
    CUTS,
    FILES,
    FORMAT,
    FRAME,
    HALVED,
    LIVELINESS,
    LOG,
    MANIFEST,
    NEEDLES,
    POSES,
    SHEETS,
    STRESS,
    TOUCHED,
    file_of,
)


@dataclass(frozen=True)
class Status:
    """Status for a panel. Computed from the folder on request, stored nowhere."""

    state: str  #: none, partial, complete, stale, broken or baking
    done: int  #: frames on disk
    total: int  #: frames that the scene has
    text: str  #: a sentence without a full stop
    changed: tuple[str, ...] = ()  #: what makes it stale, in plain names


LARGEST_JSON = 256 << 20  # bytes


class Cache(CacheFiles):
    """One cache folder as it is now; make a new one to look again."""

    @cached_property
    def manifest(self) -> dict[str, Any] | None:
        """Return the manifest, or None where nothing was baked. Raises BadInput where the file is not one of ours."""
        path = self.folder / MANIFEST
        try:
            with open_regular(path) as stream:
                found = json.loads(stream.read(LARGEST_JSON))
            known = found["format"] == FORMAT
            wrong = manifest.wrong(found) if known else ""
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise BadInput(f"{path} is damaged", "Free the cache and bake again") from error
        if not known:
            raise BadInput(f"{path} was written by another version of ConJac", "Free the cache and bake again")
        if wrong:
            raise BadInput(f"{path} is damaged: it has no {wrong} that can be used", "Free the cache and bake again")
        return found  # type: ignore[no-any-return]

    @cached_property
    def frames(self) -> range:
        """Every frame that the scene has. Empty where nothing was baked."""
        return range(self.manifest["start"], self.manifest["end"] + 1) if self.manifest else range(0)

    @property
    def uuid(self) -> str:
        """Return the UUID of the cache's object; "" where none is known."""
        return str(self.manifest.get("uuid", "")) if self.manifest else ""

    def bodies(self) -> list[tuple[str, int, int]]:
        """(name, first vertex, number of vertices) of every body."""
        return [(b["name"], b["first"], b["count"]) for b in self.manifest["bodies"]] if self.manifest else []

    def _names(self) -> list[str]:
        return [name for name, _, _ in self.bodies()]

    def body_uuids(self) -> dict[str, str]:
        """Return UUIDs of all bodies by their names; "" where none is known."""
        return {b["name"]: b.get("uuid", "") for b in self.manifest["bodies"]} if self.manifest else {}

    def wobbles(self) -> dict[str, float]:
        """The frequency of the slowest wobble of each body that it is known of [Hz], by name."""
        return {b["name"]: b["hertz"] for b in self.manifest["bodies"] if "hertz" in b} if self.manifest else {}

    def frames_done(self) -> list[int]:
        """The frames on disk that can be shown, in order. A file that was changed after it was written does not count.
        """
        standing = [{w.frame for w in self.log.values() if w.kind == kind and self.stands(w)} for kind in self._needed]
        torn = self._first_torn(lambda cut: self.stands(self.log[CUTS, cut]))
        return sorted(frame for frame in set.intersection(*standing) if torn is None or frame <= torn)

    @property
    def _needed(self) -> tuple[str, ...]:
        """The kinds of files without which no frame is shown."""
        return (FRAME, *((POSES,) if self.mechanisms() else ()), *((SHEETS,) if self.sheet_names() else ()))

    def sheet_names(self) -> list[str]:
        """The bodies whose frames have faces of their own. Empty in caches without any."""
        return list(self.manifest.get("sheets", ())) if self.manifest else []

    def sheets(self, frame: int) -> dict[str, beside.SheetBeside]:
        """The mesh at a frame of each of those bodies. Raises NoSuchThing where it is not on disk, BadInput."""
        try:
            found = beside.sheets(self.folder, frame, self._names())
        except FileNotFoundError as error:
            raise NoSuchThing(f"frame {frame} is not in {self.folder}", "Bake it first") from error
        far = self.origins()
        return {name: replace(sheet, x=sheet.x + far[name]) if name in far else sheet for name, sheet in found.items()}

    def whole(self, frame: int) -> bool:
        """Whether all files that show a frame hold what was written, byte for byte: those of the cuts before it too."""
        return (all(self.good(kind, frame) for kind in self._needed)
                and (self._torn is None or frame <= self._torn))

    @cached_property
    def _torn(self) -> int | None:
        """The first cut whose file is not what was written: no frame after it can be shown."""
        return self._first_torn(lambda cut: self.good(CUTS, cut))

    def _first_torn(self, stands: Callable[[int], bool]) -> int | None:
        """The first cut whose file does not stand or whose line was lost."""
        torn = next((cut for cut in self.cut_frames() if not stands(cut)), None)
        found = [cut for cut in (torn, self.lost_cut) if cut is not None]
        return min(found, default=None)

    def verify(self) -> list[int]:
        """The frames that were written and are now missing, changed or cannot be shown. Reads every byte."""
        return sorted(w.frame for w in self.log.values() if w.kind == FRAME and not self.whole(w.frame))

    def origins(self) -> dict[str, NDArray[np.float64]]:
        """Return the origins of a body's vertices in the files [m], (3,), where they are not zero."""
        return {b["name"]: np.array(b["origin"]) for b in self.manifest["bodies"]
                if "origin" in b} if self.manifest else {}

    def vertices(self, frame: int) -> NDArray[np.float32]:
        """(V, 3) object-space positions [m] of all bodies at a frame, as in the file: see `origins`.

        Raises NoSuchThing where it is not on disk.
        """
        path = file_of(self.folder, FRAME, frame)
        try:
            return self._table(path, 3)
        except FileNotFoundError as error:
            raise NoSuchThing(f"frame {frame} is not in {self.folder}", "Bake it first") from error
        except (OSError, ValueError) as error:
            raise BadInput(f"{path} is damaged", "Resume the bake to make it again") from error

    def mechanisms(self) -> list[dict[str, Any]]:
        """Return for every mechanism name, first (the number of bodies before it), bodies, loops, and joints with name,
        kind, first and count of their rates. Empty in caches without any."""
        return list(self.manifest.get("mechanisms", ())) if self.manifest else []

    def poses(self, frame: int) -> dict[str, NDArray[np.float64]]:
        """pose, rates, effort and loops of all mechanisms at a frame. Raises NoSuchThing where it is not on disk."""
        path = file_of(self.folder, POSES, frame)
        try:
            found = read_npz(path, self.folder)
            if not {"pose", "rates", "effort", "loops"} <= found.keys() or found["pose"].shape[1:] != (4, 4):
                raise ValueError(f"it holds {', '.join(found)}")
            return found
        except FileNotFoundError as error:
            raise NoSuchThing(f"frame {frame} is not in {self.folder}", "Bake it first") from error
        except (OSError, ValueError) as error:
            raise BadInput(f"{path} is damaged", "Resume the bake to make it again") from error

    def frame(self, frame: int) -> dict[str, NDArray[Any]]:
        """(n, 3) object-space positions [m] of every body at a frame: float32, of those far from zero float64.

        Raises NoSuchThing where it is not on disk.
        """
        found = self._by_body(self.vertices(frame), frame)
        for name, origin in self.origins().items():
            found[name] = found[name] + origin
        return found

    def _by_body(self, together: NDArray[Any], frame: int) -> dict[str, NDArray[Any]]:
        """Rows of all vertices at a frame, (V, k), by the names of their bodies."""
        found, first = {}, 0
        for name, _, count in self.bodies():
            count += sum(len(made.parents) for made in self.cuts.get(name, ()) if made.frame < frame)
            found[name] = together[first:first + count]
            first += count
        return found

    def shown(self, frame: int) -> dict[str, NDArray[Any]]:
        """Return a frame with as many vertices as the last one: those that a later cut adds are where it will pass.

        A seam is closed until its cut is seen, and internal faces have no size.
        """
        found = self.frame(frame)
        for name, cuts in self.cuts.items():
            for made in cuts:
                if made.frame >= frame:
                    found[name] = made.add_to(found[name])
        return found

    def cut_frames(self) -> list[int]:
        """Return the last frames before cuts, or before nails were driven or drawn, in order."""
        return sorted(frame for kind, frame in self.log if kind == CUTS)

    @cached_property
    def cuts(self) -> dict[str, list[beside.CutMade]]:
        """Return the cuts of each body that was cut, in order. Raises BadInput where a file cannot be read."""
        return beside.cuts(self.folder, self.cut_frames(), self._names())

    def contacts(self, frame: int) -> NDArray[np.float32]:
        """Return for each pair of surfaces in contact at a frame the position in world [m], the force on one side,
        opposite to that on the other [N], and their distance [m], (k, 7).

        Raises NoSuchThing where it is not on disk, BadInput where it cannot be read.
        """
        path = file_of(self.folder, TOUCHED, frame)
        try:
            return self._table(path, 7)
        except FileNotFoundError as error:
            raise NoSuchThing(f"no contacts of frame {frame} are in {self.folder}", "Bake it first") from error
        except (OSError, ValueError) as error:
            raise BadInput(f"{path} is damaged", "Bake again to make it anew") from error

    def stress(self, frame: int) -> dict[str, NDArray[np.float32]]:
        """Return von Mises stress [Pa], largest stretch, pressure [Pa] and speed [m/s] of each body's vertices at a
        frame, (n, 4), by its name; zeros where a body shows none.

        Raises NoSuchThing where it is not on disk, BadInput where it cannot be read.
        """
        path = file_of(self.folder, STRESS, frame)
        try:
            return self._by_body(self._table(path, 4), frame)
        except FileNotFoundError as error:
            raise NoSuchThing(f"no stress of frame {frame} is in {self.folder}", "Bake it first") from error
        except (OSError, ValueError) as error:
            raise BadInput(f"{path} is damaged", "Bake again to make it anew") from error

    def _table(self, path: Path, columns: int) -> NDArray[np.float32]:
        """Rows of a file. Raises FileNotFoundError, OSError, and ValueError where it holds something else."""
        found = read_npy(path, self.folder)
        if found.dtype != np.float32 or found.ndim != 2 or found.shape[1] != columns:
            raise ValueError(f"it holds {found.dtype} of shape {found.shape}")
        return found

    def needles(self) -> list[str]:
        """Sentences on bodies whose edges were drawn out in frames that are there, one a body."""
        return beside.needles(self.folder, self._there(NEEDLES), self._names())

    def halved(self) -> HalvedFrames:
        """In how many frames that are there steps were halved, and because of which body in most of them."""
        return halved_frames(self.folder, self._there(HALVED), self._names())

    def liveliness(self) -> dict[str, beside.Lively]:
        """Return the activity of each body's dynamic nodes, by its name; empty where none may sleep. Lost frames are
        left out.

        Raises BadInput where a file cannot be read.
        """
        return beside.liveliness(self.folder, self._there(LIVELINESS), self._names())

    def changed(self, job: Path | None = None) -> tuple[str, ...]:
        """Return differences between the job folder (default: the one around the cache) and the inputs of the bake.

        Compares scene.json as it was written and the arrays by size and time, then by content, up to the last frame
        that both have. Empty where the job is gone. A parameter that only one of them has is at its default in the
        other; other fields that are explicit only now count as a difference here, and the bake itself compares more
        closely.
        """
        folder = job or self.folder.parent
        if self.manifest is None:
            return ()
        try:
            names = different(self.manifest["scene"], _scene_of(folder))
        except OSError:
            return ()
        except (ValueError, RecursionError):
            return ("scene.json",)
        frames = len(self.requested_frames(job))
        names += [name for name, was in self.manifest["sources"].items()
                  if not (same_file(folder / name, was) or same_so_far(folder / name, was, frames))]
        return tuple(dict.fromkeys(names))

    def requested_frames(self, job: Path | None = None) -> range:
        """Every frame of the job folder's scene where it starts as the cache does, which may be longer or shorter;
        else those of the cache. Raises BadInput where the manifest cannot be read.
        """
        try:
            time = _scene_of(job or self.folder.parent)["time"]
            start, end = int(time["start"]), int(time["end"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError, OverflowError):
            return self.frames
        if max(abs(start), abs(end)) > manifest.LAST_FRAME:
            return self.frames
        return range(start, end + 1) if self.frames and start == self.frames[0] else self.frames

    def status(self, job: Path | None = None) -> Status:
        """none, partial, complete, stale, broken or baking: from the folder, the hashes and the lock file."""
        try:
            frames, done = self.requested_frames(job), self.frames_done()
        except BadInput as error:
            return Status("broken", 0, 0, error.what)
        total, count = len(frames), sum(frame in frames for frame in done)
        if lock.busy(self.folder):
            return Status("baking", count, total, f"Baking: {count} of {total} frames" if total else "Baking")
        if self.manifest is None:
            return Status("none", 0, 0, "Nothing is baked")
        changed = self.changed(job)
        if changed:
            return Status("stale", count, total, f"Baked before these changed: {', '.join(changed)}", changed)
        lost = sum(w.kind == FRAME and w.frame in frames for w in self.log.values()) - count
        if lost:
            lost_are = "1 baked frame is" if lost == 1 else f"{lost} baked frames are"
            return Status("broken", count, total, f"{lost_are} missing or damaged")
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
        """Delete the frames, snapshots, log and manifest of this bake and nothing else; returns how many files.

        Only `files` are touched; folders go when they are empty.
        Raises CacheBusy while a process bakes into it, CacheUnwritable where a file cannot be deleted.
        """
        found = lock.holder(self.folder)
        if lock.busy(self.folder) and found != lock.here():
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
        if found != lock.here():
            lock.sweep(self.folder)
        for name in ("frames", "snapshots", "cuts", "liveliness", "poses", "needles", "sheets", "contacts",
                     "halved", "stress", "."):
            try:
                (self.folder / name).rmdir()
            except OSError:
                continue  # not empty: someone else's files stay, and so does their folder
        for name in ("manifest", "log", "frames", "_torn"):
            self.__dict__.pop(name, None)
        return freed


def _scene_of(job: Path) -> Any:
    """scene.json as it is written. Raises OSError, ValueError, RecursionError."""
    with open_regular(job / "scene.json") as stream:
        return json.loads(stream.read(LARGEST_JSON))
