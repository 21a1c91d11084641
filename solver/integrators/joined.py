"""Soft bodies and the joints that carry some of their nodes, in one linearly implicit step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, cast

import numpy as np

from ..assembly.linearised import Linearised
from ..condensation.interface import Compliance, Joined, Joining, Posed, Stage
from ..coordinates.attached import RidingNodes
from ..errors import StepFailed
from ..linear.interface import NotPositiveDefinite
from ..state import Index, State, Vec
from .interface import System
from .rub import remember, rub


@dataclass(frozen=True)
class Bodies:
    """Where rigid bodies are and how joints' rates move them, at one moment."""

    E: Vec  #: body to world, (n, 4, 4)
    twists: Vec  #: J, twists [ω; ν] in the bodies' own frames for each rate that moves attached nodes, (n, 6, c)
    twist: Vec  #: J u, (n, 6)
    drift: Vec  #: J̇ u, (n, 6)


class Bones(Protocol):
    """What a step asks of the rigid bodies that soft ones hang on."""

    def bodies(self, state: State) -> Bodies:
        """At the coordinates and rates of a state of the joints."""

    def step(self, state: State, h: float, joined: Joined) -> tuple[Vec, State]:
        """G and g of the soft bodies added to the joints' own equations: what came out, the rates that move attached
        nodes as the step found them, (c,), and the state after h seconds, maybe on other charts. Raises StepFailed."""

    def give(self) -> Vec:
        """What impulses on those rates change in them, soft bodies included, (c, c), as the last step found it."""


class JoinedSemiImplicit:
    """Semi-implicit Euler of both at once: [A_m + G] u = b_m + g, then v = C u + v₀. [ConJac MUSCLE]

    Attached nodes end where the bodies do, x = E(q) p. Left out of the matrix is what the joints' turning does to the
    pull of attached nodes, ∂J_aᵀ/∂q f_a: a term of order h², as is the difference of E(q + h u) p from x + h J_a u.
    """

    order = 1

    def step(self, soft: System, bones: Bones, state: State, joints: State, h: float) -> tuple[State, State]:
        """Both states after h seconds. Raises StepFailed; the old states are still good."""
        coordinates = soft.coordinates
        assert isinstance(coordinates, RidingNodes)
        before = bones.bodies(joints)
        place_on(coordinates, before)
        lin = soft.linearise(state)
        w = coordinates.prescribed_velocity(state.time, h)

        # v⁰ = J u⁰ − h J̇ u⁰: inertia keeps what attached nodes have less what their turning takes
        attached = coordinates.attached
        v_hat = lin.v.copy()
        v_hat[attached.nodes] -= h * attached.accelerations(before.E, before.twist, before.drift)
        stage = Stage(h, 1.0, 1.0, state.time + h, None, v_hat, w, soft.condensation.beta)
        carried = coordinates.carried(attached.columns(before.E, before.twists))
        joined = join(soft, lin, stage, carried)

        rates, after = bones.step(joints, h, joined)
        posed, stage = joined.moving(rates)
        u = posed.solve()
        impulses = rub(soft, cast(Posed, Together(posed, joined, bones, coordinates.free)), stage, u, state.memory)
        if impulses is not None:
            # bones feel what rubs on the flesh
            felt = joined.from_free(impulses[coordinates.free].ravel())
            rates, after = bones.step(joints, h, replace(joined, impulse=joined.impulse + felt))
            posed, stage = joined.moving(rates)
            posed = posed.under(impulses)
            u = posed.solve()

        place_on(coordinates, bones.bodies(after))
        q = coordinates.advance(state.q, u + posed.correction(u), h)
        q = posed.settle(q, u, soft.evaluate)
        return remember(State(stage.time, q, u, state.memory), stage, impulses), after


@dataclass(frozen=True)
class Together:
    """What friction asks of a stage: how nodes give way, with the bones that they hang on."""

    posed: Posed
    joined: Joined
    bones: Bones
    free: Index  #: the free nodes, ascending

    @property
    def lin(self) -> Linearised:
        return self.posed.lin

    def compliance(self, nodes: Index) -> Compliance:
        """As `Posed` says."""
        alone = self.posed.compliance(nodes)
        free = np.searchsorted(self.free, nodes)
        reach = self.joined.columns.reshape(-1, 3 * self.joined.columns.shape[1])[free]
        reach = reach.reshape(3 * len(nodes), -1)
        give = self.bones.give()

        def respond(impulses: Vec) -> Vec:
            carried: Vec = (reach @ (give @ (reach.T @ impulses.ravel()))).reshape(-1, 3)
            return alone(impulses) + carried

        return respond


def join(soft: System, lin: Linearised, stage: Stage, carried: Vec) -> Joined:
    """Factor the linearised stage with the joints that carry some nodes. Raises StepFailed."""
    try:
        joined = cast(Joining, soft.condensation).join(lin, stage, carried)
    except NotPositiveDefinite as failure:
        raise StepFailed("the system matrix is not positive definite") from failure
    if not (np.isfinite(joined.matrix).all() and np.isfinite(joined.impulse).all()):
        raise StepFailed("what it does to its bones is not a number")
    return joined


def place_on(coordinates: RidingNodes, bodies: Bodies) -> None:
    """Attached nodes go where the bodies are."""
    attached = coordinates.attached
    coordinates.ride(attached.positions(bodies.E), attached.velocities(bodies.E, bodies.twist))
