"""The world: all parts in one state, their attachments, and the protocol of a bake."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import BadScene, Diverged, StepFailed
from ..integrators.control import Controller
from ..parts.interface import EXTERNAL_FORCE
from ..state import State, Vec
from .cloth_coupling import CoupledInterface, step_coupled
from .interface import Attachment, Part, Subsystem
from .layout import Layout

if TYPE_CHECKING:
    from ..embedding.sheets import SheetRecord


class World:
    """All parts of a scene. A part acts only on the part that it is attached to, with which it is solved
    monolithically; a cloth with substeps acts on all that it touches, see `cloth_coupling`."""

    def __init__(self, parts: Sequence[Part], order: Sequence[str] = (), notes: Sequence[str] = (),
                 attachments: Sequence[Attachment] = (), interfaces: Sequence[CoupledInterface] = ()) -> None:
        """order: names of bodies in the order of the output; empty: that of the parts. notes: sentences in addition to
        those of the parts. attachments: of parts to each other. interfaces: of cloths with substeps. Raises BadScene
        where two bodies have one name, or an attachment is to no part or circular."""
        self.parts, self._order = list(parts), list(order)
        self.attachments, self._interfaces = list(attachments), list(interfaces)
        self.notes: list[str] = []
        self._notes_read = [0] * len(self.parts)
        self._gather_notes()
        self.notes += [note for attachment in self.attachments for note in attachment.notes]
        self.notes += notes
        self._layout = Layout([part.unknowns for part in self.parts])
        ridden = [(one, (_number_of(self.parts, one.attached_part), _number_of(self.parts, one.carrying_part)))
                  for one in self.attachments]
        riding = [k for _, numbers in ridden for k in numbers]
        if len({*riding}) < len(riding):
            raise BadScene("a part rides on what rides itself, or is in two rides",
                           "Let each hang on one mechanism, and no mechanism on what hangs")
        #: subsystems, and the indices of their parts
        self._solved: list[tuple[Subsystem, tuple[int, ...]]] = [
            *((part, (k,)) for k, part in enumerate(self.parts) if k not in riding), *ridden]
        self._output_slices = self._body_slices()

    def _gather_notes(self) -> None:
        """Add the parts' new notes, each sentence once."""
        for k, part in enumerate(self.parts):
            new, self._notes_read[k] = part.notes[self._notes_read[k]:], len(part.notes)
            self.notes += [note for note in new if note not in self.notes]

    def _body_slices(self) -> list[tuple[int, int, slice, slice]]:
        """Return part, index in it, slice of its vertices and of the whole output, for each body in the order of the
        output."""
        found: dict[str, tuple[int, int, slice]] = {}
        for k, part in enumerate(self.parts):
            for number, (name, first, count) in enumerate(part.bodies):
                if name in found:
                    raise BadScene(f'two parts have a body called "{name}"', "Give each a name of its own")
                found[name] = (k, number, slice(first, first + count))
        out, first = [], 0
        for name in self._order or list(found):
            k, number, part_state = found[name]
            out.append((k, number, part_state, slice(first, first + part_state.stop - part_state.start)))
            first = out[-1][3].stop
        return out

    @property
    def bodies(self) -> list[tuple[str, int, int]]:
        """Return (name, first vertex, number of vertices) of each body's output."""
        return [(self.parts[k].bodies[number][0], there.start, there.stop - there.start)
                for k, number, _, there in self._output_slices]

    @property
    def fundamental_hertz(self) -> dict[str, float]:
        """Return the fundamental frequency of each body for which it is known [Hz], by name."""
        return {name: hertz for part in self.parts for name, hertz in part.fundamental_hertz.items()}

    @property
    def summary(self) -> list[str]:
        return [note for part in self.parts for note in part.summary]

    @property
    def backend(self) -> str:
        """Return the linear solver of the first part."""
        return self.parts[0].backend

    @property
    def mechanisms(self) -> list[dict[str, Any]]:
        return [values for part in self.parts for values in part.mechanisms]

    def with_part(self, k: int, part: Part, attachments: Sequence[Attachment] = ()) -> World:
        """Return a world with another part in place of the k-th, after that was reshaped. attachments: those of the new
        part."""
        parts = [part if i == k else subsystem for i, subsystem in enumerate(self.parts)]
        subsystems_after = [attachment for attachment in self.attachments
                            if self.parts[k] not in (attachment.attached_part, attachment.carrying_part)]
        other = World(parts, self._order, attachments=[*subsystems_after, *attachments], interfaces=self._interfaces)
        other.notes = [*self.notes, *(note for note in part.notes if note not in self.notes)]
        return other

    def with_parts(self, parts: Sequence[Part], attachments: Sequence[Attachment]) -> World:
        """Return a world of the same bodies in other parts."""
        other = World(parts, self._order, attachments=attachments, interfaces=self._interfaces)
        other.notes = [*self.notes, *(note for note in other.notes if note not in self.notes)]
        return other

    @property
    def independent(self) -> list[tuple[tuple[int, ...], list[Attachment]]]:
        """Return the indices of parts that a step solves together, and their attachments; all in one where cloths with
        substeps act on others."""
        if self._interfaces:
            return [(tuple(range(len(self.parts))), self.attachments)]
        return [(tuple(sorted(numbers)), [one for one in self.attachments if one is subsystem])
                for subsystem, numbers in self._solved]

    # one state

    def parted(self, state: State) -> list[State]:
        """Return the states of the parts, with attached nodes at their carriers."""
        states = self._layout.parted(state)
        for subsystem, numbers in self._solved:
            for k, part_state in zip(numbers, subsystem.parted(subsystem.merged([states[k] for k in numbers]))):
                states[k] = part_state
        return states

    def states_of(self, groups: Sequence[Sequence[int]], state: State) -> list[State]:
        """Return the states of worlds of these parts alone, by their numbers."""
        states = self._layout.parted(state)
        return [Layout([self.parts[k].unknowns for k in numbers]).merged([states[k] for k in numbers])
                for numbers in groups]

    def state_of(self, groups: Sequence[Sequence[int]], states: Sequence[State], before: State) -> State:
        """Return one state of all from those of worlds of these parts alone, of all parts; `before` has the memory that
        belongs to no part."""
        found: dict[int, State] = {}
        for numbers, state in zip(groups, states):
            found |= zip(numbers, Layout([self.parts[k].unknowns for k in numbers]).parted(state))
        self._gather_notes()
        return self.merged([found[k] for k in range(len(self.parts))], before)

    def merged(self, states: Sequence[State], before: State | None = None) -> State:
        """Return one state of all; `before` has the memory that belongs to no part."""
        return self._layout.merged(states, before)

    def check(self, state: State) -> None:
        """Check a state that was read from a file. Raises ValueError, LookupError or BadInput where no step could have
        ended in it."""
        self._layout.check(state)
        for part, own in zip(self.parts, self._layout.parted(state)):
            part.check(own)

    def initial_state(self) -> State:
        """Return the state at the start frame. Raises Diverged."""
        started: dict[int, State] = {}
        for subsystem, numbers in self._solved:
            started |= zip(numbers, subsystem.parted(subsystem.initial_state()))
        return self.merged([started[k] for k in range(len(self.parts))])

    def step(self, state: State, h: float) -> State:
        """Return the state after h seconds. Raises StepFailed; the old state is still valid."""
        return self._advanced(state, h, lambda k, subsystem, part_state: subsystem.step(part_state, h))

    def rescue(self, state: State, h: float, failure: StepFailed) -> State:
        """Return the state after h seconds, the part that failed stepped by a more robust method. Raises StepFailed."""
        return self._advanced(state, h, lambda k, subsystem, part_state: subsystem.rescue(part_state, h, failure)
                              if failure.part in (k, None)
                              else subsystem.step(part_state, h))

    def _advanced(self, state: State, h: float, advance: Callable[[int, Subsystem, State], State]) -> State:
        """Return the state after all subsystems advanced; a StepFailed names its part."""
        before, cloths = self._layout.parted(state), {subsystem.cloth for subsystem in self._interfaces}

        def subsystems_after(external_force: Mapping[int, Vec]) -> list[State]:
            states = list(before)
            for k, forces in external_force.items():
                states[k] = replace(states[k], memory={**states[k].memory, EXTERNAL_FORCE: forces})
            for subsystem, numbers in self._solved:
                if numbers[0] not in cloths:
                    after = _naming_part(numbers[0], advance, subsystem, subsystem.merged([states[k] for k in numbers]))
                    for k, part_state in zip(numbers, subsystem.parted(after)):
                        states[k] = part_state
            for k in external_force:
                memory = {key: value for key, value in states[k].memory.items() if key != EXTERNAL_FORCE}
                states[k] = replace(states[k], memory=memory)
            return states

        def of_cloth(k: int, cloth: Part, part_state: State) -> State:
            return _naming_part(k, advance, cloth, part_state)

        states = subsystems_after({}) if not self._interfaces else step_coupled(self._interfaces, self.parted(state),
                                                                                h, subsystems_after,
                                                                                of_cloth)
        self._gather_notes()
        return self.merged(states, state)

    # the loop's protocol

    def output(self, state: State, frame: int) -> Vec:
        """Return vertices of all bodies in object space at this frame, (v, 3)."""
        of_parts = [part.output(part_state, frame) for part, part_state in zip(self.parts, self.parted(state))]
        if not self._output_slices:
            return np.zeros((0, 3))
        return np.concatenate([of_parts[k][part_state] for k, _, part_state, _ in self._output_slices])

    def longest(self, state: State) -> Vec:
        """Return the largest stretch of an edge of each body, (b,)."""
        values = [part.longest(part_state) for part, part_state in zip(self.parts, self.parted(state))]
        return np.array([values[k][number] for k, number, _, _ in self._output_slices])

    def stress(self, state: State) -> Vec | None:
        """Return von Mises stress [Pa], largest stretch, pressure [Pa] and speed [m/s] at the vertices of all bodies,
        (v, 4), in the order of `output`, zeros where a body shows none; None where no body does."""
        values = [part.stress(part_state) for part, part_state in zip(self.parts, self.parted(state))]
        width = next((rows.shape[1] for rows in values if rows is not None), 0)
        if not width:
            return None
        found = []
        for k, _, of_part, of_all in self._output_slices:
            rows = values[k]
            found.append(np.zeros((of_all.stop - of_all.start, width)) if rows is None else rows[of_part])
        return np.concatenate(found)

    @property
    def sheet_names(self) -> list[str]:
        """Return names of the bodies whose topology changes from frame to frame."""
        return [name for part in self.parts for name in part.sheet_names]

    def sheets(self, state: State, frame: int) -> dict[int, SheetRecord]:
        """Return the meshes of those at this frame, by their index among `bodies`."""
        numbers = {(k, number): i for i, (k, number, _, _) in enumerate(self._output_slices)}
        return {numbers[k, number]: sheet for k, (part, part_state) in enumerate(zip(self.parts, self.parted(state)))
                for number, sheet in part.sheets(part_state, frame).items()}

    def poses(self, state: State) -> dict[str, Vec] | None:
        """Return poses of all mechanisms, which are one part; None where there are none."""
        values = (part.poses(part_state) for part, part_state in zip(self.parts, self.parted(state)))
        return next((poses for poses in values if poses is not None), None)

    def contact_forces(self, state: State) -> Vec | None:
        """Return positions [m], forces [N] and distances [m] of all contacts, (k, 7); None where contact is off."""
        values = [part.contact_forces(part_state) for part, part_state in zip(self.parts, self.parted(state))]
        found = [rows for rows in values if rows is not None]
        return np.concatenate(found) if found else None

    def liveliness(self, state: State) -> Vec | None:
        """Return body, strain-rate activity [1/s] and awake (1 or 0) of each dynamic node, (3, m); None where none may
        sleep."""
        numbers = {(k, number): i for i, (k, number, _, _) in enumerate(self._output_slices)}
        found = []
        for k, (part, part_state) in enumerate(zip(self.parts, self.parted(state))):
            values = part.liveliness(part_state)
            if values is not None:
                values = values.copy()
                values[0] = [numbers[k, int(number)] for number in values[0]]
                found.append(values)
        return np.concatenate(found, axis=1) if found else None

    def forget_past(self) -> None:
        """Discard what depends on earlier steps and is not in the State."""
        for subsystem in [*self.parts, *self.attachments]:
            subsystem.forget_past()

    def controller(self, tolerance: float, largest: int) -> Controller:
        """Return a controller of steps with errors below `tolerance` in all parts, which have one integrator."""
        return self.parts[0].controller(tolerance, largest)

    def error(self, before: State, after: State, h: float) -> float:
        """Return the largest error of a part."""
        return max(part.error(subsystem, other, h)
                   for part, subsystem, other in zip(self.parts, self.parted(before), self.parted(after)))

    def deformation(self, before: State, after: State) -> float:
        """Return the largest deformation of a part."""
        return max(part.deformation(subsystem, other)
                   for part, subsystem, other in zip(self.parts, self.parted(before), self.parted(after)))

    def most_deformed(self, before: State, after: State) -> tuple[float, str | None]:
        """Return the largest relative change of an edge by a step's displacement, and its body's name."""
        found = (part.most_deformed(subsystem, other)
                 for part, subsystem, other in zip(self.parts, self.parted(before), self.parted(after)))
        return max(found, key=lambda one: one[0])

    def impact_change(self, before: State, after: State) -> tuple[float, str | None]:
        """Return how many times too large the steepest change of velocity by an impact is in a step, and its body's
        name."""
        found = (part.impact_change(subsystem, other)
                 for part, subsystem, other in zip(self.parts, self.parted(before), self.parted(after)))
        return max(found, key=lambda one: one[0])

    def in_contact(self, state: State) -> bool:
        """Return whether surfaces push each other."""
        return any(part.in_contact(own) for part, own in zip(self.parts, self.parted(state)))

    def check_step_size(self, after: State, h: float) -> None:
        """Raise StepFailed where a part needs a shorter step."""
        for k, (part, part_state) in enumerate(zip(self.parts, self.parted(after))):
            try:
                part.check_step_size(part_state, h)
            except StepFailed as failure:
                failure.part = k
                raise

    def explain(self, failure: StepFailed, state: State, frame: int) -> Diverged:
        """Return the error for the artist, from the part that failed or that owns the named body."""
        k = failure.part
        candidates = (range(len(self.parts)) if k is None else
                      [k, *next(numbers for _, numbers in self._solved if k in numbers)])
        k = next((k for k in candidates if failure.object is not None and self.parts[k].owns(failure.object)),
                 candidates[0])
        states = self.parted(state)
        blocked_by = (self.parts[i].blocked_by(states[i]) for i in candidates)
        failure.remedy = failure.remedy or next(filter(None, blocked_by), "")
        return self.parts[k].explain(failure, states[k], frame)


def _number_of(parts: Sequence[Part], part: Part) -> int:
    """Return the index of a part. Raises BadScene where it is none of them."""
    for k, one in enumerate(parts):
        if one is part:
            return k
    raise BadScene("a part rides on one that is not in the scene", "Add what it rides on")


def _naming_part(k: int, advance: Callable[[int, Subsystem, State], State], subsystem: Subsystem,
                 part_state: State) -> State:
    try:
        return advance(k, subsystem, part_state)
    except StepFailed as failure:
        failure.part = k
        raise
