"""Sharp edges and corners of an object: found once at rest, and evaluated at any later positions."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...meshing.normals import area_vectors, unit_normals
from ...state import Index, Mask, Vec
from .features import Features, steep_normals

EVEN = np.deg2rad(0.5)  #: bend angle below which an edge is in a plane
FLAT = np.deg2rad(1.0)  #: least bend angle of a marked edge


@dataclass(frozen=True)
class SharpFeatures:
    """Sharp features of an object by numbers of its vertices; positions of all vertices turn them into `Features`."""

    vertices: Index  #: of each point, (P,)
    corner: Mask  #: (P,)
    edges: Index  #: numbers of points, (E, 2), run by run
    run: Index  #: (E,)
    faces: Index  #: vertices of the faces left and right of each edge, (E, 2, 3), -1 where there is none
    sectors: Index  #: vertices of faces between two sharp edges of a point, (s, 3)
    sector: Index  #: point and number of the normal to which each of these faces contributes, (s, 2)
    counts: Index  #: normals of each point, (P,)
    borrowed: Index  #: (b, 3): point, number of its normal, and the edge that two normals there are taken from
    heads: Index  #: of nails: the vertex at the other end, (P,), −1 for all others

    def at(self, x: Vec, velocity: Vec, number: int = 0) -> Features:
        """Return the features at positions x, (n, 3) [m], and velocities, (n, 3) [m/s], of the vertices.

        number: of the object.
        """
        edge_normals = self._edge_normals(x)
        points, edges = len(self.vertices), len(self.edges)
        normals = np.zeros((points, max(int(self.counts.max(initial=1)), 1), 3))
        np.add.at(normals, (self.sector[:, 0], self.sector[:, 1]), area_vectors(x, self.sectors))
        for k in range(2):
            normals[self.borrowed[:, 0], self.borrowed[:, 1] + k] = edge_normals[self.borrowed[:, 2], k]
        length = np.linalg.norm(normals, axis=2, keepdims=True)
        normals /= np.where(length > 0.0, length, 1.0)
        nails = np.flatnonzero(self.heads >= 0)
        if len(nails):
            normals[nails, :4] = steep_normals(x[self.vertices[nails]] - x[self.heads[nails]])
        return Features(
            x[self.vertices], velocity[self.vertices], self.corner, normals, self.counts, self.edges, edge_normals,
            np.all(self.faces < 0, axis=(1, 2)), self.run, np.full(points, number, np.int32),
            np.full(edges, number, np.int32))

    def _edge_normals(self, x: Vec) -> Vec:
        """Return the normals left and right of each edge, (E, 2, 3).

        A sheet's border has a face on one side only, and the two faces of a blade coincide: their normals are like
        those of a wire, about the direction away from the sheet.
        """
        has = self.faces[..., 0] >= 0
        normals = np.zeros((*has.shape, 3))
        normals[has] = area_vectors(x, self.faces[has])
        length = np.linalg.norm(normals, axis=2, keepdims=True)
        normals /= np.where(length > 0.0, length, 1.0)
        blade = np.einsum("ij,ij->i", normals[:, 0], normals[:, 1]) < -np.cos(FLAT)
        border = np.flatnonzero((has.any(axis=1) & ~has.all(axis=1)) | blade)
        if len(border):
            first, second = x[self.vertices[self.edges[border]]].transpose(1, 0, 2)
            along = (second - first) / np.linalg.norm(second - first, axis=1)[:, None]
            left = has[border, 0]
            face = np.where(left[:, None], normals[border, 0], normals[border, 1])
            off = np.where(left[:, None], 1.0, -1.0) * np.cross(along, face)
            normals[border] = steep_normals(off, along)
        return normals


def find_sharp_features(x: Vec, triangles: Index, angle: float, marked: Index | None = None,
                        borders: bool = True) -> SharpFeatures:
    """Return the sharp features of a surface: convex edges with an angle between their faces' normals above `angle`
    [rad], borders if requested, and `marked` edges, (k, 2), unless they are flat or concave.

    x: vertices, (n, 3) [m]. triangles: (m, 3), outwards; a closed surface that is inside out is inverted. A corner is a
    vertex at the end of one edge or of more than two, or with an angle above `angle` between its two edges. Edges with
    more than two faces, or with faces of opposite orientation, are left out: their outside is undefined.
    """
    triangles = outwards(x, np.asarray(triangles, dtype=np.int32))
    ends, faces = _edges(triangles)
    normals = area_vectors(x, triangles)
    area = np.linalg.norm(normals, axis=1)
    normals /= np.where(area > 0.0, area, 1.0)[:, None]
    is_border = faces[:, 1] < 0
    first, second = normals[faces[:, 0]], normals[faces[:, 1]]
    bend = np.arctan2(np.linalg.norm(np.cross(first, second), axis=1), np.einsum("ij,ij->i", first, second))
    along = x[ends[:, 1]] - x[ends[:, 0]]
    convex = np.einsum("ij,ij->i", np.cross(first, second), along) > 0.0
    # two faces back to back, as of a blade, have no side to which they bend
    convex = (convex | (bend > np.pi - FLAT)) & ~is_border
    flat = (area[faces[:, 0]] == 0.0) | (area[faces[:, 1]] == 0.0)
    features = (is_border & borders) | (convex & ~flat & (bend > angle))
    if marked is not None and len(marked):
        many = len(x)
        keys = np.sort(np.asarray(marked, dtype=np.int64), axis=1) @ [many, 1]
        features |= np.isin(np.sort(ends, axis=1).astype(np.int64) @ [many, 1], keys) & convex & ~flat & (bend > FLAT)
    left_right = np.where(faces[features, :, None] >= 0, triangles[faces[features]], -1)
    made = _of_graph(x, ends[features], left_right, angle)
    return _with_sectors(made, triangles)


def bends_softly(x: Vec, triangles: Index, angle: float) -> bool:
    """Return whether a surface is round anywhere: has adjacent faces at an angle from EVEN to `angle` [rad].

    x: vertices, (n, 3) [m]. triangles: (m, 3).
    """
    faces = _edges(triangles)[1]
    first, second = unit_normals(x, triangles)[faces[faces[:, 1] >= 0]].transpose(1, 0, 2)
    bend = np.arctan2(np.linalg.norm(np.cross(first, second), axis=1), np.einsum("ij,ij->i", first, second))
    return bool(((bend > EVEN) & (bend <= angle)).any())


def nails(ends: Index) -> SharpFeatures:
    """Return the sharp features of nails, their tips. ends: vertices at heads and tips, (k, 2)."""
    empty, count = np.zeros((0, 3), np.int32), len(ends)
    heads, tips = np.asarray(ends, dtype=np.int32).reshape(-1, 2).T
    return SharpFeatures(tips, np.ones(count, bool), np.zeros((0, 2), np.int32), np.zeros(0, np.int32),
                         np.zeros((0, 2, 3), np.int32), empty, np.zeros((0, 2), np.int32),
                         np.full(count, 4, np.int32), empty, heads)


def wires(x: Vec, segments: Index, angle: float) -> SharpFeatures:
    """Return the sharp features of wires along segments, (k, 2), between vertices x, (n, 3) [m].

    Corners are where a wire ends, forks or turns by more than `angle` [rad].
    """
    segments = np.asarray(segments, dtype=np.int32)
    return _of_graph(x, segments, np.full((len(segments), 2, 3), -1, np.int32), angle)


def _edges(triangles: Index) -> tuple[Index, Index]:
    """Return edges with one face, or two of consistent orientation, (e, 2), and faces left and right, (e, 2), −1 for
    none.
    """
    half = triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    key = np.sort(half, axis=1)
    order = np.lexsort((half[:, 0] > half[:, 1], key[:, 1], key[:, 0]))
    half, key = half[order], key[order]
    face = (order // 3).astype(np.int32)
    starts = np.flatnonzero(np.r_[True, np.any(key[1:] != key[:-1], axis=1)])
    count = np.diff(np.r_[starts, len(key)])
    second = np.minimum(starts + 1, len(key) - 1)
    fits = (count == 1) | ((count == 2) & (half[starts, 0] == half[second, 1]))
    faces = np.stack([face[starts], np.where(count == 2, face[second], -1)], axis=1)[fits]
    return half[starts][fits], faces.astype(np.int32)


def outwards(x: Vec, triangles: Index) -> Index:
    """Return the triangles, (m, 3), inverted if they are a closed surface with a negative volume. x: (n, 3) [m]."""
    faces = _edges(triangles)[1]
    if len(faces) * 2 != len(triangles) * 3 or np.any(faces < 0):
        return triangles
    a, b, c = (x[triangles[:, k]] - x[triangles[0, 0]] for k in range(3))
    return triangles[:, ::-1] if np.einsum("ij,ij->", a, np.cross(b, c)) < 0.0 else triangles


def _of_graph(x: Vec, ends: Index, faces: Index, angle: float) -> SharpFeatures:
    """Return the features of a graph of edges, sorted into runs from corner to corner or around a ring.

    ends: vertices of the edges, (E, 2). faces: vertices of the faces left and right of each, (E, 2, 3).
    """
    vertices, flat = np.unique(ends, return_inverse=True)
    pairs = flat.reshape(-1, 2).astype(np.int32)
    incident_edges: list[list[int]] = [[] for _ in vertices]
    for e, (a, b) in enumerate(pairs.tolist()):
        incident_edges[a].append(e)
        incident_edges[b].append(e)
    corner = np.array([len(incident) != 2 or _turning_angle(x, vertices, pairs, p, incident) > angle
                       for p, incident in enumerate(incident_edges)], dtype=bool)
    order, is_backward, run = list[int](), list[bool](), list[int]()
    seen = np.zeros(len(pairs), dtype=bool)
    runs = 0
    # runs from corners first; the remaining edges are rings
    for start in [*np.flatnonzero(corner).tolist(), *range(len(vertices))]:
        for e in incident_edges[start]:
            if seen[e]:
                continue
            p = start
            while not seen[e]:
                seen[e] = True
                backwards = pairs[e, 1] == p
                order.append(e)
                is_backward.append(bool(backwards))
                run.append(runs)
                p = int(pairs[e, 0] if backwards else pairs[e, 1])
                if corner[p]:
                    break
                e = next((other for other in incident_edges[p] if not seen[other]), e)
            runs += 1
            if not corner[start]:
                break
    flipped = np.array(is_backward, dtype=bool)
    edges, left_right = pairs[order].reshape(-1, 2), faces[order].reshape(-1, 2, 3)
    edges[flipped], left_right[flipped] = edges[flipped][:, ::-1], left_right[flipped][:, ::-1]
    none = np.zeros((0, 3), np.int32)
    return SharpFeatures(vertices.astype(np.int32), corner, edges, np.array(run, np.int32), left_right, none,
                         none[:, :2], np.zeros(len(vertices), np.int32), none, np.full(len(vertices), -1, np.int32))


def _turning_angle(x: Vec, vertices: Index, pairs: Index, p: int, incident: list[int]) -> float:
    """Return the angle by which the two edges `incident` turn at point p [rad]."""
    out = [x[vertices[pairs[e].sum() - p]] - x[vertices[p]] for e in incident]
    return float(np.pi - np.arctan2(np.linalg.norm(np.cross(out[0], out[1])), out[0] @ out[1]))


def _with_sectors(features: SharpFeatures, triangles: Index) -> SharpFeatures:
    """Return the features with normals of corners: one for the faces between each two neighbouring sharp edges.

    A corner without a closed fan of faces, as at a border or at the end of a single edge, has the normals of its edges.
    """
    degree = np.bincount(features.edges.ravel(), minlength=len(features.vertices))
    closed = features.corner & (degree > 1)
    closed[features.edges[np.any(features.faces[..., 0] < 0, axis=1)]] = False
    row_of = np.full(int(triangles.max(initial=-1)) + 1, -1)
    row_of[features.vertices[closed]] = np.flatnonzero(closed)
    around: dict[int, dict[int, tuple[int, int]]] = {}  # of a point: the next vertex ccw, and the face up to it
    for f in np.flatnonzero(np.any(row_of[triangles] >= 0, axis=1)).tolist():
        for k in range(3):
            v, after, before = (int(triangles[f, (k + j) % 3]) for j in range(3))
            if row_of[v] >= 0:
                around.setdefault(int(row_of[v]), {})[after] = (before, f)
    spokes: dict[int, set[int]] = {}
    for a, b in features.edges.tolist():
        spokes.setdefault(a, set()).add(int(features.vertices[b]))
        spokes.setdefault(b, set()).add(int(features.vertices[a]))
    faces, sector, counts = list[int](), list[tuple[int, int]](), features.counts.copy()
    for p in sorted(around):
        sectors = _sectors(around[p], spokes[p])
        if len(sectors) == len(around[p]):
            counts[p] = len(spokes[p])
            faces += [f for f, _ in sectors]
            sector += [(p, number) for _, number in sectors]
    fanned, borrowed = {p for p, _ in sector}, list[tuple[int, int, int]]()
    for e, ends in enumerate(features.edges.tolist()):
        for p in ends:
            if features.corner[p] and p not in fanned:
                borrowed.append((p, int(counts[p]), e))
                counts[p] += 2
    return replace(features, sectors=triangles[faces].reshape(-1, 3), sector=np.array(sector, np.int32).reshape(-1, 2),
                   counts=counts, borrowed=np.array(borrowed, np.int32).reshape(-1, 3))


def _sectors(fan: dict[int, tuple[int, int]], spokes: set[int]) -> list[tuple[int, int]]:
    """Return the faces of a fan, each with the number of the spoke before it, as far as spokes separate them."""
    sectors = list[tuple[int, int]]()
    for number, w in enumerate(sorted(spokes)):
        while w in fan and len(sectors) < len(fan):
            w, f = fan[w]
            sectors.append((f, number))
            if w in spokes:
                break
    return sectors
