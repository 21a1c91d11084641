"""Tables of projected elements: their local projections, their weights, and the matrix of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from ...forces.cloth.sheet import over_elements
from ...materials.lanes import LANES, MATERIAL_SLOTS
from ...meshing.volume import shape_gradients
from ...state import Index, Vec
from ...threads import parallel_for
from .projection_kernels import project_rows, project_tets, pull_flat
from .triangle_kernels import WORK, project_triangles

PIECES = 32  #: of the work on triangles and tetrahedra; borders do not depend on the number of threads


class ProjectedElements(Protocol):
    """Protocol of elements with an energy Σ min_p ½ w |A x − p|²."""

    @property
    def nodes(self) -> Index:
        """Return the nodes of each element, (k, a)."""

    def project(self, x: Vec, pulls: Vec) -> float:
        """Return the energy [J] at positions x (n, 3) [m]; write forces −w Aᵀ(A x − p) at the elements' nodes,
        (k, a, 3) [N]."""

    def matrix(self, count: int) -> sp.csc_matrix:
        """Return Σ w AᵀA for one axis, (n, n) [N/m], n = count."""


@dataclass(frozen=True)
class Lengths:
    """Rows d = Σ c_a x_a − centre with least ≤ |d| ≤ most: springs and threads (a fixed length), ropes (a maximum
    length), bends (a curvature), welds and anchors (zero), directions across a triangle."""

    nodes: Index  #: (k, 4), unused ones with the coefficient 0
    coefficients: Vec  #: (k, 4)
    weights: Vec  #: w, (k,), [N/m] where d has the unit of x
    least: Vec  #: (k,)
    most: Vec  #: (k,)
    centres: Vec  #: (k, 3)
    _energies: Vec = field(default_factory=lambda: np.zeros(0), repr=False)

    @classmethod
    def of(cls, nodes: Index, coefficients: Vec, weights: Vec | float, least: Vec | float,
           most: Vec | float | None = None, centres: Vec | None = None) -> Lengths:
        """Return rows from nodes and coefficients (k, 1…4), or coefficients (1…4,) for all rows; least, most and
        weights: (k,) or one number. most: None for the value of `least`."""
        nodes = np.atleast_2d(nodes)
        count, width = nodes.shape
        padded = np.repeat(nodes[:, :1], 4, axis=1)
        padded[:, :width] = nodes
        scaled = np.zeros((count, 4))
        scaled[:, :width] = coefficients
        weight, low, high = (np.array(np.broadcast_to(np.asarray(value, float), (count,)))
                             for value in (weights, least, least if most is None else most))
        middles = np.zeros((count, 3)) if centres is None else np.ascontiguousarray(centres, dtype=float)
        return cls(np.ascontiguousarray(padded, dtype=np.int32), scaled, weight, low, high, middles, np.zeros(count))

    @classmethod
    def join(cls, several: Sequence[Lengths]) -> Lengths:
        """Return the rows of several tables in one table, in the order of the list."""
        names = ("nodes", "coefficients", "weights", "least", "most", "centres", "_energies")
        return cls(*(np.concatenate([getattr(table, name) for table in several]) for name in names))

    def around(self, centres: Vec) -> Lengths:
        """Return the rows with other centres, (k, 3)."""
        return replace(self, centres=np.ascontiguousarray(centres, dtype=float))

    def project(self, x: Vec, pulls: Vec) -> float:
        """Return the energy Σ ½ w (|d| − clip(|d|, least, most))² [J] at positions x (n, 3) [m]; write the forces at
        the rows' nodes to `pulls`, (k, 4, 3) [N]."""
        over_elements(project_rows, len(self.nodes), x, self.nodes, self.coefficients, self.weights, self.least,
                      self.most, self.centres, pulls, self._energies)
        return float(self._energies.sum())

    def matrix(self, count: int) -> sp.csc_matrix:
        """Return Σ w AᵀA of the rows for one axis, (n, n) [N/m], n = count."""
        return _assemble(self.nodes, self.coefficients[:, :, None], self.weights, count)


class FlatRows:
    """½ w |Σ c_a x_a|² of rows with a target of zero, such as bends of flat cloth, evaluated at once by their
    matrix."""

    def __init__(self, rows: Lengths, count: int) -> None:
        """rows: with `most` 0 and centres 0. count: number of nodes."""
        self.nodes = np.arange(count, dtype=np.int32)[:, None]
        self.weights = rows.weights
        self._matrix = rows.matrix(count)
        whole = self._matrix.tocsr()
        self._table = whole.indptr.astype(np.int32), whole.indices.astype(np.int32), whole.data

    def project(self, x: Vec, pulls: Vec) -> float:
        """Return the energy ½ x · B x [J] at positions x (n, 3) [m], B the matrix of the rows; write the forces −B x to
        `pulls`, (n, 1, 3) [N]."""
        return float(pull_flat(*self._table, x, pulls))

    def matrix(self, count: int) -> sp.csc_matrix:
        """Return the matrix of the rows for one axis, (n, n) [N/m], which was assembled once; count: not used."""
        return self._matrix


class Triangles:
    """½ A (w (|F e| − 1)² + s max(|F e| − most, 0)²) for directions e across the material of triangles, such as
    threads, which are stiffer beyond a stretch limit; and ½ A m |F − R|² of triangles in space, R with orthonormal
    columns, which resists stretch and shear alike."""

    def __init__(self, triangles: Index, gradients: Vec, areas: Vec, directions: Vec, modulus: float) -> None:
        """triangles: (t, 3). gradients: ∇N in material space [1/m], (t, 3, 2). areas: (t,) [m²]. directions: e, w
        [N/m], s [N/m] and most of each, (k, 5). modulus: m [N/m]."""
        source = _pad(len(triangles))
        self._count, self._modulus, self._directions = len(triangles), modulus, np.array(directions, dtype=float)
        self.nodes, self._gradients = np.array(triangles[source], dtype=np.int32), np.array(gradients[source], float)
        self._areas = np.array(areas[source], float)
        self._areas[len(triangles):] = 0.0
        #: of each direction, and m [N/m], (k + 1,)
        self.weights: Vec = np.append(self._directions[:, 2:4].sum(axis=1), modulus)
        tables = (_in_lanes(self.nodes), _in_lanes(self._gradients[:, 1:]), self._areas.reshape(-1, LANES))
        self._works = np.zeros((min(PIECES, len(tables[0])), WORK))
        self._tables = (*tables, self._directions, modulus, self.nodes, self._gradients, self._works)
        self._energies = np.zeros(len(source))

    def project(self, x: Vec, pulls: Vec) -> float:
        """Return the energy of directions and rotations [J] at positions x (n, 3) [m]; write the forces at the
        triangles' corners to `pulls`, (16 b, 3, 3) [N], zero on those that fill up the last lanes."""
        parallel_for(project_triangles, len(self._works), x, *self._tables, pulls, self._energies)
        return float(self._energies.sum())

    def matrix(self, count: int) -> sp.csc_matrix:
        """Return Σ w AᵀA of all directions, and of the columns of F, for one axis, (n, n) [N/m], n = count."""
        every = np.concatenate([self._directions[:, :2].T, np.eye(2)], axis=1) * np.sqrt(self.weights)[[*range(
            len(self._directions)), -1, -1]]
        own = slice(self._count)
        return _assemble(self.nodes[own], self._gradients[own] @ every, self._areas[own], count)


class Tets:
    """½ w₁ |F − R|² + ½ w₂ |F − P|² of tetrahedra, R a rotation and P of determinant 1.

    w₁ = 2 μ V and w₂ = 3 λ V are those of an isotropic material for small strains, where |F − R|² is |ε|² and |F − P|²
    is (tr ε)²/3. With w₂ = 0 it is ARAP.
    """

    def __init__(self, rest: Vec, tets: Index, lame_mu: Vec, lame_lambda: Vec) -> None:
        """rest: (n, 3) [m]. tets: (e, 4). lame_mu, lame_lambda: (e,) [Pa]."""
        count, source = len(tets), _pad(len(tets))
        gradients, six_volumes = shape_gradients(rest, tets)
        weights = np.stack([2.0 * lame_mu, 3.0 * lame_lambda], axis=1) * (six_volumes / 6.0)[:, None]
        self._gradients, self._weights = gradients, weights.sum(axis=1)
        padded = weights[source]
        padded[count:] = 0.0
        self.nodes = np.array(tets[source], dtype=np.int32)
        self._count = count
        self._tables = (_in_lanes(self.nodes), _in_lanes(gradients[source, 1:]), _in_lanes(padded))
        self._works = np.zeros((min(PIECES, len(source) // LANES), MATERIAL_SLOTS * LANES))
        self._energies = np.zeros(len(source))

    def project(self, x: Vec, pulls: Vec) -> float:
        """Return the energy [J] at positions x (n, 3) [m]; write the forces at the tetrahedra's nodes to `pulls`, (16
        b, 4, 3) [N], zero on those that fill up the last lanes."""
        parallel_for(project_tets, len(self._works), x, *self._tables, self._works, pulls, self._energies)
        return float(self._energies.sum())

    def matrix(self, count: int) -> sp.csc_matrix:
        """Return Σ (w₁ + w₂) ∇N ∇Nᵀ for one axis, (n, n) [N/m], n = count."""
        return _assemble(self.nodes[: self._count], self._gradients, self._weights, count)


def _pad(count: int) -> Index:
    """Return indices of elements that fill whole blocks of lanes, (16 b,), with the first one repeated after the
    last."""
    source = np.zeros(-(-count // LANES) * LANES, dtype=np.int32)
    source[:count] = np.arange(count)
    return source


def _in_lanes(values: Vec | Index) -> Vec:
    """Return values (16 b, …) rearranged to (b, …, 16)."""
    return np.ascontiguousarray(np.moveaxis(values.reshape(-1, LANES, *values.shape[1:]), 1, -1))


def _assemble(nodes: Index, coefficients: Vec, weights: Vec, count: int) -> sp.csc_matrix:
    """Return Σ w A Aᵀ of elements with nodes (k, a) and coefficients (k, a, r), (n, n)."""
    blocks = np.einsum("kar,kbr,k->kab", coefficients, coefficients, weights)
    width = nodes.shape[1]
    rows, columns = np.repeat(nodes, width, axis=1), np.tile(nodes, (1, width))
    return sp.coo_matrix((blocks.ravel(), (rows.ravel(), columns.ravel())), shape=(count, count)).tocsc()
