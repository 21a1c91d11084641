"""Table of the quicker linear solver for each use in a bake, written by `benchmarks.linear_choice`.

The table has rows for several numbers of threads, and the choice is one for all of them: another solver gives other
last digits, and those of a bake must not depend on the cores of a machine.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

TABLE = Path(__file__).with_suffix(".json")
FIRST = "cholmod"  #: that another one is compared with
WORTH = 1.05  #: times as fast on any number of threads: less is no reason to leave a factor in double precision


class Measured(NamedTuple):
    """Row of the table: times of one use, on one body, with one number of threads."""

    use: str  #: of USES
    shape: str  #: of the body
    nodes: int
    tets: int
    threads: int
    ms: dict[str, float]  #: of a step, by linear solver


class Table:
    """Smallest numbers of tetrahedra from which on another linear solver is quicker, by use."""

    def __init__(self, rows: Sequence[Measured]) -> None:
        """rows: of all uses, bodies and numbers of threads."""
        #: of each use by solver: the fewest tetrahedra of a row from which on it is worth taking in all rows
        self.least: dict[str, dict[str, int]] = {}
        for use, key in {(row.use, key): None for row in rows for key in row.ms if key != FIRST}:
            worth: dict[int, bool] = {}
            for row in rows:
                if row.use == use:
                    is_worth = row.ms[FIRST] >= WORTH * row.ms[key]
                    worth[row.tets] = worth.get(row.tets, True) and is_worth
            larger = [*takewhile(worth.__getitem__, sorted(worth, reverse=True))]
            if larger:
                self.least.setdefault(use, {})[key] = larger[-1]

    def key(self, use: str, tets: Sequence[int]) -> str | None:
        """Return the catalogue key of the solver that is quicker than FIRST for this use and the largest body; None
        where there is none.

        tets: number of tetrahedra of each body.
        """
        return next((key for key, least in self.least.get(use, {}).items() if max(tets, default=0) >= least), None)


@lru_cache(maxsize=1)
def table() -> Table:
    """Return the table of the file TABLE."""
    stored: dict[str, Any] = json.loads(TABLE.read_text(encoding="utf-8"))
    return Table([Measured(**row) for row in stored["rows"]])
