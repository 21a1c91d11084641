"""Element loop of bodies with fibers: kernels of the fibers run after the material's, with constants of their own.

A module of its own, since a body without fibers never compiles it. [Smith 2018] [Kim 2019]
"""

from __future__ import annotations

from numba import types

from ..materials.lanes import CONSTANT, LANES
from ..threads import kernel
from .elastic_kernels import MaterialKernel, corner_blocks, corner_forces, load_block, store_blocks, store_forces

#: arguments of a loop: chunks, positions, corners, rest shapes, constants of the material and of the fibers
BODY = (types.int64, types.int64, types.float64[:, ::1], types.int32[:, :, ::1], types.float64[:, :, ::1],
         types.float64[:, :, ::1], types.float64[:, :, ::1])


@kernel("void(f8[::1], f8[:,:,::1], i8)")
def load_constants(work, constants, block):  # type: ignore[no-untyped-def]
    """Write one block's constants of a table (b, c, LANES) into the lane array."""
    for slot in range(constants.shape[1]):
        for lane in range(LANES):
            work[(CONSTANT + slot) * LANES + lane] = constants[block, slot, lane]


@kernel(types.void(*BODY, MaterialKernel, MaterialKernel, MaterialKernel, MaterialKernel, types.boolean,
                   types.float64[:, ::1], types.float64[:, :, ::1], types.float64[:, :, ::1]))
def fill(  # type: ignore[no-untyped-def]
    start, stop, x, nodes, rest, constants, fibers, stress, tangent, fiber_stress, fiber_tangent, project, works,
    forces, blocks,
):
    """Write forces (16 b, 4, 3) [N] and stiffness blocks (16 b, 6, 9) [N/m] of material and fibers, chunks `start` to
    `stop`.

    K = ∂f/∂x is negative semi-definite if `project`. x: (n, 3) [m]. nodes: (b, 4, LANES). rest: (b, 10, LANES).
    constants, fibers: constants of the material and of the fibers, (b, c, LANES) each. works: (chunks, slots).
    [Smith 2018]
    """
    chunks = works.shape[0]
    count = nodes.shape[0]
    for chunk in range(start, stop):
        work = works[chunk]
        for block in range(chunk * count // chunks, (chunk + 1) * count // chunks):
            load_block(work, x, nodes, rest, constants, block)
            stress(work, project)
            tangent(work, project)
            load_constants(work, fibers, block)
            fiber_stress(work, project)
            fiber_tangent(work, project)
            corner_forces(work)
            corner_blocks(work)
            store_forces(work, forces, block)
            store_blocks(work, blocks, block)
