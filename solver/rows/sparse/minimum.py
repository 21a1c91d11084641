"""Solution of a sparse program, and the failures where there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...errors import StepFailed
from ...state import Index, Mask, Vec
from ..names import Multipliers, Names


@dataclass(frozen=True)
class Minimum:
    """Minimum of a sparse program: A u = b + Gᵀ μ + Cᵀ λ, λ ≥ 0."""

    u: Vec  #: (m,)
    on_vertex: Vec  #: multipliers of the vertex' rows, in their order, (r,)
    spread: Vec  #: multipliers of the rows over several vertices, (s,)
    active: Mask  #: vertex' rows that are active, (r,); rows that others imply are not among them
    spread_active: Mask  #: (s,)
    names: tuple[Names, Names]  #: of both tables
    warm: Multipliers  #: of active rows that may be exceeded, to start another solution from
    factored: int  #: number of factorizations
    tried: int  #: number of active sets
    one_by_one: bool  #: whether rows were added one at a time

    @property
    def multipliers(self) -> Multipliers:
        """Return the multipliers of all rows with their names."""
        return Multipliers.of((self.names[0], self.on_vertex), (self.names[1], self.spread))


class Infeasible(StepFailed):
    """Failure where no u satisfies all rows; `names` are those of rows that contradict each other."""

    def __init__(self, names: Sequence[int] | Names) -> None:
        """names: of rows that contradict each other."""
        self.names: Names = np.unique(np.asarray(names, dtype=np.int64))
        named = ", ".join(str(name) for name in self.names[:8]) + (", ..." if len(self.names) > 8 else "")
        super().__init__(f"constraints contradict each other (rows {named})")


class Singular(StepFailed):
    """Failure where no stiffness resists a motion that no equation prevents; `unknowns` have the largest displacements
    in that motion and belong to `vertices`."""

    def __init__(self, unknowns: Index, vertices: Index, ratio: float) -> None:
        """unknowns: of the motion, (k,). vertices: of these, (k,). ratio: its stiffness over that of the diagonal."""
        self.unknowns, self.vertices = unknowns, vertices
        named = ", ".join(str(unknown) for unknown in unknowns[:8]) + (", ..." if len(unknowns) > 8 else "")
        where = ", ".join(str(vertex) for vertex in np.unique(vertices)[:8])
        super().__init__(f"nothing resists a motion of unknowns {named} (vertices {where}): its stiffness is "
                         f"{ratio:.1e} of the matrix' diagonal")
