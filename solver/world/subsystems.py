"""The subsystems of a world, which a step advances one after the other."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from ..errors import BadScene, StepFailed
from ..integrators.control import Controller
from ..state import State, Vec
from .interface import NO_INPUTS, Coupling, Part, StepInputs, Subsystem

#: the state of a subsystem after a step, from the index of its first part, itself, its state before and its inputs
Advance = Callable[[int, Subsystem, State, StepInputs], State]


class Subsystems:
    """Subsystems that a step takes one after the other: couplings, and the parts that are in none of them."""

    def __init__(self, parts: Sequence[Part], couplings: Sequence[Coupling]) -> None:
        """Raises BadScene where a coupling has a part that is none of these, or two couplings have one part."""
        coupled = [(one, tuple(number_of(parts, part) for part in one.parts)) for one in couplings]
        taken = [k for _, numbers in coupled for k in numbers]
        if len({*taken}) < len(taken):
            raise BadScene("the carrier of a part is carried itself, or a part has two carriers",
                           "Attach each part to one mechanism, and no mechanism to an attached part")
        alone = [(part, (k,)) for k, part in enumerate(parts) if k not in taken and isinstance(part, Subsystem)]
        if len(alone) + len(taken) < len(parts):
            raise BadScene("a part has no integrator and is in no coupling", "Couple it with another part")
        #: subsystems, and the indices of their parts
        self.solved: list[tuple[Subsystem, tuple[int, ...]]] = [*alone, *coupled]
        self._count = len(parts)

    def parted(self, states: list[State]) -> list[State]:
        """Return the states of the parts with attached nodes at their carriers."""
        states = list(states)
        for subsystem, numbers in self.solved:
            for k, own in zip(numbers, subsystem.parted(subsystem.merged([states[k] for k in numbers]))):
                states[k] = own
        return states

    def initial_states(self) -> list[State]:
        """Return the states of the parts at the start frame. Raises Diverged."""
        found: dict[int, State] = {}
        for subsystem, numbers in self.solved:
            found |= zip(numbers, subsystem.parted(subsystem.initial_state()))
        return [found[k] for k in range(self._count)]

    def controller(self, tolerance: float, largest: int) -> Controller:
        """Return the controller of the first part's steps, with errors below `tolerance`; see `Subsystem`."""
        first = next(subsystem for subsystem, numbers in self.solved if 0 in numbers)
        return first.controller(tolerance, largest)

    def error(self, before: Sequence[State], after: Sequence[State], h: float) -> float:
        """Return the largest error of a subsystem in a step of h seconds, from the states of the parts."""
        return max(subsystem.error(subsystem.merged([before[k] for k in numbers]),
                                   subsystem.merged([after[k] for k in numbers]), h)
                   for subsystem, numbers in self.solved)

    def advanced(self, states: Sequence[State], advance: Advance, without: Collection[int] = (),
                 external_forces: Mapping[int, Vec] | None = None) -> list[State]:
        """Return the states of the parts after each subsystem advanced, but of those whose first part is `without`.

        external_forces: on parts, by their index. A StepFailed names the part.
        """
        after, forces = list(states), external_forces or {}
        for subsystem, numbers in self.solved:
            if numbers[0] not in without:
                inputs = StepInputs({own: forces[k] for own, k in enumerate(numbers) if k in forces})
                end = naming_part(numbers[0], advance, subsystem, subsystem.merged([after[k] for k in numbers]), inputs)
                for k, own in zip(numbers, subsystem.parted(end)):
                    after[k] = own
        return after


def stepping(h: float) -> Advance:
    """Return the advance by a step of h seconds."""
    return lambda k, subsystem, state, inputs: subsystem.step(state, h, inputs)


def rescuing(h: float, failure: StepFailed) -> Advance:
    """Return the advance by h seconds in which the subsystem that failed takes a more robust step."""
    return lambda k, subsystem, state, inputs: (subsystem.rescue(state, h, failure, inputs)
                                                if failure.part in (k, None) else subsystem.step(state, h, inputs))


def naming_part(k: int, advance: Advance, subsystem: Subsystem, state: State,
                inputs: StepInputs = NO_INPUTS) -> State:
    """Return the state after a subsystem advanced; a StepFailed gets its part's number k unless it has one."""
    try:
        return advance(k, subsystem, state, inputs)
    except StepFailed as failure:
        failure.part = k if failure.part is None else failure.part
        raise


def number_of(parts: Sequence[Part], part: Part) -> int:
    """Return the index of a part. Raises BadScene where it is none of them."""
    for k, one in enumerate(parts):
        if one is part:
            return k
    raise BadScene("the carrier of a part is not in the scene", "Add its carrier")
