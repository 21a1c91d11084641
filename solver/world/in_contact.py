"""A stage of soft bodies whose surfaces touch: solved from where nothing has met, and with friction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ..assembly.linearised import Linearised
from ..contact.laws.static_friction import StaticFriction
from ..errors import StepFailed
from ..forces.stencils import StencilForce
from ..nonlinear.contact_newton import solve_in_contact
from ..nonlinear.fallback_euler import StageNotConverged
from ..nonlinear.forces_protocol import Forces, Stretched
from ..nonlinear.gap_active_set import GapActiveSet
from ..nonlinear.ground_newton import solve_on_ground
from ..nonlinear.initial_guess import lowest_potential_start
from ..nonlinear.interface import StageSolver
from ..nonlinear.intersection_free import intersection_free_start
from ..nonlinear.problem import StageProblem
from ..state import Index, State, Vec
from .soft_bodies import ALL, Among, SoftBodies

#: a stage with friction's loads and normals as they are at positions (n, 3), and with the forces that are asked for
RubbingAt = Callable[[Vec, Among], StageProblem]
#: of a stage without friction and with it, where it stands, velocities with which it flies on, as far as nothing meets
SolvedApart = Callable[[StageProblem, RubbingAt, Vec, Vec, Vec, StageSolver], tuple[StageProblem, Vec]]
ROUNDS = 2  #: of friction, each with the loads and normals that the one before ended with
BALANCED = 0.1  #: of what Quick may leave where nodes have inertia: what it may where they balance


class LastForces:
    """Those of soft bodies where they were asked for last: friction that takes other loads there asks once more."""

    def __init__(self) -> None:
        self._at: tuple[Among, float, Vec] | None = None
        self._found: tuple[Vec, float]

    def at(self, soft: SoftBodies, x: Vec, time: float, among: Among) -> tuple[Vec, float]:
        """As `SoftBodies.evaluate`; the forces are the caller's to add to."""
        known = self._at
        if known is None or known[:2] != (among, time) or not np.array_equal(known[2], x):
            self._at, self._found = (among, time, x), soft.evaluate(x, time, (), among)
        return self._found[0].copy(), self._found[1]


@dataclass
class StageForces:
    """Forces of soft bodies, with those of one stage besides."""

    soft: SoftBodies
    besides: Sequence[StencilForce]
    among: Among = ALL  #: whose forces are asked for
    grip: StaticFriction | None = None  #: friction of the ground, where that is a force
    last: LastForces = field(default_factory=LastForces)  #: without those besides; others may share it

    def evaluate(self, x: Vec, time: float) -> tuple[Vec, float]:
        """Forces [N], (n, 3), and energy [J] at positions (n, 3)."""
        force, energy = self.last.at(self.soft, x, time, self.among)
        for law in self.besides:
            table = law.measure(x, time)
            table.add_forces(force)
            energy += table.energy
        return force, energy if self.grip is None else energy + self.grip.add_force(x, force)

    def filled(self) -> npt.NDArray[np.int64]:
        """How often K of each body's tets was asked for, (b,)."""
        return self.soft.filled(self.among)

    def in_stretches(self) -> Stretched | None:
        """The same with stretches as unknowns; None where no elements can have such, or the ground's friction is a
        force."""
        return self.soft.in_stretches(self.besides, self.among) if self.grip is None else None

    def linearise_at(self, x: Vec, v: Vec | None, time: float, project: bool = True) -> Linearised:
        """f and K there."""
        return self._gripped(x, self.soft.linearise_at(x, v, time, project, self.besides, self.among))

    def linearise_reusing_at(self, x: Vec, v: Vec, time: float, strained: Index) -> Linearised:
        """The same but for tets that have not strained, (k,): their K is that which was asked for last."""
        return self._gripped(x, self.soft.linearise_reusing_at(x, v, time, strained, self.besides, self.among))

    def _gripped(self, x: Vec, lin: Linearised) -> Linearised:
        if self.grip is not None:
            self.grip.add_force(x, lin.force)
            self.grip.add_stiffness(x, lin.node_blocks)
        return lin


def touches(soft: SoftBodies, start: Vec, end: Vec) -> bool:
    """Whether surfaces push each other at either end of a straight move, (n, 3) [m] each, or would meet on the way."""
    return (any(len(law.measure(x, 0.0).nodes) for law in soft.contacts for x in (start, end))
            or soft.largest_step(start, end) < 1.0)


def meets(soft: SoftBodies, start: Vec, end: Vec) -> bool:
    """Whether surfaces would meet on a straight move, (n, 3) [m] each."""
    return len(soft.contacts) > 0 and soft.largest_step(start, end) < 1.0


def untouched(soft: SoftBodies, begun: Vec, apart: Callable[[], State],
              placed: Callable[[State], Vec]) -> State | None:
    """The end of a stage as if surfaces touched nothing, where nothing does at its ends and on the way; else None.

    begun: positions of all nodes where the stage stands, (n, 3) [m]. apart: solves it so. placed: those of a state.
    """
    if touches(soft, begun, begun):
        return None
    try:
        after = apart()
    except StepFailed:
        return None  # it may have met something
    return None if touches(soft, begun, placed(after)) else after


def solved(soft: SoftBodies, problem_of: Callable[[Forces], StageProblem], begun: Vec, guess: Vec,
           solver: StageSolver, keeps_factors: bool = True, apart: SolvedApart | None = None,
           static_friction: Callable[[Vec], StaticFriction | None] | None = None) -> tuple[StageProblem, Vec]:
    """The stage as it was solved at last, and its unknowns (3 p,). Raises StepFailed.

    begun: positions of all nodes where the stage stands, (n, 3) [m], in which nothing crosses. guess: (3 p,).
    keeps_factors: whether the solver may have one of another stage that serves this one. apart: solves bodies
    that do not touch each other apart; None where all are solved at once. gripping: friction of the ground as a force
    of positions, its loads those at positions (n, 3) [m]; None where it is none.
    """
    last = LastForces()
    plain = problem_of(StageForces(soft, (), last=last))
    bounds = [one for law in soft.contacts if (one := law.bounds(begun)) is not None]
    if bounds:
        kept = GapActiveSet(plain, bounds, solver, min(law.activation for law in soft.contacts))
        return plain, kept.solve(begun, guess)
    seconds = plain.stage.b * plain.stage.h
    base = plain.positions(plain.velocities(guess)) - seconds * plain.velocities(guess)

    def rubbing(x: Vec, among: Among = ALL) -> StageProblem:
        """With friction's loads and normals as they are at positions (n, 3), and the forces that are asked for."""
        slides = [one for law in soft.contacts if (one := law.lagged_friction(x, base, seconds)) is not None]
        grip = None if static_friction is None else static_friction(x)
        if not slides and grip is None and among is ALL:
            return plain
        return problem_of(StageForces(soft, slides, among, grip, last))

    unknowns, begun = intersection_free_start(plain, begun, guess)
    if solver.limits.strain_left and not keeps_factors:
        # what balances without inertia is as far from its root as an iteration moves it
        strain_left, accepts = BALANCED * solver.limits.strain_left, solver.limits.accepts
        if solver.limits.patience and accepts and not soft.contacts:
            return solve_on_ground(rubbing, begun, unknowns, strain_left)
        return solve_in_contact(rubbing, begun, unknowns, strain_left, accepts=accepts, by_strain=True)
    if solver.limits.strain_left:
        if apart is not None and not solver.limits.accepts:
            return apart(plain, rubbing, begun, guess, unknowns, solver)
        return _quickly(soft, plain, rubbing, begun, unknowns, solver)
    at = begun
    for _ in range(ROUNDS):
        problem = rubbing(at)
        unknowns = solver.solve(problem, unknowns)
        at = problem.positions(problem.velocities(unknowns))
        if static_friction is None and not any(law.has_friction for law in soft.contacts):
            break
    return problem, unknowns


def _quickly(soft: SoftBodies, plain: StageProblem, rubbing: Callable[[Vec], StageProblem], begun: Vec, unknowns: Vec,
             solver: StageSolver) -> tuple[StageProblem, Vec]:
    """The same by a kept factor where nothing touches, and by Newton's method until nothing is left that shows."""

    def pushes(x: Vec) -> bool:
        return any(len(law.measure(x, 0.0).nodes) for law in soft.contacts)

    if not pushes(begun) and not pushes(plain.positions(plain.velocities(unknowns))):
        try:
            unknowns = solver.solve(plain, _lower(plain, unknowns, begun))
        except StageNotConverged:
            pass  # it may have met something
        else:
            if not pushes(plain.positions(plain.velocities(unknowns))):
                return plain, unknowns
    return solve_in_contact(rubbing, begun, unknowns, solver.limits.strain_left)


def _lower(plain: StageProblem, unknowns: Vec, begun: Vec) -> Vec:
    """A start with less potential (3 p,), if nothing meets on the way there: what is prescribed has gone all its way
    where the stage is solved, and what is free may not go back to where that has come since."""
    lower = lowest_potential_start(plain, unknowns, begun)
    here, there = (plain.positions(plain.velocities(one)) for one in (unknowns, lower))
    return lower if plain.physics.largest_step(here, there) == 1.0 else unknowns
