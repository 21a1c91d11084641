"""World of a simulation: all parts in one state, their couplings, and the methods that a bake calls."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import Diverged, StepFailed
from ..integrators.control import Controller
from ..state import State
from .interface import Coupling, Part, Subsystem
from .layout import Layout
from .shown_bodies import ShownBodies
from .subsystems import Subsystems, number_of, rescuing, stepping


class World(ShownBodies):
    """World with all parts of a scene and their couplings. Parts without a coupling do not interact."""

    def __init__(self, parts: Sequence[Part], order: Sequence[str] = (), notes: Sequence[str] = (),
                 couplings: Sequence[Coupling] = (), earlier_notes: Sequence[str] = ()) -> None:
        """order: names of bodies in the order of the output; empty: that of the parts. notes: additional sentences.
        earlier_notes: sentences of the world before its parts were replaced.

        Raises BadScene where two bodies have the same name, a coupled part is not in `parts` or in two couplings, or a
        part has no integrator.
        """
        super().__init__(parts, order)
        self.couplings = list(couplings)
        self._earlier_notes, self._own_notes = list(earlier_notes), list(notes)
        self._layout = Layout([part.unknowns for part in self.parts])
        self._subsystems = Subsystems(self.parts, self.couplings)

    @property
    def _all(self) -> list[Part | Subsystem]:
        """Return the parts and their couplings."""
        return [*self.parts, *self.couplings]

    @property
    def notes(self) -> list[str]:
        """Return the sentences for the user up to now, without duplicates; a step may add sentences."""
        of_parts = [note for member in self._all for note in member.notes]
        return list(dict.fromkeys([*self._earlier_notes, *of_parts, *self._own_notes]))

    def with_part(self, k: int, part: Part, couplings: Sequence[Coupling] = ()) -> World:
        """Return a world with part k replaced after it was reshaped. couplings: of the new part."""
        parts, before = list(self.parts), self.parts[k]
        parts[k] = part
        of_part = [coupling for coupling in self.couplings if any(coupled is before for coupled in coupling.parts)]
        after = [coupling for coupling in self.couplings if coupling not in of_part]
        for coupling in of_part:
            after += coupling.replace_part(before, part, couplings)
        return self._again(parts, after if of_part else [*after, *couplings])

    def with_parts(self, parts: Sequence[Part], couplings: Sequence[Coupling]) -> World:
        """Return a world with other parts and couplings of the same bodies, in the same order of output."""
        return self._again(parts, couplings)

    def _again(self, parts: Sequence[Part], couplings: Sequence[Coupling]) -> World:
        return World(parts, self._order, couplings=couplings, earlier_notes=self.notes)

    @property
    def independent(self) -> list[tuple[tuple[int, ...], list[Coupling]]]:
        """Return the indices of parts, ascending, of each subsystem, and its coupling in a list, empty for a part."""
        return [(tuple(sorted(numbers)), [coupling for coupling in self.couplings if coupling is subsystem])
                for subsystem, numbers in self._subsystems.solved]

    # one state

    def split_state(self, state: State) -> list[State]:
        """Return the state of each part, with attached nodes moved by their carriers."""
        return self._subsystems.move_attached_nodes(self._layout.split_state(state))

    def states_of(self, groups: Sequence[Sequence[int]], state: State) -> list[State]:
        """Return the states of smaller worlds from a state of this world. groups: indices of the parts of each."""
        states = self._layout.split_state(state)
        return [Layout([self.parts[k].unknowns for k in numbers]).merge_states([states[k] for k in numbers])
                for numbers in groups]

    def state_of(self, groups: Sequence[Sequence[int]], states: Sequence[State], before: State) -> State:
        """Return the state of this world from the states of smaller worlds that have all of its parts.

        groups: indices of the parts of each. before: state with the memory that belongs to no part.
        """
        by_part: dict[int, State] = {}
        for numbers, state in zip(groups, states):
            by_part |= zip(numbers, Layout([self.parts[k].unknowns for k in numbers]).split_state(state))
        return self.merge_states([by_part[k] for k in range(len(self.parts))], before)

    def merge_states(self, states: Sequence[State], before: State | None = None) -> State:
        """Return the state of the world from the state of each part. before: has memory that belongs to no part."""
        return self._layout.merge_states(states, before)

    def check(self, state: State) -> None:
        """Check a state that was read from a file.

        Raises ValueError, LookupError or BadInput where it does not fit the parts.
        """
        self._layout.check(state)
        for part, own in zip(self.parts, self._layout.split_state(state)):
            part.check(own)

    def initial_state(self) -> State:
        """Return the state at the start frame. Raises Diverged."""
        return self.merge_states(self._subsystems.initial_states())

    def step(self, state: State, h: float) -> State:
        """Return the state after a step of h seconds. Raises StepFailed; the old state remains valid."""
        return self.merge_states(self._subsystems.advance(self._layout.split_state(state), stepping(h)), state)

    def rescue(self, state: State, h: float, failure: StepFailed) -> State:
        """Return the state after h seconds, with a more robust step of the part that failed. Raises StepFailed."""
        ends = self._subsystems.advance(self._layout.split_state(state), rescuing(h, failure))
        return self.merge_states(ends, state)

    # the loop's protocol

    def forget_past(self) -> None:
        """Discard cached data that depends on earlier steps and is not part of the State."""
        for member in self._all:
            member.forget_past()

    def controller(self, tolerance: float, largest: int) -> Controller:
        """Return a controller of the step size for errors below a tolerance, relative to a body's size.

        largest: number of steps in a frame if all are of the largest size.
        """
        return self._subsystems.controller(tolerance, largest)

    def error(self, before: State, after: State, h: float) -> float:
        """Return the largest error of a subsystem in a step of h seconds, relative to a body's size."""
        return self._subsystems.error(self._layout.split_state(before), self._layout.split_state(after), h)

    def deformation(self, before: State, after: State) -> float:
        """Return the largest relative change of an edge in a step, by velocities."""
        return max(part.deformation(start, end)
                   for part, start, end in zip(self.parts, self.split_state(before), self.split_state(after)))

    def most_deformed(self, before: State, after: State) -> tuple[float, str | None]:
        """Return the largest relative change of an edge in a step, by displacement, and the name of its body."""
        largest = (part.most_deformed(start, end)
                   for part, start, end in zip(self.parts, self.split_state(before), self.split_state(after)))
        return max(largest, key=lambda one: one[0])

    def impact_change(self, before: State, after: State) -> tuple[float, str | None]:
        """Return the largest change of velocity by an impact, relative to the admissible one, and its body's name."""
        largest = (part.impact_change(start, end)
                   for part, start, end in zip(self.parts, self.split_state(before), self.split_state(after)))
        return max(largest, key=lambda one: one[0])

    def in_contact(self, state: State) -> bool:
        """Return whether surfaces are in contact at a state."""
        return any(part.in_contact(own) for part, own in zip(self.parts, self.split_state(state)))

    def check_step_size(self, after: State, h: float) -> None:
        """Raise StepFailed where a part needs a shorter step than h seconds, with the index of that part."""
        for k, (part, part_state) in enumerate(zip(self.parts, self.split_state(after))):
            try:
                part.check_step_size(part_state, h)
            except StepFailed as failure:
                failure.part = k
                raise

    def explain(self, failure: StepFailed, state: State, frame: int) -> Diverged:
        """Return the error for the artist, from the part that owns the named body, or else the part that failed."""
        k = failure.part
        candidates: Sequence[int] = range(len(self.parts)) if k is None else [k, *self._find_solved_with(k)]
        k = next((k for k in candidates if failure.object is not None and self.parts[k].owns(failure.object)),
                 candidates[0])
        states = self.split_state(state)
        remedies = (self.parts[i].suggest_remedy(states[i]) for i in candidates)
        failure.remedy = failure.remedy or next(filter(None, remedies), "")
        return self.parts[k].explain(failure, states[k], frame)

    def _find_solved_with(self, k: int) -> list[int]:
        """Return the indices of the parts whose unknowns are in one system with those of part k."""
        coupled = (coupling.find_parts_solved_with(self.parts[k]) for coupling in self.couplings
                   if any(part is self.parts[k] for part in coupling.parts))
        return [number_of(self.parts, part) for part in next(coupled, [self.parts[k]])]
