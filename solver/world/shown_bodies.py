"""The bodies of a world's parts, and their output of a frame."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import BadScene
from ..state import State, Vec
from .interface import Part

if TYPE_CHECKING:
    from ..embedding.sheets import SheetRecord


class ShownBodies(ABC):
    """The bodies of all parts, in the order of the output."""

    def __init__(self, parts: Sequence[Part], order: Sequence[str]) -> None:
        """order: names of bodies in the order of the output; empty: that of the parts. Raises BadScene where two bodies
        have one name."""
        self.parts, self._order = list(parts), list(order)
        self._output_slices = self._body_slices()

    @abstractmethod
    def parted(self, state: State) -> list[State]:
        """Return the states of the parts, with attached nodes at their carriers."""

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
        return all_contacts(self.contact_forces_by_part(state))

    def contact_forces_by_part(self, state: State) -> list[Vec | None]:
        """Return the contacts of each part as `contact_forces` has those of all."""
        return [part.contact_forces(part_state) for part, part_state in zip(self.parts, self.parted(state))]

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


def all_contacts(by_part: Sequence[Vec | None]) -> Vec | None:
    """Return the contacts of all parts, (k, 7); None where contact is off in each."""
    found = [rows for rows in by_part if rows is not None]
    return np.concatenate(found) if found else None
