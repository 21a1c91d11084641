"""Tetrahedra whose stretches are unknowns of their own, as an iteration of mixed finite elements sees them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..materials.lanes import LANES
from ..state import Index, Vec
from ..threads import parallel_for
from .condensed_kernels import STRETCH_SLOTS
from .elastic import Elastic
from .elastic_kernels import Address
from .in_stretches_kernels import lead, linearise, measure, nothing
from .stencils import StretchedElements


class InStretches:
    """Elements of one body in place of `Elastic`'s, on the same nodes. Between `start` and `end` of a stage:

    `fill` linearises at positions and the stretches z, `follow` says what a move changes of z and with which
    multipliers, `go` how much of it is taken, `measure` the Lagrangian there, and `keep` ends the iteration.
    [MFEM 1, 4, 6-8]
    """

    family = None  #: each body is evaluated by itself, with stretches of its own

    def __init__(self, elastic: Elastic) -> None:
        self._elastic = elastic
        self.tets: Index = elastic.tets
        blocks, fibers = len(elastic._nodes), elastic.fibers
        self._works = np.zeros((len(elastic._works), STRETCH_SLOTS * LANES))
        self._z, self._z_bar, self._slope, self._change, self._multipliers = (
            np.zeros((blocks, 6, LANES)) for _ in range(5))
        self._hessian = np.zeros((blocks, 36, LANES))
        self._x = np.zeros((0, 3))  #: where it was linearised last
        self._share = 0.0
        laws = (nothing, nothing, nothing) if fibers is None else (
            fibers.material.stress, fibers.material.tangent, fibers.material.energy)
        self._fiber_stress, self._fiber_tangent, self._fiber_energy = (Address(one) for one in laws)
        self._energy = Address(elastic.material.energy)
        self._no_fibers = np.zeros((blocks, 0, LANES))

    def in_one(self, several: Sequence[Any]) -> InStretches:
        """Raise TypeError: these elements have no family."""
        raise TypeError("elements in stretches are evaluated body by body")

    def activate(self, time: float) -> None:
        """Muscles contract as they do at `time` [s]."""
        self._elastic.activate(time)

    @property
    def _body(self) -> tuple[Any, ...]:
        own = self._elastic
        fibers = self._no_fibers if own.fibers is None else own._fiber_constants
        return own._nodes, own._rest, own._constants, fibers

    def start(self) -> None:
        """Take stretches from the positions of the next `fill`."""
        self._z[:] = -1.0  # no stretch: taken from positions
        self._change[:], self._share = 0.0, 0.0

    def fill(self, x: Vec, project: bool, forces: Vec, blocks: Vec) -> None:
        """Write condensed forces f̂ (p, 4, 3) [N] and blocks of K̂ (p, 6, 9) [N/m], negative semi-definite always, at
        positions (n, 3) [m]. [MFEM 6]"""
        self._elastic._refuse_unpadded(forces, blocks)
        self._x, self._share = x.copy(), 0.0
        own = self._elastic
        parallel_for(linearise, len(own._works), x, *self._body, own._stress, own._tangent, self._fiber_stress,
                     self._fiber_tangent, self._works, self._z, self._z_bar, self._slope, self._hessian,
                     self._multipliers, forces, blocks)

    def fill_again(self, x: Vec, which: Index, blocks: Vec) -> None:
        """Raise TypeError: each iteration has its own matrix."""
        raise TypeError("elements in stretches are linearised all at once")

    def follow(self, moved: Vec) -> float:
        """Let stretches go where a move of all nodes from there, (n, 3) [m], leads them. V dzᵀ H dz of all, by which ψ
        bends along that [J]. [MFEM 7, 8]"""
        own = self._elastic
        parallel_for(lead, len(own._works), self._x, moved, *self._body[:3], own._works, self._z, self._z_bar,
                     self._slope, self._hessian, self._change, self._multipliers, own._energies)
        return float(own._energies.sum())

    def go(self, relaxation: float) -> None:
        """Move the stretches by this fraction of the step, for all later calls of `measure`."""
        self._share = relaxation

    def keep(self) -> None:
        """Stretches are there from now on."""
        self._z += self._share * self._change
        self._change[:], self._share = 0.0, 0.0

    def measure(self, x: Vec, forces: Vec) -> float:
        """Σ V (ψ(z) + λᵀ (z̄ − z)) [J] at positions (n, 3) [m]; writes its forces (p, 4, 3) [N]. [MFEM 4]"""
        own = self._elastic
        own._refuse_unpadded(forces)
        parallel_for(measure, len(own._works), x, *self._body, self._energy, self._fiber_energy, own._works, self._z,
                     self._change, self._share, self._multipliers, forces, own._energies)
        return float(own._energies.sum())

    def multiply(self, x: Vec, columns: Vec) -> Vec:
        """K of positions alone times columns, as `Elastic.multiply`."""
        return self._elastic.multiply(x, columns)

    def stretching(self, x: Vec, v: Vec, out: Vec) -> None:
        """V mean|Ṡ|, as `Elastic.stretching`."""
        self._elastic.stretching(x, v, out)

    def in_stretches(self, made: Callable[[Any], StretchedElements]) -> StretchedElements:
        """They are."""
        return self
