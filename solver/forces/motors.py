"""Laws of motors: entries of the catalogue's family "motor"."""

from __future__ import annotations


class Drive:
    """Motor that prescribes rates exactly; constraint rows find the forces it takes."""

    exact = True
    stiffness = damping = 0.0

    def __init__(self, params: dict[str, float]) -> None:
        """params: none."""


class Servo:
    """Motor with the force −k (q − target) − d (u − rate of the target)."""

    exact = False

    def __init__(self, params: dict[str, float]) -> None:
        """params: stiffness [N m/rad or N/m], damping [N m s/rad or N s/m]."""
        self.stiffness, self.damping = params["stiffness"], params["damping"]


class Speed:
    """Motor with the force −d (u − target)."""

    exact = False
    stiffness = 0.0

    def __init__(self, params: dict[str, float]) -> None:
        """params: damping [N m s/rad or N s/m]."""
        self.damping = params["damping"]
