"""Small systems in which tuned constants of a farm's tasks steer; see `tuned_units`."""

import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from solver.errors import BadInput
from solver.farm import diary, islands, looks, picture, standing, template, wedge
from solver.frames.layout import FRAME, Written
from solver.job.schema import Body

NOW = 1.0e9  #: [s]


def messages_that_are_written():
    """The last message in a job folder after one at first, and another one so many seconds later."""
    found, later = [], []
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(diary, "time", SimpleNamespace(time=lambda: NOW + later[-1]))
        for seconds in (0.5, 10.0):
            writer = diary.Diary(Path(folder))
            for after, text in ((0.0, "first"), (seconds, "second")):
                later.append(after)
                writer.note(text)
            found.append(diary.read(Path(folder)).text)
    return found


def messages_that_are_read():
    """Numbers of letters of messages of 300 letters and of a million."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for letters in (300, 1_000_000):
            diary.Diary(Path(folder)).note("x" * letters, "failed")
            found.append(len(diary.read(Path(folder)).text))
    return found


def bodies_that_are_baked_separately():
    """Numbers of islands of two boxes of 1 m with so many meters between them in a draft."""
    found = []
    for gap in (0.2, 3.0):
        boxes = {name: np.array([[at, 0.0, 0.0], [at + 1.0, 1.0, 1.0]]) for name, at in (("A", 0.0), ("B", 1.0 + gap))}
        bodies = [Body(name=name) for name in boxes]
        job = SimpleNamespace(frames=range(1, 3), scene=SimpleNamespace(bodies=bodies, mechanisms=(), joins=lambda: ()))
        draft = SimpleNamespace(vertices=lambda frame, boxes=boxes: boxes)
        with pytest.MonkeyPatch.context() as patch:
            for name in ("load", "Cache", "InWorld"):
                patch.setattr(islands, name, lambda *_, draft=draft: draft)
            found.append(len(islands.find(job, Path("draft"))))
    return found


def columns_of_a_picture():
    """Numbers of columns of a picture with two and a thousand rows, of 250 frames."""
    return [len(looks.frames_shown(range(250), 200, rows)) for rows in (2, 1000)]


def triangles_that_are_drawn_whole():
    """Whether right triangles whose legs have so many pixels are drawn without gaps."""
    found = []
    for size in (30, 400):
        [(_, points)] = picture._fill_triangles(np.array([[[0.0, 0.0, 0.0], [size, 0.0, 0.0], [0.0, size, 0.0]]]))
        columns = points[0, points[0, :, 1] < 1.0, 0].astype(int)
        found.append(len(np.unique(columns[columns < size])) == size)
    return found


def frames_that_a_time_is_estimated_from():
    """Median time of the last frames [s]: of 100 of 1 s, 15 of 2 s and 4 of 9 s."""
    at, entries = 0.0, {}
    for frame, seconds in enumerate([0.0, *[1.0] * 100, *[2.0] * 15, *[9.0] * 4]):
        at += seconds
        entries[FRAME, frame] = Written(FRAME, frame, 0, "", int(at * 1e9))
    return standing.seconds_a_frame(SimpleNamespace(log=entries))


def _shot():
    return template.template(template.Shot("shot", 1, ((1, 9),), 1000.0, 2))


def grace_of_a_task():
    """Whether a task that is cancelled has time for a slow frame, and no more than OpenJD allows."""
    [seconds] = {step["script"]["actions"]["onRun"]["cancelation"]["notifyPeriodInSeconds"]
                 for step in _shot()["steps"]}
    return seconds >= 30, seconds <= 600


def memory_of_a_task():
    """Whether a worker has more memory than an estimate of 1 GB, and less than four times as much."""
    mebibytes = _shot()["steps"][0]["hostRequirements"]["amounts"][1]["min"]
    return mebibytes * 2**20 > 1.2e9, mebibytes * 2**20 < 4e9


def tables_that_are_read():
    """Whether tables of settings of so many bytes are refused as too large."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        path.write_text("gravity.2=-5\n" * 9)
        for size in (None, 65 << 20):
            if size:
                with path.open("r+b") as stream:
                    stream.truncate(size)
            try:
                found.append(len(wedge.read_rows(path)))
            except BadInput as error:
                found.append("MB" in error.what)
    return found


UNITS = (
    messages_that_are_written, messages_that_are_read, bodies_that_are_baked_separately, columns_of_a_picture,
    triangles_that_are_drawn_whole, frames_that_a_time_is_estimated_from, grace_of_a_task, memory_of_a_task,
    tables_that_are_read)
