"""The percentage of a first bake: kernels that are loaded or newly compiled, of all that a scene needs."""

import subprocess
import sys
from pathlib import Path

from solver.build import load_progress

ROOT = Path(__file__).resolve().parents[2]


def test_kernels_are_found_through_imports():
    kernels = load_progress.kernels_of(["materials.stable_neo_hookean"])
    assert "materials.stable_neo_hookean" in kernels
    assert "_energy" in kernels["materials.stable_neo_hookean"]
    assert len(load_progress.kernels_of(["build.world", "linear.choose"])) > 5


def test_nothing_unknown_counts_as_done(tmp_path):
    assert load_progress.LoadProgress([], tmp_path).fraction() == 1.0
    assert load_progress.LoadProgress(["errors"], tmp_path / "missing").fraction() == 1.0


def test_a_new_file_counts_and_an_old_one_does_not(tmp_path):
    """The process has imported none of the kernels."""
    code = f"""
import sys
from pathlib import Path
from solver.build.load_progress import LoadProgress, kernels_of
folder = Path({str(tmp_path)!r})
kernels = kernels_of(["materials.stable_neo_hookean"])
names = [f"{{module.rpartition('.')[2]}}.{{name}}" for module, found in kernels.items() for name in found]
(folder / f"{{names[0]}}-older.py311.1.nbc").touch()
progress = LoadProgress(["materials.stable_neo_hookean"], folder)
fractions = [progress.fraction()]
for name in names:
    (folder / f"{{name}}-newer.py311.1.nbc").touch()
    fractions.append(progress.fraction())
assert fractions[0] == 0.0 and fractions[-1] == 1.0 and fractions == sorted(set(fractions)), fractions
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
