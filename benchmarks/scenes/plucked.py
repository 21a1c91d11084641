"""Bars plucked: moved aside, in balance, and let go at once. TWIST's in its middle, HETERO's at its top.

What an artist sees of a body are its slowest wobbles. `Visible` is the energy, kinetic and elastic, in the five slowest
modes of the shape in which it rests; those of TWIST's bar are below 8.5 Hz.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sla

from benchmarks.scenes import hetero
from benchmarks.scenes.scene import Scene, farthest, in_balance
from benchmarks.scenes.twist import CELLS, EDGE, dynamic
from solver.meshing.grid import box_tets
from solver.parts.nodes.full import Full
from solver.state import State
from solver.world.nodes import Nodes

MOVED, TURNED = 0.04, 40.0  #: TWIST's middle [m], [degrees]
BENT, TWISTED = 0.02, 20.0  #: HETERO's top [m], [degrees]
PULLS = 24  #: steps in which the balance follows
MODES = 5  #: that are seen
NO_GRAVITY = (0.0, 0.0, 0.0)  #: no gravity


@cache
def scene() -> Scene:
    """TWIST's bar, held at both ends, from the balance around the moved middle."""
    nodes, tets = box_tets(CELLS, tuple(EDGE * np.array(CELLS)))
    nodes = nodes - [0.0, CELLS[1] * EDGE / 2, CELLS[2] * EDGE / 2]
    length = CELLS[0] * EDGE
    pinned = np.flatnonzero((nodes[:, 0] < 1e-9) | (nodes[:, 0] > length - 1e-9)).astype(np.int32)
    middle = np.flatnonzero(np.abs(nodes[:, 0] - length / 2) < 1e-9)
    at_rest = Scene(nodes, tets, pinned, dynamic, (8,), 1.0e4, 0.4, gravity=NO_GRAVITY)
    return _pulled(at_rest, middle, (1, 2), MOVED, TURNED)


@cache
def layered() -> Scene:
    """HETERO's bar, held at the bottom, from the balance around its moved top."""
    bar = hetero.scene()
    top = np.flatnonzero(bar.nodes[:, 2] > bar.nodes[:, 2].max() - 1e-9)
    free = np.setdiff1d(np.arange(len(bar.nodes)), bar.pinned)
    first = [int(top[0])]
    at_rest = replace(bar, gravity=NO_GRAVITY, counts=(8,),
                      dynamic=lambda count: farthest(bar.nodes, free, first, count))
    return _pulled(at_rest, top, (0, 1), BENT, TWISTED)


def _pulled(at_rest: Scene, prescribed: np.ndarray, plane: tuple[int, int], moved: float, turned: float) -> Scene:
    """Let go from where `prescribed` is turned in a plane and moved along its second axis."""
    world, x = at_rest.world("vanilla"), at_rest.nodes.copy()
    one, other = at_rest.nodes[prescribed][:, plane].T
    for fraction in np.linspace(0.0, 1.0, PULLS + 1)[1:]:
        c, s = np.cos(fraction * np.radians(turned)), np.sin(fraction * np.radians(turned))
        x[np.ix_(prescribed, plane)] = np.stack([c * one - s * other, s * one + c * other + fraction * moved], axis=1)
        x = in_balance(world, x, prescribed, tolerance=1e-7)
    return replace(at_rest, pulled=x)


class Visible:
    """Energy in a body's slowest modes."""

    def __init__(self, world: Nodes, rest: np.ndarray) -> None:
        """rest: where it is in balance, (n, 3) [m]."""
        lin = world.linearise_at(rest, None, 0.0, False)
        free, whole = world.coordinates.free, world.condensation
        assert isinstance(whole, Full)
        whole.pattern.gather(lin.blocks, lin.node_blocks, -1.0, np.zeros(len(rest)))
        lower = whole.pattern.matrix()
        stiffness = (lower + sp.tril(lower, -1).T).tocsr()
        rows = (3 * whole.pattern.position[free][:, None] + np.arange(3)).ravel()
        self._mass = np.repeat(world.mass[free], 3)
        start = np.cos(np.arange(len(rows), dtype=float))  # the same modes whenever they are asked for
        found, self._modes = sla.eigsh(stiffness[rows][:, rows].tocsc(), k=MODES, M=sp.diags(self._mass).tocsc(),
                                       sigma=0.0, v0=start)
        self._stiffness = found
        self.hertz: np.ndarray = np.sqrt(np.maximum(found, 0.0)) / (2 * np.pi)
        self._rest = rest[free].ravel()

    def of(self, state: State) -> float:
        """[J]"""
        moved = self._modes.T @ (self._mass * (state.q - self._rest))
        rate = self._modes.T @ (self._mass * state.u)
        return float(0.5 * rate @ rate + 0.5 * self._stiffness @ (moved * moved))
