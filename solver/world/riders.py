"""Which nodes of the soft bodies ride on which bodies of the mechanisms, at the start frame."""

from __future__ import annotations

import numpy as np

from ..coordinates.attached import Attached
from ..errors import BadScene
from ..state import Index, Vec
from .fields import Prepared
from .mechanism import MechanismWorld


def riders(prepared: list[Prepared], first: Index, rigid: MechanismWorld) -> Attached:
    """The attached nodes of all bodies. first: of each body's nodes, (bodies + 1,).

    Raises BadScene where nodes follow a body that moves as told.
    """
    place: dict[tuple[str, str], int] = {}
    for part in rigid.parts:
        for name in part.bodies:
            place[part.name, name] = int(rigid.shown.body[len(place)])
    state = rigid.initial_state()
    E = rigid.tree.posture(state.q, state.u, state.memory).E
    nodes: list[Index] = [np.zeros(0, dtype=np.int32)]
    bodies: list[Index] = [np.zeros(0, dtype=np.int32)]
    places: list[Vec] = [np.zeros((0, 3))]
    for one, start in zip(prepared, first):
        carriers = np.array([place[attach.mechanism, attach.body] for attach in one.body.attach], dtype=np.int32)
        if (carriers < 0).any():
            bad = int(np.flatnonzero(carriers < 0)[0])
            raise BadScene(f'it is attached to "{one.body.attach[bad].body}", which moves as told',
                           "Pin these nodes and move the pins", object=one.body.name, where=f"attach[{bad}].body")
        if len(one.fields.attached):
            nodes.append(one.fields.attached + np.int32(start))
            bodies.append(carriers[one.fields.attached_by])
            places.append(one.volume.nodes[one.fields.attached])
    return Attached.at(np.concatenate(nodes), np.concatenate(bodies), np.concatenate(places), E)
