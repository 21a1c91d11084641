"""The README's table of numbers, from the latest rows of the benchmarks.

`benchmarks.run --write` puts it there beside docs/benchmarks.md. A claim without a row that can be traced to a commit
and a machine is named below the table and has no number in it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from scripts import marked

README = Path(__file__).resolve().parent.parent / "README.md"
MARKS = "<!-- numbers: written by benchmarks/front_page.py -->", "<!-- end of numbers -->"
HEAD = ["| | here | goal | paper |", "| --- | --- | --- | --- |"]


class Line(NamedTuple):
    """A row of the table: what a reader calls it, and the claim that says it."""

    words: str
    benchmark: str  #: as `benchmarks.run` calls it, with its part
    claim: str
    unit: str = ""  #: behind the number


LINES = (
    Line("Share of the wobble left by *Wobble Half-Life* that a new soft body keeps, worst shape", "half_life_band",
         "visible_new_body"),
    Line("The same with *Wobble Half-Life* off, worst scene", "lively", "visible_default"),
    Line("Its cost relative to the cheapest setting that keeps half, at its time step, worst scene", "lively",
         "default_over_cheapest_half", "times"),
    Line("Share of the wobble that its dynamic nodes can represent that ConJac keeps", "lively", "conjac_over_exact"),
    Line("*Wobble Half-Life*, largest relative error, slowest wobble", "half_life", "half_life_error"),
    Line("The same for all wobbles of 0.5 to 12 Hz, at time steps of 1/24 to 1/192 "
         "s", "half_life_band", "half_life_band"),
    Line("Longest edge of a dropped body, relative to solved stages", "impacts", "drop_stretch", "times"),
    Line("Depth that a dropped body sinks at rest, relative to its height", "impacts", "drop_sink"),
    Line("Share of its drop height that a hinge loses in 4 s", "swing", "hinge_loss"),
    Line("Contact's share of a step, 2,000 pairs", "contact.share", "contact_share"),
    Line("A mat of 20,000 faces that folds onto itself, relative to one without "
         "contact", "contact.self", "self_contact",
         "times"),
    Line("10 to 100 bodies in a box, exponent of the cost", "contact.ducks", "ducks_exponent"),
    Line("A frame of ten jellies in a bowl", "contact.bowl", "bowl_frame_s", "s"),
    Line("Cloth with *Sharp Edges*, 1,700 faces, without self-collision, a step", "sharp_cloth", "edge_ms", "ms"),
    Line("Such cloth, 200 faces", "sharp_cloth", "lo_res_ms", "ms"),
    Line("EDGE as artists bake it, cloth with self-collision, a step", "sharp_scenes",
         "edge_scene_ms", "ms"),
    Line("Gap between such cloth and its edge", "sharp_variants.edge", "edge_gap_eol", "m"),
    Line("A step of full FEM", "step", "vanilla_ms", "ms"),
    Line("A step of ConJac relative to it, 4 dynamic nodes", "step", "conjac_over_vanilla_nd4", "times"),
    Line("A step of ConJac relative to it, 10 dynamic nodes", "step", "conjac_over_vanilla_nd10", "times"),
    Line("Forces and stiffness, of that step", "step", "fill_ms", "ms"),
    Line("Factor of an 18×18×32 grid, share of dgemm's speed", "step", "grid_factor_over_dgemm"),
    Line("Peak memory of the worker", "step", "peak_memory_mb", "MB"),
    Line("ConJac relative to full FEM, both with solved SDIRK2", "coupled", "conjac_over_vanilla_sdirk2", "times"),
    Line("NEWTON-D relative to our best stage solver, bar of 51,744 "
         "tetrahedra", "newton", "newton_d_over_best", "times"),
    Line("1 to 16 bodies of 2,000 nodes, exponent of the cost", "bodies", "bodies_exponent"),
    Line("A step of 1.03 million tetrahedra, full FEM", "scale.million", "vanilla_s_1m", "s"),
    Line("Such a step with ConJac", "scale.million", "conjac_s_1m", "s"),
    Line("Two threads relative to one, worst of five scenes above 4,000 "
         "nodes", "cores.large", "cores_two", "times as fast"),
    Line("Eight cores relative to one, predicted from the serial fraction, worst of four", "cores.large", "cores_eight",
         "times as fast"),
    Line("Two threads relative to one, small scenes as artists bake them, worst", "cores.small", "cores_tiny",
         "times as fast"),
    Line("Cost of SIERE at E = 1e9 relative to 1e4", "stiff", "siere_cost_growth", "times"),
    Line("From opening Blender to the first step, 250 frames", "bake_overhead", "first_step_s", "s"),
    Line("First bake on a new computer, Suzanne, *Bake* to first frame", "first_bake", "first_frame_s", "s"),
    Line("Overhead per frame, all but the steps", "bake_overhead", "per_frame_ms", "ms"),
    Line("Enabling the extension in Blender", "register", "register_ms", "ms"),
    Line("A chain of 100 to 10,000 hinges with stiff springs, exponent of the cost", "articulated.growth", "exponent"),
    Line("Such a chain relative to MuJoCo, 10 hinges", "articulated.mujoco", "mujoco_ratio_10", "times as fast"),
    Line("Such a chain relative to MuJoCo, 100 hinges", "articulated.mujoco", "mujoco_ratio_100", "times as fast"),
    Line("Such a chain relative to MuJoCo, 1000 hinges", "articulated.mujoco", "mujoco_ratio_1000", "times as fast"),
    Line("Friction in joints, BISP relative to Staggered Projections, both to the same "
         "solution", "articulated.bisp", "bisp_over_sp",
         "times as fast"),
    Line("KLANN walker with friction in all bearings", "articulated.klann", "klann_realtime", "times real time"),
)


def table(answers: dict[str, dict[str, Any]]) -> str:
    """The table, and a sentence with what has no row. answers: by name and part of a benchmark."""
    rows, without = [*HEAD], []
    for line in LINES:
        found = [one for one in answers.get(line.benchmark, {"claims": []})["claims"] if one["claim"] == line.claim]
        if found:
            rows.append(_row(line, found[0]))
        else:
            without.append(f"`{line.claim}` of `{line.benchmark}`")
    if without:
        rows += ["", "Not measured on a commit that is kept: " + ", ".join(without) + "."]
    return "\n".join(rows)


def write(answers: dict[str, dict[str, Any]]) -> None:
    """Into the README. Raises ValueError where it lacks the place."""
    marked.put(README, MARKS, table(answers))


def _row(line: Line, claim: dict[str, Any]) -> str:
    measured = f"{_number(claim['value'])} {line.unit}".strip()
    if not claim["holds"]:
        measured += ", **missed**"
    paper = "" if claim["paper"] is None else claim["paper"]
    return f"| {line.words} | {measured} | {_goal(claim['goal'])} | {paper} |"


def _number(value: float) -> str:
    """Three figures; what is zero but for rounding is 0."""
    return "0" if abs(value) < 1e-12 else f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def _goal(goal: str) -> str:
    return goal.replace("<=", "≤").replace(">=", "≥")
