"""From soft bodies of a job to a part of its world: tetrahedra, fields, coordinates, forces, condensation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .. import catalogue
from ..constraints.points.point_constraint import PointConstraint
from ..contact.laws.interface import ContactLaw
from ..coordinates.free_nodes import FreeNodes
from ..coordinates.patches import Patch
from ..coordinates.prescribed import Concatenated
from ..forces.multipliers import WithMultipliers
from ..forces.pulls import Pull
from ..forces.stencils import ElasticBody, StencilForce
from ..integrators.interface import Integrator
from ..job.folder import Job, parameters
from ..job.kinds import kind_of
from ..linear.banded_cholesky import BandedCholesky
from ..linear.choose import choose
from ..linear.interface import LinearSolver
from ..meshing.volume import Volume
from ..parts.block_condensation import BlockCondensation, BlockSlice
from ..parts.interface import Balancing, Condensation, Mesh
from ..parts.mixed import MixedMethods
from ..state import Index, Vec
from ..world.bodies import ObstacleInWorld
from ..world.half_life_damping import HalfLifeDampers
from ..world.nodes import Nodes
from ..world.nodes_part import NodesPart
from ..world.sliding_damping import SlidingDampers
from .air import AirAround, air_of
from .compliant_pins import compliant_attachments, without_pins
from .contributions import Contribution, PartNodes, contribute, join_contributions
from .fields import Prepared
from .follow import followers
from .ground import notes_on_sunk_bodies, on_ground
from .inputs import positions_over_time
from .integrators import integrator_of
from .linear_use import linear_use
from .material_data import MaterialData
from .obstacles import Obstacles, obstacles_of
from .painted_weights import weights_at_nodes
from .point_constraints import TargetNodes, point_constraints, target_nodes, ties_of
from .prescribed_ends import PrescribedEnds, find_integrated_nodes, find_prescribed_ends
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

    first_target = int(first[-1]) + len(obstacles.positions)
    ties = ties_of(job, prepared, targets, first_target, rest, first)
    ends = find_prescribed_ends(job, ties, targets, first_target, rest, find_integrated_nodes(job, prepared, len(rest)))
    coordinates = _coordinates(job, rest, [without_pins(prepared_body) for prepared_body in prepared], first,
                               make_coordinates, obstacles, targets, air, ends)
    linear, linear_kind = _linear_solver(job, prepared, make_coordinates is not None, len(ends.ties) < len(ties))
    joins = joins_different_methods(job, prepared)
    mesh = _mesh(prepared, materials, rest, mass, first, coordinates)
    condensation = _condensation(job, prepared, first, mesh, linear, joins)
    integrator = integrator_of(scene)
    stage_solver = catalogue.find("stage_solver", scene.stage_solver.kind).load()(
        parameters("stage_solver", scene.stage_solver))

    nodes = PartNodes(rest, mass, ends.without(coordinates.is_free), coordinates.is_free)
    total = join_contributions(
        contribute(job, prepared_body, material, slice(int(start), int(stop)), nodes, integrator, linear_kind)
        for prepared_body, material, start, stop in zip(prepared, materials, first[:-1], first[1:]))
    contacts, ignored = _contacts(job, prepared, rest, mass, first, coordinates, obstacles, reshaped)
    ground = on_ground(job, prepared, rest, mass, coordinates)
    notes = [f"Linear solver: {linear.why}", *_notes_on_sleep(job, prepared, joins), *stage_solver.notes(linear),
             *ignored]
    notes += [] if ground.friction is None else ground.friction.notes(has_dynamic=condensation.whole is None)
    notes += [*notes_on_sunk_bodies(total.bodies, ground.plane, rest, coordinates.free), *total.notes]
    constraints = point_constraints(job, prepared, ties, ends.ties, rest, mass, first, nodes.is_free)
    acting = _acting(job, prepared, total, nodes, first, obstacles, air, constraints)
    make = _choose_part(integrator, coordinates, condensation)
    return make(list(total.bodies), list(total.elements), coordinates, rest, mass, np.array(scene.gravity), ground,
                scene.time.start, condensation=condensation, stage_solver=stage_solver, linear=linear, notes=notes,
                damping_laws=list(total.damping_laws), contacts=contacts, balanced=list(total.balanced),
                between=acting.between, pulls=acting.pulls, links=acting.links, constraints=acting.constraints,
                following=followers(job, prepared, first), couples_methods=joins,
                losses=HalfLifeDampers(total.losses, len(rest)) if total.losses else None,
                sliding=SlidingDampers(total.sliding, len(rest)) if total.sliding else None,
                obstacles=[ObstacleInWorld(name, slice(int(first[-1]) + of.start, int(first[-1]) + of.stop))
                           for name, of in zip(obstacles.names, obstacles.spans)])


def _choose_part(integrator: Integrator, coordinates: FreeNodes, condensation: Condensation
                 ) -> Callable[..., NodesPart]:
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


def _contacts(job: Job, prepared: list[Prepared], rest: Vec, mass: Vec, first: Index, coordinates: FreeNodes,
              obstacles: Obstacles, reshaped: bool) -> tuple[list[ContactLaw], list[str]]:
    """Return the contact laws between surfaces, and a sentence for each setting that they ignore; none where the scene
    has no contact."""
    if job.scene.contact is None:
        return [], []
    from .contact import contacts_of, list_ignored_fields  # its kernels are compiled where something touches

    return contacts_of(job, prepared, rest, mass, first, coordinates, obstacles, reshaped), list_ignored_fields(job)


class _Acting(NamedTuple):
    """Forces and constraints on all bodies other than elasticity, contact and the ground."""

    between: list[StencilForce]
    pulls: list[Pull]
    links: list[WithMultipliers]
    constraints: list[PointConstraint]


def _acting(job: Job, prepared: list[Prepared], total: Contribution, nodes: PartNodes, first: Index,
            obstacles: Obstacles, air: AirAround, ties: list[PointConstraint]) -> _Acting:
    """Return all forces and constraints on these bodies. total: contribution of all of them. ties: constraints of
    points, which precede constraints that are forces."""
    anchored_pins = compliant_attachments(job, prepared, nodes.mass, first, obstacles.anchored)
    between, breaking, hard = _between(job, prepared, nodes.rest, first)
    constraints = [*ties, *hard]
    return _Acting(
        between=[*between, *anchored_pins, *air.laws(prepared, first, len(nodes.rest) - 1), *total.own_forces,
                 *constraints],
        pulls=[*total.pulls, *total.soft_pins, *total.compliant_pins, *anchored_pins],
        links=[*total.links, *breaking, *constraints], constraints=constraints)


def _linear_solver(job: Job, prepared: list[Prepared], is_attached: bool, has_rows: bool
                   ) -> tuple[LinearSolver, type[LinearSolver]]:
    """Return the linear solver of these bodies, and its class for a single body. is_attached: whether nodes are
    attached to rigid bodies. has_rows: whether constraints have rows."""
    use = linear_use(job, prepared, is_attached, has_rows)
    chosen = choose(job.scene.linear_solver, [prepared_body.count for prepared_body in prepared], use)
    is_banded = job.scene.linear_solver == "auto" and all(prepared_body.is_banded for prepared_body in prepared)
    return BandedCholesky(chosen) if is_banded else chosen, type(chosen)


def _notes_on_sleep(job: Job, prepared: list[Prepared], joins: bool) -> list[str]:
    """Return sentences for the log where methods let nodes sleep, *Adaptive*, and no node may. joins: whether forces
    join bodies of different methods."""
    if not (job.scene.contact is not None or joins):
        return []
    why = "forces join bodies of different methods" if joins else "surfaces may touch"
    adaptive = any(parameters("method", job.scene.method_of(prepared_body.body)).get("adaptive")
                   for prepared_body in prepared)
    return [f"Adaptive: no dynamic node sleeps where {why}"] if adaptive else []


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
        groups.setdefault(min(job.scene.find_joined_bodies(prepared_body.body.name)), []).append(k)
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


def _motion(job: Job, prepared: list[Prepared], obstacles: Obstacles, targets: TargetNodes, air: AirAround,
            ends: PrescribedEnds) -> Concatenated:
    """Return the prescribed positions of the pinned nodes of all bodies, of obstacles, of target nodes, of the air and
    of ends of constraints."""
    return Concatenated([*(positions_over_time(job, prepared_body.fields.motion,
                                               prepared_body.volume.nodes[prepared_body.fields.pinned])
                         for prepared_body in prepared), *obstacles.motions, *targets.motions,
                         *air.motions, *ends.motions])
