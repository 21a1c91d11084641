"""Writing of a cache folder: frames, each completely or not at all, and snapshots to resume from."""

from __future__ import annotations

import datetime
import importlib.metadata
import io
import json
import os
import platform
import socket
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput, CacheUnwritable, StaleCache
from ..job import hashes
from ..job.changes import list_changes
from ..job.files import append, digest_of, make_folder, open_regular, refuse_links, unwritable, write_whole
from ..job.folder import Job
from ..job.stages import Arrays, pack, read_arrays
from ..state import State, Vec
from .compared import source
from .layout import (
    CUTS,
    FORMAT,
    FRAME,
    GROUPED,
    HALVED,
    LIVELINESS,
    LOG,
    MANIFEST,
    NEEDLES,
    POSES,
    SHEETS,
    SNAPSHOT,
    STRESS,
    TOUCHED,
    Written,
    file_of,
)
from .read import Cache
from .swept import obstacle_boxes

if TYPE_CHECKING:
    from ..embedding.sheets import SheetRecord
    from .group_record import GroupRecord

LIBRARIES = ("numpy", "scipy", "numba", "scikit-sparse", "cvxopt", "msgspec")


@dataclass(frozen=True)
class Plan:
    """Remaining work of a bake for the requested frames."""

    finished: bool  #: every one of them is on disk
    snapshot: int | None  #: frame to go on from; None means from the start
    stale: tuple[str, ...]  #: what changed since the cache was baked; it is freed before the first frame is written


def plan(cache: Cache, read: hashes.Settings, requested: range, resume: bool) -> Plan:
    """Return the work of a bake of the requested frames, for the present content of the cache.

    read: the settings of the bake. resume: continue from the last snapshot before which every requested frame is on
    disk byte for byte, and never replace a cache of other settings. With it, raises StaleCache that names the
    difference, and BadInput where the manifest cannot be read.
    """
    try:
        manifest = cache.manifest
        stale = _list_changes(manifest, read) if manifest else ()
    except BadInput as error:
        if resume:
            raise
        stale = (error.what,)
    if stale and resume:
        raise StaleCache(f"the cache was baked before these changed: {', '.join(stale)}",
                         "Bake again without resuming to replace it, or set them back")
    if stale or manifest is None:
        return Plan(False, None, stale)
    fits = _fits_until(manifest, read)
    if not resume:
        return Plan(requested[-1] <= fits and all(cache.is_whole(frame) for frame in requested), None, ())

    good = {frame for frame in requested if frame <= fits and cache.is_whole(frame)}
    missing = next((frame for frame in requested if frame not in good), requested.stop)
    whole = [k for kind, k in cache.log if kind == SNAPSHOT and k < missing]
    usable = (k for k in sorted(whole, reverse=True)
              if cache.good(SNAPSHOT, k) and all(cache.good(CUTS, c) for c in cache.cut_frames() if c < k)
              and (cache.unlogged_cut is None or cache.unlogged_cut >= k))
    return Plan(len(good) == len(requested), next(usable, None), ())


def _list_changes(manifest: dict[str, Any], read: hashes.Settings) -> tuple[str, ...]:
    """Return plain names of the settings that differ from those that were baked; empty where the cache is valid."""
    try:
        if hashes.is_same_solve(manifest, read):
            return ()
        before, after = map(hashes.without_names, hashes.in_common(manifest, read))
        differences = tuple(list_changes(before.plain(), after.plain()))
        # the bake had fewer parameters, and the others have the same meaning now
        if not differences and hashes.means_the_same(manifest):
            return ()
    except (KeyError, TypeError, AttributeError):  # settings that this version does not know
        differences = ()
    return differences or ("the solver itself",)


def _fits_until(manifest: dict[str, Any], read: hashes.Settings) -> int:
    """Return the last frame of the cache that a bake of this job would reproduce to the byte.

    Where a longer scene moves something, its curves differ already before the old end: slopes depend on five samples.
    """
    end = int(manifest["end"])
    if read.scene["time.end"] <= end or not read.so_far:
        return end
    return end - -(-3 // int(read.scene["time.samples_per_frame"]))


class FrameStore:
    """Writer of one cache, made while its lock is taken.

    check_lock: function that is called before anything is written and raises where the lock was taken away.
    """

    def __init__(self, folder: Path, check_lock: Callable[[], None] = lambda: None) -> None:
        self.folder, self._check_lock = folder, check_lock
        self.cache = Cache(folder)
        self._root = folder.parent  # the job: below it no link is followed
        self._folders = set[str]()

    def begin(self, job: Job, read: hashes.Settings, bodies: Iterable[tuple[str, int, int]], *,
              backend: str, notes: Iterable[str] = (), first: int,
              mechanisms: Iterable[dict[str, Any]] = (), origins: Mapping[str, Vec] | None = None,
              sheets: Iterable[str] = (), wobbles: Mapping[str, float] | None = None) -> None:
        """Write the manifest of this bake, or add this run to the existing one. Raises CacheUnwritable.

        bodies: (name, first vertex, number of vertices) in the order of the output. backend: name of the linear solver.
        first: the first frame of this run. mechanisms: as in `Cache.mechanisms`. origins: of the frames of each body
        [m], (3,). sheets: bodies whose frames have faces of their own. wobbles: fundamental frequency of bodies [Hz].
        """
        versions = find_installed_versions()
        run = {"from": first, "at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
               "host": host(), "machine": machine(), "cpu": processor(), "backend": backend,
               "versions": {"python": platform.python_version(), **versions}}
        time, old = job.scene.time, self.cache.manifest
        uuids = {body.name: body.uuid for body in job.scene.bodies}
        manifest = {
            "format": FORMAT, "name": job.scene.name, "uuid": job.scene.uuid,
            "start": time.start, "end": time.end, "fps": time.fps,
            "bodies": [{"name": name, "uuid": uuids.get(name, ""), "first": start, "count": count}
                       | _describe_origin(origins, name) | _wobbles(wobbles or {}, name)
                       for name, start, count in bodies],
            "hashes": hashes.hashes(read).plain(), "settings": read.plain(), "scene": job.raw,
            "sources": {name: source(job.array_path(name), content, read.so_far.get(content))
                        for name, content in read.digests.items()},
            "mechanisms": list(mechanisms), "notes": list(notes), "runs": [*(old["runs"] if old else []), run],
        }
        names = list(sheets)
        if names:
            manifest["sheets"] = names
        if job.scene.obstacles:
            manifest["obstacles"] = obstacle_boxes(job)
        self._check_lock()
        self._folder(self.folder)
        write_whole(self.folder / MANIFEST, json.dumps(manifest, indent=1, ensure_ascii=False).encode(), self._root)
        self._mend_log()
        self.cache = Cache(self.folder)

    def write(self, frame: int, vertices: NDArray[Any]) -> None:
        """Write a frame: object-space positions relative to their origins, (V, 3) [m], as float32.

        Raises CacheUnwritable.
        """
        buffer = io.BytesIO()
        np.save(buffer, np.ascontiguousarray(vertices, dtype=np.float32), allow_pickle=False)
        self._put(FRAME, frame, buffer.getbuffer())

    def write_liveliness(self, frame: int, activity: NDArray[Any]) -> None:
        """Write body, strain-rate activity [1/s] and awake, 1 or 0, of each dynamic node at a frame, (3, m). Raises
        CacheUnwritable."""
        buffer = io.BytesIO()
        np.save(buffer, activity.astype(np.float32), allow_pickle=False)
        self._put(LIVELINESS, frame, buffer.getbuffer())

    def write_contact_forces(self, frame: int, rows: NDArray[Any]) -> None:
        """Write positions [m], forces [N] and distances [m] of pairs in contact at a frame, (k, 7). Raises
        CacheUnwritable."""
        buffer = io.BytesIO()
        np.save(buffer, rows.astype(np.float32), allow_pickle=False)
        self._put(TOUCHED, frame, buffer.getbuffer())

    def write_stress(self, frame: int, rows: NDArray[Any]) -> None:
        """Write stress [Pa], stretch, pressure [Pa] and speed [m/s] of all vertices at a frame, (V, 4). Raises
        CacheUnwritable."""
        buffer = io.BytesIO()
        np.save(buffer, rows.astype(np.float32), allow_pickle=False)
        self._put(STRESS, frame, buffer.getbuffer())

    def write_needles(self, frame: int, longest: NDArray[Any]) -> None:
        """Write the longest edge of each body, relative to its length at rest, at a frame, (b,). Raises
        CacheUnwritable."""
        buffer = io.BytesIO()
        np.save(buffer, longest.astype(np.float32), allow_pickle=False)
        self._put(NEEDLES, frame, buffer.getbuffer())

    def write_halved_steps(self, frame: int, counts: NDArray[np.int32]) -> None:
        """Write the number of steps of a frame that were halved because of each body, and of no body, (b + 1,). Raises
        CacheUnwritable."""
        buffer = io.BytesIO()
        np.save(buffer, counts)
        self._put(HALVED, frame, buffer.getbuffer())

    def write_sheets(self, frame: int, records: Mapping[int, SheetRecord]) -> None:
        """Write the meshes of cloth with faces of its own at a frame, relative to their origins. records: by the number
        of the body.

        Raises CacheUnwritable.
        """
        arrays: Arrays = {"bodies": np.array(list(records), dtype=np.int32)}
        for k, sheet in enumerate(records.values()):
            for name, values in vars(sheet).items():
                arrays[f"{k}.{name}"] = values.astype(np.float32 if values.dtype.kind == "f" else np.int32)
        self._put(SHEETS, frame, pack(arrays))

    def write_groups(self, frame: int, record: GroupRecord) -> None:
        """Write the groups of a frame. Raises CacheUnwritable."""
        self._put(GROUPED, frame, pack(record.arrays()))

    def write_poses(self, frame: int, arrays: Mapping[str, Vec]) -> None:
        """Write the rigid bodies of a frame in double precision: the arrays that `Cache.poses` returns. Raises
        CacheUnwritable."""
        self._put(POSES, frame, pack(dict(arrays)))

    def write_snapshot(self, frame: int, state: State) -> None:
        """Write the whole State after a frame in double precision. Raises CacheUnwritable."""
        arrays: Arrays = {"time": np.array(state.time), "q": state.q, "u": state.u,
                          "keys": np.array([*state.memory], dtype=str)}
        arrays |= {f"memory_{i}": value for i, value in enumerate(state.memory.values())}
        self._put(SNAPSHOT, frame, pack(arrays))

    def restore(self, frame: int) -> State:
        """Return the State of the snapshot after a frame. Raises CacheUnwritable where it cannot be read."""
        arrays = read_arrays(file_of(self.folder, SNAPSHOT, frame), self._root)
        try:
            assert arrays is not None
            memory = {str(key): arrays[f"memory_{i}"] for i, key in enumerate(arrays["keys"])}
            return State(float(arrays["time"]), arrays["q"], arrays["u"], memory)
        except (AssertionError, KeyError, TypeError, ValueError) as error:
            raise CacheUnwritable(f"the snapshot of frame {frame} in {self.folder} cannot be read",
                                  "Bake again") from error

    def write_cuts(self, frame: int, made: Arrays) -> None:
        """Write the record of the cuts after a frame. Raises CacheUnwritable."""
        self._put(CUTS, frame, pack(made))

    def read_cuts_before(self, frame: int) -> list[Arrays]:
        """Return the records of all cuts before the snapshot of a frame. Raises CacheUnwritable where one cannot be
        read."""
        cuts = []
        for cut in self.cache.cut_frames():
            if cut < frame:
                made = read_arrays(file_of(self.folder, CUTS, cut), self._root)
                if made is None:
                    raise CacheUnwritable(f"the cuts of frame {cut} in {self.folder} cannot be read", "Bake again")
                cuts.append(made)
        return cuts

    def _put(self, kind: str, frame: int, content: memoryview) -> None:
        """Write a file of a frame and its line in the log. Raises CacheUnwritable, and CacheBusy from `check_lock`."""
        self._check_lock()
        path = file_of(self.folder, kind, frame)
        if kind not in self._folders:
            self._folder(path.parent)
            self._folders.add(kind)
        write_whole(path, content, self._root)
        try:
            line = Written(kind, frame, content.nbytes, digest_of(content), path.stat().st_mtime_ns).line()
            append(self.folder / LOG, line.encode(), self._root)
        except OSError as error:
            raise unwritable(self.folder / LOG, error) from error

    def _folder(self, path: Path) -> None:
        """Make a folder of the cache, once a run: one that is removed later is not made again."""
        try:
            refuse_links(self._root, self.folder)
            make_folder(path)
        except OSError as error:
            raise unwritable(path, error) from error

    def _mend_log(self) -> None:
        """Remove the line that a crash tore from the end of the log, so that the next one starts on its own.

        A log with other hard links, as in a backup of links, is separated from them.
        """
        path = self.folder / LOG
        try:
            with open_regular(path, self._root) as stream:
                text, names = stream.read(), os.fstat(stream.fileno()).st_nlink
        except FileNotFoundError:
            return
        except OSError as error:
            raise unwritable(path, error) from error
        whole = text[:text.rfind(b"\n") + 1]
        if whole != text or names > 1:
            write_whole(path, whole, self._root)


def _describe_origin(origins: Mapping[str, Vec] | None, name: str) -> dict[str, list[float]]:
    """Return the manifest's entry of a body's origin: nothing where it is zero."""
    origin = None if origins is None else origins.get(name)
    return {} if origin is None or not origin.any() else {"origin": origin.tolist()}


def _wobbles(wobbles: Mapping[str, float], name: str) -> dict[str, float]:
    """Return the manifest's entry of a body's fundamental frequency: nothing where it is not known."""
    return {"hertz": wobbles[name]} if name in wobbles else {}


@cache
def processor() -> str:
    """Return the name of this machine's processor; "" where the system does not know."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")),
                platform.processor())


@cache
def find_installed_versions() -> dict[str, str]:
    """Return versions of the libraries that the solver uses, of those that are installed."""
    versions = {}
    for name in LIBRARIES:
        with suppress(importlib.metadata.PackageNotFoundError):
            versions[name] = importlib.metadata.version(name)
    return versions


def host() -> str:
    """Return an identity of this machine without its name, which is private where a cache is passed on."""
    return digest_of(f"{socket.gethostname()} {platform.machine()}".encode())[:8]


def machine() -> str:
    """Return system and processor, such as "Linux x86_64, AMD EPYC 7B13", on which the last digits of a bake depend."""
    return ", ".join(filter(None, (f"{platform.system()} {platform.machine()}".strip(), processor())))
