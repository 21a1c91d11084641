"""Separation of tetrahedra at faces: a node is copied for each group of its tetrahedra that is no longer connected."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from ..coordinates.patches import Patch
from ..fields.build import Fields
from ..meshing.volume import FACES, face_parts, tet_volumes
from ..state import Index, Mask, Vec


def separate(tets: Index, inner: Index, separated: Mask) -> tuple[Index, Index]:
    """Return tetrahedra with separate nodes on both sides of separated faces, (e, 4), and former nodes, (n',).

    inner: rows in `tet_faces` of the faces between two tetrahedra, (k, 2). separated: whether each is separated, (k,).
    A node keeps its number on one side; copies are numbered after all nodes, in the order of their originals.
    Tetrahedra that are connected by a node or an edge only remain connected, unless the cut passes there.
    """
    count = int(tets.max()) + 1
    whole, now = _fans(tets, inner), _fans(tets, inner[~separated])
    # fans that no face connected before stay on the side of their node's first corner
    nodes = tets.ravel()
    _, first_of_node = np.unique(nodes, return_index=True)
    _, first_of_whole = np.unique(whole, return_index=True)
    hung = first_of_whole[first_of_node[nodes[first_of_whole]] != first_of_whole]
    links = np.stack([now[hung], now[first_of_node[nodes[hung]]]], axis=1)
    fans = int(now.max()) + 1
    graph = coo_matrix((np.ones(len(links), dtype=np.int8), (links[:, 0], links[:, 1])), shape=(fans, fans))
    fan = connected_components(graph, directed=False)[1][now]

    names, first = np.unique(fan, return_index=True)
    owner = nodes[first]
    order = np.lexsort((first, owner))
    again = np.zeros(len(names), dtype=bool)
    again[order[1:]] = owner[order[1:]] == owner[order[:-1]]
    copies = order[again[order]]
    number = owner.astype(np.int64)
    number[copies] = count + np.arange(len(copies))
    separate_tets = number[np.searchsorted(names, fan)].reshape(-1, 4).astype(np.int32)
    return separate_tets, np.concatenate([np.arange(count), owner[copies]]).astype(np.int32)


def _fans(tets: Index, inner: Index) -> Index:
    """Return a label for each corner of the tetrahedra, (4 e,), equal for corners of one node connected by faces."""
    slot = np.arange(tets.size).reshape(-1, 4)[:, FACES].reshape(-1, 3)
    a, b = slot[inner[:, 0]], slot[inner[:, 1]]
    nodes = tets.ravel()
    left = np.take_along_axis(a, np.argsort(nodes[a], axis=1), axis=1).ravel()
    right = np.take_along_axis(b, np.argsort(nodes[b], axis=1), axis=1).ravel()
    graph = coo_matrix((np.ones(len(left), dtype=np.int8), (left, right)), shape=(tets.size, tets.size))
    labels: Index = connected_components(graph, directed=False)[1].astype(np.int32)
    return labels


def fields_after(fields: Fields, nodes: Vec, tets: Index, source: Index, moved: Vec) -> Fields:
    """Return the fields of a separated body: dynamic nodes and patches, pinned or attached nodes, and motion.

    nodes: rest positions [m], (n', 3). tets: of the new nodes, (e, 4). source: former node of each, (n',). moved: rest
    displacement from the former node [m], (n', 3). Of the copies of a dynamic node, the one in the largest connected
    part is dynamic, in that part the one with the largest volume of tetrahedra. All copies of pinned or attached nodes
    are pinned or attached. A patch is divided among the connected parts.
    """
    volumes = tet_volumes(nodes, tets)
    _, part = face_parts(tets)
    part_volume = np.bincount(part, volumes)
    around = np.bincount(tets.ravel(), np.repeat(volumes, 4), minlength=len(nodes))
    largest = np.zeros(len(nodes))
    np.maximum.at(largest, tets.ravel(), np.repeat(part_volume[part], 4))
    # volumes of equal halves differ in their last bits
    rank = np.lexsort((np.arange(len(nodes)), -np.round(around / volumes.mean(), 6),
                       -np.round(largest / volumes.mean(), 6)))
    best = np.full(int(source.max()) + 1, -1, dtype=np.int64)
    best[source[rank[::-1]]] = rank[::-1]
    dynamic = np.sort(best[fields.dynamic]).astype(np.int32)

    pinned = np.flatnonzero(np.isin(source, fields.pinned)).astype(np.int32)
    motion = fields.motion
    if motion is not None:
        motion = motion[:, np.searchsorted(fields.pinned, source[pinned])] + moved[pinned]
    attached = np.flatnonzero(np.isin(source, fields.attached)).astype(np.int32)
    attached_by = fields.attached_by[np.searchsorted(fields.attached, source[attached])]
    part_of_node = np.zeros(len(nodes), dtype=np.int32)
    part_of_node[tets] = part[:, None]
    patches = []
    for patch in fields.patches:
        members = np.flatnonzero(np.isin(source, patch.nodes)).astype(np.int32)
        patches += [Patch(members[part_of_node[members] == k], patch.motions) for k in np.unique(part_of_node[members])]
    return replace(fields, dynamic=dynamic, pinned=pinned, motion=motion, attached=attached, attached_by=attached_by,
                   patches=tuple(patches))
