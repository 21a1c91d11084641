"""Steps of groups of bodies that cannot meet, each group with its own step length; groups that approach each other are
merged first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from itertools import pairwise
from math import gcd

import numpy as np

from .frames.group_record import GroupRecord
from .job.schema import step_size
from .reshape.boxes import Boxes
from .reshape.regroup import BodyGroup, Regroup
from .state import State
from .stepping import Halved, Pace, Stop, Timeline, advance
from .world.world import World


class GroupSteps:
    """Time stepping of the groups of a world in turn, through spans of time that contain whole steps of each group.

    After a span the boxes that the bodies swept are compared. Groups whose boxes came near each other are merged from
    the start of the span, which is then repeated.
    """

    def __init__(self, regroup: Regroup, beside: Callable[[int], Sequence[int]] = lambda _: ()) -> None:
        """regroup: groups of the bodies of a job. beside: returns, for a frame, the numbers of steps of groups that are
        not stepped here and that these are compared with."""
        self._regroup, self._beside = regroup, beside
        self._spans = 0  #: of the last frame
        self._of: World | None = None
        self._groups: list[BodyGroup] = []
        self._paces: list[Pace] = []
        self._swept: Boxes | None = None  #: boxes that bodies swept since the frame before
        self._nameless: dict[int, int] = {}  #: steps of that frame halved because of no soft body, by token

    def begin(self, state: State) -> State:
        """Return the first state with a record of its groups."""
        return self._regroup.record_groups(state)

    def again(self, world: World, state: State) -> World:
        """Return the world of the groups that a state records. Raises BadInput where it records none."""
        return self._regroup.again(world, state)

    def record(self, world: World, timeline: Timeline) -> GroupRecord | None:
        """Return the record of the groups at the end of a frame, with the boxes that they swept since the frame before;
        None where something moves that belongs to no group."""
        self._look_at(world)
        if any(not group.tokens for group in self._groups):
            return None
        boxes = self._regroup.at_start if self._swept is None else self._swept
        labels, reach = np.array(self._regroup.labels, dtype=np.int32), self._regroup.reach
        steps, nameless = np.zeros_like(labels), np.zeros_like(labels)
        for group in self._groups:
            steps[[*group.tokens]] = step_size(timeline.fps, group.step)[0]
        for token, count in self._nameless.items():
            nameless[labels[token]] += count
        return GroupRecord(labels, self._spans or self._count_shared_spans(timeline, timeline.start), steps, boxes,
                           reach.size, reach.thickness, nameless,
                           np.array([part.unknowns for part in world.parts], dtype=np.int32))

    def forget_past(self) -> None:
        """Discard the deformation rates of earlier steps."""
        self._paces = [Pace() for _ in self._groups]

    def advance_frame(self, world: World, state: State, timeline: Timeline, frame: int, stop: Stop,
                      halved: Halved) -> tuple[World, State]:
        """Return the world and the state at `frame`, given those at the frame before it.

        Steps that were halved are added to `halved`. Raises Diverged, Stopped.
        """
        self._look_at(world)
        self._swept, self._nameless, self._spans = None, {}, self._count_shared_spans(timeline, frame)
        for number in range(self._spans):
            state = replace(state, time=timeline.time_of(frame - 1) + number / timeline.fps / self._spans)
            world, state = self._advance(world, state, number, timeline, frame, stop, halved)
        return world, replace(state, time=timeline.time_of(frame))

    def _count_shared_spans(self, timeline: Timeline, frame: int) -> int:
        """Return the number of spans of a frame in each of which every group takes whole steps."""
        return gcd(*(step_size(timeline.fps, group.step)[0] for group in self._groups), *self._beside(frame))

    def _look_at(self, world: World) -> None:
        if self._of is world:
            return
        paces = {group.tokens: pace for group, pace in zip(self._groups, self._paces)}
        self._of, self._groups = world, self._regroup.groups(world)
        self._paces = [paces.get(group.tokens, Pace()) for group in self._groups]

    def _advance(self, world: World, state: State, number: int, timeline: Timeline, frame: int, stop: Stop,
                 halved: Halved) -> tuple[World, State]:
        """Return the world and the state after the frame's `number`-th span."""
        done: dict[tuple[int, ...], tuple[State, Boxes | None]] = {}
        while True:
            starts = world.states_of([group.numbers for group in self._groups], state)
            for group, pace, start in zip(self._groups, self._paces, starts):
                if group.tokens not in done:
                    already = len(halved)
                    done[group.tokens] = self._through(group, pace, start, number, timeline, frame, stop, halved)
                    self._note_nameless(group, [why.object for _, why in halved[already:]])
            near = self._touching_groups([done[group.tokens] for group in self._groups])
            if not near:
                ends = [done[group.tokens] for group in self._groups]
                self._note_swept([boxes for _, boxes in ends if boxes is not None])
                return world, world.state_of([group.numbers for group in self._groups], [end for end, _ in ends], state)
            for numbers in near:
                world, state = self._regroup.merge_groups(world, state, [self._groups[k] for k in numbers])
            self._look_at(world)

    def _note_nameless(self, group: BodyGroup, causes: Sequence[str | None]) -> None:
        """Count steps of a group that were halved for another reason than one of its soft bodies."""
        names = {name for name, _, _ in group.world.bodies}
        if group.tokens:
            others = sum(cause not in names for cause in causes)
            self._nameless[group.tokens[0]] = self._nameless.get(group.tokens[0], 0) + others

    def _note_swept(self, boxes: Sequence[Boxes]) -> None:
        if boxes:
            swept = reduce(Boxes.and_those, boxes)
            self._swept = swept if self._swept is None else self._swept.around(swept)

    def _touching_groups(self, done: Sequence[tuple[State, Boxes | None]]) -> list[list[int]]:
        touching = [k for k, group in enumerate(self._groups) if group.tokens]
        if len(touching) < 2:
            return []
        boxes = [boxes for _, boxes in (done[k] for k in touching) if boxes is not None]
        touching_groups = self._regroup.find_near_groups(boxes, [self._groups[k] for k in touching])
        return [[touching[k] for k in numbers] for numbers in touching_groups]

    def _through(self, group: BodyGroup, pace: Pace, state: State, number: int, timeline: Timeline, frame: int,
                 stop: Stop, halved: Halved) -> tuple[State, Boxes | None]:
        """Return a group's state after the frame's `number`-th span, and the boxes that its bodies swept in it."""
        steps, h = step_size(timeline.fps, group.step)
        count = max(1, round(steps / self._spans))
        if count * self._spans != steps:
            h = 1.0 / timeline.fps / self._spans / count
        ends = [self._regroup.boxes(group, state)] if group.tokens else []
        swept = ends[:1]
        # times are counted from the frame before, so that other groups' steps do not change their last digits
        before = timeline.time_of(frame - 1)
        for k in range(number * count, (number + 1) * count):
            with pace.record_ends() as taken:
                state = advance(group.world, replace(state, time=before + k * h), h, frame, stop, halved=halved,
                                largest=group.largest_deformation, pace=pace)
            if ends:
                ends = [ends[-1], *(self._regroup.boxes(group, end) for end in taken)]
                # step by step, so that a frame's boxes are the same however many spans it has
                swept = [reduce(Boxes.around, [*swept, *(start.sweep_to(next) for start, next in pairwise(ends))])]
        return state, swept[0] if swept else None
