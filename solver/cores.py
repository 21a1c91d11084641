"""Number of cores that this process may use: of the machine, of its affinity, and of its control groups' quota.

Evaluated before numpy is imported, so nothing but the standard library.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

CONTROL_GROUPS = Path("/sys/fs/cgroup")
OWN_GROUPS = Path("/proc/self/cgroup")


def available() -> int:
    """Return the number of cores that this process may use, at least one.

    PYTHON_CPU_COUNT in the environment overrides the machine, as in Python 3.13. A farm's cpuset binds the process; of
    a control group's quota only whole cores count, as a thread that is stopped for a part of the time makes all others
    wait.
    """
    requested = os.environ.get("PYTHON_CPU_COUNT", "")
    if requested.isdecimal() and int(requested) > 0:
        return int(requested)
    quota = _quota()
    return max(1, _count_usable_cores() if quota is None else min(_count_usable_cores(), int(quota)))


def _count_usable_cores() -> int:
    """Return the number of cores that the process may run on."""
    if sys.version_info >= (3, 13):
        return os.process_cpu_count() or 1
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def _quota() -> float | None:
    """Return the processor time per second that the control groups of this process allow; None without a limit."""
    limits = []
    for folder in _groups():
        try:
            if (folder / "cpu.max").exists():  # version 2
                most, period = (folder / "cpu.max").read_text().split()
            else:
                most, period = ((folder / f"cpu.cfs_{name}_us").read_text().strip() for name in ("quota", "period"))
            if most not in ("max", "-1"):
                limits.append(int(most) / int(period))
        except (OSError, ValueError, ZeroDivisionError):
            continue
    return min(limits, default=None)


def _groups() -> list[Path]:
    """Return the folders of this process' control groups and of all above them, also those of version 1 that limit
    time."""
    try:
        lines = OWN_GROUPS.read_text().splitlines()
    except OSError:
        return []
    folders = []
    for _, controllers, path in (line.split(":", 2) for line in lines if line.count(":") > 1):
        if controllers and "cpu" not in controllers.split(","):
            continue
        root = CONTROL_GROUPS / controllers if controllers else CONTROL_GROUPS
        own = root / path.strip("/")
        # in a container the path may be the host's, of which only the root is here
        folders += [group for group in (own, *own.parents) if group.is_relative_to(root) and group.is_dir()]
    return folders
