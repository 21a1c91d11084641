"""Contact surfaces of the soft bodies and obstacles of a scene, and the law between them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .. import catalogue
from ..contact.find.mesh import Surfaces
from ..contact.laws.embedded import Embedded, EmbeddedVertices
from ..contact.laws.interface import ContactLaw, LoadsOnCloth
from ..contact.laws.separate_intersections import IntersectingBodies, SeparateIntersections
from ..coordinates.free_nodes import FreeNodes
from ..errors import BadScene
from ..job.folder import Job, parameters
from ..meshing.normals import area_vectors
from ..meshing.volume import mean_edge
from ..meshing.winding import winding_numbers
from ..parts.eol.offset_surface import is_closed
from ..state import CarrierMotion, Index, Vec
from .diagonals import quads_of, without_intersections
from .fields import Prepared
from .obstacles import Obstacles
from .painted_weights import weights_at_nodes
from .touching import Arrange, Touching, as_they_touch

REACH = 0.1  #: largest activation distance, relative to the shortest mean edge of a body's skin
LEAST_REACH = 0.02  #: least one of a body with itself
LEAST_TO_OTHERS = 0.002  #: least one of two bodies
COINCIDENT = 1.0e-6  #: of the shortest mean edge: pieces of a mesh that are so near each other cannot be kept apart
OF_REST = 0.5  #: of the distance of a body to itself at rest, or to others at the start: no contact force from there on
GAP = 0.04  #: of the shortest mean edge: distance to which surfaces that intersect at the start are separated
RESISTS = 0.1  #: of a node's inertia over a step and of its elasticity: stiffness of a contact
#: groups of nodes that do not touch each other: of obstacles, rigid bodies and pins, and of flesh attached to joints
PRESCRIBED, ATTACHED = 0, 1


def contacts_of(job: Job, prepared: list[Prepared], rest: Vec, mass: Vec, first: Index,
                coordinates: FreeNodes, obstacles: Obstacles, reshaped: bool = False) -> list[ContactLaw]:
    """Return the laws between all surfaces; none where the scene has no contact.

    rest: of bodies and then of obstacles, (n, 3) [m]. mass: (n,) [kg]. first: first node of each body, then of the
    obstacles. reshaped: whether bodies were cut or nailed since the start: they are measured at rest, and intersections
    there are not refused. Raises BadScene where surfaces intersect, are nearer than they are thick, or one is inside
    another."""
    contact = job.scene.contact
    if contact is None:
        return []
    first_obstacle = int(first[len(prepared)])
    group, prescribed = _groups(coordinates, mass), _mark_prescribed(coordinates, obstacles, first_obstacle)
    at_start = _at_start(coordinates, rest)
    names = [*(soft.body.name for soft in prepared), *obstacles.names]
    may_touch = _may_touch(job, [*(soft.body.name for soft in prepared), *obstacles.called], len(prepared))
    quads = quads_of(job, prepared, first, rest if reshaped else at_start)
    touching = as_they_touch(_arrangement(job, rest, at_start, first, obstacles, group, prescribed, may_touch, quads),
                             prepared)
    prepared, skins, embedded, of_node = touching.prepared, touching.skins, touching.embedded, touching.owner
    faces = [*skins, *(obstacle_faces + np.int32(first_obstacle) for obstacle_faces in obstacles.triangles)]
    triangles = np.concatenate(faces).astype(np.int32)
    group, prescribed = embedded.least(group), embedded.least(prescribed)
    if reshaped:
        at_start[:first_obstacle] = rest[:first_obstacle]
    rest, now = embedded.positions(rest), embedded.positions(at_start)

    def between(some: NDArray[np.bool_]) -> Surfaces:
        return Surfaces(rest, triangles, group, of_node, None if some.all() else some, wires=touching.wires,
                        quads=touching.quads, is_prescribed=prescribed)

    params = parameters("contact", contact.law)
    seconds = params.pop("push_apart", 0.0)
    edges = [_usual_edge(rest, skin, soft.wires + np.int32(start)) for skin, soft, start in zip(skins, prepared, first)]
    if len(embedded.corners):
        _refuse_coincident(touching.surfaces, now, COINCIDENT * min(edges), names, of_node)
    separate = _without_intersecting(touching.surfaces, between, may_touch, now, of_node) if seconds else may_touch
    surfaces, intersecting = touching.surfaces if separate is may_touch else between(separate), may_touch & ~separate
    if not reshaped:
        _refuse_intersections(surfaces, now, names, of_node)
        _refuse_inside(prepared, skins, first, obstacles, now, separate)

    stiffness = _stiffness(job, prepared, mass, first, edges, embedded)
    surface_offset = np.array([soft.surface_offset for soft in prepared] + [0.0] * len(obstacles.names))[of_node]
    activation = params.pop("distance", 0.0) or _activations(surfaces, rest, now, surface_offset,
                                                        *_upper_bounds(prepared, edges, names))
    friction = _friction(job, prepared, first, obstacles, params.pop("friction_coefficient", 0.0), embedded, of_node)
    law = catalogue.find("contact", contact.law.kind).load()
    how = params, surface_offset, _loads(job, prepared, mass, first, obstacles, embedded)
    made: ContactLaw = law(surfaces, rest, stiffness, friction, activation, *how)
    if not reshaped:
        _refuse_too_near(made, now, names, of_node)
    if intersecting.any():
        gap = GAP * min(edges)
        of_all: ContactLaw = law(between(may_touch), rest, stiffness, friction,
                                 np.where(intersecting, OF_REST * gap, activation), *how)
        made = SeparateIntersections(made, of_all, IntersectingBodies(
            between(intersecting), names, of_node, intersecting, faces, [is_closed(skin) for skin in faces], seconds,
            _distances(gap, len(names), of_node, surface_offset), stiffness, now))
    return [Embedded(made, embedded) if len(embedded.corners) else made]


def _at_start(coordinates: FreeNodes, rest: Vec) -> Vec:
    """Return the positions of all nodes at the start, (n, 3) [m]."""
    attached = rest[coordinates.attached.nodes]
    carrier_motion = CarrierMotion(attached, np.zeros_like(attached)) if len(attached) else None
    positions: Vec = coordinates.positions(rest[coordinates.free].ravel(), 0.0, carrier_motion)
    return positions


def _arrangement(job: Job, rest: Vec, at_start: Vec, first: Index, obstacles: Obstacles, group: Index,
                 prescribed: NDArray[np.bool_], may_touch: NDArray[np.bool_], quads: Index) -> Arrange:
    """Return the function that makes the contact surfaces at the start, whichever bodies touch by their mesh.

    at_start: positions of all nodes [m], (n, 3). group, prescribed: of each node, (n,). quads: nodes of faces with four
    corners, (q, 4).
    """
    nodes, start_of_obstacles = len(rest), np.int32(first[-1])

    def arrange(bodies: list[Prepared], replacement: EmbeddedVertices | None) -> Touching:
        # embedded vertices come after the nodes, free where one of the nodes that carry them is
        skins, embedded = _skins(job, bodies, first, nodes)
        embedded = embedded if replacement is None else replacement
        faces = [*skins, *(obstacle_faces + start_of_obstacles for obstacle_faces in obstacles.triangles)]
        wires = [body.wires + np.int32(start) for body, start in zip(bodies, first)]
        of_node = np.full(nodes + len(embedded.corners), -1)
        for number, own in (*enumerate(faces), *enumerate(wires)):
            of_node[own] = number
        among = np.concatenate(wires).astype(np.int32)
        groups, is_prescribed = embedded.least(group), embedded.least(prescribed)
        now, colliding_quads = embedded.positions(at_start), quads

        def surfaces() -> Surfaces:
            return Surfaces(embedded.positions(rest), np.concatenate(faces).astype(np.int32), groups, of_node,
                            None if may_touch.all() else may_touch, wires=among, quads=colliding_quads,
                            is_prescribed=is_prescribed)

        made = surfaces()
        if len(quads) and made.intersection(now) is not None:
            colliding_quads = without_intersections(quads, made, now)
            made = surfaces()
        return Touching(bodies, skins, among, colliding_quads, embedded, made, now, of_node)

    return arrange


def _without_intersecting(surfaces: Surfaces, between: Callable[[NDArray[np.bool_]], Surfaces],
                          may_touch: NDArray[np.bool_], now: Vec, of_node: Index) -> NDArray[np.bool_]:
    """Return which bodies collide with each other at first, (b, b): those of `may_touch` that do not intersect at the
    start; `may_touch` itself where none do. A body that intersects itself is not removed. between: makes surfaces of
    such pairs."""
    while (intersection := surfaces.intersection(now)) is not None:
        one, other = of_node[intersection[0][0]], of_node[intersection[1][0]]
        if one == other:
            break
        may_touch = may_touch.copy()
        may_touch[[one, other], [other, one]] = False
        surfaces = between(may_touch)
    return may_touch


def _stiffness(job: Job, prepared: list[Prepared], mass: Vec, first: Index, edges: list[float],
               embedded: EmbeddedVertices) -> Vec:
    """Return the stiffness with which each node resists contact, (n + v,) [N/m]; infinite for nodes of obstacles."""
    stiffness = np.full(embedded.nodes, np.inf)
    for soft, start, edge in zip(prepared, first, edges):
        own = slice(int(start), int(start) + len(soft.volume.nodes))
        stiffness[own] = RESISTS * (mass[own] / job.scene.time.step**2 + soft.resistance(edge))
    return embedded.least(stiffness)


def _friction(job: Job, prepared: list[Prepared], first: Index, obstacles: Obstacles, usual: float,
              embedded: EmbeddedVertices, of_node: Index) -> Vec:
    """Return the friction coefficient of each node and embedded vertex, (n + v,). usual: coefficient of bodies without
    one."""
    coefficients = [soft.body.friction for soft in prepared] + obstacles.friction
    friction: Vec = np.array([usual if mu is None else mu for mu in coefficients], dtype=float)[of_node]
    painted, first_obstacle = np.ones(embedded.nodes), int(first[len(prepared)])
    for soft, start in zip(prepared, first):
        painted[start : start + len(soft.volume.nodes)] = read_painted_friction(job, soft)
    painted[first_obstacle : first_obstacle + len(obstacles.painted)] = obstacles.painted
    friction *= np.clip(embedded.positions(painted[:, None])[:, 0], 0.0, 1.0)
    return friction


def _distances(gap: float, count: int, of_node: Index, surface_offset: Vec) -> Vec:
    """Return the distances to which the surfaces of two bodies are separated so that their meshes have a gap [m]
    between them, (count, count) [m]. surface_offset: of the contact surface from the meshes at each node, (n + v,) [m].
    """
    thickness: Vec = np.zeros(count)
    solid = of_node >= 0
    np.maximum.at(thickness, of_node[solid], surface_offset[solid])
    distances: Vec = gap + thickness[:, None] + thickness[None, :]
    return distances


def _groups(coordinates: FreeNodes, mass: Vec) -> Index:
    """Return the group of each node, (n,): nodes of one group do not touch each other, and -1 is none. mass: (n,) [kg].
    """
    group = np.where(coordinates.is_free, -1, PRESCRIBED)
    group[coordinates.attached.nodes] = np.where(mass[coordinates.attached.nodes] > 0.0, ATTACHED, PRESCRIBED)
    return group


def _mark_prescribed(coordinates: FreeNodes, obstacles: Obstacles, first_obstacle: int) -> NDArray[np.bool_]:
    """Return whether the motion of each node is prescribed, (n,): pins, obstacles, and surfaces of animated rigid
    bodies.

    first_obstacle: number of nodes before those of the obstacles.
    """
    is_prescribed: NDArray[np.bool_] = ~coordinates.is_free
    is_prescribed[coordinates.attached.nodes] = False
    masses = obstacles.masses[len(obstacles.masses) - len(obstacles.attached) + len(obstacles.anchored):]
    for (_, own), weight in zip(obstacles.attached, masses):
        is_prescribed[first_obstacle + own.start : first_obstacle + own.stop] = weight == 0.0
    return is_prescribed


def _loads(job: Job, prepared: list[Prepared], mass: Vec, first: Index, obstacles: Obstacles,
           embedded: EmbeddedVertices) -> LoadsOnCloth | None:
    """Return the loads that may lie on cloth; None without cloth, or without another body that has a mass."""
    if all(soft.areal_density is None for soft in prepared):
        return None
    area, areal_mass, squared = np.zeros(embedded.nodes), np.zeros(embedded.nodes), job.scene.time.step**2
    for soft, start in zip(prepared, first):
        own = slice(int(start), int(start) + len(soft.volume.nodes))
        if soft.areal_density is not None:
            area[own] = mass[own] / soft.areal_density
        elif len(soft.skin):
            areal_mass[own] = mass[own].sum() / (_area(soft.volume.nodes, soft.skin) * squared)
    start = int(first[len(prepared)])
    for triangles, weight in zip(obstacles.triangles, obstacles.masses):
        areal_mass[start + np.unique(triangles)] = weight / (_area(obstacles.positions, triangles) * squared)
    if not areal_mass.any():
        return None
    return LoadsOnCloth(embedded.least(area), -embedded.least(-areal_mass))


def _usual_edge(x: Vec, skin: Index, wires: Index) -> float:
    """Return the mean length of a body's edges [m]. wires: edges of no triangle, (k, 2)."""
    if len(skin):
        return mean_edge(x, skin)
    return float(np.linalg.norm(x[wires[:, 1]] - x[wires[:, 0]], axis=1).mean())


def _area(x: Vec, triangles: Index) -> float:
    """Return the area of triangles [m²]."""
    return 0.5 * float(np.linalg.norm(area_vectors(x, triangles), axis=1).sum())


def list_ignored_fields(job: Job) -> list[str]:
    """Return a sentence for each setting of bodies and obstacles that the contact law ignores."""
    scene = job.scene
    if scene.contact is None:
        return []
    law = catalogue.find("contact", scene.contact.law.kind)
    coefficients = [*(body.friction for body in scene.bodies), *(obstacle.friction for obstacle in scene.obstacles)]
    if not law.able("constraints") or not any(coefficients):
        return []
    return [f"{law.label}: surfaces in contact slide without friction, whatever Friction is set to"]


def _skins(job: Job, prepared: list[Prepared], first: Index, nodes: int) -> tuple[list[Index], EmbeddedVertices]:
    """Return the triangles of each body that collide, numbered by nodes and then by embedded vertices, and these
    vertices."""
    skins, corners, weights, next_vertex = [], [np.zeros((0, 4), dtype=np.int32)], [np.zeros((0, 4))], nodes
    for soft, start in zip(prepared, first):
        surface = soft.body.surface
        if not soft.body.touches_by_mesh or surface is None or soft.embedding is None:
            skins.append(soft.skin + np.int32(start))
            continue
        if soft.thinned is not None:
            skins.append(soft.thinned.triangles + np.int32(next_vertex))
            corners.append(soft.thinned.corners + np.int32(start))
            weights.append(soft.thinned.weights)
            next_vertex += len(soft.thinned.corners)
            continue
        skins.append(np.asarray(job.array(surface.triangles)).astype(np.int32) + np.int32(next_vertex))
        corners.append(soft.embedding.corners + np.int32(start))
        weights.append(soft.embedding.weights)
        next_vertex += len(soft.embedding.corners)
    return skins, EmbeddedVertices(np.concatenate(corners).astype(np.int32), np.concatenate(weights), nodes)


def _refuse_coincident(surfaces: Surfaces, now: Vec, distance: float, names: list[str], owner: Index) -> None:
    near = surfaces.find_near_pairs(now, distance)
    own = near.nodes[near.is_self]
    if len(own):
        where = ", ".join(f"{c:.4g}" for c in now[own[0]].mean(axis=0))
        raise BadScene(f"its mesh has pieces that overlap at the start, near ({where}) m",
                       "Merge its vertices by distance, or let its tetrahedra touch", names[owner[own[0, 0]]])


def _has_inside(one: Prepared, skin: Index) -> bool:
    """Return whether the contact surface of a body is closed."""
    return is_closed(skin) if one.body.touches_by_mesh else one.is_closed


def read_painted_friction(job: Job, one: Prepared) -> Vec | float:
    """Return the painted fraction of a body's friction at each node, (k,); 1 without paint."""
    name = one.body.friction_weights
    return 1.0 if name is None else weights_at_nodes(job, one, name)


def _refuse_too_near(law: ContactLaw, now: Vec, names: list[str], owner: Index) -> None:
    pair = law.nearest(now)
    if pair is None:
        return
    where = ", ".join(f"{c:.4g}" for c in now[pair].mean(axis=0))
    raise BadScene(f'it is nearer to "{names[owner[pair[3]]]}" than they are thick at the start, near ({where}) m',
                   "Move them apart, or lower Thickness", names[owner[pair[0]]])


def _may_touch(job: Job, called: list[str], bodies: int) -> NDArray[np.bool_]:
    """Return whether two bodies or obstacles collide with each other, or one with itself, (k, k): where neither
    excludes the other.

    called: their names in `touches`. bodies: number of soft bodies, which are first.
    """
    touches = {body.name: body.touches for body in job.scene.bodies}
    lists = [touches[name] if k < bodies else None for k, name in enumerate(called)]
    permits: NDArray[np.bool_] = np.array([[other is None or name in other for name in called] for other in lists])
    both: NDArray[np.bool_] = permits & permits.T
    return both


def _upper_bounds(prepared: list[Prepared], edges: list[float], names: list[str]) -> tuple[Vec, Vec]:
    """Return the largest activation distance of two bodies or obstacles, and the shorter of the mean edges of their
    skins, (b, b) [m] each; both are infinite for two obstacles."""
    edge = np.array(edges + [np.inf] * (len(names) - len(edges)))
    thick = np.array([np.nan if soft.thickness is None else soft.thickness
                      for soft in prepared]
                     + [np.nan] * (len(names) - len(edges)))
    shorter = np.minimum(edge[:, None], edge[None, :])
    thicker = np.fmax(thick[:, None], thick[None, :])
    return np.where(np.isnan(thicker), REACH * shorter, thicker), shorter


def _activations(surfaces: Surfaces, rest: Vec, now: Vec, thickness: Vec, bounds: Vec, edge: Vec) -> Vec:
    """Return the activation distance of each two bodies, (b, b) [m]: so small that, if possible, no body has contact
    forces with itself at rest, nor with another one at the start.

    now: positions at the start, (n, 3) [m]. bounds, edge: bounds and mean edges, from `_upper_bounds`, (b, b) [m].
    """
    own, finite = bounds.diagonal(), np.isfinite(bounds)
    far = float(bounds[finite].max()) / OF_REST
    nearest = OF_REST * surfaces.nearest_to_itself(rest, far, len(bounds))
    without_others = np.maximum(np.minimum(own, nearest), np.minimum(own, LEAST_REACH * edge.diagonal()))
    both = np.minimum(bounds, np.minimum(without_others[:, None], without_others[None, :]))
    to_others = OF_REST * surfaces.nearest_of_pieces(now, far, thickness, len(bounds))
    activation: Vec = np.minimum(both, np.maximum(to_others, LEAST_TO_OTHERS * edge))
    return np.where(finite, activation, float(activation[finite].min()))


def _refuse_intersections(surfaces: Surfaces, now: Vec, names: list[str], owner: Index) -> None:
    """Raise BadScene where surfaces intersect at the start. now: positions, (n, 3) [m]. owner: body of each node."""
    intersection = surfaces.intersection(now)
    if intersection is None:
        return
    edge, face = intersection
    one, other = names[owner[edge[0]]], names[owner[face[0]]]
    where = ", ".join(f"{c:.4g}" for c in now[face].mean(axis=0))
    if one == other:
        near = now[np.concatenate([edge, face])]
        raise BadScene(f"it crosses itself at the start, near ({where}) m", _remedy_for_itself(near), one)
    raise BadScene(f'it crosses "{other}" at the start, near ({where}) m',
                   "Move them apart, with a little air between, give Push Apart some frames, or let them not "
                   "collide with each other", one)


def _remedy_for_itself(near: Vec) -> str:
    """Return the remedy for a body that intersects itself. near: different vertices of it there, (k, 3)
    [m]; of meshes that are split along their seams, as imported clothes are, some lie on each other."""
    doubled = len(np.unique(near, axis=0)) < len(near)
    return ("Vertices lie on each other there: join them by Merge > By Distance in Edit Mode" if doubled else
            "Move its parts away from each other")


def _refuse_inside(prepared: list[Prepared], skins: list[Index], first: Index, obstacles: Obstacles, now: Vec,
                   may_touch: NDArray[np.bool_]) -> None:
    """Raise BadScene where a body is inside another one. One point of each decides, since no surfaces intersect."""
    first_obstacle = int(first[len(prepared)])
    points = [int(skin[0, 0]) if len(skin) else int(soft.wires[0, 0] + start)
              for skin, soft, start in zip(skins, prepared, first)]
    nothing = np.zeros((0, 3), dtype=np.int32)  # cloth has no inside
    solid = [(soft.body.name, skin if _has_inside(soft, skin) else nothing, point)
             for soft, skin, point in zip(prepared, skins, points)]
    closed = [(name, mesh + np.int32(first_obstacle), int(mesh[0, 0]) + first_obstacle)
              for name, mesh in zip(obstacles.names, obstacles.triangles)]
    for i, (name, _, point) in enumerate([*solid, *closed]):
        for j, (other, mesh, its) in enumerate([*solid, *closed]):
            if i == j or not may_touch[i, j] or (point >= first_obstacle and its >= first_obstacle):
                continue
            if winding_numbers(now[point][None], now, mesh)[0] > 0.5:
                # an obstacle has been enlarged by its Thickness
                thick = f'lower the Thickness of "{other}" if it has one; ' if j >= len(solid) else ""
                raise BadScene(f'it is inside "{other}" at the start',
                               f"Move it out; {thick}if the object around it is "
                               "hollow, give that a wall with an inner side, or turn its normals inwards", name)
