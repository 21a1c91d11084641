"""Subsystems of a world, which a step advances one after the other."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from ..errors import BadScene, StepFailed
from ..integrators.control import Controller
from ..state import State, Vec
from .interface import NO_INPUTS, Coupling, Part, StepInputs, Subsystem

#: returns the state of a subsystem after a step. Arguments: index of its first part, subsystem, state, inputs
Advance = Callable[[int, Subsystem, State, StepInputs], State]


class Subsystems:
    """Couplings, and parts in no coupling, which a step advances one after the other."""

    def __init__(self, parts: Sequence[Part], couplings: Sequence[Coupling]) -> None:
        """Raise BadScene where a coupled part is not in `parts` or in two couplings, or a part has no integrator."""
        coupled = [(coupling, tuple(number_of(parts, part) for part in coupling.parts)) for coupling in couplings]
        taken = [k for _, numbers in coupled for k in numbers]
        if len({*taken}) < len(taken):
            raise BadScene("the carrier of a part is carried itself, or a part has two carriers",
                           "Attach each part to one mechanism, and no mechanism to an attached part")
        uncoupled = [(part, (k,)) for k, part in enumerate(parts) if k not in taken and isinstance(part, Subsystem)]
        if len(uncoupled) + len(taken) < len(parts):
            raise BadScene("a part has no integrator and is in no coupling", "Couple it with another part")
        #: subsystems, and the indices of their parts
        self.solved: list[tuple[Subsystem, tuple[int, ...]]] = [*uncoupled, *coupled]
        self._count = len(parts)

    def move_attached_nodes(self, states: list[State]) -> list[State]:
        """Return the state of each part, with attached nodes moved by their carriers."""
        states = list(states)
        for subsystem, numbers in self.solved:
            for k, own in zip(numbers, subsystem.split_state(subsystem.merge_states([states[k] for k in numbers]))):
                states[k] = own
        return states

    def initial_states(self) -> list[State]:
        """Return the state of each part at the start frame. Raises Diverged."""
        states: dict[int, State] = {}
        for subsystem, numbers in self.solved:
            states |= zip(numbers, subsystem.split_state(subsystem.initial_state()))
        return [states[k] for k in range(self._count)]

    def controller(self, tolerance: float, largest: int) -> Controller:
        """Return the step size controller of the first part's subsystem; see `Subsystem.controller`."""
        first = next(subsystem for subsystem, numbers in self.solved if 0 in numbers)
        return first.controller(tolerance, largest)

    def error(self, before: Sequence[State], after: Sequence[State], h: float) -> float:
        """Return the largest error of a subsystem in a step of h seconds, relative to a body's size.

        before, after: state of each part.
        """
        return max(subsystem.error(subsystem.merge_states([before[k] for k in numbers]),
                                   subsystem.merge_states([after[k] for k in numbers]), h)
                   for subsystem, numbers in self.solved)

    def advance(self, states: Sequence[State], advance: Advance, without: Collection[int] = (),
                external_forces: Mapping[int, Vec] | None = None) -> list[State]:
        """Return the state of each part after all subsystems have advanced, one after the other.

        without: first parts of subsystems that do not advance. external_forces: on parts, by their index. Raises
        StepFailed with the index of the part.
        """
        after, forces = list(states), external_forces or {}
        for subsystem, numbers in self.solved:
            if numbers[0] not in without:
                inputs = StepInputs({own: forces[k] for own, k in enumerate(numbers) if k in forces})
                start = subsystem.merge_states([after[k] for k in numbers])
                end = naming_part(numbers[0], advance, subsystem, start, inputs)
                for k, own in zip(numbers, subsystem.split_state(end)):
                    after[k] = own
        return after


def stepping(h: float) -> Advance:
    """Return the function that advances a subsystem by a step of h seconds."""
    return lambda k, subsystem, state, inputs: subsystem.step(state, h, inputs)


def rescuing(h: float, failure: StepFailed) -> Advance:
    """Return the function that advances a subsystem by h seconds, the one that failed by a more robust step."""
    return lambda k, subsystem, state, inputs: (subsystem.rescue(state, h, failure, inputs)
                                                if failure.part in (k, None) else subsystem.step(state, h, inputs))


def naming_part(k: int, advance: Advance, subsystem: Subsystem, state: State,
                inputs: StepInputs = NO_INPUTS) -> State:
    """Return the state of a subsystem after it has advanced. Raises StepFailed with part k unless it names a part."""
    try:
        return advance(k, subsystem, state, inputs)
    except StepFailed as failure:
        failure.part = k if failure.part is None else failure.part
        raise


def number_of(parts: Sequence[Part], part: Part) -> int:
    """Return the index of a part in `parts`. Raises BadScene where it is not among these."""
    for k, other in enumerate(parts):
        if other is part:
            return k
    raise BadScene("the carrier of a part is not in the scene", "Add its carrier")
