"""Inertia of what a cloth touches, within the cloth's own step: bodies of six rates, nodes of three.

A point has up to two movers of three rates each, one of its translation and one of the rotation about a centre, from
which its arm r reaches to the point: v = ν + ω × r. Unknowns beside the cloth's are deviations δ of these rates from
predicted ones: A (δ − δ⁰) = Jᵀ (p − h f), with the forces f of the predicted motion and the impulses p of the cloth.
The step of these bodies is a single one, whose end depends on the sum of the impulses within it, whenever they act; so
in a part h of it, after t, their inertia is A' = A h / (t + h), and δ⁰ the result of the impulses so far. So a body
that lies on a cloth that lies on a table stops in the step in which it arrives, whatever its prediction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...state import Index, Vec


@dataclass(frozen=True)
class InterfaceInertia:
    """Points of other parts, their movers, and the forces of their predicted motion."""

    movers: Index  #: of each point's translation and rotation, (o, 2), −1 for none
    arms: Vec  #: from the centre of the rotation [m], (o, 3)
    pairs: Index  #: of movers with inertia in common, the larger first, (p, 2)
    inertia: Vec  #: of these pairs, A [kg, kg m, kg m²], (p, 3, 3)
    group: Index  #: of each mover; movers of one group are unknowns all together or not at all, (c,)
    forces: Vec  #: f [N], (o, 3)

    @classmethod
    def nothing(cls, points: int) -> InterfaceInertia:
        """Return so many points of prescribed motion."""
        return cls(np.full((points, 2), -1, np.int32), np.zeros((points, 3)), np.zeros((0, 2), np.int32),
                   np.zeros((0, 3, 3)), np.zeros(0, np.int32), np.zeros((points, 3)))

    @classmethod
    def body(cls, arms: Vec, inertia: Vec) -> InterfaceInertia:
        """Return points of one rigid body at arms (k, 3) [m] from the reference point of its inertia, (6, 6), of rates
        [ω; ν] in world."""
        straight, rotational, none = inertia[3:, 3:], inertia[:3, :3], InterfaceInertia.nothing(len(arms))
        pairs, together = np.array([[0, 0], [1, 0], [1, 1]], np.int32), np.zeros(2, np.int32)
        return replace(none, movers=np.tile(np.array([[0, 1]], np.int32), (len(arms), 1)), arms=arms, pairs=pairs,
                       inertia=np.stack([straight, inertia[:3, 3:], rotational]), group=together)

    @classmethod
    def nodes(cls, masses: Vec) -> InterfaceInertia:
        """Return nodes of masses (k,) [kg], infinite where a node is prescribed."""
        free = np.flatnonzero(np.isfinite(masses))
        movers, own = np.full((len(masses), 2), -1, np.int32), np.arange(len(free), dtype=np.int32)
        movers[free, 0] = own
        return replace(cls.nothing(len(masses)), movers=movers, pairs=np.column_stack([own, own]),
                       inertia=masses[free, None, None] * np.eye(3), group=own)

    @classmethod
    def couple(cls, movers: Index, pairs: Index, inertia: Vec) -> InterfaceInertia:
        """Return nodes with movers (k,), −1 for none, all of one group. pairs, inertia: as the fields."""
        none = np.full_like(movers, -1)
        return replace(cls.nothing(len(movers)), movers=np.column_stack([movers, none]), pairs=pairs, inertia=inertia,
                       group=np.zeros(int(pairs.max(initial=-1)) + 1, np.int32))

    @property
    def count(self) -> int:
        """Return the number of movers."""
        return len(self.group)

    def with_their_groups(self, used: Index) -> Index:
        """Return these movers, (k,), and all others of their groups, ascending."""
        is_used = np.zeros(int(self.group.max(initial=-1)) + 1, dtype=bool)
        is_used[self.group[used]] = True
        return np.flatnonzero(is_used[self.group]).astype(np.int32)

    @property
    def free_rates(self) -> Vec:
        """Return rates δ of points without contact: zeros, (c, 3)."""
        return np.zeros((self.count, 3))

    def under(self, forces: Vec) -> InterfaceInertia:
        """Return the points with other predicted forces, (o, 3) [N]."""
        return replace(self, forces=forces)

    def velocities(self, rates: Vec) -> Vec:
        """Return velocities J δ of all points, (o, 3) [m/s]. rates: δ of the movers, (c, 3)."""
        straight, angular = (np.concatenate([rates, np.zeros((1, 3))])[self.movers[:, k]] for k in (0, 1))
        out: Vec = straight + np.cross(angular, self.arms)
        return out

    def gather_impulses(self, impulses: Vec) -> Vec:
        """Return Jᵀ p, impulses on the movers, (c, 3), by impulses p on the points, (o, 3) [N s]."""
        out = np.zeros((self.count + 1, 3))
        np.add.at(out, self.movers[:, 0], impulses)
        np.add.at(out, self.movers[:, 1], np.cross(self.arms, impulses))
        return out[:-1]

    def momentum(self, rates: Vec) -> Vec:
        """Return the momentum A δ, (c, 3). rates: δ of the movers, (c, 3)."""
        out = np.zeros((self.count, 3))
        high, low = self.pairs.T
        np.add.at(out, high, np.einsum("pij,pj->pi", self.inertia, rates[low]))
        between = high != low
        np.add.at(out, low[between], np.einsum("pji,pj->pi", self.inertia[between], rates[high[between]]))
        return out


def block_diagonal(parts: Sequence[InterfaceInertia]) -> InterfaceInertia:
    """Return the points of several parts, one after the other, without inertia in common."""
    first = np.cumsum([0, *(part.count for part in parts)])
    movers = [np.where(part.movers >= 0, part.movers + start, -1) for part, start in zip(parts, first)]
    groups = np.cumsum([0, *(int(part.group.max(initial=-1)) + 1 for part in parts)])
    return InterfaceInertia(np.concatenate(movers).astype(np.int32), np.concatenate([part.arms for part in parts]),
                            np.concatenate(
        [part.pairs + start for part, start in zip(parts, first)]).astype(np.int32),
        np.concatenate([part.inertia for part in parts]), np.concatenate(
            [part.group + start for part, start in zip(parts, groups)]).astype(np.int32),
        np.concatenate([part.forces for part in parts]))
