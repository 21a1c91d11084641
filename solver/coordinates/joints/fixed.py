"""Welded."""

from __future__ import annotations

from typing import Any


class Fixed:
    """Holds the child where it is: no rates."""

    centre: tuple[float, ...] = ()

    @staticmethod
    def fill(*arrays: Any) -> None:
        """Q = 1 and S is empty, as the arrays start."""
