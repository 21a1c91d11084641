"""The one step of every part: begun, tried on posed stages, judged, and tried anew where it is not taken.

A try is an integrator's step, which poses stages of the part, asks the posed ones for rates and lands. Two parts have
more to say of it than that:

- The tree alone takes the step of semi-implicit Euler and of leapfrog in one kernel where nothing but forces acts. It
  is the same step; posing it would cost more than solving it.
- Cloth that slides over what is sharp has vertices that come and go *within* a step: what it is remeshed on is where
  things stand then, and how far it may go is known once its rows are solved. A stage has a û of fixed length, and poses
  what does not change while it is solved; so a try of such a cloth is a row of shorter ones, each remeshed, assembled,
  solved with its rows and advanced: A u = b + Gᵀ μ + Cᵀ λ as any stage with constraints, but none that an integrator
  could pose, combine with an earlier one or take from another base.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import StepFailed
from ..integrators.control import Controller
from ..linear.interface import NotPositiveDefinite
from ..state import State, Vec

if TYPE_CHECKING:
    from ..embedding.sheets import SheetTold


class Stepping(ABC):
    """What is solved at once is one of these; it says what a try is, and, where it is several parts, how their states
    are one."""

    def joined(self, states: Sequence[State]) -> State:
        """One state of the parts'."""
        return states[0]

    def parted(self, state: State) -> list[State]:
        """Those of the parts again."""
        return [state]

    def step(self, state: State, h: float) -> State:
        """The state after h seconds. Raises StepFailed; the old state is still good."""
        self.begin(state, h)
        done = False
        while not done:
            try:
                after = self.attempt(state, h)
            except np.linalg.LinAlgError as failure:
                raise StepFailed("the step's system of equations is singular") from failure
            except NotPositiveDefinite as failure:
                raise StepFailed("the system matrix is not positive definite") from failure
            state, done = self.judge(state, after, h)
        return state

    def begin(self, state: State, h: float) -> None:
        """Look at what is looked at once, before the first try."""
        return  # most look at nothing

    @abstractmethod
    def attempt(self, state: State, h: float) -> State:
        """The state at the end of one try. Raises StepFailed, LinAlgError, NotPositiveDefinite."""

    def judge(self, before: State, after: State, h: float) -> tuple[State, bool]:
        """The state to go on from and True; or the one to try the step from anew, and False. Raises StepFailed."""
        return after, True

    def rescue(self, state: State, h: float, failure: StepFailed) -> State:
        """The step in a way that asks less, after the shortest one failed. Raises the failure where there is none."""
        raise failure


class Plain(Stepping):
    """A part with what it says where it has nothing to say, as `interface.Part` asks it; who has more says that."""

    @property
    def bodies(self) -> list[tuple[str, int, int]]:
        """No meshes."""
        return []

    @property
    def summary(self) -> list[str]:
        """Nothing about all steps."""
        return []

    @property
    def mechanisms(self) -> list[dict[str, Any]]:
        """No rigid bodies."""
        return []

    @property
    def sheet_names(self) -> list[str]:
        """No body has faces of its own at every frame."""
        return []

    def sheets(self, state: State, frame: int) -> dict[int, SheetTold]:
        """So there are no such meshes."""
        return {}

    def nodes_at(self, state: State) -> tuple[Vec, Vec]:
        """No nodes, that a reshape could carry over."""
        return np.zeros((0, 3)), np.zeros((0, 3))

    def output(self, state: State, frame: int) -> Vec:
        """No vertices, (0, 3)."""
        return np.zeros((0, 3))

    def longest(self, state: State) -> Vec:
        """No body's edges are told, which count as short."""
        return np.zeros(len(self.bodies))

    def poses(self, state: State) -> dict[str, Vec] | None:
        """None of rigid bodies."""
        return None

    def touched(self, state: State) -> Vec | None:
        """No surfaces that may touch."""
        return None

    def liveliness(self, state: State) -> Vec | None:
        """Nothing sleeps."""
        return None

    def forget_past(self) -> None:
        """Nothing depends on earlier steps but the State."""
        return

    def controller(self, tolerance: float, largest: int) -> Controller:
        """It tells no error, so its steps are as long as they may be."""
        return Controller(tolerance, 1, False, largest)

    def error(self, before: State, after: State, h: float) -> float:
        """Not known."""
        return 0.0

    def deformation(self, before: State, after: State) -> float:
        """Nothing that deforms."""
        return 0.0

    def refuse_haste(self, after: State, h: float) -> None:
        """How far a step may go is said by its error and by what deforms."""
        return
