"""Jobs of soft cubes far apart, and bakes of them beside earlier ones."""

from pathlib import Path

import pytest
from small_jobs import change
from touching import box, contact_job, hollow, obstacle, sheet, soft

from solver.errors import Stopped
from solver.frames.read import Cache
from solver.simulate import bake

FAR = 30.0  #: [m]
END = 10


def jelly(name, x, z=0.1, size=0.3, **more):
    """A soft cube of a cell above the ground, whose least corner is there."""
    return lambda arrays: soft(name, *box((1, 1, 1), (size,) * 3, (x, -0.12, z)), arrays, **{"modulus": 1e4, **more})


LEFT, MIDDLE, RIGHT = jelly("Left", -FAR), jelly("Middle", 0.0, z=0.05), jelly("Right", FAR, z=0.15)
#: falls 42 cm onto the one in the middle, from farther off than both are large
ABOVE = jelly("Above", 0.05, z=0.77, size=0.2)
BALL = {"name": "Ball", "position": [2.0 * FAR, 0.0, 0.6], "density": 1000.0,
        "shape": {"kind": "sphere", "params": {"radius": 0.1}}}


def job(folder, *bodies, floor=True, tables=(), **scene):
    """tables: functions that add an obstacle's arrays, of obstacles before the floor."""
    arrays = {}
    made = [body(arrays) for body in bodies]
    below = [table(arrays) for table in tables]
    below += [obstacle("Floor", *sheet(4.0 * FAR, 3), arrays)] if floor else []
    folder = contact_job(folder, made, below, arrays, end=END, **scene)
    change(folder, "time.snapshot_every", 4)
    return folder


class Log:
    """A reporter that keeps the sentences of the log and how often a frame was reported."""

    def __init__(self):
        self.lines, self.frames = [], []

    def log(self, text):
        self.lines.append(text)

    def stage(self, *_):
        pass

    def start(self, *_):
        pass

    def frame(self, frame, *_):
        self.frames.append(frame)

    def has(self, words):
        return any(words in line for line in self.lines)


def files(folder):
    """The bytes of every file of a cache that two equal bakes have alike, by its name."""
    cache = folder / "cache"
    return {path.relative_to(cache).as_posix(): path.read_bytes() for path in sorted(cache.rglob("*"))
            if path.is_file() and path.name not in ("manifest.json", "written.log")}


def baked(folder):
    """The folder of a job, once it is baked."""
    bake(folder, Log())
    return folder


def alike(tmp_path, before, after):
    """The log of a bake beside an earlier one, which has the bytes of a bake of all. before: writes the earlier job, or
    its folder where it is baked. after: writes the other one."""
    old = before if isinstance(before, Path) else baked(before(tmp_path / "old"))
    whole, beside = baked(after(tmp_path / "whole")), after(tmp_path / "beside")
    log = Log()
    bake(beside, log, reuse=old)
    one, other = files(whole), files(beside)
    assert one.keys() == other.keys()
    assert [name for name in one if one[name] != other[name]] == []
    assert Cache(whole / "cache").bodies() == Cache(beside / "cache").bodies()
    assert log.frames[-1] == END
    return log


def stopped_at(folder, frame):
    """Bake a job until a frame."""
    log = Log()
    with pytest.raises(Stopped):
        bake(folder, log, stop=lambda: log.frames[-1:] == [frame])


def table(at, **more):
    """A closed box as an obstacle, 20 cm high, whose least corner is `at` this place along the row of bodies."""
    return lambda arrays: obstacle("Table", *hollow(0.2, (at, -0.1, 0.01)), arrays, **more)
