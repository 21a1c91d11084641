"""Pins of a job that give way to what is before them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..forces.yielding_pins import YieldingPins
from ..job.folder import Job
from ..meshing.volume import unique_edges
from ..state import Index, Vec
from .fields import Prepared
from .inputs import places_over_time

FIRM = 10.0  #: of inertia over a step and of elasticity: what a pin holds with
TOLD = 0.1  #: of a mean edge of the skin: pins that are so far off give way
SIDES = np.array([[0, 1], [1, 2], [2, 0]])


def without_pins(one: Prepared) -> Prepared:
    """The body as what is prescribed sees it: without its pins where these give way."""
    if not one.body.pins_yield:
        return one
    return replace(one, fields=replace(one.fields, pinned=np.zeros(0, np.int32), motion=None))


def yielding_pins(job: Job, prepared: list[Prepared], mass: Vec, first: Index) -> list[YieldingPins]:
    """Springs in place of the pins that give way. mass: of all nodes [kg]. first: of each body's nodes."""
    found, clock = [], job.scene.time
    for one, start in zip(prepared, first):
        pinned = one.fields.pinned
        if not one.body.pins_yield or not len(pinned):
            continue
        x = one.volume.nodes
        sides = unique_edges(one.skin, SIDES)
        edge = float(np.linalg.norm(x[sides[:, 0]] - x[sides[:, 1]], axis=1).mean())
        nodes = (pinned + start).astype(np.int32)
        stiffness = FIRM * (mass[nodes] / clock.step**2 + np.broadcast_to(one.resistance(edge), len(x))[pinned])
        found.append(YieldingPins(one.body.name, nodes, stiffness, places_over_time(job, one.fields.motion, x[pinned]),
                                  TOLD * edge, lambda time: clock.start + time * clock.fps))
    return found
