"""Dynamic nodes for a body, found from how it vibrates about its rest shape."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np

from ..errors import Diverged, StepFailed
from ..fields.suggest import farthest_nodes, swings
from ..integrators.modes import lowest
from ..job import schema
from ..job.folder import Job, blame
from ..state import State, Vec
from .fields import Prepared
from .soft_bodies import assemble

STEP = 1.0 / 24.0  #: a frame [s]: the spectrum is looked at from far under what it shows
MODES = 12, 60  #: three for each node and so many more, but no more than that


def suggest(job: Job, prepared: Prepared, count: int) -> Vec:
    """Places of `count` more dynamic nodes [m], (count, 3), best first.

    Those that the body has already count as found. Raises BadInput where there is no room for as many, Diverged where
    the rest shape is not one that could vibrate.
    """
    volume, fields = prepared.volume, prepared.fields
    with blame(job.scene, prepared.body, "dynamic"):
        modes = min(3 * (count + len(fields.dynamic)) + MODES[0], MODES[1])
        shapes, stiffness, mass = vibration(job, prepared, modes)
        found = farthest_nodes(volume.nodes, volume.tets, mass, swings(shapes, stiffness), count, fields.pinned,
                               fields.dynamic)
    places: Vec = volume.nodes[found]
    return places


def vibration(job: Job, prepared: Prepared, count: int) -> tuple[Vec, Vec, Vec]:
    """The lowest modes X of −K X = M X Λ about the rest shape: (k, 3, s) [kg^−½], λ, (s,) [1/s²], and M, (k,).

    Xᵀ M X = 1; pinned nodes stand still in all of them. Raises Diverged. [Ascher 24]
    """
    scene = msgspec.structs.replace(job.scene, bodies=[prepared.body], method=schema.Choice(kind="vanilla"),
                                    integrator=schema.Choice(kind="semi_implicit"), ground=None)
    world = assemble(replace(job, scene=scene), [prepared])
    rest = world.rest[world.coordinates.free].ravel()
    try:
        tangent = world.tangent(State(0.0, rest, np.zeros_like(rest)), 0.0)
        basis = lowest(tangent, count, STEP, None)[:, :count]
    except StepFailed as failure:
        raise Diverged(f"its rest shape has no vibrations: {failure}", "Lower the activation of its fibers",
                       prepared.body.name) from failure
    stiffness = -np.einsum("ij,ij->j", basis, tangent.stiffness(basis))
    shapes = np.zeros((len(world.rest), 3, basis.shape[1]))
    shapes[world.coordinates.free] = basis.reshape(-1, 3, basis.shape[1])
    return shapes, stiffness, world.mass
