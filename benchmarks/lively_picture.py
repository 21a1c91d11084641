"""Cost against what is kept, one line a setting, each step a point; the front is drawn and its points are named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[1] / "docs"
MORE = 1.0  #: nothing counts as better than all that there was
Point = tuple[float, float, str, int]  #: cost, share kept, setting, steps a second


def points(rows: list[dict[str, Any]]) -> list[Point]:
    """Those rows that came to their end."""
    return [(row["cpu_s_s"], row["kept"], row["setting"], row["steps_a_second"]) for row in rows if "kept" in row]


def front(among: list[Point]) -> list[Point]:
    """Points beside which nothing keeps as much for less, the cheapest first; who has more than the truth is as far
    from it as who has as much less."""
    out: list[Point] = []
    for point in sorted(among):
        if not out or _worth(point) > _worth(out[-1]):
            out.append(point)
    return out


def _worth(point: Point) -> float:
    return MORE - abs(point[1] - MORE)


def draw(name: str, what: str, rows: list[dict[str, Any]], bold: str) -> None:
    """docs/lively_NAME.png; bold: the setting of new bodies."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    found = points(rows)
    best = front(found)
    figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
    axes.plot([p[0] for p in best], [p[1] for p in best], color="0.8", linewidth=7, zorder=0, label="the front",
              solid_capstyle="round")
    for label in dict.fromkeys(p[2] for p in found):
        mine = [p for p in found if p[2] == label]
        axes.plot([p[0] for p in mine], [p[1] for p in mine], "o-", label=label,
                  linewidth=2.5 if label == bold else 1.2)
        for cost, share, _, steps in mine:
            axes.annotate(f"1/{steps}", (cost, share), fontsize=7, xytext=(0, 5 if label == bold else -10),
                          textcoords="offset points", ha="center")
    axes.set_xscale("log")
    axes.set_xlabel("processor seconds for a second of motion")
    axes.set_ylabel(what)
    axes.set_ylim(-0.08, max(1.15, min(1.6, 0.1 + max(p[1] for p in found))))
    axes.axhline(1.0, color="0.85", linewidth=0.8, zorder=0)
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    figure.legend(fontsize=8, loc="outside lower center", ncols=2)
    figure.savefig(DOCS / f"lively_{name}.png", dpi=110)
    plt.close(figure)
