"""Checks of a mesher's tetrahedra against the surface: whether they are usable, came apart or are incomplete."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from ..state import Index, Vec
from .surface import Surface
from .volume import (
    Volume,
    boundary_faces,
    drop_unused_nodes,
    face_parts,
    nonmanifold_edges,
    split_pinches,
    tet_quality,
    tet_volumes,
)
from .winding import winding_numbers

WORST_QUALITY = 1e-3  #: mean ratio; below it a step of any useful size blows up
SAMPLES = 2000  #: points at which an overlapping or open surface is sampled for its volume


class Unusable(Exception):
    """A mesh from a mesher that cannot be used; the message gives the reason."""


@dataclass(frozen=True)
class Filled:
    """Volume of a surface, with the numbers of parts that came apart."""

    volume: Volume
    before: int  #: parts of the surface that came apart
    after: int  #: pieces of the volume that these parts are in; 0 without any

    @property
    def notes(self) -> tuple[str, ...]:
        """Return the notes of the volume, after a sentence on parts that came apart, if any."""
        if not self.after:
            return self.volume.notes
        was = "one piece" if self.before == 1 else f"{self.before} pieces"
        return (f"What was {was} of the mesh is {self.after} pieces of tetrahedra, since thin parts between them were "
                "lost: make it thicker or lower the edge length", *self.volume.notes)


def accept_mesh(nodes: NDArray, tets: NDArray, surface: Surface) -> Filled:
    """Return a mesher's tetrahedra as a volume in the world, without tiny or foreign parts and checked against the
    surface. nodes: (k, 3) in unit-box units. tets: (e, 4). Raises Unusable where they do not fill the surface."""
    if len(tets) == 0 or tets.ndim != 2 or tets.shape[1] != 4:
        raise Unusable("it returned no tetrahedra")
    if not np.isfinite(nodes).all() or tets.min() < 0 or tets.max() >= len(nodes):
        raise Unusable("it returned nodes that are not numbers or do not exist")
    if np.abs(nodes).max() > 0.75:
        raise Unusable("it returned nodes outside of the object's box")
    nodes, tets = np.ascontiguousarray(nodes, dtype=np.float64), tets.astype(np.int32)
    tets = np.where((tet_volumes(nodes, tets) < 0.0)[:, None], tets[:, [0, 1, 3, 2]], tets)
    if (tet_quality(nodes, tets) < WORST_QUALITY).any():
        raise Unusable("it returned tetrahedra that are flat")

    tets, notes = _parts_that_belong(nodes, tets, surface)
    nodes, tets = drop_unused_nodes(*split_pinches(nodes, tets))
    if nonmanifold_edges(boundary_faces(tets)[0]):
        notes.append("Some parts of the volume are connected by an edge only and may turn about it")
    _check_volume(float(tet_volumes(nodes, tets).sum()), surface)
    if surface.open_edges:
        notes.insert(0, f"The surface was open ({surface.open_edges} border edges) and was filled")
    return Filled(Volume(nodes * surface.scale + surface.centre, tets, tuple(notes)),
                   *_count_separated_parts(nodes, tets, surface))


def _parts_that_belong(nodes: Vec, tets: Index, surface: Surface) -> tuple[Index, list[str]]:
    """Return the tetrahedra without tiny parts and parts outside of the surface, and notes on loose parts that are
    missing."""
    count, part = face_parts(tets)
    volumes = np.bincount(part, tet_volumes(nodes, tets))
    favourites, missed = _nearest_parts(nodes, tets, part, surface)
    crumb = (volumes < 1e-3 * volumes.sum()) & ~np.isin(np.arange(count), favourites)
    keep = np.flatnonzero(~crumb)
    # a part belongs where its largest tetrahedra lie inside
    order = np.lexsort((-tet_volumes(nodes, tets), part))
    rank = np.arange(len(part)) - np.searchsorted(part[order], part[order])
    probes = order[(rank < 5) & np.isin(part[order], keep)][:5000]
    around = winding_numbers(nodes[tets[probes]].mean(axis=1), surface.vertices, surface.triangles)
    inside = np.bincount(part[probes], around, minlength=count) / np.maximum(
        np.bincount(part[probes], minlength=count), 1)
    belongs = ~crumb & (inside > 0.3)
    if not belongs.any():
        raise Unusable("no tetrahedron that it returned is inside the surface")
    notes = []
    if missed:
        notes.append(f"{missed} of {surface.parts} loose parts were too thin to be filled and follow their neighbours")
    return tets[belongs[part]], notes


def _count_separated_parts(nodes: Vec, tets: Index, surface: Surface) -> tuple[int, int]:
    """Return how many connected parts of the surface are more than one piece of the volume, and how many pieces those
    are.

    Pieces that share an edge only may turn about it, and count as separate.
    """
    used, corners = np.unique(tets, return_inverse=True)
    near = _part_of_vertex(surface)[cKDTree(surface.vertices).query(nodes[used])[1]]
    piece = np.repeat(face_parts(tets)[1], 4)
    pieces = np.bincount(_favourites(piece, near[corners.ravel()]), minlength=surface.parts)
    return int((pieces > 1).sum()), int(pieces[pieces > 1].sum())


def _part_of_vertex(surface: Surface) -> Index:
    """Return the connected part of each vertex, (n,)."""
    part = np.zeros(len(surface.vertices), dtype=np.int32)
    part[surface.triangles.ravel()] = np.repeat(surface.part, 3)
    return part


def _favourites(voter: NDArray, choice: NDArray) -> NDArray:
    """Return the most frequent choice of each voter, in the order of voters."""
    pairs, votes = np.unique(np.stack([voter, choice], axis=1), axis=0, return_counts=True)
    best = pairs[np.lexsort((-votes, pairs[:, 0]))]
    favourites: NDArray = best[np.unique(best[:, 0], return_index=True)[1], 1]
    return favourites


def _nearest_parts(nodes: Vec, tets: Index, part: Index, surface: Surface) -> tuple[NDArray, int]:
    """Return the part of the volume that is nearest to most vertices of each loose part of the surface, and the number
    of loose parts that are farther than an edge from the volume."""
    owner = np.zeros(len(nodes), dtype=np.int64)
    owner[tets.ravel()] = np.repeat(part, 4)
    used = np.unique(tets)
    distance, at = cKDTree(nodes[used]).query(surface.vertices)
    part_of_vertex = _part_of_vertex(surface)
    favourites = _favourites(part_of_vertex, owner[used[at]])
    closest = np.full(surface.parts, np.inf)
    np.minimum.at(closest, part_of_vertex, distance)
    corners = nodes[tets[:, :2]]
    edge = float(np.median(np.linalg.norm(corners[:, 0] - corners[:, 1], axis=1)))
    return favourites, int((closest > edge).sum())


def _check_volume(volume: float, surface: Surface) -> None:
    """Raise Unusable where the tetrahedra fill much more or less than the surface encloses."""
    enclosed = surface.volume
    if not surface.open_edges and not surface.tangled_edges and 0.9 < volume / max(enclosed, 1e-30) < 1.1:
        return
    # it overlaps itself or is open: the fraction of points in the box that are inside
    low, high = surface.vertices.min(axis=0), surface.vertices.max(axis=0)
    golden = np.array([0.8191725134, 0.6710436067, 0.5497004779])  # powers of 1/1.2207, Roberts' additive sequence
    points = low + (high - low) * ((0.5 + np.outer(np.arange(1, SAMPLES + 1), golden)) % 1.0)
    fraction = float((winding_numbers(points, surface.vertices, surface.triangles) > 0.5).mean())
    box = float(np.prod(high - low))
    enclosed, doubt = fraction * box, 3.0 * box * np.sqrt(max(fraction * (1.0 - fraction), 1.0 / SAMPLES) / SAMPLES)
    if not 0.7 * enclosed - doubt <= volume <= 1.4 * enclosed + doubt:
        raise Unusable(f"what it filled is {volume / max(enclosed, 1e-30):.2f} times of what the surface encloses")
