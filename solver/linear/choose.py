"""Choice of the linear solver of a bake."""

from __future__ import annotations

from collections.abc import Sequence

from .. import catalogue
from ..errors import Environment
from ..job.costs import machine_memory, why_multigrid
from .interface import LinearSolver, available
from .quickest import table


def choose(key: str = "auto", tets: Sequence[int] = (), use: str | None = None) -> LinearSolver:
    """Return a new linear solver: that with the catalogue key; for "auto", multigrid for meshes that are too large to
    factor, else the solver that was measured to be quicker for this use, else the first of the catalogue that is
    installed.

    tets: number of tetrahedra of each body. use: a key of `quickest`'s table, None where nothing was measured. Raises
    Environment where the library of the chosen solver is missing.
    """
    because = why_multigrid(tets, machine_memory()) if key == "auto" else None
    if because is not None:
        large: LinearSolver = next(entry for entry in catalogue.family("linear_solver").values()
                                   if entry.able("large")).load()()
        large.why += f": {because}"
        return large
    quicker = table().key(use, tets) if key == "auto" and use is not None else None
    solver_class = None if quicker is None else available(quicker)
    if solver_class is not None:
        measured: LinearSolver = solver_class()
        measured.why += f": quicker than CHOLMOD where bodies of {max(tets):,} tetrahedra take steps like these"
        return measured
    keys = list(catalogue.family("linear_solver")) if key == "auto" else [key]
    missing: list[str] = []
    for candidate in keys:
        solver_class = available(candidate)
        if solver_class is not None:
            solver: LinearSolver = solver_class()
            if missing:
                solver.why += f" ({', '.join(missing)} not installed)"
            return solver
        missing.append(catalogue.find("linear_solver", candidate).label)
    raise Environment(f"the linear solver {' / '.join(missing)} is not installed", "Install it or choose another one")
