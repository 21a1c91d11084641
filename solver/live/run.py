"""Live loop: reads inputs from Blender, takes the steps that are due, and writes positions of bodies for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import catalogue
from ..errors import ConJacError
from ..job.load import load
from .board import CONTROL, FRAME, HALTED, PLAYED, RECORDED, Board
from .bumps import Bump, shapes_of
from .clock import Clock
from .engines.interface import Engine, Hold, Inputs, Report
from .pace import Timekeeper
from .recording import Recording

LONGEST_WAIT = 0.05  #: seconds after which Blender is listened to, whatever is due
SHOWN = 1.0 / 100.0  #: seconds of computing after which what is done is shown, whatever else is due: no redraw lacks it
Stop = Callable[[], bool]
Say = Callable[[str], None]
OnSaved = Callable[[Path, int], None]


def engine_key(key: str, path: Path) -> str:
    """Return the catalogue key of the engine for a job folder: `key`, or where it is "" the first engine that can play
    the whole scene, or the last engine where none can. Raises a ConJacError where the folder cannot be read."""
    if key:
        return key
    scene, entries = load(path).scene, catalogue.menu("live_engine")
    return next((name for name, entry in entries.items() if entry.load().plays(scene)), list(entries)[-1])


def engine_of(key: str, path: Path, report: Report) -> Engine:
    """Return a new engine for a job folder. key: in the catalogue; "": the engine of `engine_key`.
    report: receives progress. Raises a ConJacError where the key is unknown or the engine cannot play the job."""
    made: Engine = catalogue.find("live_engine", engine_key(key, path)).load()(load(path), report)
    return made


class Live:
    """Live loop of one engine. `update` processes inputs and takes the steps that are due; `run` repeats it."""

    def __init__(self, path: Path, engine: Engine, board: Board, clock: Clock, say: Say = lambda text: None,
                 on_saved: OnSaved = lambda path, frames: None) -> None:
        """path: of the job folder, which is read again when settings change. board: memory shared with Blender. say: is
        called with sentences for the artist. on_saved: is called with the file and number of frames of a recording."""
        self._path, self._engine, self._board, self._clock, self._say = path, engine, board, clock, say
        time = load(path).scene.time
        self._pace, self._fps, self._snapshots = Timekeeper(engine.efforts), time.fps, time.snapshot_every
        self._shapes = shapes_of(path)
        self._inputs: Inputs | None = None  #: None before the first record: no steps are taken
        self._on_saved, self._recorded = on_saved, 0
        self._recording: Recording | None = None
        self._settings = self._read = 0  #: number of the settings that act, and of the last that were read
        self._running = True
        self._time, self._last = 0.0, clock.now()

    def run(self, stop: Stop) -> None:
        """Repeat `update` until `stop` returns true."""
        while not stop():
            self.update()
            self._clock.wait(min(self._pace.until_due, LONGEST_WAIT))

    def update(self) -> None:
        """Read inputs, take the steps that are due, and write the positions of bodies after the last one."""
        record = self._board.read_control()
        if record is not None:
            self._listen(record[0][0], record[1])
        now = self._clock.now()
        passed, self._last = now - self._last, now
        if self._inputs is None or not self._running:
            return
        self._pace.pass_time(passed)
        moved = False
        while self._pace.is_due and self._clock.now() - now < SHOWN:
            started_at = self._clock.now()
            h = self._pace.step
            self._engine.step(self._pace.effort, self._inputs)
            self._inputs = self._inputs.end_step()
            self._time += h
            self._pace.took(self._clock.now() - started_at)
            if self._recording is not None:
                self._recording.add(self._time, self._engine.positions, self._engine.poses, self._engine.grabbed)
                if self._recording.is_at_snapshot(self._snapshots):
                    self._engine.forget_past()  # as a bake will
            moved = True
        if moved:
            self._show()

    def _listen(self, record: NDArray[Any], pinned: NDArray[np.float64]) -> None:
        """Read inputs and settings from a record. pinned: positions of vertices that bones move, (s, 3) [m]."""
        grabs = tuple(Hold(int(grab["id"]), grab["start"].copy(), grab["target"].copy(), float(grab["radius"]),
                           float(grab["strength"]), int(grab["rigid"]) - 1) for grab in record["grabs"] if grab["id"])
        first = self._inputs is None
        ground = record["ground"].copy() if record["ground"][1].any() else None
        records = enumerate(zip(self._shapes, record["bumps"]))
        bumps = tuple(Bump(shape, matrix.copy(), k) for k, (shape, matrix) in records
                      if matrix[3, 3])
        inputs = Inputs(record["gravity"].copy(), record["carriers"].copy(), grabs, ground, bumps, pinned)
        self._inputs = inputs if self._inputs is None else inputs.coming_from(self._inputs)
        self._running = bool(record["run"] != HALTED)
        self._record(bool(record["run"] == RECORDED))
        if first:
            self._settings = self._read = int(record["settings"])
            self._last = self._clock.now()
        elif int(record["settings"]) != self._read:
            self._read = int(record["settings"])  # one that fails is not tried again
            try:
                self._engine.change(load(self._path))
            except ConJacError as error:
                self._say(str(error))
            else:
                self._settings, self._pace = self._read, Timekeeper(self._engine.efforts)
            self._last = self._clock.now()  # the time spent here is not made up for

    def _record(self, on: bool) -> None:
        """Start recording where `on` becomes true, and save the recording where it becomes false."""
        if on and self._recording is None:
            self._recording = Recording(self._fps)
            self._recording.add(self._time, self._engine.positions, self._engine.poses)
        elif not on and self._recording is not None:
            self._recorded += 1
            path = self._path / f"performed_{self._recorded}.npz"
            self._recording.save(path)
            self._on_saved(path, self._recording.frames)
            self._recording = None

    def _show(self) -> None:
        """Write positions of bodies to the board, and send new notes to the artist."""
        frame = np.zeros(1, FRAME)
        pace = self._pace
        frame["time"], frame["pace"], frame["cost"], frame["step"] = self._time, pace.shown_rate, pace.cost, pace.step
        frame["effort"], frame["settings"], frame["restarts"] = pace.effort, self._settings, self._engine.restarts
        self._board.show(frame, self._engine.positions, self._engine.poses)
        for note in self._engine.take_notes():
            self._say(note)


def control(gravity: NDArray[np.float64], carriers: NDArray[np.float64] | None = None, settings: int = 0,
            grabs: tuple[Hold, ...] = (), run: int = PLAYED) -> NDArray[Any]:
    """Return a record of CONTROL, (1,), to play without Blender.

    gravity: (3,) [m/s²]. carriers: motion of the objects of the first bodies, (b, 4, 4) [m], or of the first one,
    (4, 4). settings: number of changes of scene.json. run: HALTED, PLAYED or RECORDED.
    """
    record = np.zeros(1, CONTROL)
    record["settings"], record["run"], record["gravity"], record["carriers"] = settings, run, gravity, np.eye(4)
    if carriers is not None:
        record["carriers"][0, :len(carriers.reshape(-1, 4, 4))] = carriers
    for entry, grab in zip(record["grabs"][0], grabs):
        entry["id"], entry["start"], entry["target"] = grab.id, grab.start, grab.target
        entry["radius"], entry["strength"], entry["rigid"] = grab.radius, grab.strength, grab.rigid + 1
    return record
