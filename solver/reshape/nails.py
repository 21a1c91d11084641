"""Nails: nodes that are prescribed from some frame on, and released again; and pins that release nodes.

A node pinned by a nail is prescribed, and no longer quasistatic or dynamic. The matrix gets a new pattern, once: with a
stiff spring or a multiplier instead, quasistatic nodes would lock around it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..build.fields import Prepared
from ..build.inputs import at_frame
from ..coordinates.prescribed import transform_points
from ..embedding.nodes_near import nodes_near
from ..fields.attach import PINNED
from ..fields.pins import hard_weights
from ..job import schema
from ..job.folder import Job
from ..state import Index, Mask, Vec
from .body import WholeBody

ALONG = 257  #: number of points of a nail's axis at which tetrahedra are searched


@dataclass(frozen=True)
class Driven:
    """Nodes that one nail pins, sufficient to pin them again without the positions of the body."""

    nail: int  #: its number among the nails of the body
    nodes: Index  #: numbers in the body after all cuts up to that moment, (p,)
    positions: Vec  #: their positions at that moment [m], (p, 3)


def drive(job: Job, body: schema.Body, number: int, whole: WholeBody, x: Vec) -> Driven:
    """Return the nodes that a nail pins.

    number: of the nail in the body. x: present positions of the nodes of `whole`, (n, 3) [m]. Pinned are all free nodes
    within the radius of the nail, nodes of tetrahedra that carry vertices within it, and, where the nail is thinner
    than a tetrahedron, the nodes of the tetrahedra that its axis crosses.
    """
    nail = body.nails[number]
    head, tip = np.asarray(nail.head), np.asarray(nail.tip)
    if nail.motion is not None:
        matrix = at_frame(job, nail.motion, nail.frame, nail.subframe)
        head, tip = transform_points(matrix, np.stack([head, tip]))
    along, prepared = tip - head, whole.prepared

    def distance(points: Vec) -> Vec:
        fraction = np.clip((points - head) @ along / max(float(along @ along), 1e-300), 0.0, 1.0)
        away: Vec = np.linalg.norm(points - head - fraction[:, None] * along, axis=1)
        return away

    axis = head + np.linspace(0.0, 1.0, ALONG)[:, None] * along
    near = nodes_near(x, prepared.volume.tets, prepared.embedding, distance, nail.radius, axis)
    nodes = near[~np.isin(near, np.concatenate([prepared.fields.pinned, prepared.fields.attached]))]
    return Driven(number, nodes, x[nodes])


def hold(job: Job, body: schema.Body, whole: WholeBody, driven: Driven) -> WholeBody:
    """Return the body with the nodes of a nail prescribed: at rest, or moving with the object that the nail follows."""
    nail, prepared = body.nails[driven.nail], whole.prepared
    where: Vec = np.broadcast_to(driven.positions, (job.samples, *driven.positions.shape))
    if nail.motion is not None:
        matrices: Vec = np.asarray(job.array(nail.motion), dtype=float)
        initial = at_frame(job, nail.motion, nail.frame, nail.subframe)
        where = transform_points(matrices @ np.linalg.inv(initial), driven.positions)
    return _with_pins(whole, prepared, np.concatenate([prepared.fields.pinned, driven.nodes]),
                      np.concatenate([_motion(job, prepared), where], axis=1))


def find_released(job: Job, one: Prepared) -> dict[int, Index]:
    """Return the nodes of a body whose pins are released, by the frame after which they are.

    Empty for a body without such pins.
    """
    pin, pinned = one.body.pin, one.fields.pinned
    if pin.until is None or pin.weights is None or not len(pinned):
        return {}
    painted: Mask = hard_weights(pin, np.asarray(job.array(pin.weights))) > PINNED
    when = np.asarray(job.array(pin.until))[one.vertices_at(job, pinned, painted)]
    return {int(frame): pinned[when == frame] for frame in np.unique(when)}


def draw(job: Job, whole: WholeBody, nodes: Index, dynamic: Index) -> WholeBody:
    """Return the body with some pinned nodes released; nodes that were dynamic in the uncut body are dynamic again.

    nodes: to be released, (k,). dynamic: dynamic nodes of the uncut volume, (m,). At most one of the copies of such a
    node is dynamic.
    """
    prepared, fields = whole.prepared, whole.prepared.fields
    stays = ~np.isin(fields.pinned, nodes)
    missing = np.setdiff1d(dynamic, whole.origin[fields.dynamic])
    origins, first = np.unique(whole.origin[nodes], return_index=True)
    woken = nodes[first[np.isin(origins, missing)]]
    fields = replace(fields, dynamic=np.union1d(fields.dynamic, woken).astype(np.int32))
    return _with_pins(whole, replace(prepared, fields=fields), prepared.fields.pinned[stays],
                      _motion(job, prepared)[:, stays])


def _with_pins(whole: WholeBody, prepared: Prepared, pinned: Index, motion: Vec) -> WholeBody:
    """Return the body with these pinned nodes, (p,), and their motion, (T, p, 3) [m]; pinned nodes are not dynamic."""
    order = np.argsort(pinned)
    fields = replace(prepared.fields, pinned=pinned[order].astype(np.int32), motion=motion[:, order],
                     dynamic=np.setdiff1d(prepared.fields.dynamic, pinned).astype(np.int32))
    return replace(whole, prepared=replace(prepared, fields=fields))


def _motion(job: Job, prepared: Prepared) -> Vec:
    """Return the positions of pinned nodes at each sample of motion, (T, p, 3) [m]."""
    fields = prepared.fields
    rest = prepared.volume.nodes[fields.pinned]
    return np.broadcast_to(rest, (job.samples, *rest.shape)) if fields.motion is None else fields.motion
