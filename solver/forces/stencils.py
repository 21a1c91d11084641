"""Elements of few nodes whose forces are invariant under translation: f(x + c) = f(x).

Tetrahedra, triangles, hinges, springs and contact pairs (a point and a triangle, two edges) share one form of table, so
that assembly and products do not depend on the type of element.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ..state import Index, Vec
from ..threads import kernel

WIDEST = 4  #: most nodes of a stencil


@dataclass(frozen=True)
class Stencils:
    """Table of forces and blocks, one row for each element. Nodes are indices among all of a part, prescribed ones
    included."""

    nodes: Index  #: (s, w), w from 2 to 4
    forces: Vec  #: on the nodes [N], (s, w, 3)
    #: K = ∂f/∂x of pairs (1, 0), (2, 0), (2, 1), (3, 0), … of nodes, K_aa = −Σ_b K_ab [N/m], (s, w (w − 1)/2, 9), rows
    #: of the first; empty where only forces are computed
    blocks: Vec
    energy: float  #: whose negative gradient is the forces [J]

    def add_forces(self, out: Vec) -> None:
        """Add the forces to those of all nodes, out (n, 3) [N]."""
        add_corners(np.ascontiguousarray(self.nodes, dtype=np.int32), np.ascontiguousarray(self.forces), out)


@kernel("void(i4[:,::1], f8[:,:,::1], f8[:,::1])")
def add_corners(nodes, corners, out):  # type: ignore[no-untyped-def]
    """Add values at the nodes of elements, nodes (s, w) and corners (s, w, 3), to values of all nodes, out (n, 3)."""
    for s in range(nodes.shape[0]):
        for a in range(nodes.shape[1]):
            for i in range(3):
                out[nodes[s, a], i] += corners[s, a, i]


def block_diagonal(tables: Sequence[Stencils], into: Vec | None = None) -> tuple[Index, Vec]:
    """Return the nodes (s, 4) and blocks (s, 6, 9) [N/m] of all elements of several tables.

    An element of fewer nodes repeats its last one, with zero stiffness. into: memory for the blocks, (s, 6, 9).
    """
    nodes = [np.concatenate([table.nodes, np.repeat(table.nodes[:, -1:], WIDEST - table.nodes.shape[1], axis=1)],
                            axis=1)
             for table in tables]
    blocks = np.empty((sum(len(table_nodes) for table_nodes in nodes), 6, 9)) if into is None else into
    first = 0
    for table in tables:
        own, pairs = blocks[first : first + len(table.nodes)], table.blocks.shape[1]
        own[:, :pairs], own[:, pairs:] = table.blocks, 0.0
        first += len(own)
    return np.concatenate(nodes).astype(np.int32), blocks


class BodyElements(Protocol):
    """Protocol of a body's elements that never change: its tetrahedra, or its triangles and hinges."""

    tets: Index  #: nodes of the elements, (p, 4), the last one twice where there are three

    @property
    def family(self) -> Any:
        """Return a key: bodies with equal keys may be evaluated together by `in_one`; None for one that may not."""

    def in_one(self, several: Sequence[Any]) -> BodyElements:
        """Return all elements of several bodies of this family, this body included, concatenated in this order."""

    def activate(self, time: float) -> None:
        """Set the contraction of muscles to that at `time` [s], for all later calls."""

    def fill(self, x: Vec, project: bool, forces: Vec, blocks: Vec) -> None:
        """Write forces (p, 4, 3) [N] and blocks of K = ∂f/∂x of pairs of nodes, (p, 6, 9) [N/m], at positions x (n, 3)
        [m].

        K is negative semi-definite if `project`.
        """

    def fill_again(self, x: Vec, which: Index, blocks: Vec) -> None:
        """Recompute the projected blocks of the elements `which` (k,) in blocks (p, 6, 9) [N/m], at positions x (n, 3)
        [m]."""

    def measure(self, x: Vec, forces: Vec) -> float:
        """Return the energy [J] at positions x (n, 3) [m]; write forces (p, 4, 3) [N]."""

    def multiply(self, x: Vec, columns: Vec) -> Vec:
        """Return forces [N] and products of the true K with `columns` (c, n, 3) at x (n, 3) [m], per corner, (1 + c, p,
        4, 3).

        The next call overwrites the result.
        """

    def stretching(self, x: Vec, v: Vec, out: Vec) -> None:
        """Write volume times mean |Ṡ| of each element, (p,) [m³/s], at positions x [m] and velocities v [m/s], both (n,
        3).

        [Thesis 4.17]
        """

    def in_stretches(self, made: Callable[[Any], StretchedElements]) -> StretchedElements | None:
        """Return these elements with their stretches as unknowns, by `made`; None for elements without such a form.

        Elements whose stretches are unknowns already return themselves.
        """


class StretchedElements(BodyElements, Protocol):
    """Protocol of elements whose stretches are unknowns of their own during a stage."""

    def start(self) -> None:
        """Discard the stretches; the next `fill` computes them from its positions."""

    def follow(self, moved: Vec) -> float:
        """Compute the change of the stretches for a displacement `moved` (n, 3) [m] of all nodes from the last `fill`.

        Returns the curvature of their energy along that change [J].
        """

    def set_fraction(self, fraction: float) -> None:
        """Set the fraction of the change of the stretches that all later calls of `measure` take."""

    def keep(self) -> None:
        """Add the fraction of `set_fraction` of their change to the stretches."""


@dataclass(frozen=True)
class ElasticBody:
    """Nodes and surface of one body, as input of a force between bodies."""

    name: str
    nodes: slice  #: indices among the nodes of the part
    tets: Index  #: (e, 4), indices among all nodes of the part
    skin: Index  #: triangles of its surface, (t, 3), outward; indices as of `tets`
    #: edges without triangles, of ropes, (k, 2)
    wires: Index = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int32))
    weights: Vec | None = None  #: painted at its nodes for this force, in [0, 1]; None: 1 everywhere


class StencilForce(Protocol):
    """Protocol of a force on elements that it finds at each call. Entries of the family "force".

    Results are functions of positions and time alone, and rows come in the same order wherever the elements are the
    same.
    """

    def __init__(self, bodies: Sequence[ElasticBody], rest: Vec, params: Mapping[str, float]) -> None:
        """bodies: those on which the force acts, in the scene's order. rest: positions of all nodes of the part, (n, 3)
        [m]."""

    def measure(self, x: Vec, time: float) -> Stencils:
        """Return forces and energy at positions x (n, 3) [m] and `time` [s], without blocks."""

    def fill(self, x: Vec, time: float, project: bool) -> Stencils:
        """Return forces, energy and blocks at positions x (n, 3) [m] and `time` [s]; K is negative semi-definite if
        `project`."""

    def damp(self, x: Vec, v: Vec, time: float) -> Stencils | None:
        """Return D = ∂f/∂v in place of K [N s/m], negative semi-definite, with unused forces; None for no damping.

        x: expected positions at the end of the stage, (n, 3) [m]. v: velocities at its start, (n, 3) [m/s]. A stage
        calls this once, and D v is no part of the forces of `measure` and `fill`.
        """
