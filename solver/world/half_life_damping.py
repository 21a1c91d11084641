"""Damping by a half-life: the motion of a body relative to its carrier decays, rigid motion with the carrier does not.

A damping force −2 ρ M (v − r) halves every mode in ln 2 / ρ seconds, whatever its frequency. r is the motion of the
carrier: of pins and bones, extended into the body; of the supporting contacts of a body that stands; the rigid
motion of a free body itself. The damping acts between steps, on the velocities at the start of the next step. A step
that multiplies a mode by R then leaves √s |R| of it with s = e^(−2 ρ h) exactly: the determinant of a product is the
product of the determinants. No matrix changes.

A free body loses no momentum, as r is its orthogonal projection on rigid motions in the inner product of its masses.
For a standing body this product has additional mass at the contacts, and the lost momentum is transferred to the
support, the ground or an obstacle. Bones receive the impulses that are taken from attached nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import SuperLU, splu

from ..contact.laws.ground_penalty import GroundPenalty
from ..contact.laws.interface import ContactLaw
from ..coordinates.free_nodes import FreeNodes
from ..coordinates.inertia import moments
from ..forces.pulls import Pull
from ..node_records import RowPerNode
from ..nonlinear.limits import INSIGNIFICANT
from ..state import Index, State, Vec

CONTACT_TIME = "wobble.touched"  #: memory: time for which each node has been in contact without a break [s], (n,)
CONTACT_TIME_RECORD = RowPerNode(CONTACT_TIME)


class MovingNodes(Protocol):
    """Protocol of nodes with prescribed motion and contacts."""

    coordinates: FreeNodes
    mass: Vec  #: lumped [kg], (n,)
    gravity: Vec  #: [m/s²], (3,)
    ground: GroundPenalty
    contacts: Sequence[ContactLaw]
    pulls: Sequence[Pull]

    def velocity(self, state: State) -> Vec:
        """Return the velocities of all nodes at a state, (n, 3) [m/s]."""


@dataclass(frozen=True)
class SlowModes:
    """Modes of a body that may rotate, below the frequency at which a half-life in seconds is meaningful."""

    shape: Vec  #: positions [m], (k, 3)
    fields: Vec  #: modes, orthonormal in the mass product, (m, k, 3)
    fractions: Vec  #: fraction of ρ for each mode, (m,), in (0, 1]

    def retain_velocity(self, mass: Vec, x: Vec, v: Vec, decay: float) -> Vec:
        """Return the velocity of these modes that remains beyond that of all others after a decay, (k, 3) [m/s].

        mass: (k,) [kg]. x, v: positions and velocities, (k, 3) [m], [m/s]. decay: ρ h.
        """
        rotation = _rotation(mass, self.shape, x)
        fields = self.fields @ rotation.T
        along = np.einsum("mki,k,ki->m", fields, mass, v)
        factors = np.exp(-2.0 * decay * self.fractions) - np.exp(-2.0 * decay)
        out: Vec = np.einsum("m,mki->ki", factors * along, fields)
        return out


@dataclass(frozen=True)
class HalfLifeDamping:
    """Damping of one connected component of a body."""

    nodes: Index  #: its free nodes, (k,)
    pins: Index  #: its prescribed nodes, (p,)
    mass: Vec  #: of the free nodes [kg], (k,)
    rate: Callable[[float], float]  #: ρ [1/s] at a time [s]
    slow: SlowModes | None
    pin_motion: PinMotion | None  #: extension of the motion of its pins; None without pins

    def velocity_loss(self, x: Vec, v: Vec, weight: Vec, time: float, h: float) -> Vec:
        """Return the loss of velocity by damping in h seconds from a time [s], (k, 3) [m/s].

        x, v: of all nodes, (n, 3) [m], [m/s]. weight: additional mass of its supporting nodes, (k,) [kg].
        """
        own, mass = x[self.nodes], self.mass
        if self.pin_motion is None:
            carrier_velocity = fit_rigid_velocity(mass + weight, own, v[self.nodes])
        else:
            carrier_velocity = self.pin_motion.onto(x[self.pins], v[self.pins], own)
        relative, decay = v[self.nodes] - carrier_velocity, self.rate(time) * h
        loss: Vec = -np.expm1(-2.0 * decay) * relative
        if self.slow is not None:
            retained = self.slow.retain_velocity(mass, own, relative, decay)
            if self.pin_motion is None:
                retained -= fit_rigid_velocity(mass, own, retained)
            loss -= retained
        return loss


class PinMotion:
    """Extension of the motion of pins into a body: the rigid part exactly, the remainder harmonically."""

    def __init__(self, graph: sp.csr_array, pins: Index, nodes: Index) -> None:
        """graph: adjacency of nodes, (n, n). pins: prescribed nodes, (p,). nodes: nodes in between, (k,)."""
        self._graph, self._pins, self._nodes = graph, pins, nodes
        self._factor: SuperLU | None = None  #: made when pins first move relative to each other

    def onto(self, pins: Vec, v: Vec, x: Vec) -> Vec:
        """Return the velocities of nodes at x, (k, 3) [m/s], extended from the pins.

        pins, v: positions and velocities of the pins, (p, 3) [m], [m/s]. x: (k, 3) [m].
        """
        fastest = np.abs(v).max(initial=0.0)
        if fastest == 0.0:
            return np.zeros_like(x)
        weight = np.ones(len(pins))
        out = fit_rigid_velocity(weight, pins, v, x)
        deviation = v - fit_rigid_velocity(weight, pins, v)
        if np.abs(deviation).max() > INSIGNIFICANT * fastest:
            out += self._laplacian().solve(self._coupling @ deviation)
        return out

    def back(self, pins: Vec, x: Vec, impulses: Vec) -> Vec:
        """Return the impulses on the pins that are equivalent to impulses on the nodes, (p, 3) [N s].

        The map is the transpose of `onto` and preserves resultant and moment. pins: positions of the pins, (p, 3) [m].
        x, impulses: positions of the nodes and impulses on them, (k, 3) [m], [N s].
        """
        factor, weight = self._laplacian(), np.ones(len(pins))
        deviation = self._coupling.T @ factor.solve(impulses)
        out: Vec = (distribute_rigidly(weight, pins, x, impulses) + deviation
                    - fit_rigid_velocity(weight, pins, deviation))
        return out

    def _laplacian(self) -> SuperLU:
        if self._factor is None:
            rows = self._graph[self._nodes]
            count = sp.diags_array(np.asarray(rows.sum(axis=1)).ravel())
            self._factor = splu((count - rows[:, self._nodes]).tocsc())
            self._coupling = rows[:, self._pins].tocsr()
        return self._factor


class HalfLifeDampers:
    """Half-life damping of all bodies of a part, and the time of contact of their nodes."""

    #: time of contact after which a node starts to support its body, and that of full support [s]: a rolling body is
    #: never supported
    least_duration, full_duration = 0.1, 0.2
    carrying = 100.0  #: additional mass of all supporting contacts, relative to the body's mass

    def __init__(self, parts: Sequence[HalfLifeDamping], count: int) -> None:
        """parts: damping of each connected component. count: number of all nodes."""
        self.parts, self._count = parts, count
        self._may_be_supported = any(part.pin_motion is None for part in parts)

    def apply(self, system: MovingNodes, state: State, h: float, of_rates: Sequence[str]) -> tuple[State, Vec | None]:
        """Return the state at the start of a step of h seconds after the decay, and the reaction on attached nodes.

        The reaction has the impulses that are taken from bodies with attached nodes, as forces on all nodes, (n, 3)
        [N]; None without attached nodes. of_rates: keys of the memory with earlier rates of an integrator, which decay
        as well.
        """
        coordinates = system.coordinates
        x, v = coordinates.positions(state.q, state.time, state.carrier_motion), system.velocity(state)
        weight, external_force = self._weights(system.mass, state.memory), np.zeros_like(x)
        acts = False
        loss = np.zeros_like(x)
        for part in self.parts:
            own = weight[part.nodes] * (part.mass.sum() if part.pin_motion is None else 0.0)
            velocity_loss = loss[part.nodes] = self._without_sliding(system, part, own,
                                                                     part.velocity_loss(x, v, own, state.time, h))
            impulses, attached = part.mass[:, None] * velocity_loss, np.isin(part.pins, coordinates.attached.nodes)
            if part.pin_motion is not None and attached.any():
                back = part.pin_motion.back(x[part.pins], x[part.nodes], impulses)
                external_force[part.pins[attached]] += back[attached] / h
                acts = True
        memory = dict(state.memory)
        free = coordinates.free
        for key in of_rates:
            if key in memory and memory[key].shape == state.u.shape:
                memory[key] = memory[key] - self._loss_of_rates(system, state, x, memory[key], weight, h)[free].ravel()
        return replace(state, u=state.u - loss[free].ravel(), memory=memory), external_force if acts else None

    def _loss_of_rates(self, system: MovingNodes, state: State, x: Vec, u: Vec, weight: Vec, h: float) -> Vec:
        """Return the loss of velocity of all nodes by damping at rates u, (3 f,), (n, 3) [m/s]."""
        v, loss = system.velocity(replace(state, u=u)), np.zeros_like(x)
        for part in self.parts:
            own = weight[part.nodes] * (part.mass.sum() if part.pin_motion is None else 0.0)
            loss[part.nodes] = self._without_sliding(system, part, own, part.velocity_loss(x, v, own, state.time, h))
        return loss

    @staticmethod
    def _without_sliding(system: MovingNodes, part: HalfLifeDamping, weight: Vec, velocity_loss: Vec) -> Vec:
        """Return the loss of velocity of a component, without loss of momentum along a frictionless ground, (k, 3)."""
        if system.ground.friction is not None or system.contacts or system.pulls or not weight.any():
            return velocity_loss
        normal, mean = system.ground.plane.normal, part.mass @ velocity_loss / part.mass.sum()
        along: Vec = velocity_loss - (mean - (mean @ normal) * normal)
        return along

    def _weights(self, mass: Vec, memory: Mapping[str, Vec]) -> Vec:
        """Return the additional mass of supporting nodes, relative to the mass of their body, (n,)."""
        weight = np.zeros(self._count)
        if CONTACT_TIME not in memory or len(memory[CONTACT_TIME]) != self._count:
            return weight
        rise = self.full_duration - self.least_duration
        firm = np.clip((memory[CONTACT_TIME] - self.least_duration) / rise, 0.0, 1.0) * mass
        for part in self.parts:
            total = firm[part.nodes].sum()
            if part.pin_motion is None and total > 0.0:
                # the support of a few new contacts grows with their own mass
                most = max(total, mass[part.nodes][firm[part.nodes] > 0.0].sum())
                weight[part.nodes] = self.carrying * firm[part.nodes] / most
        return weight

    def with_touched(self, system: MovingNodes, after: State, before: Mapping[str, Vec], h: float) -> State:
        """Return the end of a step of h seconds with the time of contact of each node [s] in its memory.

        before: memory at the start of the step.
        """
        if not self._may_be_supported:
            return after
        touched, nodes = np.zeros(self._count), self._carrying(system, after)
        if not len(nodes) and CONTACT_TIME not in before:
            return after
        earlier = before.get(CONTACT_TIME, touched)
        touched[nodes] = (earlier[nodes] if len(earlier) == self._count else 0.0) + h
        return replace(after, memory={**after.memory, CONTACT_TIME: np.minimum(touched, self.full_duration)})

    def _carrying(self, system: MovingNodes, state: State) -> Index:
        """Return the nodes in contact with objects that they do not move: the ground, springs, obstacles, (k,)."""
        coordinates = system.coordinates
        x, moves = coordinates.positions(state.q, state.time, state.carrier_motion), coordinates.is_free.copy()
        moves[coordinates.attached.nodes] = True
        touching = [system.ground.find(x, state.time).nodes]
        touching += [pull.nodes for pull in system.pulls if pull.at_work(state.time)]
        for law in system.contacts:
            pairs = law.node_pairs_within(x, 1.0)
            touching.append(pairs[moves[pairs[:, 0]] != moves[pairs[:, 1]]].ravel())
        nodes: Index = np.unique(np.concatenate(touching))
        return nodes


def fit_rigid_velocity(mass: Vec, x: Vec, v: Vec, at: Vec | None = None) -> Vec:
    """Return the velocities of the rigid motion nearest to given velocities, (m, 3) [m/s].

    mass: weights of the points, (k,) [kg]. x, v: positions and velocities of the points, (k, 3) [m], [m/s]. at: points
    at which the motion is evaluated, (m, 3) [m]; None: x. Momentum and angular momentum are those of v.
    """
    total = mass.sum()
    centre, drift = mass @ x / total, mass @ v / total
    arm = x - centre
    spin = np.cross(arm, mass[:, None] * (v - drift)).sum(axis=0)
    angular_velocity = _inverse(moments(mass, arm)) @ spin
    out: Vec = drift + np.cross(angular_velocity, (x if at is None else at) - centre)
    return out


def distribute_rigidly(mass: Vec, onto: Vec, x: Vec, impulses: Vec) -> Vec:
    """Return impulses in proportion to a rigid motion, with the resultant and moment of given impulses, (m, 3) [N s].

    mass, onto: masses and positions of the points that receive them, (m,) [kg], (m, 3) [m]. x, impulses: points and the
    given impulses, (k, 3) [m], [N s]. Moments about axes without inertia are lost.
    """
    total = mass.sum()
    centre = mass @ onto / total
    angular_velocity = _inverse(moments(mass, onto - centre)) @ np.cross(x - centre, impulses).sum(axis=0)
    out: Vec = mass[:, None] * (impulses.sum(axis=0) / total + np.cross(angular_velocity, onto - centre))
    return out


def _inverse(inertia: Vec) -> Vec:
    """Return the inverse of a symmetric matrix (3, 3), zero along axes without inertia."""
    values, axes = np.linalg.eigh(inertia)
    inverse = np.where(values > INSIGNIFICANT * values[-1], 1.0 / np.where(values > 0.0, values, 1.0), 0.0)
    out: Vec = (axes * inverse) @ axes.T
    return out


def _rotation(mass: Vec, shape: Vec, x: Vec) -> Vec:
    """Return the rotation that maps a shape, (k, 3), best to points x, (k, 3), as a matrix, (3, 3).

    mass: weights, (k,).
    """
    first, then = shape - mass @ shape / mass.sum(), x - mass @ x / mass.sum()
    left, _, right = np.linalg.svd((mass[:, None] * then).T @ first)
    left[:, 2] *= np.sign(np.linalg.det(left @ right))
    rotation: Vec = left @ right
    return rotation
