"""Draws HETERO's outline: where it is wider or narrower than it was, in balance, by height; into docs/gallery.

    python -m benchmarks.scenes.picture

Vanilla's balance and where ConJac comes to rest, one on the other.
"""

from __future__ import annotations

from pathlib import Path

from solver import threads  # isort: skip  # first: it sets what numba reads

import numpy as np

from benchmarks.scenes import hetero
from benchmarks.scenes.scene import Scene, at_rest, in_balance

PICTURE = Path(__file__).resolve().parents[2] / "docs" / "gallery" / "hetero_rest.png"


def widths(scene: Scene, x: np.ndarray) -> np.ndarray:
    """Width of each row of nodes over what it was, from the bottom, (rows,)."""
    rows = np.round(scene.nodes[:, 2] / hetero.EDGE).astype(int)
    return np.array([np.ptp(x[rows == row, 0]) / np.ptp(scene.nodes[rows == row, 0]) for row in range(rows.max() + 1)])


def main() -> None:
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot

    threads.configure(None)
    scene = hetero.scene()
    vanilla = in_balance(scene.world("vanilla"), scene.nodes.copy())
    conjac = at_rest(scene)
    figure, axes = pyplot.subplots(figsize=(5, 6))
    heights = 1e3 * hetero.EDGE * np.arange(hetero.CELLS[2] + 1)
    bottom = 0
    for k, cells in enumerate(hetero.LAYERS):
        top = bottom + cells
        axes.axhspan(1e3 * hetero.EDGE * bottom, 1e3 * hetero.EDGE * top, color="#26588c" if k % 2 == 0 else "#e8913a",
                     alpha=0.25, label=("stiff", "soft")[k] if k < 2 else None)
        bottom = top
    axes.plot(100 * (widths(scene, vanilla) - 1), heights, "k-", linewidth=2, label="Vanilla, in balance")
    axes.plot(100 * (widths(scene, conjac) - 1), heights, "o", markersize=4, color="crimson",
              label="ConJac with one node, at rest")
    axes.set(xlabel="wider than before [%]", ylabel="height before [mm]", title="HETERO: layers under their own weight")
    axes.legend(loc="lower right", fontsize="small")
    figure.tight_layout()
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=90)


if __name__ == "__main__":
    main()
