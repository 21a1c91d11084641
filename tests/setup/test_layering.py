"""Allowed imports: the solver imports nothing of Blender, and a folder of it imports only folders before it in the
order."""

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from syntax_trees import tree_of

ROOT = Path(__file__).resolve().parents[2]
BLENDER = {"bpy", "bmesh", "mathutils", "gpu", "bpy_extras", "addon_utils", "idprop", "blf", "bl_ui", "bl_operators"}
ORDER = (
    "one_thread errors iteration catalogue state node_records kernel_archive kernel_structs kernel_cache cores habits "
    "pool threads job meshing coordinates materials forces linear rows constraints contact sheet bearings assembly "
    "fields embedding parts nonlinear integrators world coupling build reshape frames stepping groups reuse "
    "simulate live farm cli __main__"
).split()
FOR_THE_ADDON = {"solver.catalogue", "solver.errors", "solver.frames.beside", "solver.frames.compared",
                 "solver.frames.files",
                 "solver.frames.layout", "solver.frames.lock", "solver.frames.pc2", "solver.frames.read",
                 "solver.frames.swept", "solver.job.arrays", "solver.job.files", "solver.live.board"}


def files(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imports(path: Path) -> list[tuple[int, str, bool]]:
    """Return (line, module or module.name, relative) of every import in a file, also of nested ones."""
    package = module_name(path) if path.name == "__init__.py" else module_name(path).rpartition(".")[0]
    statements, queue = [], [tree_of(path)]
    while queue:  # statements alone: a quarter of all nodes, and no import stands in an expression
        node = queue.pop()
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            queue += getattr(node, name, ())
        if isinstance(node, ast.Import):
            statements += [(node.lineno, alias.name, False) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".")
                above = parts[: len(parts) - node.level + 1]
                base = ".".join([*above, base] if base else above)
            statements += [(node.lineno, resolved(base, alias.name), bool(node.level)) for alias in node.names]
    return sorted(statements)


def resolved(base: str, name: str) -> str:
    """Return base.name where that is a module of ours, else base: `from .x import y` may import either."""
    inside = ROOT.joinpath(*base.split("."), name) if base else ROOT / name
    return f"{base}.{name}".lstrip(".") if inside.is_dir() or inside.with_suffix(".py").exists() else base


def where(path: Path, line: int, module: str) -> str:
    return f"{path.relative_to(ROOT)}:{line} imports {module}"


def test_solver_never_imports_blender():
    assert [where(path, line, name) for path in files("solver") for line, name, _ in imports(path)
            if name.partition(".")[0] in BLENDER | {"conjac_addon", "conjac", "bl_ext"}] == []


def test_solver_imports_itself_relatively():
    assert [where(path, line, name) for path in files("solver") for line, name, relative in imports(path)
            if name.partition(".")[0] == "solver" and not relative] == []


def test_every_folder_of_the_solver_is_in_the_order():
    parts = {path.relative_to(ROOT / "solver").with_suffix("").parts[0] for path in files("solver")}
    assert sorted(parts - {"__init__"} - set(ORDER)) == []


def test_solver_folder_imports_only_what_stands_before_it():
    wrong = []
    for path in files("solver"):
        own = path.relative_to(ROOT / "solver").with_suffix("").parts[0]
        for line, name, relative in imports(path):
            if not relative or own == "__init__":
                continue
            other = (name.split(".") + [""])[1]
            if other and other != own and ORDER.index(other) >= ORDER.index(own):
                wrong.append(where(path, line, name))
    assert wrong == []


#: circles that may stay, as {files}: why. Types count, and what a function imports when it is called
CIRCLES: dict[frozenset[str], str] = {}


def circles(folder: str) -> list[frozenset[str]]:
    """Return cycles of files that import each other, also through other files and nested imports."""
    reads = {module_name(path): {name for _, name, _ in imports(path)} for path in files(folder)}
    bits = {name: 1 << k for k, name in enumerate(reads)}
    reaches = {name: sum(bits[other] for other in others & bits.keys() - {name}) for name, others in reads.items()}
    for through, bit in bits.items():  # Warshall's closure, a row of bits for each file
        for name in reaches:
            if reaches[name] & bit:
                reaches[name] |= reaches[through]
    return list({frozenset(other for other in reads if reaches[name] & bits[other] and reaches[other] & bits[name])
                 for name in reads if reaches[name] & bits[name]})


@pytest.mark.parametrize("folder", ["solver", "conjac_addon"])
def test_no_file_imports_a_type_back(folder):
    assert sorted(sorted(circle) for circle in circles(folder) if circle not in CIRCLES) == []


def test_a_circle_is_found_behind_type_checking_and_inside_functions(tmp_path, monkeypatch):
    (tmp_path / "solver" / "world").mkdir(parents=True)
    for name, text in {"__init__": "", "world/__init__": "", "errors": "",
                       "world/nodes": "from typing import TYPE_CHECKING\nfrom ..errors import X\n"
                                      "if TYPE_CHECKING:\n    from .world import World\n",
                       "world/joints": "def f():\n    from .nodes import Nodes\n",
                       "world/world": "from . import joints\n", "cli": "from .world.world import World\n"}.items():
        (tmp_path / "solver" / f"{name}.py").write_text(text)
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    assert circles("solver") == [{"solver.world.nodes", "solver.world.joints", "solver.world.world"}]


def test_addon_imports_only_the_light_part_of_the_solver():
    wrong = []
    for path in files("conjac_addon"):
        for line, name, relative in imports(path):
            if name.partition(".")[0] == "solver" and (not relative or name not in FOR_THE_ADDON):
                wrong.append(where(path, line, name))
    assert wrong == []


#: imports each module in a fork of one process, which has numpy; prints those that need more, and why
ONLY_NUMPY = """
import importlib, os, sys, traceback
import numpy
class Refuse:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top not in sys.stdlib_module_names and top not in ("numpy", "solver"):
            raise ImportError(f"{name} is neither standard library nor numpy")
sys.meta_path.insert(0, Refuse())
for module in sys.argv[1:]:
    if os.fork():
        os.wait()
        continue
    try:
        importlib.import_module(module)
        heavy = sorted({name.partition(".")[0] for name in sys.modules}
                       & {"scipy", "numba", "msgspec", "sksparse", "bpy"})
        assert not heavy, heavy
    except BaseException:
        print(module, traceback.format_exc(), flush=True)
    os._exit(0)
"""


def only_numpy(*modules):
    """Return the output of a process with nothing but numpy that imports these modules."""
    ran = subprocess.run([sys.executable, "-c", ONLY_NUMPY, *modules], cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_what_blender_loads_needs_numpy_at_most():
    paths = {module: ROOT.joinpath(*module.split(".")) for module in sorted(FOR_THE_ADDON)}
    assert [module for module, path in paths.items()
            if not path.with_suffix(".py").exists() and not (path / "__init__.py").exists()] == []
    assert only_numpy(*paths) == ""
    assert only_numpy("solver.job.load").startswith("solver.job.load ")  # needs msgspec


def test_an_import_out_of_order_would_be_seen(tmp_path, monkeypatch):
    """Absolute, relative, nested and package imports are all resolved."""
    for folder in ("solver/forces", "solver/world"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "__init__.py").write_text("")
    (tmp_path / "solver/__init__.py").write_text("")
    (tmp_path / "solver/world/build.py").write_text("")
    law = tmp_path / "solver/forces/law.py"
    law.write_text("import numpy\ndef f():\n    from ..world import build\n    from ..world.build import World\n"
                   "    from . import other\n")
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    assert imports(law) == [(1, "numpy", False), (3, "solver.world.build", True), (4, "solver.world.build", True),
                            (5, "solver.forces", True)]


def test_no_two_test_files_have_one_name():
    """pytest imports test files by name, and a second one of a name stops the whole suite."""
    names = [path.name for path in files("tests") if path.name.startswith("test_")]
    assert sorted({name for name in names if names.count(name) > 1}) == []


def test_no_two_classes_of_the_solver_have_one_name():
    """One name has one meaning. Classes of scene.json are excluded: they describe an artist's input of a thing that the
    solver has a class for."""
    where: dict[str, list[str]] = {}
    for path in files("solver"):
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef) and not module_name(path).startswith("solver.job.schema"):
                where.setdefault(node.name, []).append(module_name(path))
    assert {name: modules for name, modules in where.items() if len(modules) > 1} == {}
