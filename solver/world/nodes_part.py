"""Soft bodies as a part of a world: their initial state, damping between steps, and notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..integrators.interface import Integrator
from ..nonlinear.interface import StageSolver
from ..state import CarrierMotion, State, Vec
from .bodies import BodyInWorld
from .following import Followers
from .half_life_damping import HalfLifeDampers
from .interface import Part
from .sliding_damping import SlidingDampers
from .soft_system import SoftSystem
from .start_in_equilibrium import start_in_equilibrium


@dataclass(kw_only=True)
class NodesPart(SoftSystem, Part):
    """Part of soft bodies. In a coupling, the coupling's integrator steps them."""

    notes: list[str] = field(default_factory=list)  #: for the log; a step may add to them
    balanced: Sequence[BodyInWorld] = ()  #: bodies that start in equilibrium; others start in their rest shape
    losses: HalfLifeDampers | None = None  #: half-life damping between steps
    sliding: SlidingDampers | None = None  #: damping of sliding bodies between steps
    following: Followers | None = None  #: bodies that follow the motion of objects

    def with_integrator(self, integrator: Integrator, impact_solver: StageSolver | None) -> NodesPart:
        """Return this part itself, as its coupling has the integrator.

        integrator, impact_solver: not used here; see `Nodes.with_integrator`.
        """
        return self

    def initial_state(self, carrier_motion: CarrierMotion | None = None) -> State:
        """Return the state at the start frame, in the rest shape or in equilibrium.

        carrier_motion: of attached nodes. Raises Diverged where no equilibrium is found.
        """
        x = self.coordinates.positions(self.rest[self.coordinates.free].ravel(), 0.0, carrier_motion)
        if self.balanced:
            x = start_in_equilibrium(self, x, self.balanced, self.condensation.floating.groups, type(self.linear)())
        q = x[self.coordinates.free].ravel()
        sleep = self.condensation.sleep
        return State(0.0, q, np.zeros_like(q), {} if sleep is None else sleep.at_rest(), carrier_motion)

    def damp_start(self, state: State, h: float, external_force: Vec | None = None,
                   rates: Sequence[str] = ()) -> tuple[State, Vec | None]:
        """Return the state at the start of a step of h seconds after damping and following, and the external force.

        The damping is that of half-lives and of sliding. The external force on nodes, (n, 3) [N], has the reaction of
        half-life damping on attached nodes added; None for none. rates: keys of the memory with earlier rates of the
        integrator that takes the step.
        """
        if self._damping is not None:
            self._damping.begin(h, self.nodes_at_ground(state, h))
        if self.losses is not None:
            state, loss_force = self.losses.apply(self, state, h, rates)
            forces = [force for force in (external_force, loss_force) if force is not None]
            external_force = sum(forces[1:], forces[0]) if forces else None
        if self.sliding is not None:
            state = self.sliding.apply(self, state, h, rates)
        return self.following.apply(self, state, h, rates) if self.following else state, external_force

    def with_loss_memory(self, after: State, before: State, h: float) -> State:
        """Return the end of a step of h seconds with the memory of half-life damping. before: its start."""
        return after if self.losses is None else self.losses.with_touched(self, after, before.memory, h)

    def error_by(self, integrator: Integrator, before: State, after: State, h: float) -> float:
        """Return the largest error of a node in an integrator's step of h seconds, relative to the size of its body."""
        start, _ = self.damp_start(before, h, None, integrator.remembered_rates)
        wrong = np.linalg.norm(self.coordinates.spread(integrator.error(start, after, h), None), axis=1)
        return max(float(wrong[body.nodes].max()) / body.size for body in self.bodies_in_world)

    @property
    def summary(self) -> list[str]:
        """Return sentences about compliant pins."""
        return [sentence for pull in self.pulls for sentence in pull.summary]

    def note_remarks(self, after: State) -> None:
        """Add the remarks of the linear solver and of pins after a step to the notes, and clear them."""
        if self.pulls:
            x = self.coordinates.positions(after.q, after.time, after.carrier_motion)
            self.notes += filter(None, (pull.look(x, after.time) for pull in self.pulls))
        self.notes += self.linear.remarks
        self.linear.remarks.clear()

    def liveliness(self, state: State) -> Vec | None:
        """Return body index, strain-rate activity [1/s] and awake (1 or 0) of each dynamic node, (3, m).

        None where no body may sleep.
        """
        sleep = self.condensation.sleep
        if sleep is None:
            return None
        level, up = sleep.activity(state.memory)
        owner = np.searchsorted([body.nodes.stop for body in self.bodies_in_world], sleep.nodes, side="right")
        values: Vec = np.stack([owner.astype(float), level, up])
        return values

    def forget_past(self) -> None:
        """Discard cached data that depends on earlier steps and is not part of the State."""
        self.stage_solver.forget_past()
        self.stage_method.forget_past()
        self.condensation.forget_past()
