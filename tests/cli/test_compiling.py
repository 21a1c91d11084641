"""Compiling behind Blender's window: all kernels, those of a new soft body first, in two processes."""

import os
import subprocess
import sys
from pathlib import Path

import linked_kernels
import pytest
from matrix import some

from solver import threads
from solver.build import compiling
from solver.build.load_progress import kernels_of

ROOT = Path(__file__).resolve().parents[2]


def test_every_file_of_kernels_is_compiled_and_a_new_bodys_are_apart():
    first, others = compiling.of_new_body(), compiling.others()
    sources = {".".join(path.relative_to(ROOT / "solver").with_suffix("").parts)
               for path in threads._kernel_sources(ROOT / "solver")}
    brought = {*first, *kernels_of(first)}
    assert sources <= brought | {*others} and len(others) == len({*others}) and not brought & {*others}
    assert "linear.cholesky.supernodal" in kernels_of(first)
    assert any(name.startswith("sheet.") for name in others)  # cloth with sharp edges waits


def test_a_bake_without_mechanisms_imports_no_kernels_of_joints():
    """Each such import at the head of a file costs a first bake seconds."""
    brought = kernels_of([*compiling.of_new_body(), "groups", "build.volumes", "frames.write"])
    assert brought and not [name for name in brought if "joint" in name or ".tree" in name or "rigid" in name]


#: two modules with kernels that do not import each other, and one that does not exist
MODULES = ["embedding.locate", "materials.stable_neo_hookean", "materials.of_a_library_that_is_missing"]

BEGIN = """
from solver.build import compiling, loading
started, start = [], loading.start_beside
loading.start_beside = lambda *how: started.append(start(*how)) or started[-1]
compiling.of_new_body, compiling.others = lambda: [], lambda: {modules!r}
print(compiling.main(), [process.returncode is not None for process in started])
"""


@pytest.mark.parametrize("count, beside", some([(2, [True]), (1, [])], (2, [True])))
def test_a_second_process_helps_where_there_are_cores_and_has_ended_in_the_end(tmp_path, count, beside):
    linked_kernels.give(tmp_path, without=("locate._search", "stable_neo_hookean._energy"))
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path), "PYTHON_CPU_COUNT": str(count)}
    environment.pop("NUMBA_CACHE_DIR", None)
    ran = subprocess.run([sys.executable, "-c", BEGIN.format(modules=MODULES)], cwd=ROOT, env=environment,
                         capture_output=True, text=True, timeout=300)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.splitlines() == ['{"event": "compile"}', f"0 {beside}"]
    kernels = tmp_path / "conjac" / threads.KERNELS_FOLDER
    for kernel in ("locate._search", "stable_neo_hookean._energy"):
        assert list(kernels.glob(f"{kernel}-*.nbc")), kernel
