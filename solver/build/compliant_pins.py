"""Compliant pins and attachments of a job, which yield to obstacles."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..coordinates.prescribed import Still
from ..fields.attach import nobody
from ..forces.yielding_pins import CompliantAttachment, YieldingPins
from ..job.folder import Job
from ..meshing.volume import mean_edge
from ..state import Index, Vec
from .fields import Prepared
from .inputs import places_over_time

FIRM = 10.0  #: of inertia over a step and of elasticity: what a pin holds with
REPORTED = 0.1  #: of a mean edge of the skin: pins that are so far off give way


@dataclass(frozen=True)
class CompliantAnchors:
    """Points of a rigid body that flesh which gives way is drawn to, as that stands at the start."""

    body: str  #: whose flesh
    nodes: Index  #: of the flesh, numbers in its own body, (k,)
    places: Vec  #: (k, 3) [m]
    shown: int  #: the rigid body's place among all that are shown


def anchors_of(job: Job, prepared: list[Prepared]) -> list[CompliantAnchors]:
    """Return the anchors of all bodies that hang on mechanisms and have compliant pins."""
    shown = [(mechanism.name, body.name) for mechanism in job.scene.mechanisms for body in mechanism.bodies]
    found = []
    for one in prepared:
        for k, attach in enumerate(one.body.attach if one.body.pins_yield else ()):
            nodes = one.fields.attached[one.fields.attached_by == k]
            found.append(CompliantAnchors(one.body.name, nodes, one.volume.nodes[nodes],
                                 shown.index((attach.mechanism, attach.body))))
    return [one for one in found if len(one.nodes)]


def grips(job: Job, prepared: list[Prepared], mass: Vec, first: Index, anchored: list[tuple[CompliantAnchors, slice]]
          ) -> list[CompliantAttachment]:
    """Springs from flesh to its anchors. mass: of all nodes [kg]. anchored: with nodes behind those of the bodies."""
    found, clock, place = [], job.scene.time, {one.body.name: k for k, one in enumerate(prepared)}
    for anchors, riding in anchored:
        one, start = prepared[place[anchors.body]], int(first[place[anchors.body]])
        edge, nodes = mean_edge(one.volume.nodes, one.skin), (anchors.nodes + start).astype(np.int32)
        stiffness = FIRM * (mass[nodes] / clock.step**2
                            + np.broadcast_to(one.resistance(edge), len(one.volume.nodes))[anchors.nodes])
        attached = int(first[-1]) + np.arange(riding.start, riding.stop)
        found.append(CompliantAttachment(anchors.body, nodes, attached, stiffness, Still(anchors.places),
                                         REPORTED * edge, lambda time: clock.start + time * clock.fps))
    return found


def without_pins(one: Prepared) -> Prepared:
    """The body as what is prescribed and what rides see it: without its pins, and hanging on no bone, where these give
    way."""
    if not one.body.pins_yield:
        return one
    return replace(one, fields=replace(one.fields, pinned=np.zeros(0, np.int32), motion=None, attached=nobody(),
                                       attached_by=nobody()))


def yielding_pins(job: Job, prepared: list[Prepared], mass: Vec, first: Index) -> list[YieldingPins]:
    """Springs in place of the pins that give way. mass: of all nodes [kg]. first: of each body's nodes."""
    found, clock = [], job.scene.time
    for one, start in zip(prepared, first):
        pinned = one.fields.pinned
        if not one.body.pins_yield or not len(pinned):
            continue
        x, edge = one.volume.nodes, mean_edge(one.volume.nodes, one.skin)
        nodes = (pinned + start).astype(np.int32)
        stiffness = FIRM * (mass[nodes] / clock.step**2 + np.broadcast_to(one.resistance(edge), len(x))[pinned])
        found.append(YieldingPins(one.body.name, nodes, stiffness, places_over_time(job, one.fields.motion, x[pinned]),
                                  REPORTED * edge, lambda time: clock.start + time * clock.fps))
    return found
