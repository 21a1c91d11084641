"""Compile the kernels of a zip of the extension, for scripts/build_extension.py.

Machine code is specific to a Python, its numba and a platform, so this needs an interpreter of the zip's Python on the
zip's platform. Zips for others have no kernels, and their first bake compiles them. A single process compiles all
kernels in a fixed order, so that the same sources give the same bytes. Compiled kernels are cached in build/kernels,
under a name derived from their inputs.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

from scripts import wheels  # noqa: E402
from scripts.test_blender import interpreter  # noqa: E402
from solver import kernel_archive, threads  # noqa: E402

FOLDER = ROOT / "build" / "kernels"
WHEN = (1980, 1, 1, 0, 0, 0)  #: the date of all files in an archive

#: a numpy of the major version that Blenders with this Python have
NUMPY = {"3.11": "1.26.4", "3.13": "2.3.4", "3.14": "2.4.6"}

COMPILE = """
import json, sys
from solver import kernel_archive, threads
from solver.build import compiling
compiling.load([*compiling.of_new_body(), *compiling.others()])
print(json.dumps(kernel_archive.list_dependencies(threads.sources_hash())))
sys.exit("; ".join(threads.cache_notes()) or 0)
"""


def for_zip(python: str, target: str, root: Path, bundled: Sequence[Path]) -> Path | None:
    """Return an archive of all kernels for a zip; None, with a printed reason, where they cannot be compiled here.

    root: folder of the zip's solver/. bundled: wheels that this zip unpacks. Raises SystemExit where compiling fails.
    """
    try:
        if target != wheels.this_platform() or not target.endswith("-x64"):
            raise SystemExit(f"kernels for {target} are compiled on {target} alone, if it is an x86-64 platform")
        executable = interpreter(python)
    except SystemExit as reason:
        print(f"Python {python} on {target}: no kernels in the zip: {reason}", flush=True)
        return None
    made_from = [threads.sources_hash(root / "solver"), NUMPY[python], *sorted(path.name for path in bundled)]
    digest = hashlib.blake2b("\n".join(made_from).encode(), digest_size=8).hexdigest()
    path = FOLDER / f"py{python.replace('.', '')}-{target}-{digest}.zip"
    if not path.exists():
        print(f"Python {python} on {target}: compiling kernels, which takes minutes", flush=True)
        with tempfile.TemporaryDirectory() as packages:
            _install(python, target, [f"numpy=={NUMPY[python]}", *map(str, bundled)], Path(packages))
            compile_all([executable, "-s"], root, path, [packages])
    return path


def compile_all(interpreter: Sequence[str | Path], root: Path, path: Path, packages: Iterable[str] = ()) -> Path:
    """Compile all kernels of root/solver with an interpreter, write their archive to `path`, and return `path`.

    packages: folders that precede those of the interpreter on its path. Raises SystemExit where compiling fails.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as kernels:
        environment = os.environ | kernel_archive.CHOICE | {
            "NUMBA_CACHE_DIR": kernels, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": os.pathsep.join(packages)}
        ran = subprocess.run([*interpreter, "-c", COMPILE], cwd=root, env=environment, capture_output=True, text=True)
        if ran.returncode:
            raise SystemExit(f"kernels cannot be compiled: {ran.stderr.strip()[-2000:]}")
        return write(Path(kernels), json.loads(ran.stdout.splitlines()[-1]), path)


def write(folder: Path, made_with: Sequence[str], path: Path) -> Path:
    """Write an archive of the kernels in a folder to `path` and return `path`.

    made_with: `kernel_archive.list_dependencies` of the interpreter that compiled the kernels.
    """
    contents = {kernel.name: kernel.read_bytes() for kernel in folder.glob("*.nb[ci]")}
    contents[kernel_archive.MADE_WITH] = json.dumps(made_with).encode()
    written = path.with_suffix(".new")
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(contents):
            entry = zipfile.ZipInfo(name, WHEN)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, contents[name], compresslevel=9)
    written.replace(path)
    return path


def put(path: Path, root: Path) -> None:
    """Copy an archive to where the solver below `root` reads it."""
    shutil.copyfile(path, root / "solver" / kernel_archive.ARCHIVE.name)


def _install(python: str, target: str, requirements: Sequence[str], folder: Path) -> None:
    """Install wheels for a Python version and platform into a folder. Raises SystemExit where that fails."""
    tags = [word for tag in wheels.TAGS[target] for word in ("--platform", tag)]
    ran = subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps",
                          "--only-binary=:all:", "--implementation", "cp", "--python-version", python, *tags,
                          "--target", str(folder), *requirements], capture_output=True, text=True)
    if ran.returncode:
        raise SystemExit(f"no packages to compile kernels with: {ran.stderr.strip()[-500:]}")
