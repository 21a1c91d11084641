"""Friction of a stage: impulses that its law finds by asking the factored system again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..contact.laws.interface import SlidingNodes, along
from ..contact.laws.static_friction import ANCHORS, STUCK_NODES, StaticFriction, with_anchors
from ..errors import StepFailed
from ..linear.interface import NotPositiveDefinite
from ..nonlinear.iterations import BALANCE_STEPS
from ..parts.interface import Evaluate, Touched
from ..parts.stage import NodeStage, Stage
from ..state import State, Vec
from .soft_bodies import SoftBodies

FORCE = "friction.force"  #: memory of the last stage's friction on all nodes [N], (n, 3), where a law starts from


def landed(soft: SoftBodies, posed: Touched, stage: Stage, start: State, is_last: bool) -> State:
    """The state at the end of a linearised stage, friction included; only the last one of a step is settled.

    stage: of all rates. Raises StepFailed.
    """
    u = posed.solve()
    found = friction_impulses(soft, posed, posed.stage, u, start.memory)
    base, held = start.q if stage.base is None else stage.base, None
    evaluate: Evaluate = soft.evaluate
    if found is not None:
        posed = posed.under(found.impulses)
        u = posed.solve()
        # where nothing balances what brakes velocities holds positions too
        held = _gripped(soft, posed, found, u, start) if is_last and posed.balances else None
        if held is not None:
            posed, evaluate = held.posed, held.evaluate
    q = base + stage.b * stage.h * (u + posed.correction(u))
    if is_last:
        q = posed.relax(q, u, evaluate)
    after = remember(State(stage.time, q, u, start.memory), posed.stage, found)
    return after if held is None else replace(after, memory=held.remembered(after.memory, q))


@dataclass(frozen=True)
class _Gripped:
    """A stage in whose balance friction is a force of positions."""

    soft: SoftBodies
    posed: Touched
    grip: StaticFriction
    anchors: Vec  #: of all nodes, from the point that the ground goes along with, (n, 3) [m]

    def evaluate(self, x: Vec, time: float) -> tuple[Vec, float]:
        """Forces with friction, and their energy."""
        force, energy = self.soft.evaluate(x, time)
        return force, energy + self.grip.add_force(x, force)

    def remembered(self, memory: Mapping[str, Vec], q: Vec) -> dict[str, Vec]:
        """A memory with what it has come to hold where the stage ends, with the loads that are there."""
        time = self.posed.stage.time
        x = self.soft.coordinates.place(q, time)
        return with_anchors(memory, self.soft.ground.static_friction(x, time, self.anchors), x)


def _gripped(soft: SoftBodies, posed: Touched, found: Found, u: Vec, start: State) -> _Gripped | None:
    """The same stage with positions held where nodes touch: what moves them besides velocities feels friction as each
    node does, while velocities are too few to stop each. None where no friction is a force. Raises StepFailed.

    Friction is that of where velocities u bring the nodes, with the loads that braked these.
    """
    stage, law = posed.stage, soft.ground
    if not law.has_static_friction:
        return None
    begun = soft.coordinates.place(start.q, start.time)
    anchors = law.anchors(start.memory, begun, start.time)
    load = found.rubbing.normal_impulse / (stage.a * stage.h)
    grip = law.static_friction_under_load(load, found.rubbing.nodes, found.rubbing.normal, stage.time, anchors)
    if grip is None:
        return None
    base = begun if stage.base is None else soft.coordinates.place(stage.base, stage.time)
    ahead = base + stage.b * stage.h * soft.coordinates.spread(u, stage.w)
    try:
        held = posed.static_friction(grip, ahead)
    except NotPositiveDefinite as failure:
        raise StepFailed("the system matrix is not positive definite") from failure
    return _Gripped(soft, held, grip, anchors)


def rubbed(soft: SoftBodies, posed: Touched, after: State, rest: Vec | None = None) -> State:
    """The end of a stage that was solved without friction, posed there anew, and with it to first order.

    rest: what one more iteration without friction would change of the rates, (m,) [m/s]: what is left where a stage
    ends may be as large as friction, and is taken with it; None where nothing is. Raises StepFailed.
    """
    alone, stage = posed.solve(), posed.stage
    own = 3 * len(soft.coordinates.free)
    # contacts press as they do where the stage ended, wherever velocities alone would have brought what balances
    ended = replace(stage, base=(after.q - stage.b * stage.h * after.u)[:own])
    rates = after.u if rest is None else after.u + rest
    found = friction_impulses(soft, posed, ended, rates, after.memory)
    if found is None:
        return remember(after, stage, None)
    under = posed.under(found.impulses)
    change = under.solve() - alone + (rates - after.u)
    q, u = after.q + stage.b * stage.h * change, after.u + change
    # friction is among the loads that balance
    q = under.relax(q, u, soft.evaluate, BALANCE_STEPS)
    return remember(State(after.time, q, u, after.memory), stage, found)


def under(stage: NodeStage, rubbed: State, mass: Vec) -> NodeStage:
    """A stage of nodes, (n,) [kg], on which friction acts as it did in the state that `rubbed` has."""
    force = rubbed.memory[FORCE]
    gained = np.divide(force, mass[:, None], out=np.zeros_like(force), where=mass[:, None] > 0.0)
    return replace(stage, v_hat=stage.v_hat + stage.a * stage.h * gained)


@dataclass(frozen=True)
class Found:
    """Friction of a stage."""

    rubbing: SlidingNodes
    impulses: Vec  #: on all nodes, (n, 3) [N s]


def friction_impulses(soft: SoftBodies, posed: Touched, stage: NodeStage, u: Vec,
                      memory: Mapping[str, Vec]) -> Found | None:
    """Impulses of friction at rates u, those of the free nodes first; None where nothing rubs.

    Contacts are those at which the stage was linearised, and their normal impulses what the penalty gives over the
    stage, K included: a h k (−gap − n · (x − x_lin)), x where the stage ends. [ConJac BUNNY]
    """
    law, contacts = soft.ground, posed.lin.contacts.of(soft.ground.is_free)
    if law.friction is None or not len(contacts):
        return None
    coordinates, share = soft.coordinates, stage.a * stage.h
    nodes, normal = contacts.nodes, contacts.normal
    u = u[: 3 * len(coordinates.free)]
    v = coordinates.spread(u, stage.w)[nodes]
    ahead = stage.stiffness_and_share(posed.lin) / share  # seconds by which K looks ahead, β and damping included
    moved = ahead * coordinates.spread(posed.moving(u), stage.w)[nodes]
    if stage.base is not None:
        moved += coordinates.place(stage.base, stage.time, stage.led)[nodes] - posed.lin.x[nodes]
    depth = -contacts.gap - np.einsum("ka,ka->k", normal, moved)
    stiffness = law.stiffness[nodes]
    pressing = share * stiffness * np.maximum(depth, 0.0)
    rubbing = SlidingNodes(nodes, normal, along(v - law.plane.velocity(stage.time), normal), pressing,
                      share * ahead * stiffness, soft.mass[nodes], share * friction_force(soft, memory)[nodes])
    impulses = np.zeros((len(soft.mass), 3))
    impulses[nodes] = law.friction.impulses(rubbing, posed.compliance(nodes))
    return Found(rubbing, impulses)


def remember(after: State, stage: NodeStage, found: Found | None) -> State:
    """The state with a stage's impulses of friction in its memory, none where nothing rubbed, and nothing held."""
    if found is None and not any(key in after.memory for key in (FORCE, STUCK_NODES, ANCHORS)):
        return after
    memory = {key: value for key, value in after.memory.items() if key not in (FORCE, STUCK_NODES, ANCHORS)}
    if found is not None:
        memory[FORCE] = found.impulses / (stage.a * stage.h)
    return replace(after, memory=memory)


def friction_force(soft: SoftBodies, memory: Mapping[str, Vec]) -> Vec:
    """What the memory has of the ground's friction on all nodes, (n, 3) [N]."""
    known = memory.get(FORCE)
    shape = (len(soft.mass), 3)
    return known if known is not None and known.shape == shape else np.zeros(shape)
