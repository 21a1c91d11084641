"""What was performed live: every place on the way, then frames of it in the cache of a job, as if it had been baked."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ..errors import BadInput, StaleCache, Stopped
from ..frames import lock
from ..frames.origins import Origins
from ..frames.write import FrameStore
from ..job import hashes
from ..job.arrays import Unreadable, read_npz
from ..job.load import load
from ..job.stages import write_arrays
from ..simulate import Reporter
from ..state import Vec

ENDING = 1.0e-6  #: of a frame: what is missing of the last one is rounding


class Recording:
    """Places over time, from when it is made."""

    def __init__(self, fps: float) -> None:
        self._fps, self._times, self._places = fps, list[float](), list[Vec]()

    def add(self, time: float, places: Vec) -> None:
        """Where all was at a simulated time [s], later than the last: (n, 3) [m]."""
        self._times.append(time)
        self._places.append(places.astype(np.float32))

    @property
    def frames(self) -> int:
        """How many whole frames it has."""
        if not self._times:
            return 0
        return int((self._times[-1] - self._times[0]) * self._fps + ENDING) + 1

    def save(self, path: Path) -> None:
        """Write a place for each frame, straight between steps: "places", (k, n, 3) [m]. Raises CacheUnwritable."""
        times, count = np.array(self._times), self.frames
        asked = times[0] + np.arange(count) / self._fps if count else times
        after = np.clip(np.searchsorted(times, asked), 1, max(len(times) - 1, 1))
        found = []
        for moment, k in zip(asked, after):
            if len(times) == 1:
                found.append(self._places[0])
                continue
            share = np.float32(np.clip((moment - times[k - 1]) / (times[k] - times[k - 1]), 0.0, 1.0))
            found.append((1 - share) * self._places[k - 1] + share * self._places[k])
        write_arrays(path, {"places": np.array(found, dtype=np.float32)}, path.parent)


def keep(path: Path, performed: Path, report: Reporter, stop: Callable[[], bool], replaces: bool = False) -> None:
    """Put what was performed into the cache of a job of one soft body, from its first frame on.

    replaces: a bake that is there, else StaleCache is raised. Raises BadInput where they do not fit, and Stopped,
    CacheBusy, CacheUnwritable.
    """
    job = load(path)
    try:
        places = read_npz(performed)["places"]
    except (OSError, KeyError, Unreadable) as error:
        raise BadInput(f"{performed} holds nothing that was performed ({error})", "Record it again") from error
    body, surface = job.scene.bodies[0], job.scene.bodies[0].surface
    if len(job.scene.bodies) != 1 or job.scene.mechanisms or surface is None:
        raise BadInput("a performance is of one soft body", "Bake what is joined to others", body.name)
    vertices = len(job.array(surface.vertices))
    if places.ndim != 3 or places.shape[1:] != (vertices, 3) or not len(places):
        raise BadInput(f"it has {vertices} vertices, and what was performed has others", "Record it again", body.name)
    first, last = job.frames[0], min(job.frames[-1], job.frames[0] + len(places) - 1)
    read, bodies, began = hashes.settings(job), [(body.name, 0, vertices)], time.perf_counter()
    with lock.held(job.cache) as holding:
        store = FrameStore(job.cache, holding.check)
        if store.cache.manifest is not None:
            if not replaces:
                raise StaleCache("it was baked, and these changed: it is performed live", "Keep that or replace it",
                                 body.name)
            store.cache.free()
        origins = Origins(job)
        store.begin(job, read, bodies, backend="Play Live", notes=["It was performed live"], first=first,
                    origins=origins.of)
        report.start(first, last, 1)
        matrices = None if surface.to_object is None else job.array(surface.to_object)
        for frame in range(first, last + 1):
            if stop():
                raise Stopped(f"stopped before frame {frame} was written", "Record it again")
            x = places[frame - first].astype(np.float64)
            if matrices is not None:
                matrix = matrices[min(frame - first, len(matrices) - 1)]
                x = x @ matrix[:3, :3].T + matrix[:3, 3]
            store.write(frame, origins.relative(bodies, x))
            spent = time.perf_counter() - began
            report.frame(frame, 1e3 * spent / (frame - first + 1), spent / (frame - first + 1) * (last - frame))
