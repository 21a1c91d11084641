"""One body that is played separately: the interface for engines, and changes of its settings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..build.fields import Prepared
from ..job.folder import Job
from ..state import Vec
from .engines.interface import GrabbedPlace, Hold, Inputs


class PlayedBody(ABC):
    """A body that takes steps of its own. Raises StepFailed of a step that has no end, and is as it was."""

    @property
    @abstractmethod
    def places(self) -> Vec:
        """Return vertices of the artist's mesh [m], (n, 3)."""

    @property
    @abstractmethod
    def grabbed(self) -> list[GrabbedPlace]:
        """Return the points that hands have hold of; vertices are the body's own."""

    @abstractmethod
    def place(self, inputs: Inputs) -> None:
        """Put it where its object is, before its first step."""

    @abstractmethod
    def restart(self) -> None:
        """Put it back to the start, where its object is now."""

    @abstractmethod
    def hold(self, grabs: Sequence[Hold], h: float) -> None:
        """Make grabbed points follow the artist's hand in a step of h seconds."""

    @abstractmethod
    def _build(self, job: Job, prepared: Prepared) -> None:
        """Take the settings of a job. Raises what its maps raise."""

    @abstractmethod
    def _go_on(self, before: dict[str, Any]) -> None:
        """Go on from where it stood before other settings were taken. before: its attributes then."""

    def change(self, job: Job, prepared: Prepared) -> Callable[[], None]:
        """Continue from the present state with other settings. Returns a function that undoes the change. Raises what
        its maps raise."""
        before = self.__dict__.copy()
        try:
            self._build(job, prepared)
            self._go_on(before)
        except Exception:
            self._take_back(before)
            raise
        return lambda: self._take_back(before)

    def _take_back(self, before: dict[str, Any]) -> None:
        """Be as it was before other settings were taken. before: its attributes then."""
        self.__dict__.clear()
        self.__dict__.update(before)

    def distance(self, place: Vec) -> float:
        """Return how far its nearest vertex is from a place, (3,) [m]."""
        return float(np.linalg.norm(self.places - place, axis=1).min())
