"""What an integrator may ask of the world, and the ways to reach the end of a stage."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from ..assembly.linearised import Linearised
from ..contact.find.half_space import HalfSpace
from ..contact.laws.interface import Friction
from ..contact.laws.penalty import Penalty
from ..coordinates.free_nodes import FreeNodes
from ..errors import StepFailed
from ..linear.interface import NotPositiveDefinite
from ..nonlinear.coupled import SETTLE
from ..nonlinear.held import GivenDirections
from ..parts.interface import Condensation, Posed, Stage
from ..state import Index, State, Vec
from .friction import friction_impulses, remember

if TYPE_CHECKING:
    from ..assembly.tangent import Tangent


class System(Protocol):
    """The world at a step."""

    coordinates: FreeNodes
    condensation: Condensation
    mass: Vec  #: lumped [kg], (n,)
    ground: tuple[HalfSpace, Penalty] | None
    friction: Friction | None  #: of the ground

    def velocity(self, state: State) -> Vec:
        """Of all nodes, (n, 3) [m/s]."""

    def acceleration(self, state: State) -> Vec:
        """M⁻¹ f of all nodes, (n, 3) [m/s²]; of free nodes what they would do."""

    def touching(self, state: State) -> Index:
        """What no history of rates reaches across where it changes: nodes in contact, ascending; motors at work."""

    def linearise(self, state: State, time: float | None = None) -> Linearised:
        """Forces and stiffness K = ∂f/∂x at the state; its arrays are written anew by the next call.

        time: where damping D = ∂f/∂v is taken, ahead along the rates; a method of order 2 gives its stage's.
        """

    def evaluate(self, x: Vec, v: Vec, time: float) -> tuple[Vec, float]:
        """Forces [N], (n, 3), and the energy that they derive from [J], at positions and velocities (n, 3)."""

    def tangent(self, state: State, time: float) -> Tangent:
        """The true K at the state and D ahead at `time`, for products, and the acceleration with this D.

        Its `lin` lives as long as linearise's.
        """

    def reach(self, stage: Stage, start: State, held: GivenDirections | None = None) -> State:
        """The state at the end of a stage, which is solved to the stage solver's tolerance. Raises StepFailed.

        held: directions in which the velocities are given.
        """


class Integrator(Protocol):
    """A whole step."""

    order: int  #: of accuracy; a test measures it
    remembers: tuple[str, ...]  #: keys of the memory by which it goes on from earlier steps
    linear_euler: bool  #: (M − hD − βh²K) u = M u⁰ + h f and nothing besides: a world may have this step in one kernel

    def __init__(self, params: dict[str, float]) -> None: ...

    def step(self, system: System, state: State, h: float) -> State:
        """The state after h seconds. Raises StepFailed; the old state is still good."""


def stage_at(system: System, h: float, a: float, b: float, time: float, base: Vec, v_hat: Vec,
             foreseen: tuple[Vec, Vec] | None = None) -> Stage:
    """A stage whose prescribed nodes move as they do at its `time`; foreseen: where explicit forces are taken."""
    return Stage(h, a, b, time, base, v_hat, system.coordinates.prescribed_rate(time), foreseen=foreseen)


def pose(system: System, lin: Linearised, stage: Stage) -> Posed:
    """Factor the linearised stage. Raises StepFailed."""
    try:
        return system.condensation.pose(lin, stage)
    except NotPositiveDefinite as failure:
        raise StepFailed("the system matrix is not positive definite") from failure


def land(system: System, posed: Posed, stage: Stage, start: State, is_last: bool = True) -> State:
    """The state at the end of a linearised stage; only the last stage of a step is settled."""
    u = posed.solve()
    impulses = friction_impulses(system, posed, stage, u, start.memory)
    if impulses is not None:
        posed = posed.under(impulses)
        u = posed.solve()
    base = start.q if stage.base is None else stage.base
    q = system.coordinates.advance(base, u + posed.correction(u), stage.b * stage.h)
    if is_last:
        q = posed.settle(q, u, system.evaluate)
    return remember(State(stage.time, q, u, start.memory), stage, impulses)


def rub_at_the_end(system: System, lin: Linearised, stage: Stage, after: State) -> State:
    """The end of a stage that was solved without friction, where `lin` was taken, and with it, to first order.

    Raises StepFailed.
    """
    posed = pose(system, lin, stage)
    # contacts press as they do where the stage ended, wherever velocities alone would have brought what balances
    ended = replace(stage, base=after.q - stage.b * stage.h * after.u)
    impulses = friction_impulses(system, posed, ended, after.u, after.memory)
    if impulses is None:
        return remember(after, stage, None)
    change = posed.respond(impulses[system.coordinates.free].reshape(-1, 1))[:, 0]
    q, u = system.coordinates.advance(after.q, change, stage.b * stage.h), after.u + change
    # friction is among the loads that balance
    q = posed.under(impulses).settle(q, u, system.evaluate, SETTLE)
    return remember(State(after.time, q, u, after.memory), stage, impulses)
