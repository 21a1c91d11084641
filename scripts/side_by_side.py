"""Compare the time of steps of two worktrees, in turns, so that load on the machine slows both equally.

    python scripts/side_by_side.py BEFORE AFTER [NAME …]

Each worktree has its own process with the steps of some benchmark scenes; both take turns from one state, by processor
time on one thread. Prints for each scene, as JSON, the ratio of the medians, AFTER over BEFORE, and whether both end
in the same bytes.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

FEWEST, MOST = 8, 40  #: turns of each side after one that warms
SECONDS = 6.0  #: of one side's turns, after which there are no more than the fewest
Turn = Callable[[], bytes]  #: steps from a state, to the bytes of the last one's coordinates


def stepping(world: Any, h: float, steps: int, forget: bool = True) -> Turn:
    """Return a function that takes `steps` steps of length h [s] from the start of a world or part."""
    start = world.initial_state()

    def turn() -> bytes:
        state = start
        if forget:
            world.forget_past()
        for _ in range(steps):
            state = world.step(state, h)
        return bytes(state.q.tobytes())

    return turn


def grid(method: str, count: int) -> Turn:
    """Return a function that takes steps of the grid of the benchmark `step`."""
    from benchmarks import step
    from solver.meshing.grid import box_tets

    nodes, tets = box_tets((17, 17, 31), (0.17, 0.17, 0.31))
    return stepping(step.make(nodes, tets, method, step.spread(nodes, count)), step.H, 4)


def touching(make: str, steps: int, *given: Any) -> Turn:
    """Return a function that takes steps of a scene of the benchmark `contact`. make: function of `scenes.touching`."""
    from benchmarks.scenes import touching as scenes

    folder = Path(tempfile.mkdtemp(prefix="conjac-beside-"))
    return stepping(getattr(scenes, make)(folder / "job", *given), 1 / 96, steps)


def hinges(count: int, steps: int) -> Turn:
    """Return a function that takes steps of a chain of `count` hinges of the benchmark `articulated`."""
    from benchmarks.chains import Ours

    chain = Ours(count, "hinge")

    def turn() -> bytes:
        chain.restart()
        for _ in range(steps):
            chain.step()
        return bytes(chain.state.q.tobytes())

    return turn


def bearings(law: str, links: int, steps: int) -> Turn:
    """Return a function that takes steps of a chain with friction in its joints of the benchmark `articulated`."""
    from benchmarks.scenes import chain

    return stepping(chain.world(links=links, law={"kind": law}), 1.0 / (chain.FPS * chain.STEPS), steps)


def walker(steps: int) -> Turn:
    """Return a function that takes steps of the walker of the benchmark `articulated.klann`."""
    from benchmarks.scenes import klann
    from solver.build.mechanisms import build_mechanisms
    from solver.job.load import load

    folder = Path(tempfile.mkdtemp(prefix="conjac-beside-")) / "job"
    klann.job(folder, 0.4)
    return stepping(build_mechanisms(load(folder)), 0.01, steps, forget=False)


def bar(name: str, steps: int) -> Turn:
    """Return a function that takes steps of the bar of the benchmark `newton`. name: of the stage solver there."""
    from benchmarks import newton

    world = newton.bar()
    world.stage_solver = newton.stage_solver(name)
    return stepping(world, newton.H, steps)


def sharp() -> Turn:
    """Return a function that takes steps of the cloth of the benchmark `sharp_cloth` while it slides."""
    from benchmarks import sharp_cloth

    steps, start = sharp_cloth.scene(14, True, sharp_cloth.box())
    for k in range(sharp_cloth.WARM):
        start = steps.step(start, k * sharp_cloth.H, sharp_cloth.H)

    def turn() -> bytes:
        cloth = start
        for k in range(8):
            cloth = steps.step(cloth, (sharp_cloth.WARM + k) * sharp_cloth.H, sharp_cloth.H)
        return bytes(cloth.mesh.x.tobytes())

    return turn


def bars(count: int) -> Turn:
    """Return a function that takes steps of the scene of the benchmark `bodies` with `count` bodies."""
    from benchmarks import bodies
    from solver.build.world import build
    from solver.job.load import load

    folder = Path(tempfile.mkdtemp(prefix="conjac-beside-")) / "job"
    bodies.write(folder, count)
    return stepping(build(load(folder), lambda *_: None)[0], bodies.H, 6)


SCENES: dict[str, Callable[[], Turn]] = {
    "step vanilla": lambda: grid("vanilla", 0), "step conjac 10": lambda: grid("conjac", 10),
    "contact balls": lambda: touching("balls_in_a_box", 4, 10, 4, 1 / 96),
    "contact bowl": lambda: touching("ten_jellies", 24, 4, 1 / 96),
    "contact block": lambda: touching("resting_block", 8, (12, 12, 4), 1 / 96, True),
    "articulated 10 hinges": lambda: hinges(10, 12000), "articulated 1000 hinges": lambda: hinges(1000, 400),
    "articulated bisp": lambda: bearings("bisp", 10, 400),
    "articulated staggered": lambda: bearings("staggered", 4, 40), "articulated klann": lambda: walker(60),
    "newton qlb": lambda: bar("qlb", 4), "newton quick": lambda: bar("quick", 4), "sharp_cloth": sharp,
    "bodies": lambda: bars(4),
}


def serve() -> None:
    """Print, for each name on standard input, the seconds of a turn and a digest of its end state, or the failure."""
    import hashlib

    from solver import threads

    threads.configure(1)
    made: dict[str, Turn] = {}
    for line in sys.stdin:
        name = line.strip()
        if name not in made:
            made[name] = SCENES[name]()
        began = time.process_time()
        end = made[name]()
        spent = time.process_time() - began
        print(json.dumps([spent, hashlib.sha256(end).hexdigest()]), flush=True)


def main(before: str, after: str, names: list[str]) -> None:
    """Print the comparison of each scene as JSON. before, after: worktrees. names: scenes; all if empty."""
    sides = [subprocess.Popen([sys.executable, str(Path(__file__).resolve()), "--serve"], cwd=tree, text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": tree})
             for tree in (before, after)]
    for name in names or SCENES:
        spent: list[list[float]] = [[], []]
        ends: list[set[str]] = [set(), set()]
        for turn in range(MOST + 1):
            if turn > FEWEST and sum(spent[0]) > SECONDS:
                break
            for k in (0, 1) if turn % 2 else (1, 0):
                stdin, stdout = sides[k].stdin, sides[k].stdout
                assert stdin is not None and stdout is not None
                print(name, file=stdin, flush=True)
                seconds, end = json.loads(stdout.readline())
                ends[k].add(end)
                spent[k] += [seconds] if turn else []
        pairs = [later / earlier for earlier, later in zip(*spent)]
        print(json.dumps({"scene": name, "before_s": round(statistics.median(spent[0]), 4),
                          "ratio": round(statistics.median(pairs), 4),
                          "least": round(min(spent[1]) / min(spent[0]), 4),
                          "same": ends[0] == ends[1]}), flush=True)
    for side in sides:
        side.terminate()


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        serve()
    else:
        main(*(str(Path(tree).resolve()) for tree in sys.argv[1:3]), sys.argv[3:])
