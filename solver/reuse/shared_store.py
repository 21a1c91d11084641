"""A cache into which some bodies are solved while the frames of the others come from an earlier bake."""

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
from ..reshape.made import Made, made_of, recorded
from ..reshape.reach import ROOM, Reach, that_touch
from ..state import State, Vec
from .earlier import CannotReuse, EarlierBake, record_of
from .shares import AllBodies, Floats, FrameOutput, Numbering, boxes_among_all

if TYPE_CHECKING:
    from ..embedding.sheets import SheetRecord


class SharedStore(FrameStore):
    """Writes frames of all bodies of a job from those that are solved and those of an earlier bake.

    Raises CannotReuse before anything of a frame is written in which a solved body comes near one of the earlier bake.
    """

    def __init__(self, folder: Path, still_mine: Callable[[], None], job: Job, earlier: EarlierBake,
                 solved: Numbering | None) -> None:
        """solved: numbers of the bodies that are solved; None where nothing is."""
        super().__init__(folder, still_mine)
        self._job, self._earlier, self._solved = job, earlier, solved
        self._whole = AllBodies(len(job.scene.bodies), bool(job.scene.mechanisms),
                            [earlier.numbering, *([] if solved is None else [solved])])
        self._meets = that_touch(job.scene)
        self._shows_stress = any(body.stress_output for body in job.scene.bodies)
        self._written: tuple[list[FrameOutput], GroupRecord] | None = None
        self._counts = [] if solved is None else [count for _, count in solved.rows]  #: vertices of each solved body
        self._forget()

    @property
    def has_begun(self) -> bool:
        """Return whether a frame has been written."""
        return self._written is not None

    def _forget(self) -> None:
        """Discard the collected data of a frame."""
        self._record: GroupRecord | None = None
        self._liveliness: NDArray[Any] | None = None
        self._contacts: NDArray[Any] | None = None
        self._stress: NDArray[Any] | None = None
        self._halved: NDArray[np.int32] | None = None
        self._poses: Mapping[str, Vec] | None = None
        self._made = Made()

    def cuts(self, frame: int, made: Arrays) -> None:
        """Collect the cuts, nails and releases after a frame."""
        self._made, = made_of(made)
        self._count_new(self._made)

    def cuts_before(self, frame: int) -> list[Arrays]:
        """Return the entries of each such record for the bodies that are solved. Raises CacheUnwritable."""
        own = [self._whole.made_of_share(1, one) for record in super().cuts_before(frame) for one in made_of(record)]
        for one in own:
            self._count_new(one)
        return [recorded([one]) for one in own if one.count]

    def _count_new(self, made: Made) -> None:
        """Count the vertices that cuts add."""
        for body, separation in made.separations:
            self._counts[body] += len(separation.parents)

    def groups(self, frame: int, record: GroupRecord) -> None:
        """Collect the groups that were solved. Raises CannotReuse where one comes near a group of the earlier bake."""
        assert self._solved is not None
        self._record = record
        start = self._job.scene.time.start
        tokens, size, thickness = self._earlier.reach(frame)
        reach = Reach(np.zeros(len(self._meets)), np.zeros(len(self._meets)), self._meets)
        reach.size[tokens], reach.thickness[tokens] = size, thickness
        own = np.array([self._solved.tokens[k] for k in range(len(record.labels))])
        reach.size[own], reach.thickness[own] = record.size, record.thickness
        boxes = self._earlier.boxes(frame).and_those(boxes_among_all(record.boxes, self._solved))
        near = frozenset(token for pair in reach.near(boxes, ROOM if frame == start else 0.0)
                         if len(self._earlier.tokens & {*pair}) == 1 for token in pair) & self._earlier.tokens
        if near:
            raise CannotReuse(f"at frame {frame} something comes near {', '.join(self._earlier.names(near))}", near,
                              None if frame == start else frame)

    def liveliness(self, frame: int, activity: NDArray[Any]) -> None:
        """Collect the liveliness of dynamic nodes, (3, m)."""
        self._liveliness = activity

    def contact_forces(self, frame: int, rows: NDArray[Any]) -> None:
        """Collect the contact forces, (k, 7)."""
        self._contacts = rows

    def stress(self, frame: int, rows: NDArray[Any]) -> None:
        """Collect stress of vertices, (V, 4)."""
        self._stress = rows

    def needles(self, frame: int, longest: NDArray[Any]) -> None:
        """Discard the longest edges: the groups have them too."""

    def halved(self, frame: int, counts: NDArray[np.int32]) -> None:
        """Collect how many steps were halved, (b + 1,)."""
        self._halved = counts

    def sheets(self, frame: int, records: Mapping[int, SheetRecord]) -> None:
        """Raise CannotReuse: cloth with faces of its own is in no group."""
        raise CannotReuse("cloth has faces of its own")

    def poses(self, frame: int, arrays: Mapping[str, Vec]) -> None:
        """Collect poses of rigid bodies."""
        self._poses = arrays

    def write(self, frame: int, vertices: NDArray[Any]) -> None:
        """Write all files of a frame. vertices: of the bodies that are solved, (V, 3) [m]. Raises CannotReuse,
        CacheUnwritable."""
        spans = gcd(*self._earlier.steps(frame), *([] if self._record is None else [self._record.spans]))
        self._earlier.check_groups(frame, spans)
        outputs = [self._earlier.output(frame)]
        if self._record is not None:
            ends = np.cumsum([0, *self._counts]).tolist()
            outputs.append(FrameOutput(
                self._record, vertices.astype(np.float32), [*map(slice, ends, ends[1:])], _single(self._liveliness),
                _single(self._contacts), _single(self._stress), self._halved, self._poses))
        made = self._whole.made([self._earlier.made(frame - 1), self._made])
        self._forget()
        if made.count:
            super().cuts(frame - 1, recorded([made]))
        whole = self._whole.output(outputs, spans, self._shows_stress)
        if whole.halved is not None:
            super().halved(frame, whole.halved)
        super().groups(frame, whole.record)
        if whole.liveliness is not None:
            super().liveliness(frame, whole.liveliness)
        if whole.contacts is not None:
            super().contact_forces(frame, whole.contacts)
        if whole.stress is not None:
            super().stress(frame, whole.stress)
        if whole.record.longest.max(initial=0.0) > LONGEST:
            super().needles(frame, whole.record.longest)
        if whole.poses is not None:
            super().poses(frame, whole.poses)
        super().write(frame, whole.vertices)
        self._written = outputs, whole.record

    def copy(self, frame: int, with_snapshot: bool) -> None:
        """Write a frame of the earlier bake alone. Raises CannotReuse, CacheUnwritable."""
        self.write(frame, np.zeros((0, 3)))
        if with_snapshot:
            self.snapshot(frame, None)

    def restore(self, frame: int) -> State:
        """Return the state of the bodies that are solved, from a snapshot of all. Raises CannotReuse,
        CacheUnwritable."""
        return self._whole.state_of_share(1, super().restore(frame), record_of(self.cache, frame))

    def snapshot(self, frame: int, state: State | None) -> None:
        """Write the state of all bodies. state: of those that are solved; None where nothing is. Raises CannotReuse,
        CacheUnwritable."""
        assert self._written is not None
        outputs, record = self._written
        states = [self._earlier.state(frame), *([] if state is None else [state])]
        super().snapshot(frame, self._whole.state(states, [one.record for one in outputs], record.labels))


def _single(rows: NDArray[Any] | None) -> Floats | None:
    """Return rows in single precision."""
    return None if rows is None else rows.astype(np.float32)
