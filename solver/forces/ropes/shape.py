"""Ropes that rest as they are drawn: rest angles of bends, and rest angles between the planes of adjacent bends."""

from __future__ import annotations

import numpy as np

from ...state import Index, Vec
from ..cloth.sheet import over_elements
from .shape_kernels import fill_curved, fill_torsion, measure_curved, measure_torsion

TORSION = 2.0 / 3.0  #: torsional by bending stiffness of a solid wire, 1/(1 + ν) at ν = ½
STRAIGHT = 0.02  #: |κb| at rest below which a bend is too flat to define a plane


class CurvedBends:
    """Bending energy ½ (B/l̄) (σ − σ̄)² at each node between two links, σ the magnitude of κb, rounded off at 0, σ̄ at
    rest.

    A bend that is straight at rest is as of `RodBends`. K = ∂f/∂x is exact; projected it is negative semi-definite.
    [Bergou 2008, changed: only the size of a curvature is compared, as the frame is none of the unknowns]
    """

    def __init__(self, nodes: Index, rest: Vec, stiffness: float) -> None:
        """nodes: three of each bend, the middle one between two links, (b, 3). rest: of all nodes, (n, 3) [m].
        stiffness: B [N m²]."""
        self.nodes = np.ascontiguousarray(nodes, dtype=np.int32)
        sides = np.linalg.norm(np.diff(rest[nodes], axis=1), axis=2)
        self._stiffness = np.ascontiguousarray(stiffness / sides.mean(axis=1))
        self._rest = np.ascontiguousarray(np.linalg.norm(curvatures(rest, self.nodes), axis=1))
        self.energies: Vec = np.zeros(0)

    def measure(self, x: Vec, forces: Vec) -> float:
        """Return the energy [J] at positions x (n, 3) [m]; write forces on the three nodes, (b, 4, 3) [N], fourth row
        zero."""
        return float(measure_curved(0, len(self.nodes), x, self.nodes, self._stiffness, self._rest, forces))

    def fill(self, x: Vec, project: bool, forces: Vec, blocks: Vec) -> None:
        """Write forces (b, 4, 3) [N] and blocks of K of pairs of nodes, (b, 6, 9) [N/m], in the order of `Stencils`.

        K is negative semi-definite if `project`. x: (n, 3) [m].
        """
        self.measure(x, forces)
        over_elements(fill_curved, len(self.nodes), x, self.nodes, self._stiffness, self._rest, project, blocks)


class RodTorsion:
    """Torsion energy ½ (C/l) |n₁ − R n₀|² of each two bends on one link, n the directions of their curvatures.

    R rotates n₀ about the link to n₁ at rest, so that twist of the link turns n₁ away from R n₀. K = ∂f/∂x; projected
    it is −C/l JᵀJ. [Bergou 2008, changed: the material frame is that of the curvature, which has to be there]
    """

    def __init__(self, nodes: Index, rest: Vec, stiffness: float) -> None:
        """nodes: of three consecutive links, (b, 4). rest: of all nodes, (n, 3) [m]. stiffness: C [N m²]."""
        self.nodes = np.ascontiguousarray(nodes, dtype=np.int32)
        first, second = curvatures(rest, self.nodes[:, :3]), curvatures(rest, self.nodes[:, 1:])
        along = rest[self.nodes[:, 2]] - rest[self.nodes[:, 1]]
        length = np.linalg.norm(along, axis=1)
        self._stiffness = np.ascontiguousarray(stiffness / length)
        sizes = np.linalg.norm(first, axis=1), np.linalg.norm(second, axis=1)
        self._rest = np.ascontiguousarray(np.stack(sizes, axis=1))
        both = np.maximum(sizes[0] * sizes[1], 1e-300)
        self._rest_twist = np.stack([np.einsum("bi,bi->b", first, second) / both,
                               np.einsum("bi,bi->b", np.cross(first, second), along / length[:, None]) / both], axis=1)
        self.energies: Vec = np.zeros(0)

    def measure(self, x: Vec, forces: Vec) -> float:
        """Return the energy [J] at positions x (n, 3) [m]; write forces (b, 4, 3) [N]."""
        return float(measure_torsion(0, len(self.nodes), x, self.nodes, self._stiffness, self._rest, self._rest_twist,
                                     forces))

    def fill(self, x: Vec, project: bool, forces: Vec, blocks: Vec) -> None:
        """Write forces (b, 4, 3) [N] and blocks of K of pairs of nodes, (b, 6, 9) [N/m], in the order of `Stencils`.

        K is negative semi-definite if `project`. x: (n, 3) [m].
        """
        self.measure(x, forces)
        over_elements(fill_torsion, len(self.nodes), x, self.nodes, self._stiffness, self._rest, self._rest_twist,
                      project, blocks)


def curvatures(x: Vec, nodes: Index) -> Vec:
    """Return κb = 2 t₀ × t₁/(1 + t₀·t₁) of bends, (b, 3). x: (n, 3) [m]. nodes: (b, 3)."""
    t = np.diff(x[nodes], axis=1)
    t /= np.linalg.norm(t, axis=2)[..., None]
    cos = np.einsum("bi,bi->b", t[:, 0], t[:, 1])
    return np.asarray(2.0 * np.cross(t[:, 0], t[:, 1]) / np.maximum(1.0 + cos, 1e-6)[:, None])


def in_a_row(bends: Index, rest: Vec) -> Index:
    """Return the four nodes of each two adjacent bends, both curved at rest, that have a link in common, (k, 4).

    bends: (b, 3). rest: of all nodes, (n, 3) [m].
    """
    bent = bends[np.linalg.norm(curvatures(rest, bends), axis=1) > STRAIGHT]
    by_link: dict[tuple[int, int], list[int]] = {}
    for first, middle, last in [*bent.tolist(), *bent[:, ::-1].tolist()]:
        by_link.setdefault((first, middle), []).append(last)
    rows = {min((first, middle, last, end), (end, last, middle, first))
            for first, middle, last in [*bent.tolist(), *bent[:, ::-1].tolist()]
            for end in by_link.get((middle, last), ())}
    return np.array(sorted(rows), dtype=np.int32).reshape(-1, 4)
