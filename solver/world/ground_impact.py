"""Measures of whether a step with an impact is short enough.

An impact sends a wave through the body, on which the height of its bounce depends. In a step as long as the wave
travels, an integrator of two stages stops the layer in contact in its first stage, and by an equal force throws this
layer up in its second stage, depending on the time of impact within the step: equal bodies dropped from heights a
centimetre apart bounced to heights that differed by a factor of two. So steps are shortened until the velocities change
little enough in each, and further where a step gains energy.
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
    """Protocol of nodes with masses and energies."""

    coordinates: FreeNodes
    mass: Vec  #: [kg], (n,)

    def nodes_at(self, state: State) -> tuple[Vec, Vec]:
        """Return the positions [m] and velocities [m/s] of all nodes at a state, (n, 3)."""

    def evaluate(self, x: Vec, time: float) -> tuple[Vec, float]:
        """Return forces, (n, 3) [N], and energy [J] at positions x, (n, 3) [m], and a time [s]."""


def velocity_jumps(mass: Vec, body: Index, sizes: Vec, before: Vec, after: Vec, h: float) -> Vec:
    """Return the change of velocity of each body in a step, h |Δv| / L, relative to `RESOLVED`, (b,).

    |Δv| is the root mean square over the body's mass. mass: of all nodes, (n,) [kg]. body: number of each node's body,
    b where it has none, (n,). sizes: L, (b,) [m].
    before, after: velocities at both ends of a step of h seconds, (n, 3) [m/s].
    """
    change = after - before
    count = len(sizes)
    squares = np.bincount(body, mass * np.einsum("ni,ni->n", change, change), count + 1)[:count]
    masses = np.bincount(body, mass, count + 1)[:count]
    jumps: Vec = h * np.sqrt(squares / np.maximum(masses, np.finfo(float).tiny)) / (RESOLVED * sizes)
    return jumps


def reject_energy_gain(nodes: Moving, before: State, after: State, jump: float) -> float:
    """Return the jump of velocities, or infinity where a step with an impact gains energy.

    jump: from `velocity_jumps`. The work of prescribed nodes is not a gain. Forces that depend on time are evaluated at
    the end of the step.
    """
    if jump < GENTLE or jump > 1.0:
        return jump
    (x, v), (y, w) = nodes.nodes_at(before), nodes.nodes_at(after)
    (force_before, energy_before), (force_after, energy_after) = (nodes.evaluate(x, after.time),
                                                                  nodes.evaluate(y, after.time))
    prescribed, mass = nodes.coordinates.prescribed, nodes.mass[nodes.coordinates.free, None]
    kinetic, kinetic_after = (0.5 * float(np.vdot(mass * u[nodes.coordinates.free], u[nodes.coordinates.free]))
                              for u in (v, w))
    work = -0.5 * float(np.vdot(force_before[prescribed] + force_after[prescribed], y[prescribed] - x[prescribed]))
    return np.inf if (kinetic_after + energy_after - kinetic - energy_before - work
                      > GAINED * max(kinetic, kinetic_after)) else jump
