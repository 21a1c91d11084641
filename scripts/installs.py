"""Install the zips into every Blender that can run here and bake Suzanne in each: `make installs`.

    python scripts/installs.py [4.2.0 4.5.15 5.0.1 5.2.3 5.3.0 trixie sid]     default: all but sid

Each Blender starts with an empty user folder and with no packages but its own numpy. `bpy` of a version is installed
into build/install-<version>; trixie and sid are the full program of a Debian release, in a chroot made by
scripts/blender-chroot. The results go to docs/installs.json and into the README's table.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

from scripts import build_extension, marked, wheels  # noqa: E402
from scripts.test_blender import NEEDED, inside, interpreter  # noqa: E402

RESULTS = ROOT / "docs" / "installs.json"
README = ROOT / "README.md"
MARKS = marked.marks("installs", "installs.py")
CHROOT = ROOT / "scripts" / "blender-chroot"
SECONDS = 1500  #: for one Blender, all kernels compiled on a busy machine
SANK_LEAST = 1e-4  #: what came of a bake has to hang lower than it began [m]

#: name -> the Python inside; names that are no versions are Debian's
BLENDERS = {"4.2.0": "3.11", "4.5.15": "3.11", "5.0.1": "3.11", "5.2.3": "3.13", "5.3.0": "3.13", "trixie": "3.13",
            "sid": "3.14"}
UNASKED = ("4.2.0", "4.5.15", "5.0.1", "5.2.3", "5.3.0", "trixie")  # sid changes daily


class NotHere(Exception):
    """Error for a Blender that cannot run on this machine, with the reason in one line."""


def environment(version: str) -> Path:
    """Make an environment with only bpy and its numpy, and return its interpreter. Raises NotHere where that fails."""
    python, numpy = inside(version)
    folder = ROOT / "build" / f"install-{version}"
    done = folder / ".conjac-made"
    if not done.exists():
        try:
            subprocess.run([interpreter(python), "-m", "venv", "--clear", folder], check=True)
            pip = [folder / "bin" / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
            subprocess.run([*pip, f"numpy=={numpy}", *NEEDED], check=True)
            subprocess.run([*pip, "--no-deps", f"bpy=={version}"], check=True)
        except (SystemExit, subprocess.CalledProcessError) as failure:
            raise NotHere(f"bpy {version} on Python {python} cannot be installed: {failure}") from None
        done.touch()
    return folder / "bin" / "python"


def in_module(version: str, path: Path, folder: Path) -> str:
    """Run `install_here.py` with a zip in bpy of a version and return its output. Raises NotHere."""
    resources = folder / "resources"
    for name in ("config", "extensions", "scripts", "datafiles"):
        (resources / name).mkdir(parents=True)
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "NUMBA_CACHE_DIR")}
    ran = subprocess.run([environment(version), ROOT / "scripts" / "install_here.py", path, folder],
                         capture_output=True, text=True, timeout=SECONDS, cwd=folder,
                         env=clean | {"BLENDER_USER_RESOURCES": str(resources),
                                      "XDG_CACHE_HOME": str(folder / "cache")})
    return ran.stdout + ran.stderr


def make_chroot(suite: str) -> None:
    """Make the chroot of a Debian release with its Blender, unless it exists. Raises NotHere where that fails.

    One process makes it while others wait.
    """
    if not CHROOT.exists() or os.geteuid() != 0:
        raise NotHere("making a chroot needs root on Debian")
    import fcntl  # there is none on Windows, and no chroot

    with open(Path(tempfile.gettempdir()) / f"blender-chroot-{suite}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = subprocess.run([str(CHROOT), "make", suite], capture_output=True, text=True)
    if made.returncode:
        raise NotHere(f"no chroot could be made: {made.stderr.strip().splitlines()[-1:]}")


def in_program(suite: str, path: Path, folder: Path) -> str:
    """Run `install_here.py` with a zip in the Blender of a Debian release and return its output.

    Raises NotHere where its chroot can be neither made nor entered.
    """
    make_chroot(suite)
    shutil.copy(ROOT / "scripts" / "install_here.py", folder)
    shutil.copy(path, folder)
    ran = subprocess.run([str(CHROOT), "run", suite, str(folder), "blender", "-b", "--python-exit-code", "3", "-P",
                          "/project/install_here.py", "--", f"/project/{path.name}", "/project"],
                         capture_output=True, text=True, env=os.environ | {"TMO": str(SECONDS)})
    output = ran.stdout + ran.stderr
    if "unshare failed" in output or "mount:" in output and "permission denied" in output:
        raise NotHere("this root may not mount")
    return output


def run(name: str, path: Path) -> dict[str, Any]:
    """Return the result of `install_here.py` with a zip in a Blender, with `passed` and, after a failure, a message.

    name: version of bpy, or a Debian release. Raises NotHere where this Blender cannot run here.
    """
    with tempfile.TemporaryDirectory(prefix="conjac-install-") as temporary:
        output = (in_module if name[0].isdigit() else in_program)(name, path, Path(temporary))
    lines = [line for line in output.splitlines() if line.startswith("FOUND")]
    found: dict[str, Any] = json.loads(lines[-1][5:]) if lines else {}
    found["passed"] = bool(
        found.get("enabled") and found.get("code") == 0 and found["sank"] > SANK_LEAST and found["zip_alone"]
        and found["modifiers"] == ["MESH_CACHE"] and "CHOLMOD" in found["solver"]
        and "not installed" not in found["solver"])
    return found if found["passed"] else found | {"said": output[-3000:]}


def zip_for(name: str, out: Path) -> Path:
    """Build the zip of this machine's platform for the Python of a Blender, in `out`, and return its path."""
    return build_extension.build(out, BLENDERS[name], wheels.this_platform(), with_kernels=True)


def table(rows: dict[str, dict[str, Any]]) -> str:
    """Return the README's table of results. rows: result of each Blender, by its name."""
    lines = ["| Blender | Python | numpy | zip | installed, Suzanne baked | when | commit |",
             "| --- | --- | --- | --- | --- | --- | --- |"]
    for name in BLENDERS:
        row = rows.get(name)
        whole = f"Debian {name}, the whole program" if not name[0].isdigit() else f"{name}, as bpy"
        if row is None:
            lines.append(f"| {whole} | {BLENDERS[name]} | | | never tried | | |")
            continue
        came = f"yes, {row['solver']}" if row["passed"] else f"no: {row['why']}"
        blender = f"{row['blender']}, {whole}" if row.get("blender") and not name[0].isdigit() else whole
        lines.append(f"| {blender} | {row.get('python', BLENDERS[name])} | {row.get('numpy', '')} | {row['zip']} "
                     f"| {came} | {row['when']} | {row['commit']} |")
    return "\n".join(lines)


def write_table(rows: dict[str, dict[str, Any]]) -> None:
    """Write the table of results between its marks in the README."""
    marked.put(README, MARKS, table(rows))


def _commit() -> str:
    """Return the commit of this checkout, with "-dirty" appended where files have changes."""
    return subprocess.run(["git", "describe", "--always", "--dirty", "--abbrev=7"], cwd=ROOT, capture_output=True,
                          text=True).stdout.strip()


def _row(found: dict[str, Any], path: Path, commit: str) -> dict[str, Any]:
    row = {key: found[key] for key in ("blender", "python", "numpy", "seconds", "passed") if key in found}
    solver = str(found.get("solver", "")).removeprefix("Linear solver: ").partition(",")[0].partition(" (")[0]
    row |= {"solver": solver, "zip": "-".join(path.stem.split("-")[2:]), "commit": commit,
            "when": datetime.datetime.now(datetime.UTC).date().isoformat()}
    if not found["passed"]:
        row["why"] = "not enabled" if not found.get("enabled") else f"exit code {found.get('code')}"
    return row


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="BLENDER", help=" ".join(BLENDERS))
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="where zips are built")
    chosen = parser.parse_args(arguments)
    rows: dict[str, dict[str, Any]] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    failed, commit = 0, _commit()  # before the first row makes the tree dirty
    for name in chosen.names or UNASKED:
        path = zip_for(name, chosen.out.resolve())
        try:
            found = run(name, path)
        except NotHere as reason:
            print(f"{name}: not run here: {reason}", flush=True)
            continue
        rows[name] = _row(found, path, commit)
        failed += not found["passed"]
        print(f"{name}: {'passed' if found['passed'] else 'FAILED'} {json.dumps(found)}", flush=True)
        RESULTS.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
        write_table(rows)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
