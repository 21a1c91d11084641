"""Friction of a stage: impulses that its law finds by asking the factored system again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

import numpy as np

from ..assembly.linearised import Linearised
from ..contact.find.half_space import HalfSpace
from ..contact.laws.interface import Friction, SlidingNodes, along
from ..contact.laws.penalty import Penalty
from ..coordinates.free_nodes import FreeNodes
from ..nonlinear.coupled import SETTLE
from ..parts.interface import Compliance, Evaluate, NodeStage, Stage
from ..state import Index, State, Vec

FORCE = "friction.force"  #: memory of the last stage's friction on all nodes [N], (n, 3), where a law starts from


class Ground(Protocol):
    """What rubs: nodes on a ground, with what acts on them besides."""

    coordinates: FreeNodes
    mass: Vec  #: lumped [kg], (n,)
    ground: tuple[HalfSpace, Penalty] | None
    friction: Friction | None  #: of the ground

    def evaluate(self, x: Vec, v: Vec, time: float) -> tuple[Vec, float]:
        """Forces [N], (n, 3), and the energy that they derive from [J]."""


class Touched(Protocol):
    """What is asked of a posed stage, whose first rates are those of the free nodes."""

    @property
    def lin(self) -> Linearised:
        """Where it was linearised."""

    @property
    def stage(self) -> NodeStage:
        """Of the nodes, at the rates that were solved for."""

    def solve(self) -> Vec:
        """Rates at its end, (m,). Raises StepFailed."""

    def under(self, impulses: Vec) -> Touched:
        """The same with impulses on all nodes besides, (n, 3) [N s]."""

    def correction(self, u: Vec) -> Vec:
        """What coordinates still owe at rates u, (m,)."""

    def settle(self, q: Vec, u: Vec, evaluate: Evaluate, corrections: int | None = None) -> Vec:
        """Coordinates at its end, (m_q,), nearer to balance."""

    def compliance(self, nodes: Index) -> Compliance:
        """What impulses on these free nodes change there."""

    def moving(self, u: Vec) -> Vec:
        """Rates with which contacts of the free nodes are pressed at theirs, both (3 f,)."""


def landed(system: Ground, posed: Touched, stage: Stage, start: State, is_last: bool) -> State:
    """The state at the end of a linearised stage, friction included; only the last one of a step is settled.

    stage: of all rates. Raises StepFailed.
    """
    u = posed.solve()
    impulses = friction_impulses(system, posed, posed.stage, u, start.memory)
    if impulses is not None:
        posed = posed.under(impulses)
        u = posed.solve()
    base = start.q if stage.base is None else stage.base
    q = base + stage.b * stage.h * (u + posed.correction(u))
    if is_last:
        q = posed.settle(q, u, system.evaluate)
    return remember(State(stage.time, q, u, start.memory), posed.stage, impulses)


def rubbed(system: Ground, posed: Touched, after: State) -> State:
    """The end of a stage that was solved without friction, posed there anew, and with it to first order.

    Raises StepFailed.
    """
    alone, stage = posed.solve(), posed.stage
    own = 3 * len(system.coordinates.free)
    # contacts press as they do where the stage ended, wherever velocities alone would have brought what balances
    ended = replace(stage, base=(after.q - stage.b * stage.h * after.u)[:own])
    impulses = friction_impulses(system, posed, ended, after.u, after.memory)
    if impulses is None:
        return remember(after, stage, None)
    under = posed.under(impulses)
    change = under.solve() - alone
    q, u = after.q + stage.b * stage.h * change, after.u + change
    # friction is among the loads that balance
    q = under.settle(q, u, system.evaluate, SETTLE)
    return remember(State(after.time, q, u, after.memory), stage, impulses)


def friction_impulses(system: Ground, posed: Touched, stage: NodeStage, u: Vec,
                      memory: Mapping[str, Vec]) -> Vec | None:
    """Impulses of friction on all nodes, (n, 3) [N s], at rates u, those of the free nodes first; None where nothing
    rubs.

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
    return impulses


def remember(after: State, stage: NodeStage, impulses: Vec | None) -> State:
    """The state with a stage's impulses of friction in its memory, none where nothing rubbed."""
    if impulses is None:
        if FORCE not in after.memory:
            return after
        return replace(after, memory={key: value for key, value in after.memory.items() if key != FORCE})
    return replace(after, memory={**after.memory, FORCE: impulses / (stage.a * stage.h)})


def _force(system: Ground, memory: Mapping[str, Vec]) -> Vec:
    """What the memory has of friction, (n, 3) [N]."""
    known = memory.get(FORCE)
    shape = (len(system.mass), 3)
    return known if known is not None and known.shape == shape else np.zeros(shape)
