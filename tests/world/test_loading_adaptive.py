"""A bake whose nodes may sleep loads the kernels of sleep before its first step, as one that may not does not."""

import subprocess
import sys
from pathlib import Path

import pytest
from matrix import some
from small_jobs import box_job

ROOT = Path(__file__).resolve().parents[2]
CODE = """
import sys
from solver import threads
from solver.job.load import load
from solver.build.loading import Loading
Loading(load(sys.argv[1]).scene, 1).finish(lambda *_: None)
print(sorted(name for name in sys.modules if name.endswith(("stretching_kernels", "energy_kernels"))))
print("solver.build.world" in sys.modules, "solver.linear.tree.kernels" in sys.modules)
"""


@pytest.mark.parametrize("adaptive", some([False, True], True))
def test_kernels_of_sleep_are_loaded_ahead(tmp_path, adaptive):
    job = box_job(tmp_path / "job", end=2, method={"kind": "conjac", "params": {"adaptive": adaptive}})
    ran = subprocess.run([sys.executable, "-c", CODE, str(job)], cwd=ROOT, capture_output=True, text=True, check=True)
    found = ["solver.forces.energy_kernels", "solver.forces.stretching_kernels"] if adaptive else []
    # all that builds the world is there, and nothing of joints, which this scene has not
    assert ran.stdout.splitlines() == [str(found), "True False"]
