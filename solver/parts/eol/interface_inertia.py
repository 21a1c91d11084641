"""How what a cloth touches gives way to it, within the cloth's own step: bodies of six rates, nodes of three.

What moves a point is up to two movers of three rates each: one that it goes straight with, and one that it turns about
at the end of an arm, v = ν + ω × r. They are unknowns beside the cloth's, δ, by which the points leave the way that
they are thought to go: A (δ − δ⁰) = Jᵀ (p − h f), where they go that way under forces f, and p is what the cloth does.
Their own step is one step, which ends as far off as impulses within it add up to, whenever they act; so in a part h of
it, after t, their inertia is A' = A h / (t + h), with δ⁰ what the impulses so far add up to.
So a body that lies on a cloth that lies on a table stops in the step in which it comes, whatever it was thought to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...state import Index, Vec


@dataclass(frozen=True)
class InterfaceInertia:
    """Points, what moves them, and under which forces they go their way."""

    movers: Index  #: that each goes straight with and that it turns with, (o, 2), −1 for none
    arms: Vec  #: from the centre of what turns it [m], (o, 3)
    pairs: Index  #: of movers that have inertia between them, the larger first, (p, 2)
    inertia: Vec  #: of these, A [kg, kg m, kg m²], (p, 3, 3)
    group: Index  #: of each mover; those of one are known all at once or not at all, (c,)
    forces: Vec  #: f [N], (o, 3)

    @classmethod
    def nothing(cls, points: int) -> InterfaceInertia:
        """So many points of prescribed motion."""
        return cls(np.full((points, 2), -1, np.int32), np.zeros((points, 3)), np.zeros((0, 2), np.int32),
                   np.zeros((0, 3, 3)), np.zeros(0, np.int32), np.zeros((points, 3)))

    @classmethod
    def body(cls, arms: Vec, inertia: Vec) -> InterfaceInertia:
        """Points of one rigid body at arms (k, 3) [m] from the point of its inertia (6, 6), rates [ω; ν] in world."""
        straight, turned, none = inertia[3:, 3:], inertia[:3, :3], InterfaceInertia.nothing(len(arms))
        pairs, together = np.array([[0, 0], [1, 0], [1, 1]], np.int32), np.zeros(2, np.int32)
        return replace(none, movers=np.tile(np.array([[0, 1]], np.int32), (len(arms), 1)), arms=arms, pairs=pairs,
                       inertia=np.stack([straight, inertia[:3, 3:], turned]), group=together)

    @classmethod
    def nodes(cls, masses: Vec) -> InterfaceInertia:
        """Nodes of masses (k,) [kg], infinite where one is prescribed."""
        free = np.flatnonzero(np.isfinite(masses))
        movers, own = np.full((len(masses), 2), -1, np.int32), np.arange(len(free), dtype=np.int32)
        movers[free, 0] = own
        return replace(cls.nothing(len(masses)), movers=movers, pairs=np.column_stack([own, own]),
                       inertia=masses[free, None, None] * np.eye(3), group=own)

    @classmethod
    def coupled(cls, movers: Index, pairs: Index, inertia: Vec) -> InterfaceInertia:
        """Nodes that go with movers (k,), −1 for none, of which all are coupled; others as above."""
        none = np.full_like(movers, -1)
        return replace(cls.nothing(len(movers)), movers=np.column_stack([movers, none]), pairs=pairs, inertia=inertia,
                       group=np.zeros(int(pairs.max(initial=-1)) + 1, np.int32))

    @property
    def count(self) -> int:
        """Return the number of movers."""
        return len(self.group)

    def with_their_groups(self, used: Index) -> Index:
        """Movers (k,) and all others of their groups."""
        asked = np.zeros(int(self.group.max(initial=-1)) + 1, dtype=bool)
        asked[self.group[used]] = True
        return np.flatnonzero(asked[self.group]).astype(np.int32)

    @property
    def still(self) -> Vec:
        """Rates of movers that leave nobody's way, (c, 3)."""
        return np.zeros((self.count, 3))

    def under(self, forces: Vec) -> InterfaceInertia:
        """Return the points with other predicted forces, (o, 3) [N]."""
        return replace(self, forces=forces)

    def velocities(self, rates: Vec) -> Vec:
        """J δ of all points, (o, 3) [m/s], where movers have rates (c, 3)."""
        straight, turn = (np.concatenate([rates, np.zeros((1, 3))])[self.movers[:, k]] for k in (0, 1))
        out: Vec = straight + np.cross(turn, self.arms)
        return out

    def gathered(self, impulses: Vec) -> Vec:
        """Jᵀ p, (c, 3), of impulses on the points, (o, 3)."""
        out = np.zeros((self.count + 1, 3))
        np.add.at(out, self.movers[:, 0], impulses)
        np.add.at(out, self.movers[:, 1], np.cross(self.arms, impulses))
        return out[:-1]

    def momentum(self, rates: Vec) -> Vec:
        """A δ, (c, 3)."""
        out = np.zeros((self.count, 3))
        high, low = self.pairs.T
        np.add.at(out, high, np.einsum("pij,pj->pi", self.inertia, rates[low]))
        between = high != low
        np.add.at(out, low[between], np.einsum("pji,pj->pi", self.inertia[between], rates[high[between]]))
        return out


def block_diagonal(parts: Sequence[InterfaceInertia]) -> InterfaceInertia:
    """All points of several, one after the other."""
    first = np.cumsum([0, *(one.count for one in parts)])
    movers = [np.where(one.movers >= 0, one.movers + start, -1) for one, start in zip(parts, first)]
    groups = np.cumsum([0, *(int(one.group.max(initial=-1)) + 1 for one in parts)])
    return InterfaceInertia(np.concatenate(movers).astype(np.int32), np.concatenate([one.arms for one in parts]),
                            np.concatenate(
        [one.pairs + start for one, start in zip(parts, first)]).astype(np.int32),
        np.concatenate([one.inertia for one in parts]), np.concatenate(
            [one.group + start for one, start in zip(parts, groups)]).astype(np.int32),
        np.concatenate([one.forces for one in parts]))
