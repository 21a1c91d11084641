"""Small systems in which tuned constants of the cache folder steer; see `tuned_units`."""

import json
import os
import tempfile
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from solver.errors import CacheBusy
from solver.frames import beside, lock
from solver.frames.files import CacheFiles
from solver.frames.layout import FRAME, NEEDLES, Written, file_of
from solver.frames.origins import Origins
from solver.frames.restored import check_state
from solver.frames.swept import Swept
from solver.reshape.boxes import Boxes
from solver.state import State

NOW = 1.0e9  #: [s]


class Clock:
    """Stands for the module `time`: it goes on where somebody sleeps, and calls a function at a given moment."""

    def __init__(self, at=np.inf, event=None):
        self.now, self._at, self._event = NOW, at, event

    def time(self):
        return self.now

    monotonic = time

    def sleep(self, seconds):
        self.now += seconds
        if self.now - NOW > self._at:
            self._at = np.inf
            self._event()


def waits(module, solve, at=np.inf, event=None):
    """Return the result of `solve`, or its error, and how long it waits [s]."""
    clock = Clock(at, event)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "time", clock)
        try:
            found = solve()
        except (CacheBusy, PermissionError) as error:
            found = type(error).__name__
    return found, clock.now - NOW


def files_in_doubt():
    """Whether two frames with a later time than when they were written, which no line of the log has, are taken for
    good: a first one of 70 MB and a small one."""
    with tempfile.TemporaryDirectory() as folder:
        files, found = CacheFiles(folder), []
        for frame, size in ((1, 70 << 20), (2, 1000)):
            path = file_of(Path(folder), FRAME, frame)
            path.parent.mkdir(exist_ok=True)
            with path.open("wb") as stream:
                stream.truncate(size)
            found.append(files.is_intact(Written(FRAME, frame, size, "0" * 40, 1)))
        return found


def _locked(folder, age=0.0, **holder):
    """A folder with a lock that was last written so long ago [s]; empty without a holder."""
    path = Path(folder) / lock.LOCK
    path.write_text(json.dumps(asdict(lock.this_process()) | holder) if holder else "")
    os.utime(path, (NOW - age,) * 2)
    return path.parent


def _busy(*ages, **holder):
    with tempfile.TemporaryDirectory() as folder:
        return [waits(lock, lambda age=age: lock.busy(_locked(folder, age, **holder)))[0] for age in ages]


def empty_locks():
    """Whether an empty lock of that age is one that is being written."""
    return _busy(3.0, 100.0)


def silence_of_another_machine():
    """Whether a process of another machine lives that was silent for a minute, and for an hour."""
    return _busy(60.0, 3600.0, host="farm-7", machine="other")


def silence_before_a_reboot():
    """Whether a process of this machine's last boot lives that was silent for 15 s, and for 100 s."""
    return _busy(15.0, 100.0, machine="other")


def beats_that_are_awaited():
    """Whether the lock of a machine with another clock is alive whose time changes after 8 s; whether one is that never
    changes, and whether that is known within a minute."""
    found = []
    for at in (8.0, np.inf):
        with tempfile.TemporaryDirectory() as folder:
            _locked(folder, 1e6, host="farm-7", machine="other")
            found.append(waits(lock, lambda folder=folder: lock._is_beating(Path(folder)), at,
                               lambda folder=folder: os.utime(Path(folder) / lock.LOCK, (NOW, NOW))))
    return found[0][0], found[1][0], found[1][1] < 60.0


def turns_that_are_awaited():
    """Whether a turn that another process has is given up, after more than a second and less than 30 s."""
    def both(folder):
        with lock._turn(Path(folder)):
            pass

    with tempfile.TemporaryDirectory() as folder, lock._turn(Path(folder)):
        found, seconds = waits(lock, lambda: both(folder))
    return found, seconds > 1.0, seconds < 30.0


def long_locks():
    """Whether holders are known whose names have so many letters."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for letters in (10, 20_000):
            found += [lock.holder(_locked(folder, host="x" * letters)) is not None]
    return found


def edges_that_are_reported():
    """Whether edges that are so many times as long as at rest are reported."""
    with tempfile.TemporaryDirectory() as folder:
        path = file_of(Path(folder), NEEDLES, 1)
        path.parent.mkdir()
        found = []
        for times in (2.0, 9.0):
            np.save(path, np.array([times], np.float32))
            found.append(len(beside.needles(Path(folder), [1], ["Ear"])))
        return found


def _origins(away):
    """Origins of a body of about 1 m that is so far from zero [m]."""
    points = np.array([[0.0, 0.0, 0.0], [0.6, 0.6, 0.6]]) + [away, 0.0, 0.0]
    body = SimpleNamespace(name="Ear", surface=None, tets=SimpleNamespace(nodes="nodes"))
    job = SimpleNamespace(scene=SimpleNamespace(bodies=[body]), array=lambda name: points)
    return Origins(job)


def bodies_far_from_zero():
    """Whether the frames of a body have an origin that begins so far away [m]."""
    return [bool(_origins(away).of["Ear"].any()) for away in (20.0, 2000.0)]


def bodies_that_fly_away():
    """Number of messages on a body that flew so far [m]."""
    return [len(_origins(0.0).imprecise([("Ear", 0, 1)], np.array([[away, 0.0, 0.0]]), 5)) for away in (200.0, 2e4)]


def _is_refused(late=0.0, q=0.0, u=0.0, memory=0.0):
    try:
        check_state(State(1.0 + late, np.array([q]), np.array([u]), {"past": np.array([memory])}), 1.0, 1.0)
    except ValueError:
        return True
    return False


def snapshots_that_are_refused():
    """Snapshots with coordinates, rates and histories of such a size, and times that are off by such parts of a
    frame."""
    return [[_is_refused(**{name: value}) for value in values]
            for name, values in (("q", (1e6, 1e15)), ("u", (1e6, 1e15)), ("memory", (1e20, 1e60)),
                                 ("late", (1e-8, 1e-2)))]


def obstacles_beside_a_path():
    """Whether an obstacle may change a body's motion that stays so many of its sizes away."""
    boxes = Boxes(np.array([0]), np.zeros((1, 3)), np.ones((1, 3)))
    record = {"token": boxes.token, "low": boxes.low, "high": boxes.high, "size": np.ones(1), "thickness": np.zeros(1)}
    swept = Swept.through([record, record])
    high = np.array([9.0, 1.0, 1.0])
    return [bool(swept.find_near_bodies(np.array([1.0 + away, 0.0, 0.0]), high)) for away in (0.3, 4.0)]


UNITS = (
    files_in_doubt, empty_locks, silence_of_another_machine, silence_before_a_reboot, beats_that_are_awaited,
    turns_that_are_awaited, long_locks, edges_that_are_reported, bodies_far_from_zero,
    bodies_that_fly_away, snapshots_that_are_refused, obstacles_beside_a_path)
