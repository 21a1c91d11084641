"""Run tests/addon in another Blender, with that Blender's Python and numpy: `make test-blender VERSION=5.2.3`.

    python scripts/test_blender.py 4.2.0 [--venv FOLDER] [pytest's arguments]

The first run of a version creates its environment, by default build/blender-<version>. The solver has only the packages
that the extension brings (scripts/build_extension.py), so CHOLMOD comes from cvxopt. Standard library only.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tomllib
from pathlib import Path

from wheels import ROOT, this_platform
from wheels import pins as wheel_pins

#: first Blender -> the Python and the numpy inside of it, which is not always what pip would choose
INSIDE = {(4, 2): ("3.11", "1.24.3"), (4, 4): ("3.11", "1.26.4"), (5, 1): ("3.13", "2.3.4")}


#: requirements of bpy other than numpy
NEEDED = ("requests", "zstandard", "cattrs")


def inside(version: str) -> tuple[str, str]:
    """Return versions of Python and numpy of a Blender. Raises SystemExit where the extension does not support it."""
    number = tuple(int(part) for part in version.split("."))
    known = [first for first in INSIDE if first <= number]
    if not known:
        raise SystemExit(f"test-blender: ConJac needs Blender 4.2 or later, not {version}")
    return INSIDE[max(known)]


def interpreter(python: str) -> Path:
    """Return an interpreter of a Python version, from the path or pyenv. Raises SystemExit where there is none."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    for candidate in (f"python{python}", *sorted(pyenv.glob(f"{python}.*/bin/python"))):
        try:
            subprocess.run([candidate, "-c", "import venv, ensurepip"], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):  # pyenv's shim of a Python that is not chosen is no Python
            continue
        return Path(candidate)
    raise SystemExit(f"test-blender: Python {python} is missing: install it, or `pyenv install {python}`")


def environment(version: str, folder: Path) -> Path:
    """Return the interpreter of an environment with a Blender in `folder`, which is made unless it exists."""
    python, numpy = inside(version)
    executable, done = folder / "bin" / "python", folder / ".conjac-pins"
    dev = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]["dev"]
    pins = [f"numpy=={numpy}", *NEEDED, *wheel_pins(python, this_platform()),
            *(line for line in dev if line.startswith(("pytest", "pillow")))]  # some tests build the extension
    blender = f"bpy=={version}"
    if not done.exists() or done.read_text(encoding="utf-8") != "\n".join([blender, *pins]):
        print(f"test-blender: installing into {folder}: {blender} {' '.join(pins)}", flush=True)
        subprocess.run([interpreter(python), "-m", "venv", folder], check=True)
        pip = [executable, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        subprocess.run([*pip, *pins], check=True)
        # 5.1.0 asks for another numpy than is inside of Blender 5.1
        subprocess.run([*pip, "--no-deps", blender], check=True)
        done.write_text("\n".join([blender, *pins]), encoding="utf-8")
    return executable


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("version", help="of Blender, with all its numbers: 4.2.0, 5.0.1, 5.2.3")
    parser.add_argument("--venv", type=Path, help="where its environment stands or is made")
    chosen, for_pytest = parser.parse_known_args()
    folder = chosen.venv or ROOT / "build" / f"blender-{chosen.version}"
    try:
        executable = environment(chosen.version, folder.absolute())
    except subprocess.CalledProcessError as failure:
        print(f"test-blender: failed: {' '.join(map(str, failure.cmd))}", file=sys.stderr)
        return 4
    tests = for_pytest or ["tests/addon", "-m", "not long"]
    return subprocess.run([executable, "-m", "pytest", "-p", "no:cacheprovider", *tests], cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())
