"""Selection of the method that solves stages of soft bodies: all free velocities, or condensed ones
(`condensed_stages`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..assembly.damping import Damped
from ..assembly.linearised import Linearised
from ..contact.find.ground import Contacts
from ..contact.laws.lagged_ground_friction import LaggedGroundFriction
from ..nonlinear.constrained_factor import ConstrainedFactor
from ..nonlinear.initial_guess import is_violent_guess, lowest_potential_start
from ..nonlinear.interface import StageSolver
from ..nonlinear.momentum import with_exact_momentum
from ..nonlinear.on_rows import on_rows
from ..nonlinear.problem import StageProblem
from ..nonlinear.stage_matrix import StageMatrix
from ..parts.interface import Condensation, PosedNodes, Whole
from ..parts.stage import NodeStage
from ..rows.eliminated import EliminatedRows
from ..state import State, Vec
from . import in_contact
from .condensed_stages import CondensedStage, MonolithicCondensedStage
from .free_flight import free_bodies_at
from .ground_friction import remember_force
from .islands import LEAST_NODES, Islands
from .soft_bodies import SoftBodies
from .stage_method import StageMethod


def stage_method_of(soft: SoftBodies, condensation: Condensation) -> StageMethod:
    """Return the method for a condensation: by velocities of all free nodes, or by those of dynamic nodes, which
    quasistatic ones follow."""
    if condensation.whole is not None:
        return FullStage(soft, condensation.whole)
    return CondensedStage(soft, condensation) if condensation.at_once is None else MonolithicCondensedStage(soft,
                                                                                                            condensation.at_once)


@dataclass
class LastGroundFriction:
    """The ground's friction as a function of the positions of its normal forces, with the last value."""

    lagged: Callable[[Vec], LaggedGroundFriction | None]
    last: LaggedGroundFriction | None = None  #: None where there is no friction, or where none was asked for

    def __call__(self, x: Vec) -> LaggedGroundFriction | None:
        """Return friction with normal forces at positions (n, 3) [m]; None where there is none."""
        self.last = self.lagged(x)
        return self.last

    def force_at(self, x: Vec) -> Vec:
        """Return the last friction's force on all nodes at positions x, (n, 3) each [m], [N]."""
        force = np.zeros_like(x)
        if self.last is not None:
            self.last.add_force(x, force)
        return force


class FullStage(StageMethod):
    """Solves for the velocities of all free nodes by a stage solver with residual, merit and one sparse matrix."""

    def __init__(self, soft: SoftBodies, whole: Whole) -> None:
        self._soft, self._whole = soft, whole
        self._near: Contacts | None = None  #: with the ground, of a factor made near the last stage's end

    @cached_property
    def system(self) -> StageMatrix:
        """Return matrix and factors of the unknowns."""
        return StageMatrix(self._whole.pattern, self._whole.matrix, self._whole.linear, self._soft.edges)

    @cached_property
    def _islands(self) -> Islands:
        return Islands(self._soft, self._whole)

    @property
    def island_factorizations(self) -> float:  # type: ignore[override]
        """Return the number of factorizations of some bodies alone, each as its fraction of all nodes."""
        islands: Islands | None = self.__dict__.get("_islands")
        return 0.0 if islands is None else islands.factored

    def solve_stage(self, solver: StageSolver, stage: NodeStage, start: State, damped: Damped | None,
                    prescribed_directions: EliminatedRows | None = None) -> State:
        """Return the state at the stage's end, from velocities of all free nodes."""
        soft, system, coordinates = self._soft, self.system, self._soft.coordinates
        factored = system.linear.factored
        if prescribed_directions is not None:
            prescribed_directions = prescribed_directions.reorder(self._whole.rank)
            system = replace(system, linear=ConstrainedFactor(system.linear, prescribed_directions))
        base = coordinates.positions(start.q if stage.base is None else stage.base, stage.time)
        if stage.w is not None:
            base[coordinates.prescribed] -= stage.b * stage.h * stage.w
        problem = StageProblem(soft, system, stage, base, coordinates.prescribed, damped, prescribed_directions)
        if stage.w is not None:
            step_start = coordinates.positions(start.q, stage.time - stage.b * stage.h)
            start_or_base = base.copy()
            start_or_base[coordinates.prescribed] = step_start[coordinates.prescribed]
            problem = problem.starting_at(start_or_base)
        guess = coordinates.spread(start.u, None)[system.pattern.order].ravel()
        if prescribed_directions is not None:
            guess = prescribed_directions.impose(guess)
        friction = self._ground_friction(solver, stage, base)
        if soft.contacts:
            are_many = len(soft.bodies_in_world) > 1 and len(coordinates.free) > LEAST_NODES
            islands = self._islands if prescribed_directions is None and are_many else None
            problem, unknowns = in_contact.solve_in_contact_stage(soft, problem.of,
                                                                  coordinates.positions(start.q, start.time), guess,
                                                                  solver, solve_islands=None if islands is None
                                                                  else islands.solve,
                                                                  ground_friction=friction)
        else:
            if stage.inertia and solver.limits.stops_early:
                step_start = coordinates.positions(start.q, start.time)
                touches_ground = any(len(soft.ground.find(x, time)) for x, time in (
                    (step_start, start.time), (problem.positions_at(guess), stage.time)))
                is_violent = (prescribed_directions is None and is_violent_guess(problem, guess, step_start)
                              and not len(soft.touching_at(step_start, start.time)))
                problem = problem.with_ballistic_guess(touches_ground, is_violent)
                guess = lowest_potential_start(problem, guess, step_start)
            unknowns = solver.solve(problem, guess)
        if stage.inertia and (solver.limits.strain_left or solver.limits.ends_early):
            unknowns = with_exact_momentum(problem, unknowns,
                                           free_bodies_at(soft, self._whole.floating.unconstrained, problem, unknowns))
        is_near = prescribed_directions is None and solver.limits.strain_left > 0.0 and system.factored.stamp > factored
        self._near = system.factored.contacts if is_near else None
        v = problem.velocities(unknowns)
        x = on_rows(problem, unknowns, soft.constraints) if soft.constraints else problem.positions(v)
        after = State(stage.time, x[coordinates.free].ravel(), v[coordinates.free].ravel(), start.memory)
        self.solves_friction = friction is not None and friction.last is not None
        return remember_force(after, friction.force_at(x)) if friction is not None and self.solves_friction else after

    def _ground_friction(self, solver: StageSolver, stage: NodeStage, base: Vec) -> LastGroundFriction | None:
        """Return the ground's friction of a stage in contact; None where a stage is solved without. base: positions of
        all nodes at v = 0, (n, 3) [m]."""
        ground, laws = self._soft.ground, self._soft.contacts
        if not (laws and stage.inertia and solver.limits.strain_left and ground.has_static_friction):
            return None
        creep, seconds = min(law.creep_speed for law in laws), stage.b * stage.h
        return LastGroundFriction(lambda x: ground.lag_friction(x, stage.time, base, seconds, creep))

    def pose_at_end(self, lin: Linearised, stage: NodeStage) -> PosedNodes | None:
        """Return the last stage on a factor of its last iterations, if early stopping ended them."""
        known, linear = self._near, self.system.linear
        if known is None or self.system.factored.stamp != linear.factored:
            return None
        if not np.isin(lin.contacts.nodes, known.nodes).all():
            return None
        return self._whole.pose_on_factor(lin, stage)

    def forget_past(self) -> None:
        """Discard matrices of islands and reused blocks; the stage solver discards its own."""
        self._islands.forget_past()
        self.system.directions.forget()
        self.system.reused_blocks.forget()
