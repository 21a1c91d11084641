"""Cloth that slides over what is sharp, from a job."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .. import catalogue
from ..contact.find.mesh import Surfaces
from ..contact.find.sharp import bends_softly, nails, outwards, sharp_surface, wires
from ..contact.laws.interface import ContactLaw, LoadsOnCloth
from ..coordinates.prescribed import OverTime, Still
from ..embedding.sheets import ShownSheet
from ..errors import BadScene
from ..forces.cloth.sheet import Sheet, SheetLaw
from ..job import schema
from ..job.folder import Job, blame, parameters
from ..parts.eol.cloth import Cloth
from ..parts.eol.fabric import Breeze, Fabric, Law
from ..parts.eol.pushing import Pushing
from ..parts.eol.rubbing import as_capstan
from ..parts.eol.sliding_cloth import SlidingCloth
from ..parts.eol.swollen import Beside, FurtherAlong, Swollen, is_closed
from ..parts.eol.things import Round, Thing, Things, ThingsInStep
from ..sheet.chart import from_corners, of_flat
from ..sheet.limits import RemeshLimits
from ..sheet.sheet_mesh import SheetMesh
from ..sheet.sizing import Sizing
from ..state import Index, Vec
from ..world.meeting import Meeting, Reached
from ..world.sharp_cloth import SharpCloth
from .air import air_of
from .among import Around, SeenHold, SeenSurface
from .contact import RESISTS
from .fields import Prepared
from .ground import coefficient_of, way_of
from .inputs import places_over_time

FINE = 0.5  #: of the mesh's edges: to what it is remeshed where it folds
LONGEST = 1.05  #: of the mesh's longest edge: nothing is split where nothing bends
NO_FACES = np.zeros((0, 3), np.int32)
WIDE = 100.0  #: of a scene's size: half of the ground's sides
ALONE = "Sharp Edges: it touches {what}"
NEAR = 0.9  #: of the thickness: how near cloth is to itself and to what is round where that pushes


def sharp_cloth(job: Job, prepared: Prepared, place: int, around: Around) -> tuple[SharpCloth, Meeting]:
    """One body as the part of that place in the world, and what it touches of the others and hangs on.

    Raises a ConJacError that names it and the field."""
    body = prepared.body
    cloth, surface = body.cloth, body.surface
    assert cloth is not None and cloth.eulerian is not None and surface is not None
    nodes, triangles = prepared.volume.nodes, prepared.skin
    with blame(job.scene, body, "surface"):
        material = of_flat(nodes, triangles, np.array(cloth.warp)) if cloth.uv is None \
            else from_corners(nodes, triangles, prepared.in_material)
        pinned, holds = prepared.fields.pinned, around.holds(prepared)
        mesh, vertices = _mesh(nodes, material, triangles, np.concatenate([pinned, *(one.vertices for one in holds)]))
    edges = _lengths(mesh)
    coarsest = cloth.eulerian.coarser * (cloth.eulerian.coarsest or LONGEST * float(edges.max()))
    finest = min(cloth.eulerian.coarser * (cloth.eulerian.finest or FINE * float(np.median(edges))), coarsest)
    surfaces = around.surfaces(prepared)
    things = things_of(job, body, cloth, surfaces)
    number = np.full(len(nodes), -1)
    number[vertices] = np.arange(len(vertices))
    held = np.flatnonzero(number[pinned] >= 0)
    motion = places_over_time(job, prepared.fields.motion, nodes[pinned])
    pins = np.concatenate([number[pinned[held]], *(number[one.vertices] for one in holds)]).astype(np.int32)

    def held_at(time: float) -> Vec:
        return np.concatenate([motion.at(time)[held], *(one.motion.at(time) for one in holds)])

    reached = _reached(things, surfaces, len(held), holds)
    pushing = _pushing(job, prepared, cloth, things, surfaces)
    if pushing is not None:
        _refuse_crossing(pushing, mesh, things.at(0.0, job.scene.time.step), body.name)
    limits = RemeshLimits.of(mesh, cloth.thickness)
    steps = SlidingCloth(_fabric(body, cloth), np.array(job.scene.gravity), things, limits,
                         Sizing(finest, coarsest), held_at, as_capstan if cloth.eulerian.capstan else None,
                         pushing=pushing, air=_air(job, prepared, cloth), is_felt=bool(reached))
    to_object = None if surface.to_object is None else job.array(surface.to_object)
    shown = ShownSheet(nodes, material, triangles, to_object)
    notes = [f'"{body.name}": {note}' for note in (*prepared.volume.notes, *prepared.fields.notes,
                                                        ALONE.format(what=_touched(surfaces, pushing)),
                                                        *_passed(job, body), *_unlimited(cloth))]
    part = SharpCloth(body.name, steps, Cloth.at_rest(mesh, pins), shown, job.scene.time.start, notes)
    return part, Meeting(place, part, len(things.round_triangles[1]), reached)


def _passed(job: Job, body: schema.Body) -> list[str]:
    """A sentence where other cloth with Sharp Edges should touch this one."""
    if job.scene.contact is None:
        return []
    others = [one.name for one in job.scene.bodies
              if one.name != body.name and one.cloth is not None and one.cloth.eulerian is not None
              and (body.touches is None or one.name in body.touches)
              and (one.touches is None or body.name in one.touches)]
    if not others:
        return []
    named = ", ".join(f'"{name}"' for name in others)
    return [f"It passes through {named}, with Sharp Edges as well: cloth with them touches any other cloth, so switch "
            "them off on one of the two"]


def _unlimited(cloth: schema.Cloth) -> list[str]:
    """A sentence where it is to have a limit to its stretch."""
    if not parameters("membrane", cloth.membrane).get(catalogue.STRETCH_LIMIT.key):
        return []
    return [f"{catalogue.STRETCH_LIMIT.label} does not count with Sharp Edges, whose steps are linearised once"]


def _reached(things: Things, surfaces: list[SeenSurface], pinned: int, holds: list[SeenHold]) -> list[Reached]:
    """What is another part's: what is round stands first in what a cloth feels, and its pins behind."""
    reached = list[Reached]()
    _, which = things.round_triangles
    # surfaces of other parts are the last of what is round
    first = len(which) - sum(len(one.places) for one in surfaces)
    for one in [*surfaces, *holds]:
        if one is (holds[0] if holds else None):
            first += pinned
        if one.on is not None:
            carrier, way = one.on
            within = one.within if isinstance(one, SeenHold) else None
            reached.append(Reached(carrier, slice(first, first + len(one.places)), way, within))
        first += len(one.places)
    return reached


def _mesh(nodes: Vec, material: Vec, triangles: Index, pinned: Index) -> tuple[SheetMesh, Index]:
    """The mesh of the vertices that have faces, and which they are. Raises BadMesh."""
    vertices = np.unique(triangles)
    place = np.full(len(nodes), -1)
    place[vertices] = np.arange(len(vertices))
    faces = place[triangles]
    corners = material[triangles]
    one, two = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    turned = one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0] < 0.0
    if turned.all():
        faces = faces[:, [0, 2, 1]]
    is_held = np.zeros(len(nodes), dtype=bool)
    is_held[pinned] = True
    return SheetMesh.at_rest(nodes[vertices], material[vertices], faces, is_held[vertices]), vertices


def _lengths(mesh: SheetMesh) -> Vec:
    """Of edges in material space [m], (e,)."""
    ends = mesh.edges
    lengths: Vec = np.linalg.norm(mesh.material[ends[:, 1]] - mesh.material[ends[:, 0]], axis=1)
    return lengths


def _fabric(body: schema.Body, cloth: schema.Cloth) -> Fabric:
    damping, sharp = parameters("damping", body.damping), cloth.eulerian
    return Fabric(_law("membrane", cloth.membrane), _law("bending", cloth.bending), cloth.area_density,
                  float(damping["stiffness_damping"]), float(damping["mass_damping"]),
                  sharp is not None and sharp.exact)


def _law(family: str, choice: schema.Choice) -> Law:
    make, params = catalogue.find(family, choice.kind).load(), parameters(family, choice)
    # a step of it is linearised once: threads that get a hundred times stiffer within one would throw it about
    params.pop(catalogue.STRETCH_LIMIT.key, None)

    def law(sheet: Sheet) -> SheetLaw:
        made: SheetLaw = make(sheet, params)
        return made

    return law


def _air(job: Job, prepared: Prepared, cloth: schema.Cloth) -> Breeze | None:
    around = air_of(job, [prepared])
    if not around.motions:
        return None
    way = around.motions[0]
    return Breeze(around.density, cloth.drag, cloth.air_friction, lambda time: way.at(time)[0])


def _pushing(job: Job, prepared: Prepared, cloth: schema.Cloth, things: Things, surfaces: list[SeenSurface]
             ) -> Pushing | None:
    """What keeps it out of itself and of what is round; None where nothing has to."""
    contact, body = job.scene.contact, prepared.body
    if contact is None:
        return None
    itself = prepared.touches_itself
    triangles, which = things.round_triangles
    if not (itself or len(triangles)):
        return None
    params = parameters("contact", contact.law)
    usual, distance = float(params.pop("friction_coefficient")), float(params.pop("distance"))
    reach = NEAR * min(distance or cloth.thickness, cloth.thickness)
    given = np.array([one.friction for one in things.rounds])[which] if len(which) else np.zeros(0)
    make = catalogue.find("contact", contact.law.kind).load()
    stretch = float(prepared.resistance(0.0).max())
    # surfaces of other parts are the last of what is round
    lies = np.zeros(len(things.rounds))
    lies[len(lies) - len(surfaces):] = [one.behind / job.scene.time.step**2 for one in surfaces]
    behind = lies[which] if len(which) else np.zeros(0)

    def law(surfaces: Surfaces, rest: Vec, mesh: SheetMesh) -> ContactLaw:
        mass = cloth.area_density * mesh.vertex_areas
        stiffness = np.concatenate([RESISTS * (mass / job.scene.time.step**2 + stretch), np.full(len(which), np.inf)])
        friction = np.concatenate([np.full(len(mesh.x), usual if body.friction is None else body.friction), given])
        loads = LoadsOnCloth(np.concatenate([mesh.vertex_areas, np.zeros(len(which))]),
                             np.concatenate([np.zeros(len(mesh.x)), behind])) if behind.any() else None
        made: ContactLaw = make(surfaces, rest, stiffness, friction, reach, params, np.zeros(len(rest)), loads)
        return made

    names = [body.name, *(one.name for one in things.parts if one.round is not None)]
    return Pushing(law, triangles, which + np.int32(1), itself, names)


def _refuse_crossing(pushing: Pushing, mesh: SheetMesh, now: ThingsInStep, name: str) -> None:
    """Raises BadScene where it goes through itself or through something round at the start."""
    crossing = pushing.crossing(mesh, now)
    if crossing is None:
        return
    one, other, place = crossing
    where = ", ".join(f"{c:.4g}" for c in place)
    if one == other:
        raise BadScene(f"it crosses itself at the start, near ({where}) m", "Move its parts away from each other", name)
    raise BadScene(f'it crosses "{other if one == name else one}" at the start, near ({where}) m',
                   "Move them apart, with a little air between", name)


def _touched(surfaces: list[SeenSurface], pushing: Pushing | None) -> str:
    """For the log."""
    others = [f'"{one.name}"' for one in surfaces]
    own = ["itself"] if pushing is not None and pushing.itself else []
    return ", ".join([*own, *others, "colliders"]) + " and the ground"


def things_of(job: Job, body: schema.Body, cloth: schema.Cloth, surfaces: Sequence[SeenSurface] = ()) -> Things:
    """What a cloth touches: the scene's obstacles, its ground, and surfaces of other parts."""
    scene, parts = job.scene, list[Thing]()
    assert cloth.eulerian is not None
    if scene.contact is not None:
        usual = float(parameters("contact", scene.contact.law)["friction_coefficient"])
        own = usual if body.friction is None else body.friction
        for one in scene.obstacles:
            if body.touches is None or one.name in body.touches:
                parts += _obstacle(job, one, cloth, cloth.eulerian, (own, usual if one.friction is None else
                                                                     one.friction))
    if scene.ground is not None:
        parts.append(_ground(job, scene.ground, cloth))
    for met in surfaces:
        nowhere, smooth = Still(np.zeros((0, 3))), nails(NO_FACES[:, :2])
        parts.append(Thing(met.name, nowhere, NO_FACES, False, smooth, 0.0, 0.0, 0.0,
                           Round(met.motion, met.triangles, met.friction)))
    return Things(parts)


def _obstacle(job: Job, one: schema.Obstacle, cloth: schema.Cloth, sharp: schema.Eulerian,
              friction: tuple[float, float]) -> list[Thing]:
    """Its faces, its wires and its nails. friction: Coulomb's coefficients of the cloth and of the obstacle."""
    x = np.asarray(job.array(one.vertices), dtype=float)
    motion = places_over_time(job, one.motion, x)
    mu = float(np.sqrt(friction[0] * friction[1]))
    at_edges = mu if sharp.friction is None else sharp.friction
    found = list[Thing]()
    if one.triangles is not None:
        found.append(_faces(job, one, x, motion, cloth, sharp, (mu, at_edges), friction[1]))
    if one.wires is not None:
        lines = wires(x, np.asarray(job.array(one.wires), dtype=np.int32), sharp.angle)
        found.append(Thing(one.name, motion, NO_FACES, False, lines, mu, at_edges, 0.0))
    if one.nails is not None:
        ends = np.asarray(job.array(one.nails), dtype=np.int32)
        tips = FurtherAlong(motion, ends, cloth.thickness)
        found.append(Thing(one.name, tips, NO_FACES, False, nails(ends), mu, at_edges, 0.0))
    return found


def _faces(job: Job, one: schema.Obstacle, x: Vec, motion: OverTime, cloth: schema.Cloth, sharp: schema.Eulerian,
           friction: tuple[float, float], its: float) -> Thing:
    """friction: of cloth on its faces and on its edges. its: what it says itself."""
    assert one.triangles is not None
    triangles = outwards(x, np.asarray(job.array(one.triangles), dtype=np.int32))
    marked = None if one.sharp_edges is None else np.asarray(job.array(one.sharp_edges), dtype=np.int32)
    found = sharp_surface(x, triangles, sharp.angle, marked)
    closed = is_closed(triangles)
    swollen: OverTime = Swollen(motion, triangles, cloth.thickness) if closed else motion
    apart = 0.0 if closed else cloth.thickness
    if bends_softly(x, triangles, sharp.angle):
        # rows over several vertices, one a pair, would be hundreds there
        return Thing(one.name, swollen, NO_FACES, closed, found, *friction, apart, Round(motion, triangles, its))
    return Thing(one.name, swollen, triangles, closed, found, *friction, apart)


def _ground(job: Job, ground: schema.Ground, cloth: schema.Cloth) -> Thing:
    """A wide square, of which the side that cloth is on counts."""
    normal = np.array(ground.normal) / np.linalg.norm(ground.normal)
    along = np.cross(normal, np.eye(3)[np.abs(normal).argmin()])
    along /= np.linalg.norm(along)
    half = WIDE * max(1.0, float(np.abs(np.array(ground.point)).max()))
    corners = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]) * half
    frame = np.stack([along, np.cross(normal, along)])
    places = np.array(ground.point) + cloth.thickness * normal + corners @ frame
    way, mu = way_of(job, ground), coefficient_of(ground)
    motion: OverTime = Still(places) if way is None else Beside(way, places - np.array(ground.point))
    square, smooth = np.array([[0, 1, 2], [0, 2, 3]], np.int32), nails(NO_FACES[:, :2])
    return Thing("ground", motion, square, True, smooth, mu, mu, 0.0)
