"""Stop rule by the sizes of changes: that a stage has converged, or would take too many iterations to do so."""

from __future__ import annotations

import sys
from abc import abstractmethod
from typing import Any, Protocol, TypeVar

from ..iteration.protocol import AcceptedStep, Exhausted, Stop

EXTENT_FRACTION = 1.0e-3  #: relative to the extent: scale of the tolerance if a stage changes less


class Renewable(Protocol):
    """Protocol of a direction whose matrix is of one of several kinds."""

    @property
    def is_renewed(self) -> bool:
        """Whether its matrix is of another kind than the last one, to which earlier changes do not compare."""


class SizedStep(AcceptedStep[Any], Protocol):
    """Protocol of a step with a size."""

    @property
    def direction(self) -> Renewable:
        """Return its direction."""

    @property
    def moved(self) -> float:
        """Return the size of the change [m, or a rate]."""


S_contra = TypeVar("S_contra", bound=SizedStep, contravariant=True)


class ChangeStop(Stop[S_contra]):
    """Stop rule of iterations without a merit, which gives up where changes no longer halve or are far too large."""

    patience = 20  #: iterations on one kind of matrix within which changes at least halve if a root exists
    most = sys.float_info.max  #: larger changes have diverged

    def __init__(self) -> None:
        self.largest = 0.0  #: largest change so far
        self._changes: list[float] = []  #: with the present kind of matrix

    def is_done(self, step: S_contra) -> bool:
        """Whether the remaining error is within the tolerance after a step. Raises Exhausted where convergence would
        take too many iterations, alternates between two shapes for ever, or diverges."""
        moved = step.moved
        if moved > self.largest:
            self.largest = moved
        if self.has_converged(step):
            return True
        if step.direction.is_renewed:
            self._changes.clear()
        changes, k = self._changes, self.patience
        changes.append(moved)
        has_stalled = len(changes) > k and min(changes[-k:]) > 0.5 * min(changes[:-k])
        if has_stalled or not moved <= self.most:
            raise Exhausted
        return False

    @abstractmethod
    def has_converged(self, step: S_contra) -> bool:
        """Whether the remaining error of the iterate after a step is within the tolerance."""
