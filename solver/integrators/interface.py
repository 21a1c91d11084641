"""Protocol between integrators and the world, in coordinates q and their rates u."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Protocol, TypeVar

from ..parts.interface import Posed
from ..parts.stage import Momentum, Stage
from ..rows.eliminated import EliminatedRows
from ..state import Index, State, Vec

if TYPE_CHECKING:
    from ..assembly.tangent import Tangent


P = TypeVar("P", bound=Posed)  #: what a system poses


class System(Protocol[P]):
    """The world during a step, independent of its parts, with the defaults of most systems."""

    @property
    def beta(self) -> float:
        """Return β on K alone, for stages of semi-implicit Euler. [ConJac 10]"""

    def acceleration(self, state: State) -> Vec:
        """u̇ = M⁻¹ f, (m,)."""

    def touching(self, state: State) -> Index:
        """Names of what touches and of what is at work: where they change, no history of rates is a guide."""

    def contact_persists(self, state: State, before: Index, h: float) -> bool:
        """Whether what began or ceased to touch since the names `before` did so gently, so that a history of rates from
        a step of h seconds is a guide still."""
        return False

    def pose(self, at: State, stage: Stage, time: float | None = None) -> P:
        """Return the stage linearised at a state and factored. Raises StepFailed.

        time: where damping D = ∂f/∂v is evaluated, extrapolated along the rates; a method of order 2 passes its
        stage's.
        """

    def finish_linear_stage(self, posed: P, stage: Stage, start: State, is_last: bool = True) -> State:
        """The state at the end of a linearised stage, friction included; only the last stage of a step is settled."""

    def solve_stage(self, stage: Stage, start: State,
                    prescribed_directions: EliminatedRows | None = None) -> State:
        """Return the state at the end of a stage, solved to the stage solver's tolerance. Raises StepFailed.

        prescribed_directions: directions in which the rates are prescribed.
        """

    def impact(self, stage: Stage, start: State) -> State | None:
        """The state at the end of a linearised stage in which something is hit that a linear solve would be thrown by,
        solved; None where it is linearised, as with joints, which impulses hold. Raises StepFailed."""
        return None

    def modal_step(self, state: State, h: float) -> State | None:
        """Return the state after a step of h seconds in which condensed velocities oscillate by the modes of their own
        unknowns, spin conserved; None where nothing is condensed, or something touches. Raises StepFailed.

        Jointed bodies rotate, and modes do not describe a rotation.
        """
        return None

    def keep_spin(self, before: State, after: State, h: float, posed: P) -> State:
        """The end of a linearised step with the angular momentum that what flies freely had before it.

        Rigid bodies carry theirs on as it is.
        """
        return after

    def tangent(self, state: State, time: float) -> Tangent:
        """Return the true K at the state and D predicted at `time`, for products, and the acceleration with this D.

        Lives until the next stage is posed. Nodes alone have one, and only where each is an unknown: exponentials of
        joints or of quasistatic nodes are not those of a matrix, and the loader refuses them there.
        """
        raise TypeError("what joints move has no matrix whose exponential is its motion")


class Integrator(Protocol):
    """A whole step, with the defaults of most integrators."""

    order: int  #: of accuracy; a test measures it
    remembers: tuple[str, ...] = ()  #: keys of the memory by which it goes on from earlier steps
    remembered_rates: tuple[str, ...] = ()  #: of those the keys of earlier rates, which fade as the last ones do
    momentum: Momentum = Momentum.PROJECTED  #: how jointed bodies bring theirs to its stages
    equal_steps: bool = False  #: whether a step as long as the last one is worth more than one of the best length
    #: (M − hD − βh²K) u = M u⁰ + h f and nothing else: a world may have this step in one kernel
    linear_euler: bool = False
    turns_freely: bool = False  #: whether its linearised stages have a stiffness that does not brake what turns

    def __init__(self, params: dict[str, float]) -> None:
        """params: those of its entry in the catalogue; most have none."""
        return

    @abstractmethod
    def step(self, system: System[P], state: State, h: float) -> State:
        """Return the state after h seconds. Raises StepFailed; `state` stays as it is."""

    def error(self, before: State, after: State, h: float) -> Vec:
        """Return the error of a step of h seconds in the positions of the free nodes, (3 f,) [m]."""
        raise TypeError("this integrator does not estimate its error; the loader refuses an accuracy for it")
