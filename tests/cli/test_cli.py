"""`python -m solver` as people, farms and Blender use it: its words, its exit codes, and what a kill leaves behind."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import forked_command
import numpy as np
import pytest
from matrix import some
from small_jobs import box_job, change, surface_job

from solver import cli
from solver.frames.layout import file_of
from solver.frames.read import Cache

ROOT = Path(__file__).resolve().parents[2]
END = 61  # frames of the jobs that are broken off: enough to be in the middle whatever the machine does
STEP = 1 / 48  #: of these jobs [s], two a frame


def run(*arguments) -> tuple[int, list[dict], str]:
    """Return (exit code, JSON events, stderr) of a command that runs to its end."""
    code, output, errors = forked_command.run(*arguments, "--json")
    return code, [json.loads(line) for line in output.splitlines()], errors


def until_frame(process, frame: int) -> None:
    """Read events up to that of a frame."""
    for line in process.stdout:
        event = json.loads(line)
        if event.get("frame") == frame and event["event"] == "frame":
            return
    raise AssertionError(f"frame {frame} was never told: {process.stderr.read()}")


def events_of(process) -> list[dict]:
    output, errors = process.communicate(timeout=120)
    return [json.loads(line) for line in output.splitlines()]


def contents(job: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((job / "cache").glob("*/*.np*"))}


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    """Return a job that was baked in one run, and its output."""
    job = box_job(tmp_path_factory.mktemp("unbroken") / "job", end=END, step=STEP)
    return job, run("bake", job)


def test_a_bake_says_the_protocol_and_writes_every_frame(unbroken):
    job, (code, events, errors) = unbroken
    assert code == 0, errors
    kinds = [event["event"] for event in events]
    assert set(kinds) <= {"log", "stage", "start", "frame", "end"} and kinds[-1] == "end"
    assert events[-1]["code"] == 0 and events[-1]["text"]
    logs = [event["text"] for event in events if event["event"] == "log"]
    assert sum(text.startswith("Linear solver: ") and len(text) > 30 for text in logs) == 1
    assert next(event for event in events if event["event"] == "start") == {
        "event": "start", "frames": [1, END], "steps_per_frame": 2}
    frames = [event for event in events if event["event"] == "frame"]
    assert [event["frame"] for event in frames] == list(range(2, END + 1))
    assert all(event["ms"] > 0 and event["left_s"] >= 0 for event in frames)
    cache = Cache(job / "cache")
    assert cache.frames_done() == list(range(1, END + 1)) and cache.verify() == []
    assert cache.status().state == "complete" and not (job / "cache/lock").exists()


def test_the_bake_is_of_this_box(unbroken):
    """The pinned face follows its motion; the free end, set off by the swing and gravity, moves further."""
    job, _ = unbroken
    nodes, pinned = np.load(job / "arrays/nodes.npy"), np.load(job / "arrays/pinned.npy")
    motion = np.load(job / "arrays/pin_motion.npy")
    cache = Cache(job / "cache")
    for frame in (1, 2, 17, END):
        assert np.abs(cache.frame(frame)["Ear"][pinned] - motion[2 * (frame - 1)]).max() < 1e-6
    first, later = (cache.frame(frame)["Ear"] for frame in (1, 17))
    assert np.abs(first - nodes).max() < 1e-7
    free = nodes[:, 0] == nodes[:, 0].max()
    assert np.abs((later - first)[free, 2] - (later - first)[pinned, 2].mean()).max() > 1e-3


def test_finished_frames_are_reported_at_once_without_the_solver(unbroken):
    job, _ = unbroken
    for extra in ([], ["--resume"], ["--frames", "3-7"]):
        code, events, errors = run("bake", job, *extra)
        assert (code, errors) == (0, "")
        assert "already baked" in events[0]["text"]
    code = ("import sys; from solver.cli import main; code = main(['bake', sys.argv[1]], read_stdin=False);"
            "heavy = {'numba', 'scipy', 'sksparse', 'cvxopt', 'solver.world', 'solver.threads'} & set(sys.modules);"
            "sys.exit(f'{code} {heavy}' if code or heavy else 0)")
    ran = subprocess.run([sys.executable, "-c", code, str(job)], cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


def test_kill_9_then_resume_gives_the_same_bytes(unbroken, tmp_path):
    job = box_job(tmp_path / "job", end=END, step=STEP)
    process = forked_command.Started("bake", job, "--json")
    until_frame(process, 27)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    status = Cache(job / "cache").status()
    assert status.state == "partial" and 27 <= status.done < END and Cache(job / "cache").verify() == []

    code, events, errors = run("bake", job, "--resume")
    assert code == 0, errors
    first = next(event for event in events if event["event"] == "start")["frames"][0]
    assert first >= 21 and first % 10 == 1
    assert contents(job) == contents(unbroken[0])


@pytest.mark.long
def test_a_free_body_that_lands_resumes_to_the_same_bytes(tmp_path):
    """A body without pins lands on a slope and stays there by friction, which starts from its earlier value."""
    jobs = []
    for name in ("whole", "broken off"):
        job = box_job(tmp_path / name, end=25, motion=False,
                      gravity=[2.0, 0.0, -9.81],
                      ground={"point": [0, 0, -0.05], "normal": [0, 0, 1], "stiffness": 50.0,
                              "friction": {"kind": "coulomb"}})
        change(job, "bodies.0.pin", {})
        jobs.append(job)
    assert run("bake", jobs[0])[0] == 0
    for arguments in (["--frames", "1-17"], ["--resume", "--threads", "1"]):
        assert run("bake", jobs[1], *arguments)[0] == 0
    assert contents(jobs[0]) == contents(jobs[1])
    lowest = [Cache(jobs[0] / "cache").frame(frame)["Ear"][:, 2].min() for frame in (1, 25)]
    assert lowest[0] == 0 and -0.12 < lowest[1] < -0.04  # it fell 5 cm and stands on an edge, sunk in


@pytest.mark.parametrize("ways", some(["pause SIGTERM", "pause SIGTERM SIGINT"], "pause SIGTERM"))
def test_a_stop_on_request_exits_75_and_resumes_to_the_same_bytes(unbroken, tmp_path, ways):
    job = box_job(tmp_path / "job", end=END, step=STEP)
    for way, frame in zip(ways.split(), (8, 18, 28)):
        process = forked_command.Started("bake", job, "--json", "--resume")
        until_frame(process, frame)
        if way == "pause":
            process.stdin.write("what\npa")
            process.stdin.flush()
            process.stdin.write("use\n")
            process.stdin.flush()
        else:
            process.send_signal(getattr(signal, way))
        events = events_of(process)
        assert process.returncode == 75, way
        assert events[-1]["event"] == "end" and events[-1]["code"] == 75 and "Resume" in events[-1]["text"]
        status = Cache(job / "cache").status()
        assert status.state == "partial" and frame <= status.done < END
    assert run("bake", job, "--resume")[0] == 0
    assert contents(job) == contents(unbroken[0])


def test_an_end_of_input_does_not_stop_a_bake(tmp_path):
    """Cron and queues give an empty stdin; `run` gives /dev/null, and this test closes a pipe at once."""
    process = forked_command.Started("bake", box_job(tmp_path, end=3), "--json")
    process.stdin.close()
    assert events_of(process)[-1]["code"] == 0


def test_the_second_signal_kills():
    code = ("import os, signal, sys; from solver import cli; cli._listen(False);"
            "os.kill(os.getpid(), signal.SIGTERM); print(cli._stop_requested.is_set(), flush=True);"
            "os.kill(os.getpid(), signal.SIGTERM); print('alive', flush=True)")
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (ran.stdout, ran.returncode) == ("True\n", -signal.SIGTERM)


def test_a_reader_that_closed_its_pipe_stops_the_bake(tmp_path):
    job = box_job(tmp_path / "job", end=END, step=STEP)
    process = forked_command.Started("bake", job, "--json")
    until_frame(process, 3)
    process.stdout.close()
    assert process.wait(timeout=60) == 75
    assert Cache(job / "cache").status().state == "partial"


def test_other_settings_are_never_resumed_silently(tmp_path):
    job = box_job(tmp_path / "job", end=3)
    assert run("bake", job)[0] == 0
    before = contents(job)
    change(job, "method", {"kind": "conjac", "params": {"beta": 2}})
    code, events, _ = run("bake", job, "--resume")
    assert code == 2 and [event["event"] for event in events] == ["error", "end"]
    assert events[0] | {"text": ""} == {"event": "error", "code": "stale_cache", "exit": 2, "object": None,
                                        "frame": None, "where": None, "text": ""}
    assert "Damping" in events[0]["text"] and contents(job) == before

    code, events, _ = run("bake", job)
    assert code == 0 and any("Damping" in event.get("text", "") for event in events)
    assert contents(job).keys() == before.keys() and contents(job) != before


def test_a_bake_that_cannot_begin_keeps_the_old_frames(tmp_path):
    """New settings replace a cache only when their world is built."""
    job = box_job(tmp_path / "job", end=3)
    assert run("bake", job)[0] == 0
    before = contents(job)
    np.save(job / "arrays/pinned.npy", np.arange(45, dtype=np.int32))
    np.save(job / "arrays/pin_motion.npy", np.tile(np.load(job / "arrays/nodes.npy"), (5, 1, 1)))
    code, events, _ = run("bake", job)
    assert code == 2 and events[-2]["code"] == "no_free_node" and events[-2]["object"] == "Ear"
    assert contents(job) == before


def test_a_motion_that_blows_up_stops_with_advice_and_keeps_earlier_frames(tmp_path):
    """The pins leave for 100 km within a frame: no step, however short, can follow."""
    job = box_job(tmp_path / "job", end=13)
    motion = np.load(job / "arrays/pin_motion.npy")
    motion[15:] += [0, 0, 1e5]
    np.save(job / "arrays/pin_motion.npy", motion)
    code, events, errors = run("bake", job)
    assert (code, errors) == (3, "") and events[-2]["code"] == "diverged" and events[-1]["code"] == 3
    assert events[-2]["object"] == "Ear" and "Damping" in events[-2]["text"]
    done = Cache(job / "cache").frames_done()
    # samples 13 and 15 are frames 7.5 and 8.5, and the motion between samples is smooth
    assert done == list(range(1, events[-2]["frame"])) and 7 <= events[-2]["frame"] <= 9
    assert Cache(job / "cache").verify() == []


def test_numbers_that_overflow_stop_with_advice_alone(tmp_path):
    """numpy's warnings, which name lines of ConJac, are not printed."""
    job = box_job(tmp_path / "job", end=3, gravity=[0.0, 0.0, -1e29], integrator={"kind": "backward_euler"})
    code, events, errors = run("bake", job)
    assert (code, errors) == (3, "") and events[-2]["code"] == "diverged"


def test_two_bakers_cannot_share_a_cache(tmp_path):
    job = box_job(tmp_path / "job", end=END, step=STEP)
    first = forked_command.Started("bake", job, "--json")
    until_frame(first, 3)
    first.send_signal(signal.SIGSTOP)
    try:
        assert Cache(job / "cache").status().state == "baking"
        code, events, _ = run("bake", job)
        assert code == 4 and events[0]["code"] == "cache_busy" and str(first.pid) in events[0]["text"]
    finally:
        first.send_signal(signal.SIGCONT)
    assert events_of(first)[-1]["code"] == 0
    assert Cache(job / "cache").verify() == []


def test_a_range_is_what_must_be_there_at_the_end(unbroken, tmp_path):
    job = box_job(tmp_path / "job", end=END, step=STEP)
    assert run("bake", job, "--frames", "4-13")[0] == 0
    assert Cache(job / "cache").frames_done() == list(range(1, 14))
    code, events, _ = run("bake", job, "--frames=15-23", "--resume")
    assert code == 0 and next(event for event in events if event["event"] == "start")["frames"] == [11, 23]
    assert Cache(job / "cache").frames_done() == list(range(1, 24))
    # frames outside the range stay as they are
    code, events, _ = run("bake", job, "--frames", "2")
    assert code == 0 and "already baked" in events[0]["text"]
    whole = contents(unbroken[0])
    assert contents(job).items() <= whole.items()
    code, events, _ = run("bake", job, "--frames", "1-99")
    assert code == 2 and "1 to 61" in events[0]["text"]


def test_a_damaged_frame_is_found_and_made_again(unbroken, tmp_path):
    job = box_job(tmp_path / "job", end=13)
    assert run("bake", job)[0] == 0
    before = contents(job)
    path = file_of(job / "cache", "frame", 12)
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    code, events, _ = run("info", job)
    assert code == 2 and "the first is 12" in events[-2]["text"]
    assert run("bake", job, "--resume")[0] == 0
    assert contents(job) == before and run("info", job)[0] == 0


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="a file system of its own needs root")
def test_a_full_disk_stops_the_bake_and_keeps_its_frames(tmp_path):
    job = box_job(tmp_path / "job", end=END, step=STEP)
    (job / "cache").mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(job / "cache")],
                             capture_output=True)
    if mounted.returncode:
        pytest.skip("no right to mount here")
    try:
        code, events, _ = run("bake", job)
        assert code == 4 and events[-2]["code"] == "cache_unwritable" and "no room left" in events[-2]["text"]
        done = Cache(job / "cache").frames_done()
        assert len(done) > 2 and Cache(job / "cache").verify() == []
        subprocess.run(["mount", "-o", "remount,size=4m", str(job / "cache")], check=True)
        assert run("bake", job, "--resume")[0] == 0
        assert len(Cache(job / "cache").frames_done()) == END
    finally:
        subprocess.run(["umount", str(job / "cache")], check=True)


def test_an_unwritable_folder_is_reported(tmp_path):
    job = box_job(tmp_path / "job", end=3)
    (job / "cache").write_text("a file stands here")
    code, events, _ = run("bake", job)
    assert code == 4 and events[0]["code"] == "cache_unwritable" and events[-1]["code"] == 4


@pytest.mark.parametrize("verb", ["bake", "check"])
def test_a_bad_scene_exits_2_with_the_path_of_the_field(tmp_path, verb):
    job = box_job(tmp_path / "job", end=3)
    change(job, "time.fps", 0)
    code, events, errors = run(verb, job)
    assert (code, errors) == (2, "") and events[0]["code"] == "bad_scene" and "`$.time.fps`" in events[0]["text"]
    code, events, _ = run(verb, tmp_path / "nothing")
    assert code == 2 and events[0]["code"] == "no_such_thing"


@pytest.mark.parametrize("arguments", [[], ["bake"], ["cook", "x"], ["bake", "x", "--frames", "b-a"],
                                       ["bake", "x", "--threads", "0"], ["bake", "x", "--threads", "-1"],
                                       ["bake", "x", "--cores-left-free", "-1"]])
def test_wrong_arguments_exit_2(arguments):
    with pytest.raises(SystemExit) as caught:
        cli.main(arguments)
    assert caught.value.code == 2


@pytest.mark.parametrize(("text", "frames"), [("1-72", (1, 72)), ("5", (5, 5)), ("-12-4", (-12, 4)),
                                              ("-12--4", (-12, -4)), ("-3", (-3, -3))])
def test_ranges_are_read(text, frames):
    assert cli._frames(text) == frames


def test_people_read_sentences(unbroken, tmp_path, capsys):
    job, _ = unbroken
    assert cli.main(["check", str(job)]) == 0
    assert "45 nodes, 96 tetrahedra" in capsys.readouterr().out
    assert cli.main(["info", str(job / "cache")]) == 0
    output = capsys.readouterr().out
    assert f"All {END} frames are baked" in output and 'Body "Ear": 45 vertices' in output
    assert cli.main(["info", str(tmp_path)]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and "there is no cache" in captured.err.lower()


def test_check_refuses_the_open_sheet_that_a_bake_refuses(tmp_path):
    job = surface_job(tmp_path)
    x, y = (axis.ravel() for axis in np.meshgrid(*[np.linspace(0, 1, 9)] * 2, indexing="ij"))
    first = np.arange(81).reshape(9, 9)[:8, :8].ravel()
    np.save(job / "arrays/vertices.npy", np.stack([x, y, 0.1 * np.sin(7 * x)], axis=1))
    np.save(job / "arrays/triangles.npy", np.concatenate(
        [np.stack([first, first + 9, first + 10], 1), np.stack([first, first + 10, first + 1], 1)]).astype(np.int32))
    code, events, _ = run("check", job)
    assert code == 2 and events[-2]["where"] == "$.bodies[0].mesher.params.sheet_thickness"
    assert '"Ear": the mesh is an open sheet that encloses no volume. Set its Sheet Thickness' in events[-2]["text"]
    change(job, "bodies.0.mesher", {"kind": "tetwild", "params": {"sheet_thickness": 0.05}})
    code, events, _ = run("check", job)
    assert code == 0 and "thickened to 0.05 m" in events[-2]["notes"][0]


def test_check_of_a_surface_needs_no_mesher(tmp_path):
    code, events, _ = run("check", surface_job(tmp_path))
    assert code == 0 and events[0]["event"] == "summary" and not events[0]["bodies"][0]["exact"]


def test_tets_are_made_once_and_stored_for_the_bake(tmp_path):
    """A surface that is a box, filled with a grid: 4 x 2 x 2 cells."""
    job = surface_job(tmp_path / "job")
    corners = np.array([[x, y, z] for x in (0, 0.2) for y in (0, 0.1) for z in (0, 0.1)])
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]
    np.save(job / "arrays/vertices.npy", corners)
    np.save(job / "arrays/triangles.npy", np.array(triangles, np.int32))
    change(job, "bodies.0.mesher", {"kind": "grid", "params": {"edge_length": 0.05}})
    for _ in range(2):
        code, events, errors = run("tets", job)
        assert code == 0, errors
        made = next(event for event in events if event["event"] == "tets")
        assert (made["body"], made["nodes"], made["tets"]) == ("Ear", 45, 96)
    with np.load(made["path"]) as stored:
        assert stored["nodes"].shape == (45, 3) and stored["tets"].shape == (96, 4)
    assert not any(event["event"] == "stage" for event in events)  # the second time they were there
    assert not (job / "cache").exists()

    code, events, errors = run("bake", job)
    assert code == 0 and not any(event.get("stage") == "tets" for event in events), errors
    assert np.abs(Cache(job / "cache").frame(1)["Ear"] - corners).max() < 1e-6


def test_a_defect_is_reported_as_one(tmp_path, monkeypatch, capsys):
    def broken(*_):
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("solver.job.estimate.estimate", broken)
    assert cli.main(["check", str(tmp_path), "--json"]) == 4
    captured = capsys.readouterr()
    assert "Traceback" in captured.err and "ZeroDivisionError" in json.loads(captured.out.splitlines()[0])["text"]


def test_no_memory_is_the_environment(tmp_path, monkeypatch, capsys):
    def large(*_):
        np.empty(1 << 60, dtype=np.uint8)

    monkeypatch.setattr("solver.job.estimate.estimate", large)
    assert cli.main(["check", str(tmp_path), "--json"]) == 4
    assert "not enough memory" in json.loads(capsys.readouterr().out.splitlines()[0])["text"]
