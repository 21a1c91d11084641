"""Groups of pinned nodes of a reduced body, each of which moves by an affine map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...errors import BadInput
from ...state import Index, Vec
from .skinning import Subspace


@dataclass(frozen=True)
class PinGroups:
    """Groups of pins, in the order in which the body was built with them."""

    nodes: Vec  #: rest positions of all nodes of the body [m], (n, 3)
    subspace: Subspace

    @property
    def groups(self) -> tuple[Index, ...]:
        """Return the nodes of each group of pins."""
        return self.subspace.groups

    def lead(self, positions: Sequence[Vec]) -> Vec:
        """Return coordinates (4 g, 3) [m] that move each group to the affine image nearest to the positions (k, 3) [m]
        of its nodes. Raises BadInput where the numbers of positions and groups differ."""
        own = [np.asarray(group) for group in self.groups]
        if len(own) != len(positions):
            raise BadInput(f"there are {len(own)} groups of pins, but positions of {len(positions)}",
                           "Give positions of each group")
        affine_motion = np.zeros((4 * len(own), 3))
        for k, (nodes, targets) in enumerate(zip(own, positions, strict=True)):
            affine_motion[4 * k : 4 * k + 4] = np.linalg.lstsq(self.subspace.affine(self.nodes[nodes]),
                                                       targets - self.nodes[nodes], rcond=1e-9)[0]
        return affine_motion
