"""Scalar rows on twists and rates: constraints of loops, limits, drives and contacts on a mechanism's velocities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..state import Index, Vec
from .rows_kernels import add_wrenches, fill_jacobian


@dataclass(frozen=True)
class Rows:
    """A table of r rows, each Σ wrench · φ_body + rate_factor u_rate, with φ = [ω; ν] in the body's own frame."""

    body: Index  #: (r, 2), −1 where there is none: the world, or a row on a rate alone
    wrench: Vec  #: torque before force for a multiplier of one, (r, 2, 6)
    rate: Index  #: (r,), −1 where there is none
    rate_factor: Vec  #: (r,)
    target: Vec  #: velocity of the row, or its lower bound [m/s, rad/s], (r,)
    compliance: Vec  #: Σ, velocity of the row per unit of its multiplier, 0 for hard rows, (r,)
    owner: Index  #: number of the loop, limit, drive or contact that the row belongs to, (r,)

    def __len__(self) -> int:
        return len(self.target)

    def jacobian(self, parent: Index, dof: Index, X: Vec, S: Vec, out: Vec | None = None) -> Vec:
        """Return R with R u the rows' velocities, (r, m), from a posture's arrays; written into `out` where it is
        given.

        parent (n,), dof (n+1,), X (n, 6, 6), S (m, 6) as in coordinates.tree. The cost is that of the paths to the
        root.
        """
        matrix: Vec = np.empty((len(self), len(S))) if out is None else out
        fill_jacobian(parent, dof, X, S, self.body, self.wrench, self.rate, self.rate_factor, matrix)
        return matrix

    def velocity(self, twist: Vec, u: Vec) -> Vec:
        """Return the velocity of each row, (r,) [m/s, rad/s], at twists of bodies (n, 6) and rates of joints (m,)."""
        padded = np.vstack([twist, np.zeros(6)])
        on_bodies = np.einsum("rka,rka->r", self.wrench, padded[self.body])
        on_rates: Vec = on_bodies + self.rate_factor * np.append(u, 0.0)[self.rate]
        return on_rates

    def wrenches(self, multiplier: Vec, bodies: int, out: Vec | None = None) -> Vec:
        """Return Σ wrench λ on each of the `bodies`, (n, 6): the rows' part of its impulse; rows on rates have none.
        multiplier: λ, (r,).

        out: array to which the wrenches are added where it is given, (n, 6).
        """
        out = np.zeros((bodies, 6)) if out is None else out
        add_wrenches(self.body, self.wrench, multiplier, out)
        return out

    def with_target(self, target: Vec) -> Rows:
        """Return a copy of the rows with other targets, (r,) [m/s, rad/s]."""
        return Rows(self.body, self.wrench, self.rate, self.rate_factor, target, self.compliance, self.owner)

    def with_wrenches(self, wrench: Vec) -> Rows:
        """Return a copy of the rows with other wrenches, (r, 2, 6)."""
        return Rows(self.body, wrench, self.rate, self.rate_factor, self.target, self.compliance, self.owner)


def on_bodies(body: Index, wrench: Vec, target: Vec, owner: Index) -> Rows:
    """Return hard rows on bodies alone: body (r, 2), wrench (r, 2, 6), target (r,), owner (r,)."""
    count = len(target)
    return Rows(np.ascontiguousarray(body, dtype=np.int32), np.ascontiguousarray(wrench, dtype=float),
                np.full(count, -1, dtype=np.int32), np.zeros(count), np.asarray(target, dtype=float),
                np.zeros(count), np.asarray(owner, dtype=np.int32))


def on_rates(rate: Index, factor: Vec, target: Vec, owner: Index) -> Rows:
    """Return hard rows factor u_rate on rates alone; all arguments are (r,)."""
    count = len(target)
    return Rows(np.full((count, 2), -1, dtype=np.int32), np.zeros((count, 2, 6)), np.asarray(rate, dtype=np.int32),
                np.asarray(factor, dtype=float), np.asarray(target, dtype=float), np.zeros(count),
                np.asarray(owner, dtype=np.int32))


def no_rows() -> Rows:
    """Return a table without rows."""
    none = np.zeros(0, dtype=np.int32)
    return on_rates(none, np.zeros(0), np.zeros(0), none)


def concatenate_rows(tables: Sequence[Rows]) -> Rows:
    """Return all rows in one table; the owners of each table are numbered on from those of the tables before it."""
    full = [table for table in tables if len(table)]
    if len(full) == 1 and tables[0] is full[0]:
        return full[0]
    if not full:
        return no_rows()
    first, owners = 0, []
    for table in tables:
        owners.append(table.owner + np.int32(first))
        first += int(table.owner.max(initial=-1)) + 1
    join = np.concatenate
    return Rows(join([t.body for t in full]), join([t.wrench for t in full]), join([t.rate for t in full]),
                join([t.rate_factor for t in full]), join([t.target for t in full]),
                join([t.compliance for t in full]), join(owners))
