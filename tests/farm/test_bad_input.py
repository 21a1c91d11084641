"""A failure on a farm is one clear sentence and an exit code, and no baked frame is lost."""

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from dataclasses import asdict
from pathlib import Path

import forked_command
import pytest
from small_jobs import box_job, surface_job

from solver import cli
from solver.errors import CacheBusy
from solver.farm import task
from solver.frames import lock
from solver.frames.read import Cache

ROOT = Path(__file__).resolve().parents[2]


def simulate(job, out, *more):
    return forked_command.run("task", "simulate", job, "--out", out, *more)


def one_sentence(errors):
    return len(errors.splitlines()) == 1 and errors.rstrip().endswith(".")


@contextlib.contextmanager
def small_disk(folder, options):
    """Mount a small separate disk, removed afterwards."""
    folder.mkdir()
    if os.geteuid() or subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder],
                                      capture_output=True).returncode:
        pytest.skip("no right to mount a disk here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


@pytest.mark.parametrize("rows, chunk, message", [
    ("bodies[0].densty=1\n", None, "unknown field `densty`"),
    ("# nothing\n", None, "has no rows"),
    ("time.step=0.01\n", "1-12,10-21", "overlaps the one before it"),
    ("time.step=0.01\n", "1-10,12-21", "no chunk has frame 11"),
])
def test_a_bundle_that_cannot_be_baked_is_not_written(tmp_path, rows, chunk, message):
    job, path = box_job(tmp_path / "job", end=21), tmp_path / "rows.csv"
    path.write_text(rows)
    code, _, errors = forked_command.run("farm", job, "--out", tmp_path / "bundle", "--wedge", path,
                                         *(["--chunk", chunk] if chunk else []))
    assert code == 2 and message in errors.lower() and one_sentence(errors)
    assert not (tmp_path / "bundle").exists()


def test_a_chunk_before_its_predecessor_makes_nothing(tmp_path):
    job, out = box_job(tmp_path / "job", end=21), tmp_path / "out"
    code, output, errors = simulate(job, out, "--frames=12-21")
    assert code == 2 and "need frame 11, which is not baked" in errors and one_sentence(errors)
    assert ("openjd_fail: " in output and not list(out.rglob("*.npy.new"))
            and not (out / "row-0001/cache/frames").exists())


def test_a_job_folder_that_is_read_only_is_baked_and_an_output_folder_is_one_sentence(tmp_path):
    with small_disk(tmp_path / "dïsk 1", "size=4m") as disk:
        job = box_job(disk / "job", end=3)
        (disk / "out").mkdir()
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        code, output, errors = simulate(job, disk / "out")
        assert code == 4 and "cannot be written" in errors and one_sentence(errors), errors
        code, _, errors = simulate(job, tmp_path / "out")
        assert code == 0, errors
        assert Cache(tmp_path / "out/row-0001/cache").status().state == "complete"


def test_a_disk_that_is_full_in_the_middle_loses_nothing(tmp_path):
    job = box_job(tmp_path / "job", end=25, cells=(12, 6, 6))
    assert simulate(job, tmp_path / "whole")[0] == 0
    whole = Cache(tmp_path / "whole/row-0001/cache")
    with small_disk(tmp_path / "disk", "size=400k") as disk:
        code, output, errors = simulate(job, disk)
        assert code == 4 and "no room left" in errors and one_sentence(errors), errors
        cache = Cache(disk / "row-0001/cache")
        done = cache.frames_done()
        assert 1 < len(done) < 25 and done == list(range(1, len(done) + 1)) and cache.verify() == []
        subprocess.run(["mount", "-o", "remount,size=8m", disk], check=True)
        code, _, errors = simulate(job, disk)
        assert code == 0, errors
        for frame in range(1, 26):
            assert (cache.folder / f"frames/{frame:06d}.npy").read_bytes() == (
                whole.folder / f"frames/{frame:06d}.npy").read_bytes()


def test_the_second_worker_on_a_chunk_says_who_bakes_there(tmp_path):
    job, out = box_job(tmp_path / "job", end=200, cells=(12, 6, 6)), tmp_path / "out"
    first = forked_command.Started("task", "simulate", job, "--out", out)
    try:
        end = time.monotonic() + 60
        while not list(out.glob("row-0001/cache/frames/*.npy")):
            assert time.monotonic() < end
            time.sleep(0.05)
        code, output, errors = simulate(job, out)
        assert code == 4 and f"rocess {first.pid} on" in errors and one_sentence(errors), errors
        assert first.returncode is None  # the first one goes on
    finally:
        first.kill()
        first.wait(30)
    assert Cache(out / "row-0001/cache").verify() == []


@pytest.mark.parametrize("ahead", [3600.0, -3600.0])
def test_a_worker_whose_clock_is_wrong_is_not_driven_out(tmp_path, monkeypatch, ahead):
    """The lock's time is an hour off, and is renewed while it is watched."""
    job, out = box_job(tmp_path / "job", end=3), tmp_path / "out"
    task_run = task.Task(job, out, None, 1, None, 1)
    cache = task.job_folder(task_run) / "cache"
    cache.mkdir()
    other = asdict(lock.this_process()) | {"host": "elsewhere", "machine": "another"}
    (cache / "lock").write_text(json.dumps(other), encoding="utf-8")
    monkeypatch.setattr(lock, "BEAT", 0.3)
    ended = threading.Event()

    def beat():
        while not ended.wait(0.02):
            now = time.time() + ahead
            os.utime(cache / "lock", (now, now))

    thread = threading.Thread(target=beat)
    thread.start()
    time.sleep(0.1)
    try:
        with pytest.raises(CacheBusy, match="on elsewhere") as caught:
            task.run("simulate", task_run, cli.Lines(as_json=False), lambda: False)
    finally:
        ended.set()
        thread.join()
    assert caught.value.exit_code == 4 and not list(cache.glob("frames/*"))


def test_frames_of_a_worker_whose_clock_is_ahead_are_done_and_exported(tmp_path):
    job, out = box_job(tmp_path / "job", end=3), tmp_path / "out"
    assert simulate(job, out)[0] == 0
    for path in (out / "row-0001/cache").rglob("*"):
        os.utime(path, (time.time() + 3600,) * 2)
    code, output, errors = simulate(job, out)
    assert code == 0 and "already baked" in output, errors
    code, output, errors = forked_command.run("task", "export", job, "--out", out)
    assert code == 0 and "1 objects are exported" in output, errors


@pytest.mark.long
def test_a_node_without_the_mesher_says_what_to_install(tmp_path):
    """It bakes without the mesher where the volume comes with the job."""
    job = surface_job(tmp_path / "job")
    (tmp_path / "without").mkdir()
    (tmp_path / "without/sitecustomize.py").write_text("import sys\nsys.modules['pytetwild'] = None\n")

    def tetrahedralize(out, path):
        ran = subprocess.run([sys.executable, "-m", "solver", "task", "tetrahedralize", job, "--out", out], cwd=ROOT,
                             env=os.environ | {"PYTHONPATH": str(path)}, capture_output=True, text=True)
        return ran.returncode, ran.stderr

    code, errors = tetrahedralize(tmp_path / "out", tmp_path / "without")
    assert code == 4 and "fTetWild is not installed here" in errors and one_sentence(errors), errors
    assert tetrahedralize(tmp_path / "made", ROOT) == (0, "")
    (job / "stages").mkdir()
    for made in (tmp_path / "made/row-0001/stages").iterdir():
        (job / "stages" / made.name).write_bytes(made.read_bytes())
    assert tetrahedralize(tmp_path / "again", tmp_path / "without") == (0, "")
