"""Fraction of a scene's kernels that are compiled, for the progress of a first bake.

Kernels compile as their modules are imported, in two processes, and each leaves a file in the cache on disk. So the
compiled ones are those that this process has imported, and those with a new file.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = __package__.rpartition(".")[0]
FROM = re.compile(r"^from (\.+)([\w.]*) import (\([^)]*\)|[^\n]*)", re.MULTILINE)
KERNEL = re.compile(r"^@kernel\b.*?^def (\w+)", re.MULTILINE | re.DOTALL)


def kernels_of(modules: Iterable[str]) -> dict[str, list[str]]:
    """Return the names of the kernels of each module, for these modules and all that they import when they load, as far
    as they have any. Modules are named from the solver's root, as "linear.choose". Reads source files, imports nothing.
    """
    kernels: dict[str, list[str]] = {}
    seen: set[Path] = set()
    pending = [_file(ROOT.joinpath(*module.split("."))) for module in modules]
    while pending:
        path = pending.pop()
        if path is None or path in seen:
            continue
        seen.add(path)
        text = path.read_text(encoding="utf-8")
        if kernel_names := KERNEL.findall(text):
            kernels[".".join(path.relative_to(ROOT).with_suffix("").parts)] = kernel_names
        for dots, module, names in FROM.findall(text):
            base = path.parents[len(dots) - 1].joinpath(*filter(None, module.split(".")))
            pending.append(_file(base))
            pending += [_file(base / name) for name in re.findall(r"\w+", names)]
    return kernels


class LoadProgress:
    """Progress of the compilation of modules' kernels, from the files in the folder of compiled kernels."""

    def __init__(self, modules: Iterable[str], folder: Path) -> None:
        self._kernels, self._folder = kernels_of(modules), folder
        self._before = self._files()

    def fraction(self) -> float:
        """Return the fraction of the kernels that are loaded here or were compiled since, in [0, 1]."""
        new = {name.partition("-")[0] for name in self._files() - self._before}
        done = total = 0
        for module, names in self._kernels.items():
            total += len(names)
            stem = module.rpartition(".")[2]
            loaded = vars(sys.modules[known]) if (known := f"{PACKAGE}.{module}") in sys.modules else {}
            done += sum(name in loaded or f"{stem}.{name}" in new for name in names)
        return done / total if total else 1.0

    def _files(self) -> set[str]:
        with suppress(OSError):
            return {name for name in os.listdir(self._folder) if name.endswith(".nbc")}
        return set()


def _file(path: Path) -> Path | None:
    """Return the file of a module or of a package; None where the path is neither."""
    for candidate in (path.with_suffix(".py"), path / "__init__.py"):
        if candidate.is_file() and ROOT in candidate.parents:
            return candidate
    return None
