"""Viscosity of bodies while they slide.

An elastic body that slides under Coulomb friction vibrates by itself: normal forces swing with its shear, it sticks
while they are large and slips while they are small, and goes on with less friction on average than its coefficient
says, until it hops down a slope that would hold it [Adams, Self-excited oscillations of two elastic half-spaces sliding
with a constant coefficient of friction, 1995; Martins, Oden & Simões, A study of static and kinetic friction, 1990].
What lies in the band of a half-life is damped too little to prevent that, and real bodies lose far more where they rub.
So a body without pins has a viscosity α E while its contacts slip on average: none while it sticks, rolls, flies, or
falls straight onto something.

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

SLIDES = 2.0e-3  #: mean slip of a body's contacts from which the viscosity acts fully [m/s]
#: mean slip over the mean of its size from which the viscosity acts, and acts fully: what lands spreads to all sides
TOGETHER, WHOLLY = 0.3, 0.6
ACROSS = 0.5  #: α, relative to the time that a wave takes through a body
LEFT, MOST = 1.0e-8, 200  #: residual, relative to that before, and iterations of a solve


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
        self._owner = np.full(count, len(bodies), dtype=np.int32)  #: number of each node's body
        for number, body in enumerate(bodies):
            self._owner[body.nodes] = number

    def apply(self, system: MovingNodes, state: State, h: float, of_rates: Sequence[str]) -> State:
        """Return the state at the start of a step of h seconds with the velocities that are left.

        of_rates: keys of the memory with earlier rates of an integrator, which decay as well.
        """
        coordinates = system.coordinates
        x, v = coordinates.positions(state.q, state.time, state.carrier_motion), system.velocity(state)
        strength = self._strength(system, x, v, state.time)
        if not strength.any():
            return state
        keys = [key for key in of_rates if key in state.memory and state.memory[key].shape == state.u.shape]
        rates = [v, *(system.velocity(replace(state, u=state.memory[key])) for key in keys)]
        for body, most in zip(self._bodies, strength):
            if most > 0.0:
                rates = body.damped(x, rates, system.mass, h * float(most))
        left = [rate[coordinates.free].ravel() for rate in rates]
        return replace(state, u=left[0], memory={**state.memory, **dict(zip(keys, left[1:]))})

    def _strength(self, system: MovingNodes, x: Vec, v: Vec, time: float) -> Vec:
        """Return how strongly each body is damped, from 0 to 1, (b,): by the slip of its contacts with friction."""
        owners, slips = [np.zeros(0, dtype=np.int32)], [np.zeros((0, 3))]
        if system.ground.friction is not None:
            contacts = system.ground.find(x, time)
            rate = v[contacts.nodes] - system.ground.plane.velocity(time)
            owners.append(self._owner[contacts.nodes])
            slips.append(_along(rate, contacts.normal))
        for law in system.contacts:
            if law.has_friction:
                nodes, along = law.slips(x, v)
                first, second = self._owner[nodes].T
                owners += [first[first != second], second[first != second]]
                slips += [along[first != second], -along[first != second]]
        owner, slip, bodies = np.concatenate(owners), np.concatenate(slips), len(self._bodies)
        count = np.maximum(np.bincount(owner, minlength=bodies + 1), 1)[:bodies]
        mean = np.stack([np.bincount(owner, of, bodies + 1)[:bodies] for of in slip.T], axis=1) / count[:, None]
        speed, size = (np.linalg.norm(mean, axis=1),
                       np.bincount(owner, np.linalg.norm(slip, axis=1), bodies + 1)[:bodies] / count)
        together = np.divide(speed, size, out=np.zeros(bodies), where=size > 0.0)
        out: Vec = np.minimum(speed / SLIDES, 1.0) * np.clip((together - TOGETHER) / (WHOLLY - TOGETHER), 0.0, 1.0)
        return out


def _along(rate: Vec, normal: Vec) -> Vec:
    """Return the part of rates (k, 3) along surfaces with normals (k, 3)."""
    out: Vec = rate - np.einsum("ki,ki->k", rate, normal)[:, None] * normal
    return out
