"""Backtracking line search: a step is halved until it lowers the merit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

ENOUGH = 1.0e-4  #: of the fall that the slope foretells (Armijo)


class Trial(Protocol):
    """Point on the line of a search."""

    @property
    def merit(self) -> float | None:
        """Return the merit, the function to minimise [J]; None where forces derive from no energy."""

    @property
    def size(self) -> float:
        """Return the largest entry of the residual."""

    @property
    def norm(self) -> float:
        """Return the Euclidean norm of the residual."""


T = TypeVar("T", bound=Trial)


def search(at: T, trial_at: Callable[[float], T], first: float, least: float, slope: float,
           noise: float) -> tuple[T, float] | None:
    """Return the trial at the first of the fractions first, first/2, … ≥ least that lowers the merit enough, and its
    fraction; None where none does.

    slope: derivative of the merit along the whole step [J]. noise: changes of the merit that may be rounding [J].
    Within them a smaller residual suffices; without a merit, a smaller norm does.
    """
    fraction = first
    while fraction >= least:
        trial = trial_at(fraction)
        if lowers(at, trial, fraction, slope, noise):
            return trial, fraction
        fraction *= 0.5
    return None


def lowers(at: Trial, trial: Trial, fraction: float, slope: float, noise: float) -> bool:
    """Whether a trial at a fraction of a step from `at` lowers the merit enough. slope, noise: as in `search` [J]."""
    if at.merit is None or trial.merit is None:
        return trial.norm <= (1.0 - ENOUGH * fraction) * at.norm
    if trial.merit <= at.merit + ENOUGH * fraction * slope:
        return True
    return trial.merit <= at.merit + noise and trial.size < at.size
