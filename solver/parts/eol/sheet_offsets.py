"""Several sheets as one cloth, side by side in material space, where remeshing and sliding cannot join them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...sheet.sheet_mesh import SheetMesh
from ...state import Index, Vec


@dataclass(frozen=True)
class SheetOffsets:
    """Offsets of sheets along u in the common material space of one cloth."""

    spacing = 2.0  #: of the widest sheet: from where one begins to where the next one does
    margin_before = 0.25  #: of that: what is so little before a sheet is of it

    wide: float  #: distance from one sheet's start to the next one's [m]
    moved: Vec  #: offset of each sheet from its own material coordinates [m], (s,)

    @classmethod
    def single_sheet(cls) -> SheetOffsets:
        """Return the offsets of a single sheet, wherever it is."""
        return cls(1.0, np.zeros(1))

    @classmethod
    def of(cls, materials: Sequence[Vec]) -> SheetOffsets:
        """Return offsets of sheets whose vertices have these material coordinates, (n, 2) [m] each; a single sheet
        stays where it is."""
        wide = cls.spacing * max(float(np.ptp(material[:, 0])) for material in materials)
        if len(materials) == 1:
            return cls(wide, np.zeros(1))
        return cls(wide, np.array([k * wide - float(material[:, 0].min()) for k, material in enumerate(materials)]))

    def sheet_of(self, material: Vec) -> Index:
        """Return the number of the sheet at each position in material space, (n,). material: (n, 2) [m]."""
        if len(self.moved) == 1:
            return np.zeros(len(material), np.int32)
        # a vertex on a border may be a little outside
        which = np.floor(material[:, 0] / self.wide + self.margin_before).astype(np.int32)
        sheet: Index = np.clip(which, 0, len(self.moved) - 1).astype(np.int32)
        return sheet

    def begins(self, k: int) -> float:
        """Return the least u that `sheet_of` assigns to the k-th sheet [m]."""
        return (k - self.margin_before) * self.wide

    def to_common_space(self, k: int, material: Vec) -> Vec:
        """Return the k-th sheet's own material coordinates, (n, 2) [m], in the common material space."""
        moved: Vec = material + [self.moved[k], 0.0]
        return moved

    def sheets(self, mesh: SheetMesh) -> list[SheetMesh]:
        """Return the mesh of each sheet, in its own material coordinates."""
        if len(self.moved) == 1:
            return [mesh]
        of_vertex, meshes = self.sheet_of(mesh.material), []
        for k in range(len(self.moved)):
            used = np.flatnonzero(of_vertex == k)
            index = np.full(len(of_vertex), -1, np.int32)
            index[used] = np.arange(len(used))
            faces = index[mesh.faces[of_vertex[mesh.faces[:, 0]] == k]]
            meshes.append(SheetMesh(mesh.x[used], mesh.material[used] - [self.moved[k], 0.0], faces, mesh.v[used],
                                   mesh.slide[used], mesh.on[used], mesh.required[used]))
        return meshes
