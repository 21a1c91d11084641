"""Stages of soft bodies and of the joints that carry some of their nodes, as equations in the coordinates of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from ..assembly.damping import Damped
from ..coordinates.attached import Bodies
from ..forces.stencils import StencilForce
from ..parts.stage import Momentum, NodeStage, Stage
from ..state import CarrierMotion, State, Vec
from ..world.multipliers import Iterates
from ..world.nodes_part import NodesPart
from .coupled_stage import CoupledStage, RelinearisedStage
from .skeleton import Skeleton


class LastStage:
    """Record of the last factored stage, whose factor stages with an equal matrix may reuse."""

    def __init__(self) -> None:
        self._posed: CoupledStage | None = None
        self._factored = 0  #: number of factorizations when the stage was recorded

    def note(self, posed: CoupledStage, factored: int) -> None:
        """Record a stage. factored: number of factorizations of the linear solver, that of this stage included."""
        self._posed, self._factored = posed, factored

    def forget(self) -> None:
        """Discard the recorded stage."""
        self._posed = None

    def valid_for(self, stage: NodeStage, factored: int) -> CoupledStage | None:
        """Return the recorded stage if its factor is valid for `stage`: the matrix is equal and nothing was factored
        since; else None."""
        posed = self._posed
        return (posed if posed is not None and factored == self._factored and posed.stage.has_equal_weights(stage)
                else None)


class EquationsOfBoth:
    """Common part of the equations of a stage of soft bodies and joints: positions at coordinates, and contact of
    surfaces.

    Coordinates are those of the free nodes and then of the joints, q (m_q,), as are rates u, (m,).
    """

    def __init__(self, soft: NodesPart, skeleton: Skeleton, stages: tuple[NodeStage, Stage], states: Sequence[State],
                 damped: Damped | None) -> None:
        """stages, states: stages of the soft bodies and of the joints, and the states of both at the stage's start.
        damped: damping matrix through the whole stage; None for none."""
        self.soft, self.skeleton, self.damped = soft, skeleton, damped
        self.of_flesh, self.of_joints = stages
        self.flesh, self.joints = states
        self.coordinates, self._cut = soft.coordinates, soft.unknowns
        self.frictions: list[StencilForce] = []  #: of surfaces, with normal forces at one iterate
        #: positions of all nodes at the stage's start, free of intersections, (n, 3) [m]
        self.step_start: Vec = soft.coordinates.positions(self.flesh.q, self.flesh.time, self.flesh.carrier_motion)

    def at_coordinates(self, q: Vec, u: Vec) -> tuple[State, Bodies, CarrierMotion, Vec, Vec]:
        """Return the joints' state, their bodies, the motion of attached nodes, and positions [m] and velocities [m/s]
        of all nodes, (n, 3), at coordinates q and rates u of the stage's end. The velocities of attached nodes are not
        filled in."""
        cut, flesh, stage = self._cut, self.coordinates, self.of_flesh
        joints = State(stage.time, q[cut:], u[cut:], self.joints.memory)
        at = self.skeleton.bodies(joints)
        carrier_motion = flesh.attached.carrier_motion(at)
        x = flesh.positions(q[:cut], stage.time, carrier_motion)
        return joints, at, carrier_motion, x, flesh.spread(u[:cut], stage.w)

    @property
    def extent(self) -> float:
        """Return the extent of the largest body [m]."""
        return self.soft.extent

    @property
    def edge(self) -> float:
        """Return the mean edge length of the surfaces [m], the smallest of all contact laws."""
        return min(law.edge for law in self.soft.contacts)

    def positions_at(self, q: Vec) -> Vec:
        """Return positions of all nodes, (n, 3) [m], at coordinates q (m_q,) of the stage's end."""
        return self._positions(q[: self._cut], q[self._cut :])

    def _positions(self, q: Vec, of_joints: Vec) -> Vec:
        at = self.skeleton.bodies(State(self.of_flesh.time, of_joints, self.joints.u, self.joints.memory))
        return self.coordinates.positions(q, self.of_flesh.time, self.coordinates.attached.carrier_motion(at))

    @cached_property
    def _base(self) -> Vec:
        """Return positions of all nodes at the stage's end if all rates were zero, (n, 3) [m]."""
        flesh, joints = self.of_flesh.base, self.of_joints.base
        return self._positions(self.flesh.q if flesh is None else flesh, self.joints.q if joints is None else joints)

    def largest_step(self, start: Vec, end: Vec) -> float:
        """Return the fraction of a straight displacement between positions (n, 3) [m] that is free of contact, in
        [0, 1]."""
        return self.soft.largest_step(start, end)

    def update_friction(self, x: Vec) -> None:
        """Evaluate normal forces and normals of friction at positions x (n, 3) [m]; they apply until the next call."""
        seconds = self.of_flesh.b * self.of_flesh.h
        self.frictions = [one for law in self.soft.contacts
                           if (one := law.lag_friction(x, self._base, seconds)) is not None]

    def contact_forces(self, x: Vec) -> Vec:
        """Return midpoint [m], force [N] and distance [m] of each active pair at positions x (n, 3) [m], (k, 7)."""
        return self.soft.contact_forces_at(x)

    def body_of(self, node: int) -> str | None:
        """Return the name of the body that contains a node; None where the body has none."""
        return self.soft.body_of(node)


class CoupledEquations(EquationsOfBoth):
    """Equations of a stage of nodes with inertia and of joints."""

    def __init__(self, soft: NodesPart, skeleton: Skeleton, stages: tuple[NodeStage, Stage], states: Sequence[State],
                 damped: Damped | None, last: LastStage) -> None:
        """last: receives each stage that is factored. The other arguments are as in `EquationsOfBoth`."""
        super().__init__(soft, skeleton, stages, states, damped)
        self._last, self._iterates = last, Iterates(soft.links)
        #: predicted velocities of attached nodes where momentum is STRAIGHT, as that of bones, (a, 3) [m/s]
        self._attached_velocities: Vec | None = None
        if self.of_joints.momentum is Momentum.STRAIGHT:
            start = skeleton.bodies(self.joints)
            self._attached_velocities = soft.coordinates.attached.velocities(start.E, start.twist)

    def pose_at(self, q: Vec, u: Vec, project: bool = True) -> CoupledStage:
        """Linearise and factor the stage at coordinates q (m_q,) and rates u (m,) of its end. project: whether K is
        projected to negative semi-definite. Raises NotPositiveDefinite, StepFailed."""
        joints, at, _, x, v = self.at_coordinates(q, u)
        self._iterates.follow(x, self.of_flesh.time)
        lin = self.soft.linearise_at(x, v, self.of_flesh.time, project, self.frictions)
        lin = replace(lin, damped=self.damped, memory=self.flesh.memory)
        posed = CoupledStage(self.soft, self.skeleton, at, lin, self.of_flesh, joints, self.of_joints,
                             self._attached_velocities)
        self._last.note(posed, self.soft.linear.factored)
        return posed

    def on_last_factor(self, q: Vec, u: Vec) -> RelinearisedStage | None:
        """Return the stage linearised at coordinates q (m_q,) and rates u (m,) of its end on the last factor; None
        where that factor is not valid for it. Raises StepFailed."""
        posed = self._last.valid_for(self.of_flesh, self.soft.linear.factored)
        if posed is None:
            return None
        joints, at, v, force = self._forces(q, u)
        return posed.on_last_factor(at, v, force, self.of_flesh, joints, self.of_joints, self._attached_velocities)

    def slope_at(self, posed: CoupledStage, q: Vec, u: Vec) -> float:
        """Return the slope of the soft bodies' potential at coordinates q (m_q,) and rates u (m,), along the step that
        the stage `posed` found [J]."""
        return posed.slope(*self._forces(q, u)[1:])

    def _forces(self, q: Vec, u: Vec) -> tuple[State, Bodies, Vec, Vec]:
        """Return the joints' state, their bodies, and velocities [m/s] of all nodes and forces [N] on them, damping
        included, (n, 3), at coordinates and rates of the stage's end."""
        joints, at, carrier_motion, x, v = self.at_coordinates(q, u)
        force = self.soft.evaluate(x, self.of_flesh.time, self.frictions)[0]
        v[self.coordinates.attached.nodes] = carrier_motion.velocities
        return joints, at, v, force if self.damped is None else force + self.damped.force(v)
