"""TWIST's bar plucked: its middle moved by 4 cm and turned by 40 degrees, in balance, and let go at once.

What an artist sees of it are its slowest wobbles. `Visible` is the energy, kinetic and elastic, in the modes of the
rest shape below 8.5 Hz.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sla

from benchmarks.scenes.scene import Scene, in_balance
from benchmarks.scenes.twist import CELLS, EDGE, dynamic
from solver.meshing.grid import box_tets
from solver.state import State
from solver.world.nodes import Nodes

MOVED, TURNED = 0.04, 40.0  #: [m], [degrees]
PULLS = 24  #: steps in which the balance follows
SEEN, MODES = 8.5, 12  #: [Hz]; how many modes are looked at


@cache
def scene() -> Scene:
    """Without gravity, from the balance around the moved middle."""
    nodes, tets = box_tets(CELLS, tuple(EDGE * np.array(CELLS)))
    nodes = nodes - [0.0, CELLS[1] * EDGE / 2, CELLS[2] * EDGE / 2]
    length = CELLS[0] * EDGE
    pinned = np.flatnonzero((nodes[:, 0] < 1e-9) | (nodes[:, 0] > length - 1e-9)).astype(np.int32)
    middle = np.flatnonzero(np.abs(nodes[:, 0] - length / 2) < 1e-9)
    still = Scene(nodes, tets, pinned, dynamic, (8,), 1.0e4, 0.4, gravity=(0.0, 0.0, 0.0))
    world, x = still.world("vanilla"), nodes.copy()
    y, z = nodes[middle, 1], nodes[middle, 2]
    for share in np.linspace(0.0, 1.0, PULLS + 1)[1:]:
        c, s = np.cos(share * np.radians(TURNED)), np.sin(share * np.radians(TURNED))
        x[middle, 1:] = np.stack([c * y - s * z, s * y + c * z + share * MOVED], axis=1)
        x = in_balance(world, x, middle, tolerance=1e-7)
    return Scene(**{**vars(still), "pulled": x})


class Visible:
    """Energy in the slowest modes of a world's rest shape."""

    def __init__(self, world: Nodes) -> None:
        lin = world.linearise_at(world.rest, None, 0.0, False)
        free, whole = world.coordinates.free, world.condensation.whole
        assert whole is not None
        whole.pattern.gather(lin.blocks, lin.node_blocks, -1.0, np.zeros(len(world.rest)))
        lower = whole.pattern.matrix()
        stiffness = (lower + sp.tril(lower, -1).T).tocsr()
        rows = (3 * whole.rank[:, None] + np.arange(3)).ravel()
        self._mass = np.repeat(world.mass[free], 3)
        found, vectors = sla.eigsh(stiffness[rows][:, rows].tocsc(), k=MODES, M=sp.diags(self._mass).tocsc(), sigma=0.0)
        slow = np.sqrt(np.maximum(found, 0.0)) / (2 * np.pi) < SEEN
        self._modes, self._stiffness = vectors[:, slow], found[slow]
        self._rest = world.rest[free].ravel()

    def of(self, state: State) -> float:
        """[J]"""
        moved = self._modes.T @ (self._mass * (state.q - self._rest))
        rate = self._modes.T @ (self._mass * state.u)
        return float(0.5 * rate @ rate + 0.5 * self._stiffness @ (moved * moved))
