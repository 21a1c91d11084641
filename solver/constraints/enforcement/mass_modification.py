"""Constraint rows of single nodes, eliminated from the unknowns: velocities are prescribed in a frame of each node."""

from __future__ import annotations

import numpy as np

from ...rows.filtered import FilteredProgram
from ...rows.tables import SparseRows
from ...state import Vec
from .interface import Enforced, RowSystem


class MassModification:
    """Enforcement of rows of one node each, J v = −φ/s, by their elimination from the unknowns."""

    def __init__(self, accuracy: float | None = None) -> None:
        """accuracy: residual of conjugate gradients relative to the right-hand side; None for the default of
        `FilteredProgram`."""
        self._accuracy = accuracy
        self.taken = 0  #: iterations of the last solution

    def solve(self, system: RowSystem, compliance: Vec) -> Enforced:
        """Return velocities and impulses under the rows; `compliance` is not used. Raises ValueError where a row joins
        two nodes, or rows of one node contradict each other. [Notes, Mass Modification]"""
        matrix = system.matrix
        if system.geometric is not None:
            matrix = matrix - system.impulse * system.seconds * system.geometric
        count = len(system.value)
        rows = SparseRows.hard(system.jacobian, -system.value / system.seconds, np.ones(count, bool), np.arange(count))
        program = FilteredProgram(matrix, rows, self._accuracy)
        v, impulse = program.solve(system.rhs)
        self.taken = program.taken
        return Enforced(v, impulse)
