"""Protocols of the subsystems that a world steps: parts, with unknowns and the bodies that they move, and couplings of
parts.

The step of every part: it is begun, tried on posed stages, judged, and repeated where it is rejected.

A try is an integrator's step, which poses stages of the part, solves for rates and updates the state. Two parts differ:

- Mechanisms take the step of semi-implicit Euler and of leapfrog in one kernel where they have no constraints. It is
  the same step; posing it would cost more than solving it.
- EOL cloth has vertices that come and go *within* a step: it is remeshed on the obstacles' positions at that time, and
  the bound on its motion is known once its rows are solved. A stage has a û of fixed length, and its discretisation is
  constant while it is solved; so a try of such a cloth is a sequence of substeps, each remeshed, assembled, solved with
  its rows and advanced: A u = b + Gᵀ μ + Cᵀ λ like any stage with constraints, but none that an integrator could pose,
  combine with an earlier one or start from another base.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import Diverged, StepFailed
from ..integrators.control import Controller
from ..linear.interface import NotPositiveDefinite
from ..state import State, Vec

if TYPE_CHECKING:
    from ..embedding.sheets import SheetRecord


@dataclass(frozen=True)
class StepInputs:
    """Inputs of a subsystem's step beyond its state, which act from outside through all of its stages."""

    #: external forces on its parts, by their index in the subsystem: on all nodes, (n, 3) [N]; or on points of rigid
    #: bodies, (k, 7): body, position in its frame [m] and force in world [N]
    external_forces: Mapping[int, Vec] = field(default_factory=dict)
    #: rates by which drives exceed their targets in each try of a repeated step but the first, (k, m)
    drive_leads: Vec | None = None

    @property
    def drive_lead(self) -> Vec | None:
        """Return the rates by which drives exceed their targets in this try, (m,); None in the first."""
        return None if self.drive_leads is None else self.drive_leads[-1]


NO_INPUTS = StepInputs()


class Subsystem(ABC):
    """A part, or a coupling of parts, which a world steps. Steps are pure: they take a State and return a new one.

    An integrator is given to a subsystem when it is made, and to nothing else: a part in a coupling has none.
    """

    notes: list[str]  #: sentences for the user; a step may add to them

    @abstractmethod
    def initial_state(self) -> State:
        """Return the state at the start frame. Raises Diverged."""

    def merged(self, states: Sequence[State]) -> State:
        """Return one state of its parts', as an integrator steps it."""
        return states[0]

    def parted(self, state: State) -> list[State]:
        """Return the states of its parts, with attached nodes at their carriers."""
        return [state]

    def step(self, state: State, h: float, inputs: StepInputs = NO_INPUTS) -> State:
        """Return the state after h seconds. Raises StepFailed; the old state is still valid."""
        self.begin(state, h)
        repeated: StepInputs | None = inputs
        while repeated is not None:
            inputs = repeated
            try:
                after = self.attempt(state, h, inputs)
            except np.linalg.LinAlgError as failure:
                raise StepFailed("the step's system of equations is singular") from failure
            except NotPositiveDefinite as failure:
                raise StepFailed("the system matrix is not positive definite") from failure
            state, repeated = self.judge(state, after, h, inputs)
        return state

    def begin(self, state: State, h: float) -> None:
        """Evaluate what is constant through a step, before the first try."""
        return  # nothing by default

    @abstractmethod
    def attempt(self, state: State, h: float, inputs: StepInputs) -> State:
        """Return the state at the end of one try. Raises StepFailed, LinAlgError, NotPositiveDefinite."""

    def judge(self, before: State, after: State, h: float, inputs: StepInputs) -> tuple[State, StepInputs | None]:
        """Return the accepted state and None; or the state and the inputs to repeat the step with. Raises StepFailed.
        """
        return after, None

    def rescue(self, state: State, h: float, failure: StepFailed, inputs: StepInputs = NO_INPUTS) -> State:
        """Return the end of a step by a more robust method, after the shortest one failed. Raises the failure where
        there is none."""
        raise failure

    def forget_past(self) -> None:
        """Discard what depends on earlier steps and is not in the State."""
        return  # nothing by default

    # step size control

    def controller(self, tolerance: float, largest: int) -> Controller:
        """Return a controller of steps with errors below `tolerance`; largest: number of largest steps in a frame.
        Without an error estimate all steps are the largest."""
        return Controller(tolerance, 1, False, largest)

    def error(self, before: State, after: State, h: float) -> float:
        """Return the error of a step of h seconds, relative to a body's size."""
        return 0.0


class Part(ABC):
    """Nodes or joints, with their output and defaults for what a part does not have."""

    notes: list[str]  #: sentences for the user; a step may add to them

    @abstractmethod
    def initial_state(self) -> State:
        """Return the state at the start frame. Raises Diverged."""

    def forget_past(self) -> None:
        """Discard what depends on earlier steps and is not in the State."""
        return  # nothing by default

    @property
    @abstractmethod
    def unknowns(self) -> int:
        """Return the number of coordinates, which is that of rates."""

    @property
    @abstractmethod
    def backend(self) -> str:
        """Return the name of the linear solver."""

    @property
    def bodies(self) -> list[tuple[str, int, int]]:
        """Return (name, first vertex, number of vertices) of each body's output."""
        return []

    @property
    def fundamental_hertz(self) -> dict[str, float]:
        """Return the fundamental frequency of each body for which it is known [Hz], by name."""
        return {}

    @abstractmethod
    def owns(self, name: str) -> bool:
        """Whether a body of this name belongs to the part."""

    def check(self, state: State) -> None:
        """Check the memory of a state that was read from a file, as far as kernels would read past an array's end.
        Raises ValueError, LookupError or BadInput."""
        return  # nothing by default

    def blocked_by(self, state: State) -> str:
        """Return a remedy if no motion is possible at a state; "" otherwise."""
        return ""

    def explain(self, failure: StepFailed, state: State, frame: int) -> Diverged:
        """Return the error for the artist: which body, at which frame, and what helps."""
        return Diverged(f"the motion could not be solved: {failure}", "Lower the step; earlier frames are kept",
                        failure.object, frame)

    @property
    def summary(self) -> list[str]:
        """Return sentences about all steps so far, for the end of the log."""
        return []

    @property
    def mechanisms(self) -> list[dict[str, Any]]:
        """Return names of rigid bodies and joints, for the manifest."""
        return []

    # the output of a frame

    def output(self, state: State, frame: int) -> Vec:
        """Return vertices of all bodies in object space at this frame, (v, 3) [m]."""
        return np.zeros((0, 3))

    def longest(self, state: State) -> Vec:
        """Return the largest stretch of an edge of each of `bodies`, (b,); zero where it is not measured."""
        return np.zeros(len(self.bodies))

    def stress(self, state: State) -> Vec | None:
        """Return von Mises stress [Pa], largest stretch, pressure [Pa] and speed [m/s] at the vertices of its bodies,
        (v, 4); None where none shows them."""
        return None

    @property
    def sheet_names(self) -> list[str]:
        """Return names of its bodies whose topology changes from frame to frame: remeshed cloth."""
        return []

    def sheets(self, state: State, frame: int) -> dict[int, SheetRecord]:
        """Return the meshes of those at this frame, by their index among `bodies`."""
        return {}

    def poses(self, state: State) -> dict[str, Vec] | None:
        """Return poses of rigid bodies; None where there are none."""
        return None

    def contact_forces(self, state: State) -> Vec | None:
        """Return positions of contacts in world [m], forces on the first side, opposite to those on the second [N], and
        distances [m], (k, 7); None where contact is off."""
        return None

    def liveliness(self, state: State) -> Vec | None:
        """Return body, strain-rate activity [1/s] and awake (1 or 0) of each dynamic node, (3, m); None where none may
        sleep."""
        return None

    # what limits a step's size

    def deformation(self, before: State, after: State) -> float:
        """Return the largest relative change of an edge by a step's velocities."""
        return 0.0

    def most_deformed(self, before: State, after: State) -> tuple[float, str | None]:
        """Return the largest relative change of an edge by a step's displacement, and its body's name."""
        return 0.0, None

    def impact_change(self, before: State, after: State) -> tuple[float, str | None]:
        """Return how many times too large the steepest change of velocity by an impact is in a step, infinite where the
        impact has gained energy, and its body's name."""
        return 0.0, None

    def in_contact(self, state: State) -> bool:
        """Return whether surfaces push each other."""
        return False

    def check_step_size(self, after: State, h: float) -> None:
        """Raise StepFailed where a shorter step than h seconds is needed although this one was solved."""
        return  # by default error and deformation limit a step


class SteppedPart(Part, Subsystem):
    """A part that is stepped by itself, where it is in no coupling."""

    @property
    def parts(self) -> Sequence[Part]:
        """Return the part itself."""
        return [self]


class Coupling(Subsystem):
    """Parts that act on each other and are stepped together; the states that it merges are theirs, in their order.

    There are two: monolithic, where an integrator steps one system with the unknowns of both parts, and staggered,
    where parts step in turn under each other's reactions until these agree (the room `coupling`).
    """

    @property
    @abstractmethod
    def parts(self) -> Sequence[Part]:
        """Return the coupled parts."""

    def solved_with(self, part: Part) -> Sequence[Part]:
        """Return the parts that are unknowns of one system with this one, itself included."""
        return self.parts

    def replaced(self, part: Part, after: Part, couplings: Sequence[Coupling]) -> Sequence[Coupling]:
        """Return the couplings that take the place of this one where one of its parts was reshaped, by default those
        of the reshaped part, `couplings`."""
        return couplings
