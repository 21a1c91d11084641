"""Simulation of frames into a cache, with snapshots to resume from, and bakes of job folders, whole or in part."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from .errors import BadInput, CacheUnwritable
from .frames import lock
from .frames.halved import counts_by_body
from .frames.layout import MANIFEST
from .frames.origins import Origins
from .frames.output import write
from .frames.read import Cache
from .frames.restored import check_state, fits_or_refused
from .frames.write import FrameStore, Plan, plan, processor
from .job import hashes
from .job.folder import Job
from .job.load import load
from .job.schema import step_size
from .state import State
from .stepping import Halved as Halved
from .stepping import Pace, Stop, Timeline, advance_frame
from .stepping import advance as advance

if TYPE_CHECKING:  # a finished bake reports without them
    from .groups import GroupSteps
    from .reshape.reshape import Reshape
    from .reuse.partial_bake import PartialBake
    from .world.world import World

LOGGED = 3  #: frames whose halved steps are logged one by one; a violent scene would fill the log with more


class Reporter(Protocol):
    """Receiver of a bake's progress, such as `cli.Lines`. Each method may raise Stopped."""

    def log(self, text: str) -> None:
        """Receive a sentence of the log."""

    def stage(self, stage: str, body: str | None, progress: float | None, text: str) -> None:
        """Receive the progress of a stage, in [0, 1], before the first frame; None: unknown. body: its name, where the
        stage is of one body."""

    def start(self, first: int, last: int, steps_per_frame: int) -> None:
        """Receive the first and the last frame of the bake, and the number of steps of each."""

    def frame(self, frame: int, ms: float, left_s: float) -> None:
        """Receive the number of a finished frame, its duration [ms] and the remaining time [s]."""


class _Diary:
    """Log of a simulation: each note of its world once, and why steps of the first few frames were halved."""

    def __init__(self, world: World, log: Callable[[str], None]) -> None:
        self._log, self._noted = log, set(world.notes)
        self._shortest: list[float] = []  # steps [s] of frames in which some were halved

    def log_reshape(self, world: World, notes: Sequence[str]) -> None:
        """Log notes of a change of bodies or pins. world: built after it; its own notes are in the log already."""
        self._noted.update(world.notes)
        for note in notes:
            self._log(note)

    def frame(self, frame: int, world: World, halved: Halved) -> None:
        """Log new notes of the world after a frame, and which of its steps were halved."""
        if halved:
            self._shortest.append(halved.shortest)
            if len(self._shortest) <= LOGGED:
                self._log(halved.describe(frame))
        for note in (new for new in world.notes if new not in self._noted):
            self._log(note)
        self._noted.update(world.notes)

    def end(self, world: World) -> None:
        """Log the summary of all frames."""
        if len(self._shortest) > LOGGED:
            self._log(f"In all {len(self._shortest)} frames took smaller steps, down to {min(self._shortest):.6g} s")
        for note in world.summary:
            self._log(note)


def simulate(world: World, timeline: Timeline, store: FrameStore, *, snapshot: int | None = None,
             stop: Stop = lambda: False, report: Callable[[int, float, float], None] = lambda *_: None,
             log: Callable[[str], None] = lambda _: None, reshape: Reshape | None = None,
             groups: GroupSteps | None = None, origins: Origins | None = None) -> State:
    """Simulate and write all frames up to the timeline's end, and return the last state.

    snapshot: frame of the snapshot to resume from; None begins at the start and writes its frame first.
    stop: called before each step; the simulation ends with Stopped where it returns True.
    report: called after each frame with its number, the time that it took [ms] and the estimated time left [s].
    log: called with sentences about halved steps of the first few frames, changes of bodies, and notes of the world.
    reshape: cuts, nails and released pins, each at its moment.
    groups: steps of groups of bodies that are too far apart to touch; without it all bodies take equal steps.
    origins: point of each body that its frames are stored relative to; the world's origin where left out.
    Raises Diverged with object, frame and remedy, Stopped, CacheUnwritable; frames that are written already stay.
    """
    if snapshot is None:
        first, state = timeline.start, replace(world.initial_state(), time=0.0)
        if groups is not None:
            state = groups.begin(state)
        write(world, state, first, store, origins, log, None if groups is None else groups.record(world, timeline))
    else:
        first = snapshot
        world, state = _restore(world, timeline, store, snapshot, reshape, groups)

    started_at, pace, diary = time.perf_counter(), Pace(), _Diary(world, log)
    for frame in range(first + 1, timeline.end + 1):
        frame_started_at = time.perf_counter()
        halved, begins = Halved(), 0.0
        first_use = nullcontext() if snapshot is None or frame > first + 1 else fits_or_refused(snapshot)
        if reshape is not None:
            for fraction in reshape.moments(frame - 1):
                if fraction:
                    state = advance_frame(world, state, timeline, frame, stop, halved, pace, (begins, fraction))
                after = reshape.at(frame - 1, fraction, world, state)
                world, state, begins = after.world, after.state, fraction
                diary.log_reshape(world, after.notes)
            if made := reshape.record():
                store.write_cuts(frame - 1, made)
        with first_use:
            if groups is None:
                state = advance_frame(world, state, timeline, frame, stop, halved, pace, (begins, 1.0))
            else:
                world, state = groups.advance_frame(world, state, timeline, frame, stop, halved)
            if halved:  # written before the frame, so that no complete frame lacks it
                store.write_halved_steps(frame, counts_by_body([name for name, _, _ in world.bodies],
                                                               [why.object for _, why in halved]))
            write(world, state, frame, store, origins, log, None if groups is None else groups.record(world, timeline))
        diary.frame(frame, world, halved)
        if timeline.snapshot_due(frame):
            # caches outside of the state are dropped, so that a simulation that resumes here gives the same bytes
            store.write_snapshot(frame, state)
            world.forget_past()
            pace = Pace()
            if groups is not None:
                groups.forget_past()
        now = time.perf_counter()
        left = (now - started_at) / (frame - first) * (timeline.end - frame)
        report(frame, (now - frame_started_at) * 1e3, left)
    diary.end(world)
    return state


def _restore(world: World, timeline: Timeline, store: FrameStore, snapshot: int, reshape: Reshape | None,
             groups: GroupSteps | None) -> tuple[World, State]:
    """Return world and state at the frame of a snapshot. Raises a ConJacError where the snapshot is of other bodies."""
    with fits_or_refused(snapshot):
        state = store.restore(snapshot)
        check_state(state, (snapshot - timeline.start) / timeline.fps, 1.0 / timeline.fps)
        if reshape is not None:
            world = reshape.again(world, store.read_cuts_before(snapshot))
        if groups is not None:
            world = groups.again(world, state)
        world.check(state)
    return world, state


def bake(path: Path | str, report: Reporter, *, frames: tuple[int, int] | None = None, resume: bool = False,
         threads: int | None = None, left_free: int = 0, stop: Stop = lambda: False,
         reuse: Path | None = None) -> None:
    """Bake a job folder into its cache.

    path: job folder. report: receiver of the progress. frames: first and last frame that must be on disk at the end,
    all where left out; frames before them are simulated and written, too. resume: whether to resume from the last
    snapshot of equal settings. threads: number of threads of the kernels; None takes all cores but `left_free`. stop:
    called before each step; the bake ends with Stopped where it returns True. reuse: folder of an earlier bake; its
    frames are copied for bodies that are not affected by what has changed since.
    Raises a ConJacError. Where all requested frames exist, neither numba nor the solver is imported.
    """
    job = load(path)
    requested = select_frames(job, frames)
    read = hashes.settings(job)
    if _report_finished(plan(Cache(job.cache), read, requested, resume), report):
        return

    with lock.acquire(job.cache) as holding:
        # planned again: another process may have written before this one had the lock
        todo = plan(Cache(job.cache), read, requested, resume)
        if _report_finished(todo, report):
            return
        if resume and todo.snapshot is None:
            report.log("There is no snapshot to resume from, so the bake begins at the first frame")
        run = _JobRun(job, read, report, requested[-1], holding.check, stop, (threads, left_free), todo.stale)
        if reuse is None:
            run.simulate_all(todo.snapshot)
        else:
            run.reusing(reuse, todo.snapshot)
        for sentence in Cache(job.cache).diagnostics.needles():
            report.log(sentence)

        done = set(Cache(job.cache).frames_done())
        missing = next((frame for frame in requested if frame not in done), None)
        if missing is not None:
            raise CacheUnwritable(f"frame {missing} was written to {job.cache} and is gone",
                                  "Check what else writes there and resume")


@dataclass(frozen=True)
class _JobRun:
    """Bake of a job up to a frame, by the process that has locked its cache."""

    job: Job
    read: hashes.Settings
    report: Reporter
    last: int
    check_lock: Callable[[], None]  #: raises CacheBusy where another process has taken the lock
    stop: Stop
    cores: tuple[int | None, int]  #: threads of the kernels, None for all cores but the second number
    stale: Sequence[str] = ()  #: names of settings that have changed since the frames in the cache were written

    def simulate_all(self, snapshot: int | None) -> None:
        """Simulate all bodies from a snapshot on, or from the start."""
        job, report = self.job, self.report
        world, reshape, groups = self._build(job)
        if snapshot is None:
            self._free_stale()
        store = FrameStore(job.cache, self.check_lock)
        _say_other_machine(store.cache, world, report)
        first = job.scene.time.start if snapshot is None else snapshot
        origins = Origins(job)
        store.begin(job, self.read, world.bodies, backend=world.backend, notes=world.notes, first=first,
                    mechanisms=world.mechanisms, origins=origins.of, sheets=world.sheet_names,
                    wobbles=world.fundamental_hertz)
        timeline = self._begin(first)
        simulate(world, timeline, store, snapshot=snapshot, stop=self.stop, report=report.frame,
                 log=report.log, reshape=reshape, groups=groups, origins=origins)

    def reusing(self, folder: Path, snapshot: int | None) -> None:
        """Simulate bodies that are affected by what has changed since an earlier bake, and copy frames of all others
        from it. folder: of the earlier bake. snapshot: frame to resume from, None for the start."""
        from .reuse.partial_bake import CannotReuse, PartialBake, find

        earlier = find(folder, self.job, self.read)
        while earlier is not None:
            partial = PartialBake(self.job, earlier)
            try:
                self._beside(partial, snapshot)
                return
            except CannotReuse as why:
                earlier = earlier.without(why.tokens, why.frame) if why.tokens else None
                if Cache(self.job.cache).frames_done():
                    requested = range(self.job.scene.time.start, self.last + 1)
                    snapshot = plan(Cache(self.job.cache), self.read, requested, True).snapshot
                    self.report.log(f"{partial.name_solved_bodies(earlier)} from the last snapshot on: {why}")
                if snapshot is None:
                    Cache(self.job.cache).free()
        self.simulate_all(snapshot)

    def _beside(self, partial: PartialBake, snapshot: int | None) -> None:
        """Simulate some bodies and copy the frames of the others, from a snapshot on or from the start.

        Raises CannotReuse.
        """
        report, origins = self.report, Origins(self.job)
        partial.check(self.job.cache, snapshot)
        world, reshape, groups = (
            (None, None, None) if partial.job is None else self._build(partial.job, partial.read_reused_steps))
        if snapshot is None:
            self._free_stale()
        store = partial.store(self.job.cache, self.check_lock, world)
        first = self.job.scene.time.start if snapshot is None else snapshot
        store.begin(self.job, self.read, partial.bodies(world), first=first, origins=origins.of,
                    **partial.describe(world))
        report.log(partial.sentence)
        timeline = self._begin(first)
        if world is None:
            partial.copy(store, timeline, snapshot, self.stop, report.frame)
        else:
            simulate(world, timeline, store, snapshot=snapshot, stop=self.stop, report=report.frame, log=report.log,
                     reshape=reshape, groups=groups, origins=origins)

    def _build(self, job: Job, beside: Callable[[int], Sequence[int]] = lambda _: ()
               ) -> tuple[World, Reshape | None, GroupSteps | None]:
        world, reshape, groups = _build(job, self.report, *self.cores, beside)
        from .threads import cache_notes

        for note in (*cache_notes(), *world.notes):
            self.report.log(note)
        return world, reshape, groups

    def _free_stale(self) -> None:
        """Delete frames of other settings; called after the new world is built, as a failure to build leaves them."""
        cache = Cache(self.job.cache)
        if self.stale and (cache.folder / MANIFEST).exists():
            self.report.log(f"The old cache is replaced; these changed: {', '.join(self.stale)}")
            cache.free()

    def _begin(self, first: int) -> Timeline:
        timeline = Timeline.of(self.job.scene.time, self.last)
        self.report.start(first, timeline.end, step_size(timeline.fps, timeline.step)[0])
        return timeline


def select_frames(job: Job, frames: tuple[int, int] | None) -> range:
    """Return the frames to bake: first and last in `frames`, or all of the scene for None. Raises BadInput where the
    scene does not have them."""
    if frames is None:
        return job.frames
    first, last = frames
    if last < first or first < job.frames[0] or last > job.frames[-1]:
        raise BadInput(f"frames {first} to {last} were asked for and the scene has {job.frames[0]} to {job.frames[-1]}",
                       "Ask for frames that it has", where="$.time")
    return range(first, last + 1)


def _report_finished(todo: Plan, report: Reporter) -> bool:
    if todo.finished:
        report.log("Every frame asked for is already baked")
    return todo.finished


def _build(job: Job, report: Reporter, threads: int | None, free: int, beside: Callable[[int], Sequence[int]]
           ) -> tuple[World, Reshape | None, GroupSteps | None]:
    """Return the world of a job, its changes of bodies and pins, and the steps of its groups; None without these.

    beside: numbers of steps in a frame of groups that are copied from an earlier bake, by frame.
    """
    # imported here, as a finished bake reports without any of it
    from . import cores
    from .build.loading import Loading
    from .threads import configure

    configure(threads, free)
    # a first bake compiles for ten seconds and makes tetrahedra for about as long: both at a time, in processes of
    # their own, also on cores that are left free later
    loading = Loading(job.scene, threads or cores.available())
    from .build.filled import fill_for_bake

    job, volumes = fill_for_bake(job, report.stage)
    for note in loading.finish(report.stage):
        report.log(note)
    from .build.world import build
    from .groups import GroupSteps
    from .reshape.regroup import Regroup

    regroup = Regroup(job) if Regroup.suits(job) else None
    world, prepared, soft = build(job, report.stage, volumes, None if regroup is None else regroup.begin)
    reshape: Reshape | None = None
    if any(body.is_reshaped for body in job.scene.bodies):
        from .reshape.reshape import Reshape as Cuts

        reshape = Cuts(job, prepared, soft, regroup)
    return world, reshape, None if regroup is None else GroupSteps(regroup, beside)


def _say_other_machine(cache: Cache, world: World, report: Reporter) -> None:
    """Log where frames of a resumed cache were made on another machine, as last digits may differ."""
    runs = cache.manifest["runs"] if cache.manifest else []
    others = {run["backend"] for run in runs} - {world.backend}
    others |= {run["cpu"] for run in runs if run.get("cpu")} - {processor()}
    if others:
        report.log(f"Frames already there were baked with {'; '.join(sorted(others))}; last digits may differ from now")
