"""A step of cloth that steps itself together with the parts that it touches or hangs on.

Its vertices come and go within a step, so it is no stage that one system of equations could have beside theirs. Instead
the others step first, under forces that the cloth is thought to have on them; it steps among them as they move then,
touches what came, and says what it did; and both are stepped anew until what was thought and what was done agree. The
last word is the cloth's, so nothing goes through anything; what is still owed then is given in the next step, so no
momentum is lost. What the cloth would do if soft nodes went another way than it was told is foreseen by the inertia of
what lies on them, without which light nodes and the cloth would throw each other about.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..coordinates.prescribed import OnItsWay
from ..state import State, Vec

if TYPE_CHECKING:
    from .carriers import Carrier

FELT, ACTS, OWED, WENT = "felt", "acts", "owed", "went"  #: the cloth's memory, (p, 3) each: [N s], [N], [N s], [m/s]
RELAXED = "relaxed"  #: likewise, how much of what was off is mended at once, (1,)
TRIES = 6  #: of one step
MORE = 1.5  #: relaxation of a step's first try, of that which the last step ended with
SETTLED = 0.08  #: of what a cloth did: where what was thought is no further off, it is owed
SLOWEST = 0.02  #: relaxation at least
FORESEEN = 4.0  #: of the inertia of cloth that lies on a node


@dataclass(frozen=True)
class Reached:
    """What one cloth reaches of one carrier."""

    carrier: Carrier
    points: slice  #: among all points that the cloth feels
    way: OnItsWay  #: that the cloth sees
    weight: Vec  #: of the cloth on each where it touches [kg], (k,)


@dataclass(frozen=True)
class Meeting:
    """One cloth and all that it reaches."""

    cloth: int  #: its place in the world
    reached: Sequence[Reached]


class _Points:
    """All points that the cloths of a world reach, one after the other."""

    def __init__(self, meetings: Sequence[Meeting], before: Sequence[State], h: float) -> None:
        self.meetings, self.before, self.h = meetings, before, h
        self.all = [(one, reached) for one in meetings for reached in one.reached]
        ends = np.cumsum([0, *(len(reached.weight) for _, reached in self.all)]).tolist()
        self.own = [slice(first, end) for first, end in zip(ends, ends[1:])]
        self.start = self.places(before)
        self.weight = np.concatenate([reached.weight for _, reached in self.all])

    def places(self, states: Sequence[State]) -> Vec:
        """In these states, (p, 3) [m]."""
        return np.concatenate([reached.carrier.places(states[reached.carrier.part]) for _, reached in self.all])

    def felt(self, after: Sequence[State]) -> Vec:
        """What cloths did to them, (p, 3) [N s]."""
        return np.concatenate([after[one.cloth].memory[FELT][reached.points] for one, reached in self.all])

    def known(self, name: str) -> Vec:
        """What the cloths' memory says, (p, 3); zero where it says nothing yet."""
        told = [self.before[one.cloth].memory.get(name) for one in self.meetings]
        if any(one is None for one in told):
            return np.zeros_like(self.start)
        return np.concatenate([one for one in told if one is not None])

    @property
    def relaxed(self) -> float:
        """With which relaxation a step begins: a little more than the last one ended with."""
        told = [self.before[one.cloth].memory.get(RELAXED) for one in self.meetings]
        return min([1.0, *(MORE * float(one[0]) for one in told if one is not None)])

    def remembered(self, state: State, which: int, relaxed: float, **values: Vec) -> State:
        """The state of a cloth with what the next step is to know."""
        own = [mine for mine, (one, _) in zip(self.own, self.all) if one is self.meetings[which]]
        return replace(state, memory={**state.memory, RELAXED: np.array([relaxed]), **{
            name: np.concatenate([value[mine] for mine in own]) for name, value in values.items()}})

    def bear(self, acts: Vec, resist: Vec) -> None:
        """Let them feel forces (p, 3) [N], and resist what they were not thought to do [N/m], (p,)."""
        for _, reached in self.all:
            reached.carrier.let_go()
        for mine, (_, reached) in zip(self.own, self.all):
            reached.carrier.bear(acts[mine], resist[mine], reached.way)

    def borne(self, resist: Vec, off: Vec) -> Vec:
        """What resisted, where they are so far off, (p, 3) [N], [m]."""
        return np.concatenate([reached.carrier.borne(resist[mine], off[mine])
                               for mine, (_, reached) in zip(self.own, self.all)])

    def go(self, end: Vec) -> None:
        """From now on they are thought to end the step there, (p, 3) [m]."""
        for mine, (_, reached) in zip(self.own, self.all):
            reached.way.goes(self.before[reached.carrier.part].time, self.h, self.start[mine], end[mine])


def step_together(meetings: Sequence[Meeting], before: Sequence[State], h: float, others: Callable[[], list[State]],
                  of_cloth: Callable[[int, State], State]) -> list[State]:
    """The states of all parts after h seconds. others: those of all that are in no meeting as cloth, after a step from
    `before` on. of_cloth: that of the k-th part, which is. Raises StepFailed."""
    points = _Points(meetings, before, h)
    debt = points.known(OWED)
    acts = points.known(ACTS) + debt / h
    # before the first try they are thought to go on as they went
    thought = points.start + h * points.known(WENT)
    points.go(thought)
    last, relaxed, meets = np.zeros((0, 3)), points.relaxed, points.known(ACTS).any(axis=1)
    for tried in range(TRIES):
        resist = np.where(meets, FORESEEN * points.weight / h**2, 0.0)
        points.bear(acts, resist)
        after = others()
        end = points.places(after)
        given = h * (acts + points.borne(resist, end - thought))
        thought = end
        points.go(end)
        for one in meetings:
            after[one.cloth] = of_cloth(one.cloth, before[one.cloth])
        felt = points.felt(after)
        meets |= felt.any(axis=1)
        off = debt + felt - given
        if np.linalg.norm(off) <= SETTLED * np.linalg.norm(felt) or tried + 1 == TRIES:
            break
        if len(last):
            change = off - last
            relaxed *= -float(np.vdot(last, change)) / max(float(np.vdot(change, change)), 1e-300)
            relaxed = min(max(relaxed, SLOWEST), 1.0)
        last, acts = off, given / h + relaxed * off / h
    for which, one in enumerate(meetings):
        after[one.cloth] = points.remembered(after[one.cloth], which, **{
            ACTS: felt / h, OWED: off, WENT: (end - points.start) / h}, relaxed=relaxed)
    return after
