"""Scenes of `benchmarks.cores`: the world, the start state of measurements, and the number of steps of each.

    python -m benchmarks.cores_scenes      rebuilds the cached scenes in build/cores: jobs written by Blender, and the
                                           heap, in which jellies lie on each other; a missing one is built at its
                                           first use

`bowl`, `edge`, `cloak`, `muscle`, `ragdoll` are the examples of examples_blend; `dragon` and `rest` the dragon with all
settings of a new body, right after its release and at rest; `heap`, `mat` and `balls` those of `scenes.touching`;
`drape` a sheet of 10,201 vertices that lands on a box; `million` a bar of 1.03 million tetrahedra, which *Automatic*
solves by multigrid.
"""

from __future__ import annotations

import pickle
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from solver import threads  # isort: skip  # first: it sets what numba and BLAS read

import numpy as np

from benchmarks.scenes import touching
from solver.build.world import build
from solver.job.load import load
from solver.simulate import Timeline, advance, advance_frame
from solver.state import State

ROOT = Path(__file__).resolve().parent.parent
STORE = ROOT / "build" / "cores"
HEAP = STORE / "heap.pickle"
DEFAULT_STEP = 1 / 48
RESTED = 96  #: steps until the dragon's largest wobbles are over
FALLEN, SPEED = 40, 1.5  #: steps of 1/96 s until jellies lie on each other, [m/s] at which they begin
#: frames of the examples: before those that are measured, and of these
EXAMPLES = {"bowl": (8, 4), "edge": (6, 2), "cloak": (3, 2), "muscle": (6, 6), "ragdoll": (6, 6)}
LANDED = 10  #: steps of 1/96 s until the sheet lies on the box


@dataclass(frozen=True)
class Measured:
    """A scene to be measured: its start state, and a function `run` that advances a state."""

    nodes: int
    start: State
    seconds: float  #: simulated by `run`
    run: Callable[[State], State]
    forget: Callable[[], None]  #: deletes the data of earlier steps that the world caches


def _steps(part: Any, state: State, h: float, steps: int) -> Measured:
    def run(state: State) -> State:
        for _ in range(steps):
            state = advance(part, state, h, 1)
        return state

    return Measured(len(part.coordinates.free), state, steps * h, run, part.forget_past)


def lead_in(part: Any, state: State, h: float, steps: int) -> State:
    for _ in range(steps):
        state = advance(part, state, h, 1)
    return state


def dragon(_: Path, rest: bool = False) -> Measured:
    from benchmarks.scenes import dragon as scenes

    scene = scenes.scene()
    part = scene.world("vanilla", integrator="sdirk2", stage_solver={"kind": "quick"})
    state = lead_in(part, scene.start(part), DEFAULT_STEP, RESTED if rest else 1)
    return _steps(part, state, DEFAULT_STEP, 6)


def mat(folder: Path) -> Measured:
    part = touching.folded_mat(folder, 1 / 96, True)
    state = part.initial_state()
    upper = part.coordinates.positions(state.q, 0.0)[part.coordinates.free, 2] > 0.0
    state.u.reshape(-1, 3)[upper, 2] -= 0.2
    return _steps(part, lead_in(part, state, 1 / 96, 1), 1 / 96, 6)


def balls(folder: Path) -> Measured:
    part = touching.balls_in_a_box(folder, 100, 4, 1 / 96)
    return _steps(part, lead_in(part, part.initial_state(), 1 / 96, 1), 1 / 96, 6)


def heap(folder: Path) -> Measured:
    if not HEAP.exists():
        pile_up()
    part = touching.ten_jellies(folder, 12, 1 / 96)
    state: State = pickle.loads(HEAP.read_bytes())
    return _steps(part, state, 1 / 96, 3)


def drape(folder: Path) -> Measured:
    from benchmarks import cloth

    part = cloth.world(folder, 100, (cloth.BOX, np.array(cloth.SIDES, np.int32)))
    return _steps(part, lead_in(part, part.initial_state(), cloth.H, LANDED), cloth.H, 3)


def million(_: Path) -> Measured:
    from benchmarks import scale

    part, _ = scale.make(35, "vanilla", "auto", 0.45)
    return _steps(part, lead_in(part, part.initial_state(), scale.H, 1), scale.H, 4)


def example(folder: Path, name: str) -> Measured:
    """Return the scene of a job that Blender wrote. name: of an example in EXAMPLES."""
    shutil.copytree(_job_of(name), folder, dirs_exist_ok=True)
    job = load(folder)
    world = build(job, lambda *_: None)[0]
    timeline, (lead_in_frames, count) = Timeline.of(job.scene.time), EXAMPLES[name]
    first = timeline.start + 1
    state = replace(world.initial_state(), time=0.0)
    for frame in range(first, first + lead_in_frames):
        state = advance_frame(world, state, timeline, frame)

    def run(state: State) -> State:
        for frame in range(first + lead_in_frames, first + lead_in_frames + count):
            state = advance_frame(world, state, timeline, frame)
        return state

    nodes = len(state.q) // 3 + sum(len(sheet.x) for sheet in world.sheets(state, first).values())
    return Measured(nodes, state, count / timeline.fps, run, world.forget_past)


SCENES: dict[str, Callable[[Path], Measured]] = {
    "dragon": dragon, "rest": lambda folder: dragon(folder, True), "heap": heap, "mat": mat, "balls": balls,
    "drape": drape, "million": million,
    **{name: lambda folder, name=name: example(folder, name) for name in EXAMPLES}}  # type: ignore[misc]


def made(name: str) -> Measured:
    """Return a scene at its start state, whose cached data are built if they are missing."""
    with tempfile.TemporaryDirectory() as folder:
        return SCENES[name](Path(folder) / "job")


def _job_of(name: str) -> Path:
    jobs = "conjac_cache/*/scene.json"
    if not any((STORE / name).glob(jobs)):
        _gather_apart(name)
    return next((STORE / name).glob(jobs)).parent


def _gather_apart(name: str) -> None:
    """Gather an example in a separate process, so that Blender is not loaded in the one that measures."""
    subprocess.run([sys.executable, "-m", "benchmarks.cores_scenes", name], cwd=ROOT, check=True)


def gather(name: str) -> None:
    """Write the job of an example with Blender, which bakes its first frame too."""
    import importlib

    import bpy

    from examples_blend import addon
    from examples_blend.build import FOLDER

    addon.load().register()
    folder = STORE / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copyfile(FOLDER / f"{name}.blend", folder / f"{name}.blend")
    bpy.ops.wm.open_mainfile(filepath=str(folder / f"{name}.blend"))
    importlib.import_module("conjac.conjac_addon.bake.cli").run(["bake", "--frames", "1-1"])


def pile_up() -> None:
    """Simulate the fall of jellies onto each other and store the state of their heap."""
    threads.configure(None)
    with tempfile.TemporaryDirectory() as folder:
        part = touching.ten_jellies(Path(folder) / "job", 12, 1 / 96)
        state = part.initial_state()
        state.u.reshape(-1, 3)[:, 2] = -SPEED
        STORE.mkdir(parents=True, exist_ok=True)
        HEAP.write_bytes(pickle.dumps(lead_in(part, state, 1 / 96, FALLEN)))


def main() -> None:
    if len(sys.argv) > 1:
        gather(sys.argv[1])
        return
    for name in EXAMPLES:
        _gather_apart(name)
    pile_up()


if __name__ == "__main__":
    main()
