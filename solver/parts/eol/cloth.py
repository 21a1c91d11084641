"""State of a sliding cloth between two steps, on the mesh that it has then."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ...sheet.sheet_mesh import SheetMesh
from ...state import Index, Mask, Vec

T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True)
class Cloth:
    """State of a sliding cloth between two steps: its mesh with positions and velocities, pins and contact."""

    mesh: SheetMesh
    pin: Index  #: number of the pin that holds each vertex, −1 for none, (n,)
    flat: Mask  #: vertices on features whose cloth did not fold, (n,)
    free: Mask  #: vertices that came off a feature, (n,)
    pressing: Vec  #: normal force of each on the obstacle in the last step, (n,) [N]

    @classmethod
    def at_rest(cls, mesh: SheetMesh, pinned: Index) -> Cloth:
        """Return a cloth without contact at the start of a bake. pinned: vertices, (p,)."""
        pin = np.full(len(mesh.x), -1, dtype=np.int32)
        pin[pinned] = np.arange(len(pinned))
        return cls(mesh, pin, np.ones(len(mesh.x), dtype=bool), np.zeros(len(mesh.x), dtype=bool),
                   np.zeros(len(mesh.x)))

    def with_mesh(self, mesh: SheetMesh, was: Index) -> Cloth:
        """Return the cloth on another mesh. was: earlier number of each vertex, −1 of new ones, (n,)."""
        if len(was) == len(self.pin) and np.array_equal(was, np.arange(len(was))):
            return Cloth(mesh, self.pin, self.flat, self.free, self.pressing)
        old = was >= 0

        def carried(values: NDArray[T], new: float) -> NDArray[T]:
            out: NDArray[T] = np.full(len(was), new, dtype=values.dtype)
            out[old] = values[was[old]]
            return out

        return Cloth(mesh, carried(self.pin, -1), carried(self.flat, True), carried(self.free, False),
                     carried(self.pressing, 0.0))
