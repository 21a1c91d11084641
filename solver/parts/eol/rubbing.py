"""Coulomb's friction of cloth on things, at what is sharp too: resistances that no more than hold, renewed until they
are what the pressing gives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...state import Index, Vec

SLOWEST = 1.0e-4  #: [m/s]: what creeps less is held


@dataclass(frozen=True)
class Rubbed:
    """Vertices that touch something with friction, each once."""

    vertices: Index  #: (k,)
    ways: Vec  #: what of a vertex' five rates slips: a projector, (k, 5, 5)
    still: Vec  #: rates at which it does not slip, (k, 5)
    coefficient: Vec  #: (k,)

    def slip(self, rates: Vec) -> Vec:
        """How fast each slips at rates (k, 5), (k,) [m/s]."""
        along = np.einsum("kij,kj->ki", self.ways, rates - self.still)
        speed: Vec = np.linalg.norm(along, axis=1)
        return speed

    def resistance(self, pressing: Vec, rates: Vec) -> Vec:
        """Blocks (k, 5, 5) [kg] that take μ times the impulses that press (k,) [N s] at these rates, (k, 5).
        [Bridson 2002, changed: Coulomb's law within the step, not a factor on velocities after it]"""
        size = self.coefficient * pressing / np.maximum(self.slip(rates), SLOWEST)
        blocks: Vec = size[:, None, None] * self.ways
        return blocks


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
