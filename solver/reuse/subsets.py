"""Frames and states of all bodies of a job, merged from disjoint subsets that have their own numbering."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..frames.group_record import GroupRecord
from ..reshape.boxes import Boxes
from ..reshape.made import Made
from ..reshape.regroup import GROUPS
from ..state import Index, State, Vec

Floats = NDArray[np.float32]
Of = TypeVar("Of")


@dataclass(frozen=True)
class Numbering:
    """Map from the numbers of soft bodies and mechanisms in one subset to their numbers in the job."""

    tokens: Mapping[int, int]  #: token in the job by token in the subset; bodies without an entry are not used
    rows: Sequence[tuple[int, int]]  #: first vertex and number of vertices of each soft body of the subset, uncut
    has_mechanisms: bool  #: whether they are its last token


@dataclass(frozen=True)
class FrameOutput:
    """Contents of all files of one frame; `halved` is the result of `frames.halved.counts_by_body`."""

    record: GroupRecord
    vertices: Floats
    slices: Sequence[slice]  #: of each soft body's vertices
    liveliness: Floats | None = None
    contacts: Floats | None = None
    stress: Floats | None = None
    halved: NDArray[np.int32] | None = None
    poses: Mapping[str, Vec] | None = None


class _PartOfSubset(NamedTuple):
    """Part of a world of one subset, sortable into the order of the parts in the world of all bodies."""

    label: int  #: of its group among all, or beyond all bodies of mechanisms
    subset: int
    number: int  #: among the parts of its subset
    bodies: tuple[int, ...]  #: of its subset


class AllBodies:
    """All bodies of a job as the union of disjoint subsets, with conversions between their numberings."""

    def __init__(self, bodies: int, has_mechanisms: bool, subsets: Sequence[Numbering]) -> None:
        """bodies: number of soft bodies of the job. subsets: numbering of each subset."""
        self._bodies, self._tokens, self._subsets = bodies, bodies + has_mechanisms, subsets

    def record(self, records: Sequence[GroupRecord], spans: int) -> GroupRecord:
        """Return the record of groups of all bodies, merged from the record of each subset.

        spans: number of parts of the frame after each of which groups were compared.
        """
        record = GroupRecord(*(np.zeros(self._tokens, dtype=np.int32), spans, np.zeros(self._tokens, dtype=np.int32),
                               _boxes(records, self._subsets), np.zeros(self._tokens), np.zeros(self._tokens),
                               np.zeros(self._tokens, dtype=np.int32), np.zeros(0, dtype=np.int32)))
        for own, subset in zip(records, self._subsets):
            for group in _groups(own, subset):
                of_all = [subset.tokens[token] for token in group]
                record.labels[of_all] = min(of_all)
                record.nameless[min(of_all)] = own.nameless[group[0]]
                for name in ("steps", "size", "thickness"):
                    getattr(record, name)[of_all] = getattr(own, name)[[*group]]
        parts = self._parts(records)
        unknowns, contacts = (
            np.array([getattr(records[part.subset], name)[part.number] for part in parts], dtype=np.int32)
            for name in ("unknowns", "contacts"))
        longest = np.zeros(self._bodies, dtype=np.float32)
        for k, own_longest in self._of_bodies(lambda i, k: records[i].longest[k]):
            longest[k] = own_longest
        return GroupRecord(record.labels, spans, record.steps, record.boxes, record.size, record.thickness,
                           record.nameless, unknowns, contacts, longest)

    def output(self, outputs: Sequence[FrameOutput], spans: int, shows_stress: bool) -> FrameOutput:
        """Return the output of all bodies in a frame, merged from the output of each subset.

        spans: number of parts of the frame after each of which groups were compared. shows_stress: whether any body of
        the job outputs stress.
        """
        records = [output.record for output in outputs]
        whole, parts = self.record(records, spans), self._parts(records)
        contacts = [_rows_of_part(outputs[part.subset], part.number) for part in parts
                    if records[part.subset].contacts[part.number] >= 0]
        activity = [self._activity(outputs[part.subset], part) for part in parts]
        lively = [rows for rows in activity if rows is not None]
        halved = np.zeros(self._bodies + 1, dtype=np.int32)
        for k, count in self._of_bodies(lambda i, k: 0 if (own := outputs[i].halved) is None else int(own[k])):
            halved[k] = count
        halved[-1] = whole.nameless.sum()
        return FrameOutput(
            whole, self._rows(outputs, [output.vertices for output in outputs]), [],
            liveliness=np.concatenate(lively, axis=1) if lively else None,
            contacts=np.concatenate(contacts) if contacts else None,
            stress=self._rows(outputs, [
                np.zeros((len(output.vertices), 4), dtype=np.float32) if output.stress is None else output.stress
                for output in outputs]) if shows_stress else None,
            halved=halved if halved.any() else None,
            poses=next((output.poses for output, subset in zip(outputs, self._subsets) if _moves_mechanisms(subset)),
                       None))

    def state(self, states: Sequence[State], records: Sequence[GroupRecord], labels: Index) -> State:
        """Return the state of all bodies at a snapshot, merged from the state of each subset.

        records: groups of each subset. labels: first token of the group of each token of the job, (t,).
        """
        parted = [_split_state(state, record) for state, record in zip(states, records)]
        return _join_states(states[0].time, [parted[part.subset][part.number] for part in self._parts(records)], labels)

    def merge_changes(self, made: Sequence[Made]) -> Made:
        """Return the cuts and nails of all bodies at one moment, merged from those of each subset."""
        of_all = (changes.of_bodies(subset.tokens) for changes, subset in zip(made, self._subsets))
        return reduce(Made.and_those, of_all, Made()).in_order

    def select_changes(self, number: int, made: Made) -> Made:
        """Return the cuts and nails at one moment that concern the bodies of a subset, in its numbering."""
        return made.of_bodies({token: k for k, token in self._subsets[number].tokens.items()})

    def state_of_subset(self, number: int, state: State, record: GroupRecord) -> State:
        """Return the state of the bodies of a subset, extracted from the state of all bodies at a snapshot.

        number: index of the subset, all of whose tokens are used. record: groups of all bodies at the snapshot.
        """
        subset, parts = self._subsets[number], _split_state(state, record)
        own = {token: k for k, token in subset.tokens.items()}
        soft = [group for group in record.groups() if group[0] < self._bodies]
        states = [part for part, group in zip(parts, soft) if all(token in own for token in group)]
        states += parts[len(soft):] if _moves_mechanisms(subset) else []
        labels = np.array([own[int(record.labels[token])] for _, token in sorted(subset.tokens.items())])
        return _join_states(state.time, states, labels)

    def _parts(self, records: Sequence[GroupRecord]) -> list[_PartOfSubset]:
        """Return the parts of the world of all bodies: groups in the order of their first bodies, then mechanisms."""
        parts = []
        for i, (record, subset) in enumerate(zip(records, self._subsets)):
            bodies = len(record.labels) - subset.has_mechanisms
            soft = [group for group in record.groups() if group[0] < bodies]
            for number, group in enumerate(soft):
                if group in _groups(record, subset):
                    label = min(subset.tokens[token] for token in group)
                    parts.append(_PartOfSubset(label, i, number, tuple(k for k in group if k < bodies)))
            if _moves_mechanisms(subset):
                parts.append(_PartOfSubset(self._tokens, i, len(soft), ()))
        return sorted(parts)

    def _activity(self, output: FrameOutput, part: _PartOfSubset) -> Floats | None:
        """Return a part's columns of `liveliness`, with numbers of bodies among all."""
        if output.liveliness is None or not part.bodies:
            return None
        tokens, own = self._subsets[part.subset].tokens, output.liveliness
        columns: list[Floats] = []
        for k in part.bodies:
            of_body = own[:, own[0] == k].copy()
            of_body[0] = tokens[k]
            columns.append(of_body)
        activity = np.concatenate(columns, axis=1)
        return activity if activity.shape[1] else None

    def _of_bodies(self, value: Callable[[int, int], Of]) -> Iterator[tuple[int, Of]]:
        """Yield each soft body's number in the job and its value.

        value: function of the number of the subset and the number of the body in that subset.
        """
        for i, subset in enumerate(self._subsets):
            for k in range(len(subset.rows)):
                if k in subset.tokens:
                    yield subset.tokens[k], value(i, k)

    def _rows(self, outputs: Sequence[FrameOutput], arrays: Sequence[Floats]) -> Floats:
        """Return the rows of all bodies' vertices, in the order of the job, from the rows of each subset."""
        rows = dict(self._of_bodies(lambda i, k: arrays[i][outputs[i].slices[k]]))
        return np.concatenate([rows[k] for k in range(self._bodies)]) if rows else np.zeros((0, 3), dtype=np.float32)


def _groups(record: GroupRecord, subset: Numbering) -> list[tuple[int, ...]]:
    """Return the groups of a record whose tokens all belong to a subset."""
    return [group for group in record.groups() if all(token in subset.tokens for token in group)]


def _moves_mechanisms(subset: Numbering) -> bool:
    """Return whether the mechanisms of a subset are used."""
    return subset.has_mechanisms and len(subset.rows) in subset.tokens


def _boxes(records: Sequence[GroupRecord], subsets: Sequence[Numbering]) -> Boxes:
    """Return the boxes of the used bodies of all subsets, with the tokens of the job."""
    boxes = Boxes(np.zeros(0, dtype=np.int32), np.zeros((0, 3)), np.zeros((0, 3)))
    for record, subset in zip(records, subsets):
        boxes = boxes.and_those(boxes_among_all(record.boxes, subset))
    return boxes


def boxes_among_all(boxes: Boxes, subset: Numbering) -> Boxes:
    """Return the boxes of the bodies of a subset that are used, with the tokens of the job."""
    taken = np.array([token in subset.tokens for token in boxes.token.tolist()], dtype=bool)
    tokens = np.array([subset.tokens[token] for token in boxes.token[taken].tolist()], dtype=np.int32)
    return Boxes(tokens, boxes.low[taken], boxes.high[taken])


def _rows_of_part(output: FrameOutput, number: int) -> Floats:
    """Return the contacts of a part, (k, 7). number: of the part."""
    ends = np.cumsum(np.maximum(output.record.contacts, 0))
    assert output.contacts is not None
    return output.contacts[ends[number] - output.record.contacts[number]:ends[number]]


def _join_states(time: float, parts: Sequence[State], labels: Index) -> State:
    """Return the state of a world from the states of its parts. labels: first token of each token's group, (t,)."""
    memory = {GROUPS: labels.astype(float)}
    for k, part in enumerate(parts):
        memory |= {f"{k}/{key}": value for key, value in part.memory.items()}
    return State(time, np.concatenate([part.q for part in parts]), np.concatenate([part.u for part in parts]), memory)


def _split_state(state: State, record: GroupRecord) -> list[State]:
    """Return the states of the parts of a world. record: groups with the number of unknowns of each part."""
    ends = np.cumsum([0, *record.unknowns]).tolist()
    states = []
    for k, (first, last) in enumerate(zip(ends, ends[1:])):
        own = f"{k}/"
        memory = {key.removeprefix(own): value for key, value in state.memory.items() if key.startswith(own)}
        states.append(State(state.time, state.q[first:last], state.u[first:last], memory))
    return states
