"""Compilation of every kernel of the solver into the cache on disk, which the extension runs once, so that no bake
waits.

    python -m solver.build.compiling

The kernels of a new soft body come first, since a first bake may begin at any moment. On two cores or more a second
process compiles those of its material and its factor, and then goes through the others from the end of the list; where
both meet, all that is left is on disk already.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from .. import catalogue, cores, kernel_archive, threads
from . import loading
from .load_progress import kernels_of

ROOT = Path(__file__).resolve().parents[1]
NICE = 10  #: less urgent than whatever else runs

#: what a new soft body is solved with, by family and key of the catalogue
MATERIAL = ("material", "stable_neo_hookean")
SOLVER = (("method", "vanilla"), ("integrator", "sdirk2"), ("stage_solver", "quick"))


def of_new_body() -> list[str]:
    """Return the modules that solve a new soft body, named from the solver's root."""
    solver = [catalogue.find(family, key).path.partition(":")[0] for family, key in (*SOLVER, MATERIAL)]
    return ["build.world", *solver, "linear.choose", *loading.FACTOR]


def others() -> list[str]:
    """Return all modules with kernels, or constants of kernels, that `of_new_body` does not load, named from the
    solver's root."""
    first = {*of_new_body(), *kernels_of(of_new_body())}
    paths = [path.relative_to(ROOT).with_suffix("").parts for path in threads._kernel_sources(ROOT)]
    return [name for name in map(".".join, paths) if name not in first]


def load(names: Iterable[str]) -> None:
    """Import modules, which compiles their kernels. A module whose library is not installed is skipped, since its
    kernels are not needed then."""
    for name in names:
        with suppress(ImportError):
            importlib.import_module("." + name, ROOT.name)


def be_second() -> None:
    """Compile as the second process: the kernels that it compiles in a bake too, then all other modules from the last
    one on."""
    loading.load_kernels([MATERIAL], "auto")
    load(reversed(others()))


def main() -> int:
    """Compile all kernels, unless they came with the extension, and return the exit code."""
    if kernel_archive.has_all(loading.sources()):
        return 0
    print(json.dumps({"event": "compile"}), flush=True)
    if hasattr(os, "nice"):
        os.nice(NICE)
    second = loading.start_beside("compiling.be_second()", subprocess.DEVNULL) if cores.available() > 1 else None
    load([*of_new_body(), *others()])
    if second is not None:
        second.kill()  # its remaining kernels are compiled by now
        second.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
