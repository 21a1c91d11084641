"""Friction of soft bodies on the ground: impulses of a friction law, computed with the factor of a stage."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..assembly.linearised import Linearised
from ..contact.laws.interface import SlidingNodes, along
from ..contact.laws.static_friction import ANCHORS, STUCK_NODES, StaticFriction, with_anchors
from ..errors import StepFailed
from ..linear.interface import NotPositiveDefinite
from ..node_records import RowPerNode
from ..nonlinear.condensed_velocities import BALANCE_STEPS
from ..nonlinear.limits import WORK_LEFT
from ..parts.interface import Evaluate, Touched
from ..parts.stage import NodeStage, Stage
from ..state import State, Vec
from .soft_bodies import SoftBodies

FRICTION_ROUNDS = 4  #: number of updates of the ground's friction in a stage
FORCE = "friction.force"  #: memory of the last stage's friction on all nodes [N], (n, 3), the initial guess of the law
FORCE_RECORD = RowPerNode(FORCE, (3,), divides=True)


def finish_linear_stage(soft: SoftBodies, posed: Touched, stage: Stage, start: State, is_last: bool) -> State:
    """Return the state at the end of a linearised stage with friction on the ground. Raises StepFailed.

    stage: of all rates. is_last: whether the stage ends the step, where quasistatic nodes are relaxed.
    """
    u = posed.solve()
    friction = friction_impulses(soft, posed, posed.stage, u, start.memory)
    base, sticking = start.q if stage.base is None else stage.base, None
    evaluate: Evaluate = soft.evaluate
    if friction is not None:
        posed = posed.under(friction.impulses)
        u = posed.solve()
        # without quasistatic nodes, friction on velocities is friction on positions as well
        sticking = _with_sticking(soft, posed, friction, u, start) if is_last and posed.balances else None
        if sticking is not None:
            posed, evaluate = sticking.posed, sticking.evaluate
    q = base + stage.b * stage.h * (u + posed.correction(u))
    if is_last:
        q = posed.relax(q, u, evaluate)
    after = State(stage.time, q, u, start.memory, tree_stage=posed.tree_stage)
    after = remember(after, posed.stage, friction)
    return after if sticking is None else replace(after, memory=sticking.store_anchors(after.memory, q))


@dataclass(frozen=True)
class _StickingStage:
    """Stage whose equilibrium includes friction as a force that depends on positions."""

    soft: SoftBodies
    posed: Touched
    static_friction: StaticFriction
    anchors: Vec  #: of all nodes, relative to the reference point of the ground, (n, 3) [m]

    def evaluate(self, x: Vec, time: float) -> tuple[Vec, float]:
        """Return forces with friction at positions x, (n, 3) [N], and their energy [J]."""
        force, energy = self.soft.evaluate(x, time)
        return force, energy + self.static_friction.add_force(x, force)

    def store_anchors(self, memory: Mapping[str, Vec], q: Vec) -> dict[str, Vec]:
        """Return a memory with the anchors of static friction at the stage's end, at coordinates q."""
        time = self.posed.stage.time
        x = self.soft.coordinates.positions(q, time)
        return with_anchors(memory, self.soft.ground.build_static_friction(x, time, self.anchors), x)


def _with_sticking(soft: SoftBodies, posed: Touched, friction: FrictionImpulses, u: Vec,
                   start: State) -> _StickingStage | None:
    """Return the stage with static friction as a force of positions; None where the ground has none. Raises StepFailed.

    Such friction acts on displacements by relaxation at each node, whereas velocities have too few degrees of freedom
    to stop each node. It is evaluated at the positions to which velocities u move the nodes, with the normal impulses
    of `friction`.
    """
    stage, law = posed.stage, soft.ground
    if not law.has_static_friction:
        return None
    step_start = soft.coordinates.positions(start.q, start.time)
    anchors = law.anchors(start.memory, step_start, start.time)
    load = friction.contacts.normal_impulse / (stage.a * stage.h)
    static_friction = law.build_static_friction_under_load(load, friction.contacts.nodes, friction.contacts.normal,
                                                           stage.time, anchors)
    if static_friction is None:
        return None
    base = step_start if stage.base is None else soft.coordinates.positions(stage.base, stage.time)
    predicted = base + stage.b * stage.h * soft.coordinates.spread(u, stage.w)
    try:
        sticking = posed.with_static_friction(static_friction, predicted)
    except NotPositiveDefinite as failure:
        raise StepFailed("the system matrix is not positive definite") from failure
    return _StickingStage(soft, sticking, static_friction, anchors)


def with_ground_friction(soft: SoftBodies, posed: Touched, after: State, correction: Vec | None = None) -> State:
    """Return the end of a stage that was solved without friction, with friction to first order. Raises StepFailed.

    posed: stage linearised at `after`. correction: change of the rates by one more iteration without friction, which
    may be as large as the change by friction, (m,) [m/s]; None for none.
    """
    frictionless, stage = posed.solve(), posed.stage
    own = 3 * len(soft.coordinates.free)
    # normal forces are those at the stage's end, not where velocities alone would have moved quasistatic nodes
    ended = replace(stage, base=(after.q - stage.b * stage.h * after.u)[:own])
    rates = after.u if correction is None else after.u + correction
    friction = friction_impulses(soft, posed, ended, rates, after.memory)
    if friction is None:
        return replace(remember(after, stage, None), tree_stage=posed.tree_stage)
    under = posed.under(friction.impulses)
    change = under.solve() - frictionless + (rates - after.u)
    q, u = after.q + stage.b * stage.h * change, after.u + change
    # friction is among the loads in equilibrium
    q = under.relax(q, u, soft.evaluate, BALANCE_STEPS)
    end = State(after.time, q, u, after.memory, tree_stage=under.tree_stage)
    return remember(end, stage, friction)


def under(stage: NodeStage, with_friction: State, mass: Vec) -> NodeStage:
    """Return a stage with the friction force in the memory of a state as an additional load.

    with_friction: state with that memory. mass: of all nodes, (n,) [kg].
    """
    force = with_friction.memory[FORCE]
    gained = np.divide(force, mass[:, None], out=np.zeros_like(force), where=mass[:, None] > 0.0)
    return replace(stage, v_hat=stage.v_hat + stage.a * stage.h * gained)


@dataclass(frozen=True)
class FrictionImpulses:
    """Nodes in contact with the ground in a stage, and their friction impulses."""

    contacts: SlidingNodes
    impulses: Vec  #: on all nodes, (n, 3) [N s]


def friction_impulses(soft: SoftBodies, posed: Touched, stage: NodeStage, u: Vec,
                      memory: Mapping[str, Vec]) -> FrictionImpulses | None:
    """Return the friction impulses at rates u; None where there is no friction.

    u: rates, of the free nodes first, (m,) [m/s]. memory: has the initial guess. Contacts are those of the stage's
    linearisation; their normal impulses are those of the penalty over the stage, a h k (−gap − n · (x − x_lin)), with x
    at the stage's end. [ConJac BUNNY]
    """
    law, touching = soft.ground, posed.lin.contacts.of(soft.ground.is_free)
    if law.friction is None or not len(touching):
        return None
    coordinates, seconds = soft.coordinates, stage.a * stage.h
    nodes, normal = touching.nodes, touching.normal
    u = u[: 3 * len(coordinates.free)]
    v = coordinates.spread(u, stage.w)[nodes]
    # duration over which K extrapolates, damping included
    predicted = stage.compute_damped_stiffness_factor(posed.lin) / seconds
    moved = predicted * coordinates.spread(posed.moving(u), stage.w)[nodes]
    if stage.base is not None:
        moved += coordinates.positions(stage.base, stage.time, stage.carrier_motion)[nodes] - posed.lin.x[nodes]
    depth = -touching.gap - np.einsum("ka,ka->k", normal, moved)
    stiffness = law.stiffness[nodes]
    pressing = seconds * stiffness * np.maximum(depth, 0.0)
    contacts = SlidingNodes(nodes, normal, along(v - law.plane.velocity(stage.time), normal), pressing,
                      seconds * predicted * stiffness, soft.mass[nodes], seconds * friction_force(soft, memory)[nodes])
    impulses = np.zeros((len(soft.mass), 3))
    impulses[nodes] = law.friction.impulses(contacts, posed.compliance(nodes))
    return FrictionImpulses(contacts, impulses)


def remember(after: State, stage: NodeStage, friction: FrictionImpulses | None) -> State:
    """Return the state with the friction of a stage in its memory, and without anchors. friction: friction or None."""
    return remember_force(after, None if friction is None else friction.impulses / (stage.a * stage.h))


def remember_force(after: State, force: Vec | None) -> State:
    """Return the state with the friction force of the ground in its memory, and without anchors.

    force: on all nodes, (n, 3) [N]; None without friction.
    """
    if force is None and not any(key in after.memory for key in (FORCE, STUCK_NODES, ANCHORS)):
        return after
    memory = {key: value for key, value in after.memory.items() if key not in (FORCE, STUCK_NODES, ANCHORS)}
    if force is not None:
        memory[FORCE] = force
    return replace(after, memory=memory)


def friction_force(soft: SoftBodies, memory: Mapping[str, Vec]) -> Vec:
    """Return the friction force of the ground on all nodes from a memory, (n, 3) [N]; zero where it has none."""
    known = memory.get(FORCE)
    shape = (len(soft.mass), 3)
    return known if known is not None and known.shape == shape else np.zeros(shape)


def with_repeated_friction(soft: SoftBodies, stage: NodeStage, after: State, lin: Linearised, posed: Touched,
                           posed_at: Callable[[State], tuple[Linearised, Touched]],
                           net_impulse: Callable[[State], Vec]) -> State:
    """Return the end of a solved stage with friction on the ground, linearised again until little work is left.

    lin, posed: the stage linearised at its end. posed_at: returns the stage linearised at another end. net_impulse:
    returns the residual of all nodes at an end without friction, (n, 3) [N s]. Raises StepFailed.
    """
    free = soft.coordinates.free
    goal = WORK_LEFT * stage.energy_at_stake(soft.mass, free)
    for count in range(FRICTION_ROUNDS):
        rest = posed.respond(stage.net_impulse(lin)[free].reshape(-1, 1))[:, 0]
        after = with_ground_friction(soft, posed, after, rest)
        if count == FRICTION_ROUNDS - 1:
            break
        left = net_impulse(after) + stage.a * stage.h * friction_force(soft, after.memory)
        rest = posed.respond(left[free].reshape(-1, 1))[:, 0]
        if abs(stage.work(soft.mass, free, rest)) <= goal:
            break
        lin, posed = posed_at(after)
    return after
