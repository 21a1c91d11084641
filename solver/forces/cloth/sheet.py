"""Sheet of triangles in its material space, and the protocol of a law on its elements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from ...state import Index, Vec
from ...threads import parallel_for
from .hinge_finding import find_hinges, measure_material
from .quads import find_bends, pair_triangles

SINGLE_THREAD = 256  #: most elements that one thread processes alone


@dataclass(frozen=True)
class Sheet:
    """Triangles with positions in material space, where u runs along the warp and v along the weft.

    Each triangle has corners of its own in material space, so a sheet may be cut along seams.
    """

    rest: Vec  #: positions of all nodes of the part at rest [m], (n, 3)
    triangles: Index  #: (e, 3), indices of those nodes
    material: Vec  #: of the corners of each triangle [m], (e, 3, 2)
    slides: bool = False  #: whether vertices move in material space, which changes the triangles that form quads

    @property
    def areas(self) -> Vec:
        """Return the areas of the triangles in material space, (e,) [m²]."""
        return self._measured[0]

    @property
    def gradients(self) -> Vec:
        """Return ∇N of the corners of each triangle in material space, (e, 3, 2) [1/m]."""
        return self._measured[1]

    @cached_property
    def _measured(self) -> tuple[Vec, Vec]:
        """Return the areas of triangles in material space, (e,) [m²], and gradients of their shape functions, (e, 3, 2)
        [1/m]."""
        areas: Vec = np.empty(len(self.material))
        gradients: Vec = np.empty((len(self.material), 3, 2))
        measure_material(np.ascontiguousarray(self.material, dtype=float), areas, gradients)
        return areas, gradients

    @cached_property
    def hinges(self) -> Hinges:
        """Return the hinges of the sheet: edges with a triangle on either side."""
        return Hinges.of(self)

    @cached_property
    def bends(self) -> Bends:
        """Return the bends of the sheet: its hinges, with quads instead of their halves."""
        return Bends.of(self)


@dataclass(frozen=True)
class Hinges:
    """Pairs of triangles, by the ends of their edge and the corners opposite to it, for any orientation of the
    faces."""

    nodes: Index  #: ends a, b and opposite corners c, d, (h, 4)
    length: Vec  #: of the edge in material space, the mean of both sides [m], (h,)
    sides: Index  #: the triangles of c and of d, (h, 2)
    areas: Vec  #: of these in material space [m²], (h, 2)
    cotangents: Vec  #: of the angles at a and b in the triangle of c, and at a and b in that of d, (h, 4)

    @classmethod
    def of(cls, sheet: Sheet) -> Hinges:
        """Return the hinges of a sheet: of each edge with two triangles."""
        capacity = 3 * len(sheet.triangles)
        nodes, faces = np.empty((capacity, 4), np.int32), np.empty((capacity, 2), np.int32)
        length, cotangents = np.empty(capacity), np.empty((capacity, 4))
        count = find_hinges(np.require(sheet.triangles, np.int32, ["C", "W"]),
                            np.require(sheet.material, float, ["C", "W"]), nodes, faces, length, cotangents)
        return cls(nodes[:count], length[:count], faces[:count], sheet.areas[faces[:count]], cotangents[:count])


@dataclass(frozen=True)
class Bends:
    """Pairs of triangles that bend about an edge, with fields as of `Hinges`, and a weight of each.

    Bending of a quad that is divided into two triangles does not depend on its diagonal: about each of its sides the
    corners across from either end bend, with weight one half each, and its diagonal resists twist alone. On a grid that
    is ½ k (κ_uu² + κ_vv² + 2 κ_uv²) per area by central differences. Hinges of the triangles alone, whose diagonals
    also resist bending along the sides, would bend by zigzags: a strip is softer by a fifth, and up to three times as
    stiff about one of its diagonals.
    """

    nodes: Index  #: ends a, b and corners c, d, (k, 4)
    length: Vec  #: of the edge [m], (k,)
    areas: Vec  #: of both triangles [m²], (k, 2)
    cotangents: Vec  #: of the angles at a and b in the triangle of c, and at a and b in that of d, (k, 4)
    weight: Vec  #: (k,)

    @classmethod
    def of(cls, sheet: Sheet) -> Bends:
        """Return the bends of a sheet: its hinges where it slides over edges, else also those across the diagonals of
        quads."""
        hinges = sheet.hinges
        if sheet.slides:
            return cls(hinges.nodes, hinges.length, hinges.areas, hinges.cotangents, np.ones(len(hinges.nodes)))
        triangles = np.require(sheet.triangles, np.int32, ["C", "W"])
        material = np.require(sheet.material, float, ["C", "W"])
        longest, mates = np.empty(len(triangles), np.int32), np.empty(len(triangles), np.int32)
        pair_triangles(triangles, material, hinges.nodes, hinges.sides, longest, mates)
        capacity = 2 * len(hinges.nodes)
        nodes, length, areas = np.empty((capacity, 4), np.int32), np.empty(capacity), np.empty((capacity, 2))
        cotangents, weight = np.empty((capacity, 4)), np.empty(capacity)
        count = find_bends(triangles, material, hinges.nodes, hinges.sides, hinges.length, hinges.areas,
                           hinges.cotangents, longest, mates, nodes, length, areas, cotangents, weight)
        return cls(nodes[:count], length[:count], areas[:count], cotangents[:count], weight[:count])


class SheetLaw(Protocol):
    """Protocol of a law on the elements of one sheet. Entries of the families "membrane" and "bending"."""

    nodes: Index  #: of its elements, (s, 3) or (s, 4)
    energies: Vec  #: of those at the last `measure` [J], (s,)

    def __init__(self, sheet: Sheet, params: Mapping[str, float]) -> None: ...

    def measure(self, x: Vec, forces: Vec) -> float:
        """Return the energy [J] at positions x (n, 3) [m]; write forces (s, 4, 3) [N], of triangles with a fourth row
        of zeros."""

    def fill(self, x: Vec, project: bool, forces: Vec, blocks: Vec) -> None:
        """Write forces (s, 4, 3) [N] and blocks of K = ∂f/∂x of pairs of nodes, (s, 6, 9) [N/m], in the order of
        `Stencils`.

        K is negative semi-definite if `project`. x: (n, 3) [m].
        """


class TimedLaw(Protocol):
    """Protocol of a law that changes over time."""

    def activate(self, time: float) -> None:
        """Set the law to its state at `time` [s], for all later calls."""


def over_elements(kernel: Callable[..., None], count: int, *arguments: Any) -> None:
    """Run kernel(start, stop, *arguments) over `count` elements, in parallel where there are many.

    Each element must write rows of its own.
    """
    if count <= SINGLE_THREAD:
        kernel(0, count, *arguments)
    else:
        parallel_for(kernel, count, *arguments)
