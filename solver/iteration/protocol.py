"""Protocols of the loop that solves a stage, `iterate`: directions, a bound on the step along each, and a stop rule.

Type variables: P, equations of a stage; A, an iterate; D, a direction; S, a step along one.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

from ..errors import StepFailed


class Exhausted(Exception):
    """Raised where no further direction is available, or further steps would not converge: the stage has failed to
    converge."""


class Refused(Exception):
    """Raised where a matrix has no direction, and the next iteration takes another matrix."""


A_co = TypeVar("A_co", covariant=True)


class AcceptedStep(Protocol[A_co]):
    """Protocol of a step that a bound has accepted."""

    @property
    def after(self) -> A_co:
        """Return the iterate after it."""

    @property
    def is_full(self) -> bool:
        """Whether nothing cut it."""


P_contra = TypeVar("P_contra", contravariant=True)
A_contra = TypeVar("A_contra", contravariant=True)
D_co = TypeVar("D_co", covariant=True)
D_contra = TypeVar("D_contra", contravariant=True)
S_co = TypeVar("S_co", bound=AcceptedStep[Any], covariant=True)
S_contra = TypeVar("S_contra", bound=AcceptedStep[Any], contravariant=True)


class StageDirections(Protocol[P_contra, A_contra, S_contra, D_co]):
    """Directions from the iterates of a stage, and the choice of the matrix; the method with a body is a default."""

    def find(self, problem: P_contra, at: A_contra, last: S_contra | None) -> D_co | None:
        """Return the next direction; None where it would move nothing by more than rounding. Raises Exhausted, Refused,
        and StepFailed where a matrix cannot be factored.

        last: the step along the previous direction, for directions that learn from it; None at first, and where no step
        along that direction was accepted.
        """

    def retries(self, problem: P_contra, at: A_contra, failure: StepFailed) -> bool:
        """Whether to find another direction after no step along the last one was accepted; otherwise the iterations end
        there without convergence. Raises `failure` where the stage has failed, as by default."""
        raise failure


class Bound(Protocol[P_contra, A_contra, D_contra, S_co]):
    """Rule for how far to go along a direction."""

    def step_along(self, problem: P_contra, at: A_contra, direction: D_contra) -> S_co:
        """Return the step from an iterate along a direction. Raises StepFailed where no step is accepted."""


class Stop(Protocol[S_contra]):
    """A rule that decides when a stage has converged."""

    def is_done(self, step: S_contra) -> bool:
        """Whether the stage has converged after this step. Raises Exhausted where it would never do so."""


class NoStop(Stop[Any]):
    """Stop rule that is never met: directions or the number of iterations end them."""

    def is_done(self, step: AcceptedStep[Any]) -> bool:
        """Return False."""
        return False


NO_STOP = NoStop()
