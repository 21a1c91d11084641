"""Coulomb's law: contacts stick, or slide against the largest force that their normal force permits."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...state import Vec
from .interface import Respond, SlidingNodes

SATURATED = 1.0e3  #: relative to a step that saturates all significant slip: a longer one has no other effect


class Coulomb:
    """Coulomb friction: impulses r along the obstacle that minimise ½ rᵀ W r + rᵀ s over |r_i| ≤ μ p_i.

    W is the compliance of the whole body and s the slip. The minimum is Coulomb's law at given normal impulses p: slip
    s + W r is zero, or r is against it and as large as possible. So friction dissipates in the norm of the posed
    system, ½ uᵀ A u, in every step. Projected gradients alternate the two step lengths of Barzilai and Borwein and
    never increase the objective; each iteration applies W once. Impulses of contacts with equal slip are proportional
    to their normal impulses, so a rigid body's friction is distributed like its weight. [Kaufman 2008] [Birgin 2000]
    """

    load_updates = 3  #: updates of the normal impulses, which friction changes, as it tips the body
    iterations = 100  #: of each update; the impulses are within Coulomb's bound after any number
    loosening = 5.0  #: ratio of the tolerances of successive updates
    tolerance = 1.0e-3  #: remaining slip relative to what friction can change
    negligible_slip = 1.0e-9  #: [m/s]: slip that is negligible
    has_static_friction = True  #: sticking contacts have anchors

    def __init__(self, params: dict[str, float]) -> None:
        """params: friction_coefficient, μ."""
        self.coefficient = params["friction_coefficient"]

    def notes(self, has_dynamic: bool) -> list[str]:
        """Return no sentences for the log: the compliance is that of the whole body, so nothing is left out."""
        return []

    def impulses(self, contacts: SlidingNodes, respond: Respond) -> Vec:
        """Return the friction impulses on the nodes in contact, (k, 3) [N s], with the normal impulses that friction
        itself changes. respond: velocity changes (k, 3) [m/s] by impulses (k, 3) [N s]."""
        speed = np.linalg.norm(contacts.slip, axis=1)
        bound = self.coefficient * contacts.normal_impulse
        # the solution if all contacts slide, and otherwise an initial guess
        impulse: Vec = -(bound / np.maximum(speed, np.finfo(float).tiny))[:, None] * contacts.slip
        if float(speed.max(initial=0.0)) <= self.negligible_slip or not bound.any():
            return np.zeros_like(impulse)
        moved = respond(impulse)
        if not moved.any():  # nothing has inertia, so all contacts slide as prescribed
            return impulse
        tolerance = self.tolerance * min(float(speed.max()), float(np.linalg.norm(moved, axis=1).max()))
        fraction = min(1.0, -float(np.vdot(impulse, contacts.slip)) / _positive(np.vdot(impulse, moved)))
        impulse, moved = fraction * impulse, fraction * moved
        guess = within(contacts.along(contacts.guess), bound)
        if guess.any():
            guess_response = respond(guess)
            if _work(contacts, guess, guess_response) < _work(contacts, impulse, moved):
                impulse, moved = guess, guess_response
        length = 0.0
        for rounds_left in range(self.load_updates - 1, -1, -1):
            lifted = np.einsum("ka,ka->k", moved, contacts.normal)
            bound = self.coefficient * np.maximum(contacts.normal_impulse - contacts.normal_inertia * lifted, 0.0)
            inside = within(impulse, bound)
            moved = moved if np.array_equal(inside, impulse) else respond(inside)
            # intermediate updates need a loose tolerance only
            impulse, moved, length = self._minimise(contacts, respond, bound, inside, moved,
                                                    self.loosening**rounds_left * tolerance,
                                                    length)
        return impulse

    def _minimise(self, contacts: SlidingNodes, respond: Respond, bound: Vec, impulse: Vec, moved: Vec,
                  tolerance: float, length: float) -> tuple[Vec, Vec, float]:
        """Return the minimiser r at given bounds, W r, and the last step length.

        impulse: an admissible initial guess. moved: W times the guess. length: step length at nearby bounds, 0 if
        unknown.
        """
        loaded = bound > 0.0
        if not loaded.any():
            return impulse, moved, 0.0
        fraction = (bound / bound.mean())[:, None]
        longest = SATURATED * float(bound.mean()) / tolerance
        slip = contacts.along(contacts.slip + moved)
        if length == 0.0:
            downhill = fraction * slip
            length = float(np.vdot(slip, downhill)) / _positive(np.vdot(downhill, respond(downhill)))
        for iteration in range(self.iterations):
            length = min(length, longest)
            change = within(impulse - length * fraction * slip, bound) - impulse
            left = np.linalg.norm(change[loaded], axis=1) / (length * fraction[loaded, 0])
            if float(left.max()) <= tolerance:
                break
            response = respond(change)
            curvature = _positive(np.vdot(change, response))
            step = min(1.0, -float(np.vdot(slip, change)) / curvature)
            impulse, moved = impulse + step * change, moved + step * response
            slip = contacts.along(contacts.slip + moved)
            if iteration % 2:
                along = contacts.along(response)
                length = curvature / _positive(np.vdot(along, fraction * along))
            else:
                length = float(np.sum(change[loaded] ** 2 / fraction[loaded])) / curvature
        return impulse, moved, length


def within(impulses: Vec, bound: Vec) -> Vec:
    """Return impulses (k, 3) [N s], shortened to at most `bound`, (k,) [N s]."""
    size = np.linalg.norm(impulses, axis=1)
    shorter: Vec = impulses * (np.minimum(bound, size) / np.maximum(size, np.finfo(float).tiny))[:, None]
    return shorter


def _work(contacts: SlidingNodes, impulse: Vec, moved: Vec) -> float:
    """Return ½ rᵀ W r + rᵀ s [J]."""
    return float(0.5 * np.vdot(impulse, moved) + np.vdot(impulse, contacts.slip))


def _positive(value: float | np.floating[Any]) -> float:
    """Return a divisor: the value, or the smallest positive number where it is not positive."""
    return max(float(value), float(np.finfo(float).tiny))
