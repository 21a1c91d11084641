"""Validation of the contact of surfaces and of obstacles."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .. import catalogue
from ..errors import BadMesh
from . import schema
from .expect import check_array, check_choice, check_indices, check_one_damping, check_weights
from .folder import Job, refuse
from .kinds import kind_of

MOST_FACES = 1_000_000  #: of an obstacle
SHORT = 1.0e-9  #: [m]: no piece of a wire and no nail is shorter
LARGEST_DISTANCE = 1.0 / 3.0  #: of a body's size: with a larger distance nearly all surfaces are near each other
MOST_NEAR = 3_000_000  #: pairs of faces that a distance may bring near each other, some two gigabytes
AROUND = 7.0  #: faces within one edge of a face
JUMP = 1.0  #: of an obstacle's size: between two samples it moves no farther


def check_contact(job: Job) -> None:
    """Check the contact and the obstacles of a scene, and the thickness of cloth.

    Raises BadScene, BadMesh or NoSuchThing.
    """
    scene = job.scene
    for i, body in enumerate(scene.bodies):
        of_body = kind_of(body)
        if of_body.thickness is not None:
            _check_reach(job, body, of_body.thickness, f'the Thickness of the cloth "{body.name}"',
                         f"$.bodies[{i}].{of_body.thickness_field}")
    if scene.contact is None:
        if scene.obstacles:
            raise refuse("the scene has obstacles and no contact, so nothing would touch them", "$.obstacles",
                         "Give the scene a contact, or leave them out")
        return
    check_choice("contact", scene.contact.law, "$.contact.law")
    if not scene.bodies:
        raise refuse("there is no soft body that could touch anything", "$.contact", "Leave it out")
    together = [body for body in scene.bodies if not kind_of(body).steps_by_itself]
    check_one_damping(scene, together, "touch each other")
    for kind, where in [(scene.integrator.kind, "$.integrator.kind"),
                        *((body.integrator.kind, f"$.bodies[{i}].integrator.kind")
                          for i, body in enumerate(scene.bodies) if body.integrator is not None)]:
        integrator = catalogue.find("integrator", kind)
        if not integrator.able("contact"):
            works = [entry.label for entry in catalogue.able("integrator", "contact")]
            raise refuse(f"{integrator.label} does not support contact", where,
                         f"Use {', '.join(works[:-1])} or {works[-1]}, or leave the contact out")
    if scene.time.tolerance:
        raise refuse("contact needs steps of constant length", "$.time.tolerance", "Set the accuracy to 0")
    _check_law(scene)
    _check_thickness(job)
    for body in scene.bodies:
        _check_reach(job, body, float(scene.contact.law.params.get("distance") or 0.0), "the Contact Distance",
                     "$.contact.law.params.distance")
    for i, body in enumerate(scene.bodies):
        _check_cut(scene, body, f"$.bodies[{i}]")
    names = {body.name for body in scene.bodies}
    for i, obstacle in enumerate(scene.obstacles):
        if not obstacle.name or obstacle.name in names:
            raise refuse(f'there are two things called "{obstacle.name}"' if obstacle.name
                         else "the obstacle has no name", f"$.obstacles[{i}].name")
        names.add(obstacle.name)
        _check_obstacle(job, obstacle, f"$.obstacles[{i}]")
    _check_touches(scene, names | {mechanism.name for mechanism in scene.mechanisms})


def _check_touches(scene: schema.Scene, names: set[str]) -> None:
    """Check the list `touches` of each body. names: of all bodies, obstacles and mechanisms. Raises BadScene."""
    thin = [obstacle.name for obstacle in scene.obstacles if obstacle.wires is not None or obstacle.nails is not None]
    for i, body in enumerate(scene.bodies):
        for name in body.touches or ():
            if name not in names:
                raise refuse(f'"{body.name}" touches "{name}", and there is no body, obstacle or mechanism of that '
                             "name", f"$.bodies[{i}].touches")
        kind = kind_of(body)
        if body.pins_yield and not kind.has_compliant_pins:
            raise refuse(f'"{body.name}" has pins that yield, which {kind.noun} does not support',
                         f"$.bodies[{i}].pins_yield", "Leave one of both out")
        if body.touches_by_mesh and (body.surface is None or kind.is_sheet):
            raise refuse(f'"{body.name}" has no mesh embedded in tetrahedra', f"$.bodies[{i}].touches_by_mesh",
                         "Leave the setting out: its tetrahedra or faces collide")
        colliding = next((name for name in thin if body.touches is None or name in body.touches), None)
        if colliding is not None and not kind.touches_wires:
            raise refuse(f'"{body.name}" touches "{colliding}", which has wires or nails, and only cloth with '
                         "Sharp Edges collides with those", f"$.bodies[{i}].touches",
                         f'Leave "{colliding}" out of what it touches, or give that faces instead')


def _check_cut(scene: schema.Scene, body: schema.Body, where: str) -> None:
    """Check that a body with cuts, nails or released pins touches no bodies that exclude these. Raises BadScene."""
    if not body.is_reshaped:
        return
    what, field = next((what, field) for what, field, has in (
        ("cuts", "cuts", body.cuts), ("nails", "nails", body.nails), ("pins that let go", "pin.until", True)) if has)
    if body.cuts and body.touches_by_mesh:
        raise refuse(f'"{body.name}" has cuts, and its mesh touches, which they change', f"{where}.touches_by_mesh",
                     "Switch Collide by Mesh off, or leave the cuts out")
    for other in scene.bodies:
        method = catalogue.find("method", scene.method_of(other).kind)
        kind = kind_of(other)
        may_touch = body.touches is None or other.name in body.touches
        if may_touch and (kind.steps_by_itself or method.able("touches bodies")):
            raise refuse(f'"{body.name}" has {what} and touches "{other.name}", which is '
                         f'{kind.noun if kind.steps_by_itself else f"drafted by {method.label}"}',
                         f"{where}.{field}", "Let these two not touch, or "
                         + (kind.remedy.format(body=f'"{other.name}"') if kind.steps_by_itself
                            else "give the other one another method"))


def _check_thickness(job: Job) -> None:
    """Check that no body has a Thickness larger than its size. Raises BadScene."""
    for i, body in enumerate(job.scene.bodies):
        out, vertices = body.thickness or 0.0, _points(job, body)
        size = float(np.ptp(vertices, axis=0).max()) if len(vertices) else 0.0
        if out > size > 0.0:
            raise refuse(f'"{body.name}" has a Thickness of {out:.4g} m, more than its size of {size:.4g} m',
                         f"$.bodies[{i}].thickness", "Lower it: others are kept so far from its surface")


def _check_reach(job: Job, body: schema.Body, distance: float, what: str, where: str) -> None:
    """Check that a contact distance [m] is so short that the pairs of near faces fit into memory. Raises BadScene.

    what: noun phrase for the distance in the message. where: path of its field.
    """
    vertices = _points(job, body)
    if distance <= 0.0 or not len(vertices):
        return
    size = float(np.ptp(vertices, axis=0).max())
    most, why = LARGEST_DISTANCE * size, f'a third of the size of "{body.name}", {size:.4g} m'
    if body.surface is not None:
        triangles = np.asarray(job.array(body.surface.triangles))
        corners = vertices[triangles]
        edge = float(np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).mean())
        few = edge * max(1.0, math.sqrt(MOST_NEAR / AROUND / len(triangles)))
        if few < most:
            most, why = few, f'what the {len(triangles):,} faces of "{body.name}" allow, {few:.4g} m'
    if distance > most > 0.0:
        raise refuse(f"{what} of {distance:.4g} m is more than {why}", where,
                     f"Lower it to {0.99 * most:.3g} m or less")


def _points(job: Job, body: schema.Body) -> NDArray[np.float64]:
    """Return the points of a body at the start, (n, 3) [m]; (0, 3) where its array does not contain points."""
    path = body.surface.vertices if body.surface is not None else body.tets.nodes if body.tets is not None else None
    points = np.zeros((0, 3)) if path is None else np.asarray(job.array(path), float)
    return points if points.ndim == 2 else np.zeros((0, 3))


def _check_law(scene: schema.Scene) -> None:
    """Check that a contact law of constraints is used only for Vanilla FEM without mechanisms. Raises BadScene."""
    assert scene.contact is not None
    law = catalogue.find("contact", scene.contact.law.kind)
    if not law.able("constraints"):
        return
    barrier = "Use Barrier"
    for body in scene.bodies:
        method = catalogue.find("method", scene.method_of(body).kind)
        if method.follows:
            raise refuse(f'{law.label} work only with Vanilla FEM, and "{body.name}" has {method.label}',
                         "$.contact.law", f"{barrier}, or Vanilla FEM")
        kind = kind_of(body)
        if kind.steps_by_itself:
            raise refuse(f'{law.label} do not support {kind.noun}, which "{body.name}" is', "$.contact.law",
                         barrier)
    if scene.mechanisms:
        raise refuse(f"{law.label} do not support bones and rigid bodies, and the scene has "
                     f'"{scene.mechanisms[0].name}"', "$.contact.law", f"{barrier}, or leave the mechanism out")


def _check_obstacle(job: Job, obstacle: schema.Obstacle, where: str) -> None:
    """Check the mesh, wires, nails and motion of an obstacle. Raises BadScene, BadMesh."""
    vertices = check_array(job, obstacle.vertices, f"{where}.vertices", "f", (None, 3))
    subject = f'the obstacle "{obstacle.name}"'
    count = sum(_check_thin(job, vertices, path, f"{where}.{field}", f"{subject} has {what}")
                for field, path, what in (("wires", obstacle.wires, "a piece of wire"),
                                          ("nails", obstacle.nails, "a nail")) if path is not None)
    triangles = np.zeros((0, 3), np.int32)
    if obstacle.triangles is not None:
        triangles = check_array(job, obstacle.triangles, f"{where}.triangles", "i", (None, 3))
    if not len(vertices) or not (len(triangles) or (count and obstacle.triangles is None)):
        raise refuse(f"{subject} has no {'face' if len(vertices) else 'vertex'}", where,
                     "Give it faces or leave it out", kind=BadMesh)
    if len(triangles) > MOST_FACES:
        raise refuse(f"{subject} has {len(triangles):,} faces", where,
                     f"Use a simpler mesh of {MOST_FACES:,} faces at most", kind=BadMesh)
    check_indices(triangles, len(vertices), f"{where}.triangles", "vertices")
    corners = np.asarray(vertices, dtype=float)[triangles]
    sides = corners - np.roll(corners, 1, axis=1)
    areas = np.linalg.norm(np.cross(sides[:, 1], sides[:, 2]), axis=1)
    flat = np.flatnonzero(areas <= 1e-12 * np.einsum("tij,tij->ti", sides, sides).max(axis=1))
    if len(flat):
        raise refuse(f"{subject} has {len(flat)} faces without area, the first is {flat[0]}", f"{where}.triangles",
                     "Dissolve them: in Blender Mesh > Clean Up > Degenerate Dissolve", kind=BadMesh)
    if obstacle.sharp_edges is not None:
        marked = check_array(job, obstacle.sharp_edges, f"{where}.sharp_edges", "i", (None, 2))
        check_indices(marked, len(vertices), f"{where}.sharp_edges", "vertices")
    if obstacle.friction_weights is not None:
        check_weights(job, obstacle.friction_weights, f"{where}.friction_weights", len(vertices))
    if obstacle.motion is None:
        return
    motion = check_array(job, obstacle.motion, f"{where}.motion", "f", (job.samples, len(vertices), 3))
    size = float(np.linalg.norm(np.ptp(vertices, axis=0)))
    for k in range(1, len(motion)):
        far = float(np.linalg.norm(motion[k] - motion[k - 1], axis=1).max())
        if far > JUMP * size:
            frame = job.scene.time.start + (k - 1) / job.scene.time.samples_per_frame
            raise refuse(f"{subject} jumps by {far:.3g} m at frame {frame:g}, farther than it is large",
                         f"{where}.motion", "Animate the move over more frames")
    if np.abs(motion[0] - vertices).max() > 1e-6 * max(size, 1e-6):
        raise refuse(f"{subject} is elsewhere at the first sample of its motion", f"{where}.motion",
                     "Begin the motion with its vertices")


def _check_thin(job: Job, vertices: NDArray[np.float64], path: str, where: str, subject: str) -> int:
    """Return the number of pieces of wire, or of nails, of an obstacle. Raises BadMesh where one has no length."""
    ends = check_array(job, path, where, "i", (None, 2))
    check_indices(ends, len(vertices), where, "vertices")
    lengths = np.linalg.norm(vertices[ends[:, 1]] - vertices[ends[:, 0]], axis=1)
    short = np.flatnonzero(~(lengths > SHORT))
    if len(short):
        raise refuse(f"{subject} without length, number {short[0]}", where,
                     "Merge its ends: in Blender Mesh > Merge > By Distance", kind=BadMesh)
    return len(ends)
