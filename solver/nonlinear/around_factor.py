"""What is said of a factor that answers by another one."""

from __future__ import annotations

from ..linear.interface import Factoring, ShowsNothing


class AroundFactor(ShowsNothing):
    """A factor whose answers come from those of an inner one."""

    def __init__(self, inner: Factoring) -> None:
        self.why, self._inner = inner.why, inner

    @property
    def factored(self) -> int:
        """How often the inner solver has factored."""
        return self._inner.factored

    @property
    def proves_definite(self) -> bool:
        """As the inner solver's."""
        return self._inner.proves_definite
