"""Separation of one body by a cut: of its tetrahedra and of the artist's mesh."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..build.fields import Prepared
from ..embedding.bind import Embedding, barycentric
from ..meshing.volume import EDGES, face_parts
from ..state import Index, Mask, Vec
from .carriers import Carriers
from .cuts.interface import Cut, Shape, pieces
from .inside import Inside, cut_surface
from .seam import edges_of, split_triangles
from .split import fields_after, separate

OFF = 1.0e-2  #: fraction of the distance to a vertex on its side: from there the carrier of a new vertex is searched
STEEPEST = 8.0  #: largest barycentric weight: a vertex with a larger weight would move far when its tetrahedron deforms
UNKNOWN = -1  #: piece of a vertex
INNER = -1  #: source of a triangle that a cut laid open


@dataclass(frozen=True)
class WholeBody:
    """Body after all cuts up to now."""

    prepared: Prepared
    origin: Index  #: node of the uncut volume that each node is a copy of, (n,)
    triangles: Index  #: of the mesh that is shown, (t, 3); (0, 3) for a body without a mesh
    source: Index  #: triangle of the artist's mesh that each is part of, INNER on the surface of a cut, (t,)

    @classmethod
    def uncut(cls, prepared: Prepared, triangles: Index) -> WholeBody:
        """Return a body without cuts. triangles: of the shown mesh, (t, 3)."""
        return cls(prepared, np.arange(len(prepared.volume.nodes), dtype=np.int32), triangles,
                   np.arange(len(triangles), dtype=np.int32))


@dataclass(frozen=True)
class Separation:
    """Result of one cut of one body, sufficient to repeat the cut without the positions of the body.

    Its fields are the names of the arrays in files of cuts.
    """

    apart: Index  #: rows in `tet_faces` of the separated faces, (k, 2)
    parents: Index  #: vertices between which each new vertex is at the moment of the cut, (s, 2)
    shares: Vec  #: fraction from the first to the second parent, (s,); shown there until the cut is visible
    triangles: Index  #: (t, 3), old vertices keep their numbers
    source: Index  #: (t,), as of `WholeBody`
    carrier: Index  #: tetrahedron of each vertex, old ones first, (v,)
    weights: Vec  #: barycentric, (v, 4)

    def plain(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by the names of their fields."""
        return dict(vars(self))


def cut_body(whole: WholeBody, cut: Cut, shape: Shape) -> Separation | None:
    """Return the separation of a body by a cut; None where the cut separates no tetrahedra.

    shape: the body at the moment of the cut.
    """
    separated, moved = cut.faces(shape)
    if not separated.any():
        return None
    rows = shape.inner[separated]
    embedding = whole.prepared.embedding
    if embedding is None:
        _, source = separate(shape.tets, shape.inner, separated)
        copied = source[len(shape.x):]
        nothing = np.zeros((0, 3), np.int32)
        return Separation(rows, np.stack([copied, copied], axis=1), np.zeros(len(copied)), nothing, nothing[:, 0],
                          nothing[:, 0], np.zeros((0, 4)))
    return _with_surface(whole, cut, shape, rows, Carriers(shape, cut, moved), embedding)


def apply(whole: WholeBody, done: Separation, kerf: float = 0.0) -> tuple[WholeBody, Index]:
    """Return the body after a cut, and the node before the cut of each of its nodes, (n',).

    kerf: width of the cut [m].
    """
    prepared = whole.prepared
    volume = prepared.volume
    shape = Shape(volume.nodes, volume.tets, whole.origin)
    separated = np.isin(shape.inner[:, 0], done.apart[:, 0])
    tets, source = separate(volume.tets, shape.inner, separated)
    before = nodes = np.ascontiguousarray(volume.nodes[source])
    if kerf:
        from .kerf import open_kerf  # its kernels are compiled where surfaces touch

        nodes = open_kerf(before, tets, source, done.apart, kerf)
    embedding = None
    if prepared.embedding is not None:
        embedding = Embedding(done.carrier, tets[done.carrier], done.weights, len(nodes))
    after = replace(prepared, volume=replace(volume, nodes=nodes, tets=tets), embedding=embedding,
                    fields=fields_after(prepared.fields, nodes, tets, source, nodes - before))
    return WholeBody(after, whole.origin[source], done.triangles, done.source), source


def _with_surface(whole: WholeBody, cut: Cut, shape: Shape, rows: Index, carriers: Carriers,
                  embedding: Embedding) -> Separation:
    """Return the separation with the artist's mesh: its triangles are split, the surface of the cut is added.

    rows: separated faces in `tet_faces`, (k, 2). carriers: tetrahedra at the moment of the cut."""
    near = shape.inner // 4
    _, before = face_parts(shape.tets)
    is_separated = np.isin(shape.inner[:, 0], rows[:, 0])
    after = pieces(len(shape.tets), near[~is_separated])
    touched = np.zeros(len(shape.tets), dtype=bool)
    touched[np.isin(before, before[rows[:, 0] // 4])] = True

    points = embedding.apply(shape.x)
    tet, weights = embedding.tet.copy(), embedding.weights.copy()
    edges, edge = edges_of(whole.triangles)
    fractions = np.full(len(edges), np.nan)
    cuttable = touched[tet[edges]].all(axis=1)
    fractions[cuttable] = cut.intersections(points[edges[cuttable, 0]], points[edges[cuttable, 1]])

    # vertices whose tetrahedron is on the other side of the cut go to the piece of their neighbours, or the nearest
    misplaced = np.flatnonzero(touched[tet])
    misplaced = misplaced[carriers.are_separated(tet[misplaced], points[misplaced])]
    piece = after[tet]
    piece[misplaced] = UNKNOWN
    piece = _as_neighbours(piece, edges[np.isnan(fractions)])[misplaced]
    nearest = carriers.find(points[misplaced], points[misplaced], after, piece)
    far = np.flatnonzero(nearest < 0)
    nearest[far] = carriers.find(points[misplaced[far]], points[misplaced[far]], before, before[tet[misplaced[far]]])
    rebound = misplaced[nearest >= 0]
    tet[rebound] = nearest[nearest >= 0]
    fractions[np.isin(edges, misplaced[nearest < 0]).any(axis=1)] = np.nan
    # edges of the surface between two pieces, where tetrahedra are too coarse for the cut, are split in the middle
    ends = tet[edges]
    torn = np.isnan(fractions) & (after[ends[:, 0]] != after[ends[:, 1]]) & (before[ends[:, 0]] == before[ends[:, 1]])
    fractions[torn] = 0.5
    seam = split_triangles(len(points), whole.triangles, edges, edge, fractions)
    at = between(points, seam.parents, seam.fractions)
    eyes = at + OFF * (points[seam.towards] - at)
    carrier = carriers.find(at, eyes, after, after[tet[seam.towards]])
    carrier = np.where(carrier >= 0, carrier, tet[seam.towards])

    inside, inside_tet = _inside(cut, shape, carriers, touched, after)
    inside_at = between(shape.x, inside.nodes, inside.fractions)
    # the surface of the cut has no size before it is visible: all of its vertices are at one vertex next to the cut
    hidden = seam.parents[0, 0] if len(at) else 0
    parents = np.concatenate([seam.parents, np.full((len(inside_at), 2), hidden)]).astype(np.int32)
    all_fractions = np.concatenate([seam.fractions, np.zeros(len(inside_at))])
    triangles = np.concatenate([seam.triangles, inside.triangles + len(points) + len(at)]).astype(np.int32)
    source = np.concatenate([whole.source[seam.source], np.full(len(inside.triangles), INNER)]).astype(np.int32)

    rest = whole.prepared.volume.nodes
    at_rest = embedding.apply(rest)
    new = np.concatenate([rebound, np.arange(len(points), len(points) + len(at) + len(inside_at))])
    tet = np.concatenate([tet, carrier, inside_tet]).astype(np.int32)
    now = np.concatenate([points[rebound], at, inside_at])
    then = np.concatenate([at_rest[rebound], between(at_rest, seam.parents, seam.fractions),
                           between(rest, inside.nodes, inside.fractions)])
    weights = np.concatenate([weights, np.zeros((len(tet) - len(weights), 4))])
    weights[new] = _weigh_points(now, shape.x[shape.tets[tet[new]]], then, rest[shape.tets[tet[new]]])
    return Separation(rows, parents, all_fractions, triangles, source, tet, weights)


def _as_neighbours(piece: Index, edges: Index) -> Index:
    """Return the piece of each vertex, (v,), UNKNOWN replaced by that of a neighbour across uncut edges, (k, 2)."""
    piece = piece.copy()
    both = np.concatenate([edges, edges[:, ::-1]])
    while True:
        known = both[(piece[both[:, 0]] == UNKNOWN) & (piece[both[:, 1]] != UNKNOWN)]
        if not len(known):
            return piece
        piece[known[:, 0]] = piece[known[:, 1]]


def _inside(cut: Cut, shape: Shape, carriers: Carriers, touched: Mask, after: Index) -> tuple[Inside, Index]:
    """Return the surface of the cut inside the body, and the tetrahedron of each of its vertices, (s,).

    touched: tetrahedra next to the cut, (e,). after: piece of each tetrahedron after the cut, (e,).
    """
    tets = shape.tets[touched]
    ends = np.unique(np.sort(tets[:, EDGES].reshape(-1, 2), axis=1), axis=0)
    fractions = cut.intersections(shape.x[ends[:, 0]], shape.x[ends[:, 1]])
    intersected = np.flatnonzero(~np.isnan(fractions))

    # a node is on the side of its tetrahedra with centres on that side; a node without any is left out
    piece = np.full(len(shape.x), -1, dtype=np.int32)
    tet = np.repeat(np.arange(len(shape.tets), dtype=np.int32), 4)[::-1]
    node = shape.tets.ravel()[::-1]
    next_to = np.isin(node, ends[intersected]) & touched[tet]
    tet, node = tet[next_to], node[next_to]
    seen = ~carriers.are_separated(tet, shape.x[node])
    piece[node[seen]] = after[tet[seen]]
    fractions[intersected[(piece[ends[intersected]] < 0).any(axis=1)]] = np.nan

    inside = cut_surface(tets, ends.astype(np.int32), fractions)
    at = between(shape.x, inside.nodes, inside.fractions)
    eyes = at + OFF * (shape.x[inside.nodes[:, 0]] - at)
    carrier = carriers.find(at, eyes, after, piece[inside.nodes[:, 0]])
    # a vertex without a carrier would leave its side: its triangles are left out
    whole = (carrier[inside.triangles] >= 0).all(axis=1)
    used, corners = np.unique(inside.triangles[whole], return_inverse=True)
    remaining = replace(inside, nodes=inside.nodes[used], fractions=inside.fractions[used],
                   triangles=corners.reshape(-1, 3).astype(np.int32))
    return remaining, carrier[used]


def _weigh_points(now: Vec, corners: Vec, then: Vec, rest: Vec) -> Vec:
    """Return barycentric weights of points in deformed tetrahedra, (k, 4), so that no vertex jumps at the cut.

    now: points, (k, 3) [m]. corners: deformed tetrahedra, (k, 4, 3) [m]. then, rest: both at rest. In a nearly flat
    tetrahedron, weights at rest are used instead, as a vertex with large weights would move far when it unfolds.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        weights = barycentric(now, corners)
        steep = ~(np.abs(weights).max(axis=1) <= STEEPEST)
    weights[steep] = barycentric(then[steep], rest[steep])
    return weights


def between(points: Vec, parents: Index, fractions: Vec) -> Vec:
    """Return points on the lines between pairs of points, (k, 3) [m].

    points: (n, 3) [m]. parents: pairs of indices, (k, 2). fractions: fractions from the first to the second, (k,).
    """
    first, second = points[parents[:, 0]], points[parents[:, 1]]
    middle: Vec = first + fractions[:, None] * (second - first)
    return middle
