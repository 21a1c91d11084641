"""Element loop of bodies with fibers: forces and energies without the tangent, for line searches."""

from __future__ import annotations

from numba import types

from ..threads import kernel
from .elastic_kernels import MaterialKernel, corner_forces, load_block, store_forces
from .energy_kernels import store_energies
from .fiber_kernels import BODY, load_constants


@kernel(types.void(*BODY, MaterialKernel, MaterialKernel, MaterialKernel, MaterialKernel,
                   types.float64[:, ::1], types.float64[:, :, ::1], types.float64[::1]))
def measure(  # type: ignore[no-untyped-def]
    start, stop, x, nodes, rest, constants, fibers, energy, stress, fiber_energy, fiber_stress, works, forces,
    energies,
):
    """Write element forces (16 b, 4, 3) [N] and energies V ψ (16 b,) [J] of material and fibers, without the tangent.

    Chunks `start` to `stop`. x: (n, 3) [m]. nodes: (b, 4, LANES). rest: (b, 10, LANES). constants, fibers: constants of
    the material and of the fibers, (b, c, LANES) each. works: (chunks, slots). [Smith 2018]
    """
    chunks = works.shape[0]
    count = nodes.shape[0]
    for chunk in range(start, stop):
        work = works[chunk]
        for block in range(chunk * count // chunks, (chunk + 1) * count // chunks):
            load_block(work, x, nodes, rest, constants, block)
            energy(work, False)
            stress(work, False)
            load_constants(work, fibers, block)
            fiber_energy(work, False)
            fiber_stress(work, False)
            corner_forces(work)
            store_forces(work, forces, block)
            store_energies(work, energies, block)
