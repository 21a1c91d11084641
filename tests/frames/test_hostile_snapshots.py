"""Resuming from a forged snapshot or record of cuts whose digest fits ends with a sentence, soon."""

import io
import shutil
import sys
from pathlib import Path

import forked_command
import numpy as np
import pytest
from matrix import some
from small_jobs import box_job, change

from solver.frames.layout import CUTS, SNAPSHOT, file_of
from solver.frames.read import Cache
from solver.job.files import digest_of

#: where the small scenes of cuts and of cloth are
sys.path[:0] = [str(Path(__file__).parents[1] / folder) for folder in ("reshape", "cloth")]

MEMORY, SECONDS = 2 << 30, 120.0


def bdf2(folder):
    return box_job(folder, end=12, integrator={"kind": "bdf2"}, method={"kind": "vanilla"})


def conjac(folder):
    return box_job(folder, end=12, integrator={"kind": "semi_implicit"},
                   method={"kind": "conjac", "params": {"adaptive": True}})


def contact(folder):
    return box_job(folder, end=12, motion=False, integrator={"kind": "backward_euler"}, method={"kind": "vanilla"},
                   contact={})


def cut(folder):
    from cut_jobs import PLANE, bar_job

    return bar_job(folder, {"frame": 6, **PLANE}, end=12)


def mechanism(folder):
    from mechanisms import double_pendulum, mechanism_job

    return mechanism_job(folder, *double_pendulum(), end=5, integrator="leapfrog")


def sharp(folder):
    from test_sharp_cloth_among import hung

    return hung(folder, 1.0, end=12)


JOBS = {make.__name__: make for make in (bdf2, conjac, contact, cut, mechanism, sharp)}


def odd(values):
    """Return (description, array or None where it is left out) of all that may replace an array."""
    yield "gone", None
    yield "scalar", np.float64(1.0)
    yield "empty", values[:0] if values.ndim else np.zeros(0)
    yield "deeper", values[None]
    yield "text", np.array(["x"] * 3)
    yield "complex", values.astype(complex) if values.dtype.kind in "fiub" else None
    if values.ndim:
        yield "longer", np.concatenate([values, values[:1]])
        yield "shorter", values[:-1]
    numbers = {"f": (np.nan, np.inf, 1e300, -1e18), "i": (-1, -2**30, 2**30, 10**6)}.get(values.dtype.kind, ())
    for number in numbers if values.size else ():
        changed = values.copy()
        changed.flat[0] = number
        yield str(number), changed
    if values.dtype.kind in "fi":
        yield "single", values.astype(np.float32 if values.dtype.kind == "f" else np.int64)


def write_sealed(cache, kind, frame, arrays):
    """Put arrays into a file and its size, digest and time into the log: nothing reveals that it was changed."""
    buffer, path = io.BytesIO(), file_of(cache, kind, frame)
    np.savez(buffer, **arrays)
    path.write_bytes(buffer.getvalue())
    lines = [line.split() for line in (cache / "written.log").read_text().splitlines()]
    for line in lines:
        if line[0] == kind and int(line[1]) == frame:
            line[2:] = [str(len(buffer.getvalue())), digest_of(buffer.getvalue()), str(path.stat().st_mtime_ns)]
    (cache / "written.log").write_text("".join(" ".join(line) + "\n" for line in lines))


@pytest.fixture(scope="session")
def baked(shared):
    """Return a function that gives a folder with the named job and its whole cache, made once in a run."""
    import fcntl

    def of(name):
        folder = shared / f"hostile-{name}"
        with open(shared / f"hostile-{name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (folder / "cache" / "manifest.json").exists():
                JOBS[name](folder)
                change(folder, "time.snapshot_every", 2 if name == "mechanism" else 10)
                code, _, errors = forked_command.run("bake", folder)
                assert code == 0, errors
        return folder

    return of


def resumed(job, arrays, kind, frame, key, changed):
    """Return the exit code and both outputs of a resume where one array of a file was replaced."""
    others = {name: values for name, values in arrays.items() if name not in (key, "checksum")}
    write_sealed(job / "cache", kind, frame, others if changed is None else others | {key: changed})
    last = Cache(job / "cache").frames[-1]
    for later in range(frame + 1, last + 1):
        for path in (job / "cache").glob(f"*/{later:06d}.*"):
            if kind != CUTS or path.parent.name == "frames":
                path.unlink()
    return forked_command.run("bake", job, "--resume", memory=MEMORY, seconds=SECONDS)


def look(tmp_path, whole, some):
    """Change arrays one after the other; `some` picks them by their number."""
    log = Cache(whole / "cache").log
    files = [(SNAPSHOT, max(frame for kind, frame in log if kind == SNAPSHOT)),
             *sorted((kind, frame) for kind, frame in log if kind == CUTS)[:1]]
    number = 0
    for kind, frame in files:
        with np.load(file_of(whole / "cache", kind, frame)) as stored:
            arrays = dict(stored)
        for key in [key for key in arrays if key != "checksum"]:
            for what, changed in odd(arrays[key]):
                number += 1
                if not some(number):
                    continue
                job = tmp_path / "job"
                shutil.rmtree(job, ignore_errors=True)
                shutil.copytree(whole, job)
                code, output, errors = resumed(job, arrays, kind, frame, key, changed)
                description = f"{kind} {frame}: {key} {what}: exit {code}: {errors}"
                assert code in (0, 2, 3, 4) and "Traceback" not in output + errors, description
                assert "ConJac failed" not in output + errors and len(errors.splitlines()) <= 1, description


@pytest.mark.parametrize("name", some(JOBS, "bdf2", "conjac", "contact", "mechanism"))
def test_some_changes_of_a_snapshot_are_answered_with_a_sentence(tmp_path, baked, name):
    every = 82 if name == "sharp" else 41  # cloth with sharp edges takes seconds to load, each time
    look(tmp_path, baked(name), lambda number: number % every == 5)


@pytest.mark.long
@pytest.mark.parametrize("name", JOBS)
def test_every_change_of_a_snapshot_is_answered_with_a_sentence(tmp_path, baked, name):
    look(tmp_path, baked(name), lambda number: True)
