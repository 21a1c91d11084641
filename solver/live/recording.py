"""Recording of a live performance, and its frames in the cache of a job, as if they were baked."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import BadInput, StaleCache, Stopped
from ..frames import lock
from ..frames.origins import Origins
from ..frames.write import FrameStore
from ..job import hashes
from ..job.arrays import Unreadable, read_npz
from ..job.folder import Job
from ..job.kinds import kind_of
from ..job.load import load
from ..job.stages import write_arrays
from ..simulate import Reporter
from ..state import Vec
from ..world.mechanisms import MechanismInWorld
from .engines.interface import GrabbedVertex

ENDING = 1.0e-6  #: of a frame: what is missing of the last one is rounding


class Recording:
    """Recording of positions, poses of rigid bodies and grabs at the ends of steps."""

    def __init__(self, fps: float) -> None:
        self._fps, self._times, self._positions, self._poses = fps, list[float](), list[Vec](), list[Vec]()
        self._grabbed: list[tuple[GrabbedVertex, ...]] = []

    def add(self, time: float, positions: Vec, poses: Vec | None = None, grabbed: Sequence[GrabbedVertex] = ()) -> None:
        """Append positions, (n, 3) [m], and poses of rigid bodies, (r, 4, 4) [m], at a time [s] later than the last.

        grabbed: grabs in the step that ends at that time.
        """
        self._times.append(time)
        self._positions.append(positions.astype(np.float32))
        self._poses.append(np.zeros((0, 4, 4)) if poses is None else poses.copy())
        self._grabbed.append(tuple(grabbed))

    @property
    def frames(self) -> int:
        """Return the number of whole frames recorded."""
        if not self._times:
            return 0
        return int((self._times[-1] - self._times[0]) * self._fps + ENDING) + 1

    def is_at_snapshot(self, every: int) -> bool:
        """Whether the last entry is at a frame of a bake's snapshot. every: frames between snapshots."""
        frame = (self._times[-1] - self._times[0]) * self._fps
        return round(frame) > 0 and round(frame) % every == 0 and abs(frame - round(frame)) < ENDING

    def save(self, path: Path) -> None:
        """Write k frames to a file, interpolated linearly between steps. Raises CacheUnwritable.

        Arrays: "places", (k, n, 3) [m], and "poses", (k, r, 4, 4); of g hands "vertex", (g,), "target", (k, g, 3) [m],
        and "stiffness", (k, g) [N/m], 0 where a hand does not pull.
        """
        times, count = np.array(self._times), self.frames
        frame_times = times[0] + np.arange(count) / self._fps if count else times
        after = np.clip(np.searchsorted(times, frame_times - ENDING / self._fps), 0, max(len(times) - 1, 0))
        before = np.maximum(after - 1, 0)
        interval = np.maximum(times[after] - times[before], 1e-300)
        fraction = np.clip((frame_times - times[before]) / interval, 0.0, 1.0)
        positions = [(1 - np.float32(s)) * self._positions[i] + np.float32(s) * self._positions[k]
                  for i, k, s in zip(before, after, fraction)]
        poses = [_between(self._poses[i], self._poses[k], s) for i, k, s in zip(before, after, fraction)]
        grabbed = [self._grabbed[k] for k in after]
        vertex = {grab.id: grab.vertex for moment in grabbed for grab in moment}
        column = {key: k for k, key in enumerate(vertex)}
        target, stiffness = np.zeros((count, len(column), 3)), np.zeros((count, len(column)))
        for frame, moment in enumerate(grabbed):
            for grab in moment:
                target[frame, column[grab.id]], stiffness[frame, column[grab.id]] = grab.target, grab.stiffness
        write_arrays(path, {"places": np.array(positions, dtype=np.float32), "poses": np.array(poses),
                            "vertex": np.array(list(vertex.values()), np.int32), "target": target,
                            "stiffness": stiffness}, path.parent)


def _between(one: Vec, other: Vec, fraction: float) -> Vec:
    """Return poses interpolated between two, (r, 4, 4) [m], with orthonormal rotations. fraction: 0 at one, 1 at
    other."""
    blended = (1.0 - fraction) * one + fraction * other
    u, _, v = np.linalg.svd(blended[:, :3, :3])
    blended[:, :3, :3] = u @ v
    return blended


def keep(path: Path, performed: Path, report: Reporter, stop: Callable[[], bool], replaces: bool = False) -> None:
    """Write a recorded performance into the cache of a job, from the job's first frame on.

    path: folder of the job. performed: file of `Recording.save`. report: receives progress. stop: whether to stop.
    replaces: whether an existing bake is replaced. Raises BadInput where the file does not fit the job, StaleCache
    where a bake exists and `replaces` is false, Stopped, CacheBusy and CacheUnwritable.
    """
    job = load(path)
    try:
        arrays = read_npz(performed)
        positions, poses = arrays["places"], arrays["poses"]
    except (OSError, KeyError, Unreadable) as error:
        raise BadInput(f"{performed} holds nothing that was performed ({error})", "Record it again") from error
    bodies, matrices = _bodies(job)
    vertices = sum(count for _, _, count in bodies)
    mechanisms = _mechanisms(job)
    rigid = sum(len(mechanism["bodies"]) for mechanism in mechanisms)
    if positions.ndim != 3 or positions.shape[1:] != (vertices, 3) or poses.shape != (
            len(positions), rigid, 4, 4) or not len(positions):
        raise BadInput(f"it has {vertices} vertices and {rigid} rigid bodies, and what was performed has others",
                       "Record it again", job.scene.name)
    first, last = job.frames[0], min(job.frames[-1], job.frames[0] + len(positions) - 1)
    read, started_at = hashes.settings(job), time.perf_counter()
    with lock.acquire(job.cache) as holding:
        store = FrameStore(job.cache, holding.check)
        if store.cache.manifest is not None:
            if not replaces:
                raise StaleCache("it was baked, and these changed: it is performed live", "Keep that or replace it",
                                 job.scene.name)
            store.cache.free()
        origins = Origins(job)
        store.begin(job, read, bodies, backend="Play Live", notes=["It was performed live"], first=first,
                    mechanisms=mechanisms, origins=origins.of)
        report.start(first, last, 1)
        for frame in range(first, last + 1):
            if stop():
                raise Stopped(f"stopped before frame {frame} was written", "Record it again")
            x = positions[frame - first].astype(np.float64)
            for (_, start, count), to_object in zip(bodies, matrices):
                if to_object is not None:
                    matrix = to_object[min(frame - first, len(to_object) - 1)]
                    x[start:start + count] = x[start:start + count] @ matrix[:3, :3].T + matrix[:3, 3]
            if mechanisms:
                store.write_poses(frame, {"pose": poses[frame - first]} | dict.fromkeys(("rates", "effort", "loops"),
                                                                                        np.zeros(0)))
            store.write(frame, origins.relative(bodies, x))
            spent = time.perf_counter() - started_at
            report.frame(frame, 1e3 * spent / (frame - first + 1), spent / (frame - first + 1) * (last - frame))


def _bodies(job: Job) -> tuple[list[tuple[str, int, int]], list[Vec | None]]:
    """Return name, first vertex and number of vertices of each soft body, and its matrices from world to object space
    by frame, (T, 4, 4) [m], or None. Raises BadInput where a body has no fixed mesh to show."""
    bodies, matrices, first = list[tuple[str, int, int]](), list[Vec | None](), 0
    for body in job.scene.bodies:
        if body.surface is None:
            raise BadInput("it has no mesh to be shown on", "Bake it", body.name)
        if kind_of(body).is_remeshed:
            raise BadInput("cloth with Sharp Edges is played as plain cloth, of which no bake can be made",
                           "Switch Sharp Edges off, or bake it", body.name)
        count = len(job.array(body.surface.vertices))
        bodies.append((body.name, first, count))
        matrices.append(None if body.surface.to_object is None else job.array(body.surface.to_object))
        first += count
    return bodies, matrices


def _mechanisms(job: Job) -> list[dict[str, Any]]:
    """Return the mechanisms' entries of the manifest, without joints, which are not recorded."""
    entries, first = list[dict[str, Any]](), 0
    for mechanism in job.scene.mechanisms:
        entries.append(MechanismInWorld(mechanism.name, [body.name for body in mechanism.bodies], ()).plain(first))
        first += len(mechanism.bodies)
    return entries
