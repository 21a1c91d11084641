"""Draws how TWIST's bar swings on once its end is back: height and turn of its middle, by the number of dynamic nodes.

    python -m benchmarks.scenes.twist_picture
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from solver import threads  # isort: skip  # first: it sets what numba reads

import numpy as np

from benchmarks.scenes import twist
from benchmarks.scenes.scene import Scene

PICTURE = Path(__file__).resolve().parents[2] / "docs" / "gallery" / "twist_swing.png"
H, SECONDS = 5e-3, 1.0  #: a step, and how long it is watched
COUNTS = {1: "#f2b134", 4: "#e5642f", 32: "#b01e59", 0: "#222222"}  #: dynamic nodes, none for Vanilla; colour


def swing(scene: Scene, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Height [m] and turn about the axis [rad] of the middle slice after each step."""
    world = scene.world("conjac", count, beta=0.5) if count else scene.world("vanilla", beta=0.5)
    middle = np.flatnonzero(np.abs(scene.nodes[:, 0] - 0.5 * twist.CELLS[0] * twist.EDGE) < 1e-9)
    before = scene.nodes[middle, 1:]
    state, seen = scene.start(world), []
    for i in range(round((scene.release_time + SECONDS) / H)):
        state = replace(world.step(state, H), time=(i + 1) * H)
        after = world.coordinates.positions(state.q, state.time)[middle, 1:]
        around = after - after.mean(axis=0)
        cross = before[:, 0] * around[:, 1] - before[:, 1] * around[:, 0]
        seen.append((after[:, 1].mean(), np.arctan2(cross.sum(), (before * around).sum())))
    height, turn = np.array(seen).T
    return height, np.unwrap(turn)


def main() -> None:
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot

    threads.configure(None)
    scene = twist.scene()
    figure, (high, turned) = pyplot.subplots(1, 2, figsize=(9.0, 2.8), layout="constrained")
    for count, colour in COUNTS.items():
        height, turn = swing(scene, count)
        times = H * np.arange(1, len(height) + 1) - scene.release_time
        name = f"{count} dynamic node{'s' * (count > 1)}" if count else "Vanilla"
        high.plot(times, 1e3 * height, color=colour, linewidth=1.2, label=name)
        turned.plot(times, np.degrees(turn), color=colour, linewidth=1.2, label=name)
    high.set(xlabel="seconds after the end is back", ylabel="height of the middle, mm",
             xlim=(-scene.release_time, SECONDS))
    turned.set(xlabel="seconds after the end is back", ylabel="turn of the middle, degrees",
               xlim=(-scene.release_time, SECONDS))
    turned.legend(frameon=False, fontsize="small")
    figure.savefig(PICTURE, dpi=90)


if __name__ == "__main__":
    main()
