"""Wobble Half-Life in a step: motion relative to what carries a body fades, and motion along with that does not.

A damping force −2 ρ M (v − r) halves every mode in ln 2 / ρ seconds, whatever its frequency, where r is the motion of
what carries the body: of its pins and bones, carried on into it; of what stands, of the places that it stands on; of
what flies, its own rigid motion. It acts between steps, on the velocities that the next one starts with. A step that
multiplies a mode by R then leaves √s |R| of it with s = e^(−2 ρ h) exactly: the determinant of a product is that of its
factors. No matrix changes.

Momentum: what flies loses none, as r is its orthogonal projection on rigid motions in the inner product of its masses.
What stands has some mass more at the places where it touches, in this product alone, and what it loses goes to what it
stands on: the ground, or an obstacle, which nothing moves. Bones are pushed by what is taken from the flesh on them.
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
from ..state import Index, State, Vec

TOUCHED = "wobble.touched"  #: memory: seconds for which each node has touched something without a break, (n,)
#: seconds of touching after which a node carries its body, and until it does in full: what rolls is never carried
STANDS, FIRMLY = 0.1, 0.2
CARRYING = 100.0  #: mass of all that carries a body while it stands, over the body's own
EVEN = 1.0e-9  #: of the fastest pin: pins that differ by less from a rigid motion move as one
FLAT = 1.0e-9  #: of the largest moment of inertia: about such an axis points have none


class MovingNodes(Protocol):
    """Nodes, what is prescribed of them, and what they may touch."""

    coordinates: FreeNodes
    mass: Vec  #: lumped [kg], (n,)
    ground: GroundPenalty
    contacts: Sequence[ContactLaw]
    pulls: Sequence[Pull]

    def velocity(self, state: State) -> Vec:
        """Of all nodes, (n, 3) [m/s]."""


@dataclass(frozen=True)
class SlowModes:
    """Modes that are slower than what a half-life in seconds is meant for, of a shape that may turn as a whole."""

    shape: Vec  #: positions [m], (k, 3)
    fields: Vec  #: modes, orthonormal in the product of the masses, (m, k, 3)
    shares: Vec  #: of ρ that each has, (m,), in (0, 1]

    def spared(self, mass: Vec, x: Vec, v: Vec, loses: float) -> Vec:
        """What these modes keep of velocities v (k, 3) [m/s] that all else loses at ρ h = `loses`, (k, 3)."""
        turn = _rotation(mass, self.shape, x)
        fields = self.fields @ turn.T
        along = np.einsum("mki,k,ki->m", fields, mass, v)
        kept = np.exp(-2.0 * loses * self.shares) - np.exp(-2.0 * loses)
        out: Vec = np.einsum("m,mki->ki", kept * along, fields)
        return out


@dataclass(frozen=True)
class WobbleLoss:
    """What one part of a body, which hangs together, loses of its motion."""

    nodes: Index  #: its free nodes, (k,)
    pins: Index  #: its prescribed ones, (p,)
    mass: Vec  #: of the free ones [kg], (k,)
    rate: Callable[[float], float]  #: ρ [1/s] at a time [s]
    slow: SlowModes | None
    carried: PinMotion | None  #: how motions of the pins go on into it; None where it has none

    def lost(self, x: Vec, v: Vec, weight: Vec, time: float, h: float) -> Vec:
        """Velocities that the next h seconds take, (k, 3) [m/s].

        x, v: of all nodes, (n, 3). weight: what its nodes that carry it weigh more [kg], (k,).
        """
        own, mass = x[self.nodes], self.mass
        if self.carried is None:
            carrying = rigid(mass + weight, own, v[self.nodes])
        else:
            carrying = self.carried.onto(x[self.pins], v[self.pins], own)
        relative, loses = v[self.nodes] - carrying, self.rate(time) * h
        gone: Vec = -np.expm1(-2.0 * loses) * relative
        if self.slow is not None:
            spared = self.slow.spared(mass, own, relative, loses)
            if self.carried is None:
                spared -= rigid(mass, own, spared)
            gone -= spared
        return gone


class PinMotion:
    """Motions of some points of a body carried on into it: rigid ones as they are, the rest harmonically."""

    def __init__(self, graph: sp.csr_array, pins: Index, nodes: Index) -> None:
        """graph: which nodes are neighbours, (n, n). pins, nodes: those that move as told, and those between."""
        self._graph, self._pins, self._nodes = graph, pins, nodes
        self._factor: SuperLU | None = None  #: made once pins part from each other

    def onto(self, pins: Vec, v: Vec, x: Vec) -> Vec:
        """Velocities of nodes at x (k, 3) [m], from those of the pins, v (p, 3) at (p, 3)."""
        fastest = np.abs(v).max(initial=0.0)
        if fastest == 0.0:
            return np.zeros_like(x)
        weight = np.ones(len(pins))
        out = rigid(weight, pins, v, x)
        apart = v - rigid(weight, pins, v)
        if np.abs(apart).max() > EVEN * fastest:
            out += self._laplacian().solve(self._beside @ apart)
        return out

    def back(self, pins: Vec, x: Vec, impulses: Vec) -> Vec:
        """Impulses on the pins that are those on the nodes, (p, 3) of (k, 3) [N s]: the transpose of `onto`, with the
        same sum and the same moment."""
        factor, weight = self._laplacian(), np.ones(len(pins))
        apart = self._beside.T @ factor.solve(impulses)
        out: Vec = shared(weight, pins, x, impulses) + apart - rigid(weight, pins, apart)
        return out

    def _laplacian(self) -> SuperLU:
        if self._factor is None:
            rows = self._graph[self._nodes]
            count = sp.diags_array(np.asarray(rows.sum(axis=1)).ravel())
            self._factor = splu((count - rows[:, self._nodes]).tocsc())
            self._beside = rows[:, self._pins].tocsr()
        return self._factor


class WobbleLosses:
    """Of all bodies that were given a half-life."""

    def __init__(self, parts: Sequence[WobbleLoss], count: int) -> None:
        """count: of all nodes."""
        self.parts, self._count = parts, count
        self._stand = any(one.carried is None for one in parts)

    def taken(self, system: MovingNodes, state: State, h: float, of_rates: Sequence[str]) -> tuple[State, Vec | None]:
        """The state that a step of h seconds starts from, and what acts on nodes through it besides, (n, 3) [N].

        of_rates: keys of the memory under which an integrator has earlier rates, which lose as much.
        """
        coordinates = system.coordinates
        x, v = coordinates.place(state.q, state.time, state.led), system.velocity(state)
        weight, borne = self._weights(system.mass, state.memory), np.zeros_like(x)
        pushes = False
        gone = np.zeros_like(x)
        for one in self.parts:
            own = weight[one.nodes] * (one.mass.sum() if one.carried is None else 0.0)
            lost = gone[one.nodes] = self._kept_sliding(system, one, own, one.lost(x, v, own, state.time, h))
            impulses, riding = one.mass[:, None] * lost, np.isin(one.pins, coordinates.attached.nodes)
            if one.carried is not None and riding.any():
                back = one.carried.back(x[one.pins], x[one.nodes], impulses)
                borne[one.pins[riding]] += back[riding] / h
                pushes = True
        memory = dict(state.memory)
        free = coordinates.free
        for key in of_rates:
            if key in memory and memory[key].shape == state.u.shape:
                memory[key] = memory[key] - self._gone_of(system, state, x, memory[key], weight, h)[free].ravel()
        return replace(state, u=state.u - gone[free].ravel(), memory=memory), borne if pushes else None

    def _gone_of(self, system: MovingNodes, state: State, x: Vec, u: Vec, weight: Vec, h: float) -> Vec:
        """What rates u (3 f,) lose, of all nodes, (n, 3) [m/s]."""
        v, gone = system.velocity(replace(state, u=u)), np.zeros_like(x)
        for one in self.parts:
            own = weight[one.nodes] * (one.mass.sum() if one.carried is None else 0.0)
            gone[one.nodes] = self._kept_sliding(system, one, own, one.lost(x, v, own, state.time, h))
        return gone

    @staticmethod
    def _kept_sliding(system: MovingNodes, one: WobbleLoss, weight: Vec, lost: Vec) -> Vec:
        """What a part loses, (k, 3) [m/s], without what a ground that nothing rubs on cannot take: of its momentum
        along that."""
        if system.ground.friction is not None or system.contacts or system.pulls or not weight.any():
            return lost
        normal, mean = system.ground.plane.normal, one.mass @ lost / one.mass.sum()
        along: Vec = lost - (mean - (mean @ normal) * normal)
        return along

    def _weights(self, mass: Vec, memory: Mapping[str, Vec]) -> Vec:
        """Of each node what it weighs more while it carries its body, as a share of the body's mass, (n,)."""
        weight = np.zeros(self._count)
        if TOUCHED not in memory or len(memory[TOUCHED]) != self._count:
            return weight
        firm = np.clip((memory[TOUCHED] - STANDS) / (FIRMLY - STANDS), 0.0, 1.0) * mass
        for one in self.parts:
            total = firm[one.nodes].sum()
            if one.carried is None and total > 0.0:
                # few nodes that just began to carry it do so by as much as they have
                most = max(total, mass[one.nodes][firm[one.nodes] > 0.0].sum())
                weight[one.nodes] = CARRYING * firm[one.nodes] / most
        return weight

    def with_touched(self, system: MovingNodes, after: State, before: Mapping[str, Vec], h: float) -> State:
        """The end of a step of h seconds that remembers for how long each node has touched something."""
        if not self._stand:
            return after
        touched, nodes = np.zeros(self._count), self._carrying(system, after)
        if not len(nodes) and TOUCHED not in before:
            return after
        earlier = before.get(TOUCHED, touched)
        touched[nodes] = (earlier[nodes] if len(earlier) == self._count else 0.0) + h
        return replace(after, memory={**after.memory, TOUCHED: np.minimum(touched, FIRMLY)})

    def _carrying(self, system: MovingNodes, state: State) -> Index:
        """Nodes that are held up by what they do not move: the ground, a pull, an obstacle."""
        coordinates = system.coordinates
        x, moves = coordinates.place(state.q, state.time, state.led), coordinates.is_free.copy()
        moves[coordinates.attached.nodes] = True
        found = [system.ground.find(x, state.time).nodes]
        found += [pull.nodes for pull in system.pulls if pull.at_work(state.time)]
        for law in system.contacts:
            pairs = law.node_pairs_within(x, 1.0)
            found.append(pairs[moves[pairs[:, 0]] != moves[pairs[:, 1]]].ravel())
        nodes: Index = np.unique(np.concatenate(found))
        return nodes


def rigid(mass: Vec, x: Vec, v: Vec, at: Vec | None = None) -> Vec:
    """The rigid motion nearest to velocities v (k, 3) [m/s] of points x (k, 3) [m], at points `at`, (m, 3); x where
    left out.

    mass: their weights, (k,). Its momentum and its moment are those of v.
    """
    total = mass.sum()
    centre, drift = mass @ x / total, mass @ v / total
    arm = x - centre
    spin = np.cross(arm, mass[:, None] * (v - drift)).sum(axis=0)
    turning = _inverse(moments(mass, arm)) @ spin
    out: Vec = drift + np.cross(turning, (x if at is None else at) - centre)
    return out


def shared(mass: Vec, onto: Vec, x: Vec, impulses: Vec) -> Vec:
    """Impulses on points `onto` (m, 3) [m], by their weights as a rigid motion has them, (m, 3) [N s]: their sum and
    moment are those of impulses (k, 3) on points x (k, 3), as far as points of these weights (m,) can bear them."""
    total = mass.sum()
    centre = mass @ onto / total
    turning = _inverse(moments(mass, onto - centre)) @ np.cross(x - centre, impulses).sum(axis=0)
    out: Vec = mass[:, None] * (impulses.sum(axis=0) / total + np.cross(turning, onto - centre))
    return out


def _inverse(inertia: Vec) -> Vec:
    """Of a symmetric matrix (3, 3), zero about axes about which nothing has inertia."""
    values, axes = np.linalg.eigh(inertia)
    inverse = np.where(values > FLAT * values[-1], 1.0 / np.where(values > 0.0, values, 1.0), 0.0)
    out: Vec = (axes * inverse) @ axes.T
    return out


def _rotation(mass: Vec, shape: Vec, x: Vec) -> Vec:
    """The one that turns a shape (k, 3) nearest to where its points are, x (k, 3), (3, 3). mass: weights, (k,)."""
    first, then = shape - mass @ shape / mass.sum(), x - mass @ x / mass.sum()
    left, _, right = np.linalg.svd((mass[:, None] * then).T @ first)
    left[:, 2] *= np.sign(np.linalg.det(left @ right))
    turn: Vec = left @ right
    return turn
