"""Wheels of the extension's zips: the files for each Python and platform, their sources and dependencies.

    python scripts/wheels.py            fetches the entries of scripts/wheels.json into build/wheels
    python scripts/wheels.py --lock     rewrites scripts/wheels.json from the pins

The wheels are those of the group `solver` in pyproject.toml, unmodified, without numpy (Blender has its own) and
scikit-sparse (no wheels exist; cvxopt brings CHOLMOD). wheels.json lists the name, size and hash of each file, so that
every build uses the same bytes; files that are already in build/wheels are not fetched again. Standard library and pip
only.
"""

from __future__ import annotations

import argparse
import email
import hashlib
import json
import platform
import re
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "scripts" / "wheels.json"
CACHE = ROOT / "build" / "wheels"

NOT_BUNDLED = {"numpy", "scikit-sparse"}
PYTHONS = ("3.11", "3.13", "3.14")

#: wheel tags that Blender's platform accepts, best first: a wheel for an older macOS runs on a newer one too, and
#: Blender does not look at the number
TAGS = {
    "linux-x64": ("manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64"),
    "windows-x64": ("win_amd64",),
    "macos-arm64": ("macosx_11_0_arm64", "macosx_12_0_arm64", "macosx_13_0_arm64", "macosx_14_0_arm64",
                    "macosx_15_0_arm64"),
}

#: where the version in pyproject.toml has no wheel for that Python or platform, a much larger one, or one that crashes
OTHER_VERSIONS = {
    ("3.11", "numba"): "0.61.2",  # with llvmlite 0.44, which is 17 MB smaller than 0.50 on Linux
    ("3.11", "llvmlite"): "0.44.0",
    ("3.11", "cvxopt"): "1.3.2",  # 8 MB smaller on Linux, and on macOS from 11 on
    ("3.13", "scipy"): "1.17.1",  # 1.15 knows no numpy of Blender 5.1
    ("3.14", "scipy"): "1.17.1",
    ("3.13", "ipctk"): "1.6.0",  # 1.6.1 for these two was built for the CPU it was built on: elsewhere what touches
    ("3.14", "ipctk"): "1.6.0",  # ends in an illegal instruction where there is no AVX-512
}

#: the smallest wheel, and the platform whose wheels Blender unpacks nowhere on another one: see `fetch_signs`
SIGN = "msgspec"
ELSEWHERE = {"linux-x64": "windows-x64", "windows-x64": "macos-arm64", "macos-arm64": "windows-x64"}

#: messages of pip and its libraries where there is no connection
NO_NETWORK = re.compile(r"NewConnectionError|name resolution|Max retries|Network is unreachable|timed out"
                        r"|Connection refused|ProxyError", re.IGNORECASE)


@dataclass(frozen=True)
class Wheel:
    """An entry of scripts/wheels.json: a wheel file of a Python version and platform."""

    name: str  #: of the distribution, as in pyproject.toml
    version: str
    file: str
    size: int  #: [bytes]
    sha256: str
    requires: tuple[str, ...]  #: requirements in its metadata, without extras


def this_platform() -> str:
    """Return Blender's name of this machine's platform. Raises SystemExit where there is no zip for it."""
    system = {"Linux": "linux", "Windows": "windows", "Darwin": "macos"}.get(platform.system(), "")
    machine = {"x86_64": "x64", "AMD64": "x64", "arm64": "arm64"}.get(platform.machine(), "")
    if f"{system}-{machine}" not in TAGS:
        raise SystemExit(f"no zip for {platform.system()} {platform.machine()}: use --platform {' or '.join(TAGS)}")
    return f"{system}-{machine}"


def pins(python: str, target: str) -> list[str]:
    """Return the pinned requirements of all wheels in the zip of a Python version and platform."""
    group = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]["solver"]
    found = []
    for line in group:
        name, _, version = line.partition("==")
        if name not in NOT_BUNDLED:
            other = OTHER_VERSIONS.get((python, target, name)) or OTHER_VERSIONS.get((python, name))
            found.append(f"{name}=={other or version}")
    return found


def locked(python: str, target: str) -> list[Wheel]:
    """Return the entries of scripts/wheels.json for a zip. Raises SystemExit where they differ from the pins."""
    rows = json.loads(LOCK.read_text(encoding="utf-8")).get(f"{python} {target}", [])
    found = [Wheel(**{**row, "requires": tuple(row["requires"])}) for row in rows]
    if sorted(f"{wheel.name}=={wheel.version}" for wheel in found) != sorted(pins(python, target)):
        raise SystemExit(f"scripts/wheels.json lists other wheels for Python {python} on {target} than pyproject.toml "
                         "and scripts/wheels.py: run `python scripts/wheels.py --lock`")
    return found


def fetch(python: str, target: str) -> list[Path]:
    """Return the wheels of a zip in build/wheels. Missing ones are downloaded one by one, so that an error loses none.

    Raises SystemExit where a wheel cannot be downloaded.
    """
    return _fetch(python, target, locked(python, target))


def fetch_signs(python: str, target: str) -> list[Path]:
    """Return a small wheel of each other Python version, for another platform.

    With these wheels Blender installs the zip under another Python too, without unpacking them, so that ConJac can name
    the right zip (conjac_addon/wrong_zip.py); Blender would only name the two versions. Raises SystemExit.
    """
    there = ELSEWHERE[target]
    return [path for other in PYTHONS if other != python
            for path in _fetch(other, there, [wheel for wheel in locked(other, there) if wheel.name == SIGN])]


def _fetch(python: str, target: str, requested: list[Wheel]) -> list[Path]:
    missing = [wheel for wheel in requested if not _is_there(wheel)]
    if missing:
        CACHE.mkdir(parents=True, exist_ok=True)
        print(f"wheels for Python {python} on {target}: fetching {len(missing)} of {len(requested)}, "
              f"{sum(wheel.size for wheel in missing) / 1e6:.0f} MB", flush=True)
    for wheel in missing:
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            _download(python, target, [f"{wheel.name}=={wheel.version} --hash=sha256:{wheel.sha256}"], Path(folder))
            Path(folder, wheel.file).rename(CACHE / wheel.file)
    return [CACHE / wheel.file for wheel in requested]


def _is_there(wheel: Wheel) -> bool:
    path = CACHE / wheel.file
    return path.exists() and hashlib.sha256(path.read_bytes()).hexdigest() == wheel.sha256


def _download(python: str, target: str, requirements: Iterable[str], folder: Path) -> None:
    listed = folder / "requirements.txt"
    listed.write_text("\n".join(requirements), encoding="utf-8")
    tags = [word for tag in TAGS[target] for word in ("--platform", tag)]
    ran = subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps",
                          "--only-binary=:all:", "--implementation", "cp", "--python-version", python, *tags,
                          "-d", str(folder), "-r", str(listed)], capture_output=True, text=True)
    listed.unlink()
    if ran.returncode:
        raise SystemExit(why_not(ran.stdout + ran.stderr, python, target))


def why_not(output: str, python: str, target: str) -> str:
    """Return a message for the output of pip after a failed download."""
    if NO_NETWORK.search(output):
        return (f"wheels: the package index cannot be reached, and build/wheels lacks files for Python {python} on "
                f"{target}: connect, or copy the files that scripts/wheels.json names there, and run again "
                "(what came is kept)")
    errors = [line for line in output.splitlines() if line.startswith("ERROR")] or output.strip().splitlines()[-1:]
    return f"wheels: pip cannot get those for Python {python} on {target}: {' '.join(errors[-1:])}"


def lock() -> None:
    """Rewrite scripts/wheels.json with the files that pip finds for the pins today."""
    found: dict[str, list[dict[str, object]]] = {}
    CACHE.mkdir(parents=True, exist_ok=True)
    for python in PYTHONS:
        for target in TAGS:
            with tempfile.TemporaryDirectory(dir=CACHE) as folder:
                _download(python, target, pins(python, target), Path(folder))
                rows = [described(path) for path in Path(folder).glob("*.whl")]
                for row in rows:
                    Path(folder, row.file).replace(CACHE / row.file)
            found[f"{python} {target}"] = [asdict(row) for row in sorted(rows, key=lambda row: row.name)]
            print(f"{python} {target}: {len(rows)} wheels, {sum(row.size for row in rows) / 1e6:.1f} MB", flush=True)
    LOCK.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def described(path: Path) -> Wheel:
    """Return the entry of a wheel file for scripts/wheels.json."""
    data = path.read_bytes()
    with zipfile.ZipFile(path) as packed:
        metadata = next(name for name in packed.namelist() if name.endswith(".dist-info/METADATA"))
        metadata_of = email.message_from_bytes(packed.read(metadata))
    requires = tuple(line for line in metadata_of.get_all("Requires-Dist", []) if "extra ==" not in line)
    return Wheel(metadata_of["Name"].lower().replace("_", "-"), metadata_of["Version"], path.name, len(data),
                 hashlib.sha256(data).hexdigest(), requires)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--lock", action="store_true", help="write scripts/wheels.json anew")
    if parser.parse_args().lock:
        lock()
    for python in PYTHONS:
        for target in TAGS:
            fetch(python, target)


if __name__ == "__main__":
    main()
