"""Compiled kernels that come with the extension's zip, so that a first bake on a new computer compiles none of them.

They are machine code for PROCESSOR, a level of instructions that nearly all of today's x86-64 processors have. Where an
installation brings an archive and the processor has that level, numba compiles for PROCESSOR in all of its processes:
a kernel from the archive and one compiled here then give the same bytes. Everywhere else numba compiles for the
processor that it runs on.

Import this before numba, which reads NUMBA_CPU_NAME when it loads. `scripts/compiled_kernels.py` writes the archive.
"""

from __future__ import annotations

import json
import os
import sys
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

ARCHIVE = Path(__file__).resolve().with_name("kernels.zip")
MADE_WITH = "made_with.json"  #: in the archive: what `list_dependencies` returned as its kernels were compiled

PROCESSOR = "x86-64-v3"  #: LLVM's name for Intel's processors since 2013 and AMD's since 2015
FEATURES = ("avx", "avx2", "bmi", "bmi2", "cx16", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sahf", "sse3", "sse4.1",
            "sse4.2", "ssse3", "xsave")  #: LLVM's names for what PROCESSOR has
CHOICE = {"NUMBA_CPU_NAME": PROCESSOR, "NUMBA_CPU_FEATURES": ""}  #: in the environment of numba


def choose_processor(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the variables by which numba compiles for PROCESSOR; none where there is no archive, where this processor
    lacks one of FEATURES, or where the user has chosen a processor.

    environment: variables of the process.
    """
    if "NUMBA_CPU_NAME" in environment or not ARCHIVE.is_file():
        return {}
    from llvmlite import binding

    try:
        features = binding.get_host_cpu_features()
    except RuntimeError:  # LLVM does not know them on this system
        return {}
    return CHOICE if all(features.get(name) for name in FEATURES) else {}


def list_dependencies(sources: str) -> list[str]:
    """Return everything that compiled kernels depend on except the processor. sources: hash of the kernels' sources."""
    import numba
    import numpy

    return [sys.implementation.cache_tag, numba.__version__, numpy.__version__.partition(".")[0], sources]


def has_all(sources: str) -> bool:
    """Whether the archive has every kernel of the sources with this hash, for this Python and processor."""
    content = _read(MADE_WITH) if MADE_WITH in _names() else None
    return content is not None and json.loads(content) == list_dependencies(sources)


def bring(index: Path) -> None:
    """Copy a kernel's files from the archive to the folder of its index file, where they are missing.

    Raises OSError where they cannot be written.
    """
    if index.exists():
        return
    for name in sorted(_names().get(index.stem, ())):  # the index last: what it lists is there
        content = _read(name)
        if content is None:
            return
        written = index.with_name(f"{name}.tmp.{os.getpid()}")
        try:
            written.write_bytes(content)
            os.replace(written, index.with_name(name))
        finally:
            with suppress(OSError):
                written.unlink()


def _read(name: str) -> bytes | None:
    """Return the content of a file of the archive; None where it is damaged, so that its kernel is compiled."""
    with suppress(OSError, EOFError, zipfile.BadZipFile, zlib.error), zipfile.ZipFile(ARCHIVE) as archive:
        return archive.read(name)
    return None


@cache
def _names() -> dict[str, list[str]]:
    """Return the names of files in the archive by index file without its ending; none where numba compiles for another
    processor."""
    files_of = defaultdict[str, list[str]](list)
    if CHOICE.items() <= os.environ.items():
        with suppress(OSError, zipfile.BadZipFile), zipfile.ZipFile(ARCHIVE) as archive:
            for name in archive.namelist():
                # module.function-key.py311.nbi, and module.function-key.py311.1.nbc
                stem = name.removesuffix(".nbi") if name.endswith(".nbi") else name.rsplit(".", 2)[0]
                files_of[name if name == MADE_WITH else stem].append(name)
    return dict(files_of)
