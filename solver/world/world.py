"""The world: parts in one state, who rides on whom, and what a bake asks of all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import BadScene, Diverged, StepFailed
from ..integrators.control import Controller
from ..parts.interface import BORNE
from ..state import State, Vec
from .interface import Part, Ride, SolvedAtOnce
from .layout import Layout
from .meeting import Meeting, step_together

if TYPE_CHECKING:
    from ..embedding.sheets import SheetTold


class World:
    """All parts of a scene. Nothing of one part acts on another but on those that it rides on, with which it is solved;
    and cloth with steps of its own on all that it touches, see `meeting`.
    """

    def __init__(self, parts: Sequence[Part], order: Sequence[str] = (), notes: Sequence[str] = (),
                 rides: Sequence[Ride] = (), meetings: Sequence[Meeting] = ()) -> None:
        """order: names of bodies as their output stands in a frame; empty: as the parts have them.
        notes: sentences besides those of the parts. rides: who of them rides on whom. meetings: of parts with steps of
        their own, and what they touch.
        Raises BadScene where two bodies have one name, or where a ride is on what is not there or in a circle."""
        self.parts, self._order, self.rides, self._meetings = list(parts), list(order), list(rides), list(meetings)
        self.notes: list[str] = []
        self._told = [0] * len(self.parts)
        self._gather_notes()
        self.notes += [note for ride in self.rides for note in ride.notes]
        self.notes += notes
        self._layout = Layout([part.unknowns for part in self.parts])
        ridden = [(ride, (self._number_of(ride.rider), self._number_of(ride.carrier))) for ride in self.rides]
        riding = [k for _, numbers in ridden for k in numbers]
        if len({*riding}) < len(riding):
            raise BadScene("a part rides on what rides itself, or is in two rides",
                           "Let each hang on one mechanism, and no mechanism on what hangs")
        #: what is solved at once, and the numbers of its parts
        self._solved: list[tuple[SolvedAtOnce, tuple[int, ...]]] = [
            *((part, (k,)) for k, part in enumerate(self.parts) if k not in riding), *ridden]
        self._places = self._placed()

    def _number_of(self, part: Part) -> int:
        for k, one in enumerate(self.parts):
            if one is part:
                return k
        raise BadScene("a part rides on one that is not in the scene", "Add what it rides on")

    def _gather_notes(self) -> None:
        """What parts had to say since it was asked last, each sentence once."""
        for k, part in enumerate(self.parts):
            new, self._told[k] = part.notes[self._told[k]:], len(part.notes)
            self.notes += [note for note in new if note not in self.notes]

    def _placed(self) -> list[tuple[int, int, slice, slice]]:
        """Of each body in the order of the output: part, number in it, its vertices there, and in the whole output."""
        found: dict[str, tuple[int, int, slice]] = {}
        for k, part in enumerate(self.parts):
            for number, (name, first, count) in enumerate(part.bodies):
                if name in found:
                    raise BadScene(f'two parts have a body called "{name}"', "Give each a name of its own")
                found[name] = (k, number, slice(first, first + count))
        out, first = [], 0
        for name in self._order or list(found):
            k, number, mine = found[name]
            out.append((k, number, mine, slice(first, first + mine.stop - mine.start)))
            first = out[-1][3].stop
        return out

    @property
    def bodies(self) -> list[tuple[str, int, int]]:
        """(name, first vertex, number of vertices) of each body's output."""
        return [(self.parts[k].bodies[number][0], there.start, there.stop - there.start)
                for k, number, _, there in self._places]

    @property
    def wobbles(self) -> dict[str, float]:
        """The frequency of the slowest wobble of each body that it is known of [Hz], by name."""
        return {name: hertz for part in self.parts for name, hertz in part.wobbles.items()}

    @property
    def summary(self) -> list[str]:
        return [note for part in self.parts for note in part.summary]

    @property
    def backend(self) -> str:
        """Of the first part."""
        return self.parts[0].backend

    @property
    def mechanisms(self) -> list[dict[str, Any]]:
        return [told for part in self.parts for told in part.mechanisms]

    def with_part(self, k: int, part: Part, rides: Sequence[Ride] = ()) -> World:
        """The same world with another part in the place of the k-th, after that was reshaped. rides: those that it is
        in now, in place of those that the k-th was in."""
        parts = [part if i == k else one for i, one in enumerate(self.parts)]
        others = [ride for ride in self.rides if self.parts[k] not in (ride.rider, ride.carrier)]
        other = World(parts, self._order, rides=[*others, *rides], meetings=self._meetings)
        other.notes = [*self.notes, *(note for note in part.notes if note not in self.notes)]
        return other

    # one state

    def parted(self, state: State) -> list[State]:
        """The states of the parts, nodes that ride where what carries them is."""
        states = self._layout.parted(state)
        for one, numbers in self._solved:
            for k, mine in zip(numbers, one.parted(one.merged([states[k] for k in numbers]))):
                states[k] = mine
        return states

    def merged(self, states: Sequence[State], before: State | None = None) -> State:
        """One state of all; `before` has the memory that is nobody's."""
        return self._layout.merged(states, before)

    def check(self, state: State) -> None:
        """Check a state that was read from a file. Raises ValueError, LookupError or BadInput where no step could have
        ended in it."""
        self._layout.check(state)
        for part, own in zip(self.parts, self._layout.parted(state)):
            part.check(own)

    def initial_state(self) -> State:
        """At the start frame. Raises Diverged."""
        started: dict[int, State] = {}
        for one, numbers in self._solved:
            started |= zip(numbers, one.parted(one.initial_state()))
        return self.merged([started[k] for k in range(len(self.parts))])

    def step(self, state: State, h: float) -> State:
        """The state after h seconds. Raises StepFailed; the old state is still good."""
        return self._advanced(state, h, lambda k, one, mine: one.step(mine, h))

    def rescue(self, state: State, h: float, failure: StepFailed) -> State:
        """The same, the part that failed stepped in another way that it knows of. Raises StepFailed."""
        return self._advanced(state, h, lambda k, one, mine: one.rescue(mine, h, failure) if failure.part in (k, None)
                              else one.step(mine, h))

    def _advanced(self, state: State, h: float, ask: Callable[[int, SolvedAtOnce, State], State]) -> State:
        """What each part answers of its own state, those in a ride at once; a StepFailed says whose it is."""
        before, cloths = self._layout.parted(state), {one.cloth for one in self._meetings}

        def others(borne: Mapping[int, Vec]) -> list[State]:
            states = list(before)
            for k, forces in borne.items():
                states[k] = replace(states[k], memory={**states[k].memory, BORNE: forces})
            for one, numbers in self._solved:
                if numbers[0] not in cloths:
                    after = _blaming(numbers[0], ask, one, one.merged([states[k] for k in numbers]))
                    for k, mine in zip(numbers, one.parted(after)):
                        states[k] = mine
            for k in borne:
                memory = {key: value for key, value in states[k].memory.items() if key != BORNE}
                states[k] = replace(states[k], memory=memory)
            return states

        def of_cloth(k: int, cloth: Part, mine: State) -> State:
            return _blaming(k, ask, cloth, mine)

        states = others({}) if not self._meetings else step_together(self._meetings, self.parted(state), h, others,
                                                                     of_cloth)
        self._gather_notes()
        return self.merged(states, state)

    # what the loop asks

    def output(self, state: State, frame: int) -> Vec:
        """Vertices of all bodies in object space at this frame, (v, 3)."""
        of_parts = [part.output(mine, frame) for part, mine in zip(self.parts, self.parted(state))]
        if not self._places:
            return np.zeros((0, 3))
        return np.concatenate([of_parts[k][mine] for k, _, mine, _ in self._places])

    def longest(self, state: State) -> Vec:
        """The longest edge of each body over its length at rest, (b,)."""
        told = [part.longest(mine) for part, mine in zip(self.parts, self.parted(state))]
        return np.array([told[k][number] for k, number, _, _ in self._places])

    @property
    def sheet_names(self) -> list[str]:
        """Names of the bodies whose frames have faces of their own."""
        return [name for part in self.parts for name in part.sheet_names]

    def sheets(self, state: State, frame: int) -> dict[int, SheetTold]:
        """The meshes of those at this frame, by their number among `bodies`."""
        numbers = {(k, number): i for i, (k, number, _, _) in enumerate(self._places)}
        return {numbers[k, number]: sheet for k, (part, mine) in enumerate(zip(self.parts, self.parted(state)))
                for number, sheet in part.sheets(mine, frame).items()}

    def poses(self, state: State) -> dict[str, Vec] | None:
        """Of all mechanisms, which are one part; None where there are none."""
        told = (part.poses(mine) for part, mine in zip(self.parts, self.parted(state)))
        return next((poses for poses in told if poses is not None), None)

    def touched(self, state: State) -> Vec | None:
        """Of all parts: places [m], forces [N] and distances [m], (k, 7); None where nothing may touch."""
        told = [part.touched(mine) for part, mine in zip(self.parts, self.parted(state))]
        found = [rows for rows in told if rows is not None]
        return np.concatenate(found) if found else None

    def liveliness(self, state: State) -> Vec | None:
        """Body, liveliness [1/s] and awake (1 or 0) of each dynamic node, (3, m); None where none may sleep."""
        numbers = {(k, number): i for i, (k, number, _, _) in enumerate(self._places)}
        found = []
        for k, (part, mine) in enumerate(zip(self.parts, self.parted(state))):
            told = part.liveliness(mine)
            if told is not None:
                told = told.copy()
                told[0] = [numbers[k, int(number)] for number in told[0]]
                found.append(told)
        return np.concatenate(found, axis=1) if found else None

    def forget_past(self) -> None:
        """Drop what depends on earlier steps and is not in the State."""
        for one in [*self.parts, *self.rides]:
            one.forget_past()

    def controller(self, tolerance: float, largest: int) -> Controller:
        """Chooses steps of which none errs by more than `tolerance` in any part: all have one integrator."""
        return self.parts[0].controller(tolerance, largest)

    def error(self, before: State, after: State, h: float) -> float:
        """Of the part that errs most."""
        return max(part.error(one, other, h)
                   for part, one, other in zip(self.parts, self.parted(before), self.parted(after)))

    def deformation(self, before: State, after: State) -> tuple[float, float]:
        """Of the parts that deform most."""
        told = [part.deformation(one, other)
                for part, one, other in zip(self.parts, self.parted(before), self.parted(after))]
        return max(worst for worst, _ in told), max(most for _, most in told)

    def refuse_haste(self, after: State, h: float) -> None:
        """Raises StepFailed where a part needs a shorter step."""
        for k, (part, mine) in enumerate(zip(self.parts, self.parted(after))):
            try:
                part.refuse_haste(mine, h)
            except StepFailed as failure:
                failure.part = k
                raise

    def explain(self, failure: StepFailed, state: State, frame: int) -> Diverged:
        """The error for the artist, from the part that failed or whose body is named."""
        k = failure.part
        among = (range(len(self.parts)) if k is None else
                 [k, *next(numbers for _, numbers in self._solved if k in numbers)])
        k = next((k for k in among if failure.object is not None and self.parts[k].owns(failure.object)), among[0])
        states = self.parted(state)
        hindered = (self.parts[i].hindered(states[i]) for i in among)
        failure.remedy = failure.remedy or next(filter(None, hindered), "")
        return self.parts[k].explain(failure, states[k], frame)


def _blaming(k: int, ask: Callable[[int, SolvedAtOnce, State], State], one: SolvedAtOnce, mine: State) -> State:
    try:
        return ask(k, one, mine)
    except StepFailed as failure:
        failure.part = k
        raise
