"""The mesher's process: whatever it does, we get a mesh or an error, in time, and nothing stays behind."""

import os
import queue
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import odd_meshers
import pytest
from matrix import some
from nasty_surfaces import slab
from small_jobs import surface_job

from solver.errors import BadMesh, Environment, MesherFailed, Stopped
from solver.meshing import child
from solver.meshing.accepted import Unusable, accept_mesh
from solver.meshing.child import ChildFailed, ChildTooSlow, run_mesher
from solver.meshing.grid import box_tets
from solver.meshing.surface import clean
from solver.meshing.tetrahedralize import _in_two_tries, _Time
from solver.meshing.volume import boundary_faces, face_parts, nonmanifold_edges, tet_volumes

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def box():
    nodes, tets = box_tets((3, 3, 3), (2.0, 1.0, 1.0))
    return clean(nodes, boundary_faces(tets)[0])


def run(mesher, box, seconds=60.0, report=lambda done, words: None, settings=None):
    return run_mesher(mesher, box.vertices, box.triangles, settings or {}, seconds,
                      lambda done, words, spent: report(done, words))


def alive(pid):
    try:
        os.kill(pid, 0)
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2][:3]
    except OSError:  # gone before the one or the other
        return False


def ends(pid, seconds=20.0):
    """Whether a killed process ends soon."""
    deadline = time.monotonic() + seconds
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not alive(pid)


def test_answer_comes_past_whatever_is_printed(box):
    reports = []
    nodes, tets = run(odd_meshers.Prints(), box, report=lambda done, words: reports.append((done, words)))
    assert tet_volumes(nodes, tets.astype(np.int32)).sum() == pytest.approx(0.25)
    assert (0.5, "half way there") in reports


def test_crash_is_reported_with_the_last_words(box):
    with pytest.raises(ChildFailed, match=r"crashed \(signal 6\): about to abort"):
        run(odd_meshers.Aborts(), box)
    with pytest.raises(ChildFailed, match="no such luck"):
        run(odd_meshers.Raises(), box)


def test_last_words_are_waited_for():
    """The answer's pipe may end first, as each has its own reader."""
    messages = queue.Queue()
    for message in (("answer-end", b""), ("print", b"first\nabout to abort"), ("print-end", b"")):
        messages.put(message)
    answer, printed = child._follow(odd_meshers.Prints(), messages, 60.0, lambda *message: None, lambda: 0.0)
    assert answer is None and child._last_output(-6, printed) == "it crashed (signal 6): about to abort"


@pytest.mark.parametrize("mesher", [odd_meshers.Hangs, odd_meshers.Clutches])
def test_hanging_mesher_is_killed_in_time(box, mesher):
    reports = []
    with pytest.raises(ChildTooSlow, match="within 1 s"):
        run(mesher(), box, seconds=1.0, report=lambda done, words: reports.append(words))
    assert ends(int(reports[-1].split()[1]))


def test_what_the_report_raises_stops_the_mesher(box):
    pids = []

    def stop(done, words):
        if words:
            pids.append(int(words.split()[1]))
            raise Stopped("stopped on request")

    with pytest.raises(Stopped):
        run(odd_meshers.Hangs(), box, report=stop)
    assert ends(pids[0])


@pytest.mark.parametrize("mesher", ["Hangs", "Clutches"])
def test_mesher_does_not_outlive_the_one_who_asked(tmp_path, mesher):
    script = tmp_path / "asker.py"
    script.write_text(
        f"import sys\nsys.path[:0] = {[str(ROOT), str(Path(__file__).parent)]!r}\n"
        "import numpy as np, odd_meshers\n"
        "from solver.meshing.child import run_mesher\n"
        "tell = lambda done, words, spent: words and print(words, flush=True)\n"
        f"run_mesher(odd_meshers.{mesher}(), np.zeros((3, 3)), np.zeros((1, 3), dtype=np.int32), {{}}, 600.0, tell)\n")
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as asker:
        pid = int(asker.stdout.readline().split()[1])
        asker.send_signal(signal.SIGKILL)
    assert ends(pid)


def descendants(pid):
    """All processes below one, as the system tells them."""
    try:
        tasks = [(task / "children").read_text() for task in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        return []
    below = [int(child) for listed in tasks for child in listed.split()]
    return below + [deeper for child in below for deeper in descendants(child)]


def runs_ftetwild(pid):
    try:
        return "PyfTetWildWrapper" in Path(f"/proc/{pid}/maps").read_text()
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs /proc")
def test_a_killed_worker_takes_fTetWild_with_it(tmp_path):
    """fTetWild works for minutes on a plate that is a thousand times wider than thick, in a real job."""
    job = surface_job(tmp_path)
    vertices, triangles = slab(1e-3, 20)
    np.save(job / "arrays/vertices.npy", vertices)
    np.save(job / "arrays/triangles.npy", triangles)
    with subprocess.Popen([sys.executable, "-m", "solver", "tets", str(job)], cwd=ROOT) as worker:
        deadline, below = time.monotonic() + 90.0, []
        while not any(runs_ftetwild(pid) for pid in below) and time.monotonic() < deadline:
            time.sleep(0.1)
            below = descendants(worker.pid)
        assert any(map(runs_ftetwild, below))
        time.sleep(1.0)  # it is in fTetWild by now, where no Python thread runs
        worker.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 30.0
    while any(map(alive, below)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(alive, below))


def test_odd_executable_falls_back_to_another_python(box, monkeypatch, tmp_path):
    shim = tmp_path / "python3.11"
    shim.write_text("#!/bin/sh\necho I am some other Python\n")
    shim.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(shim))
    assert child.python_commands()[0][0] == str(shim)
    assert len(run(odd_meshers.Prints(), box)[1]) == 48

    monkeypatch.setattr(child, "python_commands", lambda: [[str(shim)], [str(tmp_path / "nothing")]])
    with pytest.raises(Environment, match="No Python was found"):
        run(odd_meshers.Prints(), box)


def two_tries(mesher, box, settings=None, seconds=60.0):
    return _in_two_tries(mesher, "Odd", box, settings or {}, lambda done, words: None, _Time(seconds, 100, True))


def test_second_try_has_other_settings_and_is_reported(box):
    volume = two_tries(odd_meshers.AbortsOnce(), box)
    assert tet_volumes(volume.nodes, volume.tets).sum() == pytest.approx(2.0)
    assert volume.notes == ("Odd was run twice, since at first it crashed (signal 6)",)


def test_two_crashes_or_two_hangs_are_refused(box):
    with pytest.raises(MesherFailed, match="Odd could not mesh it: it crashed"):
        two_tries(odd_meshers.Aborts(), box)
    with pytest.raises(MesherFailed, match="did not finish within 1 s"):
        two_tries(odd_meshers.Hangs(), box, seconds=1.0)


NONSENSE = {"none": "no tetrahedra", "nan": "not numbers", "far": "outside of the object's box", "flat": "flat",
            "indices": "do not exist", "little": "times of what the surface encloses",
            "outside": "is inside the surface"}


@pytest.mark.parametrize("what", NONSENSE)
def test_nonsense_is_not_accepted(box, what):
    with pytest.raises(Unusable, match=NONSENSE[what]):
        accept_mesh(*odd_meshers.Nonsense().mesh(box.vertices, box.triangles, {"what": what}), box)


@pytest.mark.parametrize("what", some(NONSENSE, "nan"))
def test_nonsense_is_refused_though_the_mesher_says_success(box, what):
    with pytest.raises(BadMesh, match=NONSENSE[what]):
        two_tries(odd_meshers.Nonsense(), box, {"what": what})


def test_what_does_not_belong_is_left_out(box):
    volume = two_tries(odd_meshers.Surplus(), box)
    assert tet_volumes(volume.nodes, volume.tets).sum() == pytest.approx(2.0) and face_parts(volume.tets)[0] == 1
    assert np.array_equal(np.unique(volume.tets), np.arange(len(volume.nodes))) and volume.notes == ()


def test_a_part_that_touches_itself_comes_apart_and_a_hinge_is_reported(box):
    ring = two_tries(odd_meshers.Pinched(), box)
    assert nonmanifold_edges(boundary_faces(ring.tets)[0]) == 0 and ring.notes == ()
    hinged = two_tries(odd_meshers.Hinged(), box)
    assert face_parts(hinged.tets)[0] == 2 and "are connected by an edge" in hinged.notes[-1]
