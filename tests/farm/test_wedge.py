"""A wedge: rows are checked before anything runs, each becomes a job, and the results are a picture and a table."""

import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import threading
import time
import zlib
from dataclasses import asdict
from pathlib import Path

import forked_command
import numpy as np
import pytest
from small_jobs import box_job

from solver import cli
from solver.errors import BadInput, ConJacError
from solver.farm import looks, picture, standing, task, wedge
from solver.frames import lock
from solver.frames.read import Cache
from solver.frames.write import processor
from solver.job.load import load

ROOT = Path(__file__).resolve().parents[2]
WEDGE = """# soft, then stiff
bodies[0].material.params.youngs_modulus=2e4, time.step=0.01

"bodies[Ear].material.params.youngs_modulus=8e4",time.snapshot_every=5
"""


def run(*arguments):
    code, output, errors = forked_command.run(*arguments)
    return code, output, errors


def rows_of(folder, text):
    path = folder / "wedge ä.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_each_row_is_a_job_with_its_settings_and_the_arrays_of_the_first(tmp_path):
    job = load(box_job(tmp_path / "a job"))
    rows = wedge.read_rows(rows_of(tmp_path, WEDGE))
    made = [load(wedge.expand(job, row, tmp_path / "out")) for row in rows]
    bodies = [made_row.scene.bodies[0] for made_row in made]
    assert [body.material.params["youngs_modulus"] for body in bodies] == [2e4, 8e4]
    assert [made_row.scene.time.step for made_row in made] == [0.01, 1 / 96]
    assert [made_row.scene.time.snapshot_every for made_row in made] == [10, 5]
    assert job.scene.time.snapshot_every == 10 and job.raw["bodies"][0]["material"]["params"]["youngs_modulus"] == 2e4
    assert all((made_row.array("arrays/nodes.npy") == job.array("arrays/nodes.npy")).all() for made_row in made)


@pytest.mark.parametrize("cell, message", [
    ("bodies[3].density=1", "number 3 is none of them"),
    ("bodies[Nose].density=1", '"Nose" is none of them'),
    ("bodies[0].densty=1", "unknown field `densty`"),
    ("bodies[0].density=-1", "at `$.bodies[0].density`"),
    ("bodies[0].material.params.foo=1", 'has no parameter "foo"'),
    ("bodis[0].density=1", "is not in the scene"),
    ("time..step=1", "is no path"),
    ("density", "is not of the form path=value"),
    ("time.step=.01,time.step=.02", "twice"),
])
def test_a_row_that_cannot_be_baked_is_one_sentence(tmp_path, cell, message):
    job = box_job(tmp_path / "job")
    code, _, errors = run("wedge", job, rows_of(tmp_path, f"time.step=0.01\n{cell}\n"), "--out", tmp_path / "out")
    assert code == 2 and message in errors and len(errors.splitlines()) == 1
    assert "ow 2 of the wedge" in errors or "ine 2 of" in errors
    assert not (tmp_path / "out").exists()


def test_an_empty_wedge_is_refused(tmp_path):
    with pytest.raises(BadInput, match="has no rows"):
        wedge.read_rows(rows_of(tmp_path, "# nothing\n\n"))


def test_a_changed_row_is_not_put_over_another_bake(tmp_path):
    job = load(box_job(tmp_path / "job"))
    wedge.expand(job, wedge.Row(1, (("time.step", 0.01),)), tmp_path / "out")
    with pytest.raises(BadInput, match="made from other settings"):
        wedge.expand(job, wedge.Row(1, (("time.step", 0.02),)), tmp_path / "out")


def test_a_thousand_rows_are_checked_and_made_in_five_seconds(tmp_path):
    job, start = load(box_job(tmp_path / "job")), time.process_time()
    rows = wedge.read_rows(rows_of(tmp_path, "".join(f"bodies[0].density={500 + k}\n" for k in range(1000))))
    assert len(wedge.check_rows(job, rows)) == 1000
    for row in rows:
        wedge.expand(job, row, tmp_path / "out")
    assert time.process_time() - start < 5.0


def test_tasks_bake_rows_in_chunks_and_finished_ones_return_at_once(tmp_path):
    job, rows = box_job(tmp_path / "job", end=13), rows_of(tmp_path, WEDGE)
    out = tmp_path / "out put"

    def simulate(frames, *more):
        return run("task", "simulate", job, "--out", out, "--wedge", rows, "--row", 2, "--frames", frames, *more)

    code, output, errors = simulate("7-13")
    assert code == 2 and "need frame 6" in errors and "openjd_fail: " in output
    for frames in ("1-6", "7-13"):
        code, output, errors = simulate(frames, "--threads", 1)
        assert code == 0, errors
        assert "openjd_progress: 100" in output and "openjd_status: Frame " in output
    assert Cache(out / "row-0002/cache").status().state == "complete"
    start = time.perf_counter()
    code, output, _ = simulate("7-13")
    assert code == 0 and "already baked" in output and time.perf_counter() - start < 2.0

    code, _, errors = run("task", "export", job, "--out", out, "--wedge", rows, "--row", 2)
    assert code == 0, errors
    played = json.loads((out / "row-0002/export/played.json").read_text())
    stored = (out / "row-0002/export" / played["objects"][0]["file"]).read_bytes()
    _, _, points, first, _, samples = struct.unpack("<12siiffi", stored[:32])
    shown = np.frombuffer(stored[32:], "<f4").reshape(samples, points, 3)
    assert (first, samples) == (1, 13)
    assert all((shown[k] == Cache(out / "row-0002/cache").frame(k + 1)["Ear"]).all() for k in range(13))

    rows_now = wedge.read_rows(rows)
    unbaked, baked = (looks.result(row, out) for row in rows_now)
    assert unbaked.state == "none" and baked.state == "complete"
    assert baked.most_energy >= baked.energy > 0 and baked.seconds > 0
    code, output, errors = run("wedge", job, rows, "--out", out, "--look")
    assert code == 0, errors
    image = decoded((out / "wedge.png").read_bytes())
    lines = image.reshape(-1)
    assert image.shape[0] > 2 * looks.CELL[1] and (lines == picture.EMPTY).any() and (lines < 120).sum() > 3000
    assert "complete" in (out / "wedge.csv").read_text()

    state = standing.all_below(out)[0]
    assert (state.name, state.state, state.frame, state.done, state.total) == ("row-0002", "complete", 13, 13, 13)
    assert state.memory_mb > 50 and state.seconds_a_frame > 0
    code, output, _ = run("watch", tmp_path, "--json")
    assert code == 0 and {bake["name"] for bake in json.loads(output.splitlines()[0])["bakes"]} == {
        "job", "out put/row-0002"}


def decoded(content):
    """Return the pixels of a PNG that `picture.png` wrote, (height, width, 3)."""
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", content[16:24])
    at, packed = 8, b""
    while at < len(content):
        length, kind = struct.unpack(">I4s", content[at:at + 8])
        packed += content[at + 8:at + 8 + length] if kind == b"IDAT" else b""
        at += length + 12
    return np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, 3 * width + 1)[:, 1:].reshape(
        height, width, 3)


def test_a_nearer_triangle_hides_what_is_behind_it():
    flat = np.array([[0.0, 0, 0], [1, 0, 0], [0, 0, 1], [1, 0, 1]])
    triangles = np.array([[0, 1, 2], [1, 3, 2]], np.int32)
    turned = flat + 0.4 * picture.LOOK, triangles
    view = picture.View(np.zeros(3), np.ones(3), (80, 60))
    alone, both = picture.draw(view, [(flat, triangles)]), picture.draw(view, [(flat, triangles), turned])
    assert (alone != picture.BACKGROUND).any()
    assert (both[(alone != picture.BACKGROUND)] == alone[(alone != picture.BACKGROUND)]).all()


@pytest.mark.parametrize("text, message", [("1-10,8-20", "overlaps"), ("1-10,12-20", "o chunk has frame 11"),
                                           ("1-10", "end at frame "
                                            "10"), ("many", "is not a list of chunks"), ("9-1", "before")])
def test_chunks_that_do_not_fill_the_shot_are_refused(text, message):
    with pytest.raises(BadInput, match=message):
        task.chunks_of(text, 1, 20, 10)


def test_chunks_end_where_snapshots_stand():
    assert task.chunks_of("7", 1, 48, 10) == [(1, 11), (12, 21), (22, 31), (32, 41), (42, 48)]
    assert task.chunks_of("100", 1, 48, 10) == [(1, 48)]
    assert task.chunks_of("-4-3,4-9", -4, 9, 10) == [(-4, 3), (4, 9)]


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path):
    job, out = box_job(tmp_path / "job"), tmp_path / "out"
    out.write_text("a file, not a folder")
    with pytest.raises(ConJacError, match="cannot be written"):
        task.job_folder(task.Task(job, out, None, 1, None, None))


def test_watching_a_folder_without_bakes_is_one_sentence(tmp_path):
    code, _, errors = run("watch", tmp_path)
    assert code == 2 and "here is no job folder" in errors


def test_watching_in_a_terminal_refreshes_until_ctrl_c(tmp_path):
    """The display follows a bake that runs meanwhile."""
    job = box_job(tmp_path / "job", end=13)
    assert run("bake", job, "--frames", "1-6")[0] == 0
    parent_end, child_end = pty.openpty()
    process = subprocess.Popen([sys.executable, "-m", "solver", "watch", str(tmp_path), "--every", "1"], cwd=ROOT,
                               stdout=child_end, stdin=child_end)
    os.close(child_end)
    shown = ""

    def until(text):
        nonlocal shown
        end = time.monotonic() + 60
        while text not in shown:
            assert time.monotonic() < end, shown
            if select.select([parent_end], [], [], 1.0)[0]:
                shown += os.read(parent_end, 1 << 16).decode()

    try:
        until("6/13")
        assert "last sentence" in shown and "s/frame" in shown
        assert run("bake", job)[0] == 0
        until("13/13")
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()
        os.close(parent_end)


def test_a_done_chunk_answers_within_two_seconds_of_its_start(tmp_path):
    """The time counts from the start of the process."""
    job, out = box_job(tmp_path / "job", end=7), tmp_path / "out"
    assert run("task", "simulate", job, "--out", out)[0] == 0
    took = []
    for _ in range(3):
        start = time.perf_counter()
        output = subprocess.run([sys.executable, "-m", "solver", "task", "simulate", str(job), "--out", str(out),
                                 "--frames=1-7"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        took.append(time.perf_counter() - start)
        assert "already baked" in output
    assert min(took) < 2.0


def test_a_chunk_on_another_processor_goes_on_and_says_so(tmp_path):
    job, out = box_job(tmp_path / "job", end=13), tmp_path / "out"
    assert run("task", "simulate", job, "--out", out, "--frames", "1-11")[0] == 0
    manifest = out / "row-0001/cache/manifest.json"
    document = json.loads(manifest.read_text(encoding="utf-8"))
    assert document["runs"][0]["cpu"] == processor() and document["runs"][0]["versions"]["python"]
    document["runs"][0]["cpu"] = "Another 9000"
    manifest.write_text(json.dumps(document), encoding="utf-8")
    code, output, errors = run("task", "simulate", job, "--out", out, "--frames", "12-13")
    assert code == 0, errors
    assert "were baked with Another 9000; last digits may differ" in output


def test_the_lock_of_a_node_that_died_is_waited_for(tmp_path, monkeypatch):
    """The lock of another machine's worker that died expires; that of a running worker is not waited for."""
    job, out = box_job(tmp_path / "job", end=3), tmp_path / "out"
    task_run = task.Task(job, out, None, 1, None, 1)
    cache = task.job_folder(task_run) / "cache"
    cache.mkdir()
    dead = asdict(lock.this_process()) | {"host": "elsewhere", "machine": "another"}
    monkeypatch.setattr(lock, "BEAT", 0.1)
    monkeypatch.setattr(lock, "EXPIRY", 1.0)

    def write_lock():
        (cache / "lock").write_text(json.dumps(dead), encoding="utf-8")

    write_lock()
    messages = []
    lines = cli.Lines(as_json=False)
    monkeypatch.setattr(lines, "log", messages.append)
    task.run("simulate", task_run, lines, lambda: False)
    assert any("Waiting for process" in text and "elsewhere" in text for text in messages)
    assert Cache(cache).status().state == "complete"

    (cache / "manifest.json").unlink()
    write_lock()
    monkeypatch.setattr(lock, "EXPIRY", 300.0)
    beating = threading.Event()
    thread = threading.Thread(target=lambda: [os.utime(cache / "lock") for _ in iter(lambda: beating.wait(0.02), True)])
    thread.start()
    try:
        with pytest.raises(ConJacError, match="bakes into"):
            task.run("simulate", task_run, lines, lambda: False)
    finally:
        beating.set()
        thread.join()
