"""Writer of a cache in which some bodies are solved and the frames of the others come from an earlier bake."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import gcd
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..frames.group_record import GroupRecord
from ..frames.needles import LONGEST
from ..frames.write import FrameStore
from ..job.folder import Job
from ..job.stages import Arrays
from ..reshape.made import Made, read_record, record_changes
from ..reshape.reach import MARGIN, Reach, that_touch
from ..state import State, Vec
from .earlier import CannotReuse, EarlierBake, record_of
from .subsets import AllBodies, Floats, FrameOutput, Numbering, boxes_among_all

if TYPE_CHECKING:
    from ..embedding.sheets import SheetRecord


class SharedStore(FrameStore):
    """Frame store that merges the solved bodies of a job with those of an earlier bake.

    Where a solved body comes near a reused body, CannotReuse is raised before a file of that frame is written.
    """

    def __init__(self, folder: Path, check_lock: Callable[[], None], job: Job, earlier: EarlierBake,
                 solved: Numbering | None) -> None:
        """solved: numbering of the solved bodies among all of the job; None where nothing is solved."""
        super().__init__(folder, check_lock)
        self._job, self._earlier, self._solved = job, earlier, solved
        self._whole = AllBodies(len(job.scene.bodies), bool(job.scene.mechanisms),
                            [earlier.numbering, *([] if solved is None else [solved])])
        self._can_touch = that_touch(job.scene)
        self._shows_stress = any(body.stress_output for body in job.scene.bodies)
        self._written: tuple[list[FrameOutput], GroupRecord] | None = None
        self._counts = [] if solved is None else [count for _, count in solved.rows]  #: vertices of each solved body
        self._forget()

    @property
    def has_frames(self) -> bool:
        """Return whether a frame has been written."""
        return self._written is not None

    def _forget(self) -> None:
        """Discard the stored data of a frame."""
        self._record: GroupRecord | None = None
        self._liveliness: NDArray[Any] | None = None
        self._contacts: NDArray[Any] | None = None
        self._stress: NDArray[Any] | None = None
        self._halved: NDArray[np.int32] | None = None
        self._poses: Mapping[str, Vec] | None = None
        self._made = Made()

    def write_cuts(self, frame: int, made: Arrays) -> None:
        """Store the cuts, nails and releases of the solved bodies after a frame, until `write`."""
        self._made, = read_record(made)
        self._count_new(self._made)

    def read_cuts_before(self, frame: int) -> list[Arrays]:
        """Return the records of cuts before a frame that concern solved bodies, in their numbering.

        Raises CacheUnwritable where a record cannot be read.
        """
        own = [self._whole.select_changes(1, changes) for record in super().read_cuts_before(frame)
               for changes in read_record(record)]
        for changes in own:
            self._count_new(changes)
        return [record_changes([changes]) for changes in own if changes.count]

    def _count_new(self, made: Made) -> None:
        """Add the vertices that cuts create to the vertex counts of the solved bodies."""
        for body, separation in made.separations:
            self._counts[body] += len(separation.parents)

    def write_groups(self, frame: int, record: GroupRecord) -> None:
        """Store the record of the solved groups until `write`. Raises CannotReuse where one is near a reused group."""
        assert self._solved is not None
        self._record = record
        start = self._job.scene.time.start
        tokens, size, thickness = self._earlier.reach(frame)
        reach = Reach(np.zeros(len(self._can_touch)), np.zeros(len(self._can_touch)), self._can_touch)
        reach.size[tokens], reach.thickness[tokens] = size, thickness
        own = np.array([self._solved.tokens[k] for k in range(len(record.labels))])
        reach.size[own], reach.thickness[own] = record.size, record.thickness
        boxes = self._earlier.boxes(frame).and_those(boxes_among_all(record.boxes, self._solved))
        near = frozenset(token for pair in reach.find_near_pairs(boxes, MARGIN if frame == start else 0.0)
                         if len(self._earlier.tokens & {*pair}) == 1 for token in pair) & self._earlier.tokens
        if near:
            raise CannotReuse(f"at frame {frame} something comes near {', '.join(self._earlier.names(near))}", near,
                              None if frame == start else frame)

    def write_liveliness(self, frame: int, activity: NDArray[Any]) -> None:
        """Store the liveliness of dynamic nodes, (3, m), until `write`."""
        self._liveliness = activity

    def write_contact_forces(self, frame: int, rows: NDArray[Any]) -> None:
        """Store the contact forces, (k, 7), until `write`."""
        self._contacts = rows

    def write_stress(self, frame: int, rows: NDArray[Any]) -> None:
        """Store the stress of vertices, (V, 4), until `write`."""
        self._stress = rows

    def write_needles(self, frame: int, longest: NDArray[Any]) -> None:
        """Do nothing: the record of groups contains the longest edges."""

    def write_halved_steps(self, frame: int, counts: NDArray[np.int32]) -> None:
        """Store the numbers of halved steps by body, (b + 1,), until `write`."""
        self._halved = counts

    def write_sheets(self, frame: int, records: Mapping[int, SheetRecord]) -> None:
        """Raise CannotReuse: remeshed cloth is not solved in groups."""
        raise CannotReuse("cloth has faces of its own")

    def write_poses(self, frame: int, arrays: Mapping[str, Vec]) -> None:
        """Store the poses of rigid bodies until `write`."""
        self._poses = arrays

    def write(self, frame: int, vertices: NDArray[Any]) -> None:
        """Write all files of a frame.

        vertices: positions of the vertices of the solved bodies, (V, 3) [m]. Raises CannotReuse where the earlier bake
        cannot be reused in this frame, CacheUnwritable where a file cannot be written.
        """
        spans = gcd(*self._earlier.steps(frame), *([] if self._record is None else [self._record.spans]))
        self._earlier.check_groups(frame, spans)
        outputs = [self._earlier.output(frame)]
        if self._record is not None:
            ends = np.cumsum([0, *self._counts]).tolist()
            outputs.append(FrameOutput(
                self._record, vertices.astype(np.float32), [*map(slice, ends, ends[1:])], _single(self._liveliness),
                _single(self._contacts), _single(self._stress), self._halved, self._poses))
        made = self._whole.merge_changes([self._earlier.read_changes(frame - 1), self._made])
        self._forget()
        if made.count:
            super().write_cuts(frame - 1, record_changes([made]))
        whole = self._whole.output(outputs, spans, self._shows_stress)
        if whole.halved is not None:
            super().write_halved_steps(frame, whole.halved)
        super().write_groups(frame, whole.record)
        if whole.liveliness is not None:
            super().write_liveliness(frame, whole.liveliness)
        if whole.contacts is not None:
            super().write_contact_forces(frame, whole.contacts)
        if whole.stress is not None:
            super().write_stress(frame, whole.stress)
        if whole.record.longest.max(initial=0.0) > LONGEST:
            super().write_needles(frame, whole.record.longest)
        if whole.poses is not None:
            super().write_poses(frame, whole.poses)
        super().write(frame, whole.vertices)
        self._written = outputs, whole.record

    def copy(self, frame: int, with_snapshot: bool) -> None:
        """Write a frame, and its snapshot if required, that consists of reused bodies only.

        Raises CannotReuse where the frame cannot be reused, CacheUnwritable where a file cannot be written.
        """
        self.write(frame, np.zeros((0, 3)))
        if with_snapshot:
            self.write_snapshot(frame, None)

    def restore(self, frame: int) -> State:
        """Return the state of the solved bodies from a snapshot of all bodies.

        Raises CannotReuse where the record of groups is damaged, CacheUnwritable where the snapshot is.
        """
        return self._whole.state_of_subset(1, super().restore(frame), record_of(self.cache, frame))

    def write_snapshot(self, frame: int, state: State | None) -> None:
        """Write a snapshot of the state of all bodies.

        state: state of the solved bodies; None where nothing is solved. Raises CannotReuse where the earlier bake has
        no such snapshot, CacheUnwritable where the file cannot be written.
        """
        assert self._written is not None
        outputs, record = self._written
        states = [self._earlier.state(frame), *([] if state is None else [state])]
        super().write_snapshot(frame, self._whole.state(states, [output.record for output in outputs], record.labels))


def _single(rows: NDArray[Any] | None) -> Floats | None:
    """Return rows in single precision; None where there are none."""
    return None if rows is None else rows.astype(np.float32)
