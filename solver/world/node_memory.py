"""Records of all entries of memory that belong to nodes of soft bodies. A force or damping law with such an entry
declares its record in its own file and is listed here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..contact.laws.static_friction import ANCHORS_RECORD
from ..node_records import BodyMemory, NodeRecord, SourceNodes
from ..state import Vec
from .ground_friction import FORCE_RECORD
from .half_life_damping import CONTACT_TIME_RECORD
from .sliding_damping import PAST_RECORD

NODE_RECORDS: tuple[NodeRecord, ...] = (FORCE_RECORD, PAST_RECORD, CONTACT_TIME_RECORD, ANCHORS_RECORD)


def merge_memories(bodies: Sequence[BodyMemory], count: int) -> dict[str, Vec]:
    """Return the memory of a part of `count` nodes whose bodies were in several parts, with all records of nodes."""
    return {key: value for record in NODE_RECORDS for key, value in record.merge(bodies, count).items()}


def carry_over_memory(memory: Mapping[str, Vec], nodes: SourceNodes) -> dict[str, Vec]:
    """Return the memory of bodies that were cut, nailed or released, with the records that continue there."""
    return {key: value for record in NODE_RECORDS for key, value in record.carry_over(memory, nodes).items()}


def reorder_memory(memory: Mapping[str, Vec], rows: Callable[[Vec], Vec]) -> dict[str, Vec]:
    """Return the entries of a part's memory that change where obstacles were added or removed.

    rows: returns the rows of the present nodes from a table of the former nodes, (n, …).
    """
    return {key: value for record in NODE_RECORDS for key, value in record.reorder(memory, rows).items()}
