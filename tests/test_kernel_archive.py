"""Kernels of the extension's archive are loaded where they fit, and whatever does not fit is compiled."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from scripts import compiled_kernels
from solver import kernel_archive

ROOT = Path(__file__).resolve().parents[1]

KERNELS = """
from solver.threads import inline, kernel
@inline
def plus(x):
    return x + 1.0
@kernel("f8(f8)")
def first(x):
    return plus(x)
@kernel("f8(f8)")
def second(x):
    return x * 3.0
"""

#: arguments: archive, folder of pack, features that this processor has to have too
RUN = """
import json, sys
from pathlib import Path
from solver import kernel_archive
kernel_archive.ARCHIVE = Path(sys.argv[1])
kernel_archive.FEATURES += tuple(sys.argv[3:])
sys.path.insert(0, sys.argv[2])
from pack import kernels
from solver import threads
ran = {name: getattr(kernels, name) for name in ("first", "second")}
print(json.dumps({
    "values": [one(2.0) for one in ran.values()], "notes": threads.cache_notes(),
    "compiled": [name for name, one in ran.items() if sum(one.stats.cache_misses.values())],
    "processor": kernels.first.targetctx.codegen().magic_tuple()[1],
    "made_with": kernel_archive.list_dependencies("these sources"),
    "has_all": [kernel_archive.has_all(one) for one in ("these sources", "other sources")]}))
"""


def run(archive, folder, kernels, *features, **environment):
    """Return the report of a new process that loads the kernels of `folder` and keeps what it compiles in `kernels`."""
    environment |= {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    environment |= {"NUMBA_CACHE_DIR": str(kernels), "PYTHONPATH": str(ROOT)}
    ran = subprocess.run([sys.executable, "-c", RUN, str(archive), str(folder), *features], capture_output=True,
                         text=True, env=environment)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def pack(folder, text=KERNELS):
    (folder / "pack").mkdir(parents=True)
    (folder / "pack/__init__.py").touch()
    (folder / "pack/kernels.py").write_text(text)
    return folder


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """(archive, folder of the package whose kernels it holds)."""
    folder = pack(tmp_path_factory.mktemp("packed"))
    (folder / "kernels").mkdir()
    compiled = run(folder / "none.zip", folder, folder / "kernels", **kernel_archive.CHOICE)
    assert compiled["values"] == [3.0, 6.0] and compiled["compiled"] == ["first", "second"]
    assert compiled["has_all"] == [False, False]
    return compiled_kernels.write(folder / "kernels", compiled["made_with"], folder / "kernels.zip"), folder


def needs_level():
    from llvmlite import binding

    here = binding.get_host_cpu_features()
    return pytest.mark.skipif(not all(here.get(name) for name in kernel_archive.FEATURES),
                              reason=f"this processor is older than {kernel_archive.PROCESSOR}")


@needs_level()
def test_a_new_computer_compiles_nothing(packed, tmp_path):
    found = run(*packed, tmp_path)
    assert found["values"] == [3.0, 6.0] and found["compiled"] == [] and found["notes"] == []
    assert found["processor"] == kernel_archive.PROCESSOR and found["has_all"] == [True, False]
    with zipfile.ZipFile(packed[0]) as archive:
        assert {path.name for path in tmp_path.iterdir()} | {kernel_archive.MADE_WITH} == {*archive.namelist()}


@needs_level()
def test_an_edited_kernel_is_compiled_for_the_processor_of_the_others(packed, tmp_path):
    """Or one machine would bake with kernels for two processors, and not the same bytes from day to day."""
    edited = pack(tmp_path / "edited", KERNELS.replace("x + 1.0", "x + 2.0"))
    found = run(packed[0], edited, tmp_path / "kernels")
    assert found["values"] == [4.0, 6.0] and found["compiled"] == ["first"]
    assert found["processor"] == kernel_archive.PROCESSOR
    assert run(packed[0], edited, tmp_path / "kernels")["compiled"] == []


def test_an_older_processor_compiles_for_itself(packed, tmp_path):
    found = run(*packed, tmp_path, "a feature that none has")
    assert found["values"] == [3.0, 6.0] and found["compiled"] == ["first", "second"]
    assert found["processor"] != kernel_archive.PROCESSOR and found["has_all"] == [False, False]


@needs_level()
def test_a_torn_file_of_the_archive_is_compiled(packed, tmp_path):
    with zipfile.ZipFile(packed[0]) as archive:
        data = next(entry for entry in archive.infolist() if entry.filename.startswith("kernels.first")
                    and entry.filename.endswith(".nbc"))
    torn = bytearray(packed[0].read_bytes())
    torn[data.header_offset + 200] ^= 0xFF
    (tmp_path / "torn.zip").write_bytes(torn)
    found = run(tmp_path / "torn.zip", packed[1], tmp_path / "kernels")
    assert found["values"] == [3.0, 6.0] and found["compiled"] == ["first"] and found["notes"] == []


def test_whoever_chooses_a_processor_gets_it(packed, monkeypatch):
    monkeypatch.setattr(kernel_archive, "ARCHIVE", packed[0])
    monkeypatch.setattr(kernel_archive, "FEATURES", ())
    assert kernel_archive.choose_processor({}) == kernel_archive.CHOICE
    assert kernel_archive.choose_processor({"NUMBA_CPU_NAME": "generic"}) == {}
    monkeypatch.setattr(kernel_archive, "ARCHIVE", packed[0].with_name("none.zip"))
    assert kernel_archive.choose_processor({}) == {}


def test_an_archive_of_the_same_files_has_the_same_bytes(packed, tmp_path):
    for path in sorted((packed[1] / "kernels").iterdir(), reverse=True):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    with zipfile.ZipFile(packed[0]) as archive:
        made_with = json.loads(archive.read(kernel_archive.MADE_WITH))
    again = compiled_kernels.write(tmp_path, made_with, tmp_path / "again.zip")
    assert again.read_bytes() == packed[0].read_bytes()
