"""Reports of benchmarks: claims, each with its goal and whether it holds, and the machine, as one JSON line.

    report.emit("step", [report.claim("vanilla_ms", 93.1, "ms", "<= 100"), ...], details={...})
"""

from __future__ import annotations

import hashlib
import json
import operator
import os
import platform
import re
import subprocess
import sys
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

COMPARE = {"<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt}
GOAL = re.compile(r"(<=|>=|<|>) *([-+0-9.eE]+) *%?")
COMMIT = re.compile("[0-9a-f]{7,40}")
#: whose changes change what is measured
CODE = ("solver", "benchmarks", "conjac_addon", "pyproject.toml", ":!benchmarks/results",
        ":!benchmarks/scenes/references")
PACKAGES = ("numpy", "scipy", "numba", "scikit-sparse", "bpy")


@dataclass(frozen=True)
class Claim:
    """A measured number and its goal."""

    claim: str  #: its stable identifier in the README and docs/benchmarks.md
    value: float
    unit: str
    goal: str  #: "<= 1.08" or ">= 0.3"
    paper: float | str | None  #: value in the paper; None where it gives none
    holds: bool


def claim(id: str, value: float, unit: str, goal: str, paper: float | str | None = None) -> Claim:
    """Return a claim, which holds if `value` meets `goal`. Raises ValueError where `goal` is not like "<= 1.08"."""
    bound = GOAL.fullmatch(goal)
    if bound is None:
        raise ValueError(f'claim {id}: goal "{goal}" is not a comparison with a number, such as "<= 1.08"')
    return Claim(id, float(value), unit, goal, paper, bool(COMPARE[bound[1]](value, float(bound[2]))))


def machine() -> dict[str, Any]:
    """Return the facts by which a reader judges measurements: processor, cores, memory, versions, commit."""
    try:
        cpus = len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        cpus = os.cpu_count() or 1
    return {
        "cpu": _line("/proc/cpuinfo", "model name") or platform.processor() or platform.machine(),
        "cores": cpus,
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1)
        if hasattr(os, "sysconf") else None,
        "load_before": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        **{name: _version(name) for name in PACKAGES},
        "commit": _commit(),
    }


def emit(benchmark: str, claims: list[Claim], details: dict[str, Any] | None = None) -> None:
    """Print the report of a benchmark as one JSON line on stdout, and a line for each claim on stderr."""
    line = {"benchmark": benchmark, "claims": [asdict(one) for one in claims], "details": details or {},
            "machine": machine()}
    print(json.dumps(line, ensure_ascii=False), flush=True)
    for one in claims:
        sign = "holds" if one.holds else "DOES NOT HOLD"
        print(f"{one.claim}: {one.value:.4g} {one.unit} (goal {one.goal}): {sign}", file=sys.stderr, flush=True)


def seal(answer: dict[str, Any]) -> str:
    """Return a digest of a report, 16 hexadecimal digits, which detects numbers that were changed by hand."""
    text = json.dumps({key: value for key, value in answer.items() if key != "seal"}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def why_not(answer: dict[str, Any]) -> str | None:
    """Return why a report cannot be traced to code and machine, one clause; None where it can."""
    facts = answer.get("machine", {})
    if not COMMIT.fullmatch(facts.get("commit") or ""):
        return "the code that was measured is in no commit"
    if not facts.get("cpu"):
        return "it does not say on which machine it was measured"
    if answer.get("seal") != seal(answer):
        return "it is not what the benchmark wrote"
    return None


def _commit() -> str | None:
    """Return the commit of the code, with "-dirty" appended where code has changes; None outside of a checkout.

    Files that benchmarks write are not code.
    """
    try:
        at, changed = _git("rev-parse", "--short=9", "HEAD"), _git("status", "--porcelain", "--", *CODE)
    except (OSError, subprocess.CalledProcessError):
        return None
    return at + ("-dirty" if changed else "")


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=Path(__file__).parents[1], capture_output=True, text=True,
                          check=True).stdout.strip()


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _line(path: str, key: str) -> str | None:
    """Return the text after `key :` in a file of the operating system; None where there is none."""
    try:
        text = Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    found = re.search(rf"^{key}\s*:\s*(.+)$", text, re.MULTILINE)
    return found[1].strip() if found else None
