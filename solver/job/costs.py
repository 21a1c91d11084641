"""Costs of a step with a direct factor and with multigrid, and the choice between both for a scene.

From bars of six tetrahedra a cube that were measured once (30k to 1.03 M tetrahedra; two cores of 2023): right in order
of magnitude. A thin body's factor is several times cheaper than a solid one's, so a direct factor is replaced only
where it is out of the question or several times slower.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

#: tetrahedra of a bar; operations of its factorization and size of the factor that were measured
MEASURED_TETS, MEASURED_FLOPS, MEASURED_FACTOR_BYTES = 30e3, 4e9, 0.05 * 2**30
FLOPS_GROW, FACTOR_GROWS = 1.97, 1.35  #: exponents of the number of tetrahedra
#: of a factorization; of the assembly [s]
FLOPS_PER_SECOND, FILL_SECONDS_PER_TET = 25e9, 5e-7
BYTES_PER_TET = 1.6e3  #: element and pattern arrays
MULTIGRID_SECONDS_PER_TET, MULTIGRID_BYTES_PER_TET = 7e-6, 0.6e3  #: of a step, a dozen columns at once
SLOWER = 3.0  #: a direct factor that is so many times slower is not taken
MEMORY_FRACTION = 0.5  #: of the machine's that a bake may take


@dataclass(frozen=True)
class Cost:
    """Time and memory of a step with one linear solver, in total."""

    seconds: float  #: of a step [s]
    memory: float  #: [bytes]


def direct(tets: Sequence[int]) -> Cost:
    """Return the cost of a step with a direct factor. tets: number of tetrahedra of each body.

    Bodies are factored separately or as blocks of one matrix."""
    flops = sum(MEASURED_FLOPS * (count / MEASURED_TETS) ** FLOPS_GROW for count in tets)
    factor = sum(MEASURED_FACTOR_BYTES * (count / MEASURED_TETS) ** FACTOR_GROWS for count in tets)
    every = sum(tets)
    return Cost(flops / FLOPS_PER_SECOND + FILL_SECONDS_PER_TET * every, factor + BYTES_PER_TET * every)


def multigrid(tets: Sequence[int]) -> Cost:
    """Return the cost of a step with multigrid. tets: number of tetrahedra of each body."""
    every = sum(tets)
    return Cost((MULTIGRID_SECONDS_PER_TET + FILL_SECONDS_PER_TET) * every,
                (MULTIGRID_BYTES_PER_TET + BYTES_PER_TET) * every)


def why_multigrid(tets: Sequence[int], memory: float) -> str | None:
    """Return the reason, one clause, to solve a scene by multigrid; None where a direct factor is better.

    tets: number of tetrahedra of each body. memory: memory of the machine [bytes].
    """
    factor, iterated = direct(tets), multigrid(tets)
    if factor.memory > MEMORY_FRACTION * memory:
        return (f"a factor of these {sum(tets):,} tetrahedra would need about {factor.memory / 1e9:.1f} GB, "
                f"this one about {iterated.memory / 1e9:.1f} GB")
    if factor.seconds > SLOWER * iterated.seconds:
        return (f"a factor of these {sum(tets):,} tetrahedra would take about {factor.seconds:.1f} s a step, "
                f"this one about {iterated.seconds:.1f} s")
    return None


def machine_memory() -> float:
    """Return the memory of this machine, or of its control group where that is less [bytes].

    The memory that is free now is not considered, so that later bakes choose the same solver."""
    limits = [_physical()]
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            limits.append(float(Path(path).read_text()))
        except (OSError, ValueError):  # no such group, or "max"
            continue
    return min(limits)


def _physical() -> float:
    """Return the physical memory of the machine [bytes]."""
    if sys.platform != "win32":
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    import ctypes

    class Status(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ulong), ("load", ctypes.c_ulong),
                    *[(name, ctypes.c_ulonglong) for name in ("total", "free", "page_total", "page_free",
                                                              "virtual_total", "virtual_free", "extended")]]

    status = Status(length=ctypes.sizeof(Status))
    ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status))
    return float(status.total)
