"""Sheets of cloth with Sharp Edges: material space without seams, mesh, elements and lengths of edges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import catalogue
from ..embedding.sheets import ShownSheet
from ..forces.cloth.sheet import Sheet, SheetLaw
from ..job import schema, schema_values
from ..job.folder import Job, parameters
from ..job.kinds.eol_cloth import EolClothKind
from ..meshing.volume import Volume
from ..parts.eol.eol_elements import EolElements, Law
from ..parts.eol.friction import as_capstan
from ..sheet.chart import from_corners, of_flat
from ..sheet.sheet_mesh import SheetMesh
from ..state import Index, Vec
from .cloth import PreparedCloth, prepare_cloth
from .volumes import Stage

FINE = 0.5  #: of the mesh's edges: to what it is remeshed where it folds
LONGEST = 1.05  #: of the mesh's longest edge: nothing is split where nothing bends


@dataclass(frozen=True)
class PreparedEolCloth(PreparedCloth):
    """Cloth with Sharp Edges, meshed and painted."""

    @property
    def kind(self) -> EolClothKind:
        """Return the kind of the body, with its settings."""
        return EolClothKind(self.body)

    def material_positions(self) -> Vec:
        """Return positions of the nodes in material space, which has no cuts, (n, 2) [m]. Raises BadMesh."""
        if self.cloth.uv is None:
            return of_flat(self.volume.nodes, self.skin, np.array(self.cloth.warp))
        return from_corners(self.volume.nodes, self.skin, self.in_material)

    def mesh(self, material: Vec, pinned: Index) -> tuple[SheetMesh, Index]:
        """Return the mesh of the nodes that have faces, and their indices. material: positions of all nodes in material
        space, (n, 2) [m]. pinned: nodes that remeshing keeps, (p,). Raises BadMesh."""
        nodes, vertices = self.volume.nodes, np.unique(self.skin)
        row = np.full(len(nodes), -1)
        row[vertices] = np.arange(len(vertices))
        faces = row[self.skin]
        corners = material[self.skin]
        one, two = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
        is_inverted = one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0] < 0.0
        if is_inverted.all():
            faces = faces[:, [0, 2, 1]]
        is_pinned = np.zeros(len(nodes), dtype=bool)
        is_pinned[pinned] = True
        return SheetMesh.at_rest(nodes[vertices], material[vertices], faces, is_pinned[vertices]), vertices

    def show(self, job: Job, material: Vec) -> ShownSheet:
        """Return the sheet as it is drawn on the artist's mesh. material: positions of all nodes in material space, (n,
        2) [m]."""
        surface = self.body.surface
        assert surface is not None
        to_object = None if surface.to_object is None else job.array(surface.to_object)
        return ShownSheet(self.volume.nodes, material, self.skin, to_object)

    def edge_bounds(self, mesh: SheetMesh) -> tuple[float, float]:
        """Return the shortest and the longest edges to which the sheet is remeshed [m]. mesh: at rest."""
        sharp, ends = self.kind.eulerian, mesh.edges
        edges = np.linalg.norm(mesh.material[ends[:, 1]] - mesh.material[ends[:, 0]], axis=1)
        coarsest = sharp.coarser * (sharp.coarsest or LONGEST * float(edges.max()))
        return min(sharp.coarser * (sharp.finest or FINE * float(np.median(edges))), coarsest), coarsest

    def elements(self) -> EolElements:
        """Return membrane, bending, inertia and drag of the sheet, for any mesh of it."""
        cloth, damping, sharp = self.cloth, parameters("damping", self.body.damping), self.kind.eulerian
        return EolElements(_law("membrane", cloth.membrane), _law("bending", cloth.bending), cloth.area_density,
                           float(damping["stiffness_damping"]), float(damping["mass_damping"]), sharp.exact, cloth.drag,
                           cloth.air_friction, as_capstan if sharp.capstan else None)

    def notes_on_limits(self) -> list[str]:
        """Return a sentence for each limit of stretch that the cloth sets, since none has an effect with Sharp Edges.
        """
        params = parameters("membrane", self.cloth.membrane)
        limits = {catalogue.STRETCH_LIMIT.label: params.get(catalogue.STRETCH_LIMIT.key),
                  "Length Limit": self.cloth.length_limit, "Area Limit": self.cloth.area_limit}
        return [f"{label} has no effect with Sharp Edges, whose steps are linearised once"
                for label, limit in limits.items() if limit]


def prepare_eol_cloth(job: Job, body: schema.Body, volume: Volume, report: Stage) -> PreparedEolCloth:
    """Return the cloth of a body with its prescribed nodes and its material space. Raises a ConJacError that names the
    body and the field."""
    return PreparedEolCloth(**vars(prepare_cloth(job, body, volume, report)))


def _law(family: str, choice: schema_values.Choice) -> Law:
    """Return the factory of a law of the catalogue for a sheet, without its stretch limit."""
    make, params = catalogue.find(family, choice.kind).load(), parameters(family, choice)
    # each step is linearised once: threads that become a hundred times stiffer within a step would blow it up
    params.pop(catalogue.STRETCH_LIMIT.key, None)

    def law(sheet: Sheet) -> SheetLaw:
        made: SheetLaw = make(sheet, params)
        return made

    return law
