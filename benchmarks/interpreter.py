"""Measure the share of a bake during which a thread holds Python's lock.

    python -m benchmarks.interpreter

Scenes of `benchmarks.cores` on one thread, as they are there, after an unmeasured run. A compiled loop on a thread of
its own, which never takes the lock, samples whether another thread holds it. Kernels that release the lock count as
outside; Python code, and calls of numpy and scipy that keep it, as inside: no second thread can do any of these
meanwhile.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import threading
from types import TracebackType
from typing import Any

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numba
import numpy as np

from benchmarks import cores_scenes
from benchmarks.report import emit

EVERY = 100  #: [µs]
SCENES = ("dragon", "rest", "mat", "balls", "bowl", "edge", "ragdoll")

_holder = ctypes.CDLL(None)._PyThreadState_UncheckedGet
_holder.restype, _holder.argtypes = ctypes.c_void_p, []
_usleep = ctypes.CDLL(None).usleep
_usleep.restype, _usleep.argtypes = ctypes.c_int, [ctypes.c_uint32]


@numba.njit("void(i8[::1])", nogil=True)
def _look(counters):  # type: ignore[no-untyped-def]
    """counters: whether to end, times looked, times that a thread had the lock."""
    while counters[0] == 0:
        _usleep(EVERY)
        counters[1] += 1
        if _holder() != 0:
            counters[2] += 1


class Interpreter:
    """As a context: looks while it is open."""

    def __init__(self) -> None:
        self._counters = np.zeros(3, dtype=np.int64)
        self._thread = threading.Thread(target=_look, args=(self._counters,), daemon=True)

    @property
    def fraction(self) -> float:
        """Return the share of the time, 0 to 1."""
        return float(self._counters[2] / max(self._counters[1], 1))

    def __enter__(self) -> Interpreter:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._counters[0] = 1
        self._thread.join()


def measured(name: str) -> dict[str, Any]:
    """A row."""
    scene = cores_scenes.made(name)
    scene.run(scene.start)
    scene.forget()
    gc.collect()
    with Interpreter() as looking:
        scene.run(scene.start)
    print(name, looking.fraction, file=sys.stderr, flush=True)
    return {"nodes": scene.nodes, "share": looking.fraction}


def main() -> None:
    threads.configure(1)
    emit("interpreter", [], {"scenes": {name: measured(name) for name in SCENES}})


if __name__ == "__main__":
    main()
