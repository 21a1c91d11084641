"""Coulomb's friction of cloth on things, at what is sharp too: resistances that no more than hold, renewed until they
are what the pressing gives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...state import Index, Vec

SLOWEST = 1.0e-4  #: [m/s]: what creeps less sticks
SIGNIFICANT = 0.3  #: of a drag: a smaller change from one solution to the next is not significant
ALIKE = 2.0  #: drags that differ by less share a factor
FURTHEST = 4.0  #: times more or less than it asks for is what a vertex is given that goes on slipping


@dataclass(frozen=True)
class SlipState:
    """Drag of vertices in the last two solutions, force over speed, and the drag that is right there, μ p / s; NaN
    where that is not known."""

    drag: Vec  #: (n,) [kg]
    right: Vec
    drag_before: Vec
    right_before: Vec

    @classmethod
    def unknown(cls, count: int) -> SlipState:
        """Return unknown friction of so many vertices."""
        return cls(*(np.full(count, np.nan) for _ in range(4)))

    def then(self, vertices: Index, drag: Vec, right: Vec) -> SlipState:
        """After one more answer, of vertices (k,)."""
        now, asked = (np.full(len(self.drag), np.nan) for _ in range(2))
        now[vertices], asked[vertices] = drag, right
        return SlipState(now, asked, self.drag, self.right)

    def foreseen(self, vertices: Index, right: Vec) -> Vec:
        """Drags r that will be right at vertices (k,), (k,); `right` where two solutions do not differ enough.

        What is driven by F and has m to move slips with s = F / (m + r), so that μ p / s is linear in r; where it
        rises faster than r, μ p > F, no r is enough.
        """
        drag, drag_before, before = (one[vertices] for one in (self.drag, self.drag_before, self.right_before))
        with np.errstate(all="ignore"):
            slope = (right - before) / (drag - drag_before)
            met = np.where(slope < 1.0, (right - slope * drag) / (1.0 - slope), np.where(right > drag, np.inf, 0.0))
            is_significant = np.abs(drag - drag_before) > SIGNIFICANT * drag
            low, high = np.minimum(drag, right) / FURTHEST, np.maximum(drag, right) * FURTHEST
            return np.where(is_significant, np.clip(met, low, high), right)


@dataclass(frozen=True)
class FrictionResult:
    """Vertices that touch something with friction, each once."""

    vertices: Index  #: (k,)
    ways: Vec  #: what of a vertex' five rates slips: a projector, (k, 5, 5)
    still: Vec  #: rates at which it does not slip, (k, 5)
    coefficient: Vec  #: (k,)

    def along(self, rates: Vec) -> Vec:
        """How each slips at rates (k, 5), (k, 5)."""
        along: Vec = np.einsum("kij,kj->ki", self.ways, rates - self.still)
        return along

    def right(self, pressing: Vec, along: Vec) -> Vec:
        """Drags that are μ times the impulses that press (k,) [N s] where vertices slip along (k, 5), (k,) [kg].
        [Bridson 2002, changed: Coulomb's law within the step, not a factor on velocities after it]"""
        drag: Vec = self.most(pressing) / np.maximum(np.linalg.norm(along, axis=1), SLOWEST)
        return drag

    def foreseen(self, pressing: Vec, right: Vec, slips: SlipState) -> tuple[Vec, Vec]:
        """Drags that will be right where `right` would have been in the last answer, which presses by (k,) [N s], and
        how many times faster vertices will slip then, (k,): by little, as impulses that are given for it where it goes
        far would throw them."""
        drag = np.minimum(slips.foreseen(self.vertices, right), self.most(pressing) / SLOWEST)
        faster = np.divide(right, drag, out=np.ones_like(right), where=(right > 0.0) & (drag > 0.0))
        return drag, np.clip(faster, 1.0 / ALIKE, ALIKE)

    def most(self, pressing: Vec) -> Vec:
        """Return the largest friction, (k,) [N s]."""
        return self.coefficient * pressing


def along_surface(normal: Vec) -> Vec:
    """The projector of Lagrangian vertices on a surface: ẋ at right angles to its normal. (k, 3) to (k, 5, 5)."""
    ways = np.zeros((len(normal), 5, 5))
    ways[:, :3, :3] = np.eye(3) - normal[:, :, None] * normal[:, None, :]
    return ways


def over_features(along: Vec) -> Vec:
    """That of vertices on features: Ẋ, and ẋ along edges, whose unit directions these are, zero at points; (k, 3)."""
    ways = np.zeros((len(along), 5, 5))
    ways[:, :3, :3] = along[:, :, None] * along[:, None, :]
    ways[:, 3, 3] = ways[:, 4, 4] = 1.0
    return ways


def as_capstan(coefficient: Vec, fold: Vec) -> Vec:
    """Coefficients with which a fold by so many radians holds as a rope around a capstan does, T₂ ≤ T₁ e^{μθ}, (k,).

    Both sides press the edge with |T₁ + T₂| together, and what they differ by is T₁ (e^{μθ} − 1).
    """
    ratio = np.exp(coefficient * fold)
    pressing = np.sqrt(np.maximum(1.0 + ratio**2 - 2.0 * ratio * np.cos(fold), 1e-300))
    effective: Vec = np.where(fold > 1e-6, (ratio - 1.0) / pressing, coefficient)
    return effective
