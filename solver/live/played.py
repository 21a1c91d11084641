"""Base class of the live bodies that engines step separately, and changes of their settings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..build.fields import Prepared
from ..job.folder import Job
from ..state import Vec
from .engines.interface import GrabbedVertex, Hold, Inputs


class PlayedBody(ABC):
    """Interface of a live body that is stepped separately.

    A step that fails raises StepFailed; the state is then unchanged.
    """

    @property
    @abstractmethod
    def positions(self) -> Vec:
        """Return positions of the vertices of the artist's mesh in world space, (n, 3) [m]."""

    @property
    @abstractmethod
    def grabbed(self) -> list[GrabbedVertex]:
        """Return the grabbed vertices, numbered within the body."""

    @abstractmethod
    def place(self, inputs: Inputs) -> None:
        """Move the body to where its object is before its first step; do nothing before later ones."""

    @abstractmethod
    def restart(self) -> None:
        """Reset the body to its initial state, where its object is now, and release all grabs."""

    @abstractmethod
    def hold(self, grabs: Sequence[Hold], h: float) -> None:
        """Make grabbed points follow the hands of the artist in a step of h seconds; hands not in `grabs` release."""

    @abstractmethod
    def _build(self, job: Job, prepared: Prepared) -> None:
        """Read the settings of a job. Raises a ConJacError where the body cannot be built."""

    @abstractmethod
    def _continue(self, before: dict[str, Any]) -> None:
        """Continue from the state before a change of settings. before: attributes of the body before the change."""

    def change(self, job: Job, prepared: Prepared) -> Callable[[], None]:
        """Continue from the present state with the settings of another job. Return a function that undoes the change.
        Raises a ConJacError where the body cannot be built; it is then unchanged."""
        before = self.__dict__.copy()
        try:
            self._build(job, prepared)
            self._continue(before)
        except Exception:
            self._take_back(before)
            raise
        return lambda: self._take_back(before)

    def _take_back(self, before: dict[str, Any]) -> None:
        """Undo a change of settings. before: attributes of the body before the change."""
        self.__dict__.clear()
        self.__dict__.update(before)

    def distance(self, position: Vec) -> float:
        """Return the distance from a position, (3,) [m], to the nearest vertex of the body [m]."""
        return float(np.linalg.norm(self.positions - position, axis=1).min())
