"""Earlier bake of a job, and the bodies whose frames the job can reuse."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from ..errors import ConJacError
from ..frames.group_record import GroupRecord
from ..frames.layout import CUTS, GROUPED, HALVED, LIVELINESS, SNAPSHOT, STRESS, TOUCHED, file_of
from ..frames.read import Cache, vertices_of_bodies
from ..frames.swept import Swept, corners_of, obstacle_boxes, obstacles_in
from ..frames.write import FrameStore
from ..job import hashes
from ..job.arrays import Unreadable, read_npy, read_npz
from ..job.folder import Job
from ..reshape.boxes import Boxes
from ..reshape.made import Made, read_record
from ..reshape.reach import list_groupable_bodies, ties, touches_nothing
from ..reshape.regroup import Regroup
from ..state import Index, State, Vec
from .obstacle_rows import ObstacleRows
from .subsets import FrameOutput, Numbering, boxes_among_all
from .unchanged import Unchanged, compare


class CannotReuse(Exception):
    """Frames of an earlier bake cannot be reused, for all bodies or for those of some tokens.

    tokens: tokens whose bodies came near bodies that are solved; empty where no body can be reused. frame: first frame
    that cannot be reused; None for the start.
    """

    def __init__(self, why: str, tokens: frozenset[int] = frozenset(), frame: int | None = None) -> None:
        """why: part of a sentence for the log. tokens, frame: see the class."""
        super().__init__(why)
        self.tokens, self.frame = tokens, frame


class EarlierBake:
    """Earlier bake, restricted to groups of bodies that are unchanged in a job.

    A token is the number of a soft body of the job; the last token is all mechanisms.
    """

    def __init__(self, cache: Cache, job: Job, unchanged: Unchanged, tokens: dict[int, int]) -> None:
        """tokens: token in the job by the token in the earlier bake, for reused bodies."""
        assert cache.manifest is not None
        self.cache, self._job, self._unchanged = cache, job, unchanged
        rows = [(first, count) for _, first, count in cache.bodies()]
        self.numbering = Numbering(tokens, rows, bool(cache.mechanisms()))
        self._records: dict[int, GroupRecord] = {}
        self._margin = self._margins()

    @property
    def tokens(self) -> frozenset[int]:
        """Return the tokens in the job of all reused bodies and mechanisms."""
        return frozenset(self.numbering.tokens.values())

    def without(self, tokens: frozenset[int], frame: int | None = None) -> EarlierBake | None:
        """Return this bake without the groups that contain some tokens at a frame; None where no group is left.

        frame: None for the first frame of the scene. Raises CannotReuse where the record of groups cannot be read.
        """
        groups = [group for group in self._groups(self.record(self._job.scene.time.start if frame is None else frame))
                  if not tokens & {self.numbering.tokens[token] for token in group}]
        left = {token: self.numbering.tokens[token] for group in groups for token in group}
        return EarlierBake(self.cache, self._job, self._unchanged, left) if left else None

    def record(self, frame: int) -> GroupRecord:
        """Return the record of groups of a frame, in the numbering of the earlier bake.

        Raises CannotReuse where its file is missing or damaged.
        """
        if frame not in self._records:
            record = record_of(self.cache, frame)
            self._records = {frame: record, **{k: stored for k, stored in self._records.items() if k == frame - 1}}
        return self._records[frame]

    def steps(self, frame: int) -> list[int]:
        """Return the number of time steps of each reused group in a frame. Raises CannotReuse."""
        record = self.record(max(self._job.scene.time.start, frame - 1))
        return [int(record.steps[group[0]]) for group in self._groups(record)]

    def check_groups(self, frame: int, spans: int) -> None:
        """Check that the reused groups of a frame would be the groups of the job.

        spans: number of parts of the frame after each of which the job compares groups. Raises CannotReuse where
        reused and solved bodies came near each other, or the time steps of the scene or contact have changed.
        """
        record, own = self.record(frame), self.numbering.tokens
        before = self.record(max(self._job.scene.time.start, frame - 1))
        for group in record.groups():
            is_reused = [token in own for token in group]
            if any(is_reused) and not all(is_reused):
                separate = frozenset(own[token] for token in group if token in own)
                raise CannotReuse(f"at frame {frame} bodies of it came near what has changed", separate, frame)
            together = len(group) > 1 or group[0] >= len(self.numbering.rows)
            if all(is_reused) and together and not (self._unchanged.scene_steps and self._unchanged.contact):
                self._refuse(frame, "moved by steps of the scene, which have changed")
        if spans != record.spans and not np.array_equal(record.labels, before.labels):
            self._refuse(frame, "met between other steps")

    def check_separate(self, record: GroupRecord, frame: int) -> None:
        """Check that no group of the job contains both reused and solved bodies.

        record: groups of all bodies of the job at a frame. Raises CannotReuse where a group does.
        """
        for group in record.groups():
            taken = self.tokens & {*group}
            if taken and taken != {*group}:
                raise CannotReuse(f"at frame {frame} something had come near {', '.join(self.names(taken))}", taken,
                                  frame)

    def boxes(self, frame: int) -> Boxes:
        """Return the boxes of the reused bodies in a frame, with the tokens of the job and enlarged by its margins.

        Raises CannotReuse where the record of groups cannot be read.
        """
        boxes = boxes_among_all(self.record(frame).boxes, self.numbering)
        margin = self._margin[boxes.token][:, None]
        return Boxes(boxes.token, boxes.low - margin, boxes.high + margin)

    def reach(self, frame: int) -> tuple[Index, Vec, Vec]:
        """Return the tokens of the reused bodies, (k,), their sizes [m], (k,), and contact thicknesses [m], (k,).

        Raises CannotReuse where the record of groups cannot be read.
        """
        record, own = self.record(frame), self.numbering.tokens
        tokens = np.array([*own.values()], dtype=np.int32)
        return tokens, record.size[[*own]], record.thickness[[*own]] + self._margin[tokens]

    def output(self, frame: int) -> FrameOutput:
        """Return all output of a frame of the earlier bake. Raises CannotReuse where a file is missing or damaged."""
        if not self.cache.is_whole(frame):
            raise CannotReuse(f"its frame {frame} is missing or damaged")
        record = self.record(frame)
        margin = np.zeros(len(record.labels))
        for own, token in self.numbering.tokens.items():
            margin[own] = self._margin[token]
        boxes = record.boxes
        wide = margin[boxes.token][:, None]
        record = replace(record, thickness=record.thickness + margin,
                         boxes=Boxes(boxes.token, boxes.low - wide, boxes.high + wide))
        slices = [*vertices_of_bodies(self.cache, frame).values()]
        return FrameOutput(record, self.cache.vertices(frame), slices, self._array(LIVELINESS, frame),
                           self._array(TOUCHED, frame), self._array(STRESS, frame), self._array(HALVED, frame),
                           self.cache.poses(frame) if self.cache.mechanisms() else None)

    def read_changes(self, frame: int) -> Made:
        """Return the cuts, nails and releases of pins after a frame. Raises CannotReuse where their file is damaged."""
        if frame not in self.cache.cut_frames():
            return Made()
        check_file(self.cache, CUTS, frame)
        try:
            changes, = read_record(read_npz(file_of(self.cache.folder, CUTS, frame), self.cache.folder))
        except (OSError, Unreadable, KeyError, TypeError, ValueError) as error:
            raise CannotReuse(f"its cuts at frame {frame} cannot be read") from error
        return changes

    def state(self, frame: int) -> State:
        """Return the state at a snapshot, with rows for the present obstacles. Raises CannotReuse where damaged."""
        check_file(self.cache, SNAPSHOT, frame)
        try:
            state = FrameStore(self.cache.folder).restore(frame)
        except ConJacError as error:
            raise CannotReuse(error.what) from error
        rows = self._obstacle_rows
        return state if rows.are_alike else rows.now(state, self._parts_with_obstacles(frame))

    def names(self, tokens: frozenset[int]) -> list[str]:
        """Return the names in the job of soft bodies and mechanisms, by their tokens."""
        named = [*(body.name for body in self._job.scene.bodies), "the mechanisms"]
        return [named[token] for token in sorted(tokens)]

    def names_now(self) -> dict[str, str]:
        """Return the names in the job of the reused soft bodies, by their names in the earlier bake."""
        names = [name for name, _, _ in self.cache.bodies()]
        return {names[own]: self._job.scene.bodies[token].name for own, token in self.numbering.tokens.items()
                if own < len(names)}

    @property
    def has_mechanisms(self) -> bool:
        """Return whether the frames of the mechanisms are reused."""
        return len(self._job.scene.bodies) in self.tokens

    def away_from_changed_obstacles(self) -> EarlierBake:
        """Return this bake without the groups of bodies that come near added, removed or changed obstacles.

        Raises CannotReuse, KeyError, TypeError or ValueError where a record or the manifest is damaged.
        """
        changed, record = self._unchanged.obstacles, self.record(self._job.scene.time.start)
        if not changed:
            return self
        records = [record, *(record_of(self.cache, frame) for frame in self.cache.frames_done()[1:])]
        swept, last = Swept.through([record.arrays() for record in records]), records[-1]
        near = {token for obstacles in self._obstacles for name, corners in corners_of(obstacles).items()
                if name in changed for token in swept.find_near_bodies(*corners)}
        if self.has_mechanisms and not self._obstacle_rows.are_alike:
            near.add(len(self.numbering.rows))  # rows of obstacles stand before those of rigid bodies
        discarded = {int(last.labels[token]) for token in near}
        return EarlierBake(self.cache, self._job, self._unchanged, {
            own: token for own, token in self.numbering.tokens.items() if int(last.labels[own]) not in discarded})

    @cached_property
    def _obstacles(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Return the boxes of the obstacles of the earlier bake and of the job; empty where none has changed."""
        assert self.cache.manifest is not None
        return (obstacles_in(self.cache.manifest), obstacle_boxes(self._job)) if self._unchanged.obstacles else ([], [])

    @cached_property
    def _obstacle_rows(self) -> ObstacleRows:
        """Return the map from rows of obstacles in the earlier bake to those of this one."""
        then, now = ({obstacle["name"]: int(obstacle["nodes"]) for obstacle in obstacles}
                     for obstacles in self._obstacles)
        return ObstacleRows(then, now, self._unchanged.obstacles)

    def _parts_with_obstacles(self, frame: int) -> list[int]:
        """Return the numbers of the parts whose bodies are all reused and can touch obstacles."""
        numbers, own, scene = [], self.numbering.tokens, self._job.scene
        soft = [group for group in self.record(frame).groups() if group[0] < len(self.numbering.rows)]
        for number, group in enumerate(soft):
            if all(token in own for token in group) and (
                    len(group) > 1 or not touches_nothing(scene, scene.bodies[own[group[0]]])):
                numbers.append(number)
        return numbers

    def _groups(self, record: GroupRecord) -> list[tuple[int, ...]]:
        """Return the groups of a record whose bodies are all reused."""
        return [group for group in record.groups() if all(token in self.numbering.tokens for token in group)]

    def _margins(self) -> Vec:
        """Return how much the contact surface of each token of the job exceeds that of the earlier bake [m], (t,).

        Nonzero only where the earlier bake had no contact between surfaces.
        """
        bodies = self._job.scene.bodies
        margins = np.zeros(len(bodies) + bool(self._job.scene.mechanisms))
        if self._unchanged.contact:
            return margins
        sizes = dict(zip(self.numbering.tokens.values(), self.record(self._job.scene.time.start).size[
            [*self.numbering.tokens]]))
        for token, size in sizes.items():
            body = bodies[token]
            margins[token] = (body.thickness or 0.0) + 2.0 * body.simplify * float(size)
        return margins

    def _array(self, kind: str, frame: int) -> Any:
        """Return the array in an optional file of a frame; None where the file does not exist."""
        if (kind, frame) not in self.cache.log:
            return None
        check_file(self.cache, kind, frame)
        try:
            return read_npy(file_of(self.cache.folder, kind, frame), self.cache.folder)
        except (OSError, ValueError) as error:
            raise CannotReuse(f"its {kind} of frame {frame} cannot be read") from error

    def _refuse(self, frame: int, why: str) -> NoReturn:
        """Raise CannotReuse for a frame. why: part of a sentence."""
        raise CannotReuse(f"at frame {frame} bodies of it {why}")


def check_file(cache: Cache, kind: str, frame: int) -> None:
    """Check that a cache has a complete file of a kind for a frame. Raises CannotReuse where the file is damaged."""
    if frame > (last := max(cache.frames_done(), default=frame)):
        raise CannotReuse(f"it ends at frame {last}")
    if not cache.good(kind, frame):
        raise CannotReuse(f"its {kind} of frame {frame} is missing or damaged")


def record_of(cache: Cache, frame: int) -> GroupRecord:
    """Return the record of groups of a frame of a cache, in the numbering of that cache.

    Raises CannotReuse where its file is missing or damaged.
    """
    check_file(cache, GROUPED, frame)
    try:
        return GroupRecord.of(read_npz(file_of(cache.folder, GROUPED, frame), cache.folder))
    except (OSError, Unreadable, KeyError, TypeError, ValueError) as error:
        raise CannotReuse(f"its groups at frame {frame} cannot be read") from error


def find(folder: Path, job: Job, read: hashes.Settings) -> EarlierBake | None:
    """Return the part of an earlier bake that a job can reuse; None where there is none or the bake is damaged.

    folder: a cache folder, or the job folder that contains it. read: settings of the job.
    """
    cache = Cache(folder / "cache" if (folder / "cache").is_dir() else folder)
    try:
        manifest = cache.manifest
        if manifest is None or not _are_grouped(job) or not hashes.means_the_same(manifest):
            return None
        unchanged = compare(hashes.as_read(hashes.read_recorded(manifest)), read, (
            cache.body_uuids(), {body.name: body.uuid for body in job.scene.bodies}))
        names = [name for name, _, _ in cache.bodies()]
        tokens = {names.index(was): k for k, body in enumerate(job.scene.bodies)
                  if (was := unchanged.bodies.get(body.name)) is not None}
        if unchanged.mechanisms and cache.mechanisms():
            tokens[len(names)] = len(job.scene.bodies)
        earlier = EarlierBake(cache, job, unchanged, tokens).away_from_changed_obstacles()
        return _in_whole_groups(earlier, job, unchanged)
    except (ConJacError, CannotReuse, KeyError, TypeError, ValueError, AttributeError):
        return None  # damaged, or of another version


def _are_grouped(job: Job) -> bool:
    """Return whether all bodies of a job can be solved in groups."""
    return Regroup.suits(job) and len(list_groupable_bodies(job.scene)) == len(job.scene.bodies)


def _in_whole_groups(earlier: EarlierBake, job: Job, unchanged: Unchanged) -> EarlierBake | None:
    """Return an earlier bake without changed groups and those that the job couples to others; None if none is left."""
    record, own = earlier.record(job.scene.time.start), earlier.numbering.tokens
    discarded = set[int]()
    for group in record.groups():
        together = len(group) > 1 or group[0] >= len(earlier.numbering.rows)
        if not all(token in own for token in group) or (
                together and not (unchanged.scene_steps and unchanged.contact)):
            discarded |= {own[token] for token in group if token in own}
    left: EarlierBake | None = EarlierBake(earlier.cache, job, unchanged, {
        token: of_job for token, of_job in own.items() if of_job not in discarded})
    while left is not None and left.tokens:
        joined = frozenset(token for pair in ties(job.scene) for token in pair
                           if len(left.tokens & {*pair}) == 1) & left.tokens
        solved = {*range(len(job.scene.bodies) + bool(job.scene.mechanisms))} - left.tokens
        only_mechanisms = solved and min(solved) >= len(job.scene.bodies)
        if only_mechanisms:
            return None  # mechanisms without a soft body are not solved in groups
        if not joined:
            return left
        left = left.without(joined)
    return None
