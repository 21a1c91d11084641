"""Interface points of a staggered part, such as a cloth with substeps, on the parts that it touches or is attached to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_matrix

from ..coordinates.attached import Attached
from ..coordinates.prescribed import Interpolated, OverTime, StepMotion, Transformed
from ..coupling.interface_points import BonePoints, InterfacePoints, NodePoints
from ..coupling.staggered import CoupledInterface, InterfaceLink, StaggeredPart
from ..embedding.bind import bind
from ..job.folder import Job, parameters
from ..meshing.normals import area_vectors
from ..state import Index, Vec
from ..world.nodes_part import NodesPart
from .fields import Prepared

if TYPE_CHECKING:
    from ..world.joints_part import JointsPart


NO_FACES = np.zeros((0, 3), np.int32)


@dataclass(frozen=True)
class CoupledPoints:
    """Points of another part, as a staggered part sees them."""

    positions: Vec  #: positions at the start [m], (k, 3)
    motion: OverTime  #: (k, 3) [m] at a time
    #: points of the part on which reactions act, and their motion; None: the motion is prescribed
    on: tuple[InterfacePoints, StepMotion] | None
    #: interpolation from the points of `on` to these points, (k, p); None: identity
    within: csr_matrix | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class CoupledSurface(CoupledPoints):
    """Surface of another part that a staggered part touches."""

    name: str
    triangles: Index  #: (t, 3)
    friction: float
    mass: float  #: [kg]; 0 of cloth, and of prescribed motion

    @property
    def areal_mass(self) -> float:
        """Return the mass of the surface's body per area of the surface [kg/m²]."""
        return 2.0 * self.mass / float(np.linalg.norm(area_vectors(self.positions, self.triangles), axis=1).sum())


@dataclass(frozen=True)
class CoupledPins(CoupledPoints):
    """Points of another part to which vertices of a cloth are attached."""

    vertices: Index  #: vertices of the artist's cloth, (k,)


def interface_of(number: int, part: StaggeredPart, surfaces: Sequence[CoupledSurface]) -> CoupledInterface:
    """Return the interface of a staggered part, the number-th of the world, with the points of these surfaces in their
    order."""
    ends = np.cumsum([0, *(len(surface.positions) for surface in surfaces)]).tolist()
    linked = [InterfaceLink(surface.on[0], slice(first, end), surface.on[1], surface.within)
              for surface, first, end in zip(surfaces, ends, ends[1:]) if surface.on is not None]
    return CoupledInterface(number, part, ends[-1], linked)


class ClothSurroundings:
    """Other parts of a scene that a staggered part may touch or be attached to."""

    def __init__(self, job: Job, soft: Sequence[NodesPart], prepared: Sequence[Prepared],
                 rigid: JointsPart | None) -> None:
        """soft: the first parts of the world. prepared: the bodies in these. rigid: the mechanisms, the next part;
        None: there are none."""
        self._job, self._soft, self._prepared, self._rigid = job, soft, prepared, rigid

    def surfaces(self, one: Prepared) -> list[CoupledSurface]:
        """Return the surfaces of soft bodies, other cloth and rigid bodies that a body touches, where neither excludes
        the other; none where the scene has no contact. Ropes have no surface."""
        scene, own = self._job.scene, one.body
        if scene.contact is None:
            return []
        usual = float(parameters("contact", scene.contact.law).get("friction_coefficient", 0.0))
        surfaces = []
        for other in self._prepared:
            ours, its = own.touches, other.body.touches
            if other.kind.has_faces and (ours is None or other.body.name in ours) and (its is None or own.name in its):
                mu = usual if other.body.friction is None else other.body.friction
                surfaces.append(self._skin(other, mu))
        if self._rigid is None:
            return surfaces
        from .rigid_skins import skins_of  # where something is rigid

        for skin in skins_of(self._job):
            if own.touches is None or skin.mechanism in own.touches:
                seen = self._on_body(skin.shown, skin.vertices)
                surfaces.append(CoupledSurface(seen.positions, seen.motion, seen.on, skin.name, skin.triangles,
                                               skin.friction, skin.mass))
        return surfaces

    def attachments(self, one: Prepared) -> list[CoupledPins]:
        """Return the points of bones and soft bodies to which vertices of a cloth are attached."""
        shown = [(mechanism.name, body.name) for mechanism in self._job.scene.mechanisms for body in mechanism.bodies]
        pins = []
        for k, attach in enumerate(one.body.attach):
            vertices = one.fields.attached[one.fields.attached_by == k]
            if len(vertices) and attach.mechanism:
                seen = self._on_body(shown.index((attach.mechanism, attach.body)), one.volume.nodes[vertices])
                pins.append(CoupledPins(seen.positions, seen.motion, seen.on, vertices))
            elif len(vertices):
                pins.append(self._in_flesh(attach.body, one, vertices))
        return pins

    def _in_flesh(self, name: str, one: Prepared, vertices: Index) -> CoupledPins:
        """Return the points of a soft body's tetrahedra to which vertices of a cloth are attached, in them or next to
        them."""
        holder = next(other for other in self._prepared if other.body.name == name)
        k, soft, nodes = self._find_part(name)
        positions = one.volume.nodes[vertices]
        bound = bind(holder.volume.nodes, holder.volume.tets, positions, NO_FACES)
        used, corners = np.unique(bound.corners, return_inverse=True)
        within = csr_matrix((bound.weights.ravel(), corners.ravel(), 4 * np.arange(len(positions) + 1)),
                            shape=(len(positions), len(used)))
        path = StepMotion(holder.volume.nodes[used])
        on = NodePoints(k, soft, nodes, (used + nodes.start).astype(np.int32))
        return CoupledPins(positions, Interpolated(path, within), (on, path), vertices, within=within)

    def _find_part(self, name: str) -> tuple[int, NodesPart, slice]:
        """Return the part of a soft body: its index in the world, the part itself, and the body's nodes there."""
        return next((k, soft, body.nodes) for k, soft in enumerate(self._soft) for body in soft.bodies_in_world
                    if body.name == name)

    def _skin(self, other: Prepared, friction: float) -> CoupledSurface:
        k, soft, nodes = self._find_part(other.body.name)
        used, triangles = np.unique(other.skin, return_inverse=True)
        positions = other.volume.nodes[used]
        path = StepMotion(positions)
        on = NodePoints(k, soft, nodes, (used + nodes.start).astype(np.int32))
        return CoupledSurface(positions, path, (on, path), other.body.name, triangles.reshape(-1, 3).astype(np.int32),
                              friction,
                              0.0 if other.kind.is_sheet else float(soft.mass[nodes].sum()))

    def _on_body(self, shown: int, positions: Vec) -> CoupledPoints:
        """Return points of one rigid body. shown: index of the body among all that are shown. positions: at the start,
        (k, 3) [m]."""
        assert self._rigid is not None
        rigid = self._rigid
        body = int(rigid.shown.body[shown])
        if body < 0:
            return CoupledPoints(positions, Transformed(rigid.shown.obstacles[shown], positions), None)
        state = rigid.initial_state()
        E = rigid.tree.posture(state.q, state.u, state.memory).E
        nodes = np.arange(len(positions), dtype=np.int32)
        points = Attached.at(nodes, np.full(len(positions), body, np.int32), positions, E)
        path = StepMotion(positions)
        return CoupledPoints(positions, path, (BonePoints(len(self._soft), rigid, points), path))
