"""What a world asks of what is solved at once: of a part, which has unknowns and the bodies that they move, and of a
ride.

The one step of every part: begun, tried on posed stages, judged, and tried anew where it is not taken.

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

from ..errors import Diverged, StepFailed
from ..integrators.control import Controller
from ..linear.interface import NotPositiveDefinite
from ..state import State, Vec

if TYPE_CHECKING:
    from ..embedding.sheets import SheetTold


class SolvedAtOnce(ABC):
    """What is solved at once: a part, or two of which one rides on the other. Steps are pure: they take a State and
    return a new one. It says what a try is, and, where it is two parts, how their states are one."""

    notes: list[str]  #: sentences for the user; a step may add to them

    @abstractmethod
    def initial_state(self) -> State:
        """At the start frame. Raises Diverged."""

    def merged(self, states: Sequence[State]) -> State:
        """One state of its parts', as an integrator steps it."""
        return states[0]

    def parted(self, state: State) -> list[State]:
        """Those of the parts again, nodes that ride where what carries them is."""
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

    def forget_past(self) -> None:
        """Drop what depends on earlier steps and is not in the State."""
        return  # most keep nothing


class Part(SolvedAtOnce):
    """Nodes, or joints: with what one says that has nothing to say. Who has more says that."""

    @property
    @abstractmethod
    def unknowns(self) -> int:
        """How many coordinates it has, and as many rates."""

    @property
    @abstractmethod
    def backend(self) -> str:
        """What solves its linear systems."""

    @property
    def bodies(self) -> list[tuple[str, int, int]]:
        """(name, first vertex, number of vertices) of each body's output."""
        return []

    @property
    def wobbles(self) -> dict[str, float]:
        """The frequency of the slowest wobble of each body that it is known of [Hz], by name."""
        return {}

    @abstractmethod
    def owns(self, name: str) -> bool:
        """Whether a body of this name is among what it moves."""

    def check(self, state: State) -> None:
        """Check what it remembers of a state that was read from a file, as far as kernels would read past an array's
        end. Raises ValueError, LookupError or BadInput; nothing where numpy notices by itself."""

    def hindered(self, state: State) -> str:
        """What stands in the way of any motion at a state, as a remedy; "" where nothing does."""
        return ""

    def explain(self, failure: StepFailed, state: State, frame: int) -> Diverged:
        """The error for the artist: which body, at which frame, and what helps."""
        return Diverged(f"the motion could not be solved: {failure}", "Lower the step; earlier frames are kept",
                        failure.object, frame)

    @property
    def summary(self) -> list[str]:
        """Sentences about all steps so far, for the log's end."""
        return []

    @property
    def mechanisms(self) -> list[dict[str, Any]]:
        """Names of rigid bodies and joints, for the manifest."""
        return []

    # what a frame shows

    def output(self, state: State, frame: int) -> Vec:
        """Vertices of all bodies in object space at this frame, (v, 3) [m]."""
        return np.zeros((0, 3))

    def longest(self, state: State) -> Vec:
        """The longest edge of each of `bodies` over its length at rest, (b,); zero where none is told."""
        return np.zeros(len(self.bodies))

    @property
    def sheet_names(self) -> list[str]:
        """Names of its bodies whose frames have faces of their own: cloth that is remeshed."""
        return []

    def sheets(self, state: State, frame: int) -> dict[int, SheetTold]:
        """The meshes of those at this frame, by their number among `bodies`."""
        return {}

    def poses(self, state: State) -> dict[str, Vec] | None:
        """Of rigid bodies; None where there are none."""
        return None

    def touched(self, state: State) -> Vec | None:
        """What pushes of surfaces that touch: places in world [m], forces on one side, which the other feels the other
        way [N], and how near they are [m], (k, 7); None where nothing may touch."""
        return None

    def liveliness(self, state: State) -> Vec | None:
        """Body, liveliness [1/s] and awake (1 or 0) of each dynamic node, (3, m); None where none may sleep."""
        return None

    # how long steps may be

    def controller(self, tolerance: float, largest: int) -> Controller:
        """Chooses steps of which none errs by more than `tolerance`; largest: number of largest steps in a frame. Who
        tells no error has steps as long as they may be."""
        return Controller(tolerance, 1, False, largest)

    def error(self, before: State, after: State, h: float) -> float:
        """What a step of h seconds got wrong, as a share of a body's size."""
        return 0.0

    def deformation(self, before: State, after: State) -> tuple[float, float]:
        """What a step's velocities change the worst edge by, as a share of its length, and what most edges of what
        touches something by at most: as much where nothing does."""
        return 0.0, 0.0

    def refuse_haste(self, after: State, h: float) -> None:
        """Raises StepFailed where a shorter step than h seconds is needed, though this one could be solved."""
        return  # most say by their error and by what deforms how far a step may go


class Ride(SolvedAtOnce):
    """Two parts of which one rides on the other; their states stand in this order.

    A part is in one ride at most, since no layout can say more: all mechanisms of a scene are one tree, and all that
    hangs on it or touches it is one part of nodes, condensed body by body. What hangs on flesh pulls at it by forces.
    """

    @property
    @abstractmethod
    def rider(self) -> Part:
        """Whose nodes ride."""

    @property
    @abstractmethod
    def carrier(self) -> Part:
        """What moves them."""
