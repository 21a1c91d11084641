"""Builds the extension with Blender's own tool, which every bpy wheel brings: `make extension`.

    python scripts/build_extension.py                              this platform, Python 3.11 (Blender 4.2 to 5.0)
    python scripts/build_extension.py --platform all --python 3.13
    python scripts/build_extension.py --light                      without wheels: for tests, or a Python that has them

One zip a platform and a Python: dist/conjac-<version>-py311-linux-x64.zip. The wheels are those of the group `solver`
in pyproject.toml, unmodified, without numpy (Blender's own) and scikit-sparse (has none; cvxopt brings CHOLMOD).
"""

from __future__ import annotations

import argparse
import importlib.util
import platform
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from scripts import manual_pages  # noqa: E402

PACKED = ("__init__.py", "LICENSE", "conjac_addon", "solver")
NOT_BUNDLED = {"numpy", "scikit-sparse"}

#: wheel tags that Blender's platform accepts, best first
TAGS = {
    "linux-x64": ("manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64"),
    "windows-x64": ("win_amd64",),
    "macos-arm64": ("macosx_15_0_arm64", "macosx_14_0_arm64", "macosx_12_0_arm64", "macosx_11_0_arm64"),
}
BLENDER_MIN = {"3.11": "4.2.0", "3.13": "4.3.0"}  # the Python inside decides, so there is no upper end

#: where the version in pyproject.toml has no wheel for that Python or platform
OTHER_VERSIONS = {
    ("3.13", "scipy"): "1.17.1",  # 1.15 knows no numpy of Blender 5.1
    ("3.11", "macos-arm64", "cvxopt"): "1.3.2",
}


def blender_tool() -> Path:
    """Blender's blender_ext.py, found without importing bpy. Raises SystemExit where bpy is not installed."""
    spec = importlib.util.find_spec("bpy")
    if spec is None or spec.origin is None:
        raise SystemExit("bpy is not installed here: run `make setup`")
    return next(Path(spec.origin).parent.glob("*/scripts/addons_core/bl_pkg/cli/blender_ext.py"))


def wheel_pins(python: str, target: str) -> list[str]:
    """The requirement of every wheel that is bundled."""
    group = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]["solver"]
    pins = []
    for line in group:
        name, _, version = line.partition("==")
        if name not in NOT_BUNDLED:
            other = OTHER_VERSIONS.get((python, target, name)) or OTHER_VERSIONS.get((python, name))
            pins.append(f"{name}=={other or version}")
    return pins


def download_wheels(python: str, target: str, folder: Path) -> list[Path]:
    """Fetches the wheels for a Python and a platform into `folder`. pip's own cache makes the next time quick."""
    folder.mkdir(parents=True)
    pins = wheel_pins(python, target)
    print(f"wheels for {target}, Python {python}: {' '.join(pins)}", flush=True)
    tags = [word for tag in TAGS[target] for word in ("--platform", tag)]
    subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps",
                    "--only-binary=:all:", "--implementation", "cp", "--python-version", python, *tags,
                    "-d", str(folder), *pins], check=True)
    return sorted(folder.glob("*.whl"))


def stage(folder: Path) -> None:
    """Copies what is packed, without caches, into an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in PACKED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", ".*"))
        else:
            shutil.copy(ROOT / name, folder / name)
    manual_pages.write_pages(folder / "conjac_addon" / "manual")


def write_manifest(folder: Path, wheels: list[Path], platforms: list[str], blender_min: str) -> str:
    """The manifest with its wheels, platforms and lowest Blender; returns the extension's version."""
    text = (ROOT / "blender_manifest.toml").read_text(encoding="utf-8")
    listed = "".join(f'    "./wheels/{wheel.name}",\n' for wheel in wheels)
    for key, value in (
        ("wheels", f"[\n{listed}]" if wheels else "[]"),
        ("platforms", "[" + ", ".join(f'"{name}"' for name in platforms) + "]"),
        ("blender_version_min", f'"{blender_min}"'),
    ):
        text, count = re.subn(rf"(?m)^{key} = .*$", f"{key} = {value}", text)
        assert count == 1, f"{key} stands {count} times in the manifest"
    (folder / "blender_manifest.toml").write_text(text, encoding="utf-8")
    return str(tomllib.loads(text)["version"])


def build(out: Path, python: str = "3.11", target: str | None = None) -> Path:
    """Builds one zip into `out` and returns its path. target: a key of TAGS, or None for a zip without wheels."""
    name = f"py{python.replace('.', '')}-{target}" if target else "light"
    folder = out / f".stage-{name}"
    stage(folder)
    wheels = download_wheels(python, target, folder / "wheels") if target else []
    version = write_manifest(folder, wheels, [target] if target else list(TAGS), BLENDER_MIN[python])
    path = out / f"conjac-{version}-{name}.zip"
    subprocess.run([sys.executable, "-I", str(blender_tool()), "build", "--source-dir", str(folder),
                    "--output-filepath", str(path)], check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(folder)
    return path


def this_platform() -> str:
    """Blender's name for the machine this runs on. Raises SystemExit where there is no zip for it."""
    system = {"Linux": "linux", "Windows": "windows", "Darwin": "macos"}.get(platform.system(), "")
    machine = {"x86_64": "x64", "AMD64": "x64", "arm64": "arm64"}.get(platform.machine(), "")
    if f"{system}-{machine}" not in TAGS:
        raise SystemExit(f"no zip for {platform.system()} {platform.machine()}: use --platform {' or '.join(TAGS)}")
    return f"{system}-{machine}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    parser.add_argument("--python", choices=BLENDER_MIN, default="3.11")
    parser.add_argument("--platform", choices=[*TAGS, "all"], help="this machine's where left out")
    parser.add_argument("--light", action="store_true", help="without wheels")
    chosen = parser.parse_args()
    targets: list[str | None]
    if chosen.light:
        targets = [None]
    else:
        targets = list(TAGS) if chosen.platform == "all" else [chosen.platform or this_platform()]
    for target in targets:
        path = build(chosen.out.resolve(), chosen.python, target)
        print(f"built {path} ({path.stat().st_size / 1e6:.1f} MB)")


if __name__ == "__main__":
    main()
