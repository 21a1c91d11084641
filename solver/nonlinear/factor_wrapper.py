"""Base class of factors that wrap an inner factor."""

from __future__ import annotations

from ..linear.interface import Factoring, ShowsNothing


class FactorWrapper(ShowsNothing):
    """A factor that solves with an inner factor and corrects the result."""

    def __init__(self, inner: Factoring) -> None:
        self.why, self._inner = inner.why, inner

    @property
    def factored(self) -> int:
        """Return the number of factorizations of the inner solver."""
        return self._inner.factored

    @property
    def proves_definite(self) -> bool:
        """Whether the inner solver notices a matrix that is not positive definite."""
        return self._inner.proves_definite
