"""Contact with friction between soft bodies at the end of a step, by forces that act in its last stage.

A force f on points moves the end of a stage by A⁻¹ Jᵀ f, where A is the matrix of its last iteration. Gaps and
tangential displacements become g + J A⁻¹ Jᵀ f. Normal forces and gaps are at least 0; friction is at most μ times the
normal force, and smaller only where points stick.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..state import Vec
from .body_contact_kernels import separate
from .reduced import LiveBody
from .skins import SurfaceContacts, surface_contacts

MOST = 48  #: points of a body that are separated from another one in a step
SWEEPS = 40  #: over all of them
COMES_OUT = 0.01  #: of a body's size: how much less deep what was inside when a step began is at its end


def resolve_contact(bodies: Sequence[LiveBody], pairs: Sequence[tuple[int, int]]) -> None:
    """Resolve intersections of bodies at the end of a step by contact forces with friction.

    bodies: their states are changed. pairs: indices (i, k) of bodies; touching points of i are tested against k.
    """
    if not pairs:
        return
    motions = [body.surface_motion() for body in bodies]
    contacts = [(i, k, contact) for i, k in pairs
                if (contact := surface_contacts(motions[i], motions[k], MOST)) is not None]
    if not contacts:
        return
    first = np.cumsum([0] + [len(contact.points) for _, _, contact in contacts])
    count = int(first[-1])
    G, moves = np.zeros((3 * count, 3 * count)), []
    for number, body in enumerate(bodies):
        where, forces = _forces_on(body, number, contacts, first)
        if len(where):
            responses = body.body.responses(forces)
            G[np.ix_(where, where)] += forces.T @ responses
            moves.append((body, where, responses))
    targets, friction = np.empty(3 * count), np.empty(count)
    for start, (i, k, contact) in zip(first, contacts):
        of = slice(start, start + len(contact.points))
        frame = _frames(contact.normals)
        slow = COMES_OUT * min(bodies[i].body.subspace.size, bodies[k].body.subspace.size)
        left = np.minimum(contact.gaps_before, 0.0)
        at = np.einsum("kad,kd->ka", frame, contact.slides)
        at[:, 0] = contact.gaps - np.minimum(left + slow, 0.0)
        targets[3 * of.start:3 * of.stop] = at.ravel()
        friction[of] = min(bodies[i].friction, bodies[k].friction)
    forces = np.zeros(3 * count)
    separate(G, targets, friction, SWEEPS, forces)
    for body, where, responses in moves:
        body.displace(responses @ forces[where])


def _forces_on(body: LiveBody, number: int, contacts: Sequence[tuple[int, int, SurfaceContacts]],
               first: Vec) -> tuple[Vec, Vec]:
    """Return the contact rows of a body, (r,), and the force on its coordinates by 1 N of each, (3 p, r).

    contacts: pairs of bodies and their contacts. first: index of the first contact of each pair.
    """
    rows, columns = [np.zeros(0, int)], [np.zeros((3 * body.state.y.shape[0], 0))]
    for start, (i, k, contact) in zip(first, contacts):
        if number not in (i, k):
            continue
        points, frame = body.rows_of(contact, number == i), _frames(contact.normals)
        sign = 1.0 if number == i else -1.0
        along = np.einsum("kad,kp->dpka", sign * frame, points)
        columns.append(along.reshape(-1, 3 * len(points)))
        rows.append(3 * start + np.arange(3 * len(points)))
    return np.concatenate(rows), np.concatenate(columns, axis=1)


def _frames(normals: Vec) -> Vec:
    """Return each unit normal and two unit tangents, as rows of (k, 3, 3)."""
    axis = np.eye(3)[np.abs(normals).argmin(axis=1)]
    one = np.cross(normals, axis)
    one /= np.linalg.norm(one, axis=1, keepdims=True)
    return np.stack([normals, one, np.cross(normals, one)], axis=1)
