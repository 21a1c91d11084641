"""From soft bodies of a job to a part of its world: tetrahedra, fields, coordinates, forces, condensation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .. import catalogue
from ..assembly.damping import DampingLaw
from ..constraints.points.point_constraint import PointConstraint
from ..contact.laws.interface import ContactLaw
from ..coordinates.free_nodes import FreeNodes
from ..coordinates.patches import Patch
from ..coordinates.prescribed import Concatenated, Constant, Transformed
from ..embedding.nodes_near import nodes_near
from ..errors import BadScene
from ..forces.multipliers import WithMultipliers
from ..forces.pulls import Pull
from ..forces.stencils import ElasticBody, StencilForce
from ..integrators.interface import Integrator
from ..job.folder import Job, blame, parameters
from ..job.kinds import kind_of
from ..linear.banded_cholesky import BandedCholesky
from ..linear.choose import choose
from ..linear.interface import LinearSolver
from ..meshing.volume import Volume
from ..parts.block_condensation import BlockCondensation, BlockSlice
from ..parts.interface import Balancing, Condensation, Mesh
from ..parts.mixed import MixedMethods
from ..state import Index, Mask, Vec
from ..world.bodies import BodyInWorld, ObstacleInWorld
from ..world.half_life_damping import HalfLifeDampers, HalfLifeDamping
from ..world.nodes import Nodes
from ..world.nodes_part import NodesPart
from ..world.sliding_damping import SlidingDampers
from .air import AirAround, air_of
from .compliant_pins import compliant_attachments, compliant_pins, without_pins
from .fields import Prepared
from .follow import followers
from .ground import drawn_above, notes_on_sunk_bodies, on_ground
from .half_life import losses_of
from .inputs import activation_of, over_time, positions_over_time
from .integrators import integrator_of
from .linear_use import linear_use
from .material_data import MaterialData
from .obstacles import Obstacles, obstacles_of
from .painted_weights import weights_at_nodes
from .pinned_vertices import drawn_pinned
from .point_constraints import TargetNodes, point_constraints, target_nodes, ties_of
from .prescribed_ends import PrescribedEnds, integrated_nodes, prescribed_ends
from .pressures import pressures
from .seams import seams_of
from .sliding import sliding_bodies
from .soft_pins import soft_pins
from .volumes import Stage, volumes_of

#: coordinates from rest positions (n, 3), pinned nodes, their motion, and the first node of each body
MakeCoordinates = Callable[[Vec, Index, Concatenated, Index], FreeNodes]


def prepare_all(job: Job, report: Stage, volumes: list[Volume] | None = None) -> list[Prepared]:
    """Return all bodies of a job, meshed and painted. volumes: their tetrahedra; None: they are made, or read from the
    job. Raises a ConJacError that names the body and, where the job is at fault, the field."""
    volumes = volumes_of(job, report) if volumes is None else volumes
    return [kind_of(body).load_builder()(job, body, volume, report) for body, volume in zip(job.scene.bodies, volumes)]


def assemble(job: Job, prepared: list[Prepared], make_coordinates: MakeCoordinates | None = None,
             obstacles: Obstacles | None = None, reshaped: bool = False,
             targets: TargetNodes | None = None) -> NodesPart:
    """Return soft bodies as one part, which steps by itself unless a mechanism carries nodes of it. Raises BadScene.

    make_coordinates: for bodies with nodes on rigid bodies. obstacles: None: only those of the scene. reshaped: whether
    bodies were cut or nailed since the start. targets: nodes to which constraints tie the bodies; None: made here."""
    scene = job.scene
    if obstacles is None:
        obstacles = obstacles_of(job)
    targets = target_nodes(job, prepared) if targets is None else targets
    air = air_of(job, prepared)
    rest = np.concatenate([*(prepared_body.volume.nodes for prepared_body in prepared), obstacles.positions,
                           targets.positions, air.position])
    first = np.concatenate([[0], np.cumsum([len(prepared_body.volume.nodes) for prepared_body in prepared])])
    materials = [prepared_body.material_data(job, rest, int(start)) for prepared_body, start in zip(prepared, first)]
    mass = np.concatenate([*(material.mass for material in materials), np.zeros(len(rest) - int(first[-1]))])
    bodies = [_in_world(job, prepared_body, slice(int(start), int(stop)))
              for prepared_body, start, stop in zip(prepared, first[:-1], first[1:])]

    first_target = int(first[-1]) + len(obstacles.positions)
    ties = ties_of(job, prepared, targets, first_target, rest, first)
    ends = prescribed_ends(job, ties, targets, first_target, rest, integrated_nodes(job, prepared, len(rest)))
    coordinates = _coordinates(job, rest, [without_pins(prepared_body) for prepared_body in prepared], first,
                               make_coordinates, obstacles, targets, air, ends)
    is_free = ends.without(coordinates.is_free)
    linear, linear_kind = _linear_solver(job, prepared, make_coordinates is not None, len(ends.ties) < len(ties))
    methods = [parameters("method", scene.method_of(prepared_body.body)) for prepared_body in prepared]
    joins = joins_different_methods(job, prepared)
    awake = _asleep(job, methods, joins)
    mesh = _mesh(prepared, materials, rest, mass, first, coordinates)
    condensation = _condensation(job, prepared, first, mesh, linear, joins)
    integrator = integrator_of(scene)
    stage_solver = catalogue.find("stage_solver", scene.stage_solver.kind).load()(
        parameters("stage_solver", scene.stage_solver))

    damping = [_damping(job, prepared_body, made, rest, mass, is_free, body.nodes, integrator, linear_kind)
               for prepared_body, made, body in zip(prepared, materials, bodies)]
    bodies = [replace(body, hertz=body_damping.hertz) for body, body_damping in zip(bodies, damping)]
    losses = [loss for body_damping in damping for loss in body_damping.losses]
    slides = sliding_bodies(prepared, materials, bodies, rest, mass, coordinates)
    contacts, ignored = _contacts(job, prepared, rest, mass, first, coordinates, obstacles, reshaped)
    ground = on_ground(job, prepared, rest, mass, coordinates)
    notes = [f"Linear solver: {linear.why}", *awake, *stage_solver.notes(linear), *ignored]
    notes += [] if ground.friction is None else ground.friction.notes(has_dynamic=condensation.whole is None)
    notes += [*notes_on_sunk_bodies(bodies, ground.plane, rest, coordinates.free), *_notes_of_bodies(prepared, damping)]
    constraints = point_constraints(job, prepared, ties, ends.ties, rest, mass, first, is_free)
    acting = _acting(job, prepared, materials, rest, mass, first, obstacles, air, constraints)
    make = _stepped(integrator, coordinates, condensation)
    return make(bodies, [material.elements for material in materials], coordinates, rest, mass,
                np.array(scene.gravity), ground, scene.time.start, condensation=condensation,
                stage_solver=stage_solver, linear=linear, notes=notes,
                damping_laws=[body_damping.law for body_damping in damping], contacts=contacts,
                balanced=[body for body, params in zip(bodies, methods) if params["quasistatic_start"]],
                between=acting.between, pulls=acting.pulls, links=acting.links, constraints=acting.constraints,
                following=followers(job, prepared, first), couples_methods=joins,
                losses=HalfLifeDampers(losses, len(rest)) if losses else None,
                sliding=SlidingDampers(slides, len(rest)) if slides else None,
                obstacles=[ObstacleInWorld(name, slice(int(first[-1]) + of.start, int(first[-1]) + of.stop))
                           for name, of in zip(obstacles.names, obstacles.spans)])


def _stepped(integrator: Integrator, coordinates: FreeNodes, condensation: Condensation) -> Callable[..., NodesPart]:
    """Return the constructor of a part: one that steps by itself, or one without an integrator where a mechanism
    carries some of its nodes."""
    if not len(coordinates.attached.nodes):
        return partial(Nodes, integrator=integrator)
    return partial(NodesPart, turns_freely=integrator.turns_freely and condensation.whole is not None)


def _mesh(prepared: list[Prepared], materials: list[MaterialData], rest: Vec, mass: Vec, first: Index,
          coordinates: FreeNodes) -> Mesh:
    """Return the elements of all bodies as one mesh, from which methods make their condensation."""
    dynamic = np.concatenate([prepared_body.fields.dynamic + start
                              for prepared_body, start in zip(prepared, first)]).astype(np.int32)
    patches = [Patch(patch.nodes + np.int32(start), patch.motions)
               for prepared_body, start in zip(prepared, first) for patch in prepared_body.fields.patches]
    tets = np.concatenate([material.elements.tets for material in materials])
    return Mesh(tets, rest, mass, [part for material in materials for part in material.parts], coordinates, dynamic,
                max(material.stiffness for material in materials), tuple(patches))


def _notes_of_bodies(prepared: list[Prepared], damping: list[_Damping]) -> list[str]:
    """Return the sentences of each body's mesh, paint and damping, with its name."""
    return [f'"{prepared_body.body.name}": {note}' for prepared_body, own in zip(prepared, damping)
            for note in (*prepared_body.volume.notes, *prepared_body.fields.notes, *own.notes)]


def _contacts(job: Job, prepared: list[Prepared], rest: Vec, mass: Vec, first: Index, coordinates: FreeNodes,
              obstacles: Obstacles, reshaped: bool) -> tuple[list[ContactLaw], list[str]]:
    """Return the contact laws between surfaces, and a sentence for each setting that they ignore; none where the scene
    has no contact."""
    if job.scene.contact is None:
        return [], []
    from .contact import contacts_of, ignored_fields  # its kernels are compiled where something touches

    return contacts_of(job, prepared, rest, mass, first, coordinates, obstacles, reshaped), ignored_fields(job)


class _Acting(NamedTuple):
    """Forces and constraints on all bodies other than elasticity, contact and the ground."""

    between: list[StencilForce]
    pulls: list[Pull]
    links: list[WithMultipliers]
    constraints: list[PointConstraint]


def _acting(job: Job, prepared: list[Prepared], materials: list[MaterialData], rest: Vec, mass: Vec, first: Index,
            obstacles: Obstacles, air: AirAround, ties: list[PointConstraint]) -> _Acting:
    """Return all forces and constraints on these bodies. ties: constraints of points, which precede constraints that
    are forces."""
    anchored_pins = compliant_attachments(job, prepared, mass, first, obstacles.anchored)
    between, breaking, hard = _between(job, prepared, rest, first)
    constraints = [*ties, *hard]
    return _Acting(
        between=[*between, *anchored_pins, *air.laws(prepared, first, len(rest) - 1), *pressures(prepared, first, rest),
                 *seams_of(job, prepared, first, rest), *constraints],
        pulls=[*pulls_of(job, prepared, mass, first), *soft_pins(job, prepared, mass, first),
               *compliant_pins(job, prepared, mass, first), *anchored_pins],
        links=[*(link for made in materials for link in made.links), *breaking, *constraints], constraints=constraints)


def _linear_solver(job: Job, prepared: list[Prepared], is_attached: bool, has_rows: bool
                   ) -> tuple[LinearSolver, type[LinearSolver]]:
    """Return the linear solver of these bodies, and its class for a single body. is_attached: whether nodes are
    attached to rigid bodies. has_rows: whether constraints have rows."""
    use = linear_use(job, prepared, is_attached, has_rows)
    chosen = choose(job.scene.linear_solver, [prepared_body.count for prepared_body in prepared], use)
    is_banded = job.scene.linear_solver == "auto" and all(prepared_body.is_banded for prepared_body in prepared)
    return BandedCholesky(chosen) if is_banded else chosen, type(chosen)


def _asleep(job: Job, methods: list[dict[str, Any]], joins: bool) -> list[str]:
    """Remove *Adaptive* from the settings of methods where no node may sleep, and return sentences for the log. joins:
    whether forces join bodies of different methods."""
    if not (job.scene.contact is not None or joins):
        return []
    adaptive = [params.pop("adaptive", False) for params in methods]
    why = "forces join bodies of different methods" if joins else "surfaces may touch"
    return [f"Adaptive: no dynamic node sleeps where {why}"] if any(adaptive) else []


def _in_world(job: Job, one: Prepared, nodes: slice) -> BodyInWorld:
    """Return a body with its slice of all nodes, and the data that its output is made of."""
    surface = one.body.surface
    to_object = None if surface is None or surface.to_object is None else job.array(surface.to_object)
    drawn_at_pins = drawn_pinned(job, one)
    return BodyInWorld(one.body.name, nodes, one.volume.diagonal, one.embedding, to_object, drawn_at_pins,
                       above=drawn_above(job, one, drawn_at_pins), shows_stress=bool(one.body.stress_output))


class _Damping(NamedTuple):
    """Damping of one body."""

    losses: list[HalfLifeDamping]  #: relative to what carries it
    law: DampingLaw
    notes: list[str]
    hertz: float | None  #: fundamental frequency [Hz], where it was computed


def _damping(job: Job, one: Prepared, made: MaterialData, rest: Vec, mass: Vec, is_free: Mask, nodes: slice,
             integrator: Integrator, linear: Callable[[], LinearSolver]) -> _Damping:
    """Return the damping law of a body, and the damping that its half-life needs in addition. is_free: nodes that
    neither pins nor bones move, (n,). nodes: of the body among all."""
    own: DampingLaw = catalogue.find("damping", one.body.damping.kind).load()(
        rest, made.elements, made.modulus, parameters("damping", one.body.damping))
    return _Damping(*losses_of(job, one, made, own, rest, mass, is_free, nodes, integrator, linear))


def _condensation(job: Job, prepared: list[Prepared], first: Index, mesh: Mesh, linear: LinearSolver,
                  joins: bool) -> Condensation:
    """Return the condensation of the bodies' method, or of several methods. Where bones carry bodies with dense columns
    and none touch, each body is condensed by itself. joins: whether forces join bodies of different methods."""
    touching = job.scene.contact is not None or joins
    groups = _alike(job, prepared) if touching else _groups_by_forces(job, prepared)
    follow = any(catalogue.find("method", job.scene.method_of(prepared_body.body).kind).follows
                 for prepared_body in prepared)
    if len(groups) == 1 or not (touching or (follow and len(mesh.coordinates.attached.nodes))):
        make, params = _method(job, prepared[0])
        return make(mesh, linear, params)
    slices = []
    for group in groups:
        solver = choose(job.scene.linear_solver, [prepared[k].count for k in group])
        solver.remarks = linear.remarks
        nodes = np.concatenate([np.arange(first[k], first[k + 1]) for k in group])
        make, params = _method(job, prepared[group[0]])
        slices.append(BlockSlice(make, params | ({"adaptive": False} if touching else {}), nodes, solver))
    return MixedMethods(mesh, slices, linear) if touching else BlockCondensation(mesh, slices)


def _method(job: Job, one: Prepared) -> tuple[type[Balancing], dict[str, Any]]:
    """Return the method of a body, and its settings."""
    method = job.scene.method_of(one.body)
    params = parameters("method", method)
    if job.scene.contact is not None and "adaptive" in params:
        params["adaptive"] = False
    make: type[Balancing] = catalogue.find("method", method.kind).load()
    return make, params


def _alike(job: Job, prepared: list[Prepared]) -> list[list[int]]:
    """Return the groups of bodies, as indices, with one method and, where nodes are quasistatic, the same settings of
    it, apart from β, which bodies that may touch have in common, and the start, which each body has on its own."""
    groups: dict[str, list[int]] = {}
    for k, prepared_body in enumerate(prepared):
        make, params = _method(job, prepared_body)
        follows = catalogue.find("method", job.scene.method_of(prepared_body.body).kind).follows
        counts = sorted(item for item in params.items() if follows and item[0] not in ("beta", "quasistatic_start"))
        groups.setdefault(f"{make.__name__} {counts}", []).append(k)
    return [*groups.values()]


def joins_different_methods(job: Job, prepared: list[Prepared]) -> bool:
    """Return whether a force joins some of these bodies that have different methods or different settings of one
    method."""
    group = {prepared[k].body.name: number for number, own in enumerate(_alike(job, prepared)) for k in own}
    return any(len({group[name] for name in bodies}) > 1 for bodies in job.scene.joins() if group.keys() >= {*bodies})


def _groups_by_forces(job: Job, prepared: list[Prepared]) -> list[list[int]]:
    """Return the groups of bodies, as indices, that forces join to each other."""
    groups: dict[str, list[int]] = {}
    for k, prepared_body in enumerate(prepared):
        groups.setdefault(min(job.scene.joined(prepared_body.body.name)), []).append(k)
    return [*groups.values()]


def _coordinates(job: Job, rest: Vec, prepared: list[Prepared], first: Index, make_coordinates: MakeCoordinates | None,
                 obstacles: Obstacles, targets: TargetNodes, air: AirAround, ends: PrescribedEnds) -> FreeNodes:
    """Return coordinates with all prescribed nodes in one table: pinned and kinematic nodes of bodies, nodes of
    obstacles, anchors and ends of constraints, the air, and nodes attached to bones."""
    on_bodies = [np.arange(obstacles.own, len(obstacles.positions)),
                 *(np.arange(of.start, of.stop) + len(obstacles.positions) for _, of in targets.attached)]
    after_bodies = np.delete(np.arange(first[-1], len(rest)), np.concatenate(on_bodies))
    prescribed = np.concatenate([
        *(prepared_body.fields.pinned + start for prepared_body, start in zip(prepared, first)),
        after_bodies, ends.nodes])
    prescribed, motion = prescribed.astype(np.int32), _motion(job, prepared, obstacles, targets, air, ends)
    return (FreeNodes(rest, prescribed, motion.if_moving) if make_coordinates is None else
            make_coordinates(rest, prescribed, motion, first))


def _between(job: Job, prepared: list[Prepared], rest: Vec, first: Index
             ) -> tuple[list[StencilForce], list[WithMultipliers], list[PointConstraint]]:
    """Return the forces of the scene on these bodies, then those among them that break or begin later, and so have a
    memory of the points that stick, and the hard constraints among the scene's forces.

    rest: (n, 3) [m]. first: first node of each body, (bodies + 1,).
    """
    body_index = {prepared_body.body.name: k for k, prepared_body in enumerate(prepared)}

    def body(name: str) -> ElasticBody:
        start, stop = int(first[body_index[name]]), int(first[body_index[name] + 1])
        tets = prepared[body_index[name]].volume.tets + np.int32(start)
        skin, wires = (some + np.int32(start)
                       for some in (prepared[body_index[name]].skin, prepared[body_index[name]].wires))
        return ElasticBody(name, slice(start, stop), tets, skin, wires)

    forces: list[StencilForce] = []
    breaking: list[WithMultipliers] = []
    hard: list[PointConstraint] = []
    for force in job.scene.forces:
        if body_index.keys() >= {*force.bodies}:
            params, bodies = parameters("force", force.law), [body(name) for name in force.bodies]
            if force.weights is not None:
                painted = weights_at_nodes(job, prepared[body_index[force.bodies[0]]], force.weights)
                bodies[0] = replace(bodies[0], weights=painted)
            law = catalogue.find("force", force.law.kind).load()(bodies, rest, params)
            (hard if catalogue.find("force", force.law.kind).able("hard rows") else forces).append(law)
            breaking += [law] if params.get(catalogue.BREAKS.key) or params.get(catalogue.BEGINS.key) else []
    return forces, breaking, hard


def pulls_of(job: Job, prepared: list[Prepared], mass: Vec, first: Index) -> list[Pull]:
    """Return the pulls on these bodies. mass: of all nodes, (n,) [kg]. first: first node of each body, (bodies + 1,).
    Raises BadScene where a pull is near no node of its body."""
    pulls = []
    for prepared_body, start in zip(prepared, first):
        for k, pull in enumerate(prepared_body.body.pulls):
            x, centre = prepared_body.volume.nodes, np.array(pull.position)
            near = np.flatnonzero(_distance(centre, x) <= pull.radius)
            if not len(near):  # the radius is smaller than a tetrahedron
                near = nodes_near(x, prepared_body.volume.tets, prepared_body.embedding, partial(_distance, centre),
                                  pull.radius, centre[None])
            if not len(near):
                with blame(job.scene, prepared_body.body, f"pulls[{k}].radius"):
                    raise BadScene("a pull is not near any of its nodes", "Move it to the body or raise its radius")
            nodes = (near + start).astype(np.int32)
            # by mass, so that the force does not depend on the mesh
            stiffness = pull.stiffness * mass[nodes] / mass[nodes].sum()
            targets = Constant(x[near]) if pull.motion is None else Transformed(over_time(job, pull.motion), x[near])
            strength = None if pull.strength is None else activation_of(job, pull.strength)
            pulls.append(Pull(nodes, stiffness, targets, strength))
    return pulls


def _distance(point: Vec, points: Vec) -> Vec:
    """Return the distances of points (k, 3) from a position (3,), (k,) [m]."""
    away: Vec = np.linalg.norm(points - point, axis=1)
    return away


def _motion(job: Job, prepared: list[Prepared], obstacles: Obstacles, targets: TargetNodes, air: AirAround,
            ends: PrescribedEnds) -> Concatenated:
    """Return the prescribed positions of the pinned nodes of all bodies, of obstacles, of target nodes, of the air and
    of ends of constraints."""
    return Concatenated([*(positions_over_time(job, prepared_body.fields.motion,
                                               prepared_body.volume.nodes[prepared_body.fields.pinned])
                         for prepared_body in prepared), *obstacles.motions, *targets.motions,
                         *air.motions, *ends.motions])
