"""`pip install .` installs the solver alone: a package of its own name that reads jobs without this checkout and
bpy."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]


def files_of(folder):
    """Return modules and the tables that they read, by their paths."""
    return {path.relative_to(folder).as_posix() for end in ("py", "json") for path in folder.rglob(f"*.{end}")}


def test_the_installed_solver_checks_a_job(tmp_path):
    source, installed, job = tmp_path / "source", tmp_path / "place", tmp_path / "job"
    # pip builds beside the sources: not in the checkout
    source.mkdir()
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE", "solver"):
        (source / name).symlink_to(ROOT / name)
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps",
                    "--no-build-isolation", "--no-compile", "--target", str(installed), str(source)], check=True,
                   capture_output=True)
    assert {path.name for path in installed.iterdir()} >= {"conjac_solver", "bin"}
    assert not (installed / "solver").exists() and not (installed / "conjac_addon").exists()
    modules = files_of(ROOT / "solver")
    assert modules == files_of(installed / "conjac_solver") and "linear/quickest.json" in modules

    (job / "arrays").mkdir(parents=True)
    np.save(job / "arrays" / "nodes.npy", np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]))
    np.save(job / "arrays" / "tets.npy", np.array([[0, 1, 2, 3]], dtype=np.int32))
    body = {"name": "one", "tets": {"nodes": "arrays/nodes.npy", "tets": "arrays/tets.npy"},
            "material": {"kind": "stable_neo_hookean", "params": {}}}
    (job / "scene.json").write_text(json.dumps({
        "version": 1, "name": "scene", "bodies": [body], "method": {"kind": "vanilla", "params": {}},
        "integrator": {"kind": "semi_implicit"}, "time": {"start": 1, "end": 2, "fps": 24.0, "step": 0.01}}))
    code = (f"import sys; sys.path.insert(0, {str(installed)!r}); from conjac_solver.cli import main; "
            f"code = main(['check', {str(job)!r}, '--json'], read_stdin=False); "
            "assert not {'bpy', 'solver'} & set(sys.modules); sys.exit(code)")
    ran = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    entry = (installed / "bin" / "conjac-solver").read_text()
    assert "from conjac_solver.cli import main" in entry
