"""Validation of a scene beyond types: catalogue keys, limits of parameters, and arrays that must fit together."""

from __future__ import annotations

import math

import numpy as np

from .. import catalogue
from . import schema
from .expect import (
    check_array,
    check_choice,
    check_indices,
    check_joined_methods,
    check_limits,
    check_numbers,
    check_vector,
    check_weights,
)
from .folder import FARTHEST, Job, blame, parameters, refuse
from .kinds import kind_of
from .validate_cloth import check_wind
from .validate_constraints import check_constraints
from .validate_contact import check_contact
from .validate_drafts import check_drafts
from .validate_follow import check_follow
from .validate_mechanisms import check_attached, check_mechanisms
from .validate_pins import check_pin, node_indices

FINEST = 1e-9  #: accuracy: below it the error of a step is rounding error
MOST_EDGES = 10_000  #: edges of tetrahedra across a body: no machine holds so many tetrahedra
STEPS_PER_FRAME = 100_000  #: more are due to a wrong unit, and would never end


def check(job: Job) -> None:
    """Check the scene of a job whose types are right. Raises BadScene, BadMesh or NoSuchThing."""
    scene = job.scene
    _check_time(scene.time)
    for family, choice in (("method", scene.method), ("integrator", scene.integrator),
                           ("stage_solver", scene.stage_solver)):
        check_choice(family, choice, f"$.{family}")
    for i, body in enumerate(scene.bodies):
        for family in ("method", "integrator", "stage_solver"):
            if (own := getattr(body, family)) is not None:
                check_choice(family, own, f"$.bodies[{i}].{family}")
    check_mechanisms(job)
    check_drafts(scene)
    _check_following(scene)
    _check_tolerance(scene)
    solvers = catalogue.family("linear_solver")
    if scene.linear_solver != "auto" and scene.linear_solver not in solvers:
        raise refuse(f'there is no linear solver "{scene.linear_solver}"', "$.linear_solver",
                     f"Use auto or one of {', '.join(solvers)}")
    check_vector(scene.gravity, "$.gravity")
    if scene.ground is not None:
        _check_ground(job, scene.ground)

    seen: dict[str, int] = {}
    for i, body in enumerate(scene.bodies):
        if not body.name or body.name in seen:
            raise refuse("the body has no name" if not body.name else f'two bodies are called "{body.name}"',
                         f"$.bodies[{i}].name")
        seen[body.name] = i
        with blame(scene, body, "name"):
            _check_body(job, body, f"$.bodies[{i}]")
    for i, force in enumerate(scene.forces):
        _check_force(job, force, f"$.forces[{i}]")
    check_constraints(job)
    check_contact(job)
    check_wind(job)
    check_numbers(scene, "$")


def _check_force(job: Job, force: schema.Force, where: str) -> None:
    """Check a force of the catalogue on soft bodies. Raises BadScene."""
    check_choice("force", force.law, f"{where}.law")
    scene, bodies = job.scene, {body.name: body for body in job.scene.bodies}
    if not force.bodies:
        raise refuse("a force acts on no body", f"{where}.bodies", "Name the soft bodies that it acts on")
    for k, name in enumerate(force.bodies):
        if name not in bodies or name in force.bodies[:k]:
            what = "is named twice" if name in bodies else "is no soft body of the scene"
            raise refuse(f'"{name}" {what}', f"{where}.bodies[{k}]", f"Use {', '.join(bodies) or 'a soft body'}")
    check_joined_methods(scene, force.bodies, f"{where}.bodies")
    if force.weights is not None:
        surface, tets = bodies[force.bodies[0]].surface, bodies[force.bodies[0]].tets
        painted = surface.vertices if surface is not None else tets.nodes if tets is not None else None
        check_weights(job, force.weights, f"{where}.weights", 0 if painted is None else len(job.array(painted)))


def _check_following(scene: schema.Scene) -> None:
    """Check that integrators work with methods whose nodes may be quasistatic. Raises BadScene."""
    pairs = [(scene.integrator, scene.method_of(body)) for body in scene.bodies] or [(scene.integrator, scene.method)]
    pairs += [(body.integrator, scene.method_of(body)) for body in scene.bodies if body.integrator is not None]
    for own, choice in pairs:
        integrator, method = catalogue.find("integrator", own.kind), catalogue.find("method", choice.kind)
        if method.follows and (why := integrator.why_not("quasistatic")):
            works = [entry.label for entry in catalogue.able("integrator", "quasistatic", hidden=True)]
            raise refuse(f"{integrator.label} moves every node on its own, which {method.label} does not, where "
                         f"{method.follows}: {why}",
                         "$.integrator.kind", f"Use {', '.join(works[:-1])} or {works[-1]}, or the method Vanilla FEM")


def _check_tolerance(scene: schema.Scene) -> None:
    if 0 < scene.time.tolerance < FINEST:
        raise refuse(f"an accuracy of {scene.time.tolerance:g} is below rounding error, so that every step would "
                     "be the shortest", "$.time.tolerance", f"Use {FINEST:g} or more, or 0 for steps of one length")
    integrator = catalogue.find("integrator", scene.integrator.kind)
    if scene.time.tolerance and not integrator.able("adaptive"):
        works = [entry.label for entry in catalogue.able("integrator", "adaptive", hidden=True)]
        raise refuse(f"{integrator.label} does not estimate its error, so an accuracy cannot choose its steps",
                     "$.time.tolerance", f"Use {', '.join(works[:-1])} or {works[-1]}, or set the accuracy to 0")


def _check_time(time: schema.Time) -> None:
    if time.end < time.start:
        raise refuse(f"the last frame, {time.end}, is before the first, {time.start}", "$.time.end")
    for name, value in (("fps", time.fps), ("step", time.step)):
        if not 1 / FARTHEST <= value <= FARTHEST:
            raise refuse(f"{value:g} is beyond what can be computed with", f"$.time.{name}", "Use a number near 1")
    if not time.step * time.fps * STEPS_PER_FRAME >= 1:
        raise refuse(f"a step of {time.step:g} s means more than {STEPS_PER_FRAME} steps per frame", "$.time.step",
                     "Use a larger step")


def _check_ground(job: Job, ground: schema.Ground) -> None:
    """Check the plane, motion and friction of the ground. Raises BadScene."""
    check_vector(ground.point, "$.ground.point")
    check_vector(ground.normal, "$.ground.normal")
    if not math.hypot(*ground.normal) > 1 / FARTHEST:
        raise refuse("the ground's normal has no direction", "$.ground.normal")
    if ground.motion is not None:
        check_array(job, ground.motion, "$.ground.motion", "f", (job.samples, 3))
    if ground.friction is not None:
        check_choice("friction", ground.friction, "$.ground.friction")
        integrator = catalogue.find("integrator", job.scene.integrator.kind)
        if why := integrator.why_not("ground friction"):
            works = [entry.label for entry in catalogue.able("integrator", "ground friction")]
            raise refuse(f"{why}, so {integrator.label} has no friction", "$.ground.friction",
                         f"Use {', '.join(works[:-1])} or {works[-1]}, or a ground without friction")


def _check_body(job: Job, body: schema.Body, where: str) -> None:
    """Check a soft body with all that it has: mesh, pins, choices, cuts, nails, pulls. Raises BadScene, BadMesh."""
    vertices, nodes = kind_of(body).check(job, where)
    check_choice("mesher", body.mesher, f"{where}.mesher")
    if body.surface is not None:
        _check_edge_length(job, body, body.surface, where)
    check_choice("material", body.material, f"{where}.material")
    check_choice("damping", body.damping, f"{where}.damping")
    if isinstance(body.wobble_half_life, str):
        halves = check_array(job, body.wobble_half_life, f"{where}.wobble_half_life", "f", (job.samples,))
        if halves.min() < 0.0:
            raise refuse(f"a half-life of {halves.min():g} s makes wobbles grow", f"{where}.wobble_half_life",
                         "Use seconds above 0, or 0 for wobbles that nothing damps")
    check_choice("carry", body.carry, f"{where}.carry")
    if body.spot is not None:
        check_choice("spot", body.spot, f"{where}.spot")
    if body.fiber_material is not None:
        check_choice("fiber_material", body.fiber_material, f"{where}.fiber_material")
        check_choice("fiber_field", body.fiber_field, f"{where}.fiber_field")
    _check_painted(job, body, vertices, where)
    _check_dynamic(job, body.dynamic, vertices, nodes, f"{where}.dynamic")
    check_pin(job, body.pin, vertices, nodes, f"{where}.pin")
    if body.dynamic.nodes is not None and body.pin.nodes is not None:
        both = np.intersect1d(job.array(body.dynamic.nodes), job.array(body.pin.nodes))
        if len(both) and nodes != len(job.array(body.pin.nodes)):  # all pinned: the stage "fields" reports it
            raise refuse(f"node {both[0]} is both dynamic and pinned", f"{where}.dynamic.nodes", "Choose one")
    _check_fibers(job, body, vertices, where)
    if body.friction_weights is not None:
        check_weights(job, body.friction_weights, f"{where}.friction_weights", vertices or nodes or 0)
    check_attached(job, body, vertices, nodes, where)
    if body.follow is not None:
        check_follow(job, body.follow, f"{where}.follow")
    for i, cut in enumerate(body.cuts):
        _check_cut(job, cut, nodes, f"{where}.cuts[{i}]")
    for i, nail in enumerate(body.nails):
        _check_nail(job, nail, f"{where}.nails[{i}]")
    for i, pull in enumerate(body.pulls):
        _check_pull(job, pull, f"{where}.pulls[{i}]")


def _check_edge_length(job: Job, body: schema.Body, surface: schema.Surface, where: str) -> None:
    edge = float(parameters("mesher", body.mesher).get("edge_length", 0.0))
    size = float(np.linalg.norm(np.ptp(job.array(surface.vertices), axis=0)))
    if 0.0 < edge < size / MOST_EDGES:
        raise refuse(f"an edge length of {edge:g} m is {size / edge:.1g} times smaller than the body",
                     f"{where}.mesher.params.edge_length", f"Use a larger one; {size / 50:.2g} m is fine for most")


def _check_pull(job: Job, pull: schema.Pull, where: str) -> None:
    """Check the point, motion and strength of a pull. Raises BadScene."""
    check_vector(pull.position, f"{where}.position")
    if pull.motion is not None:
        frames = check_array(job, pull.motion, f"{where}.motion", "f", (job.samples, 4, 4))
        if not abs(np.linalg.det(frames[0, :3, :3])) > 1.0 / FARTHEST:
            raise refuse("the object that carries a pull has zero scale at the start frame", f"{where}.motion",
                         "Give it a scale that is not 0")
    if pull.strength is not None:
        strength = check_array(job, pull.strength, f"{where}.strength", "f", (job.samples,))
        if strength.min() < -1e-6 or strength.max() > 1 + 1e-6:
            raise refuse(f"the strength of a pull lies in [0, 1]; this one reaches from {strength.min():g} to "
                         f"{strength.max():g}", f"{where}.strength")


def _check_nail(job: Job, nail: schema.Nail, where: str) -> None:
    """Check the frames and the motion of a nail. Raises BadScene."""
    time = job.scene.time
    if not time.start <= nail.frame < time.end:
        raise refuse(f"the nail at frame {nail.frame} would never hold: the scene has frames {time.start} to "
                     f"{time.end}", f"{where}.frame", f"Drive it in from frame {time.start} to {time.end - 1}")
    if nail.until is not None and nail.until + nail.until_subframe <= nail.frame + nail.subframe:
        raise refuse(f"the nail of frame {nail.frame} is drawn at frame {nail.until} already", f"{where}.until",
                     "Draw it later, or leave it out")
    check_vector(nail.head, f"{where}.head")
    check_vector(nail.tip, f"{where}.tip")
    if nail.motion is not None:
        matrices = check_array(job, nail.motion, f"{where}.motion", "f", (job.samples, 4, 4))
        if not (np.abs(np.linalg.det(matrices)) > 1e-12).all():
            raise refuse("the object that carries the nail has zero scale at some sample", f"{where}.motion",
                         "Leave its scale above 0")


def _check_cut(job: Job, cut: schema.Cut, nodes: int | None, where: str) -> None:
    """Check the frame and the geometry of a cut. nodes: of a given volume; None: it is made later. Raises BadScene."""
    known, time = catalogue.family("cut"), job.scene.time
    if cut.kind not in known:
        raise refuse(f'there is no cut "{cut.kind}"', f"{where}.kind", f"Use one of {', '.join(known)}")
    if not time.start <= cut.frame < time.end:
        raise refuse(f"the cut at frame {cut.frame} would never be seen: the scene has frames {time.start} to "
                     f"{time.end}", f"{where}.frame", f"Cut from frame {time.start} to {time.end - 1}")
    reads = known[cut.kind].reads
    for name in ("point", "normal", "vertices", "triangles", "faces"):
        if (getattr(cut, name) is None) == (name in reads):
            raise refuse(f"a cut of kind {cut.kind} {'needs' if name in reads else 'does not read'} {name}",
                         f"{where}.{name}", f"It reads {' and '.join(reads)}")
    if cut.point is not None and cut.normal is not None:
        check_vector(cut.point, f"{where}.point")
        check_vector(cut.normal, f"{where}.normal")
        if not math.hypot(*cut.normal) > 1 / FARTHEST:
            raise refuse("the plane's normal has no direction", f"{where}.normal")
    if cut.vertices is not None and cut.triangles is not None:
        vertices = check_array(job, cut.vertices, f"{where}.vertices", "f", (None, 3))
        triangles = check_array(job, cut.triangles, f"{where}.triangles", "i", (None, 3))
        if not len(triangles):
            raise refuse("the sheet has no triangle", f"{where}.triangles", "Give it faces")
        check_indices(triangles, len(vertices), f"{where}.triangles", "vertices")
    if cut.faces is not None:
        if nodes is None:
            raise refuse("faces can be listed only for a volume given by hand, in `tets`", f"{where}.faces")
        faces = check_array(job, cut.faces, f"{where}.faces", "i", (None, 3))
        if not len(faces):
            raise refuse("the list has no face", f"{where}.faces")
        check_indices(faces, nodes, f"{where}.faces", "nodes")


def _check_fibers(job: Job, body: schema.Body, vertices: int, where: str) -> None:
    """Check fibers and their activation. vertices: number of the surface's vertices. Raises BadScene."""
    if body.fibers is not None:
        check_weights(job, body.fibers, f"{where}.fibers", vertices)
    if body.fiber_vectors is not None:
        check_array(job, body.fiber_vectors, f"{where}.fiber_vectors", "f", (vertices, 3))
    if body.fiber_curves is not None:
        check_array(job, body.fiber_curves, f"{where}.fiber_curves", "f", (None, 2, 3))
    if body.fiber_activation is not None:
        known = [] if body.fiber_material is None else parameters("fiber_material", body.fiber_material)
        if catalogue.ACTIVATION.key not in known:
            raise refuse("its fibers cannot be activated", f"{where}.fiber_activation",
                         "Choose fibers of a muscle, or leave it out")
        array = check_array(job, body.fiber_activation, f"{where}.fiber_activation", "f", (job.samples,))
        if array.min() < -1e-6 or array.max() > 1 + 1e-6:
            raise refuse(f"activation lies in [0, 1]; this reaches from {array.min():g} to {array.max():g}",
                         f"{where}.fiber_activation")


def _check_painted(job: Job, body: schema.Body, vertices: int, where: str) -> None:
    """Check parameters of the material that are painted. Raises BadScene."""
    params = list(catalogue.find("material", body.material.kind).params)
    if body.fiber_material is not None:
        params += catalogue.find("fiber_material", body.fiber_material.kind).params
    paintable = {param.key: param for param in params if param.field}
    paintable[catalogue.DENSITY.key] = catalogue.DENSITY
    for key, painted in body.painted.items():
        path = f"{where}.painted.{key}"
        if key not in paintable:
            raise refuse(f'"{key}" cannot be painted', path, f"These can: {', '.join(paintable)}")
        for end, value in (("low", painted.low), ("high", painted.high)):
            check_limits(paintable[key], value, f"{path}.{end}")
        check_weights(job, painted.weights, f"{path}.weights", vertices)


def _check_dynamic(job: Job, dynamic: schema.Dynamic, vertices: int, nodes: int | None, where: str) -> None:
    """Check how dynamic nodes are chosen. nodes: of a given volume; None: it is made later. Raises BadScene."""
    if dynamic.weights is not None:
        check_weights(job, dynamic.weights, f"{where}.weights", vertices)
    if dynamic.points is not None:
        check_array(job, dynamic.points, f"{where}.points", "f", (None, 3))
    if dynamic.nodes is not None:
        node_indices(job, dynamic.nodes, f"{where}.nodes", nodes)
    for i, spots in enumerate(dynamic.spots):
        if spots.spot is not None:
            check_choice("spot", spots.spot, f"{where}.spots[{i}].spot")
        if spots.weights is not None:
            check_weights(job, spots.weights, f"{where}.spots[{i}].weights", vertices)
        if spots.points is not None:
            check_array(job, spots.points, f"{where}.spots[{i}].points", "f", (None, 3))
