"""Draft of a body in a subspace that is stored in the job folder, with groups of pins, damping and the ground."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from .. import catalogue
from ..assembly.pattern import node_graph
from ..coordinates.prescribed import OverTime
from ..job import stages
from ..job.folder import Job, blame, parameters
from ..job.schema import step_size
from ..meshing.volume import Volume
from ..parts.modes.body import DIAGONAL, ReducedBody, Stepping
from ..parts.modes.operators import Substance
from ..parts.modes.stepping import Iterating
from ..parts.modes.stored import arrays_of, body_of, fingerprint
from ..state import Index, Vec
from ..world.bodies import BodyInWorld
from ..world.drafts import Draft
from .draft_obstacles import draft_obstacles, friction_of_nodes
from .draft_pins import draft_pins
from .fields import Prepared
from .ground import build_above_ground, ground_of
from .inputs import over_time
from .pinned_vertices import build_pinned_vertices
from .pulls import make_pulls
from .soft_pins import make_soft_pins
from .tetrahedra import fibers_of
from .touching_surface import touching_surface
from .volumes import Stage

MOST_PULLS = 4  #: whose spots respond as the whole mesh does; others move as the weights let them
MOST_GROUPS = 16  #: of pins, each of which moves affinely
RIGID_ENOUGH = 2.0e-3  #: of the body's size: by so much a group of pins may deform
FIRM = 10.0  #: times the ground's stiffness: what sinks into that is drawn on it, and into an obstacle it is seen
TIMES = 24  #: that are looked at for that


def draft_of(job: Job, one: Prepared, report: Stage) -> Draft:
    """Return a body as a draft on its subspace, which is computed or read from the job folder. Raises a ConJacError
    that names the body."""
    scene, body = job.scene, one.body
    params = parameters("method", scene.method_of(body))
    nodes, tets = one.volume.nodes, one.volume.tets
    fields = one.fields
    material = catalogue.find("material", body.material.kind).load()
    fibers = fibers_of(job, body, fields)
    substance = Substance(material, material.constants(**fields.element_parameters), fields.density,
                          None if fibers is None else fibers.material, None if fibers is None else fibers.constants)
    pinned, motion = draft_pins(job, one)
    groups = _groups(one.volume, pinned, motion, (scene.time.end - scene.time.start) / scene.time.fps)
    weights, points = int(params["subspace_weights"]), int(params["subspace_points"]) or None
    # a material that is linear in positions has no stretches
    iterating = Iterating(material.is_objective, int(params["subspace_iterations"]))
    stepping = Stepping(scene.integrator.kind, (float(scene.gravity[0]), float(scene.gravity[1]),
                                                float(scene.gravity[2])), iterating=iterating)
    pins = [pinned[group] for group in groups]
    mass = one.material_data(job, nodes, 0).mass
    pulls = make_pulls(job, one, mass)
    pulled = [pull.nodes for pull in pulls[:MOST_PULLS]]
    springs = [*pulls, *make_soft_pins(job, one, mass)]

    def make() -> dict[str, Vec]:
        return arrays_of(ReducedBody.build(
            tets, nodes, substance, pins, weights, points, stepping=stepping, pulled=pulled,
            report=lambda message: report("fields", body.name, None, f"Finding its subspace: {message}")))

    with blame(scene, body, "method"):
        stored = stages.keep(job, "subspace", body.name,
                           fingerprint(tets, nodes, substance, pins, weights, points, pulled,
                                       [np.array(scene.gravity)]), make)
        reduced = body_of(stored, tets, nodes, substance, stepping=stepping)
    alpha, beta, damping_notes = _damping(job, one, reduced)
    ground = ground_of(job)
    floor = None
    if ground.exists:
        floor = reduced.floor(ground.normal, float(ground.point(0.0) @ ground.normal), ground.friction)
    reduced = reduced.with_stepping(replace(stepping, stiffness_damping=alpha, mass_damping=beta, floor=floor))
    surface = body.surface
    to_object = None if surface is None or surface.to_object is None else job.array(surface.to_object)
    if surface is not None and one.embedding is not None:
        touches = touching_surface(reduced, one, job.array(surface.triangles))
        reduced.touch_by(touches.rest, touches.functions, touches.prescribed)
    size = one.volume.diagonal
    drawn_at_pins = build_pinned_vertices(job, one)
    shown = BodyInWorld(body.name, slice(0, len(nodes)), size, one.embedding, to_object, drawn_at_pins,
                        float(reduced.truth.frequencies[0]) if len(reduced.truth.frequencies) else None,
                        build_above_ground(job, one, drawn_at_pins))
    notes = [f'"{body.name}": {note}' for note in (*one.volume.notes, *fields.notes, *damping_notes,
                                                   describe_truth(reduced, one))]
    motions = [_OfGroup(motion, group) for group in groups]
    moving = fibers if fibers is not None and body.fiber_activation is not None else None
    point_springs = [(spring, reduced.points_at(spring.nodes)) for spring in springs]
    start = reduced.touching.rest
    painted = friction_of_nodes(job, one)[cKDTree(nodes).query(start)[1]]
    return Draft(reduced, shown, motions, ground, scene.time.start, moving, point_springs,
                 draft_obstacles(job, one, start, painted, size), FIRM * reduced.floor(np.eye(3)[2], 0.0).stiffness,
                 notes)


class _OfGroup:
    """Positions over time of a group of nodes, as rows of the positions of all."""

    def __init__(self, motion: OverTime, rows: Index) -> None:
        self._motion, self._rows, self.moves = motion, rows, motion.moves

    def at(self, time: float) -> Vec:
        """Return the positions at `time` [s], (k, 3) [m]."""
        positions: Vec = self._motion.at(time)[self._rows]
        return positions

    def velocity(self, time: float) -> Vec:
        """Return the velocities at `time` [s], (k, 3) [m/s]."""
        velocities: Vec = self._motion.velocity(time)[self._rows]
        return velocities


def _groups(volume: Volume, pinned: Index, motion: OverTime, last: float) -> list[Index]:
    """Return the groups of pinned nodes that move affinely, as rows of `pinned`: connected nodes, divided in two as
    long as they deform. last: end of the motion [s]."""
    if not len(pinned):
        return []
    if not motion.moves:
        return [np.arange(len(pinned), dtype=np.int32)]
    _, part = connected_components(node_graph(volume.tets, len(volume.nodes))[pinned][:, pinned], directed=False)
    pending = [np.flatnonzero(part == number).astype(np.int32) for number in range(int(part.max()) + 1)]
    size, rest = float(volume.extents.max()), volume.nodes[pinned]
    moved = [motion.at(time) for time in np.linspace(0.0, last, TIMES)]
    done: list[Index] = []
    while pending:
        rows = pending.pop(0)
        affine = np.concatenate([np.ones((len(rows), 1)), rest[rows] - rest[rows].mean(axis=0)], axis=1)
        off = max(float(abs(affine @ np.linalg.lstsq(affine, x[rows], rcond=1e-9)[0] - x[rows]).max()) for x in moved)
        if off <= RIGID_ENOUGH * size or len(rows) < 8 or len(done) + len(pending) + 2 > MOST_GROUPS:
            done.append(rows)
            continue
        offsets = rest[rows] - rest[rows].mean(axis=0)
        along = offsets @ np.linalg.svd(offsets, full_matrices=False)[2][0]
        low = along <= np.median(along)
        pending += [rows[low], rows[~low]] if 0 < low.sum() < len(rows) else []
        if low.all() or not low.any():
            done.append(rows)
    return done


def _damping(job: Job, one: Prepared, reduced: ReducedBody) -> tuple[float, float, list[str]]:
    """Return the coefficients of stiffness [s] and mass [1/s] of Rayleigh damping, with the damping that the slowest
    wobble lacks for its half-life, and notes."""
    law = parameters("damping", one.body.damping)
    alpha, beta = float(law["stiffness_damping"]), float(law["mass_damping"])
    half_life = one.body.wobble_half_life
    if isinstance(half_life, str):
        samples = over_time(job, job.array(half_life)[:, None]).samples
        half_life = float(samples[samples > 0.0].min(initial=math.inf))
        half_life = 0.0 if math.isinf(half_life) else half_life
    if not half_life or not len(reduced.truth.frequencies):
        return alpha, beta, []
    omega = 2.0 * math.pi * float(reduced.truth.frequencies[0])
    _, h = step_size(job.scene.time.fps, job.scene.time.step)
    steps = numerical_damping(job.scene.integrator.kind, omega, h)
    lacks = max(2.0 * math.log(2.0) / half_life - steps - alpha * omega**2 - beta, 0.0)
    alpha += lacks / omega**2
    half = 2.0 * math.log(2.0) / (steps + alpha * omega**2 + beta)
    return alpha, beta, [f"Wobble Half-Life: its slowest wobble, of {omega / (2.0 * math.pi):.3g} Hz, loses its half "
                         f"in {half:.2g} s"]


def numerical_damping(integrator: str, omega: float, h: float) -> float:
    """Return the damping rate d of q̈ + d q̇ + ω² q = 0 that an integrator has by itself in steps of h [s] [1/s].
    omega: ω [rad/s]."""
    z = 1j * omega * h
    if integrator == "backward_euler":
        root = abs(1.0 / (1.0 - z))
    elif integrator == "bdf2":
        root = max(abs(np.roots([1.0 - 2.0 * z / 3.0, -4.0 / 3.0, 1.0 / 3.0])))
    else:
        root = abs((1.0 + (1.0 - 2.0 * DIAGONAL) * z) / (1.0 - DIAGONAL * z) ** 2)
    return -2.0 * math.log(root) / h


def describe_truth(reduced: ReducedBody, one: Prepared) -> str:
    """Return a note on the size of a reduced body and the error of its frequencies."""
    truth = reduced.truth
    note = (f"{reduced.size} coordinates and {reduced.points.count} points stand for {len(one.volume.nodes)} nodes and "
            f"{len(one.volume.tets)} tetrahedra")
    if len(truth.frequencies):
        note += (f"; its first {len(truth.frequencies)} wobbles are within {100.0 * truth.off:.0f} % of the whole "
                 f"mesh's, whose slowest has {truth.frequencies[0]:.3g} Hz")
    return note
