"""Dynamic nodes of a body: its spots of all kinds, each a single node or nodes that move as one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import catalogue
from ..coordinates.patches import Motions, Patch
from ..errors import BadScene
from ..job import schema
from ..job.folder import parameters
from ..meshing.volume import Volume, boundary_faces, face_parts
from ..state import Index, Mask, Vec
from .attach import read_listed_nodes
from .dynamic import around_points, one_node, patch_nodes, patches, point_nodes, spot_nodes
from .painted import Painted, weights_of

Arrays = Callable[[str], NDArray[Any]]

SPOT_FRACTION = 0.1  #: default radius of a spot around a point, of the box diagonal


def spots_of(body: schema.Body) -> dict[str, schema.Spots]:
    """Return the body's spots by the path of their weights: those of the body's kind of motion, then those of their
    own."""
    dynamic = body.dynamic
    return {"dynamic.weights": schema.Spots(body.spot, dynamic.weights, dynamic.points),
            **{f"dynamic.spots[{i}].weights": spots for i, spots in enumerate(dynamic.spots)}}


@dataclass(frozen=True)
class _Spots:
    """Spots of one kind of motion, and the node nearest to the middle of each, −1 for none: painted ones first."""

    motions: Motions | None  #: modes of motion; None: each by its single node
    radius: float  #: around a point [m]
    weights: str | None
    painted: list[NDArray[np.int64]]  #: vertices of each
    points: Vec  #: (p, 3) [m]
    single: list[int]

    @property
    def of_points(self) -> list[int]:
        """Return the nodes of the points."""
        return self.single[len(self.painted) :]


def find_dynamic_nodes(body: schema.Body, arrays: Arrays, volume: Volume, painted: Painted | None, prescribed: Index,
                       notes: list[str]) -> tuple[Index, tuple[Patch, ...]]:
    """Return the dynamic nodes, (d,) ascending, and patches of nodes that move as one.

    Dynamic are nodes listed by hand, and for each painted spot and each point one node, or a patch. None of them is in
    `prescribed`, the pinned and attached nodes. A node belongs to one group single_nodes: single nodes come first, then
    painted spots in their order, and nodes around points belong to the nearest one. Adds sentences for the artist to
    `notes`. Raises BadScene where a listed node does not exist or is prescribed.
    """
    taken = np.zeros(len(volume.nodes), dtype=bool)
    taken[prescribed] = True
    listed: list[int] = []
    if body.dynamic.nodes is not None:
        by_hand = read_listed_nodes(arrays(body.dynamic.nodes), len(taken), "dynamic", "dynamic.nodes")
        if taken[by_hand].any():
            raise BadScene(f"node {int(by_hand[taken[by_hand]][0])} is both dynamic and pinned or attached",
                           "Choose one", where="dynamic.nodes")
        taken[by_hand] = True
        listed = by_hand.tolist()
    free = ~taken
    part_of_node = np.zeros(len(taken), dtype=np.int32)
    part_of_node[volume.tets] = face_parts(volume.tets)[1][:, None]
    groups = [_group(spots, where, arrays, volume, painted, part_of_node, taken, notes)
            for where, spots in spots_of(body).items()]
    missing = sum(group.single.count(-1) for group in groups)
    if missing:
        notes.append(f"{missing} dynamic spots found no free node of their own")
    single_nodes = [*listed, *(node for group in groups if group.motions is None for node in group.single if node >= 0)]
    free[single_nodes] = False
    return np.unique(single_nodes).astype(np.int32), tuple(_patches(groups, volume, painted, part_of_node, free))


def _group(spots: schema.Spots, where: str, arrays: Arrays, volume: Volume, painted: Painted | None,
           part_of_node: Index, taken: Mask, notes: list[str]) -> _Spots:
    """Return spots of one kind of motion, with a node for each. taken: (k,), nodes that may not be used, which is
    updated."""
    areas: list[NDArray[np.int64]] = []
    single: list[int] = []
    if spots.weights is not None and painted is not None:
        weights = weights_of(arrays(spots.weights), len(painted.vertices), spots.weights, where)
        areas = patches(weights, painted.triangles)
        if not areas:
            notes.append("Dynamic is painted on nothing")
        single = patch_nodes(areas, weights, painted.vertices, painted.corners, volume.nodes, part_of_node, taken)
    points = np.zeros((0, 3))
    if spots.points is not None:
        points = np.asarray(arrays(spots.points), dtype=np.float64).reshape(-1, 3)
        single += point_nodes(points, volume.nodes, np.unique(boundary_faces(volume.tets)[0]), taken)
    if spots.spot is None:
        return _Spots(None, 0.0, spots.weights, areas, points, single)
    radius = parameters("spot", spots.spot)["spot_radius"] or SPOT_FRACTION * volume.diagonal
    return _Spots(catalogue.find("spot", spots.spot.kind).load(), radius, spots.weights, areas, points, single)


def _patches(groups: list[_Spots], volume: Volume, painted: Painted | None, part_of_node: Index, free: Mask
             ) -> list[Patch]:
    """Return the nodes of each spot that moves as one, painted spots first. free: (k,), usable nodes, which is
    updated."""
    spot_patches: list[Patch] = []
    for group in groups:
        if group.motions is None or painted is None or group.weights is None:
            continue
        below = spot_nodes(group.painted, painted.at_nodes[group.weights], painted.vertices, volume.nodes, ~free)
        nodes = [members if len(members) else one_node(node) for members, node in zip(below, group.single)]
        spot_patches += [Patch(members, group.motions) for members in nodes if len(members)]
        if len(groups) > 1:  # a node below spots of two groups belongs to the first
            free[np.concatenate([one_node(-1), *nodes])] = False
    around = [group for group in groups if group.motions is not None and len(group.points)]
    if around:
        radius = np.concatenate([np.full(len(group.points), group.radius) for group in around])
        ways = [group.motions for group in around for _ in group.points]
        nodes = around_points(np.concatenate([group.points for group in around]), radius, volume.nodes, part_of_node,
                              [node for group in around for node in group.of_points], ~free)
        spot_patches += [Patch(members, averages) for members, averages in zip(nodes, ways)
                  if averages is not None and len(members)]
    return spot_patches
