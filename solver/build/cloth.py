"""Bodies of cloth: the vertices of the surface are the nodes, and its triangles and hinges the elements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .. import catalogue
from ..errors import NoFreeNode
from ..fields.attach import PINNED, find_attached_nodes, no_attachments, read_listed_nodes
from ..fields.build import Fields
from ..fields.pins import follow, hard_weights
from ..forces.stencils import StencilForce
from ..job import schema
from ..job.folder import Job, blame, parameters
from ..job.kinds.cloth import ClothKind
from ..meshing.volume import Volume, find_connected_nodes
from ..state import Index, Mask, Vec
from .fields import Prepared
from .material_data import MaterialData
from .seams import refuse_longer
from .volumes import Stage

if TYPE_CHECKING:
    from ..forces.cloth.sheet import Sheet, SheetLaw
    from ..forces.limits import Limits

ALONG_NORMAL = 1.0e-2  #: of a warp: a face that it runs into more steeply takes another direction for its own


@dataclass(frozen=True)
class PreparedCloth(Prepared):
    """Cloth, meshed and painted: the volume has nodes and no tetrahedra."""

    triangles: Index  #: (m, 3)
    material: Vec  #: positions of their corners in material space [m], (m, 3, 2)

    @property
    def skin(self) -> Index:
        """Return the faces of the cloth, (m, 3)."""
        return self.triangles

    @property
    def is_closed(self) -> bool:
        """Whether the skin has an inside: False, since the inside of a bag is outside of its cloth."""
        return False

    @property
    def in_material(self) -> Vec:
        """Return positions of the corners of faces in material space, (m, 3, 2) [m]."""
        return self.material

    @property
    def count(self) -> int:
        """Return the number of faces."""
        return len(self.triangles)

    @property
    def areal_density(self) -> float:
        """Return the mass per area [kg/m²]."""
        return self.cloth.area_density

    @property
    def thickness(self) -> float:
        """Return the thickness of the cloth [m], the distance that it keeps from other surfaces."""
        return self.cloth.thickness

    @property
    def kind(self) -> ClothKind:
        """Return the kind of the body, with its settings."""
        return ClothKind(self.body)

    @property
    def cloth(self) -> schema.Cloth:
        """Return the settings of the cloth."""
        return self.kind.cloth

    @property
    def _stretch(self) -> float:
        """Return the larger of the moduli of warp and weft [N/m]."""
        params = parameters("membrane", self.cloth.membrane)
        return max(float(params[name]) for name in ("stretch_warp", "stretch_weft") if name in params)

    def material_data(self, job: Job, rest: Vec, start: int) -> MaterialData:
        """Return the membrane, bending and hard limits of the cloth as elements, with the mass of each node. rest:
        positions of all nodes, (n, 3) [m]. start: first node of the cloth among them."""
        from ..forces.cloth.elements import ClothElements  # its kernels are compiled where there is cloth
        from ..forces.cloth.sheet import Sheet

        sheet = Sheet(rest, self.triangles + np.int32(start), self.material)
        laws: list[SheetLaw] = [catalogue.find(family, choice.kind).load()(sheet, parameters(family, choice))
                                for family, choice in (("membrane", self.cloth.membrane),
                                                       ("bending", self.cloth.bending))]
        limits = self._limits(job, sheet)
        laws += limits
        third = np.repeat(self.cloth.area_density * sheet.areas / 3.0, 3)
        mass: Vec = np.bincount(self.triangles.ravel(), third, len(self.volume.nodes))  # type: ignore[assignment]
        parts = [part + start for part in find_connected_nodes(self.triangles, len(self.volume.nodes))]
        return MaterialData(ClothElements([law for law in laws if len(law.nodes)]),
                            np.full(len(self.triangles), self._stretch), mass, parts, self._stretch, tuple(limits))

    def _limits(self, job: Job, sheet: Sheet) -> list[Limits]:
        """Return the hard limits of edge lengths and areas that the cloth has."""
        if not (self.cloth.length_limit or self.cloth.area_limit):
            return []
        from ..forces.limits import AreaLimit, LengthLimit

        mass = self.cloth.area_density * float(sheet.areas.sum())
        step = schema.step_size(job.scene.time.fps, job.scene.time.step)[1]
        limits: list[Limits] = []
        if self.cloth.length_limit:
            sides = np.concatenate([sheet.triangles[:, [i, j]] for i, j in ((0, 1), (1, 2), (2, 0))])
            flat = np.concatenate([sheet.material[:, j] - sheet.material[:, i] for i, j in ((0, 1), (1, 2), (2, 0))])
            edges, first = np.unique(np.sort(sides, axis=1), axis=0, return_index=True)
            limits.append(LengthLimit(edges, np.linalg.norm(flat[first], axis=1), -np.inf, self.cloth.length_limit,
                                      mass, step))
        if self.cloth.area_limit:
            limits.append(AreaLimit(sheet.triangles, sheet.areas, -self.cloth.area_limit, self.cloth.area_limit, mass,
                                    step))
        return limits

    def quads(self, job: Job) -> Index:
        """Return the corners of quads that may be drawn with either diagonal, in cyclic order, (k, 4)."""
        quads = self.cloth.quads
        return super().quads(job) if quads is None else np.asarray(job.array(quads), dtype=np.int32)

    def own_forces(self, job: Job, rest: Vec, start: int) -> list[StencilForce]:
        """Return the forces of pressure inside the cloth and of its seams. rest: positions of all nodes, (n, 3) [m].
        start: first node of the cloth among them. Raises BadMesh where a seam is longer than the cloth that it joins.
        """
        forces: list[StencilForce] = []
        if self.cloth.pressure:
            from ..forces.cloth.pressure import Pressure  # its kernel is compiled where cloth has a pressure

            forces.append(Pressure(self.skin + np.int32(start), self.cloth.pressure, rest))
        if self.cloth.seams is not None:
            from ..forces.cloth.seams import Seams

            pairs = np.asarray(job.array(self.cloth.seams))
            with blame(job.scene, self.body, "cloth.seams"):
                refuse_longer(pairs, self.volume, self.skin)
            forces.append(Seams(pairs + start, self.cloth.seam_stiffness, self.cloth.seam_time, rest))
        return forces

    def vertices_at(self, job: Job, nodes: Index, painted: Mask) -> Index:
        """Return the vertices of the artist's mesh at these nodes, (k,): those with equal numbers."""
        return nodes

    def read_prescribed_motion(self, job: Job, nodes: Index) -> Vec | None:
        """Return positions of animated nodes at each sample, (T, k, 3) [m]; None where they are at rest. nodes: (k,).
        """
        return motion_of(job, self.body, self.volume.nodes, nodes)

    def resistance(self, edge: float) -> Vec:
        """Return the stiffness of each node against contact, (n,) [N/m]: the larger modulus of warp and weft."""
        return np.full(len(self.volume.nodes), self._stretch)


def prepare_cloth(job: Job, body: schema.Body, volume: Volume, report: Stage) -> PreparedCloth:
    """Return the cloth of a body with its prescribed nodes and its material space. Raises a ConJacError that names the
    body and the field, such as NoFreeNode where every vertex is pinned or attached."""
    report("fields", body.name, None, "Laying out the cloth")
    surface, cloth = body.surface, body.cloth
    assert surface is not None and cloth is not None
    triangles = np.asarray(job.array(surface.triangles), dtype=np.int32)
    notes: list[str] = []
    with blame(job.scene, body, "surface"):
        pinned = find_pinned_vertices(job, body, volume.nodes, triangles, notes)
        weights = {attach.weights: np.asarray(job.array(attach.weights), dtype=float)
                   for attach in body.attach if attach.weights}
        attached, by = find_attached_nodes(body, job.array, weights, len(volume.nodes), pinned, notes)
        if len(pinned) + len(attached) == len(volume.nodes) and body.pin.until is None:
            raise NoFreeNode("every vertex is pinned or attached, so nothing can move", "Pin or attach less of it",
                             where="pin.weights" if body.pin.weights is not None else "pin.nodes")
    fields = Fields({}, np.zeros(0), no_attachments(), pinned, {}, None, motion_of(job, body, volume.nodes, pinned),
                    tuple(notes), attached, by)
    material = (lay_flat(volume.nodes, triangles, np.array(cloth.warp)) if cloth.uv is None
                else scale_uv(np.asarray(job.array(cloth.uv), dtype=float), volume.nodes, triangles))
    return PreparedCloth(body, volume, None, fields, triangles, material)


def lay_flat(vertices: Vec, triangles: Index, warp: Vec) -> Vec:
    """Return the corners of each triangle in a plane of its own, with the warp along u, (m, 3, 2) [m]. vertices: in the
    world, (n, 3) [m]. triangles: (m, 3). warp: direction in the world, (3,)."""
    corners = vertices[triangles]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    along = np.broadcast_to(warp / np.linalg.norm(warp), normal.shape)
    u = along - np.einsum("mi,mi->m", along, normal)[:, None] * normal
    steep = np.linalg.norm(u, axis=1) < ALONG_NORMAL
    other = np.eye(3)[np.abs(normal).argmin(axis=1)]
    u[steep] = np.cross(normal, other)[steep]
    u /= np.linalg.norm(u, axis=1)[:, None]
    flat = corners - corners[:, :1]
    return np.stack([np.einsum("mki,mi->mk", flat, u), np.einsum("mki,mi->mk", flat, np.cross(normal, u))], axis=2)


def scale_uv(uv: Vec, vertices: Vec, triangles: Index) -> Vec:
    """Return a UV map (m, 3, 2) scaled to the area of the mesh [m]. vertices: (n, 3) [m]. triangles: (m, 3)."""
    corners = vertices[triangles]
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1).sum()
    wide: Vec = uv * np.sqrt(area / np.abs(np.linalg.det(uv[:, 1:] - uv[:, :1])).sum())
    return wide


def find_pinned_vertices(job: Job, body: schema.Body, nodes: Vec, faces: Index, notes: list[str]) -> Index:
    """Return the vertices where the Pin map is above a half, those listed, and those of no face or link, (p,)
    ascending. nodes: positions, (n, 3) [m]. faces: (m, 3), or links, (m, 2). notes: sentences are added to it."""
    pin, is_pinned = body.pin, np.zeros(len(nodes), dtype=bool)
    if pin.nodes is not None:
        is_pinned[read_listed_nodes(job.array(pin.nodes), len(nodes), "pinned", "pin.nodes")] = True
    if pin.weights is not None:
        weights = np.asarray(job.array(pin.weights))
        is_pinned |= hard_weights(pin, weights) > PINNED
        if not is_pinned.any() and (pin.stiffness is None or not weights.any()):
            notes.append("Pin is painted on nothing, so nothing is pinned")
    is_unused: NDArray[np.bool_] = np.ones(len(nodes), dtype=bool)
    is_unused[faces] = False
    if is_unused.any():
        what = "face" if faces.shape[1] == 3 else "edge"
        notes.append(f"{is_unused.sum()} vertices belong to no {what} and do not move")
    return np.flatnonzero(is_pinned | is_unused).astype(np.int32)


def motion_of(job: Job, body: schema.Body, nodes: Vec, pinned: Index) -> Vec | None:
    """Return positions of pinned vertices at each sample, (T, p, 3) [m]; None where all are at rest. nodes: positions
    at rest, (n, 3) [m]. pinned: (p,)."""
    pin = body.pin
    if not len(pinned) or (pin.motion is None and pin.node_motion is None):
        return None
    moved = np.asarray(job.array(pin.motion or pin.node_motion or ""), dtype=float)
    where = np.repeat(nodes[None, pinned], len(moved), axis=0)
    moving = job.array((pin.motion_vertices if pin.motion is not None else pin.nodes) or "")
    row = np.full(len(nodes), -1)
    row[moving] = np.arange(len(moving))
    own = row[pinned] >= 0
    where[:, own] = moved[:, row[pinned[own]]]
    if pin.motion is not None and not own.all():
        # pinned vertices of unknown motion go with those around them
        where[:, ~own] = follow(nodes[pinned[~own]], nodes[moving], moved)
    return where
