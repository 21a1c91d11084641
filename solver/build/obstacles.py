"""Obstacles of a scene: meshes at rest or of prescribed motion, and surfaces of rigid bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..coordinates.prescribed import Constant, OverTime
from ..job.folder import Job
from ..state import Index, Vec
from .compliant_pins import CompliantAnchors
from .inputs import over_time
from .rigid_skins import RigidSkin
from .supported import SupportedBody, support_of


@dataclass(frozen=True)
class Obstacles:
    """Obstacle meshes of a scene, whose nodes follow those of the soft bodies; surfaces of rigid bodies are last."""

    names: list[str]
    called: list[str]  #: name of each in `touches` of a body: its own, or that of its mechanism
    positions: Vec  #: positions at the start, (o, 3) [m]
    triangles: list[Index]  #: of each, (t, 3), counted from the obstacles' first node
    motions: list[OverTime]  #: of each that is not attached to a rigid body, (o, 3) [m] at a time
    friction: list[float | None]  #: coefficient of each; None: that of the contact law
    painted: Vec  #: fraction of the friction at each node, (o,)
    masses: list[float]  #: of each that is a rigid body and not animated [kg], else 0
    #: nodes on rigid bodies: index of the body among all that are shown, and nodes among the obstacles'
    attached: list[tuple[int, slice]]
    #: anchors of soft bodies on rigid ones, without faces: they are the last of `attached`
    anchored: list[tuple[CompliantAnchors, slice]] = field(default_factory=list)
    spans: list[slice] = field(default_factory=list)  #: nodes of each name, among the obstacles'

    @property
    def own(self) -> int:
        """Return the number of nodes that are not attached to rigid bodies, which are the first ones."""
        return self.attached[0][1].start if self.attached else len(self.positions)


def obstacles_of(job: Job, skins: Sequence[RigidSkin] = (), anchors: Sequence[CompliantAnchors] = ()) -> Obstacles:
    """Return the scene's obstacles with faces, then surfaces of rigid bodies; none where the scene has no contact.
    skins: surfaces of rigid bodies. anchors: points of rigid bodies to which compliant attachments tie soft bodies."""
    scene = job.scene
    if scene.contact is None:
        return Obstacles([], [], np.zeros((0, 3)), [], [], [], np.zeros(0), [], [])
    positions, triangles, motions, first = [np.zeros((0, 3))], list[Index](), list[OverTime](), 0
    spans = list[slice]()
    with_faces = [(obstacle, obstacle.triangles) for obstacle in scene.obstacles if obstacle.triangles is not None]
    support = support_of(job)
    for obstacle, path in with_faces:
        faces = np.asarray(job.array(path), dtype=np.int32)
        seen = np.asarray(job.array(obstacle.vertices), dtype=float)
        positions.append(seen if support is None else support.extend_below(seen, faces))
        moves = Constant(positions[-1]) if obstacle.motion is None else over_time(job, obstacle.motion)
        motions.append(moves if support is None or obstacle.motion is None else SupportedBody(moves, faces, support))
        triangles.append(faces + np.int32(first))
        spans.append(slice(first, first + len(positions[-1])))
        first += len(positions[-1])
    attached = []
    for skin in skins:
        positions.append(skin.vertices)
        triangles.append(skin.triangles + np.int32(first))
        attached.append((skin.shown, slice(first, first + len(skin.vertices))))
        spans.append(attached[-1][1])
        first += len(skin.vertices)
    anchored = []
    for anchor in anchors:
        positions.append(anchor.positions)
        anchored.append((anchor, slice(first, first + len(anchor.positions))))
        attached.append((anchor.shown, anchored[-1][1]))
        first += len(anchor.positions)
    names = [*(obstacle.name for obstacle, _ in with_faces), *(skin.name for skin in skins)]
    called = [*(obstacle.name for obstacle, _ in with_faces), *(skin.mechanism for skin in skins)]
    friction = [*(obstacle.friction for obstacle, _ in with_faces), *(skin.friction for skin in skins)]
    masses = [0.0] * len(with_faces) + [skin.mass for skin in skins]
    fractions = [np.ones(len(vertices)) if path is None else np.asarray(job.array(path), dtype=float)
              for vertices, path in zip(positions[1:], [obstacle.friction_weights for obstacle, _ in with_faces])]
    of_attached = [np.ones(of.stop - of.start) for _, of in attached]
    painted = np.concatenate([*fractions, *of_attached]) if fractions or of_attached else np.zeros(0)
    return Obstacles(names, called, np.concatenate(positions), triangles, motions, friction, painted, masses, attached,
                     anchored, spans)
