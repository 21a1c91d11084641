"""The artist's triangles made fit for a mesher: welded, cleaned, centred, scaled to a unit box, facing outwards."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import breadth_first_order, connected_components
from scipy.spatial import cKDTree

from ..errors import BadMesh
from ..state import Index, Vec
from .slivers import without_slivers
from .winding import winding_numbers

WELD = 1e-7  #: of the unit box: about the resolution of single precision
ROUNDING = 1e-9  #: of a volume, relative to the area's power of 3/2
FLAT = 1e-5  #: of the unit box: thinner than this there is nothing to fill


@dataclass(frozen=True)
class Surface:
    """A clean surface in a unit box around the origin: world = vertices * scale + centre."""

    vertices: Vec  #: (n, 3)
    triangles: Index  #: (m, 3), facing outwards, or into a cavity
    part: Index  #: connected part of each triangle, (m,)
    open_edges: int  #: edges with a single triangle
    tangled_edges: int  #: edges with more than two triangles
    centre: Vec  #: [m], (3,)
    scale: float  #: [m]

    @property
    def diagonal(self) -> float:
        """Return the diagonal of the bounding box [m]."""
        return float(np.linalg.norm(np.ptp(self.vertices, axis=0))) * self.scale

    @property
    def parts(self) -> int:
        """Return the number of connected parts."""
        return int(self.part.max()) + 1

    @property
    def volume(self) -> float:
        """Return the volume by the divergence theorem, in unit-box units; exact only where nothing overlaps or is open.
        """
        return float(measure_enclosed_volumes(self.vertices, self.triangles).sum())


def measure_enclosed_volumes(vertices: Vec, triangles: Index) -> Vec:
    """Return the contribution of each triangle (m, 3) to the enclosed volume, (m,): a sixth of det[a, b, c]. vertices:
    (n, 3)."""
    a, b, c = (vertices[triangles[:, i]] for i in range(3))
    volumes: Vec = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0
    return volumes


def clean(vertices: NDArray, triangles: NDArray, name: str | None = None, flat: bool = False) -> Surface:
    """Return a surface that is fit for a mesher.

    vertices: (n, 3) [m]; triangles: (m, 3) indices. Vertices closer than 1e-7 of the size are merged; triangles without
    area, duplicates and unused vertices are removed. flat: whether the surface may lie in a plane, since it is
    thickened afterwards. Raises BadMesh where no volume can come of it.
    """
    vertices, triangles = _check(vertices, triangles, name)
    used = np.unique(triangles)
    low, high = vertices[used].min(axis=0), vertices[used].max(axis=0)
    centre, scale = low + 0.5 * (high - low), float((high - low).max())
    precision = 1e-15 * float(np.abs(vertices[used]).max())
    if scale <= max(precision, 1e-150):
        raise BadMesh("all vertices are at the same place", "Give the mesh a size", object=name)

    vertices, triangles = _weld((vertices - centre) / scale, triangles)
    triangles = _distinct(triangles)
    triangles = without_slivers(vertices, triangles)
    open_edges, tangled_edges = _edge_counts(triangles)  # before faces without area go, which leaves slits
    area2 = np.linalg.norm(np.cross(vertices[triangles[:, 1]] - vertices[triangles[:, 0]],
                                    vertices[triangles[:, 2]] - vertices[triangles[:, 0]]), axis=1)
    triangles = triangles[area2 > 0.0]
    if len(triangles) < 3:
        raise BadMesh("its faces have no area", "Give it faces that enclose a volume", object=name)
    used, corners = np.unique(triangles, return_inverse=True)
    vertices, triangles = vertices[used], corners.reshape(-1, 3).astype(np.int32)
    if not flat:
        _refuse_flat(vertices, name)
    triangles, part = _orient(vertices, triangles)
    return Surface(vertices, triangles, part, open_edges, tangled_edges, centre, scale)


def _check(vertices: NDArray, triangles: NDArray, name: str | None) -> tuple[Vec, Index]:
    """Return both arrays in the right form. Raises BadMesh for empty, infinite or ill-indexed ones."""
    vertices = np.asarray(vertices, dtype=np.float64).reshape(-1, 3)
    triangles = np.asarray(triangles).reshape(-1, 3).astype(np.int32)
    if len(vertices) == 0:
        raise BadMesh("the mesh is empty", "Give it vertices and faces", object=name)
    if len(triangles) == 0:
        raise BadMesh("the mesh has no faces, only loose vertices or edges", "Give it faces", object=name)
    if triangles.min() < 0 or triangles.max() >= len(vertices):
        raise BadMesh("a face refers to a vertex that does not exist", "Validate the mesh", object=name)
    finite = np.isfinite(vertices).all(axis=1)
    if not finite.all():
        first = int(np.flatnonzero(~finite)[0])
        raise BadMesh(f"{int((~finite).sum())} vertices have coordinates that are not numbers, the first is {first}",
                      "Delete these vertices or repair the modifier that makes them", object=name)
    return vertices, triangles


def _weld(vertices: Vec, triangles: Index) -> tuple[Vec, Index]:
    """Return the surface with vertices at the same position merged into the first of them, so that nothing moves."""
    pairs = cKDTree(vertices).query_pairs(WELD, output_type="ndarray")
    graph = coo_matrix((np.ones(len(pairs), dtype=np.int8), (pairs[:, 0], pairs[:, 1])), shape=(len(vertices),) * 2)
    _, group = connected_components(graph, directed=False)
    first = np.unique(group, return_index=True)[1]
    return vertices[first], group[triangles].astype(np.int32)


def _distinct(triangles: Index) -> Index:
    """Return the triangles without any that has a corner twice, and with each set of three corners once."""
    a, b, c = triangles.T
    triangles = triangles[(a != b) & (b != c) & (c != a)]
    first = np.unique(np.sort(triangles, axis=1), axis=0, return_index=True)[1]
    return triangles[np.sort(first)]


def _edge_counts(triangles: Index) -> tuple[int, int]:
    """Return the numbers of edges that have a single triangle, and more than two."""
    edges = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2).astype(np.int64), axis=1)
    counts = np.unique(edges[:, 0] << 32 | edges[:, 1], return_counts=True)[1]
    return int((counts == 1).sum()), int((counts > 2).sum())


def _refuse_flat(vertices: Vec, name: str | None) -> None:
    """Raise BadMesh where all vertices lie in a plane or on a line."""
    spread = np.linalg.svd(vertices - vertices.mean(axis=0), full_matrices=False)
    along = np.ptp((vertices - vertices.mean(axis=0)) @ spread[2].T, axis=0)
    if along[2] < FLAT * along[0]:
        raise BadMesh("the mesh is flat, it encloses no volume",
                      "Give it thickness with a Solidify modifier, or set its Sheet Thickness", object=name)


def _orient(vertices: Vec, triangles: Index) -> tuple[Index, Index]:
    """Return the triangles with one orientation within each piece, pieces outwards and cavities inwards; and the
    connected part of each."""
    flip, piece = _consistent(triangles)
    # as most faces of the piece were oriented before: the artist's choice
    flip ^= (np.bincount(piece, np.where(flip, 1.0, -1.0)) > 0)[piece]
    triangles = np.where(flip[:, None], triangles[:, ::-1], triangles)
    inverted = _inside_out(vertices, triangles, piece)
    triangles = np.ascontiguousarray(np.where(inverted[piece][:, None], triangles[:, ::-1], triangles), dtype=np.int32)

    links = triangles[:, [0, 1, 1, 2]].reshape(-1, 2)
    graph = coo_matrix((np.ones(len(links)), (links[:, 0], links[:, 1])), shape=(len(vertices),) * 2)
    part = connected_components(graph, directed=False)[1][triangles[:, 0]].astype(np.int32)
    return triangles, part


def _consistent(triangles: Index) -> tuple[NDArray[np.bool_], Index]:
    """Return which triangles to flip so that neighbours agree, and the piece of each.

    A piece is connected over edges that have exactly two triangles, along a breadth-first tree; a Möbius strip has one
    seam.
    """
    m = len(triangles)
    edges = triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2).astype(np.int64)
    forward = edges[:, 0] < edges[:, 1]
    ordered = np.sort(edges, axis=1)
    _, group, counts = np.unique(ordered[:, 0] << 32 | ordered[:, 1], return_inverse=True, return_counts=True)
    half = np.flatnonzero(counts[group] == 2)
    half = half[np.argsort(group[half], kind="stable")].reshape(-1, 2)
    left, right = half[:, 0] // 3, half[:, 1] // 3
    opposed = forward[half[:, 0]] == forward[half[:, 1]]  # same direction along the edge: they disagree

    graph = coo_matrix((np.ones(len(left)), (left, right)), shape=(m, m))
    _, piece = connected_components(graph, directed=False)
    roots = np.unique(piece, return_index=True)[1]
    # weight 1: neighbours agree, 2: they disagree; node m is a common root of all pieces
    rows = np.concatenate([left, np.full(len(roots), m)])
    columns = np.concatenate([right, roots])
    tree_of = coo_matrix((np.ones(len(rows)), (rows, columns)), shape=(m + 1, m + 1)).tocsr()
    _, above = breadth_first_order(tree_of, m, directed=False)
    sign = _edge_lookup(m, left, right, opposed, above)

    # the parity of the path to the root, by doubling
    ancestor = np.where(above < 0, m, above)
    parity = sign
    while (ancestor != m).any():
        parity = parity ^ parity[ancestor]
        ancestor = ancestor[ancestor]
    return parity[:m], piece.astype(np.int32)


def _edge_lookup(m: int, left: NDArray, right: NDArray, opposed: NDArray[np.bool_],
                 above: NDArray) -> NDArray[np.bool_]:
    """Return whether each triangle disagrees with the one above it in the tree, (m + 1,)."""
    key = np.concatenate([left * (m + 1) + right, right * (m + 1) + left])
    value = np.concatenate([opposed, opposed])
    order = np.argsort(key, kind="stable")
    sought = np.arange(m) * (m + 1) + above[:m]
    at = np.minimum(np.searchsorted(key[order], sought), max(len(key) - 1, 0))
    is_listed = (key[order][at] == sought) if len(key) else np.zeros(m, dtype=bool)
    sign = np.zeros(m + 1, dtype=bool)
    sign[:m] = is_listed & value[order][at] if len(key) else False
    return sign


def _inside_out(vertices: Vec, triangles: Index, piece: Index) -> NDArray[np.bool_]:
    """Return which pieces to invert, (pieces,): those that enclose a negative volume; but a piece inside another is
    inverted as that one is, so that a cavity remains a cavity."""
    faces = np.bincount(piece)
    middle = vertices[triangles].mean(axis=1)
    centre = np.stack([np.bincount(piece, middle[:, i]) / faces for i in range(3)], axis=1)
    a, b, c = (vertices[triangles[:, i]] - centre[piece] for i in range(3))
    volume = np.bincount(piece, np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0)
    area = np.bincount(piece, 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1))
    inverted = volume < -ROUNDING * area**1.5  # a flat piece stays as the artist has it
    if len(volume) == 1 or len(volume) > 1000:
        return inverted

    # from small to large, so that the outermost surrounding piece decides
    probe = vertices[triangles[np.unique(piece, return_index=True)[1]]].mean(axis=1)
    for outer in np.argsort(np.abs(volume), kind="stable"):
        smaller = np.flatnonzero(np.abs(volume) < np.abs(volume[outer]))
        around = np.abs(winding_numbers(probe[smaller], vertices, triangles[piece == outer]))
        inverted[smaller[around > 0.5]] = volume[outer] < 0.0
    return inverted
