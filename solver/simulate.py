"""The loop: steps land on frames, each is written, a snapshot now and then; and the life of a bake around it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from .errors import BadInput, CacheUnwritable, StepFailed, Stopped
from .frames import lock
from .frames.origins import Origins
from .frames.output import write
from .frames.read import Cache
from .frames.restored import check_state, fits_or_refused
from .frames.write import FrameStore, Plan, plan, processor
from .job import hashes
from .job.folder import Job
from .job.load import load
from .job.schema import Time, step_size
from .state import State

if TYPE_CHECKING:  # a finished bake is told without them
    from .integrators.control import Controller
    from .reshape.reshape import Reshape
    from .world.world import World

HALVINGS = 4  # a step is tried at h, h/2, ... h/16
FORESEEN = 1.1  # of the largest deformation: a step of which more is foreseen is not tried
NEAR = 1.0e-6  # of a step: so near to a step's end is there, as Blender's subframes have single precision
IN_VAIN = 8  # shortest steps that still deform bodies too much, after which twice as long ones are taken as well
TOLD = 3  # frames of which the log says why their steps were halved: a lively bake would fill it

Stop = Callable[[], bool]


class Reporter(Protocol):
    """Who is told how a bake goes on. Any of these may raise Stopped."""

    def log(self, text: str) -> None: ...
    def stage(self, stage: str, body: str | None, progress: float | None, text: str) -> None: ...
    def start(self, first: int, last: int, steps_per_frame: int) -> None: ...
    def frame(self, frame: int, ms: float, left_s: float) -> None: ...


@dataclass(frozen=True)
class Timeline:
    """When frames and steps stand. Frame k is the state at (k - start)/fps."""

    start: int
    end: int
    fps: float
    step: float  #: largest step [s]
    snapshot_every: int  #: frames
    tolerance: float = 0.0  #: largest error of a step, as a share of the body's size; 0: all are as long as can be
    largest_deformation: float = 0.0  #: that a step may bring, as a share of an edge's length; 0: any

    @classmethod
    def of(cls, time: Time, last: int | None = None) -> Timeline:
        """The scene's timeline, up to the frame `last`."""
        return cls(time.start, time.end if last is None else last, time.fps, time.step, time.snapshot_every,
                   time.tolerance, time.largest_deformation)

    def time_of(self, frame: int) -> float:
        """Seconds after the start frame."""
        return (frame - self.start) / self.fps

    def snapshot_due(self, frame: int) -> bool:
        return frame > self.start and (frame - self.start) % self.snapshot_every == 0


def simulate(world: World, timeline: Timeline, store: FrameStore, *, snapshot: int | None = None,
             stop: Stop = lambda: False, report: Callable[[int, float, float], None] = lambda *_: None,
             log: Callable[[str], None] = lambda _: None, reshape: Reshape | None = None,
             origins: Origins | None = None) -> State:
    """Simulate and write every frame up to the timeline's end; returns the last state.

    snapshot: frame to go on from, None for the start, whose frame is then written first. stop: asked before every
    step. report(frame, ms, seconds left) is told after each frame, log(sentence) after the first few whose steps were
    halved, or where something came apart, and of what a world notes meanwhile. reshape: what comes apart when.
    origins: what the frames of each body are counted from, zero where left out.
    Raises Diverged with object, frame and remedy, Stopped, CacheUnwritable; the frames written before stay.
    """
    if snapshot is None:
        frame, state = timeline.start, replace(world.initial_state(), time=0.0)
        write(world, state, frame, store, origins, log)
    else:
        frame = snapshot
        with fits_or_refused(snapshot):
            state = store.restore(snapshot)
            check_state(state, (snapshot - timeline.start) / timeline.fps, 1.0 / timeline.fps)
            if reshape is not None:
                world = reshape.again(world, store.cuts_before(snapshot))
            world.check(state)

    began, first, said, pace = time.perf_counter(), frame, len(world.notes), Pace()
    shortest: list[float] = []  # steps [s] of frames in which some were halved
    for frame in range(first + 1, timeline.end + 1):
        frame_began = time.perf_counter()
        halved, begins = Halved(), 0.0
        first_use = nullcontext() if snapshot is None or frame > first + 1 else fits_or_refused(snapshot)
        if reshape is not None:
            for share in reshape.moments(frame - 1):
                if share:
                    state = advance_frame(world, state, timeline, frame, stop, halved, pace, (begins, share))
                after = reshape.at(frame - 1, share, world, state)
                world, state, begins, said = after.world, after.state, share, len(after.world.notes)
                for note in after.notes:
                    log(note)
            if made := reshape.record():
                store.cuts(frame - 1, made)
        with first_use:
            state = advance_frame(world, state, timeline, frame, stop, halved, pace, (begins, 1.0))
            write(world, state, frame, store, origins, log)
        if halved:
            shortest.append(halved.shortest)
            if len(shortest) <= TOLD:
                log(halved.said(frame))
        for note in world.notes[said:]:
            log(note)
        said = len(world.notes)
        if timeline.snapshot_due(frame):
            # what is not in the State is dropped here in every run, so that a resumed one gives the same bytes
            store.snapshot(frame, state)
            world.forget_past()
            pace = Pace()
        now = time.perf_counter()
        left = (now - began) / (frame - first) * (timeline.end - frame)
        report(frame, (now - frame_began) * 1e3, left)
    if len(shortest) > TOLD:
        log(f"In all {len(shortest)} frames took smaller steps, down to {min(shortest):.6g} s")
    for note in world.summary:
        log(note)
    return state


class Halved(list[tuple[float, StepFailed]]):
    """Steps of one frame that could not be solved: how long each was [s], and why."""

    @property
    def shortest(self) -> float:
        """The length of the shortest step that was taken instead [s]."""
        return min(h for h, _ in self) / 2

    def said(self, frame: int) -> str:
        """One sentence for the log, however many there were."""
        longest, why = self[0]
        place = f' of "{why.object}"' if why.object else ""
        return (f"Frame {frame}: a step{place} of {longest:.6g} s was too long, {why}; "
                f"smaller ones were taken, down to {self.shortest:.6g} s")


class Pace:
    """How fast bodies deform: a step that would deform them too much is not tried.

    Half a step deforms an impact's worst edge by .7 of what a whole one does, measured on balls that hit each other.
    What is small rings faster than any step here may follow: its shortest ones go on deforming it too much, and are
    worth their price only while they find out how it bounces.
    """

    def __init__(self) -> None:
        self._last, self._change, self._in_vain = 1.0, 0.0, 0

    @property
    def spared(self) -> int:
        """Halvings that are not worth it, of those that deformation asks for."""
        return min(self._in_vain // IN_VAIN, HALVINGS)

    def note_shortest(self, helps: bool) -> None:
        """One of the shortest steps was taken; helps: whether it deformed bodies by no more than it may."""
        self._in_vain = 0 if helps else self._in_vain + 1

    def note(self, h: float, change: float) -> None:
        """A step of h seconds, taken or not, changed an edge by that share of its length."""
        self._last, self._change = h, change

    def expected(self, h: float) -> float:
        """What a step of h seconds would."""
        return self._change * math.sqrt(h / self._last)


def advance_frame(world: World, state: State, timeline: Timeline, frame: int, stop: Stop = lambda: False,
                  halved: Halved | None = None, pace: Pace | None = None,
                  part: tuple[float, float] = (0.0, 1.0)) -> State:
    """The state at `frame`, from the one at the frame before it. Adds to `halved`. Raises Diverged, Stopped.

    part: of the way between both frames, where it begins and ends; a step that reaches across an end is cut there.
    """
    count, h = step_size(timeline.fps, timeline.step)
    pace = Pace() if pace is None else pace
    if timeline.tolerance:
        controller = world.controller(timeline.tolerance, count)
        return _advance_frame_within(world, state, timeline, frame, stop, halved, controller, part)
    before = timeline.time_of(frame - 1)
    for begins, ends in pairwise(_step_ends(count, part)):
        # times are counted, never summed, so that no rounding gathers over a long bake
        state = advance(world, replace(state, time=before + begins * h), (ends - begins) * h, frame, stop,
                        halved=halved, largest=timeline.largest_deformation, pace=pace)
    return replace(state, time=_time_within(timeline, frame, part[1]))


def _step_ends(count: int, part: tuple[float, float]) -> list[float]:
    """Where steps begin and end in a part of a frame of `count` of them, counted in steps from the frame's start."""
    first, last = (round(share * count) if abs(share * count - round(share * count)) < NEAR else share * count
                   for share in part)
    return [first, *(float(i) for i in range(count + 1) if first < i < last), *([last] if last > first else [])]


def _time_within(timeline: Timeline, frame: int, share: float) -> float:
    """Seconds after the start frame, a share of the way from the frame before to this one."""
    return timeline.time_of(frame) if share == 1.0 else timeline.time_of(frame - 1) + share / timeline.fps


def _advance_frame_within(world: World, state: State, timeline: Timeline, frame: int, stop: Stop,
                          halved: Halved | None, controller: Controller, part: tuple[float, float]) -> State:
    """The same with steps whose error stays within the tolerance. Raises Diverged, Stopped."""
    before, unit = timeline.time_of(frame - 1), 1.0 / timeline.fps / controller.units
    done, end = (round(share * controller.units) for share in part)
    while done < end:
        state = replace(state, time=before + done * unit)
        proposed, tries = controller.proposed(state.memory), 0
        while True:
            if stop():
                raise Stopped(f"stopped before frame {frame} was done", "Resume to go on")
            units = controller.fit(proposed, done, end)
            try:
                after = stepped(world, state, units * unit, timeline.largest_deformation if units > 1 else 0.0)
                error = world.error(state, after, units * unit)
            except StepFailed as failure:
                if units == 1:
                    raise world.explain(failure, state, frame) from failure
                if halved is not None:
                    halved.append((units * unit, failure))
                error = math.inf
            if controller.accepts(units, error):
                break
            proposed, tries = controller.shorter(units, error), tries + 1
        memory = controller.longer(state.memory, units, error, tries > 0)
        state, done = replace(after, memory={**after.memory, **memory}), done + units
    return replace(state, time=_time_within(timeline, frame, part[1]))


def advance(world: World, state: State, h: float, frame: int, stop: Stop = lambda: False,
            halvings: int = HALVINGS, halved: Halved | None = None, largest: float = 0.0,
            pace: Pace | None = None) -> State:
    """One step; halved where it cannot be solved, and given up with the world's advice when that does not help.

    One that deforms the body by more than `largest`, or in which rigid bodies turn too far, is halved too, and the
    shortest taken as they are; where these deform it too much again and again, longer ones as well. The shortest that
    cannot be solved may be taken in another way that the world knows of.
    """
    if stop():
        raise Stopped(f"stopped before frame {frame} was done", "Resume to go on")
    pace = Pace() if pace is None else pace
    try:
        after = stepped(world, state, h, largest, pace, halvings <= pace.spared)
        if halvings:
            world.check_step_size(after, h)
        return after
    except StepFailed as failure:
        if halvings == 0:
            try:
                return world.rescue(state, h, failure)
            except StepFailed as last:
                raise world.explain(last, state, frame) from failure
        if halved is not None:
            halved.append((h, failure))
    for begins in (state.time, state.time + h / 2):
        state = advance(world, replace(state, time=begins), h / 2, frame, stop, halvings - 1, halved, largest, pace)
    return state


def stepped(world: World, state: State, h: float, largest: float, pace: Pace | None = None,
            is_shortest: bool = False) -> State:
    """The state after h seconds. Raises StepFailed, also where edges change by more than `largest`, if not 0.

    pace: what the last step changed; a step of which it foresees far too much is not tried. is_shortest: whether it is
    taken whatever it changes.
    """
    if largest and pace is not None and not is_shortest and (change := pace.expected(h)) > FORESEEN * largest:
        raise StepFailed(f"an edge would have changed by about {change:.0%} of its length")
    # what overflows is seen by what looks at the step: numpy's own warnings would only stand in a farm's log
    with np.errstate(over="ignore", invalid="ignore"):
        after = world.step(state, h)
    if largest:
        change = world.deformation(state, after)
        if pace is not None:
            pace.note(h, change)
            if is_shortest:
                pace.note_shortest(change <= largest)
        if change > largest and not is_shortest:
            raise StepFailed(f"an edge changed by {change:.0%} of its length")
    return after


def bake(path: Path | str, report: Reporter, *, frames: tuple[int, int] | None = None, resume: bool = False,
         threads: int | None = None, left_free: int = 0, stop: Stop = lambda: False) -> None:
    """Bake a job folder into its cache.

    frames: (first, last) that must be on disk at the end, default all; every frame simulated on the way is kept too.
    resume: where an earlier bake stopped. threads: of the kernels, None for one per core but left_free.
    Raises a ConJacError. Where every frame asked for is there, nothing heavy is imported.
    """
    job = load(path)
    wanted = wanted_frames(job, frames)
    read = hashes.settings(job)
    if _finished(plan(Cache(job.cache), read, wanted, resume), report):
        return

    with lock.held(job.cache) as holding:
        # asked again: another process may have written until a moment ago
        todo = plan(Cache(job.cache), read, wanted, resume)
        if _finished(todo, report):
            return
        if resume and todo.snapshot is None:
            report.log("There is no snapshot to go on from, so the bake begins at the first frame")
        world, reshape = _build(job, report, threads, left_free)
        from .threads import told

        for note in (*told(), *world.notes):
            report.log(note)

        store = FrameStore(job.cache, holding.check)
        if todo.stale:
            report.log(f"The old cache is replaced; these changed: {', '.join(todo.stale)}")
            store.cache.free()
        _say_other_machine(store.cache, world, report)
        first = job.scene.time.start if todo.snapshot is None else todo.snapshot
        origins = Origins(job)
        store.begin(job, read, world.bodies, backend=world.backend, notes=world.notes, first=first,
                    mechanisms=world.mechanisms, origins=origins.of, sheets=world.sheet_names,
                    wobbles=world.fundamental_hertz)

        timeline = Timeline.of(job.scene.time, wanted[-1])
        report.start(first, timeline.end, step_size(timeline.fps, timeline.step)[0])
        simulate(world, timeline, store, snapshot=todo.snapshot, stop=stop, report=report.frame,
                 log=report.log, reshape=reshape, origins=origins)
        for sentence in Cache(job.cache).needles():
            report.log(sentence)

        done = set(Cache(job.cache).frames_done())
        missing = next((frame for frame in wanted if frame not in done), None)
        if missing is not None:
            raise CacheUnwritable(f"frame {missing} was written to {job.cache} and is gone",
                                  "Look at what else writes there and resume")


def wanted_frames(job: Job, frames: tuple[int, int] | None) -> range:
    """The frames asked for. Raises BadInput where the scene does not have them."""
    if frames is None:
        return job.frames
    first, last = frames
    if last < first or first < job.frames[0] or last > job.frames[-1]:
        raise BadInput(f"frames {first} to {last} were asked for and the scene has {job.frames[0]} to {job.frames[-1]}",
                       "Ask for frames that it has", where="$.time")
    return range(first, last + 1)


def _finished(todo: Plan, report: Reporter) -> bool:
    if todo.finished:
        report.log("Every frame asked for is already baked")
    return todo.finished


def _build(job: Job, report: Reporter, threads: int | None, free: int) -> tuple[World, Reshape | None]:
    """The world of a job, and what cuts it. Imported only here: a finished bake is told without it."""
    from . import threads as cores
    from .build.loading import Loading

    # a first bake compiles for ten seconds and meshes for about as long: both at once, in processes of their own
    loading = Loading(job.scene, cores.configure(threads, free))
    from .build.volumes import volumes_of

    volumes = volumes_of(job, report.stage)
    for note in loading.finish(report.stage):
        report.log(note)
    from .build.world import build

    world, prepared, soft = build(job, report.stage, volumes)
    reshape: Reshape | None = None
    if any(body.is_reshaped for body in job.scene.bodies):
        from .reshape.reshape import Reshape as Cuts

        reshape = Cuts(job, prepared, soft)
    return world, reshape


def _say_other_machine(cache: Cache, world: World, report: Reporter) -> None:
    """Say when a resumed cache was begun elsewhere: last bits may differ."""
    runs = cache.manifest["runs"] if cache.manifest else []
    others = {run["backend"] for run in runs} - {world.backend}
    others |= {run["cpu"] for run in runs if run.get("cpu")} - {processor()}
    if others:
        report.log(f"Frames already there were baked with {'; '.join(sorted(others))}; last digits may differ from now")
