"""Install the requirements of ConJac's commands on this machine: system packages, then a .venv of pinned packages.

    python3.11 scripts/setup.py                 all groups of pyproject.toml
    python3.11 scripts/setup.py build solver    these, for what needs no more: the others may follow meanwhile

Reads the pins from pyproject.toml. Packages that are present are not touched, so the second run installs nothing.
Prints what it installs, and stops with one line if something is missing that it may not install. Standard library only.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Collection, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMP = VENV / ".conjac-pins"
PYTHON = VENV / "bin" / "python"


class SetupStopped(Exception):
    """Error that names in one line the packages or programs that are missing."""


def pins(project: dict) -> dict[str, list[str]]:
    """Return the requirement lines of each group, in the order of installation. project: contents of pyproject.toml."""
    return {name: list(project["dependency-groups"][name]) for name in ("build", "solver", "blender", "dev", "farm")}


def is_installed(package: str) -> bool:
    """Return whether a Debian package is installed, in any version."""
    answer = subprocess.run(["dpkg-query", "-W", "-f", "${Status}", package], capture_output=True, text=True)
    return answer.returncode == 0 and answer.stdout.endswith("ok installed")


def missing_packages(packages: list[str]) -> list[str]:
    """Return the Debian packages that are not installed, including those that this Python needs to make a .venv."""
    missing = [package for package in packages if not is_installed(package)]
    if not Path(sysconfig.get_paths()["include"], "Python.h").exists():
        missing.append("python3.11-dev")
    if importlib.util.find_spec("ensurepip") is None and not PYTHON.exists():
        missing.append("python3.11-venv")
    return missing


def install_system(packages: list[str]) -> None:
    """Install missing Debian packages as root. Raises SetupStopped, which names them, for other users."""
    if shutil.which("dpkg-query") is None:
        print("setup: no dpkg here, so the system packages are not checked:", " ".join(packages))
        return
    missing = missing_packages(packages)
    if not missing:
        return
    if os.geteuid() != 0:
        raise SetupStopped(f"missing system packages, install them and run again: {' '.join(missing)}")
    print("setup: installing system packages:", " ".join(missing), flush=True)
    quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "update", "-qq"], check=True, env=quiet)
    subprocess.run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing], check=True, env=quiet,
                   stdout=subprocess.DEVNULL)


def installed_versions() -> dict[str, str]:
    """Return the version of each package in the .venv by its canonical name."""
    listing = subprocess.run([PYTHON, "-m", "pip", "list", "--format=json", "--disable-pip-version-check"],
                             check=True, capture_output=True, text=True).stdout
    return {canonical(row["name"]): row["version"] for row in json.loads(listing)}


def canonical(name: str) -> str:
    """Return the canonical spelling of a distribution's name, for comparisons."""
    return name.lower().replace("_", "-").replace(".", "-")


def install_python(groups: dict[str, list[str]], chosen: Collection[str] = ()) -> None:
    """Make a .venv with exactly the pinned versions of `groups`, or of the chosen ones alone."""
    requested = json.dumps([groups, sys.version_info[:2]], sort_keys=True)
    stamp = hashlib.sha256(requested.encode()).hexdigest()
    if STAMP.exists() and STAMP.read_text() == stamp:
        return
    if not PYTHON.exists():
        print(f"setup: making .venv with Python {sys.version.split()[0]}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    present = installed_versions()
    # each start of pip takes seconds; what is compiled here needs Cython first
    for names in (("build", "solver"), tuple(name for name in groups if name not in ("build", "solver"))):
        new = [line for name in names if name in (chosen or groups) for line in groups[name]
               if present.get(canonical(line.partition("==")[0])) != line.partition("==")[2]]
        if not new:
            continue
        print(f"setup: installing {' '.join(new)}", flush=True)
        # without isolation scikit-sparse is built against the numpy and Cython pinned here, not the newest ones
        options = ["-q", "--disable-pip-version-check", "--no-build-isolation", "--progress-bar", "off"]
        last = [line for line in new if line.startswith("scikit-sparse")]
        for batch in ([line for line in new if line not in last], last):
            if batch:
                subprocess.run([PYTHON, "-m", "pip", "install", *options, *batch], check=True)
    if not chosen:
        STAMP.write_text(stamp)


def main(chosen: Sequence[str] = ()) -> int:
    """Install all groups, or the chosen ones, and return the exit code."""
    try:
        if sys.version_info[:2] != (3, 11):
            raise SetupStopped(f"Python 3.11 is needed (the one of Blender 4.5), this is {sys.version.split()[0]}")
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
        install_system(project["tool"]["conjac"]["system-packages"])
        install_python(pins(project), chosen)
    except SetupStopped as stop:
        print(f"setup: {stop}", file=sys.stderr)
        return 4
    except subprocess.CalledProcessError as failure:
        print(f"setup: failed: {' '.join(map(str, failure.cmd))}", file=sys.stderr)
        return 4
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
