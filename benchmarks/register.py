"""Measure the extra start-up time of Blender with the extension: `register`, disabling, and enabling again.

    python -m benchmarks.register

Each cold value is that of a fresh process in which bpy is loaded and nothing of ConJac; its bytecode is there, as after
the first start. Processor time of the thread, and medians. What is loaded besides ConJac stands in the details.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import report

ROOT = Path(__file__).resolve().parent.parent
STARTS, ROUNDS = 9, 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--once", action="store_true", help="(used by itself) in the fresh process")
    if parser.parse_args().once:
        once()
    with tempfile.TemporaryDirectory() as bytecode:
        env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        env["PYTHONPYCACHEPREFIX"] = bytecode
        found: list[dict[str, Any]] = []
        for _ in range(STARTS + 1):
            ran = subprocess.run([sys.executable, "-m", "benchmarks.register", "--once"], cwd=ROOT, env=env,
                                 stdout=subprocess.PIPE, text=True, check=True)
            found.append(json.loads(ran.stdout.splitlines()[-1]))
    found = found[1:]  # the first one wrote the bytecode
    report.emit("register", [
        report.claim("register_ms", statistics.median(one["cold"] for one in found), "ms of processor time", "<= 20"),
    ], {"cold_ms": [round(one["cold"], 1) for one in found],
        "again_ms": round(statistics.median(one["again"] for one in found), 1),
        "unregister_ms": round(statistics.median(one["back"] for one in found), 1),
        "a_million_additions_ms": round(statistics.median(one["loop"] for one in found), 1),
        "modules_run": found[0]["run"], "modules_waiting": found[0]["waiting"], "loaded_besides": found[0]["besides"]})


def once() -> None:
    """Prints one line of JSON: milliseconds, and what was loaded."""
    import bpy  # noqa: F401

    from examples_blend import addon

    extension = addon.load()
    before = set(sys.modules)
    cold = timed(extension.register)
    from conjac.conjac_addon import later  # type: ignore[import-not-found]

    new = set(sys.modules) - before
    own = [sys.modules[name] for name in new if name.startswith("conjac.")]
    waiting = sum(not later.has_run(module) for module in own)
    back, again = [], []
    for _ in range(ROUNDS):
        back.append(timed(extension.unregister))
        again.append(timed(extension.register))
    print(json.dumps({"cold": cold, "back": statistics.median(back), "again": statistics.median(again),
                      "loop": timed(lambda: sum(range(1_000_000))), "run": len(own) - waiting, "waiting": waiting,
                      "besides": sorted(name for name in new if not name.startswith("conjac"))}), flush=True)
    os._exit(0)  # bpy as a module may hang at exit


def timed(what: Any) -> float:
    """Milliseconds of this thread."""
    began = time.thread_time()
    what()
    return 1e3 * (time.thread_time() - began)


if __name__ == "__main__":
    main()
