"""Viscous damping of bodies while they slide.

An elastic body that slides under Coulomb friction has self-excited vibrations: normal forces oscillate with its shear,
so that it sticks while these are large, slips while these are small, and slides with less friction on average than its
coefficient, so that it moves down a slope on which it should rest (Adams, Self-excited oscillations of two elastic
half-spaces sliding with a constant coefficient of friction, 1995; Martins, Oden & Simões, A study of static and kinetic
friction, 1990). Half-life damping is too small to prevent that, and the losses of real bodies in sliding are far
larger. So a body without pins has a viscosity α E while its contacts slide: none while it sticks, rolls, flies, or
impacts. Where contacts slide faster than the body sways by its own weight, they must have slid in one direction for the
time in which a few waves cross the body, since a body that stops within that time leans, and its lean becomes motion
again. On a support that is shaken, such as a glass, slip is due to that motion and not to vibration: where the velocity
of the support changes by about as much as that sway, the body has no viscosity.

The barrier of a collider is also a spring, a few millimeters long and without damping, on which a rigid block would
bounce, and slip whenever its load is small. So it has dashpots in proportion to its stiffness while a body slides, also
at the moments at which the body sticks.

Both act between steps, on velocities: (M − h D) v⁺ = M v, with a negative semi-definite D, of the Green strain rate and
of the rates of the gaps. So they dissipate energy at any step size, and no matrix of a step changes. The viscosity
conserves momentum and angular momentum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from ..assembly.kernels import multiply_one
from ..contact.laws.interface import along
from ..forces.green import Green
from ..forces.stencils import block_diagonal
from ..node_records import RowPerNode
from ..nonlinear.conjugate_gradients import ConjugateGradients
from ..state import Index, Mask, State, Vec
from .half_life_damping import MovingNodes

PAST = "sliding.past"  #: memory of each body, at its nodes: `Past`, (n, 12)
NARROW = 1.0e-9  #: smallest width of a ramp


@dataclass(frozen=True)
class SlidingBody:
    """Body without prescribed nodes, with viscosity and dashpots for its sliding."""

    across = 0.5  #: α, relative to the time that a wave takes through a body
    gap = 0.5  #: time of the dashpots, relative to 1 / ω of a rigid body on its contacts
    left, most = 1.0e-8, 200  #: residual of a solve relative to its start, and iterations at most
    nodes: slice  #: among all
    tets: Index  #: (p, 4)
    viscous: Green  #: with α of 1 s
    wave: float  #: time that a wave takes through it [s]

    @classmethod
    def of_material(cls, viscous: Green, tets: Index, nodes: slice, mass: Vec, volume: float,
                    modulus: Vec) -> SlidingBody:
        """Return a sliding body with a wave time from its material.

        viscous: Green damping with α of 1 s. tets: (p, 4). nodes: of the body among all. mass: of its nodes, (k,) [kg].
        volume: [m³]. modulus: Young's modulus of its elements, (e,) [Pa].
        """
        slowness = np.sqrt(float(mass.sum()) / volume / modulus).mean()
        return cls(nodes, tets, viscous, float(np.cbrt(volume) * slowness))

    @cached_property
    def _elements(self) -> tuple[Vec, Vec]:
        """Return work arrays for the elements' forces, (p, 4, 3), and blocks, (p, 6, 9), overwritten in each step."""
        return np.zeros((len(self.tets), 4, 3)), np.zeros((len(self.tets), 6, 9))

    @cached_property
    def _vectors(self) -> Vec:
        """Return work arrays for products with the matrix and the preconditioner, (2, 3 k)."""
        return np.zeros((2, 3 * (self.nodes.stop - self.nodes.start)))

    @cached_property
    def _solver(self) -> ConjugateGradients:
        return ConjugateGradients(self.left, self.most)

    def viscosity(self, x: Vec, seconds: float) -> tuple[Index, Vec]:
        """Return the elements, (p, 4), and their blocks h D of viscosity, (p, 6, 9); overwritten by the next call.

        x: positions of all nodes, (n, 3) [m]. seconds: h times the fraction of full viscosity [s].
        """
        forces, blocks = self._elements
        self.viscous.fill(x, 0.0, forces, blocks)
        blocks *= seconds * self.across * self.wave
        return self.tets, blocks

    def dashpots(self, nodes: Index, blocks: Vec, others: Mask, mass: Vec, seconds: float, scratch: Vec
                 ) -> tuple[Index, Vec]:
        """Return the contact pairs of the body with prescribed nodes, (s, 4), and their blocks h D, (s, 6, 9).

        nodes, blocks: of the stiffness of all pairs, (s, 4) and (s, 6, 9) [N/m]. others: whether each node is
        prescribed, (n,). mass: of all nodes, (n,) [kg]. seconds: h times the fraction of full damping [s]. scratch:
        (2, n, 3), overwritten.
        """
        own = np.zeros(len(others), dtype=bool)
        own[self.nodes] = True
        is_between = own[nodes].any(axis=1) & others[nodes].any(axis=1) & (own | others)[nodes].all(axis=1)
        nodes, blocks = np.ascontiguousarray(nodes[is_between]), np.ascontiguousarray(blocks[is_between])
        stiffness = 0.0
        for axis in range(3):
            column, forces = scratch
            scratch[:] = 0.0
            column[own, axis] = 1.0
            multiply_one(blocks, nodes, column, forces)
            stiffness -= float(forces[own, axis].sum())
        if stiffness > 0.0:
            blocks *= seconds * self.gap * float(np.sqrt(mass[self.nodes].sum() / stiffness))
        return nodes, blocks

    def damp(self, rates: Sequence[Vec], mass: Vec, tables: Sequence[tuple[Index, Vec]], scratch: Vec) -> list[Vec]:
        """Return velocities of all nodes after the damping of this body, (n, 3) [m/s] each.

        rates: velocities before, (n, 3) [m/s] each. mass: of all nodes, (n,) [kg]. tables: nodes, (s, 4), and blocks
        h D, (s, 6, 9). scratch: (2, n, 3), overwritten. Nodes of other bodies and prescribed nodes do not change.
        """
        inertia = np.repeat(mass[self.nodes], 3)
        column, product = scratch

        def impulses(v: Vec) -> Vec:
            column[self.nodes] = v.reshape(-1, 3)
            product[:] = 0.0
            for nodes, blocks in tables:
                multiply_one(blocks, nodes, column, product)
            own: Vec = product[self.nodes].ravel()
            return own

        weighted, preconditioned = self._vectors

        def multiply(v: Vec) -> Vec:
            np.multiply(inertia, v, out=weighted)
            return np.subtract(weighted, impulses(v), out=weighted)

        def precondition(r: Vec) -> Vec:
            return np.divide(r, inertia, out=preconditioned)

        damped_rates = []
        for rate in rates:
            column[:] = rate
            right = impulses(rate[self.nodes])
            column[:] = 0.0
            change = self._solver.solve(multiply, right, precondition)
            after = rate.copy()
            after[self.nodes] += change.reshape(-1, 3)
            damped_rates.append(after)
        return damped_rates


@dataclass(frozen=True)
class ContactMotion:
    """Tangential motion of the contacts with friction of each body."""

    is_touching: Mask  #: whether each body has contacts with friction, (b,)
    slip: Vec  #: mean slip [m/s], (b, 3)
    impact: Vec  #: speed of the centre of mass relative to the contacts [m/s], (b,)
    carrier: Vec  #: mean velocity of the touched surfaces [m/s], (b, 3)


@dataclass(frozen=True)
class Past:
    """Recent motion of the contacts of each body, with exponentially fading memory."""

    width: ClassVar[int] = 12  #: number of values of a body

    impact: Vec  #: largest speed of the centre of mass relative to the contacts [m/s], (b,)
    peak: Vec  #: largest mean slip [m/s], (b,)
    shake: Vec  #: largest deviation of the support's velocity from its mean [m/s], (b,)
    slip: Vec  #: mean slip [m/s], (b, 3)
    slid: Vec  #: duration of sliding in one direction [s], (b, 3)
    carrier: Vec  #: mean velocity of the support [m/s], (b, 3)

    @classmethod
    def of(cls, rows: Vec) -> Past:
        """Return the recent motion from rows of a memory, (b, 12)."""
        return cls(rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 3:6], rows[:, 6:9], rows[:, 9:])

    @property
    def rows(self) -> Vec:
        """Return all values as rows for a memory, (b, 12)."""
        return np.column_stack([self.impact, self.peak, self.shake, self.slip, self.slid, self.carrier])


PAST_RECORD = RowPerNode(PAST, (Past.width,))


class SlidingDampers:
    """Viscous damping of all bodies of a part that may slide."""

    decay_time = 0.3  #: time in which slips and speeds of contacts fall to 1/e [s]
    full_slip = 2.0e-3  #: mean slip of a body's contacts from which the viscosity acts fully [m/s]
    #: slip over its sum with the speed of the centre of mass over the contacts, of late, from which the viscosity acts,
    #: and acts fully: a body that lands moves on while its contacts stick
    least_ratio, full_ratio = 0.25, 0.45
    #: how long contacts have slid to one side where the viscosity begins, and acts fully, relative to the time that a
    #: wave takes through a body
    least_duration, full_duration = 4.5, 6.5
    #: peak slip of late from which that time counts, and counts fully, relative to g times the time of a
    #: wave: a body sways by its own weight about as fast, and slower slip is damped at once
    least_peak, full_peak = 1.0, 1.5
    recovery_rate = 0.1  #: rate at which that time decreases while the contacts do not slide

    def __init__(self, bodies: Sequence[SlidingBody], count: int) -> None:
        """bodies: bodies that may slide. count: number of all nodes."""
        self._bodies = bodies
        self._first = np.array([body.nodes.start for body in bodies], dtype=np.int64)
        self._waves = np.array([body.wave for body in bodies])
        self._owner = np.full(count, len(bodies), dtype=np.int32)  #: number of each node's body
        self._scratch = np.zeros((2, count, 3))
        for number, body in enumerate(bodies):
            self._owner[body.nodes] = number

    def apply(self, system: MovingNodes, state: State, h: float, of_rates: Sequence[str]) -> State:
        """Return the state at the start of a step of h seconds with damped velocities of sliding bodies.

        of_rates: keys of the memory with earlier rates of an integrator, which decay as well.
        """
        coordinates = system.coordinates
        x, v = coordinates.positions(state.q, state.time, state.carrier_motion), system.velocity(state)
        contacts = self._contacts(system, x, v, state.time)
        known = state.memory.get(PAST)
        remembered = known[self._first] if known is not None and known.shape == (len(x), Past.width) else np.zeros(
            (len(self._bodies), Past.width))
        past = self._after(Past.of(remembered), contacts, h)
        rows = past.rows
        if not rows.any():
            return state
        of_none = np.zeros((1, Past.width))
        state = replace(state, memory={**state.memory, PAST: np.append(rows, of_none, axis=0)[self._owner]})
        speed = np.linalg.norm(contacts.slip, axis=1)
        recent_slip = np.maximum(speed, np.linalg.norm(past.slip, axis=1))
        slides = self._slides(past, recent_slip, float(np.linalg.norm(system.gravity)))
        if not slides.any():
            return state
        keys = [key for key in of_rates if key in state.memory and state.memory[key].shape == state.u.shape]
        rates = [v, *(system.velocity(replace(state, u=state.memory[key])) for key in keys)]
        others = ~coordinates.is_free
        pairs = None
        if system.contacts and others.any():
            pairs = block_diagonal([law.fill(x, state.time, True) for law in system.contacts])
        fractions = slides * _rise(recent_slip, self.full_slip, 2.0 * self.full_slip)
        for body, fraction, strength in zip(self._bodies, fractions, slides * np.minimum(speed / self.full_slip, 1.0)):
            tables = [body.viscosity(x, h * float(strength))] if strength > 0.0 else []
            if fraction > 0.0 and pairs is not None:
                tables.append(body.dashpots(*pairs, others, system.mass, h * float(fraction), self._scratch))
            if any(len(nodes) for nodes, _ in tables):
                rates = body.damp(rates, system.mass, tables, self._scratch)
        left = [rate[coordinates.free].ravel() for rate in rates]
        return replace(state, u=left[0], memory={**state.memory, **dict(zip(keys, left[1:]))})

    def _after(self, past: Past, contacts: ContactMotion, h: float) -> Past:
        """Return the recent motion after h more seconds with these contacts."""
        fade, speed = float(np.exp(-h / self.decay_time)), np.linalg.norm(contacts.slip, axis=1)
        change = np.where(contacts.is_touching[:, None], contacts.carrier - past.carrier, 0.0)
        return Past(np.maximum(contacts.impact, fade * past.impact), np.maximum(speed, fade * past.peak),
                    np.maximum(np.linalg.norm(change, axis=1), fade * past.shake),
                    contacts.slip + fade * (past.slip - contacts.slip),
                    self._update_duration(past.slid, contacts.slip, speed, h), past.carrier + (1.0 - fade) * change)

    def _slides(self, past: Past, recent_slip: Vec, gravity: float) -> Vec:
        """Return the degree to which each body slides, in [0, 1], (b,).

        late: recent slip, (b,) [m/s]. gravity: [m/s²].
        """
        ratio = recent_slip / np.maximum(recent_slip + past.impact, np.finfo(float).tiny)
        sway = np.maximum(gravity * self._waves, np.finfo(float).tiny)
        is_fast = _rise(past.peak / sway, self.least_peak, self.full_peak)
        is_shaken = _rise(past.shake / sway, self.least_peak / self.full_peak, self.least_peak)
        slid = np.linalg.norm(past.slid, axis=1) / self._waves
        lasting = _rise(slid, self.least_duration * is_fast, self.full_duration * is_fast)
        slides: Vec = _rise(ratio, self.least_ratio, self.full_ratio) * lasting * (1.0 - is_shaken)
        return slides

    def _update_duration(self, past: Vec, mean: Vec, speed: Vec, h: float) -> Vec:
        """Return the duration of sliding in one direction after h more seconds, (b, 3) [s].

        past: duration before, (b, 3) [s]. mean, speed: mean slip and its norm, (b, 3), (b,) [m/s].
        """
        size = np.linalg.norm(past, axis=1)
        is_slow = speed < self.full_slip
        back = np.where(is_slow, np.minimum(self.recovery_rate * h, size), 0.0) / np.maximum(size, np.finfo(float).tiny)
        forth = np.where(is_slow, 0.0, h) / np.maximum(speed, self.full_slip)
        slid = past * (1.0 - back)[:, None] + mean * forth[:, None]
        most = self.full_duration * self._waves / np.maximum(np.linalg.norm(slid, axis=1), np.finfo(float).tiny)
        out: Vec = slid * np.minimum(most, 1.0)[:, None]
        return out

    def _contacts(self, system: MovingNodes, x: Vec, v: Vec, time: float) -> ContactMotion:
        """Return the motion of each body's contacts. x, v: of all nodes, (n, 3) [m], [m/s]. time: [s]."""
        nodes, slips, carrier_velocities = [np.zeros(0, dtype=np.int32)], [np.zeros((0, 3))], [np.zeros((0, 3))]
        if system.ground.friction is not None:
            contacts, plane = system.ground.find(x, time), system.ground.plane.velocity(time)
            nodes.append(contacts.nodes)
            slips.append(along(v[contacts.nodes] - plane, contacts.normal))
            carrier_velocities.append(np.broadcast_to(plane, (len(contacts.nodes), 3)))
        for law in system.contacts:
            if law.has_friction:
                pairs, slip = law.slips(x, v)
                between_bodies = self._owner[pairs[:, 0]] != self._owner[pairs[:, 1]]
                nodes += [*pairs[between_bodies].T]
                slips += [slip[between_bodies], -slip[between_bodies]]
                carrier_velocities += [v[pairs[between_bodies, 1]], v[pairs[between_bodies, 0]]]
        all_nodes, bodies = np.concatenate(nodes), len(self._bodies)
        owner = self._owner[all_nodes]
        count = np.bincount(owner, minlength=bodies + 1)[:-1, None]
        slip, base, carrier = (
            np.stack([np.bincount(owner, of, bodies + 1)[:-1] for of in values.T], axis=1) / np.maximum(count, 1)
            for values in (np.concatenate(slips), v[all_nodes], np.concatenate(carrier_velocities)))
        centre = np.stack([system.mass[body.nodes] @ v[body.nodes] / system.mass[body.nodes].sum()
                           for body in self._bodies])
        is_touching: Mask = count[:, 0] > 0
        impact = np.where(is_touching, np.linalg.norm(centre - base, axis=1), 0.0)
        return ContactMotion(is_touching, slip, impact, carrier)


def _rise(values: Vec, begins: float | Vec, ends: float | Vec) -> Vec:
    """Return a linear ramp of values, (b,), from 0 at `begins` to 1 at `ends`, clipped to [0, 1]."""
    out: Vec = np.clip((values - begins) / np.maximum(ends - begins, NARROW), 0.0, 1.0)
    return out
