"""Figure 7 of Ascher's paper: a soft box flies past the edge of a table, with each contact law.

    python -m benchmarks.scenes.past_an_edge        # writes docs/past_an_edge.png

Its lower left edge starts right above the table's, flies at 45 degrees and so meets nothing on its way: where it would
be after any time is known. [Ascher 28]
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from solver import catalogue
from solver.state import State
from solver.world.nodes import Nodes

from .touching import box_tets, made

PICTURE = Path(__file__).resolve().parents[2] / "docs" / "past_an_edge.png"
SIZE, CELLS = 0.2, 2  #: of the box [m]
DISTANCE = 0.008  #: how near surfaces are that are looked at [m]
HEIGHT = 0.5 * DISTANCE  #: of the box above the table: what a gap is kept open by [m]
SPEED = 2.0  #: to the right, and down [m/s]
SECONDS = 1.0 / 24.0
LAWS = ("barrier", "gap", "gap_velocity")
TABLE = ((-1.0, -0.5, -0.5), (0.0, 0.5, 0.0))  #: corners [m]
SIDES = np.array([(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)])


def flown(law: str, step: float) -> tuple[Nodes, State]:
    """The box after SECONDS in steps of so many seconds: it as a world, and its state."""
    nodes, tets = box_tets((CELLS, CELLS, CELLS), (SIZE, SIZE, SIZE))
    corners = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)])
    table = np.take_along_axis(np.array(TABLE), corners, axis=0)
    triangles = np.concatenate([SIDES[:, [0, 1, 2]], SIDES[:, [0, 2, 3]]])
    params = {"distance": DISTANCE} | ({"friction_coefficient": 0.0} if law == "barrier" else {})
    with tempfile.TemporaryDirectory() as folder:
        part = made(Path(folder) / "job", {"Box": (nodes + [0.0, -0.5 * SIZE, HEIGHT], tets, 2.0e4)},
                    {"Table": (table, triangles)}, step, params, law, gravity=[0.0, 0.0, 0.0],
                    integrator={"kind": "backward_euler"}, stage_solver={"kind": "newton_d"})
    start = part.initial_state()
    state = State(0.0, start.q, np.tile([SPEED, 0.0, -SPEED], len(nodes)))
    for _ in range(round(SECONDS / step)):
        state = part.step(state, step)
    return part, state


def edge(part: Nodes, state: State) -> np.ndarray:
    """Return the middle of the box's lower left edge, relative to its place without a table, (3,) [m]."""
    x = part.coordinates.positions(state.q, state.time)[: (CELLS + 1) ** 3]
    rest = part.rest[: len(x)]
    left_below = (rest[:, 0] < 1e-9) & (rest[:, 2] < HEIGHT + 1e-9)
    there: np.ndarray = (x - rest)[left_below].mean(axis=0) - state.time * np.array([SPEED, 0.0, -SPEED])
    return there


def draw() -> None:
    """Side views after one step, after eight, and where the box began."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(10.5, 4.3), sharey=True, layout="constrained")
    for law, axis in zip(LAWS, axes, strict=True):
        axis.fill([-0.16, 0.0, 0.0, -0.16], [-0.11, -0.11, 0.0, 0.0], color="0.72")
        for step, colour in ((SECONDS, "tab:red"), (SECONDS / 8, "tab:blue")):
            part, state = flown(law, step)
            x = part.coordinates.positions(state.q, state.time)
            outline = _outline(part)
            if colour == "tab:red":
                axis.plot(*part.rest[outline][:, [0, 2]].T, color="0.4", linestyle=":", label="at the start")
                axis.plot(*(part.rest[outline] + SECONDS * SPEED * np.array([1.0, 0.0, -1.0]))[:, [0, 2]].T,
                          color="0.4", linewidth=4.0, alpha=0.35, label="as if there were no table")
            axis.plot(*x[outline][:, [0, 2]].T, color=colour, label=f"after {round(SECONDS / step)} "
                      f"step{'s' if step < SECONDS else ''} of 1/{round(1 / step)} s")
        axis.set_title(catalogue.find("contact", law).label)
        axis.set_aspect("equal")
        axis.set_xlim(-0.17, 0.33)
        axis.set_ylim(-0.13, 0.24)
        axis.set_xlabel("m")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    figure.savefig(PICTURE, dpi=110)


def _outline(part: Nodes) -> np.ndarray:
    """Nodes around the box in its front plane, the first one again last."""
    rest = part.rest[: (CELLS + 1) ** 3] - [0.0, 0.0, HEIGHT]
    front = np.flatnonzero(np.isclose(rest[:, 1], -0.5 * SIZE))
    side = rest[front][:, [0, 2]] / SIZE - 0.5
    rim = np.abs(side).max(axis=1) > 0.49
    front, side = front[rim], side[rim]
    around = front[np.argsort(np.arctan2(side[:, 1], side[:, 0]))]
    return np.append(around, around[0])


if __name__ == "__main__":
    draw()
    print(PICTURE)
