"""A sheet mesh while it is changed: arrays with capacity for more rows, and tables of neighbours."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from ..state import Index, Mask, Vec
from . import mesh_kernels as queries
from . import operations_kernels as ops
from .sheet_mesh import SheetMesh

ROOM = 64  #: least additional capacity in vertices; twice as many faces
STRAIGHT = 1.0e-9  #: sin of the turn below which a border is straight
THINNEST = float(np.tan(np.radians(4.0)))  #: tan of the smallest angle after a change


class Outcome(IntEnum):
    """Result of a flip or a collapse."""

    DONE = ops.DONE
    REQUIRED = ops.REQUIRED  #: the vertex is pinned, or a corner of the border
    ON_FEATURE = ops.ON_FEATURE  #: the vertex would leave the feature, or a conformal edge would be removed
    AT_BORDER = ops.AT_BORDER  #: the border would change
    LINKED = ops.LINKED  #: two faces would coincide
    INVERTED = ops.INVERTED  #: a face would be inverted, or lose its area, in material space
    THIN = ops.THIN  #: a face would get too small an angle
    CROWDED = ops.CROWDED  #: more than `mesh_kernels.WIDEST` faces at a vertex
    NO_EDGE = ops.NO_EDGE  #: no edge joins the two vertices


class Working:
    """A mesh under changes of single vertices; numbers of vertices do not change until `sheet` compacts them.

    Kernels take `arrays` (`mesh_kernels.MESH`); before a kernel adds rows, `room` must be called.
    """

    def __init__(self, mesh: SheetMesh, points: int | None = None, ends: Index | None = None,
                 straight: float | None = None, thinnest: float | None = None) -> None:
        """points: number of point features; None if all features in `on` are points. ends: points at the ends of each
        edge feature, (E, 2), as `Features.edges`. straight: sin of the angle below which a border is straight,
        by default STRAIGHT. thinnest: lower bound of tan of angles in material space after a flip or a collapse, by
        default THINNEST."""
        self._from = mesh
        self.straight = STRAIGHT if straight is None else straight
        self.thinnest = THINNEST if thinnest is None else thinnest
        n, m = len(mesh.x), len(mesh.faces)
        # features with a number past the given ends have none
        known = int(mesh.on.max(initial=-1)) + 1 if points is None else points
        self._ends: Index = np.ascontiguousarray(np.zeros((0, 2)) if ends is None else ends, dtype=np.int32)
        self.counts = np.array([n, m, known])
        self.x, self.material = mesh.x.copy(), mesh.material.copy()
        self.v, self.slide = mesh.v.copy(), mesh.slide.copy()
        self.metric = np.zeros((n, 3))
        self.on, self.required = mesh.on.copy(), mesh.required.copy()
        self.faces = mesh.faces.copy()
        self.across, self.at = (table.copy() for table in mesh.tables)
        self._pack()
        self._changed = False

    def _pack(self) -> None:
        self.arrays: tuple[Any, ...] = (self.x, self.material, self.v, self.slide, self.metric, self.on, self.required,
                                        self.faces, self.across, self.at, self.counts, self._ends)

    def room(self, vertices: int) -> None:
        """Make room for a number of additional vertices, and for the faces that their splits add."""
        n, m = self.counts[:2]
        if n + vertices <= len(self.at) and m + 2 * vertices <= len(self.faces):
            return
        more, wide = max(vertices, len(self.at) // 2, ROOM), max(2 * vertices, len(self.faces) // 2, 2 * ROOM)
        for name in ("x", "material", "v", "slide", "metric", "on", "required", "at"):
            setattr(self, name, _longer(getattr(self, name), n + more))
        for name in ("faces", "across"):
            setattr(self, name, _longer(getattr(self, name), m + wide))
        self._pack()

    def split_edge(self, a: int, b: int, t: float = 0.5) -> int:
        """Split the edge from a to b at a fraction t; return the number of the new vertex, −1 if there is no edge.

        The vertex is Eulerian-on-Lagrangian on a conformal edge, else Lagrangian, with the velocities of section 2.6.2.
        [Thesis 2.6.2]
        """
        self.room(1)
        edge = queries.find_edge(self.arrays, a, b)
        if edge < 0:
            return -1
        f, k = divmod(edge, 3)
        self._changed = True
        return int(ops.split_edge(self.arrays, f, k, t if self.faces[f, (k + 1) % 3] == a else 1.0 - t))

    def split_face(self, face: int, weights: Vec) -> int:
        """Split a face at positive weights of its corners, (3,); return the number of the new Lagrangian vertex."""
        self.room(1)
        self._changed = True
        return int(ops.split_face(self.arrays, face, np.ascontiguousarray(weights, dtype=float)))

    def flip(self, a: int, b: int) -> Outcome:
        """Replace the edge between vertices a and b by that between the two opposite corners; return the outcome."""
        edge = queries.find_edge(self.arrays, a, b)
        if edge < 0:
            return Outcome.NO_EDGE
        outcome = Outcome(ops.flip(self.arrays, edge // 3, edge % 3, self.thinnest))
        self._changed |= outcome is Outcome.DONE
        return outcome

    def may_collapse(self, removed: int, into: int) -> Outcome:
        """Return the outcome that `collapse` would have, without a change."""
        return Outcome(ops.may_collapse(self.arrays, removed, into, self.straight, self.thinnest))

    def collapse(self, removed: int, into: int) -> Outcome:
        """Move the vertex `removed` onto its neighbour `into`, which does not move, if it may; return the outcome."""
        outcome = self.may_collapse(removed, into)
        if outcome is Outcome.DONE:
            ops.collapse(self.arrays, removed, into)
            self._changed = True
        return outcome

    def faces_around(self, vertex: int) -> Index:
        """Return the faces around a vertex counterclockwise, starting at the border if the vertex is on it, (k,)."""
        out: Index = np.empty(queries.WIDEST, dtype=np.int32)
        return out[:abs(queries.ring(self.arrays, vertex, out))]

    def neighbours(self, vertex: int) -> Index:
        """Return the vertices that edges join with a vertex, counterclockwise, (k,)."""
        around = self.faces_around(vertex)
        corner = np.argmax(self.faces[around] == vertex, axis=1)
        near: Index = self.faces[around, (corner + 1) % 3]
        last = int(around[-1])
        if self.across[last, (corner[-1] + 1) % 3] < 0:
            near = np.append(near, self.faces[last, (corner[-1] + 2) % 3])
        return near

    def faces_of(self, a: int, b: int) -> tuple[int, int]:
        """Return both faces of the edge a b, the second −1 at the border; (−1, −1) if there is no edge."""
        edge = queries.find_edge(self.arrays, a, b)
        return (-1, -1) if edge < 0 else (edge // 3, int(self.across[edge // 3, edge % 3]))

    def on_border(self, vertex: int) -> bool:
        """Whether a vertex is on the border of the sheet."""
        return bool(queries.ring(self.arrays, vertex, np.empty(queries.WIDEST, dtype=np.int32)) < 0)

    def conformal(self, a: int, b: int) -> bool:
        """Return whether an edge between vertices a and b would be along an edge feature."""
        return bool(queries.feature_of(self.arrays, a, b) >= 0)

    @property
    def alive(self) -> Mask:
        """Return which rows of vertices are in use, (rows,)."""
        return self.at[: self.counts[0]] >= 0

    @property
    def living_faces(self) -> Index:
        """Return the rows of faces that are in use, ascending, (m,)."""
        rows: Index = (self.faces[: self.counts[1], 0] >= 0).nonzero()[0].astype(np.int32)
        return rows

    def mark_changed(self) -> None:
        """Record that the arrays were changed by other means than the methods of this class."""
        self._changed = True

    def sheet(self) -> tuple[SheetMesh, Index]:
        """Return the mesh, and the vertex of the original mesh that each of its vertices is, −1 for a new one, (n',).

        Vertices and faces retain their order, new ones come last. An unchanged mesh is returned itself.
        """
        if not self._changed:
            return self._from, np.arange(len(self._from.x), dtype=np.int32)
        alive = self.alive.nonzero()[0]
        number = np.full(self.counts[0], -1, dtype=np.int32)
        number[alive] = np.arange(len(alive))
        was: Index = np.where(alive < len(self._from.x), alive, -1).astype(np.int32)
        rows = self.living_faces
        faces: Index = number[self.faces[rows]]
        made = SheetMesh(self.x[alive], self.material[alive], faces, self.v[alive], self.slide[alive], self.on[alive],
                         self.required[alive])
        if len(alive) == self.counts[0] and len(rows) == self.counts[1]:  # none has another number
            made.__dict__["tables"] = self.across[: len(rows)].copy(), self.at[: len(alive)].copy()
        return made, was


def _longer(array: Any, rows: int) -> Any:
    """Return the array enlarged to a number of rows, filled up with zeros, never shortened."""
    longer = np.zeros((max(rows, len(array)), *array.shape[1:]), dtype=array.dtype)
    longer[: len(array)] = array
    return longer
