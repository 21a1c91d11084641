"""Elements of few nodes whose forces know nothing of where all of them are together: f(x + c) = f(x).

Tetrahedra are such, and so are triangles, hinges, springs, and pairs that touch: a point and a triangle, two edges.
One table holds them all, so whoever assembles or multiplies never asks what an element is.
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
    """A table, one row an element. Its nodes are numbers among all of a part, also those that are prescribed."""

    nodes: Index  #: (s, w), w from 2 to 4
    forces: Vec  #: on them [N], (s, w, 3)
    #: K = ∂f/∂x of pairs (1, 0), (2, 0), (2, 1), (3, 0), … of them, K_aa = −Σ_b K_ab [N/m], (s, w (w − 1)/2, 9), rows
    #: of the first; empty where only forces are computed
    blocks: Vec
    energy: float  #: that the forces derive from [J]

    def add_forces(self, out: Vec) -> None:
        """Add to forces on all nodes, (n, 3) [N]."""
        add_corners(np.ascontiguousarray(self.nodes, dtype=np.int32), np.ascontiguousarray(self.forces), out)


@kernel("void(i4[:,::1], f8[:,:,::1], f8[:,::1])")
def add_corners(nodes, corners, out):  # type: ignore[no-untyped-def]
    """Add values at the nodes of elements, both (s, w), (s, w, 3), to those of all nodes, (n, 3)."""
    for s in range(nodes.shape[0]):
        for a in range(nodes.shape[1]):
            for i in range(3):
                out[nodes[s, a], i] += corners[s, a, i]


def block_diagonal(tables: Sequence[Stencils], into: Vec | None = None) -> tuple[Index, Vec]:
    """Nodes (s, 4) and blocks (s, 6, 9) of all of them. Who has fewer nodes has its last one again, with no stiffness
    to it. into: memory for the blocks."""
    nodes = [np.concatenate([one.nodes, np.repeat(one.nodes[:, -1:], WIDEST - one.nodes.shape[1], axis=1)], axis=1)
             for one in tables]
    blocks = np.empty((sum(len(one) for one in nodes), 6, 9)) if into is None else into
    first = 0
    for table in tables:
        own, pairs = blocks[first : first + len(table.nodes)], table.blocks.shape[1]
        own[:, :pairs], own[:, pairs:] = table.blocks, 0.0
        first += len(own)
    return np.concatenate(nodes).astype(np.int32), blocks


class BodyElements(Protocol):
    """Elements of one body that are the same ones all the time: its tetrahedra, or its triangles and hinges."""

    tets: Index  #: their nodes, (p, 4), the last one twice where there are three

    @property
    def family(self) -> Any:
        """Bodies of one family may be evaluated together, by `in_one`; None for a body that is evaluated by itself."""

    def in_one(self, several: Sequence[Any]) -> BodyElements:
        """All elements of several of this family, itself among them, as they are listed."""

    def activate(self, time: float) -> None:
        """Set the contraction of muscles to that at `time` [s], for all later calls."""

    def fill(self, x: Vec, project: bool, forces: Vec, blocks: Vec) -> None:
        """Write forces (p, 4, 3) [N] and the blocks of pairs of nodes of K = ∂f/∂x, (p, 6, 9) [N/m], at positions
        (n, 3) [m]; K is negative semi-definite if `project`."""

    def fill_again(self, x: Vec, which: Index, blocks: Vec) -> None:
        """Recompute the blocks of some elements only, (k,), among those of all, projected, at positions (n, 3) [m]."""

    def measure(self, x: Vec, forces: Vec) -> float:
        """Energy [J] at positions (n, 3) [m]; writes forces (p, 4, 3) [N]."""

    def multiply(self, x: Vec, columns: Vec) -> Vec:
        """Forces [N] and the true K times `columns` (c, n, 3) at x (n, 3) [m], as corners have them, (1 + c, p, 4, 3);
        the next call overwrites it."""

    def stretching(self, x: Vec, v: Vec, out: Vec) -> None:
        """Write V mean|Ṡ|, (p,) [m³/s], at positions x [m] and velocities v [m/s], (n, 3). [Thesis 4.17]"""

    def in_stretches(self, made: Callable[[Any], StretchedElements]) -> StretchedElements | None:
        """Return these elements with their stretches as unknowns, by `made`; themselves where they have such already,
        None where they cannot."""


class StretchedElements(BodyElements, Protocol):
    """Elements whose stretches are unknowns of their own while a stage is solved."""

    def start(self) -> None:
        """Take stretches from the positions of the next `fill`."""

    def follow(self, moved: Vec) -> float:
        """Move stretches along with a displacement of all nodes, (n, 3) [m]; returns the curvature of their energy
        [J]."""

    def go(self, relaxation: float) -> None:
        """Move the stretches by this fraction of the step, for all later calls of `measure`."""

    def keep(self) -> None:
        """Stretches are there from now on."""


@dataclass(frozen=True)
class ElasticBody:
    """Input of a force between bodies: the nodes of one of them among all nodes, and its skin."""

    name: str
    nodes: slice  #: among those of the part
    tets: Index  #: (e, 4), numbers among all nodes of the part
    skin: Index  #: triangles of its surface, (t, 3), outward; the same numbers
    #: edges that are no triangle's, (k, 2), of ropes
    wires: Index = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int32))
    weights: Vec | None = None  #: painted at its nodes for this force, in [0, 1]; None: 1 everywhere


class StencilForce(Protocol):
    """Protocol of a law on elements of its own choice, found at each call. Entries of the family "force".

    Both results are functions of positions and time alone, and rows come in the same order wherever the elements are
    the same ones.
    """

    def __init__(self, bodies: Sequence[ElasticBody], rest: Vec, params: Mapping[str, float]) -> None:
        """bodies: those that it acts on, in the scene's order. rest: of all nodes of the part, (n, 3) [m]."""

    def measure(self, x: Vec, time: float) -> Stencils:
        """Forces and energy at positions (n, 3) [m], without blocks."""

    def fill(self, x: Vec, time: float, project: bool) -> Stencils:
        """Return forces, energy and blocks at positions (n, 3) [m]; K is negative semi-definite if `project`."""

    def damp(self, x: Vec, v: Vec, time: float) -> Stencils | None:
        """D = ∂f/∂v in place of K [N s/m], negative semi-definite; its forces are not used. None for no damping.

        v: velocities where the stage begins, (n, 3) [m/s]. A stage takes it once, where the bodies will be by its end,
        and D v is no part of the forces above.
        """
