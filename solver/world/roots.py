"""How a stage of soft bodies comes to its root: by the velocities of all free nodes, or of those that others follow
(`in_balance`).

Which one serves a method follows from what its condensation says of its unknowns.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from ..assembly.damping import Damped
from ..assembly.linearised import Linearised
from ..contact.find.ground import Contacts
from ..nonlinear.initial_guess import is_violent_guess, lowest_potential_start
from ..nonlinear.interface import StageSolver
from ..nonlinear.momentum import with_exact_momentum
from ..nonlinear.prescribed_directions import ConstrainedFactor, PrescribedDirections
from ..nonlinear.problem import StageProblem
from ..nonlinear.stage_matrix import StageMatrix
from ..parts.interface import Condensation, PosedNodes, Whole
from ..parts.stage import NodeStage
from ..state import State
from . import in_contact
from .in_balance import AtOnce, InBalance
from .in_flight import flying_at
from .islands import WORTH, Islands
from .root import Root
from .soft_bodies import SoftBodies


def root_of(soft: SoftBodies, condensation: Condensation) -> Root:
    """By the velocities of all free nodes, or by those of dynamic nodes, which the others follow in balance."""
    if condensation.whole is not None:
        return InFull(soft, condensation.whole)
    return InBalance(soft, condensation) if condensation.at_once is None else AtOnce(soft, condensation.at_once)


class InFull(Root):
    """By a stage solver on residual, merit and one sparse matrix."""

    def __init__(self, soft: SoftBodies, whole: Whole) -> None:
        self._soft, self._whole = soft, whole
        self._near: Contacts | None = None  #: with the ground, of a factor made near the last stage's end

    @cached_property
    def system(self) -> StageMatrix:
        """The unknowns' side of stages."""
        return StageMatrix(self._whole.pattern, self._whole.matrix, self._whole.linear, self._soft.edges)

    @cached_property
    def _islands(self) -> Islands:
        return Islands(self._soft, self._whole)

    def solve_stage(self, solver: StageSolver, stage: NodeStage, start: State, damped: Damped | None,
                    held: PrescribedDirections | None = None) -> State:
        """The unknowns are the velocities of every free node."""
        soft, system, coordinates = self._soft, self.system, self._soft.coordinates
        factored = system.linear.factored
        if held is not None:
            held = held.ordered(self._whole.rank)
            system = replace(system, linear=ConstrainedFactor(system.linear, held))
        base = coordinates.place(start.q if stage.base is None else stage.base, stage.time)
        if stage.w is not None:
            base[coordinates.prescribed] -= stage.b * stage.h * stage.w
        problem = StageProblem(soft, system, stage, base, coordinates.prescribed, damped, held)
        if stage.w is not None:
            begun = coordinates.place(start.q, stage.time - stage.b * stage.h)
            problem.step_start = base.copy()
            problem.step_start[coordinates.prescribed] = begun[coordinates.prescribed]
        guess = coordinates.spread(start.u, None)[system.pattern.order].ravel()
        if held is not None:
            guess = held.impose(guess)
        if soft.contacts:
            are_many = len(soft.bodies_in_world) > 1 and len(coordinates.free) > WORTH
            apart = self._islands if held is None and are_many else None
            problem, unknowns = in_contact.solved(soft, problem.of, coordinates.place(start.q, start.time), guess,
                                                  solver, apart=None if apart is None else apart.solved)
        else:
            if stage.inertia and solver.limits.strain_left and not solver.limits.accepts:
                begun = coordinates.place(start.q, start.time)
                problem.touches_ground = any(len(soft.ground.find(x, time)) for x, time in (
                    (begun, start.time), (problem.positions(problem.velocities(guess)), stage.time)))
                problem.is_violent = held is None and is_violent_guess(problem, guess, begun) and not len(
                    soft.touching_at(begun, start.time))
                guess = lowest_potential_start(problem, guess, begun)
            unknowns = solver.solve(problem, guess)
        if stage.inertia and (solver.limits.strain_left or solver.limits.ends_early):
            unknowns = with_exact_momentum(problem, unknowns,
                                           flying_at(soft, self._whole.floating.flying, problem, unknowns))
        is_near = held is None and solver.limits.strain_left > 0.0 and system.factored.stamp > factored
        self._near = system.factored.contacts if is_near else None
        v = problem.velocities(unknowns)
        x = problem.positions(v)
        return State(stage.time, x[coordinates.free].ravel(), v[coordinates.free].ravel(), start.memory)

    def posed_at_end(self, lin: Linearised, stage: NodeStage) -> PosedNodes | None:
        """On the factor of one of the last iterations, where those end once nothing shows that is left."""
        known, linear = self._near, self.system.linear
        if known is None or self.system.factored.stamp != linear.factored:
            return None
        if not np.isin(lin.contacts.nodes, known.nodes).all():
            return None
        return self._whole.posed(lin, stage)

    def forget_past(self) -> None:
        """What groups of bodies keep, and what was too stiff; the rest is the stage solver's."""
        self._islands.forget_past()
        self.system.directions.forget()
        self.system.reused_blocks.forget()
