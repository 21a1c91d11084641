"""Separation of near sheets of a surface before it is filled, so that tetrahedra do not join them.

A mesher that keeps to an envelope around the surface joins two sheets that are nearer than that: fingers, lips, pieces
of one mesh. Where they are near, both sheets retreat into the volume that they enclose until there is room; the nodes
of the tetrahedra move back by the displacement of the surface next to them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial import cKDTree

from ..state import Index, Vec
from .cells import spread
from .closest import closest_weights, vertex_normals
from .edge_graph import edge_graph
from .near_triangles import find_near_triangles, least_spacing
from .normals import unit_normals
from .surface import Surface
from .volume import Volume, boundary_faces, tet_quality
from .winding import winding_numbers

OPPOSED = -0.7  #: cosine of normals of what faces each other
REACH = 1.5  #: of the clearance: how far samples are looked for that face each other
ROUNDING = 1.0e-7  #: of the box: vertices that are so near each other are one, so nothing is thinner
OF_THICKNESS = 0.25  #: how much of what is thin may retreat from one side
FARTHEST = 2.0  #: of a face's retreat: how far a corner goes for all of its faces to go that far
STIFF = 1.0e-2  #: against a corner that its faces do not say where to go
SAMPLES = 400  #: vertices of a loose part that are sampled for being inside of another
WORST = 0.3  #: of a tetrahedron's quality: what is left of it at least where nodes go back
SWEEPS = 30  #: through the nodes inside
ROUNDS = 8  #: in which nodes whose tetrahedra would get worse go back less far


@dataclass(frozen=True)
class Parted:
    """A surface with room between its sheets, and the displacements that made it."""

    surface: Surface  #: with room between its sheets
    moved: Vec  #: displacements of its vertices, in its units, (n, 3)

    def back(self, volume: Volume) -> Volume:
        """Return the volume with its nodes moved back to the original surface, less far where tetrahedra would
        degenerate."""
        if not self.moved.any():
            return volume
        displacement = self._displacements_back((volume.nodes - self.surface.centre) / self.surface.scale, volume.tets)
        displacement *= self.surface.scale
        before = tet_quality(volume.nodes, volume.tets)
        fraction = np.ones(len(volume.nodes))
        for _ in range(ROUNDS):
            worse = tet_quality(volume.nodes + fraction[:, None] * displacement, volume.tets) < WORST * before
            if not worse.any():
                break
            fraction[np.unique(volume.tets[worse])] *= 0.5
        else:
            fraction[:] = 0.0
        return replace(volume, nodes=volume.nodes + fraction[:, None] * displacement)

    def _displacements_back(self, nodes: Vec, tets: Index) -> Vec:
        """Return displacements of nodes (k, 3) of tetrahedra that fill the surface, in its units: at the border that of
        the surface with the same orientation, inside evenly between."""
        faces = boundary_faces(tets)[0]
        border, normal = np.unique(faces), vertex_normals(nodes, faces)
        x, triangles = self.surface.vertices, self.surface.triangles
        edge = float(np.median(np.linalg.norm(nodes[faces[:, 0]] - nodes[faces[:, 1]], axis=1)))
        near = find_near_triangles(nodes[border], x, triangles, edge)
        corners = x[triangles[near]]
        weights = closest_weights(nodes[border][:, None], corners)
        away = np.linalg.norm(np.einsum("bkc,bkci->bki", weights, corners) - nodes[border][:, None], axis=2)
        looks_away = np.einsum("bki,bi->bk", unit_normals(x, triangles)[near], normal[border]) < 0.0
        best = (away + np.where(looks_away, np.inf, 0.0)).argmin(axis=1)
        row = np.arange(len(border))
        displacement = np.zeros_like(nodes)
        displacement[border] = -np.einsum("bc,bci->bi", weights[row, best], self.moved[triangles[near[row, best]]])
        # Laplace's equation on the edges, by as many sweeps as there may be edges between
        graph = edge_graph(nodes, tets)
        graph.data[:] = 1.0
        graph = graph + graph.T
        inner, around = np.ones(len(nodes), dtype=bool), np.asarray(graph.sum(axis=1)).ravel()
        inner[border] = False
        for _ in range(SWEEPS):
            displacement[inner] = (graph @ displacement)[inner] / around[inner, None]
        return displacement


def part_sheets(surface: Surface, clearance: float) -> Parted:
    """Return a surface with a distance of about `clearance`, in its units, between sheets that face each other across
    less than that.

    Loose parts that intersect each other are meant to be one and are not separated.
    """
    retreat = _retreats(surface, clearance)
    if not retreat.any():
        return Parted(surface, np.zeros_like(surface.vertices))
    normal, count = unit_normals(surface.vertices, surface.triangles), len(surface.vertices)
    # each corner moves so that all of its faces retreat, including those that retreat by nothing
    matrix, rhs = np.tile(STIFF * np.eye(3), (count, 1, 1)), np.zeros((count, 3))
    for corner in surface.triangles.T:
        np.add.at(matrix, corner, normal[:, :, None] * normal[:, None, :])
        np.add.at(rhs, corner, -retreat[:, None] * normal)
    displacement = np.linalg.solve(matrix, rhs[:, :, None])[:, :, 0]
    most = np.zeros(count)
    np.maximum.at(most, surface.triangles, FARTHEST * retreat[:, None])
    length = np.linalg.norm(displacement, axis=1)
    displacement *= np.minimum(1.0, most / np.maximum(length, 1e-300))[:, None]
    return Parted(replace(surface, vertices=surface.vertices + displacement), displacement)


def _retreats(surface: Surface, clearance: float) -> Vec:
    """Return the distance by which each triangle has to retreat, in the surface's units, (m,)."""
    x, triangles = surface.vertices, surface.triangles
    normal, retreat = unit_normals(x, triangles), np.zeros(len(triangles))
    spacing = max(clearance, least_spacing(x, triangles))
    samples, of_triangle = spread(x, triangles, spacing)
    tree = cKDTree(samples)
    pairs = tree.query_pairs(REACH * spacing, output_type="ndarray")
    first, second = of_triangle[pairs[:, 0]], of_triangle[pairs[:, 1]]
    pairs = pairs[np.einsum("ki,ki->k", normal[first], normal[second]) < OPPOSED]
    pairs = np.concatenate([pairs, pairs[:, ::-1]])
    first, second = of_triangle[pairs[:, 0]], of_triangle[pairs[:, 1]]
    along_normal = np.einsum("ki,ki->k", samples[pairs[:, 1]] - samples[pairs[:, 0]], normal[first])
    sideways = np.linalg.norm(samples[pairs[:, 1]] - samples[pairs[:, 0]] - along_normal[:, None] * normal[first],
                              axis=1)
    # faces that meet in a crease open there whatever is done
    are_adjacent = (triangles[first][:, :, None] == triangles[second][:, None, :]).any(axis=(1, 2))
    across = (sideways < 0.75 * spacing) & ~are_adjacent
    across[across] = ~_find_joined(surface, first[across], second[across])
    outside = across & (along_normal > -ROUNDING) & (along_normal < clearance)
    np.maximum.at(retreat, first[outside], 0.5 * (clearance - np.maximum(along_normal[outside], 0.0)))
    inside = across & (along_normal < -ROUNDING)
    thickness = np.full(len(triangles), np.inf)
    np.minimum.at(thickness, first[inside], -along_normal[inside])
    return np.minimum(retreat, OF_THICKNESS * thickness)


def _find_joined(surface: Surface, first: Index, second: Index) -> np.ndarray:
    """Return which pairs of triangles are of two loose parts that intersect each other, (k,)."""
    one, other = surface.part[first], surface.part[second]
    count = surface.parts
    keys = np.unique((np.minimum(one, other).astype(np.int64) * count + np.maximum(one, other))[one != other])
    joined = [key for key in keys.tolist() if _overlap(surface, *divmod(key, count))]
    intersect: np.ndarray = np.isin(np.minimum(one, other).astype(np.int64) * count + np.maximum(one, other), joined)
    return intersect


def _overlap(surface: Surface, one: int, other: int) -> bool:
    """Return whether some vertices of a part are inside the other part, and some outside of it."""
    for part, around in ((one, other), (other, one)):
        corners = np.unique(surface.triangles[surface.part == part])
        corners = corners[:: max(1, len(corners) // SAMPLES)]
        inside = np.abs(winding_numbers(surface.vertices[corners], surface.vertices,
                                        surface.triangles[surface.part == around])) > 0.5
        if inside.any() and not inside.all():
            return True
    return False
