"""Staggered coupling of parts that step by themselves, such as a cloth with substeps, with all parts that they touch or
are attached to.

The vertices of cloth with Sharp Edges are created and removed within a step, so its equations cannot be part of one
system with others. Instead the other parts step first, under predicted forces of the staggered part. Then the staggered
part steps, with interface points that respond by their effective inertia (`parts/eol/interface_inertia`), and returns
its reaction. Both steps are repeated with relaxation until prediction and reaction agree and the staggered part
intersects nothing at the others' final positions. The remaining impulse is carried over to the next step, so momentum
is conserved. Without convergence the others' motion is final, and the staggered part steps with the interface points
prescribed; where it has no room the step is shortened.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy.sparse import csr_matrix

from ..coordinates.prescribed import StepMotion
from ..errors import StepFailed
from ..integrators.control import Controller
from ..parts.eol.interface_inertia import InterfaceInertia, block_diagonal
from ..state import State, Vec
from ..world.interface import NO_INPUTS, Coupling, Part, StepInputs, SteppedPart
from ..world.layout import Layout
from ..world.subsystems import Advance, Subsystems, naming_part, rescuing, stepping
from .interface_points import InterfacePoints

#: keys of a staggered part's memory, (p, 3) each: acting force [N], carried over impulse [N s]
ACTING, CARRIED_OVER = "acts", "owed"
MAX_ITERATIONS = 6  #: largest number of fixed-point iterations of a step
CONVERGED = 0.01  #: relative to the reaction: a smaller error is carried over to the next step
SLOWEST, FASTEST = 0.02, 1.0  #: bounds of the relaxation factor


class StaggeredPart(Protocol):
    """Protocol of a part that steps by itself; its step returns its reaction, an `InterfaceReaction`, with the
    state."""

    def with_interface(self, inertia: InterfaceInertia | None) -> SteppedPart:
        """Return a copy of the part whose interface points respond with this inertia; None: the points' motion is
        prescribed."""

    def may_finish(self, state: State) -> bool:
        """Whether the part intersects nothing at the final positions of the interface points. state: as the step
        returned it."""


@dataclass(frozen=True)
class InterfaceLink:
    """Points of one part that a staggered part touches or is attached to."""

    carrier: InterfacePoints
    points: slice  #: among all interface points of the staggered part
    path: StepMotion  #: motion of the points within a step, as prescribed to the staggered part
    #: interpolation from the part's points to the interface points, (points, k); None: identity
    within: csr_matrix | None = None

    @property
    def count(self) -> int:
        """Return the number of points of the part."""
        return self.points.stop - self.points.start if self.within is None else int(self.within.shape[1])

    def reaction(self, state: State) -> Vec:
        """Return the staggered part's impulses on the points of the part, (k, 3) [N s]. state: as the step of the
        staggered part returned it."""
        reaction: Vec = state.reaction.impulses[self.points]
        return reaction if self.within is None else self.within.T @ reaction


@dataclass(frozen=True)
class CoupledInterface:
    """A staggered part and all points that it touches or is attached to."""

    number: int  #: its index among the parts of the world
    part: StaggeredPart
    touched: int  #: number of points that it touches; those that it is attached to come after
    linked: Sequence[InterfaceLink]

    def inertia(self, before: Sequence[State], h: float) -> InterfaceInertia:
        """Return the effective inertia of the interface points in a step of h seconds from these states; points without
        a link are rigid."""
        inertias, done = list[InterfaceInertia](), 0
        for link in self.linked:
            if link.points.stop <= self.touched:
                inertias += [InterfaceInertia.nothing(link.points.start - done),
                             link.carrier.inertia(before[link.carrier.part], h)]
                done = link.points.stop
        return block_diagonal([*inertias, InterfaceInertia.nothing(self.touched - done)])


class _Points:
    """All interface points of the staggered parts of a world, (p,), in the order of their links."""

    def __init__(self, interfaces: Sequence[CoupledInterface], before: Sequence[State], h: float) -> None:
        self.interfaces, self.before, self.h = interfaces, before, h
        self.all = [(interface, linked) for interface in interfaces for linked in interface.linked]
        ends = np.cumsum([0, *(linked.count for _, linked in self.all)]).tolist()
        self.own = [slice(first, end) for first, end in zip(ends, ends[1:])]
        self.start = self.positions(before)
        self.inertia = [interface.inertia(before, h) for interface in interfaces]

    def positions(self, states: Sequence[State]) -> Vec:
        """Return positions of the points in these states of all parts, (p, 3) [m]."""
        return np.concatenate([linked.carrier.positions(states[linked.carrier.part]) for _, linked in self.all])

    def reaction(self, after: Sequence[State]) -> Vec:
        """Return the staggered parts' impulses on the points, (p, 3) [N s]."""
        return np.concatenate([linked.reaction(after[interface.number]) for interface, linked in self.all])

    def recall_values(self, name: str) -> Vec:
        """Return values of the staggered parts' memory, (p, 3); zero where there are none yet."""
        values = [self.before[interface.number].memory.get(name) for interface in self.interfaces]
        if any(value is None for value in values):
            return np.zeros_like(self.start)
        return np.concatenate([value for value in values if value is not None])

    def with_values(self, state: State, which: int, **values: Vec) -> State:
        """Return a staggered part's state with values of its points, (p, 3), in its memory for the next step."""
        own = [rows for rows, (interface, _) in zip(self.own, self.all) if interface is self.interfaces[which]]
        return replace(state, memory={**state.memory, **{
            name: np.concatenate([value[rows] for rows in own]) for name, value in values.items()}})

    def external_forces(self, acting: Vec) -> dict[int, Vec]:
        """Return the external forces on each part, by its index in the world, from those on the points, (p, 3) [N]."""
        out = dict[int, Vec]()
        for rows, (_, linked) in zip(self.own, self.all):
            out[linked.carrier.part] = linked.carrier.external_forces(acting[rows], out.get(linked.carrier.part))
        return out

    def with_interface(self, acting: Vec | None) -> list[SteppedPart]:
        """Return the staggered parts with interface points that respond to forces beyond these predicted ones, (p, 3)
        [N]; None: their motion is prescribed."""
        parts = []
        for interface, inertia in zip(self.interfaces, self.inertia):
            under = np.zeros((interface.touched, 3))
            for rows, (which, linked) in zip(self.own, self.all):
                if acting is not None and which is interface and linked.points.stop <= interface.touched:
                    under[linked.points] = acting[rows]
            parts.append(interface.part.with_interface(None if acting is None else inertia.under(under)))
        return parts

    def predict_end(self, end: Vec) -> None:
        """Set the predicted positions at the end of the step, (p, 3) [m]."""
        for rows, (_, linked) in zip(self.own, self.all):
            linked.path.set_step(self.before[linked.carrier.part].time, self.h, self.start[rows], end[rows])


class StaggeredParts(Coupling):
    """Coupling of staggered parts with all parts that step before them under their predicted forces: the outermost
    coupling of a world."""

    def __init__(self, parts: Sequence[Part], couplings: Sequence[Coupling],
                 interfaces: Sequence[CoupledInterface]) -> None:
        """couplings: of the other parts to each other. interfaces: of the staggered parts."""
        self._parts, self._couplings, self._interfaces = list(parts), list(couplings), list(interfaces)
        self._layout = Layout([part.unknowns for part in parts])
        self._subsystems = Subsystems(parts, couplings)
        self._staggered = {interface.number for interface in interfaces}
        self.notes = [note for coupling in couplings for note in coupling.notes]

    @property
    def parts(self) -> list[Part]:
        """Return all parts, the staggered ones last."""
        return self._parts

    def find_parts_solved_with(self, part: Part) -> Sequence[Part]:
        """Return the parts whose unknowns are in one system with those of this part, itself included."""
        of_part = (coupling.parts for coupling in self._couplings if any(coupled is part for coupled in coupling.parts))
        return next(of_part, [part])

    def replace_part(self, part: Part, after: Part, couplings: Sequence[Coupling]) -> Sequence[Coupling]:
        """Return this coupling, as the only element, with a reshaped part `after` in place of `part`. couplings: those
        of the reshaped part."""
        others = [coupling for coupling in self._couplings if not any(coupled is part for coupled in coupling.parts)]
        return [StaggeredParts([after if member is part else member for member in self._parts], [*others, *couplings],
                                self._interfaces)]

    def merge_states(self, states: Sequence[State]) -> State:
        """Return one state of all parts from their states."""
        return self._layout.merge_states(states)

    def split_state(self, state: State) -> list[State]:
        """Return the states of the parts, with attached nodes at their carriers."""
        return self._subsystems.move_attached_nodes(self._layout.split_state(state))

    def initial_state(self) -> State:
        """Return the state at the start frame. Raises Diverged."""
        return self.merge_states(self._subsystems.initial_states())

    def attempt(self, state: State, h: float, inputs: StepInputs) -> State:
        """Return the state after h seconds. The inputs are not used, as no coupling has this one as a part. Raises
        StepFailed."""
        return self._advance(state, h, stepping(h))

    def rescue(self, state: State, h: float, failure: StepFailed, inputs: StepInputs = NO_INPUTS) -> State:
        """Return the state after h seconds, with the part that failed stepped by a more robust method. Raises
        StepFailed."""
        return self._advance(state, h, rescuing(h, failure))

    def controller(self, tolerance: float, largest: int) -> Controller:
        """Return the step-size controller of the first part, for errors below `tolerance`; see `Subsystem`."""
        return self._subsystems.controller(tolerance, largest)

    def error(self, before: State, after: State, h: float) -> float:
        """Return the largest error estimate of a part or of a coupling of parts over a step of h seconds."""
        return self._subsystems.error(self._layout.split_state(before), self._layout.split_state(after), h)

    def forget_past(self) -> None:
        """Discard caches of earlier steps that are not in the State; the parts discard their own."""
        for coupling in self._couplings:
            coupling.forget_past()

    def _advance(self, state: State, h: float, advance: Advance) -> State:
        """Return the states of all parts, merged, after h seconds: the staggered ones step in turn with the others."""
        before = self._layout.split_state(state)

        def others(external_forces: Mapping[int, Vec]) -> list[State]:
            return self._subsystems.advance(before, advance, self._staggered, external_forces)

        def one_step(k: int, part: SteppedPart, own: State) -> State:
            return naming_part(k, advance, part, own)

        return self.merge_states(step_coupled(self._interfaces, self.split_state(state), h, others, one_step))


def step_coupled(interfaces: Sequence[CoupledInterface], before: Sequence[State], h: float,
                 others: Callable[[dict[int, Vec]], list[State]],
                 one_step: Callable[[int, SteppedPart, State], State]) -> list[State]:
    """Return the states of all parts after h seconds from `before`. Raises StepFailed.

    others: returns the states of all parts after a step from `before` under external forces, with the staggered parts
    not yet stepped. one_step: returns the state of the staggered part with index k after its step.
    """
    points = _Points(interfaces, before, h)
    carried_over = points.recall_values(CARRIED_OVER)
    acting = points.recall_values(ACTING) + carried_over / h
    last, relaxed = np.zeros((0, 3)), 1.0
    for tried in range(MAX_ITERATIONS):
        after = others(points.external_forces(acting))
        points.predict_end(points.positions(after))
        applied, is_last = h * acting, tried + 1 == MAX_ITERATIONS
        for interface, part in zip(interfaces, points.with_interface(None if is_last else acting - carried_over / h)):
            after[interface.number] = one_step(interface.number, part, before[interface.number])
        reaction = points.reaction(after)
        residual = carried_over + reaction - applied
        if is_last or (np.linalg.norm(residual) <= CONVERGED * np.linalg.norm(reaction)
                       and all(interface.part.may_finish(after[interface.number]) for interface in interfaces)):
            break
        if len(last):
            change = residual - last
            relaxed *= -float(np.vdot(last, change)) / max(float(np.vdot(change, change)), 1e-300)
            relaxed = min(max(relaxed, SLOWEST), FASTEST)
        last, acting = residual, (applied + relaxed * residual) / h
    for which, interface in enumerate(interfaces):
        values = {ACTING: reaction / h, CARRIED_OVER: residual}
        after[interface.number] = points.with_values(after[interface.number], which, **values)
    return after
