"""Build the extension with Blender's own tool, which is part of every bpy wheel: `make extension`.

    python scripts/build_extension.py                             every Python and every platform, and their repository
    python scripts/build_extension.py --python 3.13 --platform this
    python scripts/build_extension.py --light                     without wheels: for tests, or a Python that has them
    python scripts/build_extension.py --no-kernels                without compiled kernels: the first bake compiles

Writes one zip for each Python and platform, such as dist/conjac-<version>-py311-linux-x64.zip, and dist/index.json.
Together they are a repository from which Blender updates the extension, wherever the folder is hosted. The same inputs
give the same bytes.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from scripts import compiled_kernels, manual_pages, wheels  # noqa: E402

PACKED = ("__init__.py", "LICENSE", "LICENSES", "conjac_addon", "solver")
BLENDER_MIN = {"3.11": "4.2.0", "3.13": "4.3.0", "3.14": "5.0.0"}  # the Python inside decides, so there is no upper end
WHEN = (1980, 1, 1, 0, 0, 0)  #: the date of everything in a zip, since a checkout's dates say nothing
STORED = (".whl", ".webp", ".zip")  #: packed already
LISTED_SIZE = 5e5  #: parts below this size are listed as one [bytes]


def blender_tool() -> Path:
    """Return the path of Blender's blender_ext.py without importing bpy. Raises SystemExit where bpy is missing."""
    spec = importlib.util.find_spec("bpy")
    if spec is None or spec.origin is None:
        raise SystemExit("bpy is not installed here: run `make setup`")
    return next(Path(spec.origin).parent.glob("*/scripts/addons_core/bl_pkg/cli/blender_ext.py"))


def run_tool(*arguments: str) -> None:
    """Run Blender's extension tool with arguments. Raises SystemExit with its output where it fails."""
    ran = subprocess.run([sys.executable, "-I", str(blender_tool()), *arguments], capture_output=True, text=True)
    if ran.returncode:
        raise SystemExit(f"Blender's tool failed at {arguments[0]}: {(ran.stdout + ran.stderr).strip()}")


def name_of(version: str, python: str, target: str | None) -> str:
    """Return the file name of a zip. target: a key of wheels.TAGS, or None for a zip without wheels."""
    return f"conjac-{version}-" + (f"py{python.replace('.', '')}-{target}.zip" if target else "light.zip")


def stage(folder: Path) -> None:
    """Copy all files of the zip, without caches, into an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in PACKED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", ".*"))
        else:
            shutil.copy(ROOT / name, folder / name)
    manual_pages.write_pages(folder / "conjac_addon" / "manual")


def write_manifest(folder: Path, bundled: list[Path], platforms: list[str], blender_min: str) -> str:
    """Write the manifest with its wheels, platforms and lowest Blender, and return the extension's version."""
    text = (ROOT / "blender_manifest.toml").read_text(encoding="utf-8")
    listed = "".join(f'    "./wheels/{wheel.name}",\n' for wheel in bundled)
    for key, value in (
        ("wheels", f"[\n{listed}]" if bundled else "[]"),
        ("platforms", "[" + ", ".join(f'"{name}"' for name in platforms) + "]"),
        ("blender_version_min", f'"{blender_min}"'),
    ):
        text, count = re.subn(rf"(?m)^{key} = .*$", f"{key} = {value}", text)
        assert count == 1, f"{key} stands {count} times in the manifest"
    (folder / "blender_manifest.toml").write_text(text, encoding="utf-8")
    return str(tomllib.loads(text)["version"])


def write_build(folder: Path, version: str, python: str, target: str) -> None:
    """Write conjac_addon/built_for.py with the Python version and platform of the zip, for a message under others."""
    others = {other: name_of(version, other, target) for other in wheels.PYTHONS}
    built_for = {"python": python, "platform": target, "zips": others}
    (folder / "conjac_addon" / "built_for.json").write_text(json.dumps(built_for, indent=1) + "\n", encoding="utf-8")


def build(out: Path, python: str = "3.11", target: str | None = None, with_kernels: bool = False) -> Path:
    """Build one zip in `out` and return its path. target: a key of wheels.TAGS, or None for a zip without wheels.

    with_kernels: compile kernels for the zip, which takes minutes, if this machine can (compiled_kernels). Raises
    SystemExit where a wheel is missing, a kernel does not compile or Blender's tool finds something wrong.
    """
    own = wheels.fetch(python, target) if target else []
    bundled = [*own, *wheels.fetch_signs(python, target)] if target else []
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".stage-", dir=out) as temporary:
        folder = Path(temporary, "conjac")
        stage(folder)
        version = write_manifest(folder, bundled, [target] if target else list(wheels.TAGS), BLENDER_MIN[python])
        if target:
            write_build(folder, version, python, target)
            (folder / "wheels").mkdir()
            for wheel in bundled:
                (folder / "wheels" / wheel.name).symlink_to(wheel)
            if with_kernels and (kernels := compiled_kernels.for_zip(python, target, folder, own)) is not None:
                compiled_kernels.put(kernels, folder)
        first = Path(temporary, "first.zip")
        run_tool("build", "--source-dir", str(folder), "--output-filepath", str(first))
        path = out / name_of(version, python, target)
        repack(first, Path(temporary, "packed.zip")).replace(path)
    run_tool("validate", str(path))
    return path


def repack(source: Path, path: Path) -> Path:
    """Write the files of the zip `source` to a zip whose bytes do not depend on where and when it is made.

    Files are in order of their names, with one date, readable to all; wheels are not compressed. Returns `path`.
    """
    with zipfile.ZipFile(source) as first, zipfile.ZipFile(path, "w") as packed:
        for name in sorted(entry_name for entry_name in first.namelist() if not entry_name.endswith("/")):
            entry = zipfile.ZipInfo(name, WHEN)
            entry.create_system, entry.external_attr = 3, 0o100644 << 16
            entry.compress_type = zipfile.ZIP_STORED if name.endswith(STORED) else zipfile.ZIP_DEFLATED
            packed.writestr(entry, first.read(name), compresslevel=9)
    return path


def sizes(path: Path) -> list[tuple[str, int]]:
    """Return (name, size [bytes]) of the parts of a zip, the largest first; small parts are added up."""
    found: dict[str, int] = {}
    with zipfile.ZipFile(path) as packed:
        for entry in packed.infolist():
            folder, _, rest = entry.filename.partition("/")
            part = rest.partition("-")[0] if folder == "wheels" else "ConJac"
            if entry.filename.startswith("conjac_addon/manual/"):
                part = "the manual"
            elif entry.filename == "solver/kernels.zip":
                part = "compiled kernels"
            found[part] = found.get(part, 0) + entry.compress_size
    small = sum(size for size in found.values() if size < LISTED_SIZE)
    large = {part: size for part, size in found.items() if size >= LISTED_SIZE} | {"smaller parts": small}
    return sorted(large.items(), key=lambda part: -part[1])


def write_repository(folder: Path) -> None:
    """Write index.json and index.html of all zips in a folder, which make the folder a repository of extensions.

    Blender's tool derives the Python versions of a zip from the names of all its wheels, including those of
    `wheels.fetch_signs`; the index lists only the version in the name of the zip.
    """
    run_tool("server-generate", "--repo-dir", str(folder), "--html")
    index, page = folder / "index.json", folder / "index.html"
    listed = json.loads(index.read_text(encoding="utf-8"))
    rows = page.read_text(encoding="utf-8").split("<tr>")
    for entry in listed["data"]:
        file, pythons = entry["archive_url"], entry.get("python_versions", [])
        own = [version for version in pythons if f"-py{version.replace('.', '')}-" in file]
        if not own:
            continue  # of somebody else, or without wheels
        entry["python_versions"] = own
        for number, row in enumerate(rows):
            if file in row:
                for separator in ("%2C", ", "):
                    row = row.replace(separator.join(pythons), separator.join(own))
                rows[number] = row
    index.write_text(json.dumps(listed, indent=2) + "\n", encoding="utf-8")
    page.write_text("<tr>".join(rows), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    parser.add_argument("--python", choices=wheels.PYTHONS, help="one Python; all where left out")
    parser.add_argument("--platform", choices=[*wheels.TAGS, "this"], help="one platform; all where left out")
    parser.add_argument("--light", action="store_true", help="without wheels")
    parser.add_argument("--no-kernels", action="store_true", help="without compiled kernels")
    chosen = parser.parse_args()
    out = chosen.out.resolve()
    if chosen.light:
        print(f"built {build(out)}")
        return
    targets = list(wheels.TAGS) if chosen.platform is None else [
        wheels.this_platform() if chosen.platform == "this" else chosen.platform]
    for python in [chosen.python] if chosen.python else wheels.PYTHONS:
        for target in targets:
            path = build(out, python, target, not chosen.no_kernels)
            parts = ", ".join(f"{part} {size / 1e6:.1f}" for part, size in sizes(path))
            print(f"built {path.name}, {path.stat().st_size / 1e6:.1f} MB: {parts}", flush=True)
    write_repository(out)
    print(f"the repository of these: {out / 'index.json'}")


if __name__ == "__main__":
    main()
