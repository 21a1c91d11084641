"""Measure several concurrent bakes on one machine: their processor time relative to the same bakes one by one.

    python -m benchmarks.bakes_beside

Four bakes of four threads each, fifty balls of 125 nodes that touch, three frames at 24 a second in steps of 1/96 s,
each `python -m solver bake` in a process of its own as a farm starts it. The environment says that there are as many
cores as threads, so on a machine with fewer of them the threads of all bakes share what there is. `bakes_beside` is the
median of so many rounds; both ways take turns. All frames are compared byte for byte.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from hashlib import sha256
from pathlib import Path

from benchmarks.report import claim, emit
from benchmarks.scenes import touching

ROOT = Path(__file__).resolve().parents[1]
BAKES, THREADS, ROUNDS, FRAMES = 4, 4, 3, 3


def started(job: Path) -> subprocess.Popen[bytes]:
    """A bake."""
    return subprocess.Popen([sys.executable, "-m", "solver", "bake", str(job), "--threads", str(THREADS), "--frames",
                             f"1-{1 + FRAMES}"], cwd=ROOT, stdout=subprocess.DEVNULL,
                            env=os.environ | {"PYTHON_CPU_COUNT": str(THREADS)})


def ended(bakes: list[subprocess.Popen[bytes]]) -> float:
    """Their processor seconds. Raises RuntimeError where one failed."""
    spent = 0.0
    for one in bakes:
        _, status, used = os.wait4(one.pid, 0)
        one.returncode = os.waitstatus_to_exitcode(status)
        if one.returncode:
            raise RuntimeError(f"a bake ended with exit code {one.returncode}")
        spent += used.ru_utime + used.ru_stime
    return spent


def digest(cache: Path) -> str:
    """Return the digest of all frames."""
    made = sha256()
    for path in sorted(cache.rglob("frames/*.npy")):
        made.update(path.read_bytes())
    return made.hexdigest()


def main() -> None:
    turns, beside, clock, ends = list[float](), list[float](), {"in turns": 0.0, "beside": 0.0}, set[str]()
    with tempfile.TemporaryDirectory(prefix="conjac-beside-") as name:
        made = Path(name) / "job"
        touching.balls_in_a_box(made, 50, 4, 1 / 96)

        def copies() -> list[Path]:
            jobs = [Path(name) / f"bake{k}" for k in range(BAKES)]
            for job in jobs:
                shutil.rmtree(job, ignore_errors=True)
                shutil.copytree(made, job)
            return jobs

        def look(jobs: list[Path]) -> None:
            ends.update(digest(job) for job in jobs)

        ended([started(copies()[0])])  # kernels are compiled
        for _ in range(ROUNDS):
            jobs, began = copies(), time.perf_counter()
            turns.append(sum(ended([started(job)]) for job in jobs))
            clock["in turns"] += time.perf_counter() - began
            look(jobs)
            jobs, began = copies(), time.perf_counter()
            beside.append(ended([started(job) for job in jobs]))
            clock["beside"] += time.perf_counter() - began
            look(jobs)
            print(json.dumps({"in turns": turns[-1], "beside": beside[-1]}), file=sys.stderr, flush=True)
    emit("bakes_beside", [claim("bakes_beside", statistics.median(b / t for b, t in zip(beside, turns)),
                                "times the processor time", "<= 1.15"),
                          claim("bakes_beside_bytes", len(ends), "different results", "<= 1")],
         {"processor_s_in_turns": turns, "processor_s_beside": beside,
          "clock_s": {key: value / ROUNDS for key, value in clock.items()}, "bakes": BAKES, "threads": THREADS})


if __name__ == "__main__":
    main()
