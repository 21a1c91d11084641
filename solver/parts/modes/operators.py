"""Matrices of a whole mesh at rest, which are required only while a reduced body is built."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...assembly.pattern import PAIR_COLUMNS, PAIR_ROWS
from ...errors import BadInput
from ...forces.elastic import Elastic
from ...linear.choose import choose
from ...linear.interface import NotPositiveDefinite
from ...meshing.volume import tet_volumes
from ...state import Index, Vec

SLICE = 1 << 16  #: elements a time: their blocks are nine numbers a pair
TRACE = (0, 4, 8)


@dataclass(frozen=True)
class Substance:
    """Material, constants and density of the elements of a reduced body."""

    material: Any  #: class of the catalogue's family "material"
    constants: Vec  #: arguments of the material's kernels, (c, e) [Pa]
    density: Vec  #: (e,) [kg/m³]
    fiber_material: Any = None  #: class of the family "fiber_material"; None without fibers
    fiber_constants: Vec | None = None  #: direction and constants of the fibers, (3 + c, e)

    @classmethod
    def of(cls, material: Any, density: Vec | float, **params: Vec | float) -> Substance:
        """Return the substance of a material from its parameters by key, each one number or (e,), in SI units.

        Raises ValueError where a parameter does not fit the number of elements of the others.
        """
        count = max((np.size(number) for number in (*params.values(), density)), default=0)
        wide = {key: np.broadcast_to(np.asarray(value, float), (count,)) for key, value in params.items()}
        return cls(material, material.constants(**wide), np.broadcast_to(np.asarray(density, float), (count,)))

    def repeat(self, count: int) -> Substance:
        """Return the substance of `count` elements, where there is one set of constants for all. Raises BadInput for
        another number."""
        if self.constants.shape[1] == count:
            return self
        if self.constants.shape[1] != 1:
            raise BadInput(f"the material is given for {self.constants.shape[1]} elements, but there are {count}",
                           "Give one number, or one for each tetrahedron")
        return Substance(self.material, np.repeat(self.constants, count, axis=1), np.repeat(self.density, count),
                         self.fiber_material, self.fiber_constants)

    def some(self, which: Index) -> Substance:
        """Return the substance of some elements alone, by their indices."""
        fibers = None if self.fiber_constants is None else self.fiber_constants[:, which]
        return Substance(self.material, self.constants[:, which], self.density[which], self.fiber_material, fibers)

    def limit_stiffness(self, ratio: float) -> Substance:
        """Return the substance with elements that are stiffer than `ratio` times the softest one softened to that
        bound.

        Raises BadInput where a stiffness is zero, negative or not a number.
        """
        stiffness = self.stiffness
        if not (np.isfinite(self.constants).all() and (stiffness > 0.0).all()):
            raise BadInput("the stiffness of an element is zero, negative or no number",
                           "Give every element a modulus above zero")
        over = np.maximum(stiffness / (ratio * float(stiffness.min())), 1.0)
        return self if over.max() == 1.0 else replace(self, constants=self.constants / over)

    @property
    def stiffness(self) -> Vec:
        """Return the stiffness of each element, its first constant [Pa], (e,)."""
        first: Vec = self.constants[0]
        return first


class _ConstantFibers:
    """Fibers with constant coefficients, with the interface that `Elastic` requires."""

    def __init__(self, substance: Substance) -> None:
        self.material, self.constants = substance.fiber_material, substance.fiber_constants


def _element_blocks(nodes: Vec, tets: Index, substance: Substance) -> Vec:
    """Return blocks of K at rest for pairs of corners of each element, (e, 6, 9) [N/m]."""
    fibers: Any = None if substance.fiber_material is None else _ConstantFibers(substance)
    elastic = Elastic(nodes, tets, substance.material, substance.constants, fibers)
    forces, blocks = np.empty((len(elastic.tets), 4, 3)), np.empty((len(elastic.tets), 6, 9))
    elastic.fill(nodes, True, forces, blocks)
    return blocks[: len(tets)]


def lump_mass(nodes: Vec, tets: Index, density: Vec) -> Vec:
    """Return the mass of each node [kg], (n,): a quarter of the mass of each of its elements."""
    corner_masses = np.repeat(tet_volumes(nodes, tets) * density / 4.0, 4)
    mass = np.zeros(len(nodes))
    np.add.at(mass, tets.ravel(), corner_masses)
    return mass


def weight_operator(nodes: Vec, tets: Index, substance: Substance) -> sp.csc_matrix:
    """Return H_w of skinning weights, (n, n) [N/m], symmetric and positive semi-definite: −Σ_a K[3i + a, 3j + a] at
    rest.

    Functions that are constant on each part are in its null space. [MFEM 9]
    """
    n = len(nodes)
    total = sp.csc_matrix((n, n))
    for start in range(0, len(tets), SLICE):
        some = np.arange(start, min(start + SLICE, len(tets)), dtype=np.int32)
        traces = _element_blocks(nodes, tets[some], substance.some(some))[:, :, TRACE].sum(axis=2)
        rows, columns = tets[some][:, PAIR_ROWS].ravel(), tets[some][:, PAIR_COLUMNS].ravel()
        total = total + sp.coo_matrix((traces.ravel(), (rows, columns)), shape=(n, n)).tocsc()
    off = total + total.T
    return (sp.diags(np.asarray(off.sum(axis=1)).ravel()) - off).tocsc()


def stiffness_operator(nodes: Vec, tets: Index, substance: Substance) -> sp.csr_matrix:
    """Return −K at rest, (3n, 3n) [N/m], node-major, symmetric and positive semi-definite."""
    n = len(nodes)
    total = sp.csr_matrix((3 * n, 3 * n))
    axis = np.arange(3)
    for start in range(0, len(tets), SLICE):
        some = np.arange(start, min(start + SLICE, len(tets)), dtype=np.int32)
        blocks = -_element_blocks(nodes, tets[some], substance.some(some)).reshape(-1, 6, 3, 3)
        rows = np.broadcast_to((3 * tets[some][:, PAIR_ROWS])[:, :, None, None] + axis[:, None], blocks.shape)
        columns = np.broadcast_to((3 * tets[some][:, PAIR_COLUMNS])[:, :, None, None] + axis, blocks.shape)
        off = sp.coo_matrix((blocks.ravel(), (rows.ravel(), columns.ravel())), shape=(3 * n, 3 * n)).tocsr()
        # the diagonal block of a corner balances those of its pairs
        own = np.zeros((n, 3, 3))
        for pair, (a, b) in enumerate(zip(PAIR_ROWS, PAIR_COLUMNS, strict=True)):
            np.add.at(own, tets[some][:, a], -blocks[:, pair])
            np.add.at(own, tets[some][:, b], -blocks[:, pair].transpose(0, 2, 1))
        total = total + off + off.T + sp.bsr_matrix((own, np.arange(n), np.arange(n + 1))).tocsr()
    return total.tocsr()


def factor(matrix: sp.csc_matrix) -> Callable[[Vec], Vec]:
    """Return the inverse of a symmetric positive definite matrix (n, n) as a function of columns (n, c).

    Raises NotPositiveDefinite.
    """
    linear = choose()
    order = linear.order((matrix - sp.diags(matrix.diagonal())).tocsc())
    lower = sp.tril(matrix[order][:, order]).tocsc()
    linear.analyse(lower, 0)
    linear.factor(lower)
    back = np.argsort(order)

    def solve(rhs: Vec) -> Vec:
        solution: Vec = linear.solve(np.asfortranarray(rhs[order]))[back]
        return solution

    return solve


def factor_with_shift(matrix: sp.csc_matrix, mass: Vec, shift: float) -> tuple[Callable[[Vec], Vec], float]:
    """Return the inverse of matrix + σ mass as a function of columns (n, c), and σ: `shift`, or the smallest of a few
    larger values that make the sum positive definite. Raises BadInput where none does."""
    for power in range(0, 12, 2):
        try:
            return factor((matrix + shift * 10.0**power * sp.diags(mass)).tocsc()), shift * 10.0**power
        except NotPositiveDefinite:
            continue
    raise BadInput("the stiffness of its elements cannot be factored",
                   "Look for elements without a volume, or for a modulus that is no number")
