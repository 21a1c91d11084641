"""Steps of groups that cannot meet: each by itself, as long as it likes; those that come near are merged first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import gcd

from .job.schema import step_size
from .reshape.regroup import BodyGroup, Boxes, Regroup
from .state import State
from .stepping import Halved, Pace, Stop, Timeline, advance
from .world.world import World


class GroupSteps:
    """Steps the groups of a world one after the other, through spans of time that hold whole steps of each.

    After a span the boxes that bodies swept are looked at. Groups of which some came near each other are one group from
    the span's start, and go through it again.
    """

    def __init__(self, regroup: Regroup) -> None:
        self._regroup = regroup
        self._of: World | None = None
        self._groups: list[BodyGroup] = []
        self._paces: list[Pace] = []

    def begin(self, state: State) -> State:
        """Return the first state, with its groups."""
        return self._regroup.remembered(state)

    def again(self, world: World, state: State) -> World:
        """Return the world of the groups that a state has. Raises BadInput where it has none."""
        return self._regroup.again(world, state)

    def forget_past(self) -> None:
        """Discard how fast bodies deformed."""
        self._paces = [Pace() for _ in self._groups]

    def advance_frame(self, world: World, state: State, timeline: Timeline, frame: int, stop: Stop,
                      halved: Halved) -> tuple[World, State]:
        """Return the world and the state at `frame`, from those at the frame before it. Adds to `halved`. Raises
        Diverged, Stopped."""
        self._look_at(world)
        counts = [step_size(timeline.fps, group.step)[0] for group in self._groups]
        spans = gcd(*counts)
        before, span = timeline.time_of(frame - 1), 1.0 / timeline.fps / spans
        for number in range(spans):
            state = replace(state, time=before + number * span)
            world, state = self._advance(world, state, span, timeline, frame, stop, halved)
        return world, replace(state, time=timeline.time_of(frame))

    def _look_at(self, world: World) -> None:
        if self._of is world:
            return
        paces = {group.tokens: pace for group, pace in zip(self._groups, self._paces)}
        self._of, self._groups = world, self._regroup.groups(world)
        self._paces = [paces.get(group.tokens, Pace()) for group in self._groups]

    def _advance(self, world: World, state: State, span: float, timeline: Timeline, frame: int, stop: Stop,
                 halved: Halved) -> tuple[World, State]:
        """The world and the state after a span of time."""
        done: dict[tuple[int, ...], tuple[State, Boxes | None]] = {}
        while True:
            starts = world.states_of([group.numbers for group in self._groups], state)
            for group, pace, start in zip(self._groups, self._paces, starts):
                if group.tokens not in done:
                    done[group.tokens] = self._through(group, pace, start, span, timeline, frame, stop, halved)
            near = self._meeting([done[group.tokens] for group in self._groups])
            if not near:
                ends = [done[group.tokens][0] for group in self._groups]
                return world, world.state_of([group.numbers for group in self._groups], ends, state)
            for numbers in near:
                world, state = self._regroup.joined(world, state, [self._groups[k] for k in numbers])
            self._look_at(world)

    def _meeting(self, done: Sequence[tuple[State, Boxes | None]]) -> list[list[int]]:
        touching = [k for k, group in enumerate(self._groups) if group.tokens]
        if len(touching) < 2:
            return []
        boxes = [boxes for _, boxes in (done[k] for k in touching) if boxes is not None]
        found = self._regroup.meeting(boxes, [self._groups[k] for k in touching])
        return [[touching[k] for k in numbers] for numbers in found]

    def _through(self, group: BodyGroup, pace: Pace, state: State, span: float, timeline: Timeline, frame: int,
                 stop: Stop, halved: Halved) -> tuple[State, Boxes | None]:
        """A group's state after a span of time, and the boxes of what its bodies swept in it."""
        count = max(1, round(span * timeline.fps * step_size(timeline.fps, group.step)[0]))
        alone = len(self._groups) == 1 or not group.tokens
        boxes = None if alone else self._regroup.boxes(group, state)
        before, h = state.time, span / count
        for k in range(count):
            pace.ends = None if alone else []
            state = advance(group.world, replace(state, time=before + k * h), h, frame, stop, halved=halved,
                            largest=group.largest_deformation, pace=pace)
            for end in pace.ends or ():
                assert boxes is not None
                boxes = boxes.swept(self._regroup.boxes(group, end))
        pace.ends = None
        return state, boxes
