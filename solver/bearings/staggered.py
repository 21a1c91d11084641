"""Staggered Projections: contact and friction inside all joints at once, on bodies that nothing else holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve, null_space

from ..constraints.rows import Rows
from ..rows.bounded import BoundedProgram
from ..state import Index, Vec
from .bearings import REGULARISATION, TINY, Bearings
from .interface import FrictionAnswer, PosedJoints, free_directions


@dataclass(frozen=True)
class OtherRows:
    """Rows of constraints and contacts in addition to joints. The c contacts have friction along two rows each."""

    loops: Rows
    contacts: Rows
    along: Rows
    friction: Vec  #: μ of the contacts, (c,)


class PosedBodies(PosedJoints, Protocol):
    """The step of bodies without joints: S φ = momentum, joint springs and motors between the bodies."""

    @property
    def momentum(self) -> Vec:
        """(M − hD) v⁰ + h f, (n, 6) [N m s, N s]."""

    def free_response(self, wrench: Vec) -> Vec:
        """S⁻¹ of impulses on bodies, (n, 6, c)."""

    @property
    def other_rows(self) -> OtherRows | None:
        """Loops and contacts; None without."""


@dataclass(frozen=True)
class WrenchRows:
    """r rows of wrenches on two bodies as dense matrices, and what they do."""

    rows: Vec  #: (r, 6 n)
    target: Vec  #: velocities that they have to have, or at least, (r,)
    answer: Vec  #: S⁻¹ rowsᵀ, (6 n, r)
    program: Vec  #: rows S⁻¹ rowsᵀ, regularised, (r, r)


class Staggered:
    """Two quadratic programs in turn, contact and friction, until the contact forces stay. [Thesis Alg. 3.1]

    The reference for `Bisp`, which needs none of its contact rows: points, regularisation and friction are equal, but
    only contact joins the bodies. Joints cannot come apart, so points have normal forces of both signs. With
    `one_sided` they are contacts, α >= 0 as printed: a bearing's friction is then on its loaded side alone, which
    shifts the load by the friction angle. The contact problem is linear without it.
    """

    acts_on = "joints"
    one_sided = False

    def __init__(self, params: dict[str, float]) -> None:
        """params: passes, at most; agreement, the change of contact forces that counts as none, as a share of them."""
        self.passes, self.agreement = int(params["passes"]), params["agreement"]

    def rub(self, posed: PosedBodies, bearings: Bearings, guess: Vec | None) -> FrictionAnswer:
        """The step's rates with friction. Raises StepFailed; ValueError for loops and universal joints."""
        if any(group.is_loop or group.on_other for group in bearings.groups):
            raise ValueError("Staggered Projections do not support friction in loops and universal joints")
        free = posed.free_response(posed.momentum[:, :, None])[:, :, 0].ravel()
        contact, low = self._contact(posed, bearings)
        friction = self._friction(posed, bearings)
        inside, outside = bearings.tangents, posed.other_rows
        beta = np.zeros(len(friction.rows))
        if guess is not None and len(guess) == inside:
            beta[:inside] = guess
        mu = np.zeros(0) if outside is None else outside.friction
        high = np.full(len(low), np.inf)
        factor = None if self.one_sided or len(mu) else cho_factor(contact.program)
        pressing: BoundedProgram | None = None
        friction_program: BoundedProgram | None = None
        alpha: Vec | None = None
        loads: list[Vec] = []
        before: Vec | None = None
        converged, passes = False, 0
        for _ in range(self.passes):
            passes += 1
            slip = contact.rows @ (free + friction.answer @ beta) - contact.target
            if factor is None:
                pressing = pressing or BoundedProgram(contact.program, slip)
                alpha = pressing.solve(slip, low, high)
            else:
                alpha = -cho_solve(factor, slip)
            moved = contact.answer @ alpha
            pressed = alpha @ contact.rows
            if before is not None:
                change = pressed - before
                size = [float(np.sqrt(abs(_in_weight(bearings, one)))) for one in (change, pressed)]
                if size[0] <= self.agreement * size[1]:
                    converged = True
                    break
            before = pressed
            loads = bearings_loads(bearings, alpha)
            most = np.concatenate([*(group.bounds(load)[0].ravel() for group, load in zip(bearings.groups, loads)),
                                   np.repeat(mu * np.maximum(alpha[len(alpha) - len(mu):], 0.0), 2)])
            slip = friction.rows @ (free + moved) - friction.target
            friction_program = friction_program or BoundedProgram(friction.program, slip, beta)
            beta = friction_program.solve(slip, -most, most)
        assert alpha is not None
        iterations = sum(program.iterations for program in (pressing, friction_program) if program is not None)
        twist = (free + friction.answer @ beta + contact.answer @ alpha).reshape(-1, 6)
        return FrictionAnswer(rates_of(posed, bearings, twist), beta[:inside], passes, iterations, converged, loads)

    def _contact(self, posed: PosedBodies, bearings: Bearings) -> tuple[WrenchRows, Vec]:
        """Normals of all bearings, what else joints hold, loops, contacts; and the least that each may press, (r,)."""
        tables, low, soft = [], [], []
        seated: set[int] = set()
        for group in bearings.groups:
            tables.append(self._between(posed, group.place, group.normal))
            both_ways = (group.both_ways > 0) | (not self.one_sided)
            low.append(np.tile(np.where(both_ways, -np.inf, 0.0), len(group.place)))
            soft.append(np.repeat(group.epsilon, group.normal.shape[1]))
            seated |= {int(i) for i in group.place}
        for i in range(len(posed.parent)):
            fixed = null_space(posed.S[posed.dof[i]:posed.dof[i + 1]]) if posed.dof[i + 1] > posed.dof[i] else np.eye(6)
            if i in seated or not fixed.shape[1]:
                continue
            tables.append(self._between(posed, np.array([i], dtype=np.int32), fixed.T[None]))
            low.append(np.full(fixed.shape[1], -np.inf))
            soft.append(np.full(fixed.shape[1], REGULARISATION * np.trace(fixed.T @ bearings.weight[i] @ fixed) / 6.0))
        target = np.zeros(sum(len(table) for table in tables))
        if posed.other_rows is not None:
            for rows, least in ((posed.other_rows.loops, -np.inf), (posed.other_rows.contacts, 0.0)):
                tables.append(_on_bodies(rows, len(posed.parent)))
                low.append(np.full(len(rows), least))
                soft.append(_softened(rows, bearings))
                target = np.concatenate([target, rows.target])
        return self._table(posed, tables, np.concatenate(soft), target), np.concatenate(low)

    def _friction(self, posed: PosedBodies, bearings: Bearings) -> WrenchRows:
        """Tangents of all bearings and contacts."""
        tables = [self._between(posed, group.place, group.tangent) for group in bearings.groups]
        soft = [REGULARISATION * np.repeat(
            np.trace(group.tangent @ bearings.weight[group.body] @ np.swapaxes(group.tangent, 1, 2), axis1=1, axis2=2)
            / group.tangent.shape[1], group.tangent.shape[1]) for group in bearings.groups]
        target = np.zeros(sum(len(table) for table in tables))
        if posed.other_rows is not None:
            along = posed.other_rows.along
            tables.append(_on_bodies(along, len(posed.parent)))
            soft.append(_softened(along, bearings))
            target = np.concatenate([target, along.target])
        if not tables:
            none = np.zeros((0, 6 * len(posed.parent)))
            return WrenchRows(none, target, none.T, np.zeros((0, 0)))
        return self._table(posed, tables, np.concatenate(soft), target)

    @staticmethod
    def _between(posed: PosedBodies, joints: Index, wrench: Vec) -> Vec:
        """Rows (k p, 6 n) of wrenches (k, p, 6) on the bodies below joints, and the opposite on their parents."""
        k, p = wrench.shape[:2]
        rows = np.zeros((k, p, len(posed.parent), 6))
        each = np.arange(k)
        rows[each, :, joints] = wrench
        inner = np.flatnonzero(posed.parent[joints] >= 0)
        rows[inner, :, posed.parent[joints[inner]]] -= wrench[inner] @ posed.X[joints[inner]]
        return rows.reshape(k * p, -1)

    @staticmethod
    def _table(posed: PosedBodies, tables: list[Vec], soft: Vec, target: Vec) -> WrenchRows:
        rows = np.concatenate(tables)
        n = len(posed.parent)
        answer = posed.free_response(np.ascontiguousarray(rows.T).reshape(n, 6, -1)).reshape(6 * n, -1)
        program = rows @ answer
        program = 0.5 * (program + program.T)
        program[np.diag_indices_from(program)] += soft + TINY
        return WrenchRows(rows, target, answer, program)


def _on_bodies(rows: Rows, bodies: int) -> Vec:
    """Rows on bodies as a dense matrix, (r, 6 n)."""
    out = np.zeros((len(rows), bodies, 6))
    for side in range(2):
        there = np.flatnonzero(rows.body[:, side] >= 0)
        out[there, rows.body[there, side]] += rows.wrench[there, side]
    return out.reshape(len(rows), 6 * bodies)


def _softened(rows: Rows, bearings: Bearings) -> Vec:
    """A share of what the bodies alone would give way, (r,)."""
    own = np.where(rows.body[:, :, None] >= 0, rows.wrench, 0.0)
    out: Vec = REGULARISATION * np.einsum("rsa,rsab,rsb->r", own, bearings.weight[rows.body], own)
    return out


def bearings_loads(bearings: Bearings, alpha: Vec) -> list[Vec]:
    """α of the bearings' points, (k, p) each, from all contact rows."""
    loads, start = [], 0
    for group in bearings.groups:
        shape = group.normal.shape[:2]
        loads.append(alpha[start:start + shape[0] * shape[1]].reshape(shape))
        start += shape[0] * shape[1]
    return loads


def rates_of(posed: PosedJoints, bearings: Bearings, twist: Vec) -> Vec:
    """Rates (m,) of bodies that move with twists (n, 6): what their joints let through."""
    relative = twist.copy()
    inner = np.flatnonzero(posed.parent >= 0)
    relative[inner] -= np.matmul(posed.X[inner], twist[posed.parent[inner]][:, :, None])[:, :, 0]
    out = np.zeros(len(posed.S))
    for joints, entries, about in free_directions(posed, bearings):
        moved = np.matmul(relative[joints][:, None, :], bearings.at_joint[joints])
        along = np.matmul(about, np.swapaxes(moved, 1, 2))
        out[entries] = np.linalg.solve(about @ np.swapaxes(about, 1, 2), along)[:, :, 0]
    return out


def _in_weight(bearings: Bearings, wrench: Vec) -> float:
    each = wrench.reshape(-1, 6)
    return float(np.einsum("na,nab,nb->", each, bearings.weight, each))
