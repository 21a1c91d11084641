"""Transfer of the state to soft bodies that were reshaped."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..contact.laws.static_friction import ANCHORS, STUCK_NODES
from ..state import Index, State, Vec
from ..world.ground_friction import FORCE
from ..world.soft_bodies import SoftBodies


def carried_over(before: SoftBodies, now: SoftBodies, state: State, source: Index, x: Vec) -> State:
    """Return the state of soft bodies before nodes were separated, pinned or released, on their present nodes: each was
    `source`, (n,), and is at x, (n, 3) [m].

    Forces jump there. A history of rates is no guide across that, as it is none where a contact comes: BDF2 would take
    what was cut apart as if it had been a third of a step later. So an integrator starts without a history, and
    sleeping nodes wake; sticking nodes keep sticking.
    """
    stood, v = before.nodes_at(state)
    free = now.coordinates.free
    was = before.mass[source]  # none where the air and obstacles stand
    share = np.divide(now.mass, was, out=np.ones_like(was), where=was > 0.0)
    memory = friction_carried(state.memory, source, x - stood[source], share)
    return State(state.time, x[free].ravel(), v[source][free].ravel(), memory, state.carrier_motion)


def friction_carried(memory: Mapping[str, Vec], source: Index, moved: Vec, share: Vec) -> dict[str, Vec]:
    """Return the entries of friction in the memory, on the nodes of bodies that were reshaped: each was `source`, (n,),
    moved by (n, 3) [m] and has a share of its mass, (n,)."""
    found = {}
    if FORCE in memory:
        found[FORCE] = share[:, None] * memory[FORCE][source]
    if STUCK_NODES in memory:
        stuck = memory[STUCK_NODES].astype(np.int32)
        place = np.full(max(int(source.max(initial=0)), int(stuck.max(initial=0))) + 1, -1, dtype=np.int32)
        place[stuck] = np.arange(len(stuck))
        nodes = np.flatnonzero(place[source] >= 0)
        found |= {STUCK_NODES: nodes.astype(float),
                 ANCHORS: (memory[ANCHORS].reshape(-1, 3)[place[source[nodes]]] + moved[nodes]).ravel()}
    return found
