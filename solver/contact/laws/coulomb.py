"""Coulomb's law: what touches sticks, or slides against the largest force that its load allows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...state import Vec
from .interface import Respond, SlidingNodes

LOADS = 3  #: times that normal impulses are taken anew: friction tips the body and so shifts its load
ITERATIONS = 100  #: in each of them; the impulses are within Coulomb's bound after any number
ROUGHLY = 5.0  #: times the tolerance, for each time that loads are still to be taken anew
TOLERANCE = 1.0e-3  #: slip that may be left, as a share of what friction can change
SATURATED = 1.0e3  #: a step this many times what takes any slip that counts to its bound does the same as a longer one
SLOWEST = 1.0e-9  #: [m/s]: slip that is none


class Coulomb:
    """min ½ rᵀ W r + rᵀ s over |r_i| ≤ μ p_i along the obstacle: W r is what the whole body gives way.

    The minimum is Coulomb's law at given loads p: slip s + W r is zero, or r is against it and as large as may be.
    Friction so takes energy in the norm of the posed system, ½ uᵀ A u, in every step. Projected gradients with the
    two steps of Barzilai and Borwein in turn, never uphill; each iteration asks W once. Impulses of contacts that
    slip alike grow as their loads, so a rigid body's friction is spread as its weight is. [Kaufman 2008] [Birgin 2000]
    """

    grips = True  #: what touches is held where it stands

    def __init__(self, params: dict[str, float]) -> None:
        """params: friction_coefficient, μ."""
        self.coefficient = params["friction_coefficient"]

    def notes(self, has_dynamic: bool) -> list[str]:
        """None: what a node gives way to is asked of the whole body."""
        return []

    def impulses(self, rubbing: SlidingNodes, respond: Respond) -> Vec:
        """The minimum at loads that friction itself has shifted, (k, 3) [N s]."""
        speed = np.linalg.norm(rubbing.slip, axis=1)
        most = self.coefficient * rubbing.pressing
        # all slide: the answer where they do, and a start where some stick
        impulse: Vec = -(most / np.maximum(speed, np.finfo(float).tiny))[:, None] * rubbing.slip
        if float(speed.max(initial=0.0)) <= SLOWEST or not most.any():
            return np.zeros_like(impulse)
        moved = respond(impulse)
        if not moved.any():  # nothing has inertia, so all slides as it is carried
            return impulse
        tolerance = TOLERANCE * min(float(speed.max()), float(np.linalg.norm(moved, axis=1).max()))
        share = min(1.0, -float(np.vdot(impulse, rubbing.slip)) / _positive(np.vdot(impulse, moved)))
        impulse, moved = share * impulse, share * moved
        guess = within(rubbing.along(rubbing.guess), most)
        if guess.any():
            answer = respond(guess)
            if _work(rubbing, guess, answer) < _work(rubbing, impulse, moved):
                impulse, moved = guess, answer
        length = 0.0
        for still in range(LOADS - 1, -1, -1):
            lifted = np.einsum("ka,ka->k", moved, rubbing.normal)
            most = self.coefficient * np.maximum(rubbing.pressing - rubbing.yielding * lifted, 0.0)
            inside = within(impulse, most)
            moved = moved if np.array_equal(inside, impulse) else respond(inside)
            # loads that are taken anew need no more than what brings them near
            impulse, moved, length = self._brake(rubbing, respond, most, inside, moved, ROUGHLY**still * tolerance,
                                                 length)
        return impulse

    def _brake(self, rubbing: SlidingNodes, respond: Respond, most: Vec, impulse: Vec, moved: Vec,
               tolerance: float, length: float) -> tuple[Vec, Vec, float]:
        """The minimum at given bounds, W of it and the length of a step, from an impulse inside, W of that and the
        length at bounds nearby, 0 where there is none."""
        rubs = most > 0.0
        if not rubs.any():
            return impulse, moved, 0.0
        share = (most / most.mean())[:, None]
        longest = SATURATED * float(most.mean()) / tolerance
        slip = rubbing.along(rubbing.slip + moved)
        if length == 0.0:
            downhill = share * slip
            length = float(np.vdot(slip, downhill)) / _positive(np.vdot(downhill, respond(downhill)))
        for iteration in range(ITERATIONS):
            length = min(length, longest)
            change = within(impulse - length * share * slip, most) - impulse
            left = np.linalg.norm(change[rubs], axis=1) / (length * share[rubs, 0])
            if float(left.max()) <= tolerance:
                break
            response = respond(change)
            curvature = _positive(np.vdot(change, response))
            step = min(1.0, -float(np.vdot(slip, change)) / curvature)
            impulse, moved = impulse + step * change, moved + step * response
            slip = rubbing.along(rubbing.slip + moved)
            if iteration % 2:
                along = rubbing.along(response)
                length = curvature / _positive(np.vdot(along, share * along))
            else:
                length = float(np.sum(change[rubs] ** 2 / share[rubs])) / curvature
        return impulse, moved, length


def within(impulses: Vec, most: Vec) -> Vec:
    """Impulses (k, 3) shortened to at most `most` (k,)."""
    size = np.linalg.norm(impulses, axis=1)
    shorter: Vec = impulses * (np.minimum(most, size) / np.maximum(size, np.finfo(float).tiny))[:, None]
    return shorter


def _work(rubbing: SlidingNodes, impulse: Vec, moved: Vec) -> float:
    """½ rᵀ W r + rᵀ s [J]."""
    return float(0.5 * np.vdot(impulse, moved) + np.vdot(impulse, rubbing.slip))


def _positive(value: float | np.floating[Any]) -> float:
    return max(float(value), float(np.finfo(float).tiny))
