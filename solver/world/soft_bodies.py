"""Soft bodies: positions, forces and contact, and their output at a frame."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt

from ..assembly.damping import Damped, Damping, DampingLaw
from ..assembly.elements import Elements
from ..assembly.kernels import CHUNKS, weigh_nodes
from ..assembly.linearised import Linearised
from ..assembly.products import Products
from ..constraints.points.point_constraint import PointConstraint
from ..contact.laws.ground_penalty import GroundPenalty
from ..contact.laws.interface import ContactLaw
from ..coordinates.free_nodes import FreeNodes
from ..forces.multipliers import WithMultipliers
from ..forces.pulls import Pull
from ..forces.stencils import BodyElements, StencilForce
from ..nonlinear.forces_protocol import Stretched
from ..state import Index, Mask, State, Vec
from ..threads import parallel_for
from .bodies import BodyInWorld, ObstacleInWorld
from .contact_bounds import ContactBounds
from .step_limits import StepLimits


@dataclass(frozen=True)
class Selection:
    """Selection of bodies and kinds of forces for an evaluation."""

    bodies: Sequence[int] | None = None  #: bodies whose elements are evaluated; None: all
    touch: bool = True  #: whether contact forces between surfaces are evaluated
    stretched: bool = False  #: whether the stretches of tetrahedra are unknowns of their own


ALL = Selection()


@dataclass
class SoftBodies(ContactBounds, StepLimits):
    """Soft bodies, with the forces on their nodes, derivatives of these, and prescribed motion."""

    bodies_in_world: Sequence[BodyInWorld]
    elastic: Sequence[BodyElements]
    coordinates: FreeNodes
    rest: Vec  #: (n, 3) [m]
    mass: Vec  #: (n,) [kg]
    gravity: Vec  #: (3,) [m/s²]
    ground: GroundPenalty
    start_frame: int
    damping_laws: Sequence[DampingLaw] = ()  #: of each of `elastic`; empty where nothing is damped
    between: Sequence[StencilForce] = ()  #: forces other than those of materials
    pulls: Sequence[Pull] = ()
    contacts: Sequence[ContactLaw] = ()  #: of surfaces, with bounds on steps
    links: Sequence[WithMultipliers] = ()  #: ropes and constraints, with multipliers in the memory of states
    constraints: Sequence[PointConstraint] = ()  #: constraints among `links` that are projected where they are hard
    couples_methods: bool = False  #: whether forces couple bodies with different methods
    obstacles: Sequence[ObstacleInWorld] = ()
    friction = None  #: friction on given normal forces, which only stages have

    def __post_init__(self) -> None:
        laws = [*self.between, *self.contacts]
        self._elements = Elements(self.elastic, laws, len(self.rest))
        self.tets = self._elements.tets
        self._node_blocks = np.zeros((len(self.rest), 3, 3))  #: overwritten by each linearisation
        self._no_contacts = np.zeros_like(self._node_blocks)  #: diagonal blocks without contacts
        self._own_weight = self.mass[:, None] * self.gravity
        self._weight = self._own_weight.copy()  #: with external forces, in place
        damping = Damping(self.damping_laws, self._elements, self.mass)
        self._damping = None if damping.is_off and not damping.may_change and not laws else damping

    def weigh(self, gravity: Vec) -> None:
        """Change gravity, (3,) [m/s²], in all following evaluations."""
        self.gravity[:] = gravity
        self._weight[:] += self.mass[:, None] * gravity - self._own_weight
        self._own_weight[:] = self.mass[:, None] * gravity

    def exchange_pulls(self, pulls: Sequence[Pull]) -> None:
        """Replace the springs that pull nodes in all following evaluations; a list may change between steps."""
        self.pulls = pulls

    @contextmanager
    def with_external_force(self, forces: Vec | None) -> Iterator[None]:
        """Return a context in which external forces act on the nodes, (n, 3) [N]; None: none."""
        if forces is not None:
            self._weight += forces
        try:
            yield
        finally:
            self._weight[:] = self._own_weight

    @property
    def external_force(self) -> Vec:
        """Return the present external forces on the nodes, (n, 3) [N]."""
        external_force: Vec = self._weight - self._own_weight
        return external_force

    def _evaluate_damping(self, state: State, time: float) -> Damped | None:
        """Return D = ∂f/∂v at the positions predicted for a time [s]; None without damping."""
        if self._damping is None:
            return None
        predicted = self.coordinates.advance(state.q, state.u, time - state.time)
        return self._damping.at(self.coordinates.positions(predicted, time, state.carrier_motion),
                                self.velocity(state), time)

    def linearise_at(self, x: Vec, v: Vec | None, time: float, project: bool = True,
                     extra_forces: Sequence[StencilForce] = (), selection: Selection = ALL) -> Linearised:
        """Return f and K at positions and velocities.

        x, v: (n, 3) [m], [m/s]; v None: at rest. project: whether K is projected to negative semi-definite.
        extra_forces: additional forces of one stage. selection: of bodies and forces.
        """
        force = self._weight.copy()
        elements = self._elements_of(selection)
        elements.fill(x, time, project, force, extra_forces, selection.bodies)
        return self._linearise(elements, x, v, time, force)

    def linearise_reusing_at(self, x: Vec, v: Vec, time: float, strained: Index,
                             extra_forces: Sequence[StencilForce] = (),
                             selection: Selection = ALL) -> Linearised:
        """Return f without the forces of tetrahedra, and projected K, with the last K of tetrahedra not in `strained`.

        x, v: (n, 3) [m], [m/s]. strained: tetrahedra that are evaluated again, ascending, (k,).
        """
        elements = self._elements_of(selection)
        elements.fill_again(x, time, strained)
        elements.fill_others(x, time, extra_forces)
        return self._linearise(elements, x, v, time, self._weight.copy())

    def _elements_of(self, selection: Selection) -> Elements:
        if selection.stretched:
            return self._stretched_elements
        return self._elements if selection.touch else self._elements_without_contact

    def _linearise(self, elements: Elements, x: Vec, v: Vec | None, time: float, force: Vec) -> Linearised:
        """Return the linearisation of elements with the forces and stiffness of pulls and the ground added."""
        self._node_blocks[:] = 0.0
        for pull in self.pulls:
            pull.add_force(x, time, force)
            pull.add_stiffness(time, self._node_blocks)
        contacts = self.ground.find(x, time)
        self.ground.add_force(contacts, force)
        self.ground.add_stiffness(contacts, self._node_blocks)
        zero_if_none = np.zeros_like(x) if v is None else v
        return Linearised(x, zero_if_none, self.mass, force, elements.blocks, self._node_blocks, contacts=contacts,
                          others=elements.others)

    def count_evaluations(self, selection: Selection = ALL) -> npt.NDArray[np.int64]:
        """Return the number of evaluations of K of each body's tetrahedra, (b,), which shows whether K has changed."""
        counts = self._elements_of(selection).filled
        return counts.copy() if selection.bodies is None else counts[list(selection.bodies)]

    def linearise_without_contact(self, x: Vec, v: Vec, time: float) -> Linearised:
        """Return f and projected K without contact between surfaces and with the ground; overwritten by the next call.

        x, v: positions and velocities, (n, 3) [m], [m/s].
        """
        force = self._weight.copy()
        elements = self._elements_without_contact
        elements.fill(x, time, True, force)
        return Linearised(x, v, self.mass, force, elements.blocks, self.contact_free_blocks(time),
                          others=elements.others)

    @cached_property
    def _elements_without_contact(self) -> Elements:
        return Elements(self._elements.elastic, self.between, len(self.rest))

    @cached_property
    def _stretched_elements(self) -> Elements:
        """Return all elements, with stretches as unknowns of the tetrahedra that support this."""
        from ..forces.in_stretches import InStretches  # compiled only for stages of mixed elements

        return Elements([body.in_stretches(InStretches) or body for body in self._elements.elastic],
                        [*self.between, *self.contacts], len(self.rest))

    def in_stretches(self, extra_forces: Sequence[StencilForce] = (), selection: Selection = ALL) -> Stretched | None:
        """Return the forces with stretches as unknowns; None where no elements support that.

        extra_forces: additional forces of one stage. selection: of bodies and forces.
        """
        from .stretched import build_stretched_forces

        selection = replace(selection, stretched=True)
        return build_stretched_forces(self._stretched_elements.elastic, selection.bodies,
                                      partial(self.evaluate, extra_forces=extra_forces, selection=selection),
                                      partial(self.linearise_at, extra_forces=extra_forces, selection=selection))

    def products_at(self, x: Vec, v: Vec, time: float, columns: Vec, damped: Damped | None) -> Products:
        """Return f and the products of the true K with fields, without contact between surfaces.

        x, v: positions and velocities, (n, 3) [m], [m/s]. columns: fields, (c, n, 3). damped: D, None without damping.
        """
        force = self._weight.copy()
        products = self._elements.multiply(x, time, columns, force)
        for pull in self.pulls:
            pull.add_force(x, time, force)
        if self.pulls:
            products += np.einsum("nij,cnj->cni", self.contact_free_blocks(time), columns)
        contacts = self.ground.find(x, time)
        self.ground.add_force(contacts, force)
        return Products(x, v, self.mass, force, products, damped, contacts)

    def find_clamped_elements(self, x: Vec, time: float) -> Mask:
        """Return whether the projection changes the stiffness of each element, (e,). x: positions, (n, 3) [m]."""
        return self._elements.find_clamped_elements(x, time)

    def evaluate(self, x: Vec, time: float, extra_forces: Sequence[StencilForce] = (), selection: Selection = ALL
                 ) -> tuple[Vec, float]:
        """Return forces, (n, 3) [N], and elastic, gravitational and contact energy [J] at positions x, (n, 3) [m].

        extra_forces: additional forces of one stage. selection: of bodies and forces.
        """
        force, sums = np.empty_like(self._weight), np.empty(CHUNKS)
        parallel_for(weigh_nodes, CHUNKS, self._weight, x, self.rest, force, sums)
        elements = self._elements_of(selection)
        energy = elements.measure(x, time, force, -float(sums.sum()), extra_forces, selection.bodies)
        energy += sum(pull.add_force(x, time, force) for pull in self.pulls)
        return force, energy + self.ground.add_force(self.ground.find(x, time), force)

    def contact_free_blocks(self, time: float) -> Vec:
        """Return the diagonal blocks of K of pulls, without contacts, (n, 3, 3) [N/m]; overwritten by the next call."""
        self._no_contacts[:] = 0.0
        for pull in self.pulls:
            pull.add_stiffness(time, self._no_contacts)
        return self._no_contacts

    def stretching(self, x: Vec, v: Vec) -> Vec:
        """Return V mean|Ṡ| of each element, (e,) [m³/s], at positions x [m] and velocities v [m/s], (n, 3).

        [Thesis 4.17]
        """
        return self._elements.stretching(x, v)
