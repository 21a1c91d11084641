"""A wedge of six bakes on a real Slurm of two nodes: a worker is killed, a task stopped, a node lost, and in the end
every frame has the bytes of an unbroken bake."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from slurm_here import SlurmHere, descendants
from small_jobs import box_job, change

from solver.farm import bundle
from solver.frames.read import Cache

ROOT = Path(__file__).resolve().parents[2]
END, ROWS = 81, 6


@pytest.mark.long
@pytest.mark.skipif(not all(map(shutil.which, ("slurmd", "slurmctld", "munged", "sbatch"))),
                    reason="slurm-wlm and munge are not installed: make test-farm does")
def test_a_wedge_outlives_a_worker_a_stop_and_a_node(tmp_path):
    rows = tmp_path / "rows.csv"
    rows.write_text("".join(f"bodies[0].density={700 + 100 * k}\n" for k in range(ROWS)))
    job = box_job(tmp_path / "job", end=END, step=1 / 96, cells=(10, 5, 5))
    folder = tmp_path / "bundle"
    bundle.write(job, folder, wedge=rows, chunk="40")
    command = tmp_path / "conjac-solver"
    command.write_text(f'#!/bin/sh\nexec env PYTHONPATH="{ROOT}" "{sys.executable}" -m solver "$@"\n')
    command.chmod(0o755)

    slurm_folder = tmp_path / "slurm"
    slurm_folder.mkdir()
    with SlurmHere(slurm_folder) as slurm:
        slurm.environment |= {"CONJAC_SOLVER": str(command), "OMP_NUM_THREADS": "1"}
        ran = subprocess.run(["bash", folder / "slurm.sh"], env=slurm.environment, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr

        wait(lambda: baked(folder, 1) >= 5, slurm)
        os.kill(solver_of(folder, 1), signal.SIGKILL)  # a worker dies
        wait(lambda: baked(folder, 2) >= 5, slurm)
        os.kill(solver_of(folder, 2), signal.SIGTERM)  # a task is asked to make room: exit code 75
        wait(lambda: any(job[1:4] == ["simulate", "RUNNING", "n2"] for job in slurm.jobs()), slurm)
        slurm.kill_node("n2")
        wait(lambda: not slurm.jobs(), slurm, 600)
        logs = {path.name: path.read_text() for path in (folder / "logs").iterdir()}
        assert any("stopped before frame" in text.lower() for text in logs.values())

    assert (folder / "out/wedge.png").stat().st_size > 1000
    resumed = 0
    for row in range(1, ROWS + 1):
        cache = Cache(folder / f"out/row-{row:04d}/cache")
        assert cache.status().state == "complete" and cache.verify() == []
        resumed += len(cache.manifest["runs"]) > 2
        assert list((folder / f"out/row-{row:04d}/export").glob("*.pc2"))
        whole = box_job(tmp_path / f"whole{row}", end=END, step=1 / 96, cells=(10, 5, 5))
        change(whole, "bodies.0.density", 600 + 100 * row)
        subprocess.run([command, "bake", whole], check=True, capture_output=True)
        for path in (whole / "cache/frames").iterdir():
            assert path.read_bytes() == (cache.folder / "frames" / path.name).read_bytes(), (row, path.name)
    assert resumed >= 2  # the worker that was killed, the one that was stopped


def wait(until, slurm, seconds=300):
    end = time.monotonic() + seconds
    while not until():
        assert time.monotonic() < end, slurm.run("squeue", "-r", "-o", "%i %j %T %N %r")
        time.sleep(0.2)


def baked(folder, row):
    return len(list((folder / f"out/row-{row:04d}/cache/frames").glob("*.npy")))


def solver_of(folder, row):
    """Return the id of the process that bakes a row."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().decode(errors="replace").split("\0")
            there = Path(path.parent / "cwd").resolve()
        except OSError:
            continue
        if "solver" in words and "simulate" in words and there == folder.resolve() \
                and words[words.index("--row") + 1] == str(row) and not descendants(int(path.parent.name)):
            return int(path.parent.name)
    raise AssertionError(f"no solver bakes row {row}")
