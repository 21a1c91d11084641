"""Fixed joint."""

from __future__ import annotations

from typing import Any


class Fixed:
    """Joint without rates, which fixes the child in its parent's frame."""

    centre: tuple[float, ...] = ()

    @staticmethod
    def fill(*arrays: Any) -> None:
        """Leave the arrays as they are: they begin with the pose Q = 1, and S has no columns."""
