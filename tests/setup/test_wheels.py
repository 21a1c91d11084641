"""Wheels of every zip: the pinned ones, with all of their dependencies, for each numpy that a Blender has."""

import json
import subprocess
import sys
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from scripts import build_extension, marked, wheel_table, wheels
from solver.catalogue import find

ZIPS = [(python, target) for python in wheels.PYTHONS for target in wheels.TAGS]

#: numpy inside of the Blenders that have a Python: 4.2 and 5.0; Debian's 4.3 and 5.2; Debian's 5.2
NUMPY = {"3.11": ("1.24.3", "1.26.4"), "3.13": ("2.2.4", "2.3.4"), "3.14": ("2.4.6",)}
SYSTEMS = {"linux-x64": "linux", "windows-x64": "win32", "macos-arm64": "darwin"}


def requirements(wheel, python, target):
    """Return a wheel's dependencies there, except numpy."""
    there = {"python_version": python, "python_full_version": f"{python}.0", "sys_platform": SYSTEMS[target],
             "extra": "", "platform_machine": "arm64" if target.endswith("arm64") else "x86_64"}
    listed = [Requirement(line) for line in wheel.requires]
    return [requirement for requirement in listed if requirement.marker is None or requirement.marker.evaluate(there)]


@pytest.mark.parametrize("python, target", ZIPS)
def test_the_lock_is_that_of_the_pins_and_leaves_out_what_is_blenders_own(python, target):
    names = {wheel.name for wheel in wheels.locked(python, target)}
    assert {"scipy", "numba", "llvmlite", "msgspec", "cvxopt", "pytetwild"} <= names
    assert not {"numpy", "scikit-sparse", "tetgen", "bpy"} & names


@pytest.mark.parametrize("python, target", ZIPS)
def test_everything_a_wheel_needs_is_there_in_a_version_that_it_takes(python, target):
    bundled = {canonicalize_name(wheel.name): wheel.version for wheel in wheels.locked(python, target)}
    for wheel in wheels.locked(python, target):
        for needed in requirements(wheel, python, target):
            there = NUMPY[python] if needed.name == "numpy" else [bundled[canonicalize_name(needed.name)]]
            assert all(needed.specifier.contains(version) for version in there), (wheel.file, str(needed), there)


@pytest.mark.parametrize("python, target", ZIPS)
def test_no_wheel_requires_one_version_of_another_alone(python, target):
    """All extensions of a Blender share one folder of packages: a pinned version may break another extension."""
    for wheel in wheels.locked(python, target):
        for needed in requirements(wheel, python, target):
            assert not any(clause.operator in ("==", "===") for clause in needed.specifier), (wheel.file, str(needed))


@pytest.mark.parametrize("python, target", ZIPS)
def test_wheels_are_of_this_python_and_platform(python, target):
    tag = "cp" + python.replace(".", "")
    for wheel in wheels.locked(python, target):
        assert wheel.file.endswith(".whl") and any(part in wheel.file for part in wheels.TAGS[target]), wheel.file
        assert f"-{tag}-{tag}-" in wheel.file or "-abi3-" in wheel.file, wheel.file
        assert Version(wheel.file.split("-")[1]) == Version(wheel.version)


def test_a_changed_pin_is_not_built_from_an_old_lock(monkeypatch):
    monkeypatch.setitem(wheels.OTHER_VERSIONS, ("3.13", "scipy"), "1.17.0")
    with pytest.raises(SystemExit, match=r"wheels.json lists other wheels for Python 3.13 on linux-x64.*--lock"):
        wheels.locked("3.13", "linux-x64")


def test_without_a_network_it_says_so_and_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(wheels, "CACHE", tmp_path)
    # an address on this machine where nobody answers
    for name, value in (("PIP_INDEX_URL", "http://127.0.0.1:9/simple"), ("PIP_EXTRA_INDEX_URL", ""),
                        ("PIP_RETRIES", "1"), ("PIP_NO_CACHE_DIR", "1"), ("PIP_FIND_LINKS", ""),
                        ("PIP_CONFIG_FILE", "/dev/null")):
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as stop:
        wheels.fetch("3.13", "windows-x64")
    assert "cannot be reached" in str(stop.value) and "\n" not in str(stop.value)
    assert "(what came is kept)" in str(stop.value)


def test_what_is_there_is_not_fetched_again_and_what_is_torn_is_not_taken(tmp_path, monkeypatch):
    monkeypatch.setattr(wheels, "CACHE", tmp_path)
    wheel = wheels.Wheel("made-up", "1", "made_up-1-py3-none-any.whl", 4,
                         "88d4266fd4e6338d13b845fcf289579d209c897823b9217da3e161936f031589", ())
    (tmp_path / wheel.file).write_bytes(b"abcd")
    monkeypatch.setattr(wheels, "locked", lambda python, target: [wheel])
    monkeypatch.setattr(wheels, "_download", lambda *_: pytest.fail("fetched again"))
    assert wheels.fetch("3.11", "linux-x64") == [tmp_path / wheel.file]
    (tmp_path / wheel.file).write_bytes(b"abc")
    assert not wheels._is_there(wheel)


def test_every_bundled_part_stands_in_the_list_of_licences_with_its_text():
    listed = (wheels.ROOT / "LICENSES" / "README.md").read_text(encoding="utf-8")
    names = {wheel.name for python, target in ZIPS for wheel in wheels.locked(python, target)}
    for name in names:
        assert f"\n| {name} | " in listed and f"[{name}.txt]({name}.txt)" in listed
        assert len((wheels.ROOT / "LICENSES" / f"{name}.txt").read_text(encoding="utf-8")) > 1000
    assert names == {path.stem for path in (wheels.ROOT / "LICENSES").glob("*.txt")}


def test_a_zip_has_the_name_of_its_python_and_platform():
    assert build_extension.name_of("1.2.3", "3.13", "windows-x64") == "conjac-1.2.3-py313-windows-x64.zip"


def test_the_manifest_says_what_it_is_allowed_to_and_why():
    manifest = tomllib.loads((wheels.ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
    assert manifest["name"] == "ConJac"
    assert set(manifest["permissions"]) == {"files"}  # no network, no clipboard, no camera
    for reason in (*manifest["permissions"].values(), manifest["tagline"]):
        assert 0 < len(reason) <= 64 and reason[-1].isalnum()


def test_a_cvxopt_backend_is_one_file_and_one_entry():
    assert find("linear_solver", "cvxopt").load().__module__.endswith("linear.cholesky.cvxopt_cholmod")


RIGHT = {"3.11": "conjac-1-py311-linux-x64.zip", "3.13": "conjac-1-py313-linux-x64.zip"}


@pytest.mark.parametrize("here, message", [
    ((3, 11), ""),
    ((3, 13), "This zip of ConJac is for Python 3.11, and this Blender has Python 3.13: install "
              "conjac-1-py313-linux-x64.zip instead"),
    ((3, 12), "This zip of ConJac is for Python 3.11, and this Blender has Python 3.12: there is none for it, only for "
              "Python 3.11, 3.13"),
])
def test_a_zip_for_another_python_names_the_right_one(tmp_path, here, message):
    file = tmp_path / "built_for.json"
    file.write_text(json.dumps({"python": "3.11", "platform": "linux-x64", "zips": RIGHT}))
    code = ("import importlib.util, pathlib, sys\n"
            f"spec = importlib.util.spec_from_file_location('b', {str(wheels.ROOT / 'conjac_addon/built_for.py')!r})\n"
            "b = importlib.util.module_from_spec(spec); spec.loader.exec_module(b)\n"
            f"print(b.why_not(pathlib.Path({str(file)!r}), {here!r}))")
    ran = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == message


@pytest.mark.parametrize("target", wheels.TAGS)
@pytest.mark.parametrize("python", ["3.13", "3.14"])
def test_no_zip_has_the_wheel_that_only_cpus_with_avx_512_can_run(python, target):
    """That wheel crashed every bake with contact on Linux on any other CPU."""
    [version] = [wheel.version for wheel in wheels.locked(python, target) if wheel.name == "ipctk"]
    assert version != "1.6.1"


def test_the_manual_has_the_sizes_that_the_lock_has():
    assert marked.read(wheel_table.PAGE, wheel_table.MARKS) == wheel_table.table(), "run `make manual`"


def test_a_zip_without_all_of_its_wheels_says_which_are_missing(tmp_path, monkeypatch):
    lock = json.loads(wheels.LOCK.read_text(encoding="utf-8"))
    lock["3.14 linux-x64"] = [row for row in lock["3.14 linux-x64"] if row["name"] != "ipctk"]
    (tmp_path / "wheels.json").write_text(json.dumps(lock), encoding="utf-8")
    monkeypatch.setattr(wheels, "LOCK", tmp_path / "wheels.json")
    table = wheel_table.table()
    assert table.count("missing") == 1 and "no zip: ipctk" in table


def test_a_text_goes_between_its_marks_and_nowhere_else(tmp_path):
    page, marks = tmp_path / "page.md", marked.marks("this", "that.py")
    page.write_text(f"Before.\n\n{marks[0]}\n\nold\n\n{marks[1]}\n\nAfter.\n", encoding="utf-8")
    marked.put(page, marks, "new")
    assert marked.read(page, marks) == "new"
    assert page.read_text(encoding="utf-8") == f"Before.\n\n{marks[0]}\n\nnew\n\n{marks[1]}\n\nAfter.\n"
    page.write_text("nothing", encoding="utf-8")
    with pytest.raises(ValueError, match="page.md lacks"):
        marked.put(page, marks, "new")
