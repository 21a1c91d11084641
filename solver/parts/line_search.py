"""The one line search: a step is halved until it lowers the merit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

ENOUGH = 1.0e-4  #: of the fall that the slope foretells (Armijo)


class Trial(Protocol):
    """A point on the way."""

    @property
    def merit(self) -> float | None:
        """Return the function to minimise [J]; None where forces derive from no energy."""

    @property
    def size(self) -> float:
        """The largest entry of the residual."""

    @property
    def norm(self) -> float:
        """Its Euclidean norm."""


T = TypeVar("T", bound=Trial)


def search(at: T, trial_at: Callable[[float], T], first: float, least: float, slope: float,
           noise: float) -> tuple[T, float] | None:
    """The trial at the first of the shares first, first/2, … ≥ least that lowers the merit enough, and that share; None
    where none does.

    slope: of the merit along the whole step [J]. noise: changes of the merit that may be rounding [J]. Within it a
    smaller size is proof enough; without a merit, a smaller norm is.
    """
    share = first
    while share >= least:
        trial = trial_at(share)
        if lowers(at, trial, share, slope, noise):
            return trial, share
        share *= 0.5
    return None


def lowers(at: Trial, trial: Trial, share: float, slope: float, noise: float) -> bool:
    """Whether a trial at a share of the step lowers the merit enough. For slope and noise see `search`."""
    if at.merit is None or trial.merit is None:
        return trial.norm <= (1.0 - ENOUGH * share) * at.norm
    if trial.merit <= at.merit + ENOUGH * share * slope:
        return True
    return trial.merit <= at.merit + noise and trial.size < at.size
