"""Protocol between integrators and the world, in coordinates q and their rates u."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Protocol, TypeVar

from ..parts.interface import StageOnFactor
from ..parts.stage import Momentum, Stage
from ..rows.eliminated import EliminatedRows
from ..state import Index, State, Vec

if TYPE_CHECKING:
    from ..assembly.tangent import Tangent


P = TypeVar("P", bound=StageOnFactor)  #: type of a system's posed stages


class System(Protocol[P]):
    """The world during a step as integrators use it, independent of its parts, with the defaults of most systems."""

    @property
    def beta(self) -> float:
        """Return the factor β on K, and on K alone, for stages of semi-implicit Euler. [ConJac 10]"""

    def acceleration(self, state: State) -> Vec:
        """Return the accelerations u̇ = M⁻¹ f at a state, (m,) [m/s², rad/s²]."""

    def touching(self, state: State) -> Index:
        """Return the numbers of all nodes in contact and of all active motors and drives at a state, (k,): where these
        change, earlier rates do not predict the next ones."""

    def contact_persists(self, state: State, before: Index, h: float) -> bool:
        """Whether contacts that began or ended since those of `before`, (k,), did so gently, so that rates from a step
        of h seconds still predict the next ones; False by default."""
        return False

    def pose(self, at: State, stage: Stage, time: float | None = None) -> P:
        """Return the stage linearised at a state and factored. Raises StepFailed.

        time: at which damping D = ∂f/∂v is evaluated, extrapolated along the rates [s]; a method of order 2 passes its
        stage's.
        """

    def finish_linear_stage(self, posed: P, stage: Stage, start: State, is_last: bool = True) -> State:
        """Return the state at the end of a linearised stage, friction included. is_last: whether the step ends there,
        where quasistatic nodes are relaxed. Raises StepFailed."""

    def solve_stage(self, stage: Stage, start: State,
                    prescribed_directions: EliminatedRows | None = None) -> State:
        """Return the state at the end of a stage, solved to the stage solver's tolerance. Raises StepFailed where it
        does not converge.

        prescribed_directions: directions in which the rates are prescribed.
        """

    def impact(self, stage: Stage, start: State) -> State | None:
        """Return the state at the end of a stage with an impact for which a linear solve is far too inaccurate, solved
        to convergence; None where the stage is linearised, as with joints, whose impacts are impulses. Raises
        StepFailed."""
        return None

    def modal_step(self, state: State, h: float) -> State | None:
        """Return the state after a step of h seconds in which condensed velocities oscillate by the modes of their own
        unknowns, with their angular momentum conserved; None where nothing is condensed, or where anything is in
        contact. Raises StepFailed.

        Jointed bodies rotate, and modes do not describe a rotation.
        """
        return None

    def keep_spin(self, before: State, after: State, h: float, posed: P) -> State:
        """Return the state at the end of a linearised step of h seconds with the angular momentum that free bodies had
        before it.

        By default, as for rigid bodies, `after` is returned unchanged.
        """
        return after

    def tangent(self, state: State, time: float) -> Tangent:
        """Return the true K at the state and D predicted at `time` [s], for products, and the acceleration with this D.

        The result is valid until the next stage is posed. Only systems of nodes have one, and only where each node is
        an unknown: exponentials of joints or of quasistatic nodes are not those of a matrix, and the loader refuses
        them. Raises TypeError by default.
        """
        raise TypeError("what joints move has no matrix whose exponential is its motion")


class Integrator(Protocol):
    """A time integrator, which takes whole steps, with the defaults of most integrators."""

    order: int  #: order of accuracy; a test measures it
    remembers: tuple[str, ...] = ()  #: keys of the memory that its next step reads
    remembered_rates: tuple[str, ...] = ()  #: keys of earlier rates among these, damped like the last rates
    #: pairs of keys among these, of coordinates and rates at an earlier time, both as long as q: joints transform them
    #: to new charts, and a coupling joins those of its parts
    remembered_motion: tuple[tuple[str, str], ...] = ()
    momentum: Momentum = Momentum.PROJECTED  #: how the momentum of jointed bodies enters its stages
    equal_steps: bool = False  #: whether steps as long as the last one are preferred to steps of the best length
    #: (M − hD − βh²K) u = M u⁰ + h f and nothing else: a world may have this step in one kernel
    linear_euler: bool = False
    turns_freely: bool = False  #: whether the stiffness of its linearised stages does not damp rotation

    def __init__(self, params: dict[str, float]) -> None:
        """params: those of the integrator's entry in the catalogue; most have none."""
        return

    @abstractmethod
    def step(self, system: System[P], state: State, h: float) -> State:
        """Return the state after a step of h seconds. Raises StepFailed; `state` stays as it is."""

    def error(self, before: State, after: State, h: float) -> Vec:
        """Return the estimated error of a step of h seconds in the positions of the free nodes, (3 f,) [m]. Raises
        TypeError in methods without an estimate."""
        raise TypeError("this integrator does not estimate its error; the loader refuses an accuracy for it")
