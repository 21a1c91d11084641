"""Soft bodies and the joints that carry some of their nodes, in one linearly implicit step."""

from __future__ import annotations

from typing import Protocol, cast

from ..coordinates.attached import Bodies, RidingNodes
from ..errors import StepFailed
from ..linear.interface import NotPositiveDefinite
from ..parts.interface import Posed, Stage
from ..parts.together import Bones, Together
from ..state import State, Vec
from .friction import friction_impulses, remember
from .interface import System


class MovedBones(Bones, Protocol):
    """What a whole step asks of them besides."""

    def earlier(self, state: State, h: float) -> Bodies:
        """Where their momentum flies on from in a step of h seconds, with the velocities that it has there."""

    def advance(self, state: State, u: Vec, h: float) -> State:
        """The state after h seconds at these rates, (m,), maybe on other charts. Raises StepFailed."""


class JoinedSemiImplicit:
    """Semi-implicit Euler of both at once. Attached nodes end where the bodies do, x = E(q) p. [ConJac MUSCLE]"""

    order = 1

    def step(self, soft: System, bones: MovedBones, state: State, joints: State, h: float) -> tuple[State, State]:
        """Both states after h seconds. Raises StepFailed; the old states are still good."""
        coordinates = cast(RidingNodes, soft.coordinates)
        # in a linearised step bones keep the momentum of where the last one was solved, and so does what they carry
        earlier = bones.earlier(joints, h)
        kept = coordinates.attached.velocities(earlier.E, earlier.twist)
        at = bones.bodies(joints)
        coordinates.ride_on(at)
        lin = soft.linearise(state)
        w = coordinates.prescribed_velocity(state.time, h)
        stage = Stage(h, 1.0, 1.0, state.time + h, None, lin.v, w, soft.condensation.beta)
        of_joints = Stage(h, 1.0, 1.0, state.time + h, None, joints.u, None, soft.condensation.beta)
        try:
            together = Together(soft, bones, at, lin, stage, joints, of_joints, kept)
        except NotPositiveDefinite as failure:
            raise StepFailed("the system matrix is not positive definite") from failure

        cut, rates = len(state.u), together.solve()
        impulses = friction_impulses(soft, cast(Posed, together), together.stage, rates[:cut], state.memory)
        if impulses is not None:
            together = together.under(impulses)
            rates = together.solve()

        u, after = rates[:cut], bones.advance(joints, rates[cut:], h)
        coordinates.ride_on(bones.bodies(after))
        q = coordinates.advance(state.q, u + together.posed.correction(u), h)
        q = together.posed.settle(q, u, soft.evaluate)
        return remember(State(stage.time, q, u, state.memory), stage, impulses), after
