"""Region in which cloth intersects itself or smooth obstacles, and has no contact until it is apart again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...sheet.sheet_mesh import SheetMesh
from ...state import Index, Mask, Vec


@dataclass(frozen=True)
class TangledRegion:
    """Discs in material space around intersections; remeshing does not change them."""

    reach = 1.5  #: of the longest edges there: faces that reach so near to an intersection have no contact

    centres: Vec  #: X [m], (k, 2)
    radius: Vec  #: [m], (k,)

    @classmethod
    def at(cls, mesh: SheetMesh, vertices: Index) -> TangledRegion:
        """Return the region around vertices of a mesh, (k,)."""
        ends = mesh.edges
        length = np.linalg.norm(mesh.material[ends[:, 1]] - mesh.material[ends[:, 0]], axis=1)
        longest = np.zeros(len(mesh.x))
        np.maximum.at(longest, ends.ravel(), np.repeat(length, 2))
        return cls(mesh.material[vertices], cls.reach * longest[vertices])

    def and_more(self, other: TangledRegion) -> TangledRegion:
        """Return the union of two regions."""
        return TangledRegion(np.concatenate([self.centres, other.centres]), np.concatenate([self.radius, other.radius]))

    def of(self, mesh: SheetMesh) -> Mask:
        """Return a mask of the vertices of a mesh in the region, (n,)."""
        inside = np.zeros(len(mesh.x), dtype=bool)
        for centre, radius in zip(self.centres, self.radius):
            inside |= np.einsum("ni,ni->n", mesh.material - centre, mesh.material - centre) <= radius**2
        return inside
