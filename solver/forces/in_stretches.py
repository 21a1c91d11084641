"""Tetrahedra whose stretches are unknowns of their own, for the iterations of mixed finite elements."""

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
    """Elements of one body with stretches z as unknowns, on the nodes of its `Elastic`, from `start` to the end of a
    stage.

    `fill` linearises at positions and stretches, `follow` computes the change of z and the multipliers for a
    displacement of the nodes, `set_fraction` sets the fraction of that change which `measure` takes, and `keep` adds
    this fraction to z. [MFEM 1, 4, 6-8]
    """

    family = None  #: each body is evaluated by itself, with stretches of its own

    def __init__(self, elastic: Elastic) -> None:
        """elastic: elements whose stretches become unknowns; this class uses its arrays."""
        self._elastic = elastic
        self.tets: Index = elastic.tets
        blocks, fibers = len(elastic._nodes), elastic.fibers
        self._works = np.zeros((len(elastic._works), STRETCH_SLOTS * LANES))
        self._z, self._z_bar, self._slope, self._change, self._multipliers = (
            np.zeros((blocks, 6, LANES)) for _ in range(5))
        self._hessian = np.zeros((blocks, 36, LANES))
        self._x = np.zeros((0, 3))  #: positions of the last linearisation [m]
        self._fraction = 0.0
        laws = (nothing, nothing, nothing) if fibers is None else (
            fibers.material.stress, fibers.material.tangent, fibers.material.energy)
        self._fiber_stress, self._fiber_tangent, self._fiber_energy = (Address(law) for law in laws)
        self._energy = Address(elastic.material.energy)
        self._no_fibers = np.zeros((blocks, 0, LANES))

    def in_one(self, several: Sequence[Any]) -> InStretches:
        """Raise TypeError: elements with stretches as unknowns have no family."""
        raise TypeError("elements in stretches are evaluated body by body")

    def activate(self, time: float) -> None:
        """Set the contraction of the fibers to that at `time` [s], for all later calls."""
        self._elastic.activate(time)

    @property
    def _body(self) -> tuple[Any, ...]:
        """Return the kernels' arguments of the body: nodes, rest shapes, constants of material and of fibers."""
        own = self._elastic
        fibers = self._no_fibers if own.fibers is None else own._fiber_constants
        return own._nodes, own._rest, own._constants, fibers

    def start(self) -> None:
        """Discard the stretches; the next `fill` computes them from its positions."""
        self._z[:] = -1.0  # no stretch: taken from positions
        self._change[:], self._fraction = 0.0, 0.0

    def fill(self, x: Vec, project: bool, forces: Vec, blocks: Vec) -> None:
        """Write condensed forces f̂ (p, 4, 3) [N] and blocks of K̂ (p, 6, 9) [N/m] at positions x (n, 3) [m].

        K̂ is negative semi-definite whatever `project`. Raises ValueError where an array does not have p rows. [MFEM 6]
        """
        self._elastic._refuse_unpadded(forces, blocks)
        self._x, self._fraction = x.copy(), 0.0
        own = self._elastic
        parallel_for(linearise, len(own._works), x, *self._body, own._stress, own._tangent, self._fiber_stress,
                     self._fiber_tangent, self._works, self._z, self._z_bar, self._slope, self._hessian,
                     self._multipliers, forces, blocks)

    def fill_again(self, x: Vec, which: Index, blocks: Vec) -> None:
        """Raise TypeError: elements with stretches as unknowns are linearised all at once."""
        raise TypeError("elements in stretches are linearised all at once")

    def follow(self, moved: Vec) -> float:
        """Return Σ V dzᵀ H dz [J], the curvature of the energy along the change dz of the stretches.

        dz and the multipliers are computed for the displacement `moved` (n, 3) [m] of all nodes from the last `fill`.
        [MFEM 7, 8]
        """
        own = self._elastic
        parallel_for(lead, len(own._works), self._x, moved, *self._body[:3], own._works, self._z, self._z_bar,
                     self._slope, self._hessian, self._change, self._multipliers, own._energies)
        return float(own._energies.sum())

    def set_fraction(self, fraction: float) -> None:
        """Set the fraction of the change of the stretches that all later calls of `measure` take."""
        self._fraction = fraction

    def keep(self) -> None:
        """Add the fraction of `set_fraction` of their change to the stretches."""
        self._z += self._fraction * self._change
        self._change[:], self._fraction = 0.0, 0.0

    def measure(self, x: Vec, forces: Vec) -> float:
        """Return Σ V (ψ(z) + λᵀ (z̄ − z)) [J] at positions x (n, 3) [m]; write its forces (p, 4, 3) [N].

        Raises ValueError where `forces` does not have p rows. [MFEM 4]
        """
        own = self._elastic
        own._refuse_unpadded(forces)
        parallel_for(measure, len(own._works), x, *self._body, self._energy, self._fiber_energy, own._works, self._z,
                     self._change, self._fraction, self._multipliers, forces, own._energies)
        return float(own._energies.sum())

    def multiply(self, x: Vec, columns: Vec) -> Vec:
        """Return forces [N] and products of the true K with `columns` (c, n, 3) at x (n, 3) [m], per corner, (1 + c, p,
        4, 3).

        Both are those of elements without stretches as unknowns. The next call overwrites the result.
        """
        return self._elastic.multiply(x, columns)

    def stretching(self, x: Vec, v: Vec, out: Vec) -> None:
        """Write volume times mean |Ṡ| of each element, (p,) [m³/s], at positions x [m] and velocities v [m/s], both (n,
        3)."""
        self._elastic.stretching(x, v, out)

    def in_stretches(self, made: Callable[[Any], StretchedElements]) -> StretchedElements:
        """Return these elements, whose stretches are unknowns already."""
        return self
