"""BLAS and LAPACK in single and double precision for kernels, on scipy's library: one thread, without a lock.

Fortran routines take addresses only. These are passed as 64 bit integers, which every 64 bit system passes as it passes
pointers.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ...threads import inline

#: name, library of scipy, what its arguments have to be; x stands for s and d
ROUTINES = (
    ("xpotrf", "cython_lapack", "char int x int int"),
    ("xtrsm", "cython_blas", "char char char char int int x x int x int"),
    ("xsyrk", "cython_blas", "char char int int x x int x x int"),
    ("xgemm", "cython_blas", "char char int int int x x int x int x x int"),
)
#: what stands at these addresses is never written
LETTERS = np.frombuffer(b"LRTN", dtype=np.uint8).copy()
SIGNS = {"s": np.array([-1.0, 1.0], dtype=np.float32), "d": np.array([-1.0, 1.0])}


@cache
def addresses(kind: str = "s") -> npt.NDArray[np.int64] | None:
    """Return the addresses of ROUTINES, the letters L, R, T, N, −1 and 1, (10,), int64; None where scipy's declarations
    differ from ROUTINES.

    kind: s for single precision, d for double.
    """
    import importlib

    routines: list[int] = []
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    for name, library, arguments in ROUTINES:
        capsule = importlib.import_module(f"scipy.linalg.{library}").__pyx_capi__.get(name.replace("x", kind, 1))
        declaration = api.PyCapsule_GetName(capsule) if capsule is not None else b""
        if not _is(declaration.decode(), arguments.replace("x", kind).split()):
            return None
        routines.append(api.PyCapsule_GetPointer(capsule, declaration))
    letters, signs = LETTERS.ctypes.data, SIGNS[kind]
    least = signs.ctypes.data
    return np.array([*routines, *(letters + k for k in range(4)), least, least + signs.itemsize], dtype=np.int64)


def _is(declaration: str, arguments: list[str]) -> bool:
    """Whether a declaration in C, "void (char *, int *, …)", takes pointers to these types. s, d: Cython's names."""
    inside = declaration.partition("(")[2].rpartition(")")[0].split(",")
    words = [word.replace("*", "").strip() for word in inside]
    kinds = ["s" if word == "float" or word.endswith("_s") else "d" if word == "double" or word.endswith("_d") else word
             for word in words]
    return kinds == arguments


def _intrinsic() -> Any:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    @intrinsic  # type: ignore[untyped-decorator]
    def call(context: Any, address: Any, arguments: Any) -> Any:
        """Run the routine at an address, with a tuple of addresses as its arguments."""

        def code(context: Any, builder: Any, signature: Any, operands: Any) -> Any:
            kind = ir.FunctionType(ir.VoidType(), [ir.IntType(64)] * arguments.count)
            routine = builder.inttoptr(operands[0], kind.as_pointer())
            builder.call(routine, cgutils.unpack_tuple(builder, operands[1], arguments.count))
            return context.get_dummy_value()

        return types.void(types.int64, arguments), code

    return call


call = _intrinsic()


@inline
def bytes_of(array):  # type: ignore[no-untyped-def]
    """Return the size of one entry of an array [bytes]."""
    return np.int64(array.itemsize)


@inline
def at(array, index):  # type: ignore[no-untyped-def]
    """Return the address of an entry of a flat array."""
    return np.int64(array.ctypes.data) + bytes_of(array) * np.int64(index)


@inline
def cholesky(blas, matrix, ints):  # type: ignore[no-untyped-def]
    """Overwrite the lower triangle at the address `matrix` by its factor L (xPOTRF), column-major.

    ints: (columns, _, leading dimension, info, …), int32; info is written, 0 if the matrix is positive definite.
    """
    call(blas[0], (blas[4], at(ints, 0), matrix, at(ints, 2), at(ints, 3)))


@inline
def solve_right(blas, matrix, below, ints):  # type: ignore[no-untyped-def]
    """Overwrite B by B L⁻ᵀ (xTRSM). matrix, below: addresses of L and B.

    ints: (columns, rows of B, leading dimension of both, …), int32.
    """
    call(blas[1], (blas[5], blas[4], blas[6], blas[7], at(ints, 1), at(ints, 0), blas[9], matrix, at(ints, 2), below,
                   at(ints, 2)))


@inline
def less_square(blas, rows, target, ints):  # type: ignore[no-untyped-def]
    """Subtract B Bᵀ from the lower triangle of C (xSYRK). rows, target: addresses of B and C.

    ints: (columns of B, rows of B, leading dimension of B, _, leading dimension of C), int32.
    """
    call(blas[2], (blas[4], blas[7], at(ints, 1), at(ints, 0), blas[8], rows, at(ints, 2), blas[9], target,
                   at(ints, 4)))


@inline
def less_product(blas, left, right, target, ints):  # type: ignore[no-untyped-def]
    """Subtract B Dᵀ from C (xGEMM). left, right, target: addresses of B, D and C.

    ints: (columns of B, rows of B, leading dimension of B and D, rows of D, leading dimension of C), int32.
    """
    call(blas[3], (blas[7], blas[6], at(ints, 1), at(ints, 3), at(ints, 0), blas[8], left, at(ints, 2), right,
                   at(ints, 2), blas[9], target, at(ints, 4)))
