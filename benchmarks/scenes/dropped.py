"""A jelly cube of one meter that is dropped by 0.6 m onto a ground.

E is 7e4 Pa, the ground's stiffness that of a new soft body. What counts is how high its middle comes after the first
landing.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from benchmarks.scenes.scene import Scene, farthest
from solver.meshing.grid import box_tets
from solver.state import State
from solver.world.nodes import Nodes

SIZE, CELLS, DROP = 1.0, 6, 0.6  #: [m], along an edge, [m]
NEAR = 0.1  #: of its top, where its wobble is seen: there it is in the air [m]
OFF = 0.9  #: of what it fell: who comes up less has not left the ground by as much


@cache
def scene() -> Scene:
    nodes, tets = box_tets((CELLS,) * 3, (SIZE,) * 3)
    nodes = nodes + [0.0, 0.0, DROP]
    corner = int(np.argmin(nodes.sum(axis=1)))
    stiffness = 1000.0 * 9.81 * (np.sqrt(3.0) * SIZE / 20.0) ** 2 / 0.005
    return Scene(nodes, tets, np.zeros(0, dtype=np.int32),
                 lambda count: farthest(nodes, np.arange(len(nodes)), [corner], count), (8,),
                 1000.0 * (2.5 * SIZE / 0.3) ** 2, 0.4, seconds=2.0,
                 ground={"point": [0, 0, 0], "normal": [0, 0, 1], "stiffness": stiffness})


def height(world: Nodes, state: State) -> float:
    """Return the height of its middle [m]."""
    x = world.coordinates.positions(state.q, state.time)
    return float(world.mass @ x[:, 2] / world.mass.sum())


def seen(world: Nodes, state: State) -> tuple[float, float]:
    """Return the height of its middle [m], its wobble, elastic energy and that of velocities which no rigid motion is
    [J]: what is in the air has no other besides its fall and its turn."""
    x, v = world.coordinates.positions(state.q, state.time), world.velocity(state)
    middle = world.mass @ x / world.mass.sum()
    unstrained = world.rest + middle - world.mass @ world.rest / world.mass.sum()
    elastic = world.evaluate(x, state.time)[1] - world.evaluate(unstrained, state.time)[1]
    arms, moves = x - middle, v - world.mass @ v / world.mass.sum()
    inertia = np.einsum("n,nij->ij", world.mass, np.einsum("na,na,ij->nij", arms, arms, np.eye(3))
                        - np.einsum("ni,nj->nij", arms, arms))
    spin = np.linalg.solve(inertia, world.mass @ np.cross(arms, moves))
    moves = moves - np.cross(spin, arms)
    return float(middle[2]), float(elastic + 0.5 * world.mass @ np.square(moves).sum(axis=1))


def wobble(seen: np.ndarray) -> float:
    """Mean wobble while it is near the top of its bounce [J]; 0 where it does not come off the ground.

    seen: what is `seen` at each step, (T, 2).
    """
    heights = seen[:, 0]
    low = int(np.argmin(heights[: len(heights) // 2]))
    top = float(heights[low:].max())
    near = np.flatnonzero(heights[low:] >= top - NEAR) + low
    return float(seen[near, 1].mean()) if top - heights[low] > OFF * DROP else 0.0


def bounce(heights: np.ndarray) -> float:
    """Return how far a body rises after its first lowest point [m]. heights: of its middle at each step [m]."""
    first = heights[: len(heights) // 2]
    low = int(np.argmin(first))
    return float(heights[low:].max() - heights[low])
