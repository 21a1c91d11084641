"""One body with its volume and painted fields, for a bake and for previews before it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from msgspec.structs import replace as changed
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from .. import catalogue
from ..embedding.bind import Embedding, barycentric, bind
from ..embedding.fused import find_fused_pairs
from ..errors import NoFreeNode
from ..fields.build import Fields, build_fields, sample_prescribed_motion
from ..forces.stencils import StencilForce
from ..job import schema
from ..job.folder import Job, blame
from ..job.kinds import kind_of
from ..job.kinds.interface import BodyKind
from ..job.stages import Arrays
from ..meshing.volume import Volume, boundary_faces, mean_edge
from ..state import Index, Mask, Vec
from .material_data import MaterialData
from .thinned_mesh import DETAILED, ThinnedMesh, simplify_mesh
from .volumes import Stage

#: how many edges of tetrahedra a vertex may be outside of them before it is reported: a mesh rides a little beside them
BESIDE = 2.0

QUASISTATIC = "it has no dynamic node, so it moves quasistatically: it follows its pins without swinging"


@dataclass(frozen=True)
class Prepared:
    """One body, meshed and painted."""

    body: schema.Body
    volume: Volume
    embedding: Embedding | None
    fields: Fields
    #: simplified contact surface, where the mesh has too many faces
    thinned: ThinnedMesh | None = field(default=None, kw_only=True)

    @property
    def kind(self) -> BodyKind:
        """Return the kind of the body, with its settings."""
        return kind_of(self.body)

    @property
    def skin(self) -> Index:
        """Return the triangles that collide, (t, 3)."""
        return boundary_faces(self.volume.tets)[0]

    @property
    def wires(self) -> Index:
        """Return the edges that collide in addition to those of the skin, (k, 2)."""
        return np.zeros((0, 2), dtype=np.int32)

    @property
    def is_closed(self) -> bool:
        """Whether the skin has an inside."""
        return True

    @property
    def touches_itself(self) -> bool:
        """Whether the body collides with itself, where the scene has contact."""
        return self.body.touches is None or self.body.name in self.body.touches

    @property
    def in_material(self) -> Vec:
        """Return positions of the skin's corners in material space [m], (t, 3, 2); none for a solid."""
        return np.zeros((0, 3, 2))

    @property
    def count(self) -> int:
        """Return the number of elements."""
        return len(self.volume.tets)

    @property
    def areal_density(self) -> float | None:
        """Return the mass per area of a sheet [kg/m²]; None for other kinds."""
        return None

    @property
    def is_banded(self) -> bool:
        """Whether nearly all of its matrix is near the diagonal, once its nodes are ordered."""
        return False

    @property
    def thickness(self) -> float | None:
        """Return the distance that the skin keeps from other surfaces [m]; None where that follows from its edges."""
        return None

    @property
    def surface_offset(self) -> float:
        """Return the offset of the outer surface from the skin [m], which is added to the distance to other surfaces.
        """
        return self.body.thickness or 0.0

    def material_data(self, job: Job, rest: Vec, start: int) -> MaterialData:
        """Return the elements, masses and stiffness of the body. rest: positions of all nodes of the part, (n, 3) [m].
        start: the body's first node."""
        from .tetrahedra import material_data_of  # its kernels are compiled where something moves

        return material_data_of(job, self.body, self.volume, self.fields, modulus_of(self), rest, start)

    def quads(self, job: Job) -> Index:
        """Return the corners of quads that may be drawn with either diagonal, in cyclic order, (k, 4): none."""
        return np.zeros((0, 4), dtype=np.int32)

    def own_forces(self, job: Job, rest: Vec, start: int) -> list[StencilForce]:
        """Return forces between nodes of the body alone, in addition to its elements: none. rest: positions of all
        nodes of the part, (n, 3) [m]. start: the body's first node."""
        return []

    def vertices_at(self, job: Job, nodes: Index, painted: Mask) -> Index:
        """Return the vertex of the surface for each node, (p,): the nearest painted one. nodes: (p,). painted: whether
        each vertex is painted, (n,)."""
        surface = self.body.surface
        assert surface is not None
        among = np.flatnonzero(painted)
        positions = np.asarray(job.array(surface.vertices), dtype=float)[among]
        nearest: Index = among[cKDTree(positions).query(self.volume.nodes[nodes])[1]].astype(np.int32)
        return nearest

    def read_prescribed_motion(self, job: Job, nodes: Index) -> Vec | None:
        """Return positions of animated nodes at each sample, (T, k, 3) [m]; None where they are at rest. nodes: (k,)
        ascending. Raises BadScene where the samples do not fit the mesh."""
        surface, embedding = self.body.surface, self.embedding
        embedded = None
        if surface is not None and embedding is not None:
            rest = np.asarray(job.array(surface.vertices), dtype=float)
            embedded = rest, embedding.corners[: len(rest)]
        return sample_prescribed_motion(self.body, job.array, self.volume, embedded, nodes)

    def resistance(self, edge: float) -> Vec:
        """Return the stiffness of each node against contact, (k,) [N/m]. edge: mean length of the skin's edges [m]."""
        corners, nodes = self.volume.tets.ravel(), len(self.volume.nodes)
        of_elements = np.bincount(corners, np.repeat(modulus_of(self), 4), nodes)
        each: Vec = edge * of_elements / np.bincount(corners, minlength=nodes)
        return each


def modulus_of(one: Prepared) -> Vec:
    """Return Young's modulus of each element, (e,) [Pa]; the default of the catalogue where the material has none."""
    modulus = one.fields.element_parameters.get("youngs_modulus")
    return np.full(len(one.volume.tets), catalogue.YOUNGS_MODULUS.default) if modulus is None else modulus


def prepare(job: Job, body: schema.Body, volume: Volume, report: Stage) -> Prepared:
    """Return a body with its fields on its volume. Raises a ConJacError that names the body and the field."""
    report("fields", body.name, None, "Carrying painted maps into the volume")
    embedding = None
    with blame(job.scene, body, "surface"):
        if body.surface is not None:
            vertices, triangles = job.array(body.surface.vertices), job.array(body.surface.triangles)
            embedding = bind(volume.nodes, volume.tets, vertices, triangles)
        try:
            fields = build_fields(body, job.array, volume, embedding)
        except NoFreeNode as error:
            if embedding is not None:
                _refuse_too_thin(volume, embedding, vertices, error)
            raise
        if fields.moved_nodes is not None and embedding is not None:
            volume = replace(volume, nodes=fields.moved_nodes)
            corners = volume.nodes[embedding.corners]
            embedding = replace(embedding, weights=barycentric(np.asarray(vertices, dtype=float), corners))
        if embedding is not None:
            lines = find_fused_lines(volume, embedding, vertices, np.asarray(triangles))
            more_notes = [*_describe_far_vertices(volume, embedding, vertices), *describe_fused_lines(*lines)]
            fields = replace(fields, notes=(*fields.notes, *more_notes))
    follows = catalogue.find("method", job.scene.method_of(body).kind).follows
    if follows and not len(fields.dynamic) and not fields.patches:
        fields = replace(fields, notes=(*fields.notes, QUASISTATIC))
    fewer = None
    if body.simplify and body.touches_by_mesh and embedding is not None:
        fewer = simplify_mesh(volume, embedding, np.asarray(triangles), body.simplify)
        if fewer is None:
            body, fields = changed(body, touches_by_mesh=False), replace(fields, notes=(*fields.notes, DETAILED))
    return Prepared(body, volume, embedding, fields, thinned=fewer)


def _measure_far_vertices(volume: Volume, embedding: Embedding, vertices: Vec) -> tuple[int, float, str]:
    """Return the number of vertices (n, 3) [m] far outside of the tetrahedra that carry them, the largest distance [m],
    and the position of the farthest one as text."""
    inside = np.maximum(embedding.weights, 0.0)
    nearest = np.einsum("nc,nck->nk", inside / inside.sum(axis=1)[:, None], volume.nodes[embedding.corners])
    away = np.linalg.norm(vertices - nearest, axis=1)
    ends = volume.nodes[volume.tets[:, :2]]
    far = away > BESIDE * np.median(np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1))
    farthest = int(away.argmax())
    where = ", ".join(f"{c:.3g}" for c in vertices[farthest])
    return int(far.sum()), float(away[farthest]), f"({where}) m"


def _describe_far_vertices(volume: Volume, embedding: Embedding, vertices: Vec) -> list[str]:
    """Return notes on vertices (n, 3) [m] far outside of the tetrahedra that carry them, such as those of spikes."""
    count, away, where = _measure_far_vertices(volume, embedding, vertices)
    if not count:
        return []
    return [f"{count} of its vertices are outside its tetrahedra, by up to {away:.2g} m near {where}: parts thinner "
            "than a tetrahedron follow the rest and touch nothing. A smaller Edge Length, or a thicker mesh, fills "
            "them"]


def find_fused_lines(volume: Volume, embedding: Embedding, vertices: Vec, triangles: NDArray) -> tuple[Vec, float]:
    """Return the ends of lines across the air between sheets of a mesh that move as one, (k, 2, 3) [m], and the edge
    length below which tetrahedra would separate these sheets [m], infinite without any. vertices: (n, 3) [m].
    triangles: (t, 3)."""
    x = np.asarray(vertices, dtype=float)
    pairs = find_fused_pairs(embedding, x, triangles, mean_edge(volume.nodes, boundary_faces(volume.tets)[0]))
    ends = x[pairs]
    return ends, float(np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1).min(initial=np.inf))


def find_fused_lines_of_body(job: Job, body: schema.Body, volume: Volume) -> tuple[Vec, float]:
    """Return the lines and the edge length of `find_fused_lines` for a body that was only filled; no lines for one
    without a mesh."""
    if body.surface is None:
        return np.zeros((0, 2, 3)), np.inf
    vertices, triangles = job.array(body.surface.vertices), np.asarray(job.array(body.surface.triangles))
    return find_fused_lines(volume, bind(volume.nodes, volume.tets, vertices, triangles), vertices, triangles)


def describe_fused_lines(ends: Vec, distance: float) -> list[str]:
    """Return notes on sheets of a mesh that move as one. ends, distance: lines and edge length as `find_fused_lines`
    returns them."""
    if not len(ends):
        return []
    where = ", ".join(f"{c:.3g}" for c in ends[0].mean(axis=0))
    return [f"Parts of its mesh that are {distance:.2g} m apart share tetrahedra, such as near ({where}) m: they "
            "move as one. Tetrahedralize shows where. Move them apart, or lower Edge Length"]


def _refuse_too_thin(volume: Volume, embedding: Embedding, vertices: Vec, error: NoFreeNode) -> None:
    """Raise NoFreeNode where all free parts of a mesh may be thinner than its tetrahedra."""
    count, away, where = _measure_far_vertices(volume, embedding, vertices)
    if count:
        raise NoFreeNode(f"all of its tetrahedra are held, and {count} of its vertices are outside them, by up to "
                         f"{away:.2g} m near {where}: that part is too thin to be filled",
                         "Lower its Edge Length below its thickness, make it thicker, or pin less",
                         where=error.where) from error


def preview(prepared: Prepared) -> Arrays:
    """Return a body's arrays for a preview: "nodes", (k, 3) [m], "tets", (e, 4), the boundary's "faces", (b, 3), and
    "face_tets", (b,), nodes that are "dynamic" and "pinned", each parameter by its key, (e,), and where there are
    fibers "fibers", (e, 3), unit directions or zero."""
    volume, fields = prepared.volume, prepared.fields
    arrays: Arrays = {"nodes": volume.nodes, "tets": volume.tets, "dynamic": fields.dynamic, "pinned": fields.pinned,
                      "density": fields.density, **fields.element_parameters, **fields.fiber_parameters}
    if fields.fiber_directions is not None:
        arrays["fibers"] = fields.fiber_directions
    arrays["faces"], arrays["face_tets"] = boundary_faces(volume.tets)
    return {name: np.asarray(array) for name, array in arrays.items()}
