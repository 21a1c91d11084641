"""Transfer of the state to soft bodies after cuts, nails or releases of pins."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..contact.laws.static_friction import ANCHORS, STUCK_NODES
from ..state import Index, State, Vec
from ..world.ground_friction import FORCE
from ..world.soft_bodies import SoftBodies


def carry_over(before: SoftBodies, now: SoftBodies, state: State, source: Index, x: Vec) -> State:
    """Return the state of soft bodies after nodes were separated, pinned or released, with their former velocities.

    state: of the bodies `before`. source: former node of each present node, (n,). x: present positions, (n, 3) [m].
    Forces are discontinuous there, so the integrator starts without a history of rates: BDF2 would apply the change a
    third of a step too late. Sleeping nodes wake; sticking nodes continue to stick.
    """
    former, v = before.nodes_at(state)
    free = now.coordinates.free
    was = before.mass[source]  # zero for nodes of the air and of obstacles
    fraction = np.divide(now.mass, was, out=np.ones_like(was), where=was > 0.0)
    memory = friction_carried(state.memory, source, x - former[source], fraction)
    return State(state.time, x[free].ravel(), v[source][free].ravel(), memory, state.carrier_motion)


def friction_carried(memory: Mapping[str, Vec], source: Index, moved: Vec, fraction: Vec) -> dict[str, Vec]:
    """Return the friction entries of a memory on the nodes of reshaped bodies.

    source: former node of each node, (n,). moved: displacement from there, (n, 3) [m]. fraction: fraction of the former
    node's mass, (n,), by which its friction force [N] is scaled.
    """
    entries = {}
    if FORCE in memory:
        entries[FORCE] = fraction[:, None] * memory[FORCE][source]
    if STUCK_NODES in memory:
        stuck = memory[STUCK_NODES].astype(np.int32)
        row = np.full(max(int(source.max(initial=0)), int(stuck.max(initial=0))) + 1, -1, dtype=np.int32)
        row[stuck] = np.arange(len(stuck))
        nodes = np.flatnonzero(row[source] >= 0)
        entries |= {STUCK_NODES: nodes.astype(float),
                 ANCHORS: (memory[ANCHORS].reshape(-1, 3)[row[source[nodes]]] + moved[nodes]).ravel()}
    return entries
