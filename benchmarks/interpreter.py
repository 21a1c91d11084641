"""How much of a stretch of time the interpreter holds: the share in which some thread has Python's lock.

A compiled loop on a thread of its own, which never asks for the lock, looks every so often which thread has it. So
kernels that let go of it count as outside, and numpy's and scipy's calls that keep it as inside.
"""

from __future__ import annotations

import ctypes
import threading
from types import TracebackType

import numba
import numpy as np

EVERY = 100  #: [µs]

_holder = ctypes.CDLL(None)._PyThreadState_UncheckedGet
_holder.restype, _holder.argtypes = ctypes.c_void_p, []
_usleep = ctypes.CDLL(None).usleep
_usleep.restype, _usleep.argtypes = ctypes.c_int, [ctypes.c_uint32]


@numba.njit("void(i8[::1])", nogil=True)
def _look(told):  # type: ignore[no-untyped-def]
    """told: whether to end, times looked, times that a thread had the lock."""
    while told[0] == 0:
        _usleep(EVERY)
        told[1] += 1
        if _holder() != 0:
            told[2] += 1


class Interpreter:
    """As a context: looks while it is open."""

    def __init__(self) -> None:
        self._told = np.zeros(3, dtype=np.int64)
        self._thread = threading.Thread(target=_look, args=(self._told,), daemon=True)

    @property
    def share(self) -> float:
        """Of the time, 0 to 1."""
        return float(self._told[2] / max(self._told[1], 1))

    def __enter__(self) -> Interpreter:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._told[0] = 1
        self._thread.join()
