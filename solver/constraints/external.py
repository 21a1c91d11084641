"""All that holds a mechanism from outside its joints: loops and drives, then limits and contacts with friction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..state import Vec
from .bilateral import Bilateral, Respond
from .bounded_program import BoundedProgram
from .semismooth_kernels import UNSETTLED, semismooth_newton

INDETERMINATE = 1.0e-9  #: of the trace: what four feet of one table are softened by
PRESCRIBED = 1.0e-9  #: of what a row would give way without loops and drives: below it they leave it nothing
PASSES = 50  #: of contact and friction in turn
TRIES = (1, 3, 8, 20)  #: passes after which both are tried at once
NEWTON = 12  #: iterations of that
AGREED = 1.0e-9  #: change of the velocities at the contacts in a pass that is none, as a share of what impulses change


@dataclass(frozen=True)
class BilateralRows:
    """Rows that hold both ways: G u = g, with compliance Σ."""

    G: Vec  #: (r, m)
    target: Vec  #: (r,)
    compliance: Vec  #: (r,)


@dataclass(frozen=True)
class UnilateralRows:
    """Rows that push within bounds: N u ≥ c where the impulse may be 0 … ∞. The first k of them are contacts."""

    N: Vec  #: (p, m)
    target: Vec  #: (p,)
    low: Vec  #: least impulses, (p,)
    high: Vec  #: largest, (p,)


@dataclass(frozen=True)
class FrictionRows:
    """Two rows along the surface of each of the k contacts: |impulse| ≤ μ of what pushes there."""

    T: Vec  #: (2 k, m)
    target: Vec  #: (2 k,)
    friction: Vec  #: μ, (k,)


@dataclass(frozen=True)
class Solution:
    """Rates under all rows, and the rows' impulses."""

    u: Vec  #: (m,)
    bilateral: Vec  #: (r,)
    unilateral: Vec  #: (p,)
    friction: Vec  #: along the rows of `FrictionRows`, (2 k,)
    passes: int  #: of contact and friction
    #: by how much contact and friction do not agree at each contact once passes ran out [m/s], (k,); None: they agree
    off: Vec | None = None


class External:
    """min ½ uᵀ A u − uᵀ b under all rows: posed once, asked for many b by A⁻¹ b.

    Loops and drives are eliminated by their dual; what is left is small and dense in the impulses alone. Contact and
    friction are then two programs in turn, each at the other's last answer (staggered projections), until Newton's
    method finds where they agree from there; the last of the programs is contact's, so that nothing sinks in whatever
    friction does. Friction's four-sided bounds are turned so that one of
    their axes lies along the slip: straight sliding has the friction of the circular cone. [Thesis 3.8] [Thesis 3.9]
    """

    def __init__(self, respond: Respond, held: BilateralRows, pushed: UnilateralRows,
                 friction_rows: FrictionRows) -> None:
        """respond: A⁻¹ on rates, or M⁻¹ on twists with rows on those. Raises ValueError where a row is not finite."""
        self._held, self._pushed, self._friction_rows = held, pushed, friction_rows
        self._k, self._p = len(friction_rows.friction), len(pushed.target)
        rows, r = np.concatenate([pushed.N, friction_rows.T]), len(held.G)
        if not len(rows):
            self.bilateral = Bilateral(held.G, respond, held.compliance)
            return
        self._rows = rows
        answer = respond(np.ascontiguousarray(np.concatenate([held.G, rows]).T))
        free = answer[:, r:]
        self.bilateral = Bilateral(held.G, respond, held.compliance, np.ascontiguousarray(answer[:, :r]))
        #: what loops and drives do against each row's impulse of one, (r, p + 2 k)
        self._led: Vec = self.bilateral.multipliers(held.G @ free)
        self._Y: Vec = free - self.bilateral.Y @ self._led if r else free
        W = rows @ self._Y
        W = 0.5 * (W + W.T)
        # what drives move all the way answers no push: its rows have the compliance that it had if it were free
        alone = np.einsum("ij,ji->i", rows, free)
        prescribed = W.diagonal() <= PRESCRIBED * alone
        if prescribed.any():
            self._Y[:, prescribed] = 0.0
            W[prescribed], W[:, prescribed] = 0.0, 0.0
            W[prescribed, prescribed] = alone[prescribed]
        p = self._p
        for part in (slice(0, p), slice(p, len(W))):
            diagonal = np.einsum("ii->i", W[part, part])
            diagonal += INDETERMINATE * float(diagonal.sum()) / max(len(diagonal), 1) + _LEAST
        self._W = W
        self._last: tuple[Vec, Vec] | None = None
        self._turned: tuple[Vec, Vec] | None = None  #: turn and W in it, of the first answer
        self._off: Vec = np.zeros(0)  #: of the last pass of all, (k,) [m/s]

    def solve(self, free: Vec, guess: tuple[Vec, Vec] | None = None, split_targets: Vec | None = None) -> Solution:
        """The rates under all rows, from those without any, (m,). guess: impulses (normal, friction) to start from;
        without one, those of the last answer. split_targets: other targets of the rows that push, (p,), of positions
        alone. Raises StepFailed."""
        u, held = free, np.zeros(0)
        if len(self._held.G):
            u, held = self.bilateral.solve(free, self._held.target)
        if not self._p:
            return Solution(u, held, np.zeros(0), np.zeros(0), 0)
        along = self._rows @ u
        p = self._p
        wanted = self._pushed.target if split_targets is None else split_targets
        push, rub, passes = self._stagger(along[:p] - wanted, along[p:] - self._friction_rows.target,
                                          guess or self._last)
        self._last = push, rub
        impulse = np.concatenate([push, rub])
        if len(self._held.G):
            # what contacts push is answered by the loops
            held = held - self._led @ impulse
        return Solution(u + self._Y @ impulse, held, push, rub, min(passes, PASSES),
                        None if passes <= PASSES else self._off)

    def _stagger(self, approach: Vec, slip: Vec, guess: tuple[Vec, Vec] | None) -> tuple[Vec, Vec, int]:
        """(push, rub, passes) at velocities along the rows without either; PASSES + 1 where these ran out."""
        p, k = self._p, self._k
        low, high = self._pushed.low, self._pushed.high
        if guess is not None and self._turned is not None:
            # the same rows as a moment ago: from where they were
            turn, W = self._turned
            at = np.concatenate([approach, turn.T @ slip])
            both = self._at_once(W, at, np.concatenate([guess[0], turn.T @ guess[1]]))
            if both is not None:
                return both[:p], turn @ both[p:], 1
        own, cross = self._W[:p, :p], self._W[:p, p:]
        contact = BoundedProgram(own, approach, None if guess is None else guess[0])
        push = contact.solve(approach, low, high)
        if not (self._friction_rows.friction > 0.0).any() or not push[:k].any():
            return push, np.zeros(2 * k), 1

        if self._turned is None:
            turn = _along(slip + cross.T @ push)
            W = self._W.copy()
            W[:p, p:] = cross @ turn
            W[p:, :p], W[p:, p:] = W[:p, p:].T, turn.T @ W[p:, p:] @ turn
            self._turned = turn, W
        turn, W = self._turned
        cross, at = W[:p, p:], np.concatenate([approach, turn.T @ slip])
        slip = at[p:]
        both = self._at_once(W, at, np.concatenate([push, np.zeros(2 * k)]))
        if both is not None:
            return both[:p], turn @ both[p:], 1
        rub = np.zeros(2 * k) if guess is None else turn.T @ guess[1]
        friction = BoundedProgram(W[p:, p:], slip, rub)
        size = float(np.abs(own @ push).max()) + _LEAST
        for passes in range(1, PASSES + 1):
            most = np.repeat(self._friction_rows.friction * np.maximum(push[:k], 0.0), 2)
            before, rub = rub, friction.solve(slip + cross.T @ push, -most, most)
            push = contact.solve(approach + cross @ rub, low, high)
            off = np.abs(cross @ (rub - before))
            if float(off.max()) <= AGREED * size and passes > 1:
                break
            both = self._at_once(W, at, np.concatenate([push, rub])) if passes in TRIES else None
            if both is not None:
                push, rub = both[:p], both[p:]
                break
        else:
            passes, self._off = passes + 1, off[:k]
        return push, turn @ rub, passes

    def _at_once(self, W: Vec, at: Vec, impulse: Vec) -> Vec | None:
        """Where contact and friction agree, by Newton's method from `impulse`, which is written over, (p + 2 k,).

        at: velocities without impulses. None where these do not settle, as in a jam that has no or many answers.
        """
        side = np.empty(len(W), dtype=np.int64)
        taken = semismooth_newton(W, at, self._pushed.low, self._pushed.high, self._friction_rows.friction, NEWTON,
                                  len(W), impulse, side)
        return None if taken == UNSETTLED else impulse


def _along(slip: Vec) -> Vec:
    """Block diagonal rotations (2 k, 2 k) whose first column of each contact is along its slip (2 k,)."""
    turn = np.zeros((len(slip), len(slip)))
    x, y = slip[0::2], slip[1::2]
    size = np.hypot(x, y)
    still = size < 1.0e-12
    c, s = np.where(still, 1.0, x / np.where(still, 1.0, size)), np.where(still, 0.0, y / np.where(still, 1.0, size))
    i = np.arange(0, len(slip), 2)
    turn[i, i], turn[i + 1, i], turn[i, i + 1], turn[i + 1, i + 1] = c, s, -s, c
    return turn


_LEAST = float(np.finfo(float).tiny)
