"""Bake that solves the bodies of a job that changed since an earlier bake and copies the frames of all others."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ..errors import Stopped
from ..frames.read import Cache
from ..job.folder import Job
from ..job.schema import Scene
from ..reshape.regroup import Regroup
from ..stepping import Stop, Timeline
from .earlier import CannotReuse as CannotReuse
from .earlier import EarlierBake, record_of
from .earlier import find as find
from .shared_store import SharedStore
from .subsets import Numbering

if TYPE_CHECKING:
    from ..world.world import World


class PartialBake:
    """Bake that solves some bodies of a job and copies the frames of the others from an earlier bake.

    A token is the number of a soft body of the job; the last token is all mechanisms.
    """

    def __init__(self, job: Job, earlier: EarlierBake) -> None:
        """job: of all bodies. earlier: the bake of which bodies are reused."""
        self._whole, self._earlier = job, earlier
        self._tokens = sorted({*range(len(job.scene.bodies) + bool(job.scene.mechanisms))} - earlier.tokens)
        #: job with the solved bodies only; None where nothing is solved
        self.job = job.with_scene(_part_of(job.scene, self._tokens), job.raw) if self._tokens else None

    def check(self, cache: Path, snapshot: int | None) -> None:
        """Check that the solved bodies do not interact with the reused bodies.

        cache: cache folder of the job. snapshot: frame of the snapshot from which the bake resumes; None at the start.
        Raises CannotReuse where the solved bodies cannot be solved in groups, or where a group at the snapshot contains
        both solved and reused bodies.
        """
        if self.job is not None and not Regroup.suits(self.job):
            raise CannotReuse("what has changed cannot be solved apart")
        if snapshot is not None:
            self._earlier.check_separate(record_of(Cache(cache), snapshot), snapshot)

    def read_reused_steps(self, frame: int) -> list[int]:
        """Return the number of time steps of each reused group in a frame. Raises CannotReuse."""
        return self._earlier.steps(frame)

    def store(self, cache: Path, check_lock: Callable[[], None], world: World | None) -> SharedStore:
        """Return the store that writes the frames of all bodies to a cache folder.

        check_lock: raises where another process has taken the cache. world: world of the solved bodies; None where
        nothing is solved.
        """
        solved = None if world is None else Numbering(
            dict(enumerate(self._tokens)), [(first, count) for _, first, count in world.bodies],
            bool(world.mechanisms))
        return SharedStore(cache, check_lock, self._whole, self._earlier, solved)

    def bodies(self, world: World | None) -> list[tuple[str, int, int]]:
        """Return the name, first vertex and number of vertices of every soft body of the job.

        world: world of the solved bodies; None where nothing is solved.
        """
        counts = {} if world is None else {name: count for name, _, count in world.bodies}
        for own, (_, count) in enumerate(self._earlier.numbering.rows):
            if own in self._earlier.numbering.tokens:
                counts[self._whole.scene.bodies[self._earlier.numbering.tokens[own]].name] = count
        bodies, first = [], 0
        for body in self._whole.scene.bodies:
            bodies.append((body.name, first, counts[body.name]))
            first += counts[body.name]
        return bodies

    def describe(self, world: World | None) -> dict[str, Any]:
        """Return the manifest's description of the run, as arguments of `FrameStore.begin`.

        world: world of the solved bodies; None where nothing is solved.
        """
        manifest = self._earlier.cache.manifest
        assert manifest is not None
        names = self._earlier.names_now()
        wobbles = {names[name]: hertz for name, hertz in self._earlier.cache.diagnostics.frequencies().items()
                   if name in names}
        notes = [note for note in manifest.get("notes", []) if any(note.startswith(f'"{name}"') for name in names)]
        if world is None:
            return {"backend": manifest["runs"][-1]["backend"], "notes": notes, "wobbles": wobbles,
                    "mechanisms": self._earlier.cache.mechanisms()}
        return {"backend": world.backend, "notes": [*notes, *world.notes],
                "wobbles": wobbles | world.fundamental_hertz,
                "mechanisms": world.mechanisms or (self._earlier.cache.mechanisms() if self._earlier.has_mechanisms
                                                   else [])}

    @property
    def sentence(self) -> str:
        """Return the sentence for the log that lists the reused objects."""
        names = self._earlier.names(self._earlier.tokens)
        count = len(names) + len(self._tokens)
        return (f"Kept {len(names)} of {count} objects as they were baked: {', '.join(names)}" if self._tokens else
                "Nothing has to be solved: all objects that are left are kept as they were baked")

    def name_solved_bodies(self, left: EarlierBake | None) -> str:
        """Return the beginning of a sentence that names the bodies whose frames are no longer reused.

        left: earlier bake with the bodies that still are reused; None where there are none.
        """
        if left is None:
            return "All objects are solved"
        names = self._earlier.names(self._earlier.tokens - left.tokens)
        return f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} solved as well"

    def copy(self, store: SharedStore, timeline: Timeline, snapshot: int | None, stop: Stop,
             report: Callable[[int, float, float], None]) -> None:
        """Write all frames after a snapshot from the earlier bake, for a job of which nothing has to be solved.

        snapshot: frame of the snapshot; None for all frames. report: receives the frame, the mean time of a frame [ms]
        and the remaining time [s]. Raises CannotReuse where a frame cannot be reused, Stopped where `stop` is true.
        """
        start, first = time.perf_counter(), timeline.start if snapshot is None else snapshot + 1
        for frame in range(first, timeline.end + 1):
            if stop():
                raise Stopped(f"stopped before frame {frame} was done", "Resume to continue")
            store.copy(frame, timeline.snapshot_due(frame))
            spent = time.perf_counter() - start
            done = frame - first + 1
            report(frame, 1e3 * spent / done, spent / done * (timeline.end - frame))


def _part_of(scene: Scene, tokens: list[int]) -> Scene:
    """Return a scene with only the bodies and mechanisms of some tokens."""
    bodies = [scene.bodies[k] for k in tokens if k < len(scene.bodies)]
    names = {body.name for body in bodies}
    return msgspec.structs.replace(
        scene, bodies=bodies, mechanisms=scene.mechanisms if len(scene.bodies) in tokens else [],
        forces=[force for force in scene.forces if names >= {*force.bodies}],
        constraints=[constraint for constraint in scene.constraints if names >= {
            end.body for end in constraint.ends if end.body and not end.mechanism}])
