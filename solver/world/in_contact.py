"""Solution of stages of soft bodies in contact, from an intersection-free initial guess and with lagged friction."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..contact.laws.interface import FrictionForce
from ..errors import StepFailed
from ..nonlinear.contact_newton import solve_in_contact
from ..nonlinear.fallback_euler import StageNotConverged
from ..nonlinear.forces_protocol import Forces, FrictionLimits
from ..nonlinear.gap_active_set import GapActiveSet
from ..nonlinear.ground_newton import solve_on_ground
from ..nonlinear.initial_guess import lowest_potential_start
from ..nonlinear.interface import StageSolver
from ..nonlinear.intersection_free import intersection_free_start
from ..nonlinear.limits import QUASISTATIC_FRACTION
from ..nonlinear.problem import StageProblem
from ..state import Index, State, Vec
from .soft_bodies import ALL, Selection, SoftBodies
from .stage_forces import GroundFriction, LastForces, StageForces

#: a stage with friction's normal forces and normals at positions (n, 3), and a selection of forces
FrictionProblemAt = Callable[[Vec, Selection], StageProblem]
#: arguments: the stage without and with friction, positions at its start, ballistic velocities, contact-free unknowns,
#: nodes with friction on the ground
SolvedByIslands = Callable[[StageProblem, FrictionProblemAt, Vec, Vec, Vec, Index, StageSolver],
                           tuple[StageProblem, Vec]]
#: rounds of lagged friction, each with the normal forces and normals at the end of the previous one
FRICTION_ROUNDS = 2
NO_NODES: Index = np.zeros(0, dtype=np.int64)


def friction_limits(soft: SoftBodies, frictions: Sequence[FrictionForce | GroundFriction],
                    selection: Selection = ALL, is_on_ground: bool = False) -> FrictionLimits:
    """Return the limits of friction on the bodies of a selection: an energy, and the nodes on which it acts.

    The energy is that of all bodies after a second of acceleration from rest at Coulomb's limit, Σ (Σ μ λ)² / 2 m [J].
    Where friction acts on free bodies only, its nodes are all nodes, since the momentum of bodies that collide in
    flight is as exact as their stages. is_on_ground: whether one of the frictions is that of the ground.
    """
    limits = np.zeros(len(soft.mass))
    for friction in frictions:
        friction.add_limits(limits)
    count, own, prescribed = len(soft.bodies_in_world), soft.body_numbers, soft.coordinates.prescribed
    of_body, mass = (np.bincount(own, weights, count + 1)[:count] for weights in (limits, soft.mass))
    has_prescribed = np.bincount(own[prescribed], minlength=count + 1)[:count] > 0
    is_supported = is_on_ground or bool(limits[prescribed].any() or of_body[has_prescribed].any())
    counts = mass > 0.0
    if selection.bodies is not None:
        counts &= np.isin(np.arange(count), selection.bodies)
    energy = 0.5 * float((of_body[counts] ** 2 / mass[counts]).sum())
    return FrictionLimits(energy, (limits > 0.0) | (not is_supported))


def touches(soft: SoftBodies, start: Vec, end: Vec) -> bool:
    """Return whether surfaces are in contact at either end of a straight displacement or in between.

    start, end: positions of all nodes, (n, 3) [m].
    """
    return (any(len(law.measure(x, 0.0).nodes) for law in soft.contacts for x in (start, end))
            or soft.largest_step(start, end) < 1.0)


def collides(soft: SoftBodies, start: Vec, end: Vec) -> bool:
    """Return whether surfaces would collide in a straight displacement. start, end: all nodes, (n, 3) [m]."""
    return len(soft.contacts) > 0 and soft.largest_step(start, end) < 1.0


def solve_without_contact(soft: SoftBodies, step_start: Vec, solve: Callable[[], tuple[State, Vec]]) -> State | None:
    """Return the end of a stage that is solved without contact; None where there is contact or the solution fails.

    step_start: positions of all nodes at the stage's start, (n, 3) [m]. solve: returns the stage's end without contact,
    and the positions of all nodes there, (n, 3) [m]. Contact is tested at both ends and in between.
    """
    if touches(soft, step_start, step_start):
        return None
    try:
        after, x = solve()
    except StepFailed:
        return None  # it may have made contact
    return None if touches(soft, step_start, x) else after


def solve_in_contact_stage(soft: SoftBodies, problem_of: Callable[[Forces], StageProblem], step_start: Vec, guess: Vec,
                           solver: StageSolver, reuses_factors: bool = True,
                           solve_islands: SolvedByIslands | None = None,
                           ground_friction: Callable[[Vec],
                                                     GroundFriction | None] | None = None) -> tuple[StageProblem, Vec]:
    """Return a stage in contact with its final friction, and its unknowns, (3 p,) [m/s]. Raises StepFailed.

    step_start: positions of all nodes at the stage's start, (n, 3) [m], free of intersections. guess: ballistic
    velocities, (3 p,) [m/s]. reuses_factors: whether the solver may reuse a factor of another stage. solve_islands:
    solves bodies without mutual contact separately; None: all are solved as one. ground_friction: returns friction on
    the ground for normal forces at positions, (n, 3) [m]; None where the stage is solved without friction on it.
    """
    last = LastForces()
    plain = problem_of(StageForces(soft, (), last=last))
    bounds = [one for law in soft.contacts if (one := law.bounds(step_start)) is not None]
    if bounds:
        active_set = GapActiveSet(plain, bounds, solver, min(law.activation for law in soft.contacts))
        return plain, active_set.solve(step_start, guess)
    seconds = plain.stage.b * plain.stage.h
    base = plain.positions_at(guess) - seconds * plain.velocities(guess)

    def with_friction(x: Vec, selection: Selection = ALL) -> StageProblem:
        """Return the stage with friction's normal forces and normals at positions (n, 3), and a selection of forces."""
        frictions = [one for law in soft.contacts if (one := law.lag_friction(x, base, seconds)) is not None]
        on_ground = None if ground_friction is None else ground_friction(x)
        if not frictions and on_ground is None and selection is ALL:
            return plain
        limits = friction_limits(soft, [*frictions, *([] if on_ground is None else [on_ground])], selection,
                                 on_ground is not None)
        return problem_of(StageForces(soft, frictions, selection, on_ground, last, limits))

    unknowns, step_start = intersection_free_start(plain, step_start, guess)
    if solver.limits.strain_left and not reuses_factors:
        # without inertia the error of quasistatic positions is as large as an iteration's change
        strain_left = QUASISTATIC_FRACTION * solver.limits.strain_left
        if solver.limits.solves_on_ground and not soft.contacts:
            return solve_on_ground(with_friction, step_start, unknowns, strain_left)
        return solve_in_contact(with_friction, step_start, unknowns, strain_left, accepts=solver.limits.accepts,
                                by_strain=True)
    if solver.limits.strain_left:
        if solve_islands is not None and solver.limits.stops_early:
            on_ground = [contacts.nodes for x in (step_start, plain.positions_at(unknowns))
                         if ground_friction is not None and (contacts := ground_friction(x)) is not None]
            return solve_islands(plain, with_friction, step_start, guess, unknowns,
                                 np.concatenate([NO_NODES, *on_ground]), solver)
        return _solve_early_stopped(soft, plain, with_friction, step_start, unknowns, solver)
    at = step_start
    for _ in range(FRICTION_ROUNDS):
        problem = with_friction(at)
        unknowns = solver.solve(problem, unknowns)
        at = problem.positions_at(unknowns)
        if ground_friction is None and not any(law.has_friction for law in soft.contacts):
            break
    return problem, unknowns


def _solve_early_stopped(soft: SoftBodies, plain: StageProblem, with_friction: Callable[[Vec], StageProblem],
                         step_start: Vec, unknowns: Vec,
                         solver: StageSolver) -> tuple[StageProblem, Vec]:
    """Return a stage with early stopping and its unknowns, (3 p,), solved with a reused factor if without contact."""

    def has_pairs(x: Vec) -> bool:
        return any(len(law.measure(x, 0.0).nodes) for law in soft.contacts)

    if not has_pairs(step_start) and not has_pairs(plain.positions_at(unknowns)):
        try:
            unknowns = solver.solve(plain, _lower_start(plain, unknowns, step_start))
        except StageNotConverged:
            pass  # it may have made contact
        else:
            if not has_pairs(plain.positions_at(unknowns)):
                return plain, unknowns
    return solve_in_contact(with_friction, step_start, unknowns, solver.limits.strain_left)


def _lower_start(plain: StageProblem, unknowns: Vec, step_start: Vec) -> Vec:
    """Return an initial guess of lower potential, (3 p,), if the path to it is free of contact, else `unknowns`.

    Prescribed nodes are at the end of their motion, so free nodes may not move back through them.
    """
    lower = lowest_potential_start(plain, unknowns, step_start)
    x, x_lower = (plain.positions_at(guess) for guess in (unknowns, lower))
    return lower if plain.physics.largest_step(x, x_lower) == 1.0 else unknowns
