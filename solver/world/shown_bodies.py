"""Output of the bodies of all parts of a world at a frame."""

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
    """Bodies of all parts in the order of the output, with their output at a frame."""

    def __init__(self, parts: Sequence[Part], order: Sequence[str]) -> None:
        """order: names of bodies in the order of the output; empty: the order of the parts.

        Raises BadScene where two bodies have the same name.
        """
        self.parts, self._order = list(parts), list(order)
        self._output_slices = self._body_slices()

    @abstractmethod
    def split_state(self, state: State) -> list[State]:
        """Return the state of each part, with attached nodes moved by their carriers."""

    def _body_slices(self) -> list[tuple[int, int, slice, slice]]:
        """Return the part, the index in it, and the vertices in the part and in the whole output, of each body.

        Raises BadScene where two bodies have the same name.
        """
        slices: dict[str, tuple[int, int, slice]] = {}
        for k, part in enumerate(self.parts):
            for number, (name, first, count) in enumerate(part.bodies):
                if name in slices:
                    raise BadScene(f'two parts have a body called "{name}"', "Give each a name of its own")
                slices[name] = (k, number, slice(first, first + count))
        out, first = [], 0
        for name in self._order or list(slices):
            k, number, part_state = slices[name]
            out.append((k, number, part_state, slice(first, first + part_state.stop - part_state.start)))
            first = out[-1][3].stop
        return out

    @property
    def bodies(self) -> list[tuple[str, int, int]]:
        """Return the name, first vertex and number of vertices of each body's output."""
        return [(self.parts[k].bodies[number][0], span.start, span.stop - span.start)
                for k, number, _, span in self._output_slices]

    @property
    def fundamental_hertz(self) -> dict[str, float]:
        """Return the fundamental frequency of each body for which it is known [Hz], by name."""
        return {name: hertz for part in self.parts for name, hertz in part.fundamental_hertz.items()}

    @property
    def summary(self) -> list[str]:
        """Return sentences of all parts about the steps up to now, for the end of the log."""
        return [note for part in self.parts for note in part.summary]

    @property
    def backend(self) -> str:
        """Return the name of the linear solver of the first part."""
        return self.parts[0].backend

    @property
    def mechanisms(self) -> list[dict[str, Any]]:
        """Return the manifest's entries of the mechanisms of all parts."""
        return [values for part in self.parts for values in part.mechanisms]

    def output(self, state: State, frame: int) -> Vec:
        """Return the vertices of all bodies in object space at a frame, (v, 3) [m]."""
        of_parts = [part.output(part_state, frame) for part, part_state in zip(self.parts, self.split_state(state))]
        if not self._output_slices:
            return np.zeros((0, 3))
        return np.concatenate([of_parts[k][part_state] for k, _, part_state, _ in self._output_slices])

    def longest(self, state: State) -> Vec:
        """Return the largest length of an edge of each body, relative to rest, (b,); 0 where it is not measured."""
        values = [part.longest(part_state) for part, part_state in zip(self.parts, self.split_state(state))]
        return np.array([values[k][number] for k, number, _, _ in self._output_slices])

    def stress(self, state: State) -> Vec | None:
        """Return von Mises stress [Pa], largest stretch, pressure [Pa] and speed [m/s] of all vertices, (v, 4).

        Rows are in the order of `output`, and zero for bodies without these; None where no body has them.
        """
        values = [part.stress(part_state) for part, part_state in zip(self.parts, self.split_state(state))]
        width = next((rows.shape[1] for rows in values if rows is not None), 0)
        if not width:
            return None
        rows_of_bodies = []
        for k, _, of_part, of_all in self._output_slices:
            rows = values[k]
            rows_of_bodies.append(np.zeros((of_all.stop - of_all.start, width)) if rows is None else rows[of_part])
        return np.concatenate(rows_of_bodies)

    @property
    def sheet_names(self) -> list[str]:
        """Return the names of the bodies whose topology changes between frames: remeshed cloth."""
        return [name for part in self.parts for name in part.sheet_names]

    def sheets(self, state: State, frame: int) -> dict[int, SheetRecord]:
        """Return the meshes of remeshed cloth at a frame, by the index of the body in `bodies`."""
        numbers = {(k, number): i for i, (k, number, _, _) in enumerate(self._output_slices)}
        states = self.split_state(state)
        return {numbers[k, number]: sheet for k, (part, part_state) in enumerate(zip(self.parts, states))
                for number, sheet in part.sheets(part_state, frame).items()}

    def poses(self, state: State) -> dict[str, Vec] | None:
        """Return the arrays of `JointsPart.poses`; None in a world without mechanisms."""
        values = (part.poses(part_state) for part, part_state in zip(self.parts, self.split_state(state)))
        return next((poses for poses in values if poses is not None), None)

    def contact_forces(self, state: State) -> Vec | None:
        """Return position in world [m], force [N] and distance [m] of all contacts, (k, 7); None without contact."""
        return all_contacts(self.contact_forces_by_part(state))

    def contact_forces_by_part(self, state: State) -> list[Vec | None]:
        """Return position in world [m], force [N] and distance [m] of the contacts of each part, (k, 7) or None."""
        return [part.contact_forces(part_state) for part, part_state in zip(self.parts, self.split_state(state))]

    def liveliness(self, state: State) -> Vec | None:
        """Return body index, strain-rate activity [1/s] and awake (1 or 0) of each dynamic node, (3, m).

        None where no body may sleep.
        """
        numbers = {(k, number): i for i, (k, number, _, _) in enumerate(self._output_slices)}
        rows_of_parts = []
        for k, (part, part_state) in enumerate(zip(self.parts, self.split_state(state))):
            values = part.liveliness(part_state)
            if values is not None:
                values = values.copy()
                values[0] = [numbers[k, int(number)] for number in values[0]]
                rows_of_parts.append(values)
        return np.concatenate(rows_of_parts, axis=1) if rows_of_parts else None


def all_contacts(by_part: Sequence[Vec | None]) -> Vec | None:
    """Return the contacts of all parts in one array, (k, 7); None where no part has contact."""
    contacts = [rows for rows in by_part if rows is not None]
    return np.concatenate(contacts) if contacts else None
