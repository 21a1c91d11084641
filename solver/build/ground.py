"""Ground of a scene, for soft bodies, rigid bodies and cloth with Sharp Edges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .. import catalogue
from ..contact.find.ground import NOWHERE, Ground
from ..contact.laws.ground_penalty import GroundPenalty
from ..coordinates.free_nodes import FreeNodes
from ..embedding.above_ground import AboveGround
from ..embedding.pinned import PinnedVertices
from ..job.folder import Job, parameters
from ..meshing.closest import closest_weights, vertex_normals
from ..meshing.near_triangles import find_near_triangles
from ..meshing.volume import mean_edge
from ..state import Index, Vec
from ..world.bodies import BodyInWorld
from .fields import Prepared
from .inputs import over_time
from .rigid_skins import skins_of

TOLERANCE = 0.02  #: of a body's largest extent: how far its mesh and its tetrahedra may be from each other
DEEP = 0.05  #: of a body's size: what begins so deep in the ground is thrown


def ground_of(job: Job) -> Ground:
    """Return the scene's ground with its motion and its friction coefficient, whatever law that is for; `NOWHERE`
    without a ground."""
    one = job.scene.ground
    if one is None:
        return NOWHERE
    mu = 0.0 if one.friction is None else float(parameters("friction", one.friction)["friction_coefficient"])
    return Ground(np.array(one.point), np.array(one.normal), mu,
                  None if one.motion is None else over_time(job, one.motion))


def on_ground(job: Job, prepared: list[Prepared], rest: Vec, mass: Vec, coordinates: FreeNodes) -> GroundPenalty:
    """Return the contact law between the scene's ground and these nodes. rest, mass: of all nodes, (n, 3) [m] and (n,)
    [kg].

    A stiffness per area is that for a body's own weight; where rigid bodies may lie on the body, it is multiplied by
    the ratio of the heaviest one's mass to the body's, if that is larger than 1.
    """
    one = job.scene.ground
    if one is None:
        return GroundPenalty.nowhere(coordinates.is_free)
    per_area, law = one.stiffness_per_area, one.friction
    stiffness = np.full(len(rest), one.stiffness) if per_area is None else per_area * _skin(prepared, rest)
    friction = None if law is None else catalogue.find("friction", law.kind).load()(parameters("friction", law))
    reach, heaviest = np.zeros(len(rest)), _measure_rigid_masses(job)
    start = 0
    for body in prepared:
        stop = start + len(body.volume.nodes)
        reach[start:stop] = measure_drawn_reach(job, body)
        if per_area is not None and heaviest and not body.kind.is_sheet:
            touches = body.body.touches
            on_it = max((most for name, most in heaviest.items() if touches is None or name in touches), default=0.0)
            stiffness[start:stop] *= max(1.0, on_it / float(mass[start:stop].sum()))
        start = stop
    return GroundPenalty(ground_of(job), stiffness, coordinates.is_free, friction, one.tangential_share, reach)


def _measure_rigid_masses(job: Job) -> dict[str, float]:
    """Return the mass of the heaviest rigid body of each mechanism that touches soft ones [kg], empty where none do."""
    if job.scene.contact is None:
        return {}
    masses: dict[str, float] = {}
    for skin in skins_of(job):
        masses[skin.mechanism] = max(masses.get(skin.mechanism, 0.0), skin.mass)
    return masses


def measure_drawn_reach(job: Job, one: Prepared) -> Vec:
    """Return how far a body's mesh extends beyond each of its nodes, (k,) [m]; negative where the node is outside of
    the mesh.

    It is zero at nodes inside, for bodies without a mesh besides their nodes, and where the mesh is farther away than a
    mesher's tolerance, as at the faces of a cut or over a hole that was filled. Cells extend beyond the mesh by up to
    an edge.
    """
    nodes, reach, surface = one.volume.nodes, np.zeros(len(one.volume.nodes)), one.body.surface
    if surface is None or one.embedding is None:
        return reach
    x, triangles = np.asarray(job.array(surface.vertices), dtype=float), np.asarray(job.array(surface.triangles))
    skin = one.skin
    border, normals = np.unique(skin), vertex_normals(nodes, skin)
    edge = mean_edge(nodes, skin)
    corners = x[triangles[find_near_triangles(nodes[border], x, triangles, edge)]]
    weights = closest_weights(nodes[border][:, None], corners)
    out = np.einsum("bkc,bkci->bki", weights, corners) - nodes[border][:, None]
    away = np.linalg.norm(out, axis=2)
    best = away.argmin(axis=1)
    row = np.arange(len(border))
    distance = away[row, best]
    side = np.sign(np.einsum("bi,bi->b", out[row, best], normals[border]))
    tolerance = TOLERANCE * float(one.volume.extents.max())
    most = np.where((side < 0.0) & (not one.body.cuts), max(edge, tolerance), tolerance)
    reach[border] = np.where(distance <= most, side * distance, 0.0)
    return reach


def build_above_ground(job: Job, one: Prepared, drawn_at_pins: PinnedVertices | None) -> AboveGround | None:
    """Return the correction that draws a body's vertices above the ground; None where the scene has no ground, or the
    job no mesh of the body.

    drawn_at_pins: vertices that are drawn where they are prescribed.
    """
    ground = ground_of(job)
    if not ground.exists or (one.embedding is None and not one.kind.is_sheet):
        return None
    if one.embedding is None:  # its vertices are its nodes
        start, prescribed = one.volume.nodes, one.fields.pinned
    else:
        start = one.embedding.apply(one.volume.nodes)
        prescribed = np.zeros(0, dtype=np.int32) if drawn_at_pins is None else drawn_at_pins.vertices
    return AboveGround(ground, start, prescribed, 1.0 / job.scene.time.fps)


def notes_on_sunk_bodies(bodies: Sequence[BodyInWorld], ground: Ground, rest: Vec, free: Index) -> list[str]:
    """Return notes on bodies that start deep in the ground, whose springs throw them out. rest: positions of all nodes,
    (n, 3) [m]. free: indices of free nodes, ascending."""
    notes, inside = [], ground.find(rest[free], 0.0)
    nodes = free[inside.nodes]
    for body in bodies:
        own = (nodes >= body.nodes.start) & (nodes < body.nodes.stop)
        deep = -float(inside.gap[own].min(initial=0.0))
        if deep > DEEP * body.size:
            notes.append(f'"{body.name}": it begins {deep:.3g} m deep in the ground, which throws it out. Lift it, or '
                         "lower the ground")
    return notes


def _skin(prepared: list[Prepared], rest: Vec) -> Vec:
    """Return the area of skin at each node at rest, the length of its area vector, (n,) [m²]; for a rope length times
    thickness. rest: positions of all nodes, (n, 3) [m]."""
    faces, start, of_ropes = [], 0, np.zeros(len(rest))
    for prepared_body in prepared:
        faces.append(prepared_body.skin + start)
        ends = prepared_body.wires + start
        half = 0.5 * np.linalg.norm(rest[ends[:, 1]] - rest[ends[:, 0]], axis=1) * 2.0 * prepared_body.surface_offset
        np.add.at(of_ropes, ends, half[:, None])
        start += len(prepared_body.volume.nodes)
    corners = np.concatenate(faces)
    a, b, c = (rest[corners[:, k]] for k in range(3))
    third = np.cross(b - a, c - a) / 6.0
    outwards = np.zeros_like(rest)
    for k in range(3):
        np.add.at(outwards, corners[:, k], third)
    area: Vec = np.linalg.norm(outwards, axis=1) + of_ropes
    return area
