"""Element loop of forces and energies without the tangent, for line searches; most bakes never compile it."""

from __future__ import annotations

from numba import types

from ..materials.lanes import ENERGY, LANES
from ..threads import kernel
from .elastic_kernels import VOLUME, MaterialKernel, corner_forces, load_block, store_forces


@kernel("void(f8[::1], f8[::1], i8)")
def store_energies(work, energies, block):  # type: ignore[no-untyped-def]
    """Write the energies V ψ of one block to energies (16 b,) [J]."""
    for lane in range(LANES):
        energies[block * LANES + lane] = work[ENERGY * LANES + lane] * work[VOLUME * LANES + lane]


@kernel(types.void(types.int64, types.int64, types.float64[:, ::1], types.int32[:, :, ::1], types.float64[:, :, ::1],
                   types.float64[:, :, ::1], MaterialKernel, MaterialKernel, types.float64[:, ::1],
                   types.float64[:, :, ::1], types.float64[::1]))
def measure(  # type: ignore[no-untyped-def]
    start, stop, x, nodes, rest, constants, energy, stress, works, forces, energies,
):
    """Write element forces (16 b, 4, 3) [N] and energies V ψ (16 b,) [J] of chunks `start` to `stop`, without the
    tangent.

    x: (n, 3) [m]. nodes: (b, 4, LANES). rest: (b, 10, LANES). constants: (b, c, LANES). energy, stress: the material's
    kernels. works: (chunks, slots). [Smith 2018]
    """
    chunks = works.shape[0]
    count = nodes.shape[0]
    for chunk in range(start, stop):
        work = works[chunk]
        for block in range(chunk * count // chunks, (chunk + 1) * count // chunks):
            load_block(work, x, nodes, rest, constants, block)
            energy(work, False)
            stress(work, False)
            corner_forces(work)
            store_forces(work, forces, block)
            store_energies(work, energies, block)
