"""A step of cloth that steps itself together with the parts that it touches or hangs on.

Its vertices come and go within a step, so it is no stage that one system of equations could have beside theirs. Instead
the others step first, under forces that the cloth is thought to have on them; it steps among them, and what it touches
gives way in its step as its inertia lets it (`parts/eol/giving`), touches what came, and says what it did; and both are
stepped anew until what was thought and what was done agree, and nothing that the cloth left apart is crossed where the
others are. What is still owed then is given in the next step, so no momentum is lost. Where they do not come to agree
the others have the last word, and the cloth steps among them as they go; where it has no room the step is shorter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy.sparse import csr_matrix

from ..coordinates.prescribed import OnItsWay
from ..parts.eol.giving import Gives, side_by_side
from ..state import State, Vec

if TYPE_CHECKING:
    from .carriers import Carrier
    from .interface import Part

FELT, ACTS, OWED = "felt", "acts", "owed"  #: the cloth's memory, (p, 3) each: [N s], [N], [N s]
OFF = "off"  #: likewise, how far what it touches was off its way when a step ended, (o, 3) [m]
TRIES = 6  #: of one step
SETTLED = 0.01  #: of what a cloth did: where what was thought is no further off, it is owed
SLOWEST, FASTEST = 0.02, 1.0  #: relaxation at least and at most


class StepsItself(Protocol):
    """A cloth with steps of its own, which say in the state what they did."""

    def amid(self, gives: Gives | None) -> Part:
        """The same cloth where what it touches gives way so in a step; None: it goes as it is told."""

    def may_end(self, state: State) -> bool:
        """Whether what it touches may stand where it stands by now, after a step that ended in this state."""


@dataclass(frozen=True)
class Linked:
    """What one cloth touches or hangs on, of one carrier."""

    carrier: Carrier
    points: slice  #: among all points that the cloth feels
    way: OnItsWay  #: that the cloth sees
    #: what the cloth feels from what the carrier has, (points, k); None: the very same
    within: csr_matrix | None = None

    @property
    def count(self) -> int:
        """Of what the carrier has."""
        return self.points.stop - self.points.start if self.within is None else int(self.within.shape[1])

    def felt(self, state: State) -> Vec:
        """What the cloth did to what the carrier has, (k, 3) [N s]."""
        felt: Vec = state.memory[FELT][self.points]
        return felt if self.within is None else self.within.T @ felt


@dataclass(frozen=True)
class Meeting:
    """One cloth and all that it touches or hangs on."""

    cloth: int  #: its place in the world
    part: StepsItself
    touched: int  #: how many points it touches; behind them it hangs
    linked: Sequence[Linked]

    def gives(self, before: Sequence[State], h: float) -> Gives:
        """How what it touches gives way in a step from there on: what nobody feels does not."""
        found, done = list[Gives](), 0
        for one in self.linked:
            if one.points.stop <= self.touched:
                found += [Gives.nothing(one.points.start - done), one.carrier.gives(before[one.carrier.part], h)]
                done = one.points.stop
        return side_by_side([*found, Gives.nothing(self.touched - done)])


class _Points:
    """All points that the cloths of a world touch or hang on, one after the other."""

    def __init__(self, meetings: Sequence[Meeting], before: Sequence[State], h: float) -> None:
        self.meetings, self.before, self.h = meetings, before, h
        self.all = [(one, linked) for one in meetings for linked in one.linked]
        ends = np.cumsum([0, *(linked.count for _, linked in self.all)]).tolist()
        self.own = [slice(first, end) for first, end in zip(ends, ends[1:])]
        self.start = self.places(before)
        self.gives = [one.gives(before, h) for one in meetings]

    def places(self, states: Sequence[State]) -> Vec:
        """In these states, (p, 3) [m]."""
        return np.concatenate([linked.carrier.places(states[linked.carrier.part]) for _, linked in self.all])

    def felt(self, after: Sequence[State]) -> Vec:
        """What cloths did to them, (p, 3) [N s]."""
        return np.concatenate([linked.felt(after[one.cloth]) for one, linked in self.all])

    def known(self, name: str) -> Vec:
        """What the cloths' memory says, (p, 3); zero where it says nothing yet."""
        told = [self.before[one.cloth].memory.get(name) for one in self.meetings]
        if any(one is None for one in told):
            return np.zeros_like(self.start)
        return np.concatenate([one for one in told if one is not None])

    def remembered(self, state: State, which: int, **values: Vec) -> State:
        """The state of a cloth with what the next step is to know."""
        own = [mine for mine, (one, _) in zip(self.own, self.all) if one is self.meetings[which]]
        return replace(state, memory={**state.memory, **{
            name: np.concatenate([value[mine] for mine in own]) for name, value in values.items()}})

    def borne(self, acts: Vec) -> dict[int, Vec]:
        """What each part bears, by its place in the world, where these act on the points, (p, 3) [N]."""
        out = dict[int, Vec]()
        for mine, (_, linked) in zip(self.own, self.all):
            out[linked.carrier.part] = linked.carrier.borne(acts[mine], out.get(linked.carrier.part))
        return out

    def amid(self, acts: Vec | None) -> list[Part]:
        """The cloths, to which they give way and go the way that they are thought to under forces (p, 3) [N]; None:
        they go that way whatever cloths do."""
        cloths = []
        for one, gives in zip(self.meetings, self.gives):
            under = np.zeros((one.touched, 3))
            for mine, (which, linked) in zip(self.own, self.all):
                if acts is not None and which is one and linked.points.stop <= one.touched:
                    under[linked.points] = acts[mine]
            cloths.append(one.part.amid(None if acts is None else gives.under(under)))
        return cloths

    def go(self, end: Vec) -> None:
        """From now on they are thought to end the step there, (p, 3) [m]."""
        for mine, (_, linked) in zip(self.own, self.all):
            linked.way.goes(self.before[linked.carrier.part].time, self.h, self.start[mine], end[mine])


def step_together(meetings: Sequence[Meeting], before: Sequence[State], h: float,
                  others: Callable[[dict[int, Vec]], list[State]], of_cloth: Callable[[int, Part, State], State]
                  ) -> list[State]:
    """The states of all parts after h seconds. others: those of all that are in no meeting as cloth, after a step from
    `before` on in which some bear this. of_cloth: that of the k-th part, which is. Raises StepFailed."""
    points = _Points(meetings, before, h)
    debt = points.known(OWED)
    acts = points.known(ACTS) + debt / h
    last, relaxed = np.zeros((0, 3)), 1.0
    for tried in range(TRIES):
        after = others(points.borne(acts))
        points.go(points.places(after))
        given, is_last = h * acts, tried + 1 == TRIES
        for one, cloth in zip(meetings, points.amid(None if is_last else acts - debt / h)):
            after[one.cloth] = of_cloth(one.cloth, cloth, before[one.cloth])
        felt = points.felt(after)
        off = debt + felt - given
        if is_last or (np.linalg.norm(off) <= SETTLED * np.linalg.norm(felt)
                       and all(one.part.may_end(after[one.cloth]) for one in meetings)):
            break
        if len(last):
            change = off - last
            relaxed *= -float(np.vdot(last, change)) / max(float(np.vdot(change, change)), 1e-300)
            relaxed = min(max(relaxed, SLOWEST), FASTEST)
        last, acts = off, (given + relaxed * off) / h
    for which, one in enumerate(meetings):
        after[one.cloth] = points.remembered(after[one.cloth], which, **{ACTS: felt / h, OWED: off})
    return after
