"""Several sheets as one cloth: beside each other in material space, so that remeshing and sliding keep them apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...sheet.sheet_mesh import SheetMesh
from ...state import Index, Vec

ROOM = 2.0  #: of the widest sheet: from where one begins to where the next one does
BEFORE = 0.25  #: of that: what is so little before a sheet is of it


@dataclass(frozen=True)
class SheetOffsets:
    """Start of each sheet along u."""

    wide: float  #: from one to the next [m]
    moved: Vec  #: of each sheet: what its own places in material are moved by [m], (s,)

    @classmethod
    def alone(cls) -> SheetOffsets:
        """For one sheet, wherever it is."""
        return cls(1.0, np.zeros(1))

    @classmethod
    def of(cls, materials: Sequence[Vec]) -> SheetOffsets:
        """For sheets whose vertices are at these places, (n, 2) [m] each; one alone stays where it is."""
        wide = ROOM * max(float(np.ptp(one[:, 0])) for one in materials)
        if len(materials) == 1:
            return cls(wide, np.zeros(1))
        return cls(wide, np.array([k * wide - float(one[:, 0].min()) for k, one in enumerate(materials)]))

    def sheet_of(self, material: Vec) -> Index:
        """Which sheet is at these places, (n,)."""
        if len(self.moved) == 1:
            return np.zeros(len(material), np.int32)
        # a vertex on a border may be a little outside
        which = np.floor(material[:, 0] / self.wide + BEFORE).astype(np.int32)
        sheet: Index = np.clip(which, 0, len(self.moved) - 1).astype(np.int32)
        return sheet

    def begins(self, k: int) -> float:
        """From which u on `sheet_of` finds the k-th sheet [m]."""
        return (k - BEFORE) * self.wide

    def placed(self, k: int, material: Vec) -> Vec:
        """Places of the k-th sheet's own material, (n, 2), in that of all."""
        moved: Vec = material + [self.moved[k], 0.0]
        return moved

    def sheets(self, mesh: SheetMesh) -> list[SheetMesh]:
        """The mesh of each sheet, on its own material."""
        if len(self.moved) == 1:
            return [mesh]
        of_vertex, found = self.sheet_of(mesh.material), []
        for k in range(len(self.moved)):
            used = np.flatnonzero(of_vertex == k)
            place = np.full(len(of_vertex), -1, np.int32)
            place[used] = np.arange(len(used))
            faces = place[mesh.faces[of_vertex[mesh.faces[:, 0]] == k]]
            found.append(SheetMesh(mesh.x[used], mesh.material[used] - [self.moved[k], 0.0], faces, mesh.v[used],
                                   mesh.slide[used], mesh.on[used], mesh.required[used]))
        return found
