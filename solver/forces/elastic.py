"""Elasticity of linear tetrahedra."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..materials.lanes import LANES, MAX_CONSTANTS
from ..meshing.volume import shape_gradients
from ..state import Index, Vec
from ..threads import parallel_for
from .elastic_kernels import ELEMENT_SLOTS, Address, fill
from .fibers import Fibers
from .stencils import StretchedElements

CHUNKS = 64  #: pieces of work, independent of the number of threads


class Elastic:
    """Linear tetrahedra of one material, optionally with fibers: forces f = −∂ψ/∂x and stiffness K = ∂f/∂x.

    The e elements are padded to p, a multiple of the lanes, with copies of the first element that have no volume;
    `tets` (p, 4) lists all of them.
    """

    def __init__(self, nodes: Vec, tets: Index, material: Any, constants: Vec, fibers: Fibers | None = None) -> None:
        """nodes: (n, 3) rest positions [m]. tets: (e, 4), positive volumes. constants: (c, e) of `material`.

        Raises ValueError where `material` has more constants than the lane array has slots for.
        """
        if len(constants) > MAX_CONSTANTS:
            raise ValueError(f"a material may have {MAX_CONSTANTS} constants, not {len(constants)}")
        self.material = material
        self._stress, self._tangent = Address(material.stress), Address(material.tangent)
        self._energy: Address | None = None
        self._change: Address | None = None  #: kernel of dP for a given dF, of materials with one
        self._has_looked = False  #: whether `_change` was looked up, which compiles it
        self._fiber_energy: Address | None = None
        count = len(tets)
        blocks = -(-count // LANES)
        source = np.zeros(blocks * LANES, dtype=np.int64)
        source[:count] = np.arange(count)

        gradients, six_volumes = shape_gradients(nodes, tets)
        rest = np.empty((count, 10))
        rest[:, :9] = gradients[:, 1:].reshape(count, 9)  # rows of D_m⁻¹
        rest[:, 9] = six_volumes / 6.0
        rest = rest[source]
        rest[count:, 9] = 0.0
        self.tets: Index = tets[source].astype(np.int32)  #: corners, (p, 4), p >= e a multiple of the lanes
        self._nodes = _in_lanes(self.tets)
        self._rest = _in_lanes(rest)
        self._constants = _in_lanes(constants.T[source])
        self._source = source
        self.fibers = fibers
        if fibers is not None:
            self._fiber_stress, self._fiber_tangent = Address(fibers.material.stress), Address(fibers.material.tangent)
            self._fiber_constants = _in_lanes(fibers.constants.T[source])
        self._works = np.zeros((min(CHUNKS, blocks), ELEMENT_SLOTS * LANES))
        self._energies = np.zeros(blocks * LANES)
        self._products = np.zeros((0, blocks * LANES, 4, 3))
        self._blocks = np.zeros((0, 6, 9))  #: blocks of K of a body with fibers

    @property
    def family(self) -> Any:
        """Return a key: bodies with equal keys can share one kernel call. None for a body with fibers, which cannot."""
        return None if self.fibers is not None else (self.material, self._constants.shape[1])

    def in_one(self, several: Sequence[Elastic]) -> Elastic:
        """Return all elements of several bodies of one family, concatenated in this order, for `fill` and `measure`.

        One kernel call for a hundred small bodies takes a third of the time of a hundred calls.
        """
        one = copy.copy(self)
        one.tets = np.concatenate([each.tets for each in several])
        one._nodes, one._rest, one._constants = (
            np.concatenate([getattr(each, name) for each in several]) for name in ("_nodes", "_rest", "_constants"))
        one._works = np.zeros((min(CHUNKS, len(one._nodes)), ELEMENT_SLOTS * LANES))
        one._energies = np.zeros(len(one.tets))
        return one

    def in_stretches(self, made: Callable[[Any], StretchedElements]) -> StretchedElements | None:
        """Return `made(self)`, these elements with their stretches as unknowns; None for a material that is not
        objective.

        A stage of a linear material takes one iteration as it is.
        """
        return made(self) if self.material.is_objective else None

    def activate(self, time: float) -> None:
        """Set the contraction of the fibers to that at `time` [s], for all later calls."""
        if self.fibers is not None and self.fibers.activate(time):
            self._fiber_constants = _in_lanes(self.fibers.constants.T[self._source])

    def fill(self, x: Vec, project: bool, forces: Vec, blocks: Vec) -> None:
        """Write forces (p, 4, 3) [N] and blocks of K of pairs of corners, (p, 6, 9) [N/m], at positions x (n, 3) [m].

        K is negative semi-definite if `project`. Raises ValueError where an array does not have p rows.
        """
        self._refuse_unpadded(forces, blocks)
        fibers = () if self.fibers is None else (self._fiber_constants,)
        self._fill((x, self._nodes, self._rest, self._constants, *fibers), project, forces, blocks)

    def fill_again(self, x: Vec, which: Index, blocks: Vec) -> None:
        """Recompute the projected blocks of the elements `which` (k,) in blocks (p, 6, 9) [N/m], at positions x (n, 3)
        [m]."""
        padded = np.full(-(-len(which) // LANES) * LANES, which[0])
        padded[: len(which)] = which
        forces, padded_blocks = np.empty((len(padded), 4, 3)), np.empty((len(padded), 6, 9))
        fibers = () if self.fibers is None else (self._fiber_constants,)
        tables = (self._nodes, self._rest, self._constants, *fibers)
        self._fill((x, *(_some_of_lanes(table, padded) for table in tables)), True, forces, padded_blocks)
        blocks[which] = padded_blocks[: len(which)]

    def _fill(self, body: tuple[Any, ...], project: bool, forces: Vec, blocks: Vec) -> None:
        """Write forces and blocks of elements. body: x and the tables of these elements in lanes."""
        works = self._works[: len(body[1])]
        out = (project, works, forces, blocks)
        if self.fibers is None:
            parallel_for(fill, len(works), *body, self._stress, self._tangent, *out)
            return
        from .fiber_kernels import fill as fill_with_fibers  # compiled for bodies with fibers

        parallel_for(fill_with_fibers, len(works), *body, self._stress, self._tangent, self._fiber_stress,
                     self._fiber_tangent, *out)

    def multiply(self, x: Vec, columns: Vec) -> Vec:
        """Return forces [N] and products of the true K with `columns` (c, n, 3) at x (n, 3) [m], per corner, (1 + c, p,
        4, 3).

        The next call overwrites the result.
        """
        if len(self._products) != 1 + len(columns):
            self._products = np.zeros((1 + len(columns), *self.tets.shape, 3))
        out: Vec = self._products
        if self.fibers is not None:
            self._multiply_filled(x, columns, out)
            return out
        from .product_kernels import multiply  # compiled for stages with iterations on a reused factor

        if not self._has_looked:
            change, self._has_looked = self.material.change(), True
            self._change = None if change is None else Address(change)
        parallel_for(multiply, len(self._works), x, columns, self._nodes, self._rest, self._constants, self._stress,
                     self._change or self._tangent, self._change is None, self._works, out)
        return out

    def _multiply_filled(self, x: Vec, columns: Vec, out: Vec) -> None:
        """Write forces and products with K, from the blocks of K."""
        if not len(self._blocks):
            self._blocks = np.zeros((len(self.tets), 6, 9))
        self.fill(x, False, out[0], self._blocks)
        out[1:] = corner_products(self._blocks, columns[:, self.tets])

    def measure(self, x: Vec, forces: Vec) -> float:
        """Return the energy [J] at positions x (n, 3) [m]; write forces (p, 4, 3) [N].

        Raises ValueError where `forces` does not have p rows.
        """
        self._refuse_unpadded(forces)
        body = (x, self._nodes, self._rest, self._constants)
        out = (self._works, forces, self._energies)
        if self._energy is None:
            self._energy = Address(self.material.energy)
        if self.fibers is None:
            from .energy_kernels import measure  # compiled for bakes that evaluate an energy

            parallel_for(measure, len(self._works), *body, self._energy, self._stress, *out)
        else:
            from .fiber_energy_kernels import measure as measure_with_fibers

            if self._fiber_energy is None:
                self._fiber_energy = Address(self.fibers.material.energy)
            parallel_for(measure_with_fibers, len(self._works), *body, self._fiber_constants, self._energy,
                         self._stress,
                         self._fiber_energy, self._fiber_stress, *out)
        return float(self._energies.sum())

    def stretching(self, x: Vec, v: Vec, out: Vec) -> None:
        """Write volume times mean |Ṡ| of each element, (p,) [m³/s], at positions x [m] and velocities v [m/s], both (n,
        3).

        Raises ValueError where `out` does not have p rows. [Thesis 4.17]
        """
        self._refuse_unpadded(out)
        from .stretching_kernels import stretching  # compiled for bakes whose nodes may sleep

        parallel_for(stretching, len(self._works), x, v, self._nodes, self._rest, self._constants, self._works, out)

    def _refuse_unpadded(self, *arrays: Vec) -> None:
        """Raise ValueError where an array does not have p rows: kernels write whole lane blocks, past the end of a
        shorter one."""
        for array in arrays:
            if len(array) != len(self.tets):
                raise ValueError(f"an array has {len(array)} elements, but these are padded to {len(self.tets)}: make "
                                 "it as long as `tets`")


def corner_products(blocks: Vec, corners: Vec) -> Vec:
    """Return products of K, as blocks of pairs of corners (e, 6, 9), with columns at the corners; both (c, e, 4, 3)."""
    out = np.zeros_like(corners)
    pair = 0
    for a in range(1, 4):
        for b in range(a):
            block = blocks[:, pair].reshape(-1, 3, 3)
            difference = corners[:, :, b] - corners[:, :, a]
            out[:, :, a] += np.einsum("eij,cej->cei", block, difference)
            out[:, :, b] -= np.einsum("eji,cej->cei", block, difference)
            pair += 1
    return out


def _in_lanes(values: Any) -> Any:
    """Return values (16 b, k) as (b, k, 16), in which an entry of sixteen elements is contiguous."""
    return np.ascontiguousarray(values.reshape(len(values) // LANES, LANES, -1).transpose(0, 2, 1))


def _some_of_lanes(lanes: Any, which: Index) -> Any:
    """Return the entries of the elements `which` of a table (b, k, 16), in lanes again."""
    return _in_lanes(lanes[which // LANES, :, which % LANES])
