"""What a world asks of a part: unknowns that are solved at once, and the bodies that they move."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from ..errors import Diverged, StepFailed
from ..integrators.control import Controller
from ..state import State, Vec

if TYPE_CHECKING:
    from ..embedding.sheets import SheetTold


class Solved(Protocol):
    """What is solved at once: a part, or two of which one rides on the other. Steps are pure: they take a State and
    return a new one.

    How a step goes is `Stepping`'s: it is one of those.
    """

    @property
    def notes(self) -> list[str]:
        """Sentences for the user; a step may add to them."""

    def initial_state(self) -> State:
        """At the start frame. Raises Diverged."""

    def joined(self, states: Sequence[State]) -> State:
        """One state of its parts', as an integrator steps it."""

    def parted(self, state: State) -> list[State]:
        """Those of the parts again, nodes that ride where what carries them is."""

    def step(self, state: State, h: float) -> State:
        """The state after h seconds. Raises StepFailed; the old state is still good."""

    def rescue(self, state: State, h: float, failure: StepFailed) -> State:
        """The same in a way that asks less, after the shortest step failed. Raises StepFailed where there is none."""

    def forget_past(self) -> None:
        """Drop what depends on earlier steps and is not in the State."""


class Part(Solved, Protocol):
    """Nodes, or joints."""

    @property
    def unknowns(self) -> int:
        """How many coordinates it has, and as many rates."""

    @property
    def bodies(self) -> list[tuple[str, int, int]]:
        """(name, first vertex, number of vertices) of each body's output."""

    @property
    def summary(self) -> list[str]:
        """Sentences about all steps so far, for the log's end."""

    @property
    def backend(self) -> str:
        """What solves its linear systems."""

    @property
    def mechanisms(self) -> list[dict[str, Any]]:
        """Names of rigid bodies and joints, for the manifest."""

    def owns(self, name: str) -> bool:
        """Whether a body of this name is among what it moves."""

    def nodes_at(self, state: State) -> tuple[Vec, Vec]:
        """Positions [m] and velocities [m/s] of its nodes, (n, 3): what a reshape carries over to others."""

    def output(self, state: State, frame: int) -> Vec:
        """Vertices of all bodies in object space at this frame, (v, 3) [m]."""

    def liveliness(self, state: State) -> Vec | None:
        """Body, liveliness [1/s] and awake (1 or 0) of each dynamic node, (3, m); None where none may sleep."""

    def longest(self, state: State) -> Vec:
        """The longest edge of each of `bodies` over its length at rest, (b,)."""

    @property
    def sheet_names(self) -> list[str]:
        """Names of its bodies whose frames have faces of their own: cloth that is remeshed."""

    def sheets(self, state: State, frame: int) -> dict[int, SheetTold]:
        """The meshes of those at this frame, by their number among `bodies`."""

    def poses(self, state: State) -> dict[str, Vec] | None:
        """Of rigid bodies; None where there are none."""

    def touched(self, state: State) -> Vec | None:
        """What pushes of surfaces that touch: places in world [m], forces on one side, which the other feels the other
        way [N], and how near they are [m], (k, 7); None where nothing may touch."""

    def controller(self, tolerance: float, largest: int) -> Controller:
        """Chooses steps of which none errs by more than `tolerance`; largest: number of largest steps in a frame."""

    def error(self, before: State, after: State, h: float) -> float:
        """What a step of h seconds got wrong, as a share of a body's size."""

    def deformation(self, before: State, after: State) -> float:
        """What a step's velocities change an edge by at most, as a share of its length."""

    def refuse_haste(self, after: State, h: float) -> None:
        """Raises StepFailed where a shorter step than h seconds is needed, though this one could be solved."""

    def explain(self, failure: StepFailed, state: State, frame: int) -> Diverged:
        """The error for the artist: which body, at which frame, and what helps."""


class Ride(Solved, Protocol):
    """Two parts of which one rides on the other; their states stand in this order."""

    @property
    def rider(self) -> Part:
        """Whose nodes ride."""

    @property
    def carrier(self) -> Part:
        """What moves them."""
