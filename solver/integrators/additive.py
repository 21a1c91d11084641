"""Additive methods: the exponential on the lowest modes, a stage of another method on the rest.

F = H + G, G = P F, P = X Xᵀ M. In the space of the modes and its complement a stage of H is the other method's own
stage, with the modes' displacement prescribed by the exponential. The rank-s update of Sherman, Morrison and Woodbury
is then the constraint on the modes, and the modes' rates are the exponential's, not the stage's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from ..parts.interface import Posed
from ..parts.stage import Stage
from ..rows.eliminated import EliminatedRows
from ..rows.tables import DenseRows
from ..state import State, Vec
from .interface import Integrator, P, System
from .modes import Modes, exponential, invert_shifted, lowest, wide

BASIS, AGE = "modes.basis", "modes.age"


@dataclass(frozen=True)
class Course:
    """Displacement and rates of the modes over a stage, from the exponential."""

    modes: Modes
    moved: Vec  #: change of their amplitudes, (s,) [kg^½ m]
    gained: Vec  #: change of their rates, (s,)
    coupling: Vec  #: K X of the true K, (3 f, s)
    coupling_time: float  #: time over which the rest's displacement acts on modes that are not exact [s]

    def blend_history(self, start: State, history: State) -> Course:
        """Return a course with ⅓ of the change since the state `history` and ⅔ of the exponential's: the published
        form, which amplifies the modes.

        [Ascher 22, 23, 27]
        """
        past_q = self.modes.amplitudes(start.q - history.q)
        past_u = self.modes.amplitudes(start.u - history.u)
        return replace(self, moved=(past_q + 2.0 * self.moved) / 3.0, gained=(past_u + 2.0 * self.gained) / 3.0)


class Additive(Integrator):
    """Integrator with the exponential on the lowest modes, which are decomposed again after some steps; subclasses set
    the stage for the rest.

    Writes memory of the modes and a few vectors more, (3 f, s + 4), and of the number of steps since their
    decomposition.
    """

    order = 2
    remembers: tuple[str, ...] = (BASIS, AGE)
    linearised = False  #: the stage is solved once, linearised where it starts
    printed = False

    def __init__(self, params: dict[str, float]) -> None:
        """params: modes, their number; redecompose, the number of steps after which they are decomposed again."""
        self.modes, self.every = int(params["modes"]), int(params["redecompose"])

    def advance(self, system: System[P], start: State, h: float, stage: Stage, history: State) -> State:
        """Return the state at the end of a stage of the other method from `start` on, with h seconds of the exponential
        on the modes.

        history: the state before. Modes are decomposed again where they are too old, and otherwise updated to the
        present state by an inverse iteration, in a semi-implicit method with the stage's own factor. Raises StepFailed.
        """
        tangent = system.tangent(start, start.time + 0.5 * h)
        vectors: Vec | None = start.memory.get(BASIS)
        if vectors is not None and vectors.shape != (len(start.q), wide(self.modes, len(start.q))):
            vectors = None
        age = float(start.memory[AGE][0]) if vectors is not None else self.every
        if vectors is None or age >= self.every:
            vectors, age = lowest(tangent, self.modes, h, vectors), 0.0
        elif not self.linearised:
            vectors = Modes(vectors, tangent.mass).refine(invert_shifted(tangent, h), tangent.stiffness)
        posed: Posed | None = None
        if self.linearised:
            # only nodes are stepped by these methods: `pose` of joints raises TypeError
            posed = cast(Posed, system.pose(start, stage, stage.time if self.order == 2 else None))
            if age:
                vectors = Modes(vectors, tangent.mass).refine(posed.respond, tangent.stiffness)

        modes = Modes(vectors[:, : self.modes], tangent.mass)
        moved, gained, coupling = exponential(modes, tangent, start.u, h)
        course = Course(modes, moved, gained, coupling, 0.5 * h)
        if self.printed:
            course = course.blend_history(start, history)
        after = (_solve(system, stage, start, course) if posed is None else
                 _finish_linearised(posed, stage, start, course))
        memory = {**after.memory, BASIS: vectors, AGE: np.array([age + 1.0])}
        return replace(after, u=_rates(start, after, course), memory=memory)


def _finish_linearised(posed: Posed, stage: Stage, start: State, course: Course) -> State:
    """Return the state at the end of a linearised stage whose modes move as the exponential does. [Ascher 21, 23, 26]
    """
    modes = course.modes
    base, length = start.q if stage.base is None else stage.base, stage.b * stage.h
    v = posed.solve()
    if modes.count:
        rows = _rows_of_modes(base, length, start, course)
        v, _ = rows.solve(v, posed.respond(modes.weighted))
    return State(stage.time, base + length * v, v, start.memory)


def _solve(system: System[P], stage: Stage, start: State, course: Course) -> State:
    """Return the state at the end of a stage that is solved to the stage solver's tolerance, its modes prescribed.
    Raises StepFailed. [Ascher 20, 22]"""
    modes = course.modes
    if not modes.count:
        return system.solve_stage(stage, start)
    base, length = start.q if stage.base is None else stage.base, stage.b * stage.h
    return system.solve_stage(stage, start, _rows_of_modes(base, length, start, course))


def _rows_of_modes(base: Vec, length: float, start: State, course: Course) -> EliminatedRows:
    """Return rows Xᵀ M v = g of the modes, with Xᵀ M X = 1: at rates that satisfy them the modes end where the
    exponential does."""
    modes = course.modes
    rates: Vec = (course.moved - modes.amplitudes(base - start.q)) / length
    return EliminatedRows(DenseRows.equations(modes.weighted.T, rates), modes.basis)


def _rates(start: State, after: State, course: Course) -> Vec:
    """Return the stage's rates, with those of the exponential in the modes, (3 f,).

    Modes that are not exact are affected by the change of their force with the rest's displacement, of which the mean
    is half: with it a method of order 2 keeps its order with any modes.
    """
    modes = course.modes
    rest = modes.across(after.q - start.q)
    rates = modes.amplitudes(start.u) + course.gained + course.coupling_time * (course.coupling.T @ rest)
    return after.u + modes.field(rates - modes.amplitudes(after.u))
