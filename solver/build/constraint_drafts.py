"""Drafts on constraints, from bodies of a job: constraints of tetrahedra, cloth and ropes, pins, pulls and the ground.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from .. import catalogue
from ..job import schema
from ..job.folder import Job, blame, parameters
from ..materials.lame import lame
from ..parts.projective.body import ProjectiveBody
from ..parts.projective.building import cloth_constraints, membrane_moduli, ropes, springs
from ..parts.projective.constraints import Lengths, Tets
from ..parts.xpbd.body import CompliantBody
from ..parts.xpbd.tables import CompliantRows, NeoHookean, compliant_cloth
from ..state import Index, Vec
from ..world.bodies import BodyInWorld
from ..world.constraint_drafts import ConstraintDraft, SteppedBody
from .air import air_of
from .cloth import PreparedCloth
from .draft_obstacles import draft_obstacles, friction_of_nodes, touching_nodes
from .draft_pins import draft_pins
from .fields import Prepared
from .ground import build_above_ground, ground_of
from .pinned_vertices import build_pinned_vertices
from .pulls import make_pulls
from .ropes import PreparedRope, bends_of
from .soft_pins import make_soft_pins
from .volumes import Stage

STRETCHED = 1.0e2  #: of m/h² of all of a rope: how hard a link holds that may not stretch

MakeBody = Callable[[Vec, list[Any], Index], SteppedBody]  #: of masses, constraints and prescribed nodes


class DraftMethod(NamedTuple):
    """A method of drafts that steps by projections, and the constraints that it makes of each kind of body."""

    name: str
    of_tets: Callable[..., Any]  #: of nodes, tetrahedra, μ and λ
    of_cloth: Callable[..., Sequence[Any]]  #: of a sheet, numbers of its membrane and bending, and whether it is flat
    of_rows: Callable[[Lengths], Any]
    notes_on_membrane: Callable[[dict[str, float]], list[str]] = lambda params: []


def projective_draft(job: Job, one: Prepared, report: Stage) -> ConstraintDraft:
    """Return a body as a draft of projective dynamics. Raises a ConJacError that names the body."""
    params = parameters("method", job.scene.method_of(one.body))
    own = job.scene.integrator.kind
    integrator = own if own in ("backward_euler", "bdf2") else "backward_euler"
    notes = [] if integrator == own else ["Projective Dynamics uses Backward Euler, which damps it: "
                                          "BDF2 is livelier"]
    law = parameters("damping", one.body.damping)
    if law.get("stiffness_damping"):
        notes.append("Stiffness Damping has no effect in Projective Dynamics: use Wobble Half-Life, or XPBD")

    def make(mass: Vec, constraints: list[Any], pinned: Index) -> SteppedBody:
        return ProjectiveBody(one.volume.nodes, mass, constraints, pinned, _gravity(job),
                              float(law.get("mass_damping", 0.0)), integrator, int(params["projective_iterations"]),
                              int(params["projective_memory"]))

    method = DraftMethod("Projective Dynamics", Tets, cloth_constraints, lambda rows: rows, lambda membrane: [
        f"Projective Dynamics: {note}" for note in membrane_moduli(membrane)[2]])
    return _draft(job, one, method, make, notes)


def compliant_draft(job: Job, one: Prepared, report: Stage) -> ConstraintDraft:
    """Return a body as a draft of XPBD. Raises a ConJacError that names the body."""
    params = parameters("method", job.scene.method_of(one.body))
    law = parameters("damping", one.body.damping)
    notes = []
    if law.get("stiffness_damping") and one.kind.is_filled:
        notes.append("Stiffness Damping has no effect on XPBD bodies of tetrahedra: use Wobble Half-Life")

    def make(mass: Vec, constraints: list[Any], pinned: Index) -> SteppedBody:
        return CompliantBody(one.volume.nodes, mass, constraints, pinned, _gravity(job),
                             float(law.get("mass_damping", 0.0)), float(law.get("stiffness_damping", 0.0)),
                             int(params["xpbd_substeps"]), int(params["xpbd_sweeps"]))

    return _draft(job, one, DraftMethod("XPBD", NeoHookean, compliant_cloth, CompliantRows), make, notes)


@singledispatch
def constrain(one: Prepared, job: Job, method: DraftMethod, mass: Vec) -> tuple[list[Any], list[str]]:
    """Return the constraints of a body by a method of drafts, and sentences on settings that the method does not
    support. A kind of body registers its function here; this one is of solids. mass: of the nodes, (n,) [kg]."""
    params, tets = one.fields.element_parameters, one.volume.tets
    young = np.broadcast_to(params["youngs_modulus"], (len(tets),))
    poisson = np.broadcast_to(params.get("poisson_ratio", 0.0), (len(tets),))
    notes = [f"{method.name} uses the material's stiffness and Poisson ratio, not its kind"]
    if one.body.fiber_material is not None:
        notes.append(f"{method.name} ignores fibers: bake with another method to see them")
    return [method.of_tets(one.volume.nodes, tets, *lame(young, poisson))], notes


@constrain.register
def _constrain_cloth(one: PreparedCloth, job: Job, method: DraftMethod, mass: Vec) -> tuple[list[Any], list[str]]:
    from ..forces.cloth.sheet import Sheet  # its kernels are compiled where there is cloth

    cloth, membrane = one.cloth, parameters("membrane", one.cloth.membrane)
    notes = method.notes_on_membrane(membrane)
    if cloth.length_limit or cloth.area_limit:
        notes.append(f"{method.name} supports neither Length Limit nor Area Limit")
    sheet = Sheet(one.volume.nodes, one.triangles, one.material)
    return [*method.of_cloth(sheet, membrane, parameters("bending", cloth.bending),
                             cloth.bending.kind == "quadratic_bending")], notes


@constrain.register
def _constrain_rope(one: PreparedRope, job: Job, method: DraftMethod, mass: Vec) -> tuple[list[Any], list[str]]:
    notes = []
    if one.rope.keeps_shape:
        notes.append(f"{method.name} straightens ropes: bake with Vanilla FEM to see how one Keeps Its Shape")
    if parameters("rope", one.rope.length).get(catalogue.MOST_STRETCH.key):
        notes.append(f"{method.name} does not support {catalogue.MOST_STRETCH.label} of ropes")
    return [method.of_rows(_rope(job, one, mass))], notes


def _draft(job: Job, one: Prepared, method: DraftMethod, make: MakeBody, notes: list[str]) -> ConstraintDraft:
    """Return a body as a draft that steps by projections. make: its stepping from masses, constraints and pins. notes:
    of its damping."""
    scene, body, nodes = job.scene, one.body, one.volume.nodes
    material = one.material_data(job, nodes, 0)
    constraints, own_notes = constrain(one, job, method, material.mass)
    notes = [*own_notes, *notes]
    around = air_of(job, [one])
    laws: list[Any] = around.laws([one], np.array([0, len(nodes)]), len(nodes))
    air = (laws[0], around.motions[0]) if laws else None
    surface = body.surface
    to_object = None if surface is None or surface.to_object is None else job.array(surface.to_object)
    drawn_at_pins = build_pinned_vertices(job, one)
    shown = BodyInWorld(body.name, slice(0, len(nodes)), one.volume.diagonal, one.embedding, to_object, drawn_at_pins,
                        above=build_above_ground(job, one, drawn_at_pins))
    pulls = [*make_pulls(job, one, material.mass), *make_soft_pins(job, one, material.mass)]
    half_life = body.wobble_half_life
    if isinstance(half_life, str):
        notes.append(f"{method.name} does not support Wobble Half-Life with keyframes")
        half_life = 0.0
    all_notes = [f'"{body.name}": {note}' for note in (*one.volume.notes, *one.fields.notes, *notes)]
    pinned, motion = draft_pins(job, one)
    surface_nodes = np.setdiff1d(touching_nodes(one), pinned)
    obstacles = draft_obstacles(job, one, nodes[surface_nodes], friction_of_nodes(job, one)[surface_nodes],
                                one.volume.diagonal)
    with blame(scene, body, "method"):
        stepped = make(material.mass, constraints, pinned)
    return ConstraintDraft(stepped, shown, motion, ground_of(job), scene.time.start, method.name, pulls, air,
                           half_life or 0.0, None if obstacles is None else (obstacles, surface_nodes), all_notes)


def _gravity(job: Job) -> tuple[float, float, float]:
    x, y, z = job.scene.gravity
    return float(x), float(y), float(z)


def _rope(job: Job, one: PreparedRope, mass: Vec) -> Lengths:
    """Return the constraints of ropes: links, elastic or practically inextensible, and second differences that resist
    bending. mass: of the nodes, (n,) [kg]."""
    rope, nodes, edges = one.rope, one.volume.nodes, one.edges
    length = np.linalg.norm(nodes[edges[:, 1]] - nodes[edges[:, 0]], axis=1)
    params = parameters("rope", rope.length)
    step = schema.step_size(job.scene.time.fps, job.scene.time.step)[1]
    if "axial_stiffness" in params:
        rows = [springs(nodes, edges, params["axial_stiffness"] / length)]
    else:
        rows = [ropes(nodes, edges, STRETCHED * float(mass.sum()) / step**2)]
    bends = bends_of(edges, nodes)
    if rope.bending_stiffness and len(bends):
        sides = np.linalg.norm(np.diff(nodes[bends], axis=1), axis=2)
        # κ = Σ c x with c of a second difference over the mean length, ½ B |κ|² a metre
        c = np.stack([1.0 / sides[:, 0], -1.0 / sides[:, 0] - 1.0 / sides[:, 1], 1.0 / sides[:, 1]], axis=1)
        rows.append(Lengths.of(bends, c, rope.bending_stiffness / sides.mean(axis=1), 0.0))
    return Lengths.join(rows)
