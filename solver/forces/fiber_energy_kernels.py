"""The element loop of bodies with fibers without the tangent, for line searches. Apart, as `energy_kernels` is."""

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
    """Element forces [N] as `fill` gives them, and energies V ψ, (16 b,) [J], without the tangent. [Smith 2018]"""
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
