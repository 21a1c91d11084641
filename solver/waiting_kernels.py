"""A wait for another thread that takes no lock: for the few microseconds in which it ends what it has begun."""

from __future__ import annotations

from typing import Any

from .threads import kernel


def _intrinsic() -> Any:
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    @intrinsic  # type: ignore[untyped-decorator]
    def load(context: Any, array: Any) -> Any:
        """The first entry as memory has it now: a compiler may read an entry once for a whole loop."""

        def code(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            view = context.make_array(signature.args[0])(context, builder, given[0])
            first = cgutils.get_item_pointer(context, builder, signature.args[0], view, [context.get_constant(
                types.intp, 0)], wraparound=False)
            return builder.load_atomic(first, "acquire", 8)

        return types.int64(array), code

    return load


_load = _intrinsic()


@kernel("b1(i8[::1], i8)")
def wait(flag, most):  # type: ignore[no-untyped-def]
    """Return whether a flag (1,) was set, looking at it so many times at most."""
    for _ in range(most):
        if _load(flag) != 0:
            return True
    return False
