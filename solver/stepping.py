"""Steps that end on frames: a step is halved where it cannot be solved, or deforms bodies too much."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from .errors import StepFailed, Stopped
from .job.schema import Time, step_size
from .state import State

if TYPE_CHECKING:  # a finished bake reports without them
    from .integrators.control import Controller
    from .world.world import World

HALVINGS = 4  #: a step is tried at h, h/2, ... h/16
PREDICTED = 1.1  #: of the largest deformation: a step of which more is predicted is not tried
PREDICTED_IMPACT = 2.0  #: times too large: a step of which more is predicted is not tried
LANDS = "it hits the ground or a collider within it"
NEAR = 1.0e-6  #: of a step: a time so near to a step's end is that end, as Blender's subframes have single precision
SPARED_IN_CONTACT = 3  #: halvings not made where surfaces are in contact and deformation alone requires them
IN_VAIN = 8  #: shortest steps that still deform bodies too much, after which twice as long ones are taken as well

Stop = Callable[[], bool]


@dataclass(frozen=True)
class Timeline:
    """Times of the frames and steps of a scene. Frame k is the state at (k - start)/fps."""

    start: int
    end: int
    fps: float
    step: float  #: largest step [s]
    snapshot_every: int  #: frames
    tolerance: float = 0.0  #: largest error of a step, as a fraction of the body's size; 0: steps as long as possible
    largest_deformation: float = 0.0  #: largest in a step, as a fraction of an edge's length; 0: any

    @classmethod
    def of(cls, time: Time, last: int | None = None) -> Timeline:
        """Return the timeline of a scene, up to the frame `last`, or to the scene's end for None."""
        return cls(time.start, time.end if last is None else last, time.fps, time.step, time.snapshot_every,
                   time.tolerance, time.largest_deformation)

    def time_of(self, frame: int) -> float:
        """Return the time of a frame after the start frame [s]."""
        return (frame - self.start) / self.fps

    def snapshot_due(self, frame: int) -> bool:
        """Return whether a snapshot, from which a bake can be resumed, is stored with a frame."""
        return frame > self.start and (frame - self.start) % self.snapshot_every == 0


class Halved(list[tuple[float, StepFailed]]):
    """Steps of one frame that were halved: the length of each [s], and the reason."""

    @property
    def shortest(self) -> float:
        """Return the length of the shortest step that was taken instead [s]."""
        return min(h for h, _ in self) / 2

    def describe(self, frame: int) -> str:
        """Return one sentence for the log about all halved steps of a frame."""
        longest, why = self[0]
        of_object = f' of "{why.object}"' if why.object else ""
        return (f"Frame {frame}: a step{of_object} of {longest:.6g} s was too long, {why}; "
                f"smaller ones were taken, down to {self.shortest:.6g} s")


class Pace:
    """Deformation rates of the last steps: a step that would deform bodies too much is rejected before it is solved.

    Half a step deforms an impact's worst edge by .7 of what a whole one does, measured on balls that hit each other. A
    small body vibrates faster than any step here can follow: its shortest steps still deform it too much, and are worth
    their cost only in the impact. Where surfaces are in contact one halving preserves heights and energies as all
    halvings do, and no halving does not (`benchmarks/shaken.py glass`).
    """

    def __init__(self) -> None:
        self._last, self._change, self._in_vain = 1.0, 0.0, 0
        self._impact = 1.0, 0.0  #: the last step [s], and how many times too large the change of velocities was
        self._ends: list[State] | None = None  #: states after the steps that were taken, where they are recorded
        self.in_contact = False  #: whether surfaces were in contact in the last step that changed an edge too much
        self.stopped: str | None = None  #: name of the body that the last step stopped most
        self.most_deformed: str | None = None  #: name of the body, in the last step that changed an edge too much

    @property
    def spared(self) -> int:
        """Return the number of halvings that are not worth their cost, among those that deformation requires."""
        least = SPARED_IN_CONTACT if self.in_contact else 0
        return min(max(least, self._in_vain // IN_VAIN), HALVINGS)

    def note_shortest(self, helps: bool) -> None:
        """Record that one of the shortest steps was taken; helps: whether it deformed bodies by no more than it may."""
        self._in_vain = 0 if helps else self._in_vain + 1

    def note(self, h: float, change: float) -> None:
        """Record that a step of h seconds, taken or not, changed an edge by a fraction `change` of its length."""
        self._last, self._change = h, change

    def note_most_deformed(self, name: str | None, in_contact: bool) -> None:
        """Record the body whose edge a step, taken or not, changed too much, and whether surfaces were in contact."""
        self.most_deformed, self.in_contact = name, in_contact

    def note_impact(self, h: float, jump: float, name: str | None) -> None:
        """Record that a step of h seconds, taken or not, changed velocities by an impact by `jump` times the accepted
        change. name: of the body that it stopped most."""
        self.stopped = name
        if math.isfinite(jump):
            self._impact = h, jump

    def predict_impact(self, h: float) -> float:
        """Return the expected change of velocities by an impact in a step of h seconds, in units of the accepted
        change."""
        last, jump = self._impact
        return jump * (h / last) ** 2

    @contextmanager
    def record_ends(self) -> Iterator[list[State]]:
        """Return a context with a list, to which the states after the steps are added that are taken in it."""
        self._ends = ends = list[State]()
        try:
            yield ends
        finally:
            self._ends = None

    def arrive(self, after: State) -> None:
        """Record the state at the end of a step that was taken."""
        if self._ends is not None:
            self._ends.append(after)

    def predict_change(self, h: float) -> float:
        """Return the expected change of an edge, as a fraction of its length, in a step of h seconds."""
        return self._change * math.sqrt(h / self._last)


def advance_frame(world: World, state: State, timeline: Timeline, frame: int, stop: Stop = lambda: False,
                  halved: Halved | None = None, pace: Pace | None = None,
                  part: tuple[float, float] = (0.0, 1.0)) -> State:
    """Return the state at `frame`, given the state at the frame before it. Raises Diverged, Stopped.

    Steps that were halved are added to `halved`. part: fractions of the time between both frames where the simulation
    begins and ends; a step across one of them is cut there, and the returned state is at the end.
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
    """Return starts and ends of steps in a part of a frame of `count` steps, in steps from the frame's start."""
    first, last = (round(end * count) if abs(end * count - round(end * count)) < NEAR else end * count
                   for end in part)
    return [first, *(float(i) for i in range(count + 1) if first < i < last), *([last] if last > first else [])]


def _time_within(timeline: Timeline, frame: int, fraction: float) -> float:
    """Return the time after the start frame [s] of a moment. fraction: of the time from the frame before to this one.
    """
    return timeline.time_of(frame) if fraction == 1.0 else timeline.time_of(frame - 1) + fraction / timeline.fps


def _advance_frame_within(world: World, state: State, timeline: Timeline, frame: int, stop: Stop,
                          halved: Halved | None, controller: Controller, part: tuple[float, float]) -> State:
    """Return the state at a frame by steps with an error within the tolerance. Raises Diverged, Stopped."""
    before, unit = timeline.time_of(frame - 1), 1.0 / timeline.fps / controller.units
    done, end = (round(fraction * controller.units) for fraction in part)
    while done < end:
        state = replace(state, time=before + done * unit)
        proposed, tries = controller.propose_length(state.memory), 0
        while True:
            if stop():
                raise Stopped(f"stopped before frame {frame} was done", "Resume to continue")
            units = controller.fit(proposed, done, end)
            try:
                after = take_step(world, state, units * unit, timeline.largest_deformation if units > 1 else 0.0)
                error = world.error(state, after, units * unit)
            except StepFailed as failure:
                if units == 1 or failure.is_final:
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
    """Return the state after a step of h seconds, halved where it cannot be solved. Raises Diverged with the world's
    advice where that does not help, Stopped.

    A step that deforms a body by more than `largest`, lands it or turns rigid bodies too far is halved, too, and the
    shortest steps are accepted as they are; where these deform it too much again and again, longer ones as well. For a
    shortest step that cannot be solved the world may have another method (`rescue`).
    """
    if stop():
        raise Stopped(f"stopped before frame {frame} was done", "Resume to continue")
    pace = Pace() if pace is None else pace
    try:
        after = take_step(world, state, h, largest, pace, halvings <= pace.spared)
        if halvings:
            world.check_step_size(after, h)
        pace.arrive(after)
        return after
    except StepFailed as failure:
        if failure.is_final:
            raise world.explain(failure, state, frame) from failure
        if halvings == 0:
            try:
                after = world.rescue(state, h, failure)
                pace.arrive(after)
                return after
            except StepFailed as last:
                raise world.explain(last, state, frame) from failure
        if halved is not None:
            halved.append((h, failure))
    for begins in (state.time, state.time + h / 2):
        state = advance(world, replace(state, time=begins), h / 2, frame, stop, halvings - 1, halved, largest, pace)
    return state


def take_step(world: World, state: State, h: float, largest: float, pace: Pace | None = None,
              is_shortest: bool = False) -> State:
    """Return the state after a step of h seconds. Raises StepFailed, also where edges change by more than `largest`, if
    not 0, or where a body lands that requires shorter steps.

    pace: changes in the last step; a step that is expected to change far too much is not solved. is_shortest: whether
    the step is accepted whatever it changes.
    """
    if largest and pace is not None and not is_shortest and (change := pace.predict_change(h)) > PREDICTED * largest:
        raise StepFailed(f"an edge would have changed by about {change:.0%} of its length", pace.most_deformed)
    if largest and pace is not None and not is_shortest and pace.predict_impact(h) > PREDICTED_IMPACT:
        raise StepFailed(LANDS, pace.stopped)
    # overflow is detected by the checks of the step: numpy's own warnings would only fill a farm's log
    with np.errstate(over="ignore", invalid="ignore"):
        after = world.step(state, h)
    if largest:
        change = world.deformation(state, after)
        if pace is not None:
            pace.note(h, change)
            if is_shortest:
                pace.note_shortest(change <= largest)
        if change > largest:
            _, name = world.most_deformed(state, after)
            if pace is not None:
                pace.note_most_deformed(name, world.in_contact(after))
            if not is_shortest:
                raise StepFailed(f"an edge changed by {change:.0%} of its length", name)
        jump, name = world.impact_change(state, after)
        if pace is not None:
            pace.note_impact(h, jump, name)
        if jump > 1.0 and not is_shortest:
            raise StepFailed(LANDS, name)
    return after
