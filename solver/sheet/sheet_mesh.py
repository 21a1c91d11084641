"""A cloth as one mesh with a position in the world and a position in material space at every vertex.

Material space is one chart without seams. An artist's painted values are functions on it, so remeshing transfers
nothing but the arrays of SheetMesh.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from ..errors import BadMesh
from ..meshing.normals import unit_normals
from ..state import Index, Mask, Vec
from .around_kernels import build_tables
from .overlap import overlapping_faces
from .polar_kernels import average, decompose
from .sheet_mesh_kernels import areas_of, border_edges_of, edges_of, gradients_of, mean_around, tangents_of

#: corners after and before each corner of a face: the ends of the edge opposite to it
NEXT, LAST = (1, 2, 0), (2, 0, 1)
CORNER = 0.35  #: [rad] turn of the border above which a vertex is a corner
DOUBLED = 1.0e-5  #: relative to the cloth's size: nearer vertices of two pieces are probably doubled
THIN = 1.0e-12  #: relative to the square of the longest edge: a smaller face has no area in material space

#: arrays, and cached properties, each with the arrays on which it depends
MADE_OF = {**{name: {name} for name in ("x", "material", "faces", "v", "slide", "on", "required")},
           **dict.fromkeys(("tables", "edges", "border_edges", "border"), {"faces"}),
           **dict.fromkeys(("areas", "border_tangents"), {"faces", "material"}),
           **dict.fromkeys(("gradients", "mean_gradients"), {"faces", "material", "x"})}


@lru_cache
def _staying(changed: tuple[str, ...]) -> list[str]:
    """Return the names of cached properties that remain valid when the arrays of the given names change."""
    return [name for name, of in MADE_OF.items() if of.isdisjoint(changed)]


@dataclass(frozen=True)
class SheetMesh:
    """A cloth mesh with Lagrangian vertices, and with vertices on sharp features that also move in material space.

    A Lagrangian vertex has a constant X, a vertex on a feature moves at `slide`. Arrays are never written to in place.
    Edge k of a face is the one opposite to its corner k.
    """

    x: Vec  #: [m], world, (n, 3)
    material: Vec  #: X [m], (n, 2)
    faces: Index  #: (m, 3), positively oriented in material space
    v: Vec  #: ẋ [m/s], (n, 3)
    slide: Vec  #: Ẋ [m/s], (n, 2), zero where Lagrangian
    on: Index  #: (n,): -1 Lagrangian, below the number P of point features the point it sits on, else P + the edge's
    required: Mask  #: (n,): never removed nor moved in X: pinned vertices and corners of the border

    @classmethod
    def at_rest(cls, x: Vec, material: Vec, faces: Index, pinned: Mask | None = None) -> SheetMesh:
        """Return a Lagrangian cloth without motion; required are `pinned` vertices, (n,), and corners of the border.

        x: (n, 3) [m]. material: (n, 2) [m]. faces: (m, 3). Raises BadMesh where `check` does.
        """
        n = len(x)
        bare = cls(np.array(x, dtype=float), np.array(material, dtype=float), np.array(faces, dtype=np.int32),
                   np.zeros((n, 3)), np.zeros((n, 2)), np.full(n, -1, np.int32), np.zeros(n, dtype=bool)).check()
        required = bare.border & (bare.border_angles > CORNER)
        if pinned is not None:
            required |= pinned
        return cls(bare.x, bare.material, bare.faces, bare.v, bare.slide, bare.on, required)

    def replace(self, **changes: Any) -> SheetMesh:
        """Return the mesh with arrays replaced by name, of as many rows; cached properties that do not depend on them
        are retained."""
        made = object.__new__(SheetMesh)
        have = self.__dict__
        made.__dict__.update({name: have[name] for name in _staying(tuple(changes)) if name in have}, **changes)
        return made

    @property
    def across(self) -> Index:
        """Return the face beyond edge k of each face, −1 at the border, (m, 3), for manifold faces."""
        return self.tables[0]

    @cached_property
    def tables(self) -> tuple[Index, Index]:
        """Return `across`, (m, 3), and a face of each vertex, −1 for a vertex without faces, (n,)."""
        beyond: Index = np.empty((len(self.faces), 3), dtype=np.int32)
        at: Index = np.empty(len(self.x), dtype=np.int32)
        build_tables(len(self.x), len(self.faces), np.ascontiguousarray(self.faces), beyond, at)
        return beyond, at

    @cached_property
    def edges(self) -> Index:
        """Return the ends of each edge once, in the orientation of its first face, (e, 2)."""
        ends = np.empty((self.faces.size, 2), np.int32)
        return ends[:edges_of(np.ascontiguousarray(self.faces), self.across, ends)]

    @cached_property
    def border_edges(self) -> Index:
        """Return the ends of the border's edges, with the cloth to their left in material space, (b, 2)."""
        ends = np.empty((self.faces.size, 2), np.int32)
        return ends[:border_edges_of(np.ascontiguousarray(self.faces), self.across, ends)]

    @cached_property
    def border(self) -> Mask:
        """Return which vertices are on the border, (n,)."""
        on_border = np.zeros(len(self.x), dtype=bool)
        on_border[self.border_edges] = True
        return on_border

    @cached_property
    def border_tangents(self) -> Vec:
        """Return b, the unit vector along the border in material space, the cloth to its left, (n, 2); zero inside.

        It is from the previous vertex to the next: sliding along b preserves the cloth's area and a straight border.
        """
        tangents: Vec = np.zeros((len(self.x), 2))
        tangents_of(np.ascontiguousarray(self.material), self.border_edges, tangents)
        return tangents

    @cached_property
    def border_angles(self) -> Vec:
        """Return the angle by which the border turns at each vertex in material space, (n,) [rad]; zero inside."""
        into, out = np.zeros_like(self.material), np.zeros_like(self.material)
        out[self.border_edges[:, 0]] = into[self.border_edges[:, 1]] = self._border_directions
        cross = into[:, 0] * out[:, 1] - into[:, 1] * out[:, 0]
        angles: Vec = np.abs(np.arctan2(cross, np.einsum("ni,ni->n", into, out)))
        return angles

    @cached_property
    def _border_directions(self) -> Vec:
        edge_vectors = self.material[self.border_edges[:, 1]] - self.material[self.border_edges[:, 0]]
        unit: Vec = edge_vectors / np.linalg.norm(edge_vectors, axis=1)[:, None]
        return unit

    @cached_property
    def areas(self) -> Vec:
        """Return the areas of the faces in material space, (m,) [m²]."""
        areas: Vec = np.empty(len(self.faces))
        areas_of(np.ascontiguousarray(self.material), np.ascontiguousarray(self.faces), areas)
        return areas

    @cached_property
    def vertex_areas(self) -> Vec:
        """Return a third of the area of the faces around each vertex, (n,) [m²]."""
        return np.asarray(np.bincount(self.faces.ravel(), np.repeat(self.areas / 3.0, 3), len(self.x)), dtype=float)

    @cached_property
    def gradients(self) -> Vec:
        """Return the deformation gradient F of each face, (m, 3, 2). [Thesis 2.3]"""
        return self.face_gradients(self.x)

    def face_gradients(self, values: Vec) -> Vec:
        """Return the gradients in material space of values at the vertices, (n, d), in each face, (m, d, 2)."""
        grown: Vec = np.empty((len(self.faces), values.shape[1], 2))
        gradients_of(np.ascontiguousarray(values), np.ascontiguousarray(self.material),
                     np.ascontiguousarray(self.faces), grown)
        return grown

    @cached_property
    def mean_gradients(self) -> Vec:
        """Return F at the vertices as the mean of the faces around, by area, (n, 3, 2), which is too small at folds."""
        mean: Vec = np.empty((len(self.x), 3, 2))
        mean_around(np.ascontiguousarray(self.faces), self.areas, self.gradients, mean)
        return mean

    @cached_property
    def polar_gradients(self) -> Vec:
        """Return F at the vertices, (n, 3, 2): faces' rotations and stretches averaged separately, by area.

        F = R S, R in the plane of the face and its normal beside it; the mean rotation is where Σ A log(R̄ᵀ R) = 0.
        """
        polar, averaged = np.empty((len(self.faces), 7)), np.empty((len(self.x), 3, 2))
        decompose(np.ascontiguousarray(self.gradients), polar)
        average(np.ascontiguousarray(self.faces), self.areas, polar, averaged)
        return averaged

    @cached_property
    def momentum(self) -> Vec:
        """Return the momentum over the mass per area, ∫ ẋ − F Ẋ in material space with F of each face, (3,) [m³/s].
        [Thesis 2.2]"""
        mean = self.v[self.faces].mean(axis=1) - np.einsum("mij,mj->mi", self.gradients,
                                                           self.slide[self.faces].mean(axis=1))
        momentum: Vec = self.areas @ mean
        return momentum

    @cached_property
    def normals(self) -> Vec:
        """Return the unit normals of the faces in the world, (m, 3)."""
        return unit_normals(self.x, self.faces)

    def check(self) -> SheetMesh:
        """Return the mesh itself. Raises BadMesh unless it is one manifold piece without overlaps in material space."""
        self._check_faces()
        self._check_edges()
        self._check_pieces()
        pair = overlapping_faces(self.material, self.faces)
        if pair is not None:
            raise BadMesh(f"faces {pair[0]} and {pair[1]} lie over each other in material space, {self._spot(pair[0])}",
                          "Unwrap the cloth so that no two faces of its UV map overlap")
        return self

    def _check_faces(self) -> None:
        """Raise BadMesh where a position is not finite, an index is invalid, or a face is flat or mirrored in material
        space."""
        if not (np.isfinite(self.x).all() and np.isfinite(self.material).all()):
            raise BadMesh("the cloth has a vertex that is nowhere: its place is no number", "Check the mesh's vertices")
        if not len(self.faces) or self.faces.min() < 0 or self.faces.max() >= len(self.x):
            raise BadMesh("the cloth has no faces, or a face that refers to a missing vertex", "Give it faces")
        longest = np.linalg.norm(np.roll(self.material[self.faces], -1, axis=1) - self.material[self.faces],
                                 axis=2).max(axis=1)
        flat = np.flatnonzero(~(np.abs(self.areas) > THIN * longest**2))
        if len(flat):
            raise BadMesh(f"face {flat[0]} has no area in material space, {self._spot(flat[0])}",
                          "Unwrap it again, or merge its vertices by distance")
        inverted = np.flatnonzero(self.areas < 0.0)
        if len(inverted):
            raise BadMesh(f"face {inverted[0]} is turned over in material space, {self._spot(inverted[0])}",
                          "Recalculate the normals, and unwrap the cloth so that no face of its UV map is mirrored")

    def _check_edges(self) -> None:
        """Raise BadMesh where an edge has more than two faces, or two of opposite orientation."""
        ends = np.stack([self.faces[:, NEXT], self.faces[:, LAST]], axis=2).reshape(-1, 2).astype(np.int64)
        for which, what in ((ends, "has faces that look opposite ways, or more than two"),
                            (np.sort(ends, axis=1), "has more than two faces")):
            key = (which[:, 0] << 32) | which[:, 1]
            _, first, many = np.unique(key, return_index=True, return_counts=True)
            bad = first[many > (1 if which is ends else 2)]
            if len(bad):
                a, b = ends[bad[0]]
                raise BadMesh(f"the edge between vertices {a} and {b} {what}, {self._spot(int(bad[0]) // 3)}",
                              "Make the cloth manifold: separate the extra faces, or recalculate the normals")

    def _check_pieces(self) -> None:
        """Raise BadMesh unless edges connect all faces to one piece and each vertex has one fan of faces."""
        loose = np.setdiff1d(np.arange(len(self.x)), self.faces)
        if len(loose):
            raise BadMesh(f"vertex {loose[0]} belongs to no face ({len(loose)} such vertices)", "Delete loose vertices")
        label = _labels(len(self.faces), self.across)
        if label.max() > 0:
            raise BadMesh(f"the cloth has {label.max() + 1} pieces in material space that no edge joins, "
                          f"{self._spot(int(np.argmax(label > 0)))}", self._explain_joining(label))
        around = np.bincount(self.faces.ravel(), minlength=len(self.x))
        degree = np.bincount(self.edges.ravel(), minlength=len(self.x))
        pinched = np.flatnonzero(degree != around + self.border)
        if len(pinched):
            face = int(np.flatnonzero((self.faces == pinched[0]).any(axis=1))[0])
            raise BadMesh(f"faces meet at vertex {pinched[0]} and share no edge there, {self._spot(face)}",
                          "Separate the vertex, or fill the gap with a face")

    def _explain_joining(self, label: Index) -> str:
        """Return a text on how to join several pieces, for messages. label: piece of each face, (m,)."""
        from scipy.spatial import cKDTree

        piece = np.zeros(len(self.x), dtype=np.int32)
        piece[self.faces] = label[:, None]

        def doubled(positions: Vec) -> set[tuple[int, int]]:
            size = float(np.ptp(positions, axis=0).max())
            pairs = cKDTree(positions).query_pairs(DOUBLED * size, output_type="ndarray")
            return {(int(a), int(b)) for a, b in pairs[piece[pairs[:, 0]] != piece[pairs[:, 1]]]}

        in_world = doubled(self.x)
        if not in_world:
            return "Make each piece an object of its own, or unwrap it as one island without seams"
        unwrapped = "" if in_world & doubled(self.material) else ", and unwrap it as one island without seams"
        return f"Vertices of them lie on each other: join these by Merge > By Distance in Edit Mode{unwrapped}"

    def _spot(self, face: int) -> str:
        """Return a text that locates a face, for messages."""
        x, X = self.x[self.faces[face]].mean(axis=0), self.material[self.faces[face]].mean(axis=0)
        return f"near ({x[0]:.4g}, {x[1]:.4g}, {x[2]:.4g}) m in the world, ({X[0]:.4g}, {X[1]:.4g}) m in the material"


def _labels(count: int, across: Index) -> Index:
    """Return the number of the connected piece of each face, (m,), from 0 on in the order of faces."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    face, corner = np.nonzero(across >= 0)
    graph = coo_array((np.ones(len(face)), (face, across[face, corner])), shape=(count, count))
    label: Index = connected_components(graph, directed=False)[1].astype(np.int32)
    return label
