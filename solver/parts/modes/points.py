"""Elastic forces of a reduced body at its cubature points, at a cost that does not depend on the mesh."""

from __future__ import annotations

import numpy as np

from ...forces.elastic_kernels import Address
from ...forces.in_stretches_kernels import nothing
from ...materials.lanes import LANES
from ...meshing.volume import shape_gradients
from ...state import Index, Vec
from ...threads import parallel_for
from .cubature import Cubature
from .operators import Substance
from .point_kernels import (
    POINT_SLOTS,
    add_damping,
    lead,
    linearise,
    linearise_mixed,
    measure,
    measure_mixed,
    measure_start,
    spread,
)
from .skinning import Subspace

CHUNKS = 16  #: pieces of the points; their borders do not depend on the number of threads
#: lane blocks of a product: what it reads stays in the second-level cache, and BLAS does small ones without copies
BLOCKS, SMALL_BLOCKS = 8, 2
SMALL = 1.0e6  #: multiplications that BLAS calls small
EPSILON = float(np.finfo(float).eps)
PAIRS = ((0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2))


class CubaturePoints:
    """f = −Σ w Jᵀ P and −K = Σ w Jᵀ (∂P/∂F) J at cubature points, for plain and for mixed finite elements.

    Gradients are ∂u/∂X of the displacement, (c, 9) with ∂u_a/∂X_j at 3 j + a. c is a multiple of the lanes: points of
    zero weight fill the last block. Matrices are (p, 6, p): one block for each pair of axes of `PAIRS`.
    """

    tracks = 4  #: sums of stiffness that are made apart and added in one order

    def __init__(self, nodes: Vec, tets: Index, substance: Substance, subspace: Subspace, cubature: Cubature) -> None:
        own = tets[cubature.tets]
        count = len(own)
        blocks = -(-count // LANES)
        source = np.zeros(blocks * LANES, np.int64)
        source[:count] = np.arange(count)
        some = substance.some(cubature.tets)
        gradients, _ = shape_gradients(nodes, own)
        self.count, self.elements = count, cubature.tets
        self.volumes = np.zeros(blocks * LANES)  #: w [m³]
        self.volumes[:count] = cubature.volumes
        self.functions = _rows(gradients, subspace.functions, own)[source]  #: ∂Φ/∂X, (c, 3, p)
        self._flat = self.functions.reshape(3 * len(self.functions), self.functions.shape[2])
        prescribed = _rows(gradients, subspace.prescribed, own)[source]
        self._prescribed_gradients = prescribed.reshape(3 * len(prescribed), prescribed.shape[2])
        self._constants = _in_lanes(some.constants.T[source])
        fibers = some.fiber_constants
        self._fibers = np.zeros((blocks, 0, LANES)) if fibers is None else _in_lanes(fibers.T[source])
        self._source = source
        material, fiber = substance.material, substance.fiber_material
        laws = (nothing, nothing, nothing) if fiber is None else (fiber.stress, fiber.tangent, fiber.energy)
        self._laws = tuple(Address(function) for function in (material.stress, material.tangent, *laws[:2]))
        self._energy = (Address(material.energy), Address(laws[2]))
        self._works = np.zeros((min(CHUNKS, blocks), POINT_SLOTS * LANES))
        self._energies = np.zeros(blocks * LANES)
        self.stresses, self.tangents = np.zeros((blocks * LANES, 9)), np.zeros((blocks * LANES, 54))
        self._z, self._z_bar, self._slope, self._change, self._multipliers = (
            np.zeros((blocks, 6, LANES)) for _ in range(5))
        self._hessian, self._along = np.zeros((blocks, 36, LANES)), np.zeros((blocks, 54, LANES))
        p = self.functions.shape[2]
        self._step = LANES * (SMALL_BLOCKS if 18 * SMALL_BLOCKS * LANES * p**2 <= SMALL else BLOCKS)
        tracks = min(self.tracks, -(-len(self.functions) // self._step))
        self._products = np.zeros((tracks, 3 * self._step, 6, p))
        self._partial, self._sums = np.zeros((tracks, p, 6 * p)), np.zeros((tracks, p, 6 * p))

    def contract(self, fiber_constants: Vec) -> None:
        """Set the constants of fibers, (3 + c, points), as of muscles that are activated."""
        self._fibers = _in_lanes(fiber_constants.T[self._source])

    def scale(self, factors: Vec) -> None:
        """Multiply the volume of each point by a factor, (count,)."""
        self.volumes[: self.count] *= factors

    def gradients(self, y: Vec, carrier_motion: Vec) -> Vec:
        """Return ∂u/∂X, (c, 9), at coordinates y (p, 3) and coordinates of groups of pins (4 g, 3)."""
        gradients = self._flat @ y
        if len(carrier_motion):
            gradients += self._prescribed_gradients @ carrier_motion
        return gradients.reshape(-1, 9)

    def restart(self) -> None:
        """Reset the stretches, which are those of positions at the next linearisation."""
        self._z[:] = -1.0

    def linearise(self, gradients: Vec, mixed: bool, exact: bool = False) -> None:
        """Fill `stresses` (c, 9) and `tangents` (c, 54), weighted by volume, at gradients (c, 9): of positions or,
        where `mixed`, of stretches, condensed. exact: with the exact Hessian of the Lagrangian. [MFEM 6]"""
        body = (gradients, self.volumes, self._constants, self._fibers, *self._laws, self._works)
        if mixed:
            parallel_for(linearise_mixed, len(self._works), *body, self._z, self._z_bar, self._slope,
                         self._hessian, self._along, self._multipliers, exact, self.stresses, self.tangents)
        else:
            parallel_for(linearise, len(self._works), *body, self.stresses, self.tangents)

    def damp(self, tangents: Vec, changes: Vec, rate: float, linearised: bool) -> float:
        """Return the dissipation potential of C `rate` over changes of gradients (c, 9) [J], C = tangents (c, 54).
        linearised: whether its stress and derivative are added to `stresses` and `tangents`."""
        energy = np.zeros(1)
        none = np.zeros((0, 9))
        add_damping(tangents, changes, rate, *((self.stresses, self.tangents) if linearised else (none, none)), energy)
        return float(energy[0])

    def pull(self) -> float:
        """Return the largest change of energy for a unit change of gradients, Σ w |P| of `stresses` [J]."""
        return float(np.abs(self.stresses).sum())

    def noise(self) -> float:
        """Return a bound of the rounding error of energies [J]: near rest, terms of ψ as large as the stiffness in
        `tangents` cancel, so the energy of stiff parts is known to that many digits only."""
        flat = self.tangents.reshape(-1)
        return EPSILON * float(np.sqrt(len(flat) * np.vdot(flat, flat)))  # at least Σ w |∂P/∂F|

    def forces(self) -> Vec:
        """Return −Σ Jᵀ P of `stresses`, the forces on coordinates, (p, 3)."""
        forces: Vec = -(self._flat.T @ self.stresses.reshape(-1, 3))
        return forces

    def stiffness(self) -> Vec:
        """Return Σ Jᵀ (∂P/∂F) J of `tangents`, (p, 6, p): rows and columns of each pair of axes. [MFEM 6]"""
        parallel_for(self._sum, len(self._sums))
        total: Vec = self._sums[0]
        for partial in self._sums[1:]:
            total += partial
        p = self.functions.shape[2]
        return total.reshape(p, 6, p)

    def _sum(self, start: int, stop: int) -> None:
        """Sum the stiffness of tracks start to stop; each track has every `tracks`-th chunk of points."""
        step, p = self._step, self.functions.shape[2]
        tracks = len(self._sums)
        for track in range(start, stop):
            product, partial, total = self._products[track], self._partial[track], self._sums[track]
            for sweep, first in enumerate(range(track * step, len(self.functions), tracks * step)):
                last = min(first + step, len(self.functions))
                spread(first, last, self.tangents, self.functions, product, first)
                rows = 3 * (last - first)
                out = partial if sweep else total
                np.matmul(self._flat[3 * first : 3 * last].T, product[:rows].reshape(rows, 6 * p), out=out)
                if sweep:
                    total += partial

    def follow(self, moved: Vec) -> float:
        """Compute the changes of stretches and multipliers for a change of gradients `moved` (c, 9).

        Returns Σ w (dzᵀ H dz − aᵀ H a) [J], a = A J δy: the additional decrease of the Lagrangian. [MFEM 7] [MFEM 8]
        """
        parallel_for(lead, len(self._works), moved, self._z, self._z_bar, self._slope, self._hessian, self._along,
                     self._change, self._multipliers, self._works, self.volumes, self._energies)
        return float(self._energies.sum())

    def measure(self, gradients: Vec) -> float:
        """Return Σ w ψ [J] at gradients (c, 9)."""
        parallel_for(measure, len(self._works), gradients, self.volumes, self._constants, self._fibers, *self._energy,
                     self._works, self._energies)
        return float(self._energies.sum())

    def measure_start(self) -> float:
        """Return Σ w (ψ(z) + λᵀ (z̄ − z)) [J] at the start of the iteration that was linearised last. [MFEM 2-4]"""
        parallel_for(measure_start, len(self._works), self.volumes, self._constants, self._fibers, *self._energy,
                     self._works, self._z, self._z_bar, self._multipliers, self._energies)
        return float(self._energies.sum())

    def measure_mixed(self, gradients: Vec, relaxation: float) -> float:
        """Return Σ w (ψ(z) + λᵀ (z̄ − z)) [J] at gradients (c, 9), with `relaxation` times the change of stretches.
        [MFEM 2-4]"""
        parallel_for(measure_mixed, len(self._works), gradients, self.volumes, self._constants, self._fibers,
                     *self._energy,
                     self._works, self._z, self._change, relaxation, self._multipliers, self._energies)
        return float(self._energies.sum())

    def keep(self, relaxation: float) -> None:
        """Update the stretches by `relaxation` times their change."""
        self._z += relaxation * self._change


def _rows(gradients: Vec, functions: Vec, corners: Index) -> Vec:
    """Return ∂Φ/∂X of elements, (e, 3, p), from ∇N of their corners (e, 4, 3)."""
    rows = np.zeros((len(corners), 3, functions.shape[1]))
    for corner in range(4):
        rows += gradients[:, corner, :, None] * functions[corners[:, corner]][:, None]
    return rows


def _in_lanes(values: Vec) -> Vec:
    """Return values (16 b, k) rearranged to (b, k, 16), with entries of sixteen points next to each other."""
    return np.ascontiguousarray(values.reshape(len(values) // LANES, LANES, -1).transpose(0, 2, 1))
