"""Base class of materials."""

from __future__ import annotations

from typing import Any


class Material:
    """Base class of a material, with kernels `energy`, `stress` and `tangent`, and `constants`, which computes their
    input."""

    #: whether the energy is invariant under rotation: ψ(R F) = ψ(F) for rotations R
    is_objective = True

    @staticmethod
    def change() -> Any | None:
        """Return the kernel of dP for a given dF, where it costs less than the tangent; None to use the tangent."""
        return None
