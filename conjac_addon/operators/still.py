"""Runs the solver's process for an operator: the object at the start frame, in a job that is deleted afterwards."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import bpy
import numpy as np
from numpy.typing import NDArray

from ...solver.errors import ConJacError, Environment
from ...solver.job.arrays import read_npy
from ...solver.job.files import create, open_regular
from .. import copies, gather
from ..bake import kernels, place
from ..bake.progress import Progress, after, line
from ..bake.worker import Worker
from .on_worker import Doing

#: tetrahedra among the results that a job folder keeps
TETS = "*_tets_*.npz"


@contextmanager
def still_job(obj: bpy.types.Object) -> Iterator[Path]:
    """A folder for a job of the object, gone afterwards. Tetrahedra that the object has are in it, and new ones stay.

    Raises Environment where they cannot be kept.
    """
    name, stages = obj.name, place.own_folder(obj) / "stages"
    with tempfile.TemporaryDirectory(prefix="conjac_preview_", dir=bpy.app.tempdir) as temporary:
        job = Path(temporary)
        own = job / "stages"
        bring_tets(stages, own)
        yield job
        try:
            for path in own.glob(TETS):
                if not (stages / path.name).exists():
                    stages.mkdir(parents=True, exist_ok=True)
                    shutil.move(path, stages / path.name)
        except OSError as error:
            raise Environment(f"its tetrahedra cannot be stored in {stages} ({error})",
                              "Choose another cache folder or make room on the disk", name) from error


def bring_tets(stages: Path, own: Path) -> None:
    """Tetrahedra of one folder of stages in another one, which is made."""
    own.mkdir()
    for path in stages.glob(TETS):
        with suppress(OSError), open_regular(path, stages.parent) as stored:  # what a stranger left may be anything
            _bring(path, stored, own / path.name)


def _bring(path: Path, stored: BinaryIO, target: Path) -> None:
    """One file into the temporary folder; linked where the disk can."""
    try:
        os.link(path, target)
    except OSError:  # another disk, or one without links
        with create(target) as made:
            shutil.copyfileobj(stored, made)


def run(obj: bpy.types.Object, scene: bpy.types.Scene, job: Path, argv: list[str], wait: float,
        moves: bool = False) -> Doing[dict[str, Any]]:
    """Gather the object at the start frame and run a command of the solver on it; yields progress texts. argv: the
    command and its options. moves: gather all frames and everything baked with it. Returns the message with the
    command's own name, or its summary. Raises as gathering does, Environment, or the solver's error.
    """
    name, command = obj.name, argv[0]
    copies.own_handles(obj)
    notes: list[str] = []
    with closing(gather.write_job_steps(obj, scene, job, notes.append, still=not moves,
                                             lets_in=lambda: True)) as reading:
        for _, text in reading:
            yield text
    worker = Worker("solver", [command, str(job), *argv[1:], "--json"], env=kernels.environment())
    made, failure, progress = None, None, Progress()
    try:
        while not worker.ended():
            for message in worker.messages(wait):
                if message["event"] in (command, "summary"):
                    made = message
                elif message["event"] == "error":
                    failure = message
                elif message["event"] == "stage":
                    progress = after(progress, message)
            # in the foreground every new text is a line of its own
            yield progress.text if wait else line(progress)
    finally:
        if worker.exit_code is None:
            worker.stop()
    if failure is not None:
        raise _SolverRefusal(failure["text"], failure["exit"])
    if made is None:
        raise Environment(f"the solver's process ended unexpectedly (exit code {worker.exit_code})",
                          "See the console and try again", name)
    return made | {"gathered": notes}


class _SolverRefusal(ConJacError):
    """Refusal of the solver, in its own words."""

    def __init__(self, text: str, exit_code: int) -> None:
        super().__init__(text)
        self.exit_code = exit_code

    def __str__(self) -> str:
        return self.what


def to_object(job: Path) -> NDArray[np.float64]:
    """Return world [m] → object space at the start frame, (4, 4). Raises Environment if the folder does not have it."""
    try:
        with open_regular(job / "scene.json") as stream:
            path = json.loads(stream.read())["bodies"][0]["surface"].get("to_object")
        if path is None:
            return np.eye(4)
        matrix = read_npy(job / path, job)[0]
        if matrix.shape != (4, 4) or matrix.dtype.kind != "f":
            raise ValueError(f"{path} holds no matrices")
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise Environment(f"the data read from the scene is missing from {job} ({error})", "Try again") from error
    return matrix
