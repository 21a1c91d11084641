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

    def along(self, rates: Vec) -> Vec:
        """How each slips at rates (k, 5), (k, 5)."""
        along: Vec = np.einsum("kij,kj->ki", self.ways, rates - self.still)
        return along

    def resistance(self, pressing: Vec, along: Vec) -> Vec:
        """What takes μ times the impulses that press (k,) [N s] where they slip so, (k, 5); (k,) [kg].
        [Bridson 2002, changed: Coulomb's law within the step, not a factor on velocities after it]"""
        resistance: Vec = self.coefficient * pressing / np.maximum(np.linalg.norm(along, axis=1), SLOWEST)
        return resistance


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
