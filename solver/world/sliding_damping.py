"""Viscosity of bodies while they slide.

An elastic body that slides under Coulomb friction vibrates by itself: normal forces swing with its shear, it sticks
while they are large and slips while they are small, and goes on with less friction on average than its coefficient
says, until it hops down a slope that would hold it (Adams, Self-excited oscillations of two elastic half-spaces sliding
with a constant coefficient of friction, 1995; Martins, Oden & Simões, A study of static and kinetic friction, 1990).
What lies in the band of a half-life is damped too little to prevent that, and real bodies lose far more where they rub.
So a body without pins has a viscosity α E while its contacts slide: none while it sticks, rolls, flies, or lands. Where
they slide faster than it sways by its own weight they must have slid to one side for the time that some waves take
through it, as what is shaken to and fro or is braked at once leans, and gives that back as motion.

The barrier of a collider is a spring as well, of a few millimeters and without damping, on which a rigid block would
bounce and slip down whenever it is light. So that has dashpots in proportion to its stiffness while a body slides, also
in the moments at which it sticks.

Both act between steps, on velocities: (M − h D) v⁺ = M v, D negative semi-definite, of the Green strain rate and of the
rates of the gaps. So they take energy at any step, and no matrix of a step changes. The viscosity takes neither
momentum nor angular momentum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..assembly.kernels import multiply_one
from ..forces.green import Green
from ..forces.stencils import block_diagonal
from ..nonlinear.conjugate_gradients import ConjugateGradients
from ..state import Index, Mask, State, Vec
from .half_life_damping import MovingNodes

#: memory of each body, at its nodes: the greatest speeds of late of its centre of mass over its contacts and of their
#: slip [m/s], the mean slip of late [m/s], and how long they have slid to one side [s], both vectors; (n, 8)
PAST = "sliding.past"
OF_LATE = 0.3  #: time in which these slips and speeds fall to 1/e [s]
SLIDES = 2.0e-3  #: mean slip of a body's contacts from which the viscosity acts fully [m/s]
#: slip over its sum with the speed of the centre of mass over the contacts, of late, from which the viscosity acts, and
#: acts fully: what lands moves on while its contacts stand
TOGETHER, WHOLLY = 0.25, 0.45
#: how long contacts have slid to one side where the viscosity begins, and acts fully, relative to the time that a wave
#: takes through a body
BRIEFLY, LASTINGLY = 4.5, 6.5
#: peak slip of late from which that time counts, and counts fully, relative to the speed that gravity gives in a wave's
#: time: a body sways by its own weight about as fast, and slower slip is damped at once
SWAYING, FASTER = 1.0, 1.5
SLOWLY = 0.1  #: rate at which that time runs back while they do not slide
ACROSS = 0.5  #: α, relative to the time that a wave takes through a body
GAP = 0.5  #: time of the dashpots, relative to 1 / ω of a rigid body on its contacts
NARROW = 1.0e-9  #: least width of a ramp
LEFT, MOST = 1.0e-8, 200  #: residual of a solve relative to its start, and iterations at most


@dataclass(frozen=True)
class SlidingBody:
    """A body without prescribed nodes."""

    nodes: slice  #: among all
    tets: Index  #: (p, 4)
    viscous: Green  #: with α of 1 s
    wave: float  #: time that a wave takes through it [s]

    @classmethod
    def of_material(cls, viscous: Green, tets: Index, nodes: slice, mass: Vec, volume: float,
                    modulus: Vec) -> SlidingBody:
        """Return a body. viscous: its Green damping of 1 s. tets: (p, 4). mass: of its nodes, (k,) [kg]. volume: [m³].
        modulus: Young's of its elements, (e,) [Pa]."""
        slowness = np.sqrt(float(mass.sum()) / volume / modulus).mean()
        return cls(nodes, tets, viscous, float(np.cbrt(volume) * slowness))

    def viscosity(self, x: Vec, seconds: float) -> tuple[Index, Vec]:
        """Return the elements (p, 4) and their blocks h D of so many seconds of full viscosity at x (n, 3) [m]."""
        forces, blocks = np.zeros((len(self.tets), 4, 3)), np.zeros((len(self.tets), 6, 9))
        self.viscous.fill(x, 0.0, forces, blocks)
        blocks *= seconds * ACROSS * self.wave
        return self.tets, blocks

    def dashpots(self, nodes: Index, blocks: Vec, others: Mask, mass: Vec, seconds: float) -> tuple[Index, Vec]:
        """Return the pairs of the body and what is prescribed, (s, 4), and their blocks h D of so many seconds.

        nodes, blocks: of the stiffness of all pairs, (s, 4) and (s, 6, 9) [N/m]. others: the prescribed nodes, (n,).
        mass: of all nodes, (n,) [kg].
        """
        own = np.zeros(len(others), dtype=bool)
        own[self.nodes] = True
        found = own[nodes].any(axis=1) & others[nodes].any(axis=1) & (own | others)[nodes].all(axis=1)
        nodes, blocks = np.ascontiguousarray(nodes[found]), np.ascontiguousarray(blocks[found])
        stiffness = 0.0
        for axis in range(3):
            column, forces = np.zeros((2, len(own), 3))
            column[own, axis] = 1.0
            multiply_one(blocks, nodes, column, forces)
            stiffness -= float(forces[own, axis].sum())
        if stiffness > 0.0:
            blocks *= seconds * GAP * float(np.sqrt(mass[self.nodes].sum() / stiffness))
        return nodes, blocks

    def damped(self, rates: Sequence[Vec], mass: Vec, tables: Sequence[tuple[Index, Vec]]) -> list[Vec]:
        """Return velocities of all nodes, (n, 3) each, after damping by tables of nodes (s, 4) and blocks of h D
        (s, 6, 9); those of other bodies and of what is prescribed stay."""
        inertia = np.repeat(mass[self.nodes], 3)
        column, product = np.zeros((2, len(mass), 3))

        def impulses(v: Vec) -> Vec:
            column[self.nodes] = v.reshape(-1, 3)
            product[:] = 0.0
            for nodes, blocks in tables:
                multiply_one(blocks, nodes, column, product)
            own: Vec = product[self.nodes].ravel()
            return own

        found = []
        for rate in rates:
            column[:] = rate
            solver, right = ConjugateGradients(LEFT, MOST), impulses(rate[self.nodes])
            column[:] = 0.0
            change = solver.solve(lambda v: inertia * v - impulses(v), right, lambda r: r / inertia)
            after = rate.copy()
            after[self.nodes] += change.reshape(-1, 3)
            found.append(after)
        return found


class SlidingDampers:
    """Damping of all bodies that may slide."""

    def __init__(self, bodies: Sequence[SlidingBody], count: int) -> None:
        """count: number of all nodes."""
        self._bodies = bodies
        self._first = np.array([body.nodes.start for body in bodies], dtype=np.int64)
        self._waves = np.array([body.wave for body in bodies])
        self._owner = np.full(count, len(bodies), dtype=np.int32)  #: number of each node's body
        for number, body in enumerate(bodies):
            self._owner[body.nodes] = number

    def apply(self, system: MovingNodes, state: State, h: float, of_rates: Sequence[str]) -> State:
        """Return the state at the start of a step of h seconds with the velocities that are left.

        of_rates: keys of the memory with earlier rates of an integrator, which decay as well.
        """
        coordinates = system.coordinates
        x, v = coordinates.positions(state.q, state.time, state.carrier_motion), system.velocity(state)
        mean, impact = self._slip(system, x, v, state.time)
        speed = np.linalg.norm(mean, axis=1)
        known = state.memory.get(PAST)
        past = known[self._first] if known is not None and len(known) == len(x) else np.zeros((len(speed), 8))
        fade = float(np.exp(-h / OF_LATE))
        past = np.column_stack([np.maximum(np.stack([impact, speed], axis=1), fade * past[:, :2]),
                                mean + fade * (past[:, 2:5] - mean), self._slid(past[:, 5:], mean, speed, h)])
        if not past.any():
            return state
        state = replace(state, memory={**state.memory, PAST: np.append(past, np.zeros((1, 8)), axis=0)[self._owner]})
        late = np.maximum(speed, np.linalg.norm(past[:, 2:5], axis=1))
        together = late / np.maximum(late + past[:, 0], np.finfo(float).tiny)
        weights = np.maximum(float(np.linalg.norm(system.gravity)) * self._waves, np.finfo(float).tiny)
        haste = _rise(past[:, 1] / weights, SWAYING, FASTER)
        lasting = _rise(np.linalg.norm(past[:, 5:], axis=1) / self._waves, BRIEFLY * haste, LASTINGLY * haste)
        slides = _rise(together, TOGETHER, WHOLLY) * lasting
        if not slides.any():
            return state
        keys = [key for key in of_rates if key in state.memory and state.memory[key].shape == state.u.shape]
        rates = [v, *(system.velocity(replace(state, u=state.memory[key])) for key in keys)]
        others = ~coordinates.is_free
        pairs = None
        if system.contacts and others.any():
            pairs = block_diagonal([law.fill(x, state.time, True) for law in system.contacts])
        shares = slides * _rise(late, SLIDES, 2.0 * SLIDES)
        for body, share, strength in zip(self._bodies, shares, slides * np.minimum(speed / SLIDES, 1.0)):
            tables = [body.viscosity(x, h * float(strength))] if strength > 0.0 else []
            if share > 0.0 and pairs is not None:
                tables.append(body.dashpots(*pairs, others, system.mass, h * float(share)))
            if any(len(nodes) for nodes, _ in tables):
                rates = body.damped(rates, system.mass, tables)
        left = [rate[coordinates.free].ravel() for rate in rates]
        return replace(state, u=left[0], memory={**state.memory, **dict(zip(keys, left[1:]))})

    def _slid(self, past: Vec, mean: Vec, speed: Vec, h: float) -> Vec:
        """Return how long contacts have slid to one side after h more seconds, (b, 3) [s], from how long they had, and
        their mean slip (b, 3) and its size (b,) [m/s]."""
        size = np.linalg.norm(past, axis=1)
        is_slow = speed < SLIDES
        back = np.where(is_slow, np.minimum(SLOWLY * h, size), 0.0) / np.maximum(size, np.finfo(float).tiny)
        ahead = np.where(is_slow, 0.0, h) / np.maximum(speed, SLIDES)
        slid = past * (1.0 - back)[:, None] + mean * ahead[:, None]
        most = LASTINGLY * self._waves / np.maximum(np.linalg.norm(slid, axis=1), np.finfo(float).tiny)
        out: Vec = slid * np.minimum(most, 1.0)[:, None]
        return out

    def _slip(self, system: MovingNodes, x: Vec, v: Vec, time: float) -> tuple[Vec, Vec]:
        """Return the mean velocity of each body's contacts with friction along what they touch, (b, 3), and the speed
        of its centre of mass relative to them, (b,) [m/s]."""
        nodes, slips = [np.zeros(0, dtype=np.int32)], [np.zeros((0, 3))]
        if system.ground.friction is not None:
            contacts = system.ground.find(x, time)
            rate = v[contacts.nodes] - system.ground.plane.velocity(time)
            nodes.append(contacts.nodes)
            slips.append(_along(rate, contacts.normal))
        for law in system.contacts:
            if law.has_friction:
                pairs, along = law.slips(x, v)
                apart = self._owner[pairs[:, 0]] != self._owner[pairs[:, 1]]
                nodes += [*pairs[apart].T]
                slips += [along[apart], -along[apart]]
        found, slip, bodies = np.concatenate(nodes), np.concatenate(slips), len(self._bodies)
        owner = self._owner[found]
        count = np.bincount(owner, minlength=bodies + 1)[:-1, None]
        mean, base = (np.stack([np.bincount(owner, of, bodies + 1)[:-1] for of in values.T], axis=1)
                      / np.maximum(count, 1) for values in (slip, v[found]))
        centre = np.stack([system.mass[body.nodes] @ v[body.nodes] / system.mass[body.nodes].sum()
                           for body in self._bodies])
        impact = np.where(count[:, 0] > 0, np.linalg.norm(centre - base, axis=1), 0.0)
        return mean, impact


def _rise(values: Vec, begins: float | Vec, ends: float | Vec) -> Vec:
    """Return how far values (b,) are on their way between two bounds, from 0 to 1; beyond bounds of zero, 1."""
    out: Vec = np.clip((values - begins) / np.maximum(ends - begins, NARROW), 0.0, 1.0)
    return out


def _along(rate: Vec, normal: Vec) -> Vec:
    """Return the part of rates (k, 3) along surfaces with normals (k, 3)."""
    out: Vec = rate - np.einsum("ki,ki->k", rate, normal)[:, None] * normal
    return out
