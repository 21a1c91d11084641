"""Friction of a stage: impulses that its law finds by asking the factored system again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from ..contact.find.half_space import HalfSpace
from ..contact.laws.gripping import NODES, PLACES, Gripping, anchors_from
from ..contact.laws.interface import Friction, SlidingNodes, along
from ..contact.laws.penalty import Penalty
from ..coordinates.free_nodes import FreeNodes
from ..errors import StepFailed
from ..linear.interface import NotPositiveDefinite
from ..nonlinear.iterations import SETTLE
from ..parts.interface import Touched
from ..parts.stage import NodeStage, Stage
from ..state import Index, State, Vec

FORCE = "friction.force"  #: memory of the last stage's friction on all nodes [N], (n, 3), where a law starts from


class NodesOnGround(Protocol):
    """What rubs: nodes on a ground, with what acts on them besides."""

    coordinates: FreeNodes
    mass: Vec  #: lumped [kg], (n,)
    ground: tuple[HalfSpace, Penalty] | None
    friction: Friction | None  #: of the ground

    def evaluate(self, x: Vec, v: Vec, time: float) -> tuple[Vec, float]:
        """Forces [N], (n, 3), and the energy that they derive from [J]."""

    def gripping(self, x: Vec, time: float, anchors: Vec) -> Gripping | None:
        """Friction of the ground as a force of positions, its loads those at x, (n, 3) [m]."""

    def gripping_under(self, load: Vec, nodes: Index, normal: Vec, time: float, anchors: Vec) -> Gripping | None:
        """The same where the ground presses some nodes (k,) with loads (k,) [N]."""


def landed(system: NodesOnGround, posed: Touched, stage: Stage, start: State, is_last: bool) -> State:
    """The state at the end of a linearised stage, friction included; only the last one of a step is settled.

    stage: of all rates. Raises StepFailed.
    """
    u = posed.solve()
    found = friction_impulses(system, posed, posed.stage, u, start.memory)
    base, evaluate, held = start.q if stage.base is None else stage.base, system.evaluate, None
    if found is not None:
        posed = posed.under(found.impulses)
        u = posed.solve()
        # where nothing balances what brakes velocities holds positions too
        held = _gripped(system, posed, found, u, start) if is_last and posed.balances else None
        if held is not None:
            posed, evaluate = held.posed, held.evaluate
    q = base + stage.b * stage.h * (u + posed.correction(u))
    if is_last:
        q = posed.settle(q, u, evaluate)
    after = remember(State(stage.time, q, u, start.memory), posed.stage, found)
    return after if held is None else replace(after, memory={**after.memory, **held.remembered(q)})


@dataclass(frozen=True)
class _Gripped:
    """A stage in whose balance friction is a force of positions."""

    system: NodesOnGround
    posed: Touched
    grip: Gripping
    anchors: Vec  #: of all nodes, from the point that the ground goes along with, (n, 3) [m]

    def evaluate(self, x: Vec, v: Vec, time: float) -> tuple[Vec, float]:
        """Forces with friction, and their energy."""
        force, energy = self.system.evaluate(x, v, time)
        return force, energy + self.grip.add_force(x, force)

    def remembered(self, q: Vec) -> dict[str, Vec]:
        """What it has come to hold where the stage ends, with the loads that are there."""
        assert self.system.ground is not None
        time = self.posed.stage.time
        x = self.system.coordinates.place(q, time)
        last = self.system.gripping(x, time, self.anchors)
        return {} if last is None else last.remembered(x, self.system.ground[0].point(time))


def _gripped(system: NodesOnGround, posed: Touched, found: Found, u: Vec, start: State) -> _Gripped | None:
    """The same stage with positions held where nodes touch: what moves them besides velocities feels friction as each
    node does, while velocities are too few to stop each. None where no friction is a force. Raises StepFailed.

    Friction is that of where velocities u bring the nodes, with the loads that braked these.
    """
    stage = posed.stage
    if system.ground is None or system.friction is None or not system.friction.grips:
        return None
    begun = system.coordinates.place(start.q, start.time)
    anchors = anchors_from(start.memory, begun, system.ground[0].point(start.time))
    load = found.rubbing.pressing / (stage.a * stage.h)
    grip = system.gripping_under(load, found.rubbing.nodes, found.rubbing.normal, stage.time, anchors)
    if grip is None:
        return None
    base = begun if stage.base is None else system.coordinates.place(stage.base, stage.time)
    ahead = base + stage.b * stage.h * system.coordinates.spread(u, stage.w)
    try:
        held = posed.gripping(grip, ahead)
    except NotPositiveDefinite as failure:
        raise StepFailed("the system matrix is not positive definite") from failure
    return _Gripped(system, held, grip, anchors)


def rubbed(system: NodesOnGround, posed: Touched, after: State) -> State:
    """The end of a stage that was solved without friction, posed there anew, and with it to first order.

    Raises StepFailed.
    """
    alone, stage = posed.solve(), posed.stage
    own = 3 * len(system.coordinates.free)
    # contacts press as they do where the stage ended, wherever velocities alone would have brought what balances
    ended = replace(stage, base=(after.q - stage.b * stage.h * after.u)[:own])
    found = friction_impulses(system, posed, ended, after.u, after.memory)
    if found is None:
        return remember(after, stage, None)
    under = posed.under(found.impulses)
    change = under.solve() - alone
    q, u = after.q + stage.b * stage.h * change, after.u + change
    # friction is among the loads that balance
    q = under.settle(q, u, system.evaluate, SETTLE)
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


def friction_impulses(system: NodesOnGround, posed: Touched, stage: NodeStage, u: Vec,
                      memory: Mapping[str, Vec]) -> Found | None:
    """Impulses of friction at rates u, those of the free nodes first; None where nothing rubs.

    Contacts are those at which the stage was linearised, and their normal impulses what the penalty gives over the
    stage, K included: a h k (−gap − n · (x − x_lin)), x where the stage ends. [ConJac BUNNY]
    """
    contacts, friction = posed.lin.contacts, system.friction
    if friction is None or system.ground is None or contacts is None:
        return None
    finder, penalty = system.ground
    coordinates, share = system.coordinates, stage.a * stage.h
    touching = coordinates.is_free[contacts.nodes]
    nodes, normal = contacts.nodes[touching], contacts.normal[touching]
    if not len(nodes):
        return None
    u = u[: 3 * len(coordinates.free)]
    v = coordinates.spread(u, stage.w)[nodes]
    ahead = stage.stiffness_and_share(posed.lin) / share  # seconds by which K looks ahead, β and damping included
    moved = ahead * coordinates.spread(posed.moving(u), stage.w)[nodes]
    if stage.base is not None:
        moved += coordinates.place(stage.base, stage.time, stage.led)[nodes] - posed.lin.x[nodes]
    depth = -contacts.gap[touching] - np.einsum("ka,ka->k", normal, moved)
    stiffness = penalty.stiffness(nodes)
    pressing = share * stiffness * np.maximum(depth, 0.0)
    rubbing = SlidingNodes(nodes, normal, along(v - finder.velocity(stage.time), normal), pressing,
                      share * ahead * stiffness, system.mass[nodes], share * _force(system, memory)[nodes])
    impulses = np.zeros((len(system.mass), 3))
    impulses[nodes] = friction.impulses(rubbing, posed.compliance(nodes))
    return Found(rubbing, impulses)


def remember(after: State, stage: NodeStage, found: Found | None) -> State:
    """The state with a stage's impulses of friction in its memory, none where nothing rubbed, and nothing held."""
    if found is None and not any(key in after.memory for key in (FORCE, NODES, PLACES)):
        return after
    memory = {key: value for key, value in after.memory.items() if key not in (FORCE, NODES, PLACES)}
    if found is not None:
        memory[FORCE] = found.impulses / (stage.a * stage.h)
    return replace(after, memory=memory)


def _force(system: NodesOnGround, memory: Mapping[str, Vec]) -> Vec:
    """What the memory has of friction, (n, 3) [N]."""
    known = memory.get(FORCE)
    shape = (len(system.mass), 3)
    return known if known is not None and known.shape == shape else np.zeros(shape)


def friction_carried(memory: Mapping[str, Vec], source: Index, moved: Vec, share: Vec) -> dict[str, Vec]:
    """What the memory has of friction, on the nodes of bodies that were reshaped: each was `source`, (n,), moved by
    (n, 3) [m] and has a share of its mass, (n,)."""
    kept = {}
    if FORCE in memory:
        kept[FORCE] = share[:, None] * memory[FORCE][source]
    if NODES in memory:
        held = memory[NODES].astype(np.int32)
        place = np.full(max(int(source.max(initial=0)), int(held.max(initial=0))) + 1, -1, dtype=np.int32)
        place[held] = np.arange(len(held))
        nodes = np.flatnonzero(place[source] >= 0)
        kept |= {NODES: nodes.astype(float),
                 PLACES: (memory[PLACES].reshape(-1, 3)[place[source[nodes]]] + moved[nodes]).ravel()}
    return kept
