"""Draws MUSCLE: both arms at four moments, muscle coloured by activation, into docs/gallery.

    python -m benchmarks.scenes.muscle_picture
"""

from __future__ import annotations

from pathlib import Path

from solver import threads  # isort: skip  # first: it sets what numba reads

import numpy as np

from benchmarks.scenes import muscle
from solver.meshing.volume import boundary_faces

PICTURE = Path(__file__).resolve().parents[2] / "docs" / "gallery" / "muscle_activation.png"
MOMENTS = (0.0, 0.4, 0.7, 3.0)  #: [s]
H = 1.0 / 100.0


def frames(arm: muscle.Arm) -> list[tuple[float, np.ndarray, np.ndarray]]:
    """Activation, positions of the muscle (n, 3) and poses of the bones (2, 4, 4) at each of the moments."""
    world = arm.world(beta=0.5)
    state, found, rises = world.initial_state(), [], arm.activation()
    for k in range(round(MOMENTS[-1] / H) + 1):
        if any(abs(k * H - moment) < 1e-9 for moment in MOMENTS):
            soft, flesh = world.split_state(state)[0], world.parts[0]
            active = rises[min(round(k * H * muscle.FPS * muscle.SAMPLES), len(rises) - 1)]
            found.append((float(active), flesh.coordinates.positions(soft.q, soft.time), world.poses(state)["pose"]))
        state = world.step(state, H)
    return found


def main() -> None:
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.collections import PolyCollection

    threads.configure(None)
    figure, rows = pyplot.subplots(2, len(MOMENTS), figsize=(10, 6.4), sharex="row", sharey="row")
    for axes_of, arm in zip(rows, (muscle.flat(), muscle.solid())):
        faces = boundary_faces(arm.muscle.tets)[0]
        for axes, moment, (active, x, poses) in zip(axes_of, MOMENTS, frames(arm)):
            for body, pose in zip(arm.mechanism["bodies"], poses):
                size = body["shape"]["params"]
                ends = pose[:3, 3] + np.outer([-0.5, 0.5], size["length"] * pose[:3, 2])
                axes.plot(1e3 * ends[:, 0], 1e3 * ends[:, 2], color="#b8b0a0", linewidth=7, solid_capstyle="round",
                          zorder=1)
            # faces that look at us, from the far ones to the near ones
            order = np.argsort(-x[faces][:, :, 1].mean(axis=1))
            seen = 1e3 * x[faces[order]][:, :, [0, 2]]
            tint = pyplot.get_cmap("YlOrRd")(0.25 + 0.55 * active)
            axes.add_collection(PolyCollection(seen, facecolor=tint, edgecolor=(0.3, 0.1, 0.1, 0.35), linewidth=0.3,
                                               zorder=2))
            node = x[arm.muscle.middle]
            axes.plot(1e3 * node[0], 1e3 * node[2], "o", color="#2a9d3a", markersize=5, zorder=3)
            axes.set_aspect("equal")
            axes.set_title(f"{moment:g} s, activation {active:.2f}", fontsize=9)
            axes.tick_params(labelsize=7)
    rows[0, 0].set_ylabel("flat, two hinges [mm]", fontsize=8)
    rows[1, 0].set_ylabel("solid, one hinge [mm]", fontsize=8)
    figure.tight_layout()
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=80)


if __name__ == "__main__":
    main()
