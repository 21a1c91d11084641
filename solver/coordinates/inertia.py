"""Mass, centre and inertia of solid shapes of one density. SI."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import BadScene
from ..state import Vec


@dataclass(frozen=True)
class Solid:
    """What of a shape matters to its motion."""

    mass: float  #: [kg]
    centre: Vec  #: centre of mass in the shape's own frame, (3,) [m]
    inertia: Vec  #: about the centre, along the axes of the shape's frame, (3, 3) [kg m²]

    def weighing(self, mass: float) -> Solid:
        """The same shape with this mass [kg]. Raises BadScene where it is no positive number."""
        _check("mass", mass)
        return Solid(mass, self.centre, self.inertia * (mass / self.mass))

    def spatial(self) -> Vec:
        """Inertia of twists [ω; ν] of a frame at the centre, (6, 6)."""
        out = np.zeros((6, 6))
        out[:3, :3] = self.inertia
        out[3:, 3:] = self.mass * np.eye(3)
        return out


def box(size: Vec, density: float) -> Solid:
    """A box of edges `size` (3,) [m] around the origin, density [kg/m³]. Raises BadScene."""
    for length in size:
        _check("edge", length)
    _check("density", density)
    x, y, z = (float(length) for length in size)
    mass = density * x * y * z
    return Solid(mass, np.zeros(3), mass / 12.0 * np.diag([y * y + z * z, z * z + x * x, x * x + y * y]))


def sphere(radius: float, density: float) -> Solid:
    """A ball of this radius [m] around the origin, density [kg/m³]. Raises BadScene."""
    _check("radius", radius)
    _check("density", density)
    mass = density * 4.0 / 3.0 * np.pi * radius**3
    return Solid(mass, np.zeros(3), 0.4 * mass * radius * radius * np.eye(3))


def capsule(radius: float, length: float, density: float) -> Solid:
    """A cylinder along Z around the origin, `length` [m] without its two half balls, density [kg/m³]. Raises BadScene.
    """
    _check("radius", radius)
    _check("density", density)
    if not (np.isfinite(length) and length >= 0.0):
        raise BadScene(f"its length is {length:g} m", "Give it a length of zero or more")
    rod, ball = density * np.pi * radius**2 * length, density * 4.0 / 3.0 * np.pi * radius**3
    # a half ball's centre is 3/8 r from its disc
    across = (rod * (radius**2 / 4.0 + length**2 / 12.0)
              + ball * (0.4 * radius**2 + length**2 / 4.0 + 3.0 / 8.0 * radius * length))
    around = rod * radius**2 / 2.0 + ball * 0.4 * radius**2
    return Solid(rod + ball, np.zeros(3), np.diag([across, across, around]))


def _check(what: str, value: float) -> None:
    if not (np.isfinite(value) and value > 0.0):
        raise BadScene(f"its {what} is {value:g}", "Give it a value above zero")
