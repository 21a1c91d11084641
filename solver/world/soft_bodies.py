"""Soft bodies as they are: where they stand, what acts on them, and what a bake asks of them at any moment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt

from ..assembly.damping import Damped, Damping, DampingLaw
from ..assembly.edges import Edges
from ..assembly.elements import Elements
from ..assembly.linearised import Linearised
from ..assembly.products import Products
from ..contact.laws.ground_penalty import GroundPenalty
from ..contact.laws.interface import ContactLaw
from ..coordinates.free_nodes import FreeNodes
from ..embedding.bind import Embedding
from ..errors import Diverged, StepFailed
from ..forces.pulls import Pull
from ..forces.stencils import BodyElements, StencilForce
from ..nonlinear.forces_protocol import Stretched
from ..state import Index, Mask, State, Vec
from .bodies import BodyInWorld, ObstacleInWorld
from .taken_along import taken_along


@dataclass(frozen=True)
class Among:
    """What forces are asked for, where not all are."""

    bodies: Sequence[int] | None = None  #: whose elements; None: of all
    touch: bool = True  #: whether surfaces push each other
    stretched: bool = False  #: whether the stretches of tets are unknowns of their own


ALL = Among()
BLOW_UP = 1.0e3  #: a body this many times its rest size has blown up
MOST = 0.99  #: of a body's edges: what more of them change tells how short the steps of an impact have to be
GENTLE = 0.05  #: as fast as the weight of a step makes it: what touches the ground no faster lies on it


@dataclass
class SoftBodies:
    """Bodies, forces on their nodes, and what prescribes some of these."""

    bodies_in_world: Sequence[BodyInWorld]
    elastic: Sequence[BodyElements]
    coordinates: FreeNodes
    rest: Vec  #: (n, 3) [m]
    mass: Vec  #: (n,) [kg]
    gravity: Vec  #: (3,) [m/s²]
    ground: GroundPenalty
    start_frame: int
    damping_laws: Sequence[DampingLaw] = ()  #: of each of `elastic`; empty where nothing is damped
    between: Sequence[StencilForce] = ()  #: forces besides those of materials
    pulls: Sequence[Pull] = ()
    contacts: Sequence[ContactLaw] = ()  #: of surfaces: forces that also say how far a step may go
    joins_apart: bool = False  #: whether forces join bodies of different methods
    obstacles: Sequence[ObstacleInWorld] = ()

    def __post_init__(self) -> None:
        laws = [*self.between, *self.contacts]
        self._elements = Elements(self.elastic, laws, len(self.rest))
        self.tets = self._elements.tets
        self._node_blocks = np.zeros((len(self.rest), 3, 3))  #: written anew by each linearisation
        self._no_contacts = np.zeros_like(self._node_blocks)  #: the same without those of contacts
        self._own_weight = self.mass[:, None] * self.gravity
        self._weight = self._own_weight.copy()  #: with what is borne, written where it stands: who sees this feels that
        damping = Damping(self.damping_laws, self._elements, self.mass)
        self._damping = None if damping.is_off and not damping.may_change and not laws else damping
        self.factored_apart = 0.0  #: factors of groups of bodies, each as its share of all nodes

    def weigh(self, gravity: Vec) -> None:
        """Let gravity be another one from now on [m/s²], (3,)."""
        self.gravity = gravity
        self._weight[:] += self.mass[:, None] * gravity - self._own_weight
        self._own_weight[:] = self.mass[:, None] * gravity

    @contextmanager
    def bearing(self, forces: Vec | None) -> Iterator[None]:
        """Within it these act on the nodes besides all else, (n, 3) [N]: what is no part of it does."""
        if forces is not None:
            self._weight += forces
        try:
            yield
        finally:
            self._weight[:] = self._own_weight

    @property
    def borne(self) -> Vec:
        """What acts on the nodes besides all else now, (n, 3) [N]."""
        borne: Vec = self._weight - self._own_weight
        return borne

    def owns(self, name: str) -> bool:
        """Whether a body of this name is among them."""
        return any(body.name == name for body in self.bodies_in_world)

    @property
    def bodies(self) -> list[tuple[str, int, int]]:
        """(name, first vertex, number of vertices) of each body's output."""
        out, first = [], 0
        for body in self.bodies_in_world:
            out.append((body.name, first, body.vertices))
            first += body.vertices
        return out

    @property
    def wobbles(self) -> dict[str, float]:
        return {body.name: body.hertz for body in self.bodies_in_world if body.hertz is not None}

    def _damped(self, state: State, time: float) -> Damped | None:
        """D = ∂f/∂v where the state's rates will have brought the body by `time`; None where nothing is damped."""
        if self._damping is None:
            return None
        ahead = self.coordinates.advance(state.q, state.u, time - state.time)
        return self._damping.at(self.coordinates.place(ahead, time, state.led), self.velocity(state), time)

    def linearise_at(self, x: Vec, v: Vec | None, time: float, project: bool = True,
                     besides: Sequence[StencilForce] = (), among: Among = ALL) -> Linearised:
        """The same at positions and velocities (n, 3), None at rest; K is negative semi-definite if `project`.

        besides: forces of one stage. among: what is asked for.
        """
        force = self._weight.copy()
        elements = self._elements_of(among)
        elements.fill(x, time, project, force, besides, among.bodies)
        return self._linearised(elements, x, v, time, force)

    def linearise_reusing_at(self, x: Vec, v: Vec, time: float, strained: Index, besides: Sequence[StencilForce] = (),
                             among: Among = ALL) -> Linearised:
        """The same, projected, but for tets that have not strained, (k,), rising: their K is that which was asked for
        last, and forces lack all of theirs."""
        elements = self._elements_of(among)
        elements.fill_again(x, time, strained)
        elements.fill_others(x, time, besides)
        return self._linearised(elements, x, v, time, self._weight.copy())

    def _elements_of(self, among: Among) -> Elements:
        if among.stretched:
            return self._stretched_elements
        return self._elements if among.touch else self._untouched_elements

    def _linearised(self, elements: Elements, x: Vec, v: Vec | None, time: float, force: Vec) -> Linearised:
        """With pulls and the ground."""
        self._node_blocks[:] = 0.0
        for pull in self.pulls:
            pull.add_force(x, time, force)
            pull.add_stiffness(time, self._node_blocks)
        contacts = self.ground.find(x, time)
        self.ground.add_force(contacts, force)
        self.ground.add_stiffness(contacts, self._node_blocks)
        still = np.zeros_like(x) if v is None else v
        return Linearised(x, still, self.mass, force, elements.blocks, self._node_blocks, contacts=contacts,
                          others=elements.others)

    def filled(self, among: Among = ALL) -> npt.NDArray[np.int64]:
        """How often K of each body's tets was asked for, (b,): where that is the same, it is."""
        counts = self._elements_of(among).filled
        return counts.copy() if among.bodies is None else counts[list(among.bodies)]

    def linearise_alone(self, x: Vec, v: Vec, time: float) -> Linearised:
        """f and projected K as if surfaces touched nothing, nor nodes the ground, at positions and velocities (n, 3).

        Written anew by each call.
        """
        force = self._weight.copy()
        elements = self._untouched_elements
        elements.fill(x, time, True, force)
        return Linearised(x, v, self.mass, force, elements.blocks, self.untouched(time), others=elements.others)

    @cached_property
    def _untouched_elements(self) -> Elements:
        return Elements(self._elements.elastic, self.between, len(self.rest))

    @cached_property
    def _stretched_elements(self) -> Elements:
        """The same with stretches as unknowns wherever elements can have such."""
        from ..forces.in_stretches import InStretches  # compiled for stages that are solved so

        return Elements([one.in_stretches(InStretches) or one for one in self._elements.elastic],
                        [*self.between, *self.contacts], len(self.rest))

    def in_stretches(self, besides: Sequence[StencilForce] = (), among: Among = ALL) -> Stretched | None:
        """Forces with stretches as unknowns; None where no elements can have such.

        besides: forces of one stage. among: what is asked for.
        """
        from .stretched import stretched_forces

        among = replace(among, stretched=True)
        return stretched_forces(self._stretched_elements.elastic, among.bodies,
                                partial(self.evaluate, besides=besides, among=among),
                                partial(self.linearise_at, besides=besides, among=among))

    def products_at(self, x: Vec, v: Vec, time: float, columns: Vec, damped: Damped | None) -> Products:
        """f and the true K times fields (c, n, 3), as if nothing touched, at positions and velocities (n, 3)."""
        force = self._weight.copy()
        products = self._elements.multiply(x, time, columns, force)
        for pull in self.pulls:
            pull.add_force(x, time, force)
        if self.pulls:
            products += np.einsum("nij,cnj->cni", self.untouched(time), columns)
        contacts = self.ground.find(x, time)
        self.ground.add_force(contacts, force)
        return Products(x, v, self.mass, force, products, damped, contacts)

    def clamped(self, x: Vec, time: float) -> Mask:
        """Which elements' stiffness the projection changes at positions x (n, 3), (e,)."""
        return self._elements.clamped(x, time)

    def evaluate(self, x: Vec, time: float, besides: Sequence[StencilForce] = (), among: Among = ALL
                 ) -> tuple[Vec, float]:
        """Forces [N], (n, 3), and elastic, gravitational and contact energy [J], at positions (n, 3).

        besides: forces of one stage. among: what is asked for.
        """
        force = self._weight.copy()
        elements = self._elements_of(among)
        energy = elements.measure(x, time, force, -float(np.vdot(self._weight, x - self.rest)), besides, among.bodies)
        energy += sum(pull.add_force(x, time, force) for pull in self.pulls)
        return force, energy + self.ground.add_force(self.ground.find(x, time), force)

    def largest_step(self, start: Vec, end: Vec) -> float:
        """The largest share of a straight move of all nodes, (n, 3) [m] each, in [0, 1], in which nothing meets."""
        return min((law.largest_step(start, end) for law in self.contacts), default=1.0)

    def largest_steps(self, start: Vec, end: Vec, by_body: bool = False) -> Vec:
        """The same of each node, (n,): what meets nothing may go farther. What is prescribed goes as one.

        by_body: whether each body goes as one, too.
        """
        alike = self._each_body if by_body else self._alone
        steps = [law.largest_steps(start, end, alike) for law in self.contacts]
        least: Vec = np.min(steps, axis=0) if steps else np.ones(len(start))
        return least

    def taken_along(self, begun: Vec, end: Vec) -> Vec | None:
        """Where all nodes stand, (n, 3) [m], once what is prescribed has gone its way and taken along what is before
        it, if nothing meets on the way there; None where it cannot be said so. begun, end: of all nodes, (n, 3) [m]."""
        return taken_along([body.nodes for body in self.bodies_in_world], [one.nodes for one in self.obstacles],
                           self.coordinates.is_free, self.contacts, begun, end,
                           partial(self.largest_steps, by_body=True))

    @cached_property
    def _alone(self) -> Index:
        """Of each node a number of its own, (n,), of those that are prescribed the same one."""
        own = np.arange(len(self.rest), dtype=np.int32)
        own[self.coordinates.prescribed] = len(own)
        return own

    @cached_property
    def _each_body(self) -> Index:
        """Of each node the number of its body, (n,), of those that are prescribed the same one."""
        own = np.full(len(self.rest), len(self.bodies_in_world), dtype=np.int32)
        for number, body in enumerate(self.bodies_in_world):
            own[body.nodes] = number
        own[self.coordinates.prescribed] = len(self.bodies_in_world)
        return own

    def velocity(self, state: State) -> Vec:
        """Velocities of all nodes, (n, 3) [m/s]."""
        return self.coordinates.spread(state.u, self.coordinates.prescribed_rate(state.time, state.led))

    def touching(self, state: State) -> Index:
        """Nodes that touch the ground, that are pulled or that forces besides materials join to others, ascending."""
        return self.touching_at(self.coordinates.place(state.q, state.time, state.led), state.time)

    def touching_at(self, x: Vec, time: float) -> Index:
        """The same at positions x, (n, 3) [m]."""
        found = [self._elements.paired(x, time)]
        found += [pull.nodes for pull in self.pulls if pull.at_work(time)]
        found += [self.ground.find(x, time).nodes]
        nodes: Index = np.unique(np.concatenate(found))
        return nodes

    def goes_on(self, state: State, before: Index, h: float) -> bool:
        """Whether only nodes of a body that lies or slides on the ground began or ceased to touch it since `before`,
        each moved towards it or away by no more than its weight does in a step of h seconds."""
        if not self.ground.plane.is_there:
            return False
        now, plane = self.touching(state), self.ground.plane
        changed = np.setxor1d(before, now)
        works = [pull.nodes for pull in self.pulls]
        if not len(np.intersect1d(before, now)) or any(len(np.intersect1d(changed, nodes)) for nodes in works):
            return False
        fall = self._fall(h)
        x = self.coordinates.place(state.q, state.time, state.led)[changed]
        speed = plane.rising(self.velocity(state)[changed], state.time)
        gentle = (np.abs(speed) <= fall) & (np.abs(plane.gaps(x, state.time)) <= h * fall)
        return bool(gentle.all())

    def _fall(self, h: float) -> float:
        """What its weight gives a body along the ground's normal in h seconds [m/s]."""
        return h * float(np.abs(self._weight @ self.ground.plane.normal).sum() / self.mass.sum())

    def hits(self, states: Sequence[State], h: float) -> bool:
        """Whether nodes touch the ground in one of some states and come or go faster than `GENTLE` times what their
        weight gives them in a step of h seconds."""
        plane = self.ground.plane
        for one in states if plane.is_there else ():
            touching = plane.find(self.coordinates.place(one.q, one.time, one.led), one.time).nodes
            speed = plane.rising(self.velocity(one)[touching], one.time)
            if np.abs(speed).max(initial=0.0) > GENTLE * self._fall(h):
                return True
        return False

    def untouched(self, time: float) -> Vec:
        """Blocks of single nodes without those of contacts, (n, 3, 3) [N/m]; written anew by the next call."""
        self._no_contacts[:] = 0.0
        for pull in self.pulls:
            pull.add_stiffness(time, self._no_contacts)
        return self._no_contacts

    @property
    def extent(self) -> float:
        """Of the largest body [m]."""
        return max(body.size for body in self.bodies_in_world)

    def stretching(self, x: Vec, v: Vec) -> Vec:
        """V mean|Ṡ| of each element, (e,) [m³/s], at positions x [m] and velocities v [m/s], (n, 3). [Thesis 4.17]"""
        return self._elements.stretching(x, v)

    def deformation(self, before: State, after: State) -> tuple[float, float]:
        """What a step changes the worst edge by, as a share of its length: of cloth how much longer or shorter it is,
        of all else turning included, by its velocities, or by what has moved where that is less. And the same where
        the worst hundredth of the edges of each body whose surface touches another one does not count.

        What ConJac corrects on top is limited by itself, and no less of it in a shorter step. Where a skin lands its
        velocities at the end of a solved step are those of a ripple that has hardly moved it. Cloth turns and folds by
        its edges' whole length in a step, and none of its elements is the worse for it.
        """
        start, end = (self.coordinates.place(one.q, one.time, one.led) for one in (before, after))
        of_volumes, of_sheets = self._edges_apart
        ways = (after.time - before.time) * self.velocity(after), end - start
        stretch = of_sheets.largest_stretch(start, end)
        worst = max(min(of_volumes.largest_change(way) for way in ways), stretch)
        touching = self._that_touch(start, end)
        if not len(touching):
            return worst, worst
        few = [np.flatnonzero(self._of_edges == body) for body in touching]
        others = np.flatnonzero(~np.isin(self._of_edges, touching))
        return worst, max(min(of_volumes.change_of_most(way, few, others, MOST) for way in ways), stretch)

    def _that_touch(self, *places: Vec) -> Index:
        """Bodies whose surface pushes another at some of these positions, (n, 3) [m] each, rising."""
        nodes = [law.node_pairs_within(x, 1.0).ravel() for law in self.contacts for x in places]
        found: Index = np.unique(self._each_body[np.concatenate(nodes)]) if nodes else np.zeros(0, dtype=np.int32)
        return found[found < len(self.bodies_in_world)]

    @cached_property
    def _of_edges(self) -> Index:
        """Which body each edge of what has a volume is of."""
        return self._each_body[self._edges_apart[0].first]

    @cached_property
    def edges(self) -> Edges:
        return Edges(self.tets, self.rest)

    @cached_property
    def _edges_apart(self) -> tuple[Edges, Edges]:
        """Of what has a volume, and of cloth."""
        triangles = self.tets[self.tets[:, 2] == self.tets[:, 3]]  # which have their last node twice; hinges do not
        of_sheets = np.zeros(len(self.rest), dtype=bool)
        of_sheets[triangles] = True
        return Edges(self.tets[~of_sheets[self.tets[:, 0]]], self.rest), Edges(triangles, self.rest)

    def refuse_blow_up(self, state: State) -> None:
        x = self.coordinates.place(state.q, state.time, state.led)
        for body in self.bodies_in_world:
            nodes = x[body.nodes]
            extent = float(np.abs(nodes - nodes[0]).max())
            if not np.isfinite(extent):
                raise StepFailed("a node's position is not a number", body.name)
            if extent > BLOW_UP * body.size:
                raise StepFailed(f"it grew to {extent / body.size:.0f} times its size", body.name)

    def body_of(self, node: int) -> str | None:
        """Name of the body that a node belongs to."""
        return next((body.name for body in self.bodies_in_world if body.nodes.start <= node < body.nodes.stop), None)

    def explain(self, failure: StepFailed, state: State, frame: int) -> Diverged:
        """The error for the artist: which body, at which frame, and what helps."""
        name = failure.object
        if name is None:
            x = self.coordinates.place(state.q, state.time, state.led)
            growth = [float(np.linalg.norm(np.ptp(x[body.nodes], axis=0))) / body.size for body in self.bodies_in_world]
            name = self.bodies_in_world[int(np.argmax(growth))].name
        remedy = failure.remedy or "Lower the step or raise Young's Modulus, with Semi-Implicit Euler also Damping"
        return Diverged(f"the motion could not be solved: {failure}", f"{remedy}; earlier frames are kept", name, frame)

    def nodes_at(self, state: State) -> tuple[Vec, Vec]:
        """Positions [m] and velocities [m/s] of all nodes, (n, 3)."""
        return self.coordinates.place(state.q, state.time, state.led), self.velocity(state)

    def show(self, embeddings: Sequence[Embedding | None]) -> None:
        """From now on the bodies' meshes hang on the same nodes in this way."""
        self.bodies_in_world = [replace(body, embedding=one) for body, one in zip(self.bodies_in_world, embeddings)]

    def output(self, state: State, frame: int) -> Vec:
        """Vertices of all bodies in object space at this frame, (v, 3)."""
        x = self.coordinates.place(state.q, state.time, state.led)
        return np.concatenate([body.output(x, frame - self.start_frame) for body in self.bodies_in_world])

    def longest(self, state: State) -> Vec:
        """The longest edge of each body over its length at rest, (b,)."""
        x = self.coordinates.place(state.q, state.time, state.led)
        return np.array([edges.largest_change(x) for edges in self._edges_of])

    @cached_property
    def _edges_of(self) -> list[Edges]:
        return [Edges(one.tets, self.rest) for one in self._elements.elastic]

    def touched(self, state: State) -> Vec | None:
        """What pushes of surfaces that touch: places in world [m], forces on one side, which the other feels the other
        way [N], and how near they are [m], (k, 7); None where nothing may touch."""
        if not self.contacts:
            return None
        return self.touched_at(self.coordinates.place(state.q, state.time, state.led))

    def touched_at(self, x: Vec) -> Vec:
        """The same at positions x, (n, 3) [m], where some may."""
        return np.concatenate([law.contact_forces(x) for law in self.contacts])
