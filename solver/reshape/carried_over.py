"""Transfer of the state to soft bodies after cuts, nails or releases of pins."""

from __future__ import annotations

import numpy as np

from ..node_records import SourceNodes
from ..state import Index, State, Vec
from ..world.node_memory import carry_over_memory
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
    memory = carry_over_memory(state.memory, SourceNodes(source, x - former[source], fraction))
    return State(state.time, x[free].ravel(), v[source][free].ravel(), memory, state.carrier_motion)
