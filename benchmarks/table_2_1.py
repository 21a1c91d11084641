"""Table 2.1 of the dissertation (chapter 2, cloth that slides over sharp features), with our results.

Its seventeen rows, two of them twice: EDGE and WIRE with EOL are in the five variants of one square metre, without
self-collision, and as an artist bakes them.

`benchmarks.run --write` writes it into docs/benchmarks.md from the latest rows of `sharp_variants`, `sharp_scenes` and
`sharp_cloth`. The dissertation's numbers are only here; those benchmarks import them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

COLUMNS = {"faces": "#F", "sliding_%": "%E", "detect_%": "%CD", "remesh_%": "%RM", "fill_%": "%MF", "program_%": "%VI",
           "ms": "T (ms)"}  #: our columns, and what the dissertation calls them


class Row(NamedTuple):
    """A row of the dissertation's table, None where it has a dash, and where ours is."""

    scene: str
    values: tuple[float | None, ...]  #: by COLUMNS
    benchmark: str  #: as `benchmarks.run` calls it, with its part
    ours: str  #: our row in it


ROWS = (
    Row("EDGE (reg.)", (2116, None, 1.2, None, 6.6, 92.1, 436.2), "sharp_variants.edge", "reg."),
    Row("EDGE (irreg.)", (2000, None, 0.9, None, 5.0, 94.0, 589.2), "sharp_variants.edge", "irreg."),
    Row("EDGE (non-conf.)", (2521, None, 0.9, 4.7, 5.4, 88.9, 638.9), "sharp_variants.edge", "non-conf."),
    Row("EDGE (conf.)", (2622, None, 1.8, 5.2, 4.5, 88.6, 729.6), "sharp_variants.edge", "conf."),
    Row("EDGE (EOL)", (2971, 2.4, 0.9, 2.5, 7.7, 88.8, 1101.0), "sharp_variants.edge", "EOL"),
    Row("WIRE (reg.)", (1936, None, 0.3, None, 3.4, 96.3, 827.2), "sharp_variants.wire", "reg."),
    Row("WIRE (irreg.)", (2055, None, 0.2, None, 3.3, 96.5, 896.5), "sharp_variants.wire", "irreg."),
    Row("WIRE (non-conf.)", (2048, None, 2.6, 4.1, 2.8, 96.9, 1028.7), "sharp_variants.wire", "non-conf."),
    Row("WIRE (conf.)", (2022, None, 0.6, 4.0, 3.5, 91.9, 728.3), "sharp_variants.wire", "conf."),
    Row("WIRE (EOL)", (2048, 2.4, 0.2, 3.0, 7.7, 89.1, 1058.7), "sharp_variants.wire", "EOL"),
    Row("EDGE (EOL), as artists bake it", (2971, 2.4, 0.9, 2.5, 7.7, 88.8, 1101.0), "sharp_scenes", "EDGE"),
    Row("WIRE (EOL), as artists bake it", (2048, 2.4, 0.2, 3.0, 7.7, 89.1, 1058.7), "sharp_scenes", "WIRE"),
    Row("NAILS (EOL)", (2012, 1.9, 0.6, 2.9, 7.9, 88.6, 804.2), "sharp_scenes", "NAILS"),
    Row("JAWS (EOL)", (3380, 0.3, 0.3, 9.2, 21.8, 68.7, 503.9), "sharp_scenes", "JAWS"),
    Row("PUSH (EOL)", (2110, 3.1, 1.4, 6.2, 16.7, 75.6, 454.9), "sharp_scenes", "PUSH"),
    Row("THROW (EOL)", (1913, 3.9, 0.8, 3.9, 9.0, 86.2, 568.4), "sharp_scenes", "THROW"),
    Row("LO-RES (reg.)", (256, None, 3.2, None, 15.8, 81.0, 18.1), "sharp_cloth", "LO-RES (reg.)"),
    Row("LO-RES (EOL)", (133, 6.0, 16.8, 6.2, 23.1, 53.9, 16.3), "sharp_cloth", "LO-RES (EOL)"),
    Row("FRICTION (EOL)", (2927, 2.9, 6.7, 8.4, 23.6, 61.3, 451.5), "sharp_scenes", "FRICTION"),
)


#: faces and milliseconds of a step in the dissertation, by row
PAPER = {row.scene: (int(row.values[0] or 0), float(row.values[-1] or 0.0)) for row in ROWS}


def lines(answers: dict[str, dict[str, Any]]) -> list[str]:
    """Lines of Markdown. answers: by name and part of a benchmark; a row that none of them has stays without ours."""
    out = ["## Table 2.1 with our columns", "",
            "Ours / the dissertation's: most faces, most vertices that slide, shares of a step that collision "
            "detection, remeshing, matrices and the program (velocity integration) take, a step's time. Ours are "
            "thread milliseconds of one thread, theirs those of an i7-7700; what ours lack to 100 % is mostly what "
            "keeps cloth out of itself in the scenes of `sharp_scenes`, and calls between stages elsewhere. "
            "`sharp_variants` and `sharp_cloth` are without self-collision, so EDGE and WIRE are there twice. The "
            "dissertation's WIRE (non-conf.) adds up to 106 %. A dash: nothing of the kind happens. Ours of NAILS and "
            "FRICTION are two cloths each, a smooth and a rough one, solved at once.", "",
            f"| scene | {' | '.join(COLUMNS.values())} | row of |", "| --- |" + " --- |" * (len(COLUMNS) + 1)]
    for row in ROWS:
        ours = answers.get(row.benchmark, {}).get("details", {}).get("steps", {}).get(row.ours, {})
        cells = [f"{_number(ours.get(key)) if theirs is not None else '–'} / {_number(theirs)}"
                 for key, theirs in zip(COLUMNS, row.values)]
        out.append(f"| {row.scene} | {' | '.join(cells)} | `{row.benchmark}` |")
    return [*out, ""]


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return str(value) if isinstance(value, int) else f"{value:.1f}"
