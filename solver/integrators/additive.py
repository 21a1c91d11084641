"""What additive methods share: the exponential on the lowest modes, a stage of another method on the rest.

F = H + G, G = P F, P = X Xᵀ M. Seen along the modes and across them a stage of H is the other method's own stage with
the modes' displacement given: the exponential has found it. The rank-s update of Sherman, Morrison and Woodbury is then
what holds the modes there, and the modes' rates are the exponential's, not the stage's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..condensation.interface import Posed, Stage
from ..nonlinear.held import Held
from ..state import State, Vec
from .interface import System, pose
from .modes import Modes, exponential, lowest

BASIS, AGE = "modes.basis", "modes.age"


@dataclass(frozen=True)
class Split:
    """A state's modes, and where the exponential takes them."""

    modes: Modes
    start: State  #: where G and its Jacobian are taken
    age: int  #: steps since the modes were decomposed
    moved: Vec  #: change of the modes' amplitudes from `start` on, (s,) [kg^½ m]
    gained: Vec  #: of their rates
    coupling: Vec  #: K X, of the true K, (3 f, s)

    def weighed(self, history: State) -> Split:
        """⅓ of the change since `history` and ⅔ of the exponential's: the papers' form, which amplifies the modes.

        [Ascher 22, 23, 27]
        """
        past_q = self.modes.amplitudes(self.start.q - history.q)
        past_u = self.modes.amplitudes(self.start.u - history.u)
        return replace(self, moved=(past_q + 2.0 * self.moved) / 3.0, gained=(past_u + 2.0 * self.gained) / 3.0)


def split(system: System, state: State, h: float, count: int, every: int, memory: State | None = None) -> Split:
    """The lowest modes at a state and the exponential along them for h seconds.

    count: s. every: steps that modes last; they follow the body in between. memory: the state whose memory has them,
    where it is not this one. Raises StepFailed.
    """
    tangent = system.tangent(state)
    kept = state.memory if memory is None else memory.memory
    basis: Vec | None = kept.get(BASIS)
    if basis is not None and len(basis) != len(state.q):
        basis = None
    age = int(kept[AGE][0]) if basis is not None else every
    if basis is None or age >= every:
        basis, age = lowest(system, tangent, count, h, basis), 0
    modes = Modes(basis, tangent.mass)
    return Split(modes, state, age, *exponential(modes, tangent, state.u, h))


def advance(system: System, stage: Stage, split: Split, share: float, linearised: bool) -> State:
    """The state at the end of a stage from where the split was made on: linearised there, or solved."""
    if not linearised:
        return reach(system, stage, split, share)
    posed = pose(system, system.linearise(split.start, stage.time), stage)
    return land(system, posed, stage, split, share)


def land(system: System, posed: Posed, stage: Stage, split: Split, share: float) -> State:
    """The state at the end of a linearised stage whose modes move as the exponential says. [Ascher 21, 23, 26]

    share: of h, for which the rest's displacement pulls at modes that are not quite those of this moment; exact ones
    feel nothing of it. Modes of the next step come from an inverse iteration, which takes out what has become stiff.
    """
    modes, start = split.modes, split.start
    base = start.q if stage.base is None else stage.base
    length = stage.b * stage.h
    v = posed.solve()
    basis = modes.basis
    if modes.count:
        yielding = posed.respond(modes.weighted)  # A⁻¹ M X
        held = (split.moved - modes.amplitudes(base - start.q)) / length
        v = v - yielding @ np.linalg.solve(modes.weighted.T @ yielding, modes.amplitudes(v) - held)
        basis = modes.beside(yielding)
    after = State(stage.time, system.coordinates.advance(base, v, length), v, start.memory)
    return finish(after, split, share * stage.h, basis)


def reach(system: System, stage: Stage, split: Split, share: float) -> State:
    """The same for a stage that is solved to the stage solver's tolerance. Raises StepFailed. [Ascher 20, 22]"""
    modes, start = split.modes, split.start
    base = start.q if stage.base is None else stage.base
    if not modes.count:
        return finish(system.reach(stage, start), split, 0.0, modes.basis)
    held = Held(modes.basis, modes.weighted, (split.moved - modes.amplitudes(base - start.q)) / (stage.b * stage.h))
    return finish(system.reach(stage, start, held), split, share * stage.h, modes.basis)


def finish(after: State, split: Split, pull: float, basis: Vec) -> State:
    """Give the modes the exponential's rates, and remember them.

    pull: seconds that the rest's displacement pulls at the modes. basis: of the next step, (3 f, s).
    """
    modes, start = split.modes, split.start
    rest = modes.across(after.q - start.q)
    rates = modes.amplitudes(start.u) + split.gained + pull * (split.coupling.T @ rest)
    u = after.u + modes.field(rates - modes.amplitudes(after.u))
    memory = {**after.memory, BASIS: basis, AGE: np.array([split.age + 1.0])}
    return replace(after, u=u, memory=memory)
