"""Cloth with Sharp Edges, which slides over sharp edges and corners of obstacles, from a job."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .. import catalogue
from ..contact.find.mesh import Surfaces
from ..contact.laws.interface import ContactLaw, LoadsOnCloth
from ..coordinates.prescribed import OverTime
from ..coupling.staggered import CoupledInterface, InterfaceLink
from ..errors import BadScene
from ..job import schema
from ..job.folder import Job, blame, parameters
from ..job.kinds import kind_of
from ..job.kinds.eol_cloth import EolClothKind
from ..parts.eol.barrier_contact import ContactSettings
from ..parts.eol.cloth import Cloth
from ..parts.eol.eol_elements import AirFlow
from ..parts.eol.obstacles import FeatureObstacles, ObstacleMotion
from ..parts.eol.sheet_offsets import SheetOffsets
from ..parts.eol.sliding_cloth import SlidingCloth
from ..sheet.limits import RemeshLimits
from ..sheet.sheet_mesh import SheetMesh
from ..sheet.sizing import Sizing
from ..state import Index, Vec
from ..world.eol_cloth import EolCloth
from .air import air_of
from .cloth_interfaces import ClothSurroundings, CoupledPins, CoupledSurface
from .contact import RESISTS
from .eol_obstacles import SheetSettings, feature_obstacles
from .inputs import positions_over_time
from .prepared_eol_cloth import PreparedEolCloth

TOUCHES = "Sharp Edges: it touches {what}"
NEAR = 0.9  #: of the thickness: distance to itself and to smooth obstacles at which contact forces begin


def build_eol_cloth_parts(job: Job, sheets: Sequence[PreparedEolCloth], index: int, around: ClothSurroundings
                          ) -> list[tuple[EolCloth, CoupledInterface]]:
    """Return sheets of cloth with Sharp Edges as parts of the world, each with its interface, see `build_eol_cloth`.

    index: index of the first part in the world. around: the other parts. Raises a ConJacError that names a sheet and
    the field.
    """
    return [build_eol_cloth(job, group, index + k, around) for k, group in enumerate(sheets_of_one_cloth(job, sheets))]


def build_eol_cloth(job: Job, sheets: Sequence[PreparedEolCloth], index: int, around: ClothSurroundings
                    ) -> tuple[EolCloth, CoupledInterface]:
    """Return sheets of cloth with Sharp Edges as one part of the world, and its interface with the parts that it
    touches or is attached to.

    sheets: a group of `sheets_of_one_cloth`. index: index of the part in the world. around: the other parts.
    Raises a ConJacError that names a sheet and the field.
    """
    starts: list[SheetStart] = []
    for sheet in sheets:
        starts.append(_start(job, sheet, sum(len(start.mesh.x) for start in starts), around))
    meshes = [start.mesh for start in starts]
    offsets = SheetOffsets.of([sheet_mesh.material for sheet_mesh in meshes])
    mesh, pins = _as_one(meshes, offsets), _pins(job, starts)
    surfaces, settings = around.surfaces(sheets[0]), SheetSettings.of([sheet.kind for sheet in sheets])
    obstacles = feature_obstacles(job, [sheet.body for sheet in sheets], settings, surfaces)
    linked = _make_links(obstacles, surfaces, len(pins.vertices) - sum(len(each.vertices) for each in pins.attachments),
                         pins.attachments)
    contact = _contact_settings(job, sheets, settings.thickness, obstacles, surfaces, offsets)
    if contact is not None:
        _refuse_intersections(contact, mesh, obstacles.at(0.0, job.scene.time.step), sheets[0].body.name)
    limits = RemeshLimits.of(max(meshes, key=lambda sheet_mesh: float(np.ptp(sheet_mesh.material, axis=0).max())),
                             settings.thickness)
    steps = SlidingCloth([sheet.elements() for sheet in sheets], np.array(job.scene.gravity), obstacles, limits,
                         _sizing(sheets, meshes, offsets), pins.at, contact=contact,
                         air=_air(job, sheets), sheet_offsets=offsets, needs_reactions=bool(linked))
    notes = [f'"{sheet.body.name}": {note}' for sheet in sheets for note in (
        *sheet.volume.notes, *sheet.fields.notes, TOUCHES.format(what=_name_touched(surfaces, contact, sheet, sheets)),
        *_list_uncollided(job, sheet.body, sheets), *settings.changes(sheet.kind), *sheet.notes_on_limits())]
    part = EolCloth([sheet.body.name for sheet in sheets], steps, Cloth.at_rest(mesh, pins.vertices),
                    [start.sheet.show(job, start.material) for start in starts], job.scene.time.start, offsets, notes)
    return part, CoupledInterface(index, part, len(obstacles.smooth_triangles[1]), linked)


class SheetStart(NamedTuple):
    """A sheet at the start, among all sheets of one cloth."""

    sheet: PreparedEolCloth
    material: Vec  #: positions of its nodes in material space, (n, 2) [m]
    mesh: SheetMesh
    vertex: Index  #: vertex of the cloth at each node, (n,); -1 at nodes without faces
    attachments: list[CoupledPins]


def _start(job: Job, sheet: PreparedEolCloth, first: int, around: ClothSurroundings) -> SheetStart:
    """Return a sheet at the start. first: its first vertex among those of the cloth. Raises a ConJacError that names
    it."""
    with blame(job.scene, sheet.body, "surface"):
        material, attachments = sheet.material_positions(), around.attachments(sheet)
        mesh, nodes = sheet.mesh(material, np.concatenate(
            [sheet.fields.pinned, *(coupled.vertices for coupled in attachments)]))
    vertex = np.full(len(sheet.volume.nodes), -1)
    vertex[nodes] = np.arange(len(nodes)) + first
    return SheetStart(sheet, material, mesh, vertex, attachments)


class ClothPins(NamedTuple):
    """Prescribed vertices of a cloth: pinned ones of all sheets, then those that are attached."""

    vertices: Index  #: (p,)
    motions: list[tuple[Index, OverTime]]  #: of each sheet: which of its pinned nodes have faces, and motion of all
    attachments: list[CoupledPins]

    def at(self, time: float) -> Vec:
        """Return the positions of the vertices at `time` [s], (p, 3) [m]."""
        return np.concatenate([*(motion.at(time)[in_mesh] for in_mesh, motion in self.motions),
                               *(attachment.motion.at(time) for attachment in self.attachments)])


def _pins(job: Job, starts: Sequence[SheetStart]) -> ClothPins:
    """Return the pinned and attached vertices of all sheets."""
    vertices: list[Index] = [np.zeros(0, dtype=np.int32)]
    motions: list[tuple[Index, OverTime]] = []
    for start in starts:
        pinned = start.sheet.fields.pinned
        in_mesh = np.flatnonzero(start.vertex[pinned] >= 0)
        vertices.append(start.vertex[pinned[in_mesh]])
        motions.append((in_mesh,
                        positions_over_time(job, start.sheet.fields.motion, start.sheet.volume.nodes[pinned])))
    vertices += [start.vertex[attachment.vertices] for start in starts for attachment in start.attachments]
    return ClothPins(np.concatenate(vertices).astype(np.int32), motions,
                     [attachment for start in starts for attachment in start.attachments])


def sheets_of_one_cloth(job: Job, sharp: Sequence[PreparedEolCloth]) -> list[list[PreparedEolCloth]]:
    """Return the groups of sheets that are simulated as one cloth: sheets that touch each other and otherwise touch the
    same bodies."""
    groups = list[list[PreparedEolCloth]]()
    for sheet in sharp:
        near = [group for group in groups if any(_may_touch(job, sheet.body, other.body) for other in group)
                and _alike(sheet, group[0])]
        groups = [group for group in groups if group not in near] + [[*(other for group in near for other in group),
                                                                      sheet]]
    return groups


def _may_touch(job: Job, one: schema.Body, other: schema.Body) -> bool:
    """Return whether two bodies collide with each other: the scene has contact, and neither body excludes the other."""
    return job.scene.contact is not None and all(a.touches is None or b.name in a.touches
                                                 for a, b in ((one, other), (other, one)))


def _alike(one: PreparedEolCloth, other: PreparedEolCloth) -> bool:
    """Return whether two sheets touch the same bodies, apart from each other, so that they may be one cloth."""
    def touched(body: schema.Body) -> list[str] | None:
        return None if body.touches is None else sorted({*body.touches} - {one.body.name, other.body.name})

    return touched(one.body) == touched(other.body)


def _sizing(sheets: Sequence[PreparedEolCloth], meshes: Sequence[SheetMesh], offsets: SheetOffsets) -> Sizing:
    """Return the shortest and longest edges to which each sheet is remeshed."""
    bounds = [sheet.edge_bounds(mesh) for sheet, mesh in zip(sheets, meshes)]
    return Sizing(*bounds[0], other_sheets=[(offsets.begins(k), *bound) for k, bound in enumerate(bounds) if k])


def _as_one(meshes: Sequence[SheetMesh], offsets: SheetOffsets) -> SheetMesh:
    """Return all sheets as one mesh, apart from each other in material space."""
    if len(meshes) == 1:
        return meshes[0]
    first = np.cumsum([0, *(len(mesh.x) for mesh in meshes)])
    placed = [offsets.to_common_space(k, mesh.material) for k, mesh in enumerate(meshes)]
    faces = [mesh.faces + np.int32(start) for mesh, start in zip(meshes, first)]
    x, v, slide, on, required = (np.concatenate([getattr(mesh, name) for mesh in meshes])
                             for name in ("x", "v", "slide", "on", "required"))
    return SheetMesh(x, np.concatenate(placed), np.concatenate(faces), v, slide, on, required)


def _list_uncollided(job: Job, body: schema.Body, sheets: Sequence[PreparedEolCloth]) -> list[str]:
    """Return sentences on bodies that a sheet should collide with and does not: other cloth with Sharp Edges that is
    another part, and bodies without faces."""
    own, notes = {sheet.body.name for sheet in sheets}, []
    others = [other for other in job.scene.bodies if other.name not in own and _may_touch(job, body, other)]
    apart = [f'"{other.name}"' for other in others if EolClothKind.matches(other)]
    if apart:
        notes.append(f"It passes through {', '.join(apart)}, with Sharp Edges as well: two such cloths collide only if "
                     "both collide with the same bodies and colliders, so make these the same or switch Sharp Edges "
                     "off on one of them")
    thin = [f'"{other.name}"' for other in others if not kind_of(other).has_faces]
    if thin:
        notes.append(f"It passes through {', '.join(thin)}: cloth with Sharp Edges does not collide with bodies "
                     "without faces")
    return notes


def _make_links(obstacles: FeatureObstacles, surfaces: list[CoupledSurface], pinned: int,
                attachments: list[CoupledPins]) -> list[InterfaceLink]:
    """Return the links to other parts: smooth surfaces are first among the interface points, pins after them."""
    linked = list[InterfaceLink]()
    _, which = obstacles.smooth_triangles
    # surfaces of other parts are the last smooth ones
    first = len(which) - sum(len(surface.positions) for surface in surfaces)
    for coupled in [*surfaces, *attachments]:
        if coupled is (attachments[0] if attachments else None):
            first += pinned
        if coupled.on is not None:
            carrier, path = coupled.on
            linked.append(InterfaceLink(carrier, slice(first, first + len(coupled.positions)), path, coupled.within))
        first += len(coupled.positions)
    return linked


def _air(job: Job, sheets: Sequence[PreparedEolCloth]) -> AirFlow | None:
    around = air_of(job, list(sheets))
    if not around.motions:
        return None
    motion = around.motions[0]
    return AirFlow(around.density, lambda time: motion.at(time)[0])


def _contact_settings(job: Job, sheets: Sequence[PreparedEolCloth], thickness: float, obstacles: FeatureObstacles,
             surfaces: list[CoupledSurface],
                      offsets: SheetOffsets) -> ContactSettings | None:
    """Return the contact of a cloth with itself and with smooth obstacles; None without any."""
    contact = job.scene.contact
    if contact is None:
        return None
    itself = [sheet.touches_itself for sheet in sheets]
    triangles, which = obstacles.smooth_triangles
    if not (any(itself) or len(triangles) or len(sheets) > 1):
        return None
    params = parameters("contact", contact.law)
    usual, distance = float(params.pop("friction_coefficient")), float(params.pop("distance"))
    activation = NEAR * min(distance or thickness, thickness)
    of_obstacles = np.array([surface.friction
                             for surface in obstacles.smooth_surfaces])[which] if len(which) else np.zeros(0)
    make = catalogue.find("contact", contact.law.kind).load()
    stretch = max(float(sheet.resistance(0.0).max()) for sheet in sheets)
    # surfaces of other parts are the last smooth ones
    of_obstacle = np.zeros(len(obstacles.smooth_surfaces))
    of_obstacle[len(of_obstacle) - len(surfaces):] = [surface.areal_mass / job.scene.time.step**2
                                                      for surface in surfaces]
    areal_mass = of_obstacle[which] if len(which) else np.zeros(0)
    densities = np.array([sheet.areal_density for sheet in sheets])
    own = np.array([usual if sheet.body.friction is None else sheet.body.friction for sheet in sheets])

    def law(surfaces: Surfaces, rest: Vec, mesh: SheetMesh) -> ContactLaw:
        sheet = offsets.sheet_of(mesh.material)
        mass = densities[sheet] * mesh.vertex_areas
        stiffness = np.concatenate([RESISTS * (mass / job.scene.time.step**2 + stretch), np.full(len(which), np.inf)])
        friction = np.concatenate([own[sheet], of_obstacles])
        loads = LoadsOnCloth(np.concatenate([mesh.vertex_areas, np.zeros(len(which))]),
                             np.concatenate([np.zeros(len(mesh.x)), areal_mass])) if areal_mass.any() else None
        made: ContactLaw = make(surfaces, rest, stiffness, friction, activation, params, np.zeros(len(rest)), loads)
        return made

    names = [*(sheet.body.name for sheet in sheets),
             *(obstacle.name for obstacle in obstacles.each if obstacle.smooth is not None)]
    return ContactSettings(law, triangles, which + np.int32(len(sheets)), itself, names, offsets.sheet_of)


def _refuse_intersections(contact: ContactSettings, mesh: SheetMesh, now: ObstacleMotion, name: str) -> None:
    """Raise BadScene where a cloth intersects itself or a smooth obstacle at the start."""
    intersection = contact.intersecting_pair(mesh, now)
    if intersection is None:
        return
    one, other, point = intersection
    where = ", ".join(f"{c:.4g}" for c in point)
    if one == other:
        raise BadScene(f"it crosses itself at the start, near ({where}) m", "Move its parts away from each other", name)
    raise BadScene(f'it crosses "{other if one == name else one}" at the start, near ({where}) m',
                   "Move them apart, with a little air between", name)


def _name_touched(surfaces: list[CoupledSurface], contact: ContactSettings | None, one: PreparedEolCloth,
                  sheets: Sequence[PreparedEolCloth]) -> str:
    """Return the names of all that a sheet touches, as a phrase for the log."""
    others = [f'"{seen.name}"' for seen in surfaces] + [f'"{other.body.name}"' for other in sheets if other is not one]
    own = ["itself"] if contact is not None and one.touches_itself else []
    return ", ".join([*own, *others, "colliders"]) + " and the ground"
