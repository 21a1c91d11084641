"""Leapfrog steps of a tree of joints: two stages at the midpoint where more than weight acts, and reflection at the
end."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import numpy as np

from ...forces.rigid_kernels import free_flight
from ...state import State, Vec
from ..stage import Momentum, Stage
from .interface import LinearizationPoint
from .jointed import Jointed, SolvedTree
from .last_twist import find_time_since_last
from .leapfrog import CARRIED, CHANGE, RATES, in_world, predict_rates, reflect, start_carried_twists

DIAGONAL = 1.0 - 1.0 / sqrt(2.0)  #: of the tableau of SDIRK2, a of both stages
GAIN = (1.0 - DIAGONAL) / DIAGONAL  #: weight of the first stage's impulse in the start of the second
FORESIGHT = 0.5 / DIAGONAL**2  #: where the second takes explicit forces, 1 at the end of the first, as there


class LeapfrogSteps:
    """Operations of leapfrog steps other than posing stages. Arrays are overwritten in each step."""

    def __init__(self, jointed: Jointed) -> None:
        self._jointed, tree = jointed, jointed.tree
        self._mid, self._end = tree.blank(), tree.blank()
        self._brought = np.zeros((tree.count, 6))  #: momentum of bodies at the midpoint of a step, in their frames
        self._world, self._gathered = np.tile(np.eye(4), (tree.count, 1, 1)), np.zeros((tree.count, 6))

    def step(self, lin: LinearizationPoint, start: State, h: float) -> State:
        """Return the state after h seconds, with the mean rates of the step, where forces other than weight act. lin:
        the step's start.

        Forces are linearised at the midpoint, to which the bodies' momentum at the start is extrapolated, and the two
        stages of SDIRK2 are solved there, with weight as a force like others: order 2, and stiff forces are damped.
        Where contacts or limits are active velocities jump, which a second stage would amplify: then a single stage
        spans the step. Raises StepFailed.
        """
        jointed, tree = self._jointed, self._jointed.tree
        carried = start.memory.get(CARRIED)
        carried = start_carried_twists(lin.posture, np.zeros(3)) if carried is None else carried
        if jointed.constraints is not None:
            jointed.constraints.begin(lin, start.time, h)
        u = predict_rates(lin.v, lin.memory, h)
        q = lin.q + 0.5 * h * u
        mid = replace(lin, posture=tree.posture(q, u, lin.memory, self._mid), q=q, v=u, brought=self._brought)
        free_flight(mid.posture.E, self._world, carried, tree.inertia, jointed.gravity, 0.5 * h, 0.0, self._brought)
        after = self._in_two_stages(mid, start, h)
        return self._in_one_stage(mid, start, h) if after is None else after

    def _in_two_stages(self, mid: LinearizationPoint, start: State, h: float) -> State | None:
        """Return the state at the end of the step; None where contacts or limits are active."""
        jointed = self._jointed
        first, rates = self._solve(mid, _stage(start, h, DIAGONAL, DIAGONAL, start.q, start.q, start.u))
        if _has_active_contacts(first):
            return None
        brought, moved = self._brought, jointed.tree.spread(mid.posture, rates)
        onward = replace(mid, brought=brought + GAIN * (
            np.einsum("nab,nb->na", jointed.tree.inertia, moved) - brought))
        base = start.q + (1.0 - DIAGONAL) * h * rates
        last, leaving = self._solve(onward, _stage(
            start, h, 1.0, DIAGONAL, base, start.q + FORESIGHT * DIAGONAL * h * rates,
            start.u + FORESIGHT * (rates - start.u)))
        if _has_active_contacts(last):
            return None
        last = last.after_stage(first, DIAGONAL, leaving)
        rates = (1.0 - DIAGONAL) * rates + DIAGONAL * leaving
        return State(start.time + h, start.q + h * rates, rates, start.memory, tree_stage=last)

    def _in_one_stage(self, mid: LinearizationPoint, start: State, h: float) -> State:
        posed, rates = self._solve(mid, _stage(start, h, 1.0, 1.0, start.q, start.q, start.u))
        return State(start.time + h, start.q + h * (rates + posed.correction(rates)), rates, start.memory,
                     tree_stage=posed)

    def _solve(self, mid: LinearizationPoint, stage: Stage) -> tuple[SolvedTree, Vec]:
        solved = self._jointed.pose(mid, stage).solve()
        return solved, solved.rates

    def finish(self, posed: SolvedTree, u: Vec, after: State) -> State:
        """Return the end of a leapfrog step that was solved for rates u (m,), with the twists for the next step in its
        memory.

        The part of the bodies' momentum that joints, loops and drives do not permit is reflected. Rates become those of
        the end after centred steps and where only weight acts; elsewhere, and where contacts, limits or friction act,
        they stay those of the midpoint.
        """
        jointed, half = self._jointed, 0.5 * posed.stage.h
        tree, constraints, wrench = jointed.tree, jointed.constraints, jointed.wrench
        centred = posed.stage.momentum is Momentum.CENTRED
        left = in_world(posed.lin.posture.E, tree.spread(posed.lin.posture, posed.leaving(u)))
        at = tree.posture(after.q, after.u, after.memory, self._end)
        free_flight(at.E, self._world, left, tree.inertia, jointed.gravity, half, 0.0 if centred else half, wrench)
        respond = jointed.by_inertia(LinearizationPoint(at, after.q, after.u, after.memory), after.time)
        rates: Vec = respond(tree.gather(at, wrench, None, self._gathered))
        if constraints is not None and not jointed.has_friction and posed.lin.external_force is None:
            reflected = constraints.reflect_momentum(replace(after, u=rates), respond, posed.stage.h)
            rates, after = reflected.u, replace(reflected, u=after.u)
        carried, change = reflect(at.E, tree.spread(at, rates), wrench, jointed.inverse_inertia)
        memory = {**after.memory, CARRIED: carried, RATES: np.stack([rates, (rates - u) / half])}
        if constraints is not None:
            memory[CHANGE] = change
        of_the_end = centred or jointed.only_weight(posed.lin.external_force)
        if constraints is not None and (jointed.has_friction or _has_active_contacts(posed)):
            of_the_end = False
        return replace(after, u=rates if of_the_end else after.u, memory=memory)

    def measure_dissipation(self, lin: LinearizationPoint, h: float, momentum: Momentum) -> tuple[float, float]:
        """Return the kinetic energy that a linearised step of h seconds loses as joints project the bodies' momentum,
        and the kinetic energy before that projection [J]."""
        jointed, tree, elapsed, fallen = self._jointed, self._jointed.tree, find_time_since_last(lin.memory, h), 0.0
        if momentum is Momentum.REFLECTED:
            # the half of the weight at the step's start is projected together with the other half
            elapsed = fallen = 0.5 * h
            bring, E = lin.memory.get(CARRIED), self._world
            bring = start_carried_twists(lin.posture, np.zeros(3)) if bring is None else bring
            q = lin.q + elapsed * predict_rates(lin.v, lin.memory, h)
            lin = replace(lin, q=q, posture=tree.posture(q, lin.v, lin.memory, self._mid))
        else:
            earlier = tree.posture(lin.q - elapsed * lin.v, lin.v, lin.memory, self._end)
            bring, E = earlier.twist, earlier.E
        wrench = jointed.wrench
        free_flight(lin.posture.E, E, bring, tree.inertia, jointed.gravity, elapsed, fallen, wrench)
        rhs = tree.gather(lin.posture, wrench, None, self._gathered)
        motion = 0.5 * float(np.einsum("na,nab,nb->", wrench, jointed.inverse_inertia, wrench))
        return motion - 0.5 * float(rhs @ jointed.by_inertia(lin, 0.0)(rhs)), motion


def _stage(start: State, h: float, end: float, a: float, base: Vec, q: Vec, u: Vec) -> Stage:
    """Return a centred stage that ends after a fraction `end` of the step, from coordinates `base`, with explicit
    forces evaluated at q and u."""
    return Stage(h, a, a, start.time + end * h, base, start.u, predicted=(q, u), momentum=Momentum.CENTRED)


def _has_active_contacts(posed: SolvedTree) -> bool:
    """Whether contacts or limits are active in a solved stage."""
    return posed.constraint_solution is not None and len(posed.constraint_solution.active) > 0
