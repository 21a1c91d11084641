"""DRAGON: jaws and body pulled apart and let go at once. [ConJac Fig. 1, Table 1]

The mesh is the shared dragon, 15 cm long, 9,932 nodes (the paper's has 10,456). The lowest tenth of its height is
held. The pull is ours: all nodes within 14 mm of the upper jaw's tip, 10 mm of the lower one's and 20 mm of the top of
the hump are moved by 2.4, 2.2 and 4.1 cm, the rest finds its balance around them, and all is let go from there at rest.
The first dynamic nodes are these three. What 0 to 10 of them cost is in benchmarks/step.py.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from benchmarks import meshes
from benchmarks.scenes.scene import Scene, farthest, in_balance

#: where it is gripped, within which distance, and how far that is moved [m]
PULLED = {
    "upper jaw": ((-0.062, 0.0, 0.089), 0.014, (-0.014, 0.0, 0.020)),
    "lower jaw": ((-0.066, 0.0, 0.068), 0.010, (-0.014, 0.0, -0.017)),
    "body": ((0.025, 0.0, 0.075), 0.020, (0.028, 0.021, 0.021)),
}
PULLS = 2  #: steps in which the balance follows the grips


@cache
def scene(fraction: float = 1.0) -> Scene:
    """fraction: of the pull."""
    nodes, tets = meshes.tetrahedra("dragon")
    low, high = nodes[:, 2].min(), nodes[:, 2].max()
    height = (nodes[:, 2] - low) / (high - low)
    pinned = np.flatnonzero(height < 0.1).astype(np.int32)
    tips = [int(np.argmin(np.linalg.norm(nodes - point, axis=1))) for point, _, _ in PULLED.values()]
    free = np.flatnonzero(height > 0.2)
    at_rest = Scene(nodes, tets, pinned, lambda count: farthest(nodes, free, tips, count), (2, 8),
                  3.0e4, 0.49, gamma=0.2,
                  paper={"vertices": 10456, "tets": 37565, "h": 5e-3, "beta_vanilla": 3.7, "beta_conjac": 0.5},
                  ours="pull and mesh; the lowest tenth is held")
    return Scene(**{**vars(at_rest), "pulled": pulled(at_rest, tips, fraction)})


def pulled(at_rest: Scene, tips: list[int], fraction: float) -> np.ndarray:
    """Return where the dragon is in balance while its grips are moved, (n, 3) [m]."""
    world = at_rest.world("vanilla")
    x = world.rest.copy()
    gripped_nodes = [np.flatnonzero(np.linalg.norm(at_rest.nodes - at_rest.nodes[tip], axis=1) < radius)
             for tip, (_, radius, _) in zip(tips, PULLED.values())]
    prescribed = np.concatenate(gripped_nodes)
    for _ in range(PULLS):
        for nodes, (_, _, move) in zip(gripped_nodes, PULLED.values()):
            x[nodes] += fraction * np.array(move) / PULLS
        x = in_balance(world, x, prescribed, tolerance=1e-5)
    return x
