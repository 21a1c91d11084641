"""Which linear solver a bake uses."""

from __future__ import annotations

from .. import catalogue
from ..errors import Environment
from .interface import LinearSolver, available


def choose(key: str = "auto") -> LinearSolver:
    """A fresh solver: the named one, or the first of the catalogue that is installed.

    Raises Environment where the named one's library is missing.
    """
    keys = list(catalogue.family("linear_solver")) if key == "auto" else [key]
    missing: list[str] = []
    for candidate in keys:
        found = available(candidate)
        if found is not None:
            solver: LinearSolver = found()
            if missing:
                solver.why += f" ({', '.join(missing)} not installed)"
            return solver
        missing.append(catalogue.find("linear_solver", candidate).label)
    raise Environment(f"the linear solver {' / '.join(missing)} is not installed", "Install it or choose another one")
