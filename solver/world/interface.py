"""Protocols of the subsystems that a world steps: parts, with their unknowns and bodies, and couplings of parts.

A step of a part is started, attempted on posed stages, judged, and repeated where it is rejected.

An attempt is an integrator's step, which poses stages of the part, solves for rates and updates the state. Exceptions:

- Mechanisms without constraints take the steps of semi-implicit Euler and of leapfrog in one kernel. The results are
  equal; posing such a step would cost more than solving it.
- EOL cloth is remeshed *within* a step, on the obstacles' positions at that time, and the bound on its motion is known
  once its rows are solved. A stage has a û of fixed length and a constant discretisation; so an attempt of such a cloth
  is a sequence of substeps, each remeshed, assembled, solved with its rows and advanced: A u = b + Gᵀ μ + Cᵀ λ like
  any stage with constraints, but no stage that an integrator could pose, combine with an earlier one or start from
  another base.
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
    """Inputs of a subsystem's step in addition to its state, constant through all of its stages."""

    #: external forces on its parts, by their index in the subsystem: on all nodes, (n, 3) [N]; or on points of rigid
    #: bodies, (k, 7): body, position in its frame [m] and force in world [N]
    external_forces: Mapping[int, Vec] = field(default_factory=dict)
    #: rates by which drives exceed their targets in each attempt of a repeated step after the first, (k, m)
    drive_leads: Vec | None = None

    @property
    def drive_lead(self) -> Vec | None:
        """Return the rates by which drives exceed their targets in this attempt, (m,); None in the first attempt."""
        return None if self.drive_leads is None else self.drive_leads[-1]


NO_INPUTS = StepInputs()


class Subsystem(ABC):
    """A part, or a coupling of parts, which a world steps. Steps are pure: each takes a State and returns a new State.

    Only subsystems have an integrator, from their construction; a part in a coupling has none.
    """

    notes: list[str]  #: sentences for the user; a step may add to them

    @abstractmethod
    def initial_state(self) -> State:
        """Return the state at the start frame. Raises Diverged."""

    def merge_states(self, states: Sequence[State]) -> State:
        """Return the joint state of its parts, which an integrator steps."""
        return states[0]

    def split_state(self, state: State) -> list[State]:
        """Return the state of each of its parts, with attached nodes moved by their carriers."""
        return [state]

    def step(self, state: State, h: float, inputs: StepInputs = NO_INPUTS) -> State:
        """Return the state after a step of h seconds. Raises StepFailed; the old state remains valid."""
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
        """Prepare for a step of h seconds: evaluate quantities that are constant in it, before the first attempt."""
        return  # nothing by default

    @abstractmethod
    def attempt(self, state: State, h: float, inputs: StepInputs) -> State:
        """Return the state after one attempt of a step of h seconds.

        Raises StepFailed, and LinAlgError or NotPositiveDefinite where a matrix cannot be factored.
        """

    def judge(self, before: State, after: State, h: float, inputs: StepInputs) -> tuple[State, StepInputs | None]:
        """Return the accepted state and None, or the state and the inputs with which the step is repeated.

        before, after: states at both ends of an attempt of h seconds. Raises StepFailed.
        """
        return after, None

    def rescue(self, state: State, h: float, failure: StepFailed, inputs: StepInputs = NO_INPUTS) -> State:
        """Return the state after a step of h seconds by a more robust method, after the shortest step failed.

        failure: of the shortest step, raised again where there is no such method. Raises StepFailed.
        """
        raise failure

    def forget_past(self) -> None:
        """Discard cached data that depends on earlier steps and is not part of the State."""
        return  # nothing by default

    # step size control

    def controller(self, tolerance: float, largest: int) -> Controller:
        """Return a controller of the step size for errors below a tolerance, relative to a body's size.

        largest: number of steps in a frame if all are of the largest size. Without an error estimate all steps are.
        """
        return Controller(tolerance, 1, False, largest)

    def error(self, before: State, after: State, h: float) -> float:
        """Return the estimated error of a step of h seconds, relative to a body's size."""
        return 0.0


class Part(ABC):
    """Part of a world: nodes or joints, with their output. Methods for features that a part lacks have defaults."""

    notes: list[str]  #: sentences for the user; a step may add to them

    @abstractmethod
    def initial_state(self) -> State:
        """Return the state at the start frame. Raises Diverged."""

    def forget_past(self) -> None:
        """Discard cached data that depends on earlier steps and is not part of the State."""
        return  # nothing by default

    @property
    @abstractmethod
    def unknowns(self) -> int:
        """Return the number of coordinates, which equals the number of rates."""

    @property
    @abstractmethod
    def backend(self) -> str:
        """Return the name of the linear solver."""

    @property
    def bodies(self) -> list[tuple[str, int, int]]:
        """Return the name, first vertex and number of vertices of each body's output."""
        return []

    @property
    def fundamental_hertz(self) -> dict[str, float]:
        """Return the fundamental frequency of each body for which it is known [Hz], by name."""
        return {}

    @abstractmethod
    def owns(self, name: str) -> bool:
        """Return whether a body of this name belongs to the part."""

    def check(self, state: State) -> None:
        """Check the memory of a state that was read from a file, so that no kernel reads past the end of an array.

        Raises ValueError, LookupError or BadInput where it does not fit the part.
        """
        return  # nothing by default

    def suggest_remedy(self, state: State) -> str:
        """Return a remedy for the artist if no motion is possible at a state; "" otherwise."""
        return ""

    def explain(self, failure: StepFailed, state: State, frame: int) -> Diverged:
        """Return the error for the artist, with the body, the frame and a remedy."""
        return Diverged(f"the motion could not be solved: {failure}", "Lower the step; earlier frames are kept",
                        failure.object, frame)

    @property
    def summary(self) -> list[str]:
        """Return sentences about all steps up to now, for the end of the log."""
        return []

    @property
    def mechanisms(self) -> list[dict[str, Any]]:
        """Return the manifest's entries of mechanisms: names of rigid bodies and joints."""
        return []

    # the output of a frame

    def output(self, state: State, frame: int) -> Vec:
        """Return the vertices of all bodies in object space at a frame, (v, 3) [m]."""
        return np.zeros((0, 3))

    def longest(self, state: State) -> Vec:
        """Return the largest length of an edge of each of `bodies`, relative to rest, (b,); 0 where not measured."""
        return np.zeros(len(self.bodies))

    def stress(self, state: State) -> Vec | None:
        """Return von Mises stress [Pa], largest stretch, pressure [Pa] and speed [m/s] at the vertices of its bodies,
        (v, 4); None where no body shows them."""
        return None

    @property
    def sheet_names(self) -> list[str]:
        """Return the names of its bodies whose topology changes between frames: remeshed cloth."""
        return []

    def sheets(self, state: State, frame: int) -> dict[int, SheetRecord]:
        """Return the meshes of remeshed cloth at a frame, by the index of the body in `bodies`."""
        return {}

    def poses(self, state: State) -> dict[str, Vec] | None:
        """Return the arrays of `JointsPart.poses` for rigid bodies; None where there are none."""
        return None

    def contact_forces(self, state: State) -> Vec | None:
        """Return position in world [m], force on the first side [N] and distance [m] of each contact, (k, 7).

        The force on the second side is opposite. None where contact is off.
        """
        return None

    def liveliness(self, state: State) -> Vec | None:
        """Return body index, strain-rate activity [1/s] and awake (1 or 0) of each dynamic node, (3, m).

        None where no body may sleep.
        """
        return None

    # limits of the step size

    def deformation(self, before: State, after: State) -> float:
        """Return the largest relative change of an edge in a step, by velocities."""
        return 0.0

    def most_deformed(self, before: State, after: State) -> tuple[float, str | None]:
        """Return the largest relative change of an edge in a step, by displacement, and the name of its body."""
        return 0.0, None

    def impact_change(self, before: State, after: State) -> tuple[float, str | None]:
        """Return the largest change of velocity by an impact in a step, and the name of its body.

        The change is relative to the admissible one, and infinite where the impact gains energy.
        """
        return 0.0, None

    def in_contact(self, state: State) -> bool:
        """Return whether surfaces are in contact at a state."""
        return False

    def check_step_size(self, after: State, h: float) -> None:
        """Raise StepFailed where a step of h seconds was solved but is too long. after: its end."""
        return  # by default error and deformation limit a step


class SteppedPart(Part, Subsystem):
    """Part that is stepped alone, where it is in no coupling."""

    @property
    def parts(self) -> Sequence[Part]:
        """Return the part itself."""
        return [self]


class Coupling(Subsystem):
    """Parts that act on each other and are stepped together. It merges the states of its parts, in their order.

    There are two kinds: monolithic, where an integrator steps one system with the unknowns of both parts, and
    staggered, where parts step in turn under each other's reactions until these agree (the room `coupling`).
    """

    @property
    @abstractmethod
    def parts(self) -> Sequence[Part]:
        """Return the coupled parts."""

    @property
    def histories(self) -> tuple[str, ...]:
        """Return the keys of an integrator's memory with earlier coordinates and rates of all parts, none by default.
        They do not fit other parts."""
        return ()

    def find_parts_solved_with(self, part: Part) -> Sequence[Part]:
        """Return the parts whose unknowns are in one system with those of a part, which is included."""
        return self.parts

    def replace_part(self, part: Part, after: Part, couplings: Sequence[Coupling]) -> Sequence[Coupling]:
        """Return the couplings that replace this coupling after one of its parts was reshaped.

        part, after: the part before and after the change. couplings: of the reshaped part, returned by default.
        """
        return couplings
