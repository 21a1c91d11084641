"""Solves with L and Lᵀ within one supernode, for a strip of columns in single precision: a row of Y is one vector.

BLAS takes twice as long for so few columns, and a compiler leaves sums in memory where it cannot show that two parts of
an array do not overlap, so the two inner loops are written as LLVM's own vectors, for whatever registers there are. In
double precision reading L is what takes the time.
"""

from __future__ import annotations

from typing import Any

from ...threads import inline
from ..blocks import LANES

COLUMNS = 4  #: of L that read a row of Y together: with eight, registers would not do where they are short
ROWS = 4  #: whose products are added up before they are taken from a sum, which each addition makes wait


def _intrinsic(columns: int, forward: bool) -> Any:
    """Return one of the two inner loops, for this number of columns of L.

    The loop takes (values, at, stride, work, below, own, count): L[r, k] = values[at + r + k stride], rows r of Y from
    work[below] on, rows k from work[own] on. forward: Y_r −= Σ_k L[r, k] Y_k; else Y_k −= Σ_r L[r, k] Y_r.
    """
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    fused = ("contract",)

    @intrinsic  # type: ignore[untyped-decorator]
    def loop(context: Any, values: Any, at: Any, stride: Any, work: Any, below: Any, own: Any, count: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, operands: Any) -> Any:
            whole = ir.IntType(64)
            vector = ir.VectorType(ir.FloatType(), LANES)
            zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
            left, step, first_below, first_own, rows = (operands[k] for k in (1, 2, 4, 5, 6))
            of_l, of_y = (cgutils.create_struct_proxy(array)(context, builder, value=value).data
                          for array, value in ((values, operands[0]), (work, operands[3])))

            def at_row(start: Any, row: Any) -> Any:
                pointer = builder.gep(of_y, [builder.add(start, builder.mul(row, ir.Constant(whole, LANES)))])
                return builder.bitcast(pointer, vector.as_pointer())

            def load(pointer: Any) -> Any:
                return builder.load(pointer, align=4)

            def store(value: Any, pointer: Any) -> None:
                builder.store(value, pointer, align=4)

            def everywhere(row: Any, k: int) -> Any:
                """Return L[row, k] in all lanes."""
                index = builder.add(builder.add(left, row), builder.mul(step, ir.Constant(whole, k)))
                nothing, value = ir.Constant(vector, ir.Undefined), builder.load(builder.gep(of_l, [index]))
                first = builder.insert_element(nothing, value, ir.Constant(ir.IntType(32), 0))
                return builder.shuffle_vector(first, nothing, zeros)

            def less(value: Any, a: Any, b: Any) -> Any:
                return builder.fsub(value, builder.fmul(a, b, flags=fused), flags=fused)

            owns = [at_row(first_own, ir.Constant(whole, k)) for k in range(columns)]

            def blocks(size: int, begin: Any, end: Any, sums: list[Any]) -> list[Any]:
                """Build the loop over rows begin to end, `size` at a time; return the sums after it."""
                before = builder.block
                body, after = builder.append_basic_block("rows"), builder.append_basic_block("after")
                builder.cbranch(builder.icmp_signed("<", begin, end), body, after)
                builder.position_at_end(body)
                row = builder.phi(whole)
                current = [builder.phi(vector) for _ in sums]
                row.add_incoming(begin, before)
                for phi, value in zip(current, sums):
                    phi.add_incoming(value, before)
                each = [builder.add(row, ir.Constant(whole, k)) for k in range(size)]
                pointers = [at_row(first_below, row_index) for row_index in each]
                values = [load(pointer) for pointer in pointers]
                made = current
                if forward:
                    for row_index, value, pointer in zip(each, values, pointers):
                        for k in range(columns):
                            value = less(value, everywhere(row_index, k), current[k])
                        store(value, pointer)
                else:
                    made = []
                    for k in range(columns):
                        total = builder.fmul(everywhere(each[0], k), values[0], flags=fused)
                        for row_index, value in zip(each[1:], values[1:]):
                            product = builder.fmul(everywhere(row_index, k), value, flags=fused)
                            total = builder.fadd(total, product, flags=fused)
                        made.append(builder.fsub(current[k], total, flags=fused))
                following = builder.add(row, ir.Constant(whole, size))
                row.add_incoming(following, body)
                for phi, value in zip(current, made):
                    phi.add_incoming(value, body)
                builder.cbranch(builder.icmp_signed("<", following, end), body, after)
                builder.position_at_end(after)
                out = [builder.phi(vector) for _ in sums]
                for phi, value, later in zip(out, sums, made):
                    phi.add_incoming(value, before)
                    phi.add_incoming(later, body)
                return out

            even = builder.and_(rows, ir.Constant(whole, -ROWS))
            sums = blocks(ROWS, ir.Constant(whole, 0), even, [load(pointer) for pointer in owns])
            sums = blocks(1, even, rows, sums)
            if not forward:
                for value, pointer in zip(sums, owns):
                    store(value, pointer)
            return context.get_dummy_value()

        return types.void(values, *[types.int64] * 2, work, *[types.int64] * 3), code

    return loop


_forward_four, _forward_one = _intrinsic(COLUMNS, True), _intrinsic(1, True)
_backward_four, _backward_one = _intrinsic(COLUMNS, False), _intrinsic(1, False)


@inline
def forward_lanes(values, base, length, columns, work):  # type: ignore[no-untyped-def]
    """Overwrite a supernode's own rows of Y by those of L⁻¹ Y, and subtract their contribution from the rows below.

    values: of L, those of the supernode from `base` on in full columns of `length` rows. columns: of the supernode.
    work: its rows of Y, its own first, (length · LANES,).
    """
    start, stride, j = int(base), int(length), 0
    while j < columns:
        last = min(j + COLUMNS, int(columns))
        for k in range(j, last):
            pivot = start + k * stride + k
            own = work[k * LANES : (k + 1) * LANES]
            for lane in range(LANES):
                own[lane] /= values[pivot]
            _forward_one(values, pivot + 1, stride, work, (k + 1) * LANES, k * LANES, last - k - 1)
        below = start + j * stride + last
        if last - j == COLUMNS:
            _forward_four(values, below, stride, work, last * LANES, j * LANES, stride - last)
        else:
            for k in range(j, last):
                _forward_one(values, below + (k - j) * stride, stride, work, last * LANES, k * LANES, stride - last)
        j = last


@inline
def backward_lanes(values, base, length, columns, work):  # type: ignore[no-untyped-def]
    """Overwrite a supernode's own rows of Y by those of L⁻ᵀ Y, given the rows below them.

    values: of L, those of the supernode from `base` on in full columns of `length` rows. columns: of the supernode.
    work: its rows of Y, its own first, (length · LANES,).
    """
    start, stride, last = int(base), int(length), int(columns)
    while last > 0:
        j = max(last - COLUMNS, 0)
        below = start + j * stride + last
        if last - j == COLUMNS:
            _backward_four(values, below, stride, work, last * LANES, j * LANES, stride - last)
        else:
            for k in range(j, last):
                _backward_one(values, below + (k - j) * stride, stride, work, last * LANES, k * LANES, stride - last)
        for k in range(last - 1, j - 1, -1):
            pivot = start + k * stride + k
            _backward_one(values, pivot + 1, stride, work, (k + 1) * LANES, k * LANES, last - k - 1)
            own = work[k * LANES : (k + 1) * LANES]
            for lane in range(LANES):
                own[lane] /= values[pivot]
        last = j
