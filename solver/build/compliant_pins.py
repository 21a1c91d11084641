"""Compliant pins and attachments of a job, which yield to obstacles."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..coordinates.prescribed import Constant
from ..fields.attach import no_attachments
from ..forces.compliant_pins import CompliantAttachment, CompliantPins
from ..job.folder import Job
from ..meshing.volume import mean_edge
from ..state import Index, Vec
from .fields import Prepared
from .inputs import positions_over_time

FIRM = 10.0  #: of inertia over a step and of elasticity: what a pin holds with
REPORTED = 0.1  #: of a mean edge of the skin: pins that are so far off give way


@dataclass(frozen=True)
class CompliantAnchors:
    """Points of one rigid body to which compliant attachments tie nodes of a soft body, at the start."""

    body: str  #: name of the soft body
    nodes: Index  #: nodes of the soft body, counted from its first one, (k,)
    positions: Vec  #: positions at the start, (k, 3) [m]
    shown: int  #: index of the rigid body among all that are shown


def anchors_of(job: Job, prepared: list[Prepared]) -> list[CompliantAnchors]:
    """Return the anchors of all bodies that are attached to mechanisms and have compliant pins."""
    shown = [(mechanism.name, body.name) for mechanism in job.scene.mechanisms for body in mechanism.bodies]
    anchors = []
    for prepared_body in prepared:
        for k, attach in enumerate(prepared_body.body.attach if prepared_body.body.pins_yield else ()):
            nodes = prepared_body.fields.attached[prepared_body.fields.attached_by == k]
            anchors.append(CompliantAnchors(prepared_body.body.name, nodes, prepared_body.volume.nodes[nodes],
                                            shown.index((attach.mechanism, attach.body))))
    return [anchor for anchor in anchors if len(anchor.nodes)]


def compliant_attachments(job: Job, prepared: list[Prepared], mass: Vec, first: Index,
                          anchored: list[tuple[CompliantAnchors, slice]]) -> list[CompliantAttachment]:
    """Return the springs from soft bodies to their anchors on rigid bodies. mass: of all nodes, (n,) [kg]. first: first
    node of each body, (bodies + 1,). anchored: anchors, each with a slice of its nodes, counted from the first node
    after the bodies."""
    springs, clock, body_index = [], job.scene.time, {
        prepared_body.body.name: k for k, prepared_body in enumerate(prepared)}
    for anchors, span in anchored:
        prepared_body, start = prepared[body_index[anchors.body]], int(first[body_index[anchors.body]])
        edge, nodes = (mean_edge(prepared_body.volume.nodes, prepared_body.skin),
                       (anchors.nodes + start).astype(np.int32))
        stiffness = FIRM * (mass[nodes] / clock.step**2
                            + np.broadcast_to(
                                prepared_body.resistance(edge), len(prepared_body.volume.nodes))[anchors.nodes])
        attached = int(first[-1]) + np.arange(span.start, span.stop)
        springs.append(CompliantAttachment(anchors.body, nodes, attached, stiffness, Constant(anchors.positions),
                                           REPORTED * edge, lambda time: clock.start + time * clock.fps))
    return springs


def without_pins(one: Prepared) -> Prepared:
    """Return a body without its pins and attachments where these are compliant; else the body itself."""
    if not one.body.pins_yield:
        return one
    return replace(one, fields=replace(one.fields, pinned=np.zeros(0, np.int32), motion=None, attached=no_attachments(),
                                       attached_by=no_attachments()))


def make_compliant_pins(job: Job, one: Prepared, mass: Vec, start: int) -> list[CompliantPins]:
    """Return the springs that replace a body's compliant pins, all in one; none without any. mass: of all nodes, (n,)
    [kg]. start: its first node."""
    pinned, clock = one.fields.pinned, job.scene.time
    if not one.body.pins_yield or not len(pinned):
        return []
    x, edge = one.volume.nodes, mean_edge(one.volume.nodes, one.skin)
    nodes = (pinned + start).astype(np.int32)
    stiffness = FIRM * (mass[nodes] / clock.step**2 + np.broadcast_to(one.resistance(edge), len(x))[pinned])
    return [CompliantPins(one.body.name, nodes, stiffness, positions_over_time(job, one.fields.motion, x[pinned]),
                          REPORTED * edge, lambda time: clock.start + time * clock.fps)]
