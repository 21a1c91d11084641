"""Viscosity of bodies while they slide.

An elastic body that slides under Coulomb friction vibrates by itself: normal forces swing with its shear, it sticks
while they are large and slips while they are small, and goes on with less friction on average than its coefficient
says, until it hops down a slope that would hold it (Adams, Self-excited oscillations of two elastic half-spaces sliding
with a constant coefficient of friction, 1995; Martins, Oden & Simões, A study of static and kinetic friction, 1990).
What lies in the band of a half-life is damped too little to prevent that, and real bodies lose far more where they rub.
So a body without pins has a viscosity α E once its contacts have slid to one side by some hundredths of its size, and
for as long as they go on: none while it sticks, rolls, flies, or lands.

It acts between steps, on velocities: (M − h D) v⁺ = M v with D of the Green strain rate, negative semi-definite. So it
takes energy at any step, and neither momentum nor angular momentum, and no matrix of a step changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..assembly.kernels import multiply_one
from ..forces.green import Green
from ..nonlinear.conjugate_gradients import ConjugateGradients
from ..state import Index, State, Vec
from .half_life_damping import MovingNodes

IMPACT = "sliding.impact"  #: memory: the greatest speed of late of a body over its contacts, at its nodes [m/s], (n,)
OF_LATE = 0.3  #: time in which that falls to 1/e [s]
SLIDES = 2.0e-3  #: mean slip of a body's contacts from which the viscosity acts fully [m/s]
#: mean slip over its sum with the speed of the centre of mass relative to the contacts, of late, from which the
#: viscosity acts, and acts fully: what lands moves on while its contacts stand
TOGETHER, WHOLLY = 0.25, 0.45
ACROSS = 0.5  #: α, relative to the time that a wave takes through a body
LEFT, MOST = 1.0e-8, 200  #: residual of a solve relative to its start, and iterations at most


@dataclass(frozen=True)
class SlidingBody:
    """A body without prescribed nodes."""

    nodes: slice  #: among all
    tets: Index  #: (p, 4)
    viscous: Green  #: with α of 1 s
    time: float  #: α [s]

    @classmethod
    def of_material(cls, viscous: Green, tets: Index, nodes: slice, mass: Vec, volume: float,
                    modulus: Vec) -> SlidingBody:
        """Return a body. viscous: its Green damping of 1 s. tets: (p, 4). mass: of its nodes, (k,) [kg]. volume: [m³].
        modulus: Young's of its elements, (e,) [Pa]."""
        slowness = np.sqrt(float(mass.sum()) / volume / modulus).mean()
        return cls(nodes, tets, viscous, ACROSS * float(np.cbrt(volume) * slowness))

    def damped(self, x: Vec, rates: Sequence[Vec], mass: Vec, seconds: float) -> list[Vec]:
        """Return velocities of all nodes, (n, 3) each, after so many seconds of full viscosity at x (n, 3) [m]."""
        forces, blocks = np.zeros((len(self.tets), 4, 3)), np.zeros((len(self.tets), 6, 9))
        self.viscous.fill(x, 0.0, forces, blocks)
        blocks *= seconds * self.time
        inertia = np.repeat(mass[self.nodes], 3)
        column, product = np.zeros_like(x), np.zeros_like(x)

        def impulses(v: Vec) -> Vec:
            column[self.nodes] = v.reshape(-1, 3)
            product[self.nodes] = 0.0
            multiply_one(blocks, self.tets, column, product)
            return product[self.nodes].ravel()

        found = []
        for rate in rates:
            solver, own = ConjugateGradients(LEFT, MOST), rate[self.nodes].ravel()
            change = solver.solve(lambda v: inertia * v - impulses(v), impulses(own), lambda r: r / inertia)
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
        self._owner = np.full(count, len(bodies), dtype=np.int32)  #: number of each node's body
        for number, body in enumerate(bodies):
            self._owner[body.nodes] = number

    def apply(self, system: MovingNodes, state: State, h: float, of_rates: Sequence[str]) -> State:
        """Return the state at the start of a step of h seconds with the velocities that are left.

        of_rates: keys of the memory with earlier rates of an integrator, which decay as well.
        """
        coordinates = system.coordinates
        x, v = coordinates.positions(state.q, state.time, state.carrier_motion), system.velocity(state)
        speed, impact = self._slip(system, x, v, state.time)
        known = state.memory.get(IMPACT)
        if known is not None and len(known) == len(x):
            impact = np.maximum(impact, np.exp(-h / OF_LATE) * known[self._first])
        if not impact.any():
            return state
        state = replace(state, memory={**state.memory, IMPACT: np.append(impact, 0.0)[self._owner]})
        together = np.divide(speed, speed + impact, out=np.zeros(len(speed)), where=speed > 0.0)
        strength = np.minimum(speed / SLIDES, 1.0) * np.clip((together - TOGETHER) / (WHOLLY - TOGETHER), 0.0, 1.0)
        if not strength.any():
            return state
        keys = [key for key in of_rates if key in state.memory and state.memory[key].shape == state.u.shape]
        rates = [v, *(system.velocity(replace(state, u=state.memory[key])) for key in keys)]
        for body, most in zip(self._bodies, strength):
            if most > 0.0:
                rates = body.damped(x, rates, system.mass, h * float(most))
        left = [rate[coordinates.free].ravel() for rate in rates]
        return replace(state, u=left[0], memory={**state.memory, **dict(zip(keys, left[1:]))})

    def _slip(self, system: MovingNodes, x: Vec, v: Vec, time: float) -> tuple[Vec, Vec]:
        """Return the mean speed of each body's contacts with friction along what they touch, and that of its centre of
        mass relative to them, (b,) each [m/s]."""
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
        return np.linalg.norm(mean, axis=1), impact


def _along(rate: Vec, normal: Vec) -> Vec:
    """Return the part of rates (k, 3) along surfaces with normals (k, 3)."""
    out: Vec = rate - np.einsum("ki,ki->k", rate, normal)[:, None] * normal
    return out
