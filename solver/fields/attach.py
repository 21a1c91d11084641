"""Attachment of nodes of a soft body to rigid bodies, from painted maps or by index."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadScene
from ..job import schema
from ..state import Index, Vec

#: weight above which a node is attached: one in the middle of a symmetric map must not depend on rounding
PINNED = 0.5 + 1e-9


def find_attached_nodes(body: schema.Body, arrays: Callable[[str], NDArray[Any]], at_nodes: Mapping[str, Vec],
                        count: int, pinned: Index, notes: list[str]) -> tuple[Index, Index]:
    """Return the nodes that follow rigid bodies, (a,) ascending, and the index of the attachment of each, (a,).

    arrays: returns the array of a name in the scene. at_nodes: painted maps at nodes, by name, (k,) each. count: of all
    nodes, k. pinned: nodes, which stay pinned. A node of several attachments is that of the one that lists it, else of
    the one whose map is highest there. Adds to `notes` a sentence for each attachment without nodes. Raises BadScene
    where a listed node does not exist or is pinned as well.
    """
    weight, carrier = np.full(count, PINNED), np.full(count, -1, dtype=np.int32)
    free = np.ones(count, dtype=bool)
    free[pinned] = False
    for i, attach in enumerate(body.attach):
        painted = np.zeros(count)
        if attach.weights is not None and attach.weights in at_nodes:
            painted = at_nodes[attach.weights]
        if attach.nodes is not None:
            listed = read_listed_nodes(arrays(attach.nodes), count, "carried", f"attach[{i}].nodes")
            if not free[listed].all():
                raise BadScene(f"node {int(listed[~free[listed]][0])} is both pinned and attached", "Choose one",
                               where=f"attach[{i}].nodes")
            painted = painted.copy()
            painted[listed] = 2.0
        more = free & (painted > weight)
        weight[more], carrier[more] = painted[more], i
    for i, attach in enumerate(body.attach):
        if not (carrier == i).any():
            notes.append(f'No node follows "{attach.body}": its map is painted on nothing, or on an area smaller than '
                         "a tetrahedron, or is pinned or attached elsewhere")
    nodes = np.flatnonzero(carrier >= 0).astype(np.int32)
    return nodes, carrier[nodes]


def no_attachments() -> Index:
    """Return an empty array of nodes, (0,)."""
    return np.zeros(0, dtype=np.int32)


def read_listed_nodes(nodes: NDArray[Any], count: int, role: str, where: str) -> NDArray[np.int64]:
    """Return node indices that are listed by hand, (l,). Raises BadScene where one is not from 0 to `count` − 1.

    role, where: of the nodes and of the field, for the message.
    """
    listed = np.asarray(nodes, dtype=np.int64).ravel()
    if len(listed) and not 0 <= listed.min() <= listed.max() < count:
        raise BadScene(f"a {role} node does not exist: there are {count} nodes", "Correct the list", where=where)
    return listed
