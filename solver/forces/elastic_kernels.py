"""Element loop: sixteen tetrahedra at a time, from positions to element forces and stiffness blocks."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import typeof_impl

from ..materials.lanes import CONSTANT, ENERGY, GRADIENT, LANES, LEFT, MATERIAL_SLOTS, STRESS, TANGENT, put, vector
from ..threads import inline, kernel

MaterialKernel = types.FunctionType(types.void(types.float64[::1], types.boolean))

# the lane array should stay in the first-level cache together with the input and output of a block, so the stiffness
# blocks overwrite the material's intermediate results of its tangent
BLOCKS = LEFT  #: K_ab for (a, b) = 10, 20, 21, 30, 31, 32, row-major, 54 slots; K_aa = −Σ_b K_ab
SHAPE = max(BLOCKS + 54, MATERIAL_SLOTS)  #: gradients of the four shape functions [1/m], 12 slots
REST = SHAPE + 3  #: those of corners 1, 2, 3 are the rows of D_m⁻¹
VOLUME = REST + 9  #: rest volume [m³], 1 slot
FORCE = VOLUME + 1  #: 4 corners x 3, 12 slots
ELEMENT_SLOTS = FORCE + 12


@kernel("void(f8[::1], f8[:,::1], i4[:,:,::1], f8[:,:,::1], f8[:,:,::1], i8)")
def load_block(work, x, nodes, rest, constants, block):  # type: ignore[no-untyped-def]
    """Write the rest shape, constants and deformation gradient F = D_s D_m⁻¹ of one block into the lane array."""
    for slot in range(10):
        for lane in range(LANES):
            work[(REST + slot) * LANES + lane] = rest[block, slot, lane]
    for slot in range(constants.shape[1]):
        for lane in range(LANES):
            work[(CONSTANT + slot) * LANES + lane] = constants[block, slot, lane]
    # edges are temporarily in the stress slots: D_s = [x1 - x0, x2 - x0, x3 - x0]
    for lane in range(LANES):
        origin = nodes[block, 0, lane]
        for corner in range(3):
            node = nodes[block, corner + 1, lane]
            for axis in range(3):
                work[(STRESS + 3 * corner + axis) * LANES + lane] = x[node, axis] - x[origin, axis]
    for lane in range(LANES):
        a, b, c = vector(work, STRESS, lane), vector(work, STRESS + 3, lane), vector(work, STRESS + 6, lane)
        for column in range(3):
            first = (REST + column) * LANES + lane
            p, q, r = work[first], work[first + 3 * LANES], work[first + 6 * LANES]
            work[(SHAPE + column) * LANES + lane] = -p - q - r
            put(work, GRADIENT + 3 * column, lane,
                (p * a[0] + q * b[0] + r * c[0], p * a[1] + q * b[1] + r * c[1], p * a[2] + q * b[2] + r * c[2]))
    for slot in range(ENERGY, TANGENT + 54):
        for lane in range(LANES):
            work[slot * LANES + lane] = 0.0


@inline
def _force(work, lane, corner):  # type: ignore[no-untyped-def]
    """Return f = −V P ∇N of one corner [N]."""
    g, volume = vector(work, REST + 3 * corner, lane), work[VOLUME * LANES + lane]
    p, q, r = vector(work, STRESS, lane), vector(work, STRESS + 3, lane), vector(work, STRESS + 6, lane)
    return (
        -volume * (p[0] * g[0] + q[0] * g[1] + r[0] * g[2]),
        -volume * (p[1] * g[0] + q[1] * g[1] + r[1] * g[2]),
        -volume * (p[2] * g[0] + q[2] * g[1] + r[2] * g[2]),
    )


class Address(types.WrapperAddressProtocol):  # type: ignore[misc]
    """Address of a material's compiled kernel, as an argument of other kernels.

    Numba would look up the address of a plain kernel at every call.
    """

    def __init__(self, kernel: Any) -> None:
        """kernel: of a material, compiled with `MaterialKernel.signature`."""
        compiled = kernel.get_compile_result(MaterialKernel.signature)
        self._address = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_cfunc_wrapper_name)

    def __wrapper_address__(self) -> Any:
        return self._address

    def signature(self) -> Any:
        """Return the numba type of a material's kernel."""
        return MaterialKernel.signature


@typeof_impl.register(Address)
def _type_of(address: Address, context: Any) -> Any:
    """Return the numba type of all addresses; numba would infer one at each call, which takes longer than a small
    mesh."""
    return MaterialKernel


@kernel("void(f8[::1])")
def corner_forces(work):  # type: ignore[no-untyped-def]
    """Write the forces on the four corners of each tetrahedron [N]; the force on corner 0 balances the other three."""
    for lane in range(LANES):
        a, b, c = _force(work, lane, 0), _force(work, lane, 1), _force(work, lane, 2)
        put(work, FORCE, lane, (-a[0] - b[0] - c[0], -a[1] - b[1] - c[1], -a[2] - b[2] - c[2]))
        put(work, FORCE + 3, lane, a)
        put(work, FORCE + 6, lane, b)
        put(work, FORCE + 9, lane, c)


@inline
def _stiffness(work, lane, slot, a, b):  # type: ignore[no-untyped-def]
    """Write K_ab = −V Σ_jm ∇N_a[j] ∇N_b[m] H_jm, nine entries row-major from `slot` on."""
    v = -work[VOLUME * LANES + lane]
    g, h = vector(work, SHAPE + 3 * a, lane), vector(work, SHAPE + 3 * b, lane)
    c00, c11, c22 = v * g[0] * h[0], v * g[1] * h[1], v * g[2] * h[2]
    c10, c01, c20 = v * g[1] * h[0], v * g[0] * h[1], v * g[2] * h[0]
    c02, c21, c12 = v * g[0] * h[2], v * g[2] * h[1], v * g[1] * h[2]
    t = TANGENT * LANES + lane
    out = slot * LANES + lane
    for row in range(3):
        for column in range(3):
            e = t + (3 * row + column) * LANES
            f = t + (3 * column + row) * LANES
            work[out + (3 * row + column) * LANES] = (
                c00 * work[e] + c11 * work[e + 9 * LANES] + c22 * work[e + 18 * LANES]
                + c10 * work[e + 27 * LANES] + c01 * work[f + 27 * LANES]
                + c20 * work[e + 36 * LANES] + c02 * work[f + 36 * LANES]
                + c21 * work[e + 45 * LANES] + c12 * work[f + 45 * LANES]
            )


@kernel("void(f8[::1])")
def corner_blocks(work):  # type: ignore[no-untyped-def]
    """Write the six stiffness blocks of pairs of corners of each tetrahedron [N/m] into the lane array."""
    for lane in range(LANES):
        _stiffness(work, lane, BLOCKS, 1, 0)
        _stiffness(work, lane, BLOCKS + 9, 2, 0)
        _stiffness(work, lane, BLOCKS + 18, 2, 1)
        _stiffness(work, lane, BLOCKS + 27, 3, 0)
        _stiffness(work, lane, BLOCKS + 36, 3, 1)
        _stiffness(work, lane, BLOCKS + 45, 3, 2)


@kernel("void(f8[::1], f8[:,:,::1], i8)")
def store_forces(work, forces, block):  # type: ignore[no-untyped-def]
    """Write one block's forces from the lane array to forces (16 b, 4, 3) [N]."""
    for lane in range(LANES):
        for corner in range(4):
            for axis in range(3):
                forces[block * LANES + lane, corner, axis] = work[(FORCE + 3 * corner + axis) * LANES + lane]


@kernel("void(f8[::1], f8[:,:,::1], i8)")
def store_blocks(work, blocks, block):  # type: ignore[no-untyped-def]
    """Write one block's stiffness from the lane array to blocks (16 b, 6, 9) [N/m]."""
    for lane in range(LANES):
        for pair in range(blocks.shape[1]):  # not a constant: LLVM would write out all 864 stores
            for entry in range(9):
                blocks[block * LANES + lane, pair, entry] = work[(BLOCKS + 9 * pair + entry) * LANES + lane]


@kernel(types.void(types.int64, types.int64, types.float64[:, ::1], types.int32[:, :, ::1], types.float64[:, :, ::1],
                   types.float64[:, :, ::1], MaterialKernel, MaterialKernel, types.boolean, types.float64[:, ::1],
                   types.float64[:, :, ::1], types.float64[:, :, ::1]))
def fill(  # type: ignore[no-untyped-def]
    start, stop, x, nodes, rest, constants, stress, tangent, project, works, forces, blocks,
):
    """Write element forces f = −V P ∇N and blocks of K = ∂f/∂x of chunks `start` to `stop`.

    K is negative semi-definite if `project`. x: (n, 3) [m]. nodes: (b, 4, LANES). rest: (b, 10, LANES).
    constants: (b, c, LANES). works: (chunks, slots). forces: (16 b, 4, 3) [N]. blocks: of pairs of corners,
    (16 b, 6, 9) [N/m]. [Smith 2018]
    """
    chunks = works.shape[0]
    count = nodes.shape[0]
    for chunk in range(start, stop):
        work = works[chunk]
        for block in range(chunk * count // chunks, (chunk + 1) * count // chunks):
            load_block(work, x, nodes, rest, constants, block)
            stress(work, project)
            tangent(work, project)
            corner_forces(work)
            corner_blocks(work)
            store_forces(work, forces, block)
            store_blocks(work, blocks, block)
