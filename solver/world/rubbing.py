"""Friction inside the joints of a mechanism's world: a law put to each stage, with all that holds from outside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ..bearings.bearings import Bearings
from ..bearings.bisp import efforts
from ..bearings.interface import JointFriction
from ..bearings.kernels import add_lines
from ..bearings.staggered import Besides
from ..constraints.external import Answer, External
from ..errors import StepFailed
from ..parts.joints.jointed import ConstraintAnswer, PosedTree
from ..state import Vec
from .constraints import MechanismConstraints, Outside
from .joints import BEARINGS

KNOWN_TO = 1.0e-6  #: of the rates: what passes of contact and friction leave of them may differ between two stages
FRICTION = "joints.friction"  #: memory of friction along the lines of all bearings in the last step [N], (r,)


class StageRows:
    """A stage as laws of friction inside joints see it, loops, drives, limits and contacts answered in passing."""

    def __init__(self, posed: PosedTree, bearings: Bearings, outside: Outside | None) -> None:
        self._posed, self._bearings, self.outside = posed, bearings, outside
        at, tree = posed.lin.posture, posed.owner.tree
        self.parent, self.dof, self.E, self.X, self.S = tree.parent, tree.dof, at.E, at.X, at.S
        self.respond = posed.respond
        self.free: Vec = posed.owner.factor.solve(posed.right)
        self.answer: Answer | None = None
        self._asked: Vec = self.free  #: of what it is the answer
        self._external: External | None = None
        if outside is not None:
            try:
                self._external = External(posed.respond, outside.held, outside.pushed, outside.rubbed)
            except ValueError as failure:
                raise StepFailed(str(failure)) from failure
            if len(outside.held.G):
                self.respond = self._external.bilateral.respond

    def solve(self, impulses: Vec) -> Vec:
        """Rates (m,) with impulses on them, (m,), under all rows. [Thesis 3.9]"""
        u = self.free + self._posed.respond(impulses) if impulses.any() else self.free
        if self._external is None:
            return u
        self._asked, self.answer = u, self._external.solve(u)
        return self.answer.u

    def owed(self) -> Vec | None:
        """What positions have to move on besides the last answer, (m,); None for nothing. Raises StepFailed."""
        if self.outside is None or self._external is None or self.answer is None:
            return None
        return self.outside.owed(self._external, self._asked, self.answer)

    def reaction(self, u: Vec) -> Vec:
        """What joints do to bodies, (n, 6): the rows' own impulses are known and taken out.

        [Thesis 3.8, changed: the rows push as they do on the jointed bodies, not on bodies set free, so Jᵀ f_α = 0]
        """
        out = self._posed.carried(u)
        if self.outside is not None and self.answer is not None:
            out -= self.outside.on_bodies(self.answer, len(self.parent))
        return out

    def effort(self, u: Vec) -> Vec:
        """What springs, motors, drives and limits do to rates, (m,)."""
        out: Vec = self._posed.owner.on_rates.force - self._posed.owner.on_rates.times(u)
        if self.outside is not None and self.answer is not None:
            out += self.outside.on_rates(self.answer, len(u))
        return out

    def in_loops(self) -> Vec | None:
        """What each loop does to its body a, (l, 6)."""
        if self.outside is None or self.answer is None or not len(self.outside.loops):
            return None
        loops = self.outside.loops
        if self._on_a is None:
            self._on_a = np.ascontiguousarray(loops.wrench[:, :1])
        out = np.zeros((int(loops.owner[-1]) + 1, 6))
        add_lines(loops.owner, self.answer.held[:len(loops), None], self._on_a, 1.0, out)
        return out

    _on_a: Vec | None = None  #: the loops' wrenches on their bodies a, (r, 1, 6)

    @property
    def besides(self) -> Besides | None:
        """Loops and contacts, for laws that take the bodies apart."""
        outside = self.outside
        return None if outside is None else Besides(outside.loops, outside.contacts, outside.along,
                                                    outside.rubbed.friction)

    @property
    def momentum(self) -> Vec:
        """w, with what springs and motors of joints do to the two bodies of each, (n, 6)."""
        owner = self._posed.owner
        out: Vec = owner.wrench + self._between(efforts(self, self._bearings, owner.on_rates.force))
        return out

    def free_answer(self, wrench: Vec) -> Vec:
        """S⁻¹ of impulses on bodies that no joint holds, (n, 6, c)."""
        owner, n = self._posed.owner, len(self.parent)
        if not len(owner.springs) and not len(owner.on_rates.bodies):
            return np.linalg.solve(owner.diagonal, wrench)
        if self._dense is None:
            columns = np.eye(6 * n).reshape(n, 6, 6 * n)
            S = np.stack([self._posed.multiply(columns[:, :, c]) for c in range(6 * n)], axis=2)
            directions = efforts_of_each(self, self._bearings)
            across = np.stack([self._between(directions[:, :, k]).ravel() for k in range(directions.shape[2])])
            stiff = np.stack([owner.on_rates.times(unit) for unit in np.eye(len(self.S))])
            self._dense = cho_factor(S.reshape(6 * n, 6 * n) + across.T @ stiff @ across)
        out: Vec = cho_solve(self._dense, wrench.reshape(6 * n, -1)).reshape(wrench.shape)
        return out

    _dense: tuple[Vec, bool] | None = None

    def _between(self, wrench: Vec) -> Vec:
        """Wrenches on the bodies below joints with their opposites on the parents, (n, 6)."""
        out = wrench.copy()
        inner = np.flatnonzero(self.parent >= 0)
        np.subtract.at(out, self.parent[inner], np.matmul(wrench[inner][:, None, :], self.X[inner])[:, 0])
        return out


def efforts_of_each(posed: StageRows, bearings: Bearings) -> Vec:
    """Wrenches on the bodies below joints that do a unit effort to each rate, (n, 6, m)."""
    return np.stack([efforts(posed, bearings, unit) for unit in np.eye(len(posed.S))], axis=2)


@dataclass(kw_only=True)
class RubbingJoints(MechanismConstraints):
    """What holds a mechanism, with friction inside its joints. Counts are of all stages since the world was built."""

    law: JointFriction
    bearings: Bearings
    stages: int = field(default=0, init=False)
    passes: int = field(default=0, init=False)  #: of contact and friction
    iterations: int = field(default=0, init=False)  #: of quadratic programs
    unsettled: int = field(default=0, init=False)  #: stages whose passes ran out

    def solve(self, posed: PosedTree, free: Vec) -> ConstraintAnswer:
        """Rates and impulses with friction, from the rates that forces alone would give, (m,). Raises StepFailed."""
        rows = StageRows(posed, self.bearings, None if self.is_bare else self.rows(posed))
        share = posed.stage.a * posed.stage.h
        kept = posed.lin.memory.get(FRICTION)
        rubbed = self.law.rub(rows, self.bearings, None if kept is None else share * kept)
        self.stages, self.passes = self.stages + 1, self.passes + rubbed.passes
        self.iterations += rubbed.iterations
        self.unsettled += not rubbed.converged
        memory: Mapping[str, Vec] = {FRICTION: rubbed.impulse / share}
        unsettled = () if rubbed.converged else (BEARINGS,)
        if rows.outside is None or rows.answer is None:
            return ConstraintAnswer(rubbed.u, memory=memory, unsettled=unsettled, known_to=KNOWN_TO)
        held = self.answered(posed, rows.outside, rows.answer, rows.owed())
        return replace(held, rates=rubbed.u, memory={**held.memory, **memory},
                       unsettled=(*held.unsettled, *unsettled), known_to=KNOWN_TO)
