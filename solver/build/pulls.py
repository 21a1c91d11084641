"""Springs that pull a body near a point, as the artist's pulls do."""

from __future__ import annotations

from functools import partial

import numpy as np

from ..coordinates.prescribed import Constant, Transformed
from ..embedding.nodes_near import nodes_near
from ..errors import BadScene
from ..forces.pulls import Pull
from ..job.folder import Job, blame
from ..state import Vec
from .fields import Prepared
from .inputs import activation_of, over_time


def make_pulls(job: Job, one: Prepared, mass: Vec, start: int = 0) -> list[Pull]:
    """Return the pulls on a body. mass: of all nodes, (n,) [kg]. start: its first node. Raises BadScene where a pull is
    near no node of it."""
    pulls = []
    for k, pull in enumerate(one.body.pulls):
        x, centre = one.volume.nodes, np.array(pull.position)
        near = np.flatnonzero(_distance(centre, x) <= pull.radius)
        if not len(near):  # the radius is smaller than a tetrahedron
            near = nodes_near(x, one.volume.tets, one.embedding, partial(_distance, centre), pull.radius, centre[None])
        if not len(near):
            with blame(job.scene, one.body, f"pulls[{k}].radius"):
                raise BadScene("a pull is not near any of its nodes", "Move it to the body or raise its radius")
        nodes = (near + start).astype(np.int32)
        # by mass, so that the force does not depend on the mesh
        stiffness = pull.stiffness * mass[nodes] / mass[nodes].sum()
        targets = Constant(x[near]) if pull.motion is None else Transformed(over_time(job, pull.motion), x[near])
        strength = None if pull.strength is None else activation_of(job, pull.strength)
        pulls.append(Pull(nodes, stiffness, targets, strength))
    return pulls


def _distance(point: Vec, points: Vec) -> Vec:
    """Return the distances of points (k, 3) from a position (3,), (k,) [m]."""
    away: Vec = np.linalg.norm(points - point, axis=1)
    return away
