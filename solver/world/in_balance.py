"""How a stage comes to its root whose unknowns are the velocities that others follow in balance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

import numpy as np

from ..assembly.damping import Damped
from ..assembly.linearised import Linearised
from ..assembly.products import Products
from ..contact.laws.static_friction import StaticFriction, with_anchors
from ..errors import StepFailed
from ..integrators.spin import keep_spin
from ..linear.interface import NotPositiveDefinite
from ..nonlinear.fallback_euler import StageNotConverged
from ..nonlinear.fixed_point_stage import FixedPointStage
from ..nonlinear.ground_newton import GroundImpactEuler
from ..nonlinear.interface import StageSolver
from ..nonlinear.iterations import Coupled
from ..nonlinear.modal_step import ModalStep
from ..nonlinear.momentum import with_exact_momentum
from ..nonlinear.newton import NewtonDirect
from ..nonlinear.prescribed_directions import PrescribedDirections
from ..nonlinear.quasistatic_problem import QuasistaticProblem
from ..parts.interface import Balancing, Condensation, FixedPointSweeps, PosedNodes
from ..parts.nodes.full import Full
from ..parts.stage import NodeStage
from ..state import Mask, State, Vec
from . import in_contact
from .in_flight import ASTRAY, flown, flying_at
from .root import Root
from .soft_bodies import SoftBodies


class InBalance(Root):
    """By iterations on a factor each. None swings: each body would need modes of its own; and none leaves a factor for
    its end, since what velocities follow is another matrix than that of an energy of positions."""

    def __init__(self, soft: SoftBodies, condensation: Condensation) -> None:
        self._soft, self._condensation = soft, condensation
        # velocities follow dynamic nodes as if nothing touched, which a single solve takes for a kick; who may sleep is
        # linearised all the same
        self.of_hits = GroundImpactEuler() if condensation.solves_hits and condensation.sleep is None else None

    def solve_stage(self, solver: StageSolver, stage: NodeStage, start: State, damped: Damped | None,
                    held: PrescribedDirections | None = None) -> State:
        """The quasistatic nodes balance there. held: there is none where velocities are condensed."""
        coordinates, taken = self._soft.coordinates, self._linearised(stage, start, damped)

        def pose_at(q: Vec, u: Vec, project: bool) -> PosedNodes:
            lin = taken(coordinates.place(q, stage.time), coordinates.spread(u, stage.w), project)
            return self._condensation.pose(lin, stage)

        return Coupled(pose_at, self._soft.evaluate, stage, start, solver.limits, self._soft.extent).solve_stage()

    def _linearised(self, stage: NodeStage, start: State,
                    damped: Damped | None) -> Callable[[Vec, Vec, bool], Linearised]:
        """Where nodes stand and how fast, (n, 3), with K negative semi-definite if so asked."""
        soft = self._soft

        def taken(x: Vec, v: Vec, project: bool) -> Linearised:
            lin = soft.linearise_at(x, v, stage.time, project)
            untouched = soft.untouched(stage.time) if stage.inertia and len(lin.contacts) else None
            return replace(lin, damped=damped, memory=start.memory, untouched=untouched)

        return taken


class AtOnce(InBalance):
    """By passes on a kept factor, and by an energy of positions where surfaces touch; where these do not lead there, by
    iterations on a factor each."""

    def __init__(self, soft: SoftBodies, reduced: Balancing) -> None:
        super().__init__(soft, reduced)
        self._reduced, self._passes = reduced, reduced.sweeps
        self.kept = FixedPointStage()
        self._flying = reduced.floating.flying  #: nodes of each part that nothing holds
        self._pushed: Mask | None = None  #: what something outside acted on in a stage of this step, (n,)
        self._swings = ModalStep(soft.evaluate, soft.mass, soft.coordinates, soft.edges)

    def solve_stage(self, solver: StageSolver, stage: NodeStage, start: State, damped: Damped | None,
                    held: PrescribedDirections | None = None) -> State:
        """The same root, however it is found. What the ground's friction holds is part of it, and in the memory."""
        after = self._reached(solver, stage, start, damped)
        if stage.inertia:
            if self._pushed is None:
                self._pushed = np.zeros(len(self._soft.mass), dtype=bool)
            self._pushed[self._soft.touching(after)] = True
            if damped is not None:
                self._pushed |= damped.drag > 0.0
        return after

    def begin_step(self) -> None:
        self._pushed = None

    def end_step(self, before: State, after: State, h: float) -> State:
        """With the angular momentum that each part had which nothing outside acted on in any stage: a balance moves
        nodes besides their velocities, and what moves at v is given the moment m v × c by a move c."""
        if self._pushed is None:
            return after
        flew = [part for part in self._flying if not self._pushed[part].any()]
        return keep_spin(self._soft, flew, before, after, h, None)

    def _reached(self, solver: StageSolver, stage: NodeStage, start: State, damped: Damped | None) -> State:
        """The same by one way or another."""
        if not self._grips or not stage.inertia:
            return self._not_held(solver, stage, start, damped)
        if not solver.limits.accepts and not self._lands(start, stage):
            after = self._not_held(solver, stage, start, damped)
            x = self._soft.coordinates.place(after.q, stage.time)
            if not len(self._soft.ground.find(x, stage.time)):
                return after
        return self._by_energy(solver, stage, start, damped)

    @property
    def _grips(self) -> bool:
        """Whether friction of the ground is a force of positions."""
        return self._soft.ground.has_static_friction and self._condensation.sleep is None

    def _not_held(self, solver: StageSolver, stage: NodeStage, start: State, damped: Damped | None) -> State:
        """The same without friction of the ground."""
        if solver.limits.accepts and stage.inertia:
            return self._by_energy(solver, stage, start, damped)
        if (self._soft.contacts or self._soft.joins_apart) and stage.inertia:
            return self._in_contact(solver, stage, start, damped)
        try:
            return self._apart(solver, stage, start, damped)
        except StageNotConverged:
            # velocities that follow as if nothing touched bring nodes that lie on the ground deep into it: passes that
            # begin there lead nowhere
            if self._condensation.sleep is not None or not self._lands(start, stage):
                raise
            return self._by_energy(solver, stage, start, damped)

    def modal_motion(self, stage: NodeStage, start: State, damped: Damped | None) -> State | None:
        """None also where some may sleep, and where no node follows others; after a part of the step where all of it
        gains energy."""
        soft, passes_on = self._soft, self._passes
        follows = len(self._reduced.mesh.dynamic) < len(soft.coordinates.free) and self._condensation.sleep is None
        if passes_on is None or not follows or soft.joins_apart or self._touches(start, stage, start):
            return None

        def sweeps_at(x: Vec, v: Vec, time: float, project: bool) -> FixedPointSweeps:
            lin = soft.linearise_at(x, v, time, project)
            return passes_on(replace(lin, damped=damped, memory=start.memory, is_tried=not project), stage)

        def products_at(x: Vec, v: Vec, columns: Vec) -> Products:
            return soft.products_at(x, v, stage.time, columns, damped)

        try:
            after = self._swings.solve_stage(sweeps_at, products_at, stage, start)
        except (NotPositiveDefinite, np.linalg.LinAlgError) as failure:
            raise StepFailed("the system matrix is not positive definite") from failure
        taken = replace(stage, h=after.time - start.time, time=after.time)
        # what flies goes on by the mean of its velocities
        mean = replace(taken, base=start.q + 0.5 * taken.h * (start.u - after.u))
        after = flown(soft, self._flying, after, mean, start)[0]
        return None if self._touches(start, taken, after) else after

    def _touches(self, start: State, stage: NodeStage, after: State) -> bool:
        """Whether nodes meet the ground or each other in a step."""
        soft = self._soft
        if self._lands(after, stage):
            return True
        return bool(soft.contacts) and bool(in_contact.touches(
            soft, *(soft.coordinates.place(one.q, one.time) for one in (start, after))))

    def _lands(self, start: State, stage: NodeStage) -> bool:
        """Whether a node lies on the ground, or would be there at the stage's end as it flies."""
        soft = self._soft
        begun = soft.coordinates.place(start.q, start.time)
        flown = begun + stage.b * stage.h * soft.velocity(start)
        return any(len(soft.ground.find(x, stage.time)) for x in (begun, flown))

    def _in_contact(self, solver: StageSolver, stage: NodeStage, start: State, damped: Damped | None) -> State:
        """As if nothing touched where nothing does and passes serve that, else by an energy."""
        coordinates, after = self._soft.coordinates, None
        if self._passes is not None:
            after = in_contact.untouched(self._soft, coordinates.place(start.q, start.time),
                                         lambda: self._apart(solver, stage, start, damped),
                                         lambda end: coordinates.place(end.q, stage.time))
        return self._by_energy(solver, stage, start, damped) if after is None else after

    def _by_energy(self, solver: StageSolver, stage: NodeStage, start: State, damped: Damped | None) -> State:
        """By an energy of all positions, which Newton's method lowers: velocities follow as if nothing touched."""
        soft, coordinates = self._soft, self._soft.coordinates
        begun = coordinates.place(start.q, start.time)
        lin = replace(soft.linearise_alone(begun, soft.velocity(start), stage.time), damped=damped, memory=start.memory)
        inertia = self._reduced.inertia(lin, stage, bool(soft.between))
        base = coordinates.place(start.q if stage.base is None else stage.base, stage.time)
        if stage.w is not None:
            base[coordinates.prescribed] -= stage.b * stage.h * stage.w
        free = QuasistaticProblem(soft, self._whole, stage, base, coordinates.prescribed, inertia, soft.edges)
        guess = coordinates.spread(start.u, None)[free.order].ravel()
        newton = NewtonDirect({})
        newton.limits = solver.limits
        static_friction = self._gripping(stage, start, begun)
        problem, unknowns = in_contact.solved(soft, free.of, begun, guess, newton, keeps_factors=False,
                                              static_friction=static_friction)
        if solver.limits.accepts:
            unknowns = with_exact_momentum(problem, unknowns, flying_at(soft, self._flying, problem, unknowns))
        moved = problem.velocities(unknowns)
        x, v = problem.positions(moved), inertia.velocities(moved)
        memory = start.memory
        if static_friction is not None:
            memory = with_anchors(memory, static_friction(x), x)
        return State(stage.time, x[coordinates.free].ravel(), v[coordinates.free].ravel(), memory)

    def _gripping(self, stage: NodeStage, start: State, begun: Vec) -> Callable[[Vec], StaticFriction | None] | None:
        """Friction of the ground with the loads of positions (n, 3); None where it is no force of positions.

        begun: where nodes stand, (n, 3) [m]: anchors of those that have none yet.
        """
        if not self._grips:
            return None
        law = self._soft.ground
        anchors = law.anchors(start.memory, begun, start.time)
        return lambda x: law.static_friction(x, stage.time, anchors)

    @cached_property
    def _whole(self) -> Full:
        """All free nodes as unknowns."""
        return Full(self._reduced.mesh, type(self._reduced.linear)(), {"beta": 1.0})

    def _apart(self, solver: StageSolver, stage: NodeStage, start: State, damped: Damped | None) -> State:
        """As if no surfaces touched."""
        soft, limits, taken = self._soft, solver.limits, self._linearised(stage, start, damped)

        sweeps = self._passes
        if stage.inertia and sweeps is not None:
            def sweeps_at(x: Vec, v: Vec, project: bool) -> FixedPointSweeps:
                return sweeps(taken(x, v, project), stage)

            def products_at(x: Vec, v: Vec, columns: Vec) -> Products:
                return soft.products_at(x, v, stage.time, columns, damped)

            base = start.q if stage.base is None else stage.base
            after = self.kept.solve_stage(sweeps_at, products_at, stage, start, base, soft.coordinates, limits,
                                          soft.extent)
            if after is not None:
                after, turned = flown(soft, self._flying, after, stage, start)
                if turned <= ASTRAY or not limits.strain_left:
                    return after
                # it snapped into another shape; by an energy of positions it keeps its middle and its turn
                return self._by_energy(solver, stage, start, damped)
            if limits.strain_left:
                raise StageNotConverged("passes on one factor did not settle")
        after = super().solve_stage(solver, stage, start, damped)
        return flown(soft, self._flying, after, stage, start)[0] if stage.inertia else after

    def forget_past(self) -> None:
        """Drop the factor, and the order of one of all nodes."""
        self._pushed = None
        self.kept.forget()
        self._swings.forget()
        if "_whole" in vars(self):
            self._whole.forget_past()
