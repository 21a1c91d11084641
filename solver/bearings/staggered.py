"""Staggered Projections: contact and friction inside all joints at once, on bodies without other constraints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import null_space

from ..constraints.rows import Rows
from ..rows.bilateral import Respond
from ..rows.bounded_rows import BoundedRows
from ..rows.names import NO_MULTIPLIERS, Names, RowMultipliers, row_names, tangent_names
from ..rows.tables import DenseRows, concatenate_tables
from ..state import Index, Vec
from .bearings import REGULARISATION, TINY, Bearings
from .interface import FrictionSolution, PosedJoints, S, S_co, SolvedJoints, free_directions

OF_FIXED_DIRECTIONS = 10  #: kind of the names of rows that constrain a joint without a bearing


@dataclass(frozen=True)
class OtherRows:
    """Rows of loops and contacts in addition to joints. The c contacts have friction along two rows each."""

    loops: Rows
    contacts: Rows
    along: Rows
    friction: Vec  #: μ of the contacts, (c,)
    loop_names: Names
    contact_names: Names  #: (c,)


class PosedBodies(PosedJoints[S_co], Protocol):
    """Protocol of a step of bodies without joints: S φ = momentum, with joint springs and motors between the bodies."""

    @property
    def momentum(self) -> Vec:
        """Return the momentum of the bodies at the end of a step without joints, (M − hD) v⁰ + h f, (n, 6) [N m s, N
        s]."""

    def free_response(self, wrench: Vec) -> Vec:
        """Return the response of the bodies without joints to impulses on them, S⁻¹ times (n, 6, c), in that shape."""

    @property
    def other_rows(self) -> OtherRows | None:
        """Return the rows of loops and contacts; None where there are none."""


class Staggered:
    """Staggered Projections: two quadratic programs, contact and friction, alternate until the contact forces converge.

    The reference for `Bisp`, which needs none of its contact rows: points, regularisation and friction are equal, but
    only contact joins the bodies. Joints cannot separate, so points have normal forces of both signs. With `one_sided`
    they are contacts, α >= 0 as printed: a bearing's friction is then on its loaded side alone, which shifts the load
    by the friction angle. Without `one_sided` the contact problem is linear. [Thesis Alg. 3.1]
    """

    acts_on = "joints"
    one_sided = False

    def __init__(self, params: dict[str, float]) -> None:
        """params: passes, the largest number; agreement, relative change of contact forces below which they have
        converged."""
        self.max_sweeps, self.agreement = int(params["passes"]), params["agreement"]

    def solve(self, posed: PosedBodies[S], bearings: Bearings, warm: RowMultipliers = NO_MULTIPLIERS
              ) -> FrictionSolution[S]:
        """Return the step's rates with friction.

        warm: friction impulses of the last step, the initial guess. Raises StepFailed where the step cannot be solved,
        ValueError for friction in loops and universal joints.
        """
        if any(group.is_loop or group.on_other for group in bearings.groups):
            raise ValueError("Staggered Projections do not support friction in loops and universal joints")
        respond = _response_of(posed)
        free = respond(posed.momentum.ravel())[:, 0]
        contact = BoundedRows(self._contact_rows(posed, bearings), respond)
        tangents = self._friction_rows(posed, bearings)
        beta = warm.at(tangents.name)
        friction = BoundedRows(tangents, respond, beta)
        inside, outside = bearings.tangents, posed.other_rows
        mu = np.zeros(0) if outside is None else outside.friction
        alpha: Vec | None = None
        loads: list[Vec] = []
        before: Vec | None = None
        converged, sweeps = False, 0
        for _ in range(self.max_sweeps):
            sweeps += 1
            alpha = contact.solve(free + friction.Y @ beta)
            moved = contact.Y @ alpha
            pressed = alpha @ contact.rows.G
            if before is not None:
                change = pressed - before
                size = [float(np.sqrt(abs(_in_weight(bearings, wrench)))) for wrench in (change, pressed)]
                if size[0] <= self.agreement * size[1]:
                    converged = True
                    break
            before = pressed
            loads = bearings_loads(bearings, alpha)
            most = np.concatenate([*(group.bounds(load)[0].ravel() for group, load in zip(bearings.groups, loads)),
                                   np.repeat(mu * np.maximum(alpha[len(alpha) - len(mu):], 0.0), 2)])
            beta = friction.solve(free + moved, (-most, most))
        assert alpha is not None
        twist = (free + friction.Y @ beta + contact.Y @ alpha).reshape(-1, 6)
        of_joints = RowMultipliers(tangents.name[:inside], beta[:inside])
        return FrictionSolution(rates_of(posed, bearings, twist), of_joints, sweeps,
                                contact.iterations + friction.iterations, converged, loads=loads)

    def _contact_rows(self, posed: PosedBodies[SolvedJoints], bearings: Bearings) -> DenseRows:
        """Return rows on twists: normals of all bearings, fixed directions of other joints, loops and contacts."""
        tables, seated = list[DenseRows](), set[int]()
        for group in bearings.groups:
            two_sided = (group.two_sided > 0) | (not self.one_sided)
            tables.append(_rows(self._between(posed, group.index, group.normal),
                                np.tile(np.where(two_sided, -np.inf, 0.0), len(group.index)),
                                np.repeat(group.epsilon, group.normal.shape[1]),
                                group.point_names))
            seated |= {int(i) for i in group.index}
        for i in range(len(posed.parent)):
            fixed = null_space(posed.S[posed.dof[i]:posed.dof[i + 1]]) if posed.dof[i + 1] > posed.dof[i] else np.eye(6)
            count = fixed.shape[1]
            if i in seated or not count:
                continue
            tables.append(_rows(self._between(posed, np.array([i], dtype=np.int32), fixed.T[None]),
                                np.full(count, -np.inf),
                                np.full(count, REGULARISATION * np.trace(fixed.T @ bearings.weight[i] @ fixed) / 6.0),
                                row_names(OF_FIXED_DIRECTIONS, np.full(count, i), np.arange(count))))
        if (other := posed.other_rows) is not None:
            for rows, least, name in ((other.loops, -np.inf, other.loop_names),
                                      (other.contacts, 0.0, other.contact_names)):
                tables.append(_rows(_on_bodies(rows, len(posed.parent)), np.full(len(rows), least),
                                    _compute_compliance(rows, bearings), name, rows.target))
        return _together(tables, posed)

    def _friction_rows(self, posed: PosedBodies[SolvedJoints], bearings: Bearings) -> DenseRows:
        """Return rows on twists: tangents of all bearings and contacts, whose multipliers are bounded by 0 until there
        are loads."""
        tables = [_rows(self._between(posed, group.index, group.tangent), np.zeros(len(group.tangent_names)),
                        group.tangent_epsilon, group.tangent_names, most=0.0) for group in bearings.groups]
        if (other := posed.other_rows) is not None:
            along = other.along
            tables.append(_rows(_on_bodies(along, len(posed.parent)), np.zeros(len(along)),
                                _compute_compliance(along, bearings), tangent_names(other.contact_names), along.target,
                                0.0))
        return _together(tables, posed)

    @staticmethod
    def _between(posed: PosedBodies[SolvedJoints], joints: Index, wrench: Vec) -> Vec:
        """Return rows (k p, 6 n) of wrenches (k, p, 6) on the bodies below joints, and their opposites on the
        parents."""
        k, p = wrench.shape[:2]
        rows = np.zeros((k, p, len(posed.parent), 6))
        each = np.arange(k)
        rows[each, :, joints] = wrench
        inner = np.flatnonzero(posed.parent[joints] >= 0)
        rows[inner, :, posed.parent[joints[inner]]] -= wrench[inner] @ posed.X[joints[inner]]
        return rows.reshape(k * p, -1)


def _rows(G: Vec, low: Vec, soft: Vec, name: Names, target: Vec | None = None, most: float = np.inf) -> DenseRows:
    """Return rows on twists, (r, 6 n), with multipliers from `low`, (r,), to `most`. soft: compliance, (r,)."""
    return DenseRows(np.zeros(len(G)) if target is None else target, low, np.full(len(G), most), soft + TINY, name, G)


def _together(tables: list[DenseRows], posed: PosedBodies[SolvedJoints]) -> DenseRows:
    """Return all rows on twists in one table, which may be empty."""
    return concatenate_tables(*tables) if tables else DenseRows.none(6 * len(posed.parent))


def _response_of(posed: PosedBodies[SolvedJoints]) -> Respond:
    """Return a function that multiplies impulses on all bodies, in columns (6 n, c), by S⁻¹."""
    n = len(posed.parent)
    return lambda impulses: posed.free_response(impulses.reshape(n, 6, -1)).reshape(6 * n, -1)


def _on_bodies(rows: Rows, bodies: int) -> Vec:
    """Return rows on bodies as a dense matrix, (r, 6 n)."""
    out = np.zeros((len(rows), bodies, 6))
    for side in range(2):
        on_body = np.flatnonzero(rows.body[:, side] >= 0)
        out[on_body, rows.body[on_body, side]] += rows.wrench[on_body, side]
    return out.reshape(len(rows), 6 * bodies)


def _compute_compliance(rows: Rows, bearings: Bearings) -> Vec:
    """Return a compliance of each row, a fraction of that of its bodies alone, (r,)."""
    own = np.where(rows.body[:, :, None] >= 0, rows.wrench, 0.0)
    out: Vec = REGULARISATION * np.einsum("rsa,rsab,rsb->r", own, bearings.weight[rows.body], own)
    return out


def bearings_loads(bearings: Bearings, alpha: Vec) -> list[Vec]:
    """Return the loads α of the bearings' points, (k, p) [N s] for each group, from the multipliers of all contact
    rows."""
    loads, start = [], 0
    for group in bearings.groups:
        shape = group.normal.shape[:2]
        loads.append(alpha[start:start + shape[0] * shape[1]].reshape(shape))
        start += shape[0] * shape[1]
    return loads


def rates_of(posed: PosedJoints[SolvedJoints], bearings: Bearings, twist: Vec) -> Vec:
    """Return the rates (m,) of joints from twists of bodies (n, 6): the relative twists along the joints' free
    directions."""
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
    """Return Σ wᵀ M⁻¹ w of wrenches on all bodies, (6 n,)."""
    each = wrench.reshape(-1, 6)
    return float(np.einsum("na,nab,nb->", each, bearings.weight, each))
