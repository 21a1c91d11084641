"""Coulomb's friction of cloth on obstacles and their features: drags that are updated until they agree with the normal
impulses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...state import Index, Vec

ALIKE = 2.0  #: drags that differ by less share a factor


@dataclass(frozen=True)
class SlipState:
    """Drag of vertices in the last two solutions, force over speed, and the drag that Coulomb's law has there, μ p / s;
    NaN where it is not known."""

    significant = 0.3  #: of a drag: a smaller change from one solution to the next is not significant
    furthest = 4.0  #: times more or less than it asks for is what a vertex is given that goes on slipping

    drag: Vec  #: (n,) [kg]
    coulomb_drag: Vec
    drag_before: Vec
    coulomb_drag_before: Vec

    @classmethod
    def unknown(cls, count: int) -> SlipState:
        """Return the state of so many vertices without a solution."""
        return cls(*(np.full(count, np.nan) for _ in range(4)))

    def then(self, vertices: Index, drag: Vec, coulomb_drag: Vec) -> SlipState:
        """Return the state after one more solution. drag, coulomb_drag: of vertices, (k,) [kg]."""
        now, coulomb_now = (np.full(len(self.drag), np.nan) for _ in range(2))
        now[vertices], coulomb_now[vertices] = drag, coulomb_drag
        return SlipState(now, coulomb_now, self.drag, self.coulomb_drag)

    def predict_drag(self, vertices: Index, coulomb_drag: Vec) -> Vec:
        """Return predicted drags r of Coulomb's law at vertices, (k,) [kg]; `coulomb_drag` where two solutions do not
        differ enough.

        A mass m that a force F drives slips with s = F / (m + r), so μ p / s is linear in r; where it rises faster than
        r, μ p > F and no r is enough.
        """
        drag, drag_before, before = (values[vertices]
                                     for values in (self.drag, self.drag_before, self.coulomb_drag_before))
        with np.errstate(all="ignore"):
            slope = (coulomb_drag - before) / (drag - drag_before)
            predicted = np.where(slope < 1.0, (coulomb_drag - slope * drag) / (1.0 - slope),
                           np.where(coulomb_drag > drag, np.inf, 0.0))
            is_significant = np.abs(drag - drag_before) > self.significant * drag
            low, high = np.minimum(drag, coulomb_drag) / self.furthest, np.maximum(drag, coulomb_drag) * self.furthest
            return np.where(is_significant, np.clip(predicted, low, high), coulomb_drag)


@dataclass(frozen=True)
class FrictionResult:
    """Contacts of vertices with friction, one for each vertex."""

    slowest = 1.0e-4  #: [m/s]: what creeps less sticks

    vertices: Index  #: (k,)
    projectors: Vec  #: projectors of a vertex' five rates onto slip, (k, 5, 5)
    no_slip_rates: Vec  #: rates without slip, (k, 5)
    coefficient: Vec  #: of friction, (k,)

    def along(self, rates: Vec) -> Vec:
        """Return the slip of each vertex, (k, 5), at rates (k, 5)."""
        along: Vec = np.einsum("kij,kj->ki", self.projectors, rates - self.no_slip_rates)
        return along

    def coulomb_drag(self, pressing: Vec, along: Vec) -> Vec:
        """Return the drags of Coulomb's law, (k,) [kg]: μ times the normal impulses, (k,) [N s], over the speeds of
        slip. along: slip, (k, 5).
        [Bridson 2002, changed: Coulomb's law within the step, not a factor on velocities after it]"""
        drag: Vec = self.most(pressing) / np.maximum(np.linalg.norm(along, axis=1), self.slowest)
        return drag

    def predict_drag(self, pressing: Vec, coulomb_drag: Vec, slips: SlipState) -> tuple[Vec, Vec]:
        """Return predicted drags of Coulomb's law, (k,) [kg], and the ratio of predicted to present speed of slip,
        (k,), which is limited since impulses of far predictions would throw vertices. pressing: normal impulses, (k,)
        [N s]. coulomb_drag: drags by the method in the last solution, (k,) [kg]."""
        drag = np.minimum(slips.predict_drag(self.vertices, coulomb_drag), self.most(pressing) / self.slowest)
        faster = np.divide(coulomb_drag, drag, out=np.ones_like(coulomb_drag),
                           where=(coulomb_drag > 0.0) & (drag > 0.0))
        return drag, np.clip(faster, 1.0 / ALIKE, ALIKE)

    def most(self, pressing: Vec) -> Vec:
        """Return the largest friction impulse of each vertex, (k,) [N s]. pressing: normal impulses, (k,) [N s]."""
        return self.coefficient * pressing


def along_surface(normal: Vec) -> Vec:
    """Return projectors, (k, 5, 5), of Lagrangian vertices onto slip along a surface: ẋ at right angles to its unit
    normal, (k, 3)."""
    projectors = np.zeros((len(normal), 5, 5))
    projectors[:, :3, :3] = np.eye(3) - normal[:, :, None] * normal[:, None, :]
    return projectors


def over_features(along: Vec) -> Vec:
    """Return projectors, (k, 5, 5), of vertices on features onto slip: Ẋ, and ẋ along edges. along: unit directions of
    edges, zero at points, (k, 3)."""
    projectors = np.zeros((len(along), 5, 5))
    projectors[:, :3, :3] = along[:, :, None] * along[:, None, :]
    projectors[:, 3, 3] = projectors[:, 4, 4] = 1.0
    return projectors


def as_capstan(coefficient: Vec, fold: Vec) -> Vec:
    """Return coefficients, (k,), with which a fold by so many radians has the friction of a rope around a capstan, T₂ ≤
    T₁ e^{μθ}. coefficient: μ, (k,). fold: θ [rad], (k,).

    Both sides together press the edge with |T₁ + T₂|, and their difference is T₁ (e^{μθ} − 1).
    """
    ratio = np.exp(coefficient * fold)
    pressing = np.sqrt(np.maximum(1.0 + ratio**2 - 2.0 * ratio * np.cos(fold), 1e-300))
    effective: Vec = np.where(fold > 1e-6, (ratio - 1.0) / pressing, coefficient)
    return effective
