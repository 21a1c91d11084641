"""Protocol of a material, in addition to its kernels."""

from __future__ import annotations

from typing import Any


class Material:
    """A class with three kernels, energy, stress and tangent, and `constants` that makes what they read."""

    #: whether what only turns has the energy that it had: ψ(R F) = ψ(F) for rotations R
    is_objective = True

    @staticmethod
    def change() -> Any | None:
        """The kernel of dP for a dF alone, where it costs less than the tangent; None: it is made of the tangent."""
        return None
