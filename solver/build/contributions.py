"""Contributions of single bodies to a part of the world: elements, damping, pulls, own forces and output."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from typing import NamedTuple

from .. import catalogue
from ..assembly.damping import DampingLaw
from ..forces.compliant_pins import CompliantPins
from ..forces.multipliers import WithMultipliers
from ..forces.pulls import Pull
from ..forces.soft_pins import SoftPins
from ..forces.stencils import BodyElements, StencilForce
from ..integrators.interface import Integrator
from ..job.folder import Job, parameters
from ..linear.interface import LinearSolver
from ..state import Mask, Vec
from ..world.bodies import BodyInWorld
from ..world.half_life_damping import HalfLifeDamping
from ..world.sliding_damping import SlidingBody
from .compliant_pins import make_compliant_pins
from .fields import Prepared
from .ground import build_above_ground
from .half_life import losses_of
from .material_data import MaterialData
from .pinned_vertices import build_pinned_vertices
from .pulls import make_pulls
from .sliding import make_sliding_damping
from .soft_pins import make_soft_pins


class PartNodes(NamedTuple):
    """All nodes of a part at the start, of which each body has a slice."""

    rest: Vec  #: positions, (n, 3) [m]
    mass: Vec  #: (n,) [kg]
    is_free: Mask  #: whether neither pins nor bones move a node, (n,)
    is_unprescribed: Mask  #: whether a node's motion is not prescribed by pins or attachments, (n,)


class Contribution(NamedTuple):
    """Contribution of one body, or of several bodies together, to a part of the world."""

    bodies: tuple[BodyInWorld, ...]  #: slices of nodes, and the data from which output is made
    elements: tuple[BodyElements, ...]
    damping_laws: tuple[DampingLaw, ...]
    losses: tuple[HalfLifeDamping, ...]  #: damping relative to what carries a body
    sliding: tuple[SlidingBody, ...]
    pulls: tuple[Pull, ...]
    soft_pins: tuple[SoftPins, ...]
    compliant_pins: tuple[CompliantPins, ...]
    own_forces: tuple[StencilForce, ...]  #: between nodes of one body, in addition to its elements
    links: tuple[WithMultipliers, ...]  #: laws among the elements that have multipliers
    balanced: tuple[BodyInWorld, ...]  #: bodies that start in equilibrium
    notes: tuple[str, ...]  #: sentences on mesh, paint and damping, each with the body's name

    def join(self, other: Contribution) -> Contribution:
        """Return the contribution of both, in this order."""
        return Contribution._make((*own, *its) for own, its in zip(self, other))


def join_contributions(contributions: Iterable[Contribution]) -> Contribution:
    """Return the contribution of at least one body to a part. Own forces of one class are next to each other, so that
    they add up in one order wherever their bodies are in the list."""
    total = reduce(Contribution.join, contributions)
    return total._replace(own_forces=tuple(sorted(total.own_forces, key=lambda force: type(force).__name__)))


def contribute(job: Job, one: Prepared, material: MaterialData, nodes: slice, of_part: PartNodes,
               integrator: Integrator, linear: Callable[[], LinearSolver]) -> Contribution:
    """Return the contribution of a body to a part.

    material: its elements. nodes: of the body among those of the part, of_part. linear: makes a new linear solver.
    Raises a ConJacError that names the body and the field.
    """
    rest, mass, start = of_part.rest, of_part.mass, nodes.start
    law: DampingLaw = catalogue.find("damping", one.body.damping.kind).load()(
        rest, material.elements, material.modulus, parameters("damping", one.body.damping))
    losses, law, notes, hertz = losses_of(job, one, material, law, rest, mass, of_part.is_free, nodes, integrator,
                                          linear)
    body = body_in_world(job, one, nodes, hertz)
    starts_balanced = parameters("method", job.scene.method_of(one.body))["quasistatic_start"]
    return Contribution(
        bodies=(body,), elements=(material.elements,), damping_laws=(law,), losses=tuple(losses),
        sliding=tuple(make_sliding_damping(one, material, body, rest, mass, of_part.is_unprescribed)),
        pulls=tuple(make_pulls(job, one, mass, start)), soft_pins=tuple(make_soft_pins(job, one, mass, start)),
        compliant_pins=tuple(make_compliant_pins(job, one, mass, start)),
        own_forces=tuple(one.own_forces(job, rest, start)), links=material.links,
        balanced=(body,) if starts_balanced else (),
        notes=tuple(f'"{one.body.name}": {note}' for note in (*one.volume.notes, *one.fields.notes, *notes)))


def body_in_world(job: Job, one: Prepared, nodes: slice, hertz: float | None = None) -> BodyInWorld:
    """Return a body with its slice of all nodes, and the data from which its output is made. hertz: fundamental
    frequency [Hz], where it was computed."""
    surface = one.body.surface
    to_object = None if surface is None or surface.to_object is None else job.array(surface.to_object)
    drawn_at_pins = build_pinned_vertices(job, one)
    return BodyInWorld(one.body.name, nodes, one.volume.diagonal, one.embedding, to_object, drawn_at_pins,
                       above=build_above_ground(job, one, drawn_at_pins), shows_stress=bool(one.body.stress_output),
                       hertz=hertz)
