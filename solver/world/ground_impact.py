"""Measures of a step in which a body lands: whether it is short enough for the impact.

An impact sends a wave through the body, and how high the body bounces depends on that wave. In a step that is as long
as the wave's way, an integrator of two stages stops the layer that has touched in its first stage, and by the same
force throws it up in its second one, by a share that depends on when in the step it has touched: where bodies of one
kind landed from heights a centimetre apart, they came up twice as high. So steps are cut until the velocities change
little enough in each, and one that has gained energy is cut further.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ..coordinates.free_nodes import FreeNodes
from ..state import Index, State, Vec

#: relative to a body's size: displacement in a step that a change of its velocities in that step may cause
RESOLVED = 0.007
GENTLE = 0.1  #: relative to that displacement: a smaller change is not an impact
GAINED = 0.002  #: relative to the kinetic energy: a smaller gain is rounding or the tolerance of the stage solver


class Moving(Protocol):
    """Nodes with energies."""

    coordinates: FreeNodes
    mass: Vec  #: [kg], (n,)

    def nodes_at(self, state: State) -> tuple[Vec, Vec]:
        """Return positions [m] and velocities [m/s] of all nodes, (n, 3)."""

    def evaluate(self, x: Vec, time: float) -> tuple[Vec, float]:
        """Return forces [N], (n, 3), and energy [J], at positions (n, 3) [m]."""


def velocity_jumps(mass: Vec, body: Index, sizes: Vec, before: Vec, after: Vec, h: float) -> Vec:
    """Return h |Δv| / L of each body over `RESOLVED`, (b,), |Δv| the root mean square over its mass.

    mass: of all nodes, (n,) [kg]. body: the number of each node's body, (n,), (b) of what has none. sizes: L, (b,) [m].
    before, after: velocities at both ends of a step of h seconds, (n, 3) [m/s].
    """
    change = after - before
    count = len(sizes)
    squares = np.bincount(body, mass * np.einsum("ni,ni->n", change, change), count + 1)[:count]
    masses = np.bincount(body, mass, count + 1)[:count]
    jumps: Vec = h * np.sqrt(squares / np.maximum(masses, np.finfo(float).tiny)) / (RESOLVED * sizes)
    return jumps


def gained_energy(nodes: Moving, before: State, after: State, jump: float) -> float:
    """Return the jump of velocities, infinite where a step with an impact ends with more energy than it began with,
    beyond what prescribed nodes have done. Whatever changes by time alone is as it is at the end."""
    if jump < GENTLE or jump > 1.0:
        return jump
    (x, v), (y, w) = nodes.nodes_at(before), nodes.nodes_at(after)
    (pulled, stored), (pulls, stores) = nodes.evaluate(x, after.time), nodes.evaluate(y, after.time)
    prescribed, mass = nodes.coordinates.prescribed, nodes.mass[nodes.coordinates.free, None]
    moved, moves = (0.5 * float(np.vdot(mass * u[nodes.coordinates.free], u[nodes.coordinates.free])) for u in (v, w))
    worked = -0.5 * float(np.vdot(pulled[prescribed] + pulls[prescribed], y[prescribed] - x[prescribed]))
    return np.inf if moves + stores - moved - stored - worked > GAINED * max(moved, moves) else jump
