"""Dynamic nodes for a body, found from its vibrations about the rest shape."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np

from .. import catalogue
from ..errors import BadInput, Diverged, StepFailed
from ..fields.attach import no_attachments
from ..fields.spots import find_dynamic_nodes
from ..fields.suggest import farthest_nodes, scale_to_equal_energy
from ..integrators.modes import lowest
from ..job import schema, schema_values
from ..job.folder import Job, blame
from ..state import State, Vec
from .fields import QUASISTATIC, Prepared
from .soft_bodies import assemble
from .volumes import Stage

STEP = 1.0 / 24.0  #: a frame [s]: the spectrum is looked at from far under what it shows
SUGGESTED = "nothing of it is painted as Dynamic: it has {} where it swings most"
MODES = 12, 60  #: three for each node and so many more, but no more than that


def suggest(job: Job, prepared: Prepared, count: int) -> Vec:
    """Return positions of `count` more dynamic nodes [m], (count, 3), best first.

    Dynamic nodes that the body already has count as found. Raises BadInput where there is no room for as many, Diverged
    where the rest shape has no vibrations.
    """
    with blame(job.scene, prepared.body, "dynamic"):
        return _suggest_positions(job, prepared, count, count)


def suggest_spots(job: Job, prepared: Prepared, report: Stage) -> Prepared:
    """Return the body with the dynamic spots that its job leaves to be found, as many as fit. The body is not changed
    where its job has none to be found, it has others, or its method has no quasistatic nodes."""
    body, fields = prepared.body, prepared.fields
    count, follows = body.dynamic.suggested, catalogue.find("method", job.scene.method_of(body).kind).follows
    if count is None or not follows or not prepared.kind.is_filled or len(fields.dynamic) or fields.patches:
        return prepared
    report("suggest", body.name, None, "Finding where it swings most")
    constrained = np.union1d(fields.pinned, fields.attached).astype(np.int32)
    isolated = msgspec.structs.replace(body, attach=[], cuts=[], nails=[], pulls=[], wobble_half_life=0.0)
    separate = replace(prepared, body=isolated, fields=replace(
        fields, pinned=constrained, motion=None, attached=no_attachments(), attached_by=no_attachments()))
    scene = msgspec.structs.replace(job.scene, bodies=[isolated], mechanisms=[], obstacles=[], forces=[], contact=None)
    try:
        positions = _suggest_positions(replace(job, scene=scene), separate, count, 1)
    except (BadInput, Diverged) as none:  # no node is free, or there are no vibrations: all is quasistatic
        return replace(prepared, fields=replace(fields, notes=(*fields.notes, f"no spots are suggested: {none.what}")))
    made = msgspec.structs.replace(isolated, dynamic=schema.Dynamic(points="suggested.npy"))
    notes = [note for note in fields.notes if note != QUASISTATIC]
    dynamic, patches = find_dynamic_nodes(made, lambda name: positions, prepared.volume, None, constrained, notes)
    message = SUGGESTED.format(f"{len(positions)} spots that move" if len(positions) > 1 else "one spot that moves")
    return replace(prepared, fields=replace(fields, dynamic=dynamic, patches=patches, notes=(*notes, message)))


def _suggest_positions(job: Job, prepared: Prepared, count: int, least: int) -> Vec:
    """Return positions of `count` more dynamic nodes [m], (p, 3), or of as many as have room if these are at least
    `least`."""
    volume, fields = prepared.volume, prepared.fields
    middles = [patch.nodes[_middle(volume.nodes[patch.nodes])] for patch in fields.patches]
    existing = np.union1d(fields.dynamic, np.array(middles, dtype=np.int32)).astype(np.int32)
    shapes, stiffness, mass = vibration(job, prepared, min(3 * (count + len(existing)) + MODES[0], MODES[1]))
    motion = scale_to_equal_energy(shapes, stiffness)
    nodes = farthest_nodes(volume.nodes, volume.tets, mass, motion, count, fields.pinned, existing, least)
    positions: Vec = volume.nodes[nodes]
    return positions


def _middle(positions: Vec) -> int:
    """Return the index of the position nearest to the mean of positions (m, 3)."""
    return int(np.linalg.norm(positions - positions.mean(axis=0), axis=1).argmin())


def vibration(job: Job, prepared: Prepared, count: int) -> tuple[Vec, Vec, Vec]:
    """Return the `count` lowest modes X of −K X = M X Λ about the rest shape: (k, 3, s) [kg^−½], λ, (s,) [1/s²], and M,
    (k,) [kg].

    Xᵀ M X = 1; pinned nodes do not move in any mode. Raises Diverged where the rest shape has no vibrations. [Ascher
    24]
    """
    free = msgspec.structs.replace(prepared.body, method=None)
    scene = msgspec.structs.replace(job.scene, bodies=[free], method=schema_values.Choice(kind="vanilla"),
                                    integrator=schema_values.Choice(kind="semi_implicit"), ground=None)
    world = assemble(replace(job, scene=scene), [replace(prepared, body=free)])
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
