"""A start of Blender with the extension loads the modules that register, and none for bakes or panels."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("bpy")
ROOT = Path(__file__).resolve().parents[2]

START = """
import json, os, sys, traceback
import bpy
def fail(*error):
    traceback.print_exception(*error)
    os._exit(1)  # bpy may hang where it ends otherwise
sys.excepthook = fail
before = set(sys.modules)
for name in [one for one in sys.modules if one.partition(".")[0] in ("numpy", "json", "subprocess", "tempfile")]:
    del sys.modules[name]  # bpy as a module has loaded them, the program has not
sys.modules["numpy"] = None  # whoever imports it fails
from examples_blend import addon
extension = addon.load()
extension.register()
from conjac.conjac_addon import later
def ran():
    return {name for name, module in sys.modules.items() if name.startswith("conjac.") and later.has_run(module)}
registered = ran()
others = set(sys.modules) - before
bpy.ops.wm.read_homefile(use_factory_startup=True)
opened = ran()
extension.unregister()
found = {"registered": sorted(registered), "others": sorted(one for one in others if not one.startswith("conjac")),
         "by_startup_file": sorted(opened - registered), "by_leaving": sorted(ran() - opened)}
print("FOUND" + json.dumps(found), flush=True)
os._exit(0)
"""


@pytest.fixture(scope="module")
def loaded():
    ran = subprocess.run([sys.executable, "-c", START], cwd=ROOT, capture_output=True, text=True,
                         env=os.environ | {"PYTHONPATH": str(ROOT)}, timeout=300)
    lines = [line for line in ran.stdout.splitlines() if line.startswith("FOUND")]
    assert lines, ran.stdout + ran.stderr
    return json.loads(lines[-1][5:])


def test_what_registers_loads_no_numpy_and_starts_nothing_of_a_bake(loaded):
    heavy = {"numpy", "scipy", "numba", "msgspec", "json", "subprocess", "tempfile", "tomllib", "socket", "ssl", "uuid",
             "argparse", "ctypes", "zipfile", "urllib"}
    assert not heavy & {name.partition(".")[0] for name in loaded["others"]}
    waits = ("conjac_addon.gather.", "conjac_addon.playback.", "conjac_addon.bake.session", "conjac_addon.bake.place",
             "solver.frames.", "solver.job.")
    assert not [name for name in loaded["registered"] if name.removeprefix("conjac.").startswith(waits)]


def test_few_modules_run(loaded):
    """Each of over 150 modules costs Blender's start a third of a millisecond."""
    assert len(loaded["registered"]) <= 46
    operators = {name for name in loaded["registered"] if name.startswith("conjac.conjac_addon.operators.")}
    assert {name.rpartition(".")[2] for name in operators} == {"light", "table"}


OPERATORS = """
import bpy, json, os, sys
from examples_blend import addon
addon.load().register()
from conjac.conjac_addon import later
from conjac.conjac_addon.operators import light, table
operators = {}
for cls in table.classes:
    first, waited = set(light.METHODS) & set(vars(cls)), not later.has_run(cls._behaves_as)
    bpy.ops.mesh.primitive_cube_add()
    may = getattr(bpy.ops.conjac, cls.bl_idname.partition(".")[2]).poll()
    behaviour = getattr(cls._behaves_as, cls.__name__)
    operators[cls.__name__] = {
        "says": sorted(first), "has": sorted(name for name in light.METHODS if hasattr(behaviour, name)),
        "is": issubclass(cls, behaviour), "left": sorted({"poll", "execute"} & set(vars(cls))), "waited": waited,
        "poll": hasattr(behaviour, "poll"), "execute": hasattr(behaviour, "execute"), "may": may}
print("FOUND" + json.dumps(operators), flush=True)
os._exit(0)
"""


def test_an_operator_is_what_its_module_says_from_its_first_use_on():
    ran = subprocess.run([sys.executable, "-c", OPERATORS], cwd=ROOT, capture_output=True, text=True,
                         env=os.environ | {"PYTHONPATH": str(ROOT)}, timeout=300)
    lines = [line for line in ran.stdout.splitlines() if line.startswith("FOUND")]
    assert lines, ran.stdout + ran.stderr
    operators = json.loads(lines[-1][5:])
    assert len(operators) > 40
    for name, operator in operators.items():
        # Blender calls nothing that an operator did not have when it was registered
        assert operator["says"] == operator["has"], name
        assert operator["is"] and operator["poll"] and operator["execute"] and not operator["left"], name
    assert sum(operator["waited"] for operator in operators.values()) > 15
    assert operators["CONJAC_OT_add_soft_body"]["may"] and not operators["CONJAC_OT_bake"]["may"]


def test_a_file_without_anything_of_conjac_and_leaving_blender_load_nothing(loaded):
    assert loaded["by_startup_file"] == [] and loaded["by_leaving"] == []


def test_a_module_that_is_loaded_late_is_complete_by_any_import(addon):
    """A package that is loaded late has its names and those of modules inside of it, in either order."""
    from conjac.conjac_addon import bake, gather, later, playback
    from conjac.conjac_addon.gather.bones import FREE

    assert FREE > 1.0 and gather.plan.__module__.endswith("gather.sources")
    assert playback.find.__module__.endswith("playback.modifier")
    assert bake.status.__module__.endswith("bake.standing") and later.has_run(gather)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        bake.nothing  # noqa: B018


INSIDE = """
import bpy, os, sys, traceback
from examples_blend import addon
extension = addon.load()
extension.register()
try:
    from conjac.conjac_addon.gather.job import write_job
    from conjac.conjac_addon import gather
    print("FOUND", gather.write_job is write_job, gather.start_mesh.__module__, flush=True)
except ImportError:
    traceback.print_exc()
os._exit(0)
"""


def test_a_module_inside_a_package_that_is_loaded_late_may_be_imported_first():
    ran = subprocess.run([sys.executable, "-c", INSIDE], cwd=ROOT, capture_output=True, text=True,
                         env=os.environ | {"PYTHONPATH": str(ROOT)}, timeout=300)
    assert "FOUND True conjac.conjac_addon.gather.mesh" in ran.stdout, ran.stdout + ran.stderr


CHANGED = """
import json, os, sys
sys.path.insert(0, {folder!r})
import package.later as later
with later.loading():
    from package import part
    states = [later.has_run(part), part.VALUE, later.has_run(part)]
print("FOUND" + json.dumps(states))
"""


def test_bytecode_is_cached_and_that_of_a_changed_source_is_not_run(tmp_path):
    folder, bytecode = tmp_path / "package", tmp_path / "bytecode"
    folder.mkdir()
    (folder / "__init__.py").touch()
    shutil.copy(ROOT / "conjac_addon" / "later.py", folder)
    values = []
    for text in ("VALUE = 1", "", "VALUE = 22"):
        if text:
            (folder / "part.py").write_text(text)
        ran = subprocess.run([sys.executable, "-c", CHANGED.format(folder=str(tmp_path))], cwd=tmp_path, check=True,
                             env=os.environ | {"PYTHONPYCACHEPREFIX": str(bytecode), "PYTHONDONTWRITEBYTECODE": ""},
                             stdout=subprocess.PIPE, text=True)
        values.append(json.loads(ran.stdout.removeprefix("FOUND")))
        [compiled] = bytecode.rglob("part.*.pyc")
        if text == "VALUE = 1":
            # what would run is the bytecode: the same date and size, another content
            compiled.write_bytes(compiled.read_bytes().replace(b"\xe9\x01\x00\x00\x00", b"\xe9\x05\x00\x00\x00"))
    assert [value for _, value, _ in values] == [1, 5, 22]
    assert all((before, after) == (False, True) for before, _, after in values)
