"""Drives aimed so that what closes a step has nothing before it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from ..parts.joints.jointed import Constraints, PosedTree
from ..state import State, Vec

AIMS = 4  #: times that a step is tried whose end has something before it


class Aim:
    """How much faster than told drives go in the tries of one step.

    Rates that a drive tells lead past where it wants its body at the end, by half of what they change in the step or
    so, and that is mended once the step is solved. Where something is before that bit of way the step is tried anew
    with rates that lead there, so that what is soft gives way.
    """

    def __init__(self, constraints: Constraints | None, rates: int) -> None:
        """rates: of all joints."""
        self._constraints, self._ahead, self._tries = constraints, np.zeros(rates), 0

    def begin(self) -> None:
        """A step begins: drives go as they are told."""
        self._ahead, self._tries = np.zeros_like(self._ahead), 0

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Within it drives go as they are aimed."""
        constraints, ahead = self._constraints, self._ahead
        self._tries += 1
        try:
            if constraints is not None:
                constraints.hasten(ahead if ahead.any() else None)
            yield
        finally:
            if constraints is not None:
                constraints.hasten(None)

    def behind(self, joints: State, posed: PosedTree | None) -> Vec:
        """What the end of a try, not yet closed, is behind of where drives want it, (m,) [rad, m]."""
        if self._constraints is None or posed is None:
            return np.zeros_like(self._ahead)
        return self._constraints.behind(joints, posed)

    def leads_on(self, behind: Vec, h: float) -> bool:
        """Aim at it in a step of h seconds; whether that is worth another try."""
        if self._tries >= AIMS or not behind.any():
            return False
        self._ahead += behind / h
        return True
