"""Draw benchmarks.lively for docs/integrators.md: a picture for each scene, and the settings on its Pareto front.

A picture shows cost over preserved motion, one colour a setting, one marker a step, and the front. Settings that gain
far more energy than there was are at the upper edge, with their number.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[1] / "docs"
BEGIN, END = "<!-- written by benchmarks.lively -->", "<!-- up to here -->"
MORE = 1.0  #: nothing counts as better than all that there was
HIGHEST = 1.6  #: share kept that a picture shows
MARKERS = {24: "o", 48: "s", 96: "^", 120: "P", 192: "D"}  #: of steps a second
TABLE_STEPS = 48  #: steps a second of the table, those of new soft bodies
Point = tuple[float, float, str, int]  #: cost, share kept, setting, steps a second


def points(rows: list[dict[str, Any]]) -> list[Point]:
    """Return the rows that came to their end."""
    return [(row["cpu_s_s"], row["kept"], row["setting"], row["steps_a_second"]) for row in rows if "kept" in row]


def front(among: list[Point]) -> list[Point]:
    """Points beside which nothing keeps as much for less, the cheapest first; who has more than the truth is as far
    from it as who has as much less, and who is further off than what keeps nothing is on no front."""
    out: list[Point] = []
    for point in sorted(among):
        if _worth(point) >= 0.0 and (not out or _worth(point) > _worth(out[-1])):
            out.append(point)
    return out


def written(page: str, scenes: dict[str, str], found: dict[str, dict[str, Any]]) -> str:
    """docs/integrators.md with what was found between its two marks. scenes: what each one is."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    lines = [BEGIN, "", *(line for name, caption in scenes.items()
                          if points([*found.get(name, {}).values()])
                          for line in (*_shown(name, caption, found[name]), "")),
             *at_one_step({name: rows for name, rows in found.items() if name in scenes}), "", END]
    return before + "\n".join(lines) + after


def at_one_step(found: dict[str, dict[str, Any]], steps: int = TABLE_STEPS) -> list[str]:
    """A table of what is kept and for how much at one step, of the first scene and those that its settings were tried
    on."""
    rows = {name: {row["setting"]: row for row in mine.values() if row["steps_a_second"] == steps}
            for name, mine in found.items()}
    shown = [name for name, mine in rows.items() if mine.keys() & next(iter(rows.values())).keys()]
    settings = list(dict.fromkeys(setting for name in shown for setting in rows[name]))
    lines = [f"At 1/{steps} s, share kept and processor seconds for a second:", "",
             "| | " + " | ".join(shown) + " |", "| --- |" + " --- |" * len(shown)]
    return lines + [f"| {setting} | " + " | ".join(_cell(rows[name].get(setting)) for name in shown) + " |"
                    for setting in settings]


def _cell(row: dict[str, Any] | None) -> str:
    if row is None:
        return ""
    return f"{row['kept']:.2f}, {row['cpu_s_s']:.2g}" if "kept" in row else "did not come to its end"


def _shown(name: str, caption: str, rows: dict[str, Any]) -> list[str]:
    best = front(points([*rows.values()]))
    text = "; ".join(f"{setting} at 1/{steps} s ({retained:.2f} for {cost:.2g} s/s)"
                     for cost, retained, setting, steps in best)
    failed = sorted({f"{row['setting']} at 1/{row['steps_a_second']} s" for row in rows.values() if "failed" in row})
    return [f"![{caption}: processor seconds for a second of motion against what is kept](lively_{name}.png)", "",
            f"**{caption}.** On the front, the cheapest first: {text}."
            + (f" Did not come to their end: {', '.join(failed)}." if failed else "") + _wobbles(rows)]


def _wobbles(rows: dict[str, Any]) -> str:
    """Draw the share of a wobble that settings keep at one step, where that is seen."""
    wobbles = [(row["setting"], row["wobble"]) for row in rows.values()
            if "wobble" in row and row["steps_a_second"] == TABLE_STEPS]
    text = "; ".join(f"{setting} {retained:.2f}" for setting, retained in wobbles)
    return f" Of its wobble near the top of the bounce, at 1/{TABLE_STEPS} s: {text}." if wobbles else ""


def _worth(point: Point) -> float:
    return MORE - abs(point[1] - MORE)


def draw(name: str, what: str, rows: list[dict[str, Any]], bold: str, settings: list[str]) -> None:
    """docs/lively_NAME.png; bold: the setting of new bodies. settings: all there are, each with its colour."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    found = points(rows)
    best = front(found)
    figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
    axes.plot([p[0] for p in best], [p[1] for p in best], color="0.8", linewidth=7, zorder=0, label="the front",
              solid_capstyle="round")
    top = max(1.15, min(HIGHEST, 0.1 + max(p[1] for p in found)))
    for label in dict.fromkeys(p[2] for p in found):
        colour, mine = f"C{settings.index(label)}", [p for p in found if p[2] == label]
        axes.plot([p[0] for p in mine if p[1] <= top], [p[1] for p in mine if p[1] <= top], label=label, color=colour,
                  linewidth=2.5 if label == bold else 1.2)
        for cost, retained, _, steps in mine:
            axes.plot(cost, min(retained, top), MARKERS[steps], color=colour, markersize=6, markeredgecolor="white",
                      markeredgewidth=0.5, clip_on=False)
            if retained > top:
                axes.annotate(f"{retained:.1f}", (cost, top), fontsize=8, xytext=(6, -10), textcoords="offset points")
    for steps in sorted({p[3] for p in found}):
        axes.plot([], [], MARKERS[steps], color="0.4", label=f"steps of 1/{steps} s")
    axes.set_xscale("log")
    axes.set_xlabel("processor seconds for a second of motion")
    axes.set_ylabel(what)
    axes.set_ylim(-0.08, top)
    axes.axhline(1.0, color="0.85", linewidth=0.8, zorder=0)
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    figure.legend(fontsize=8, loc="outside lower center", ncols=3)
    figure.savefig(DOCS / f"lively_{name}.png", dpi=110)
    plt.close(figure)
