"""A real little world for the loop: masses on damped springs, each step integrated exactly, hung from a moving hand.

x'' = -w² (x - hand(t)) - 2 d x' with hand(t) = A sin(W t): its exact solution is known, so frames can be checked
against it; and it keeps a warm start that is not in the State, as solvers do, which changes the last bits of a step
unless it is forgotten where the loop says so.
"""

import numpy as np

from solver.errors import Diverged, StepFailed
from solver.state import State


class Springs:
    """Masses with frequencies w [1/s], damping d [1/s]; the coordinate is the height [m] of each."""

    backend = "exact"
    summary: list[str] = []

    def __init__(self, frequencies=(3.0, 7.0, 11.0), damping=0.5, too_long=None, explodes_at=None):
        self.w, self.d = np.array(frequencies), damping
        self.too_long, self.explodes_at = too_long, explodes_at
        self.bodies = [("Springs ß", 0, 2), ("..", 2, len(self.w) - 2)]
        self.notes = ["three springs"]
        self.steps: list[tuple[float, float]] = []
        self.past = 0.0

    def check(self, state):
        """Check that everything written is a valid state."""

    def initial_state(self):
        return State(0.0, np.ones(len(self.w)), np.zeros(len(self.w)), {"last step": np.zeros(1)})

    def exact(self, time):
        """Height at a time of a mass that starts at 1 m at rest: [m], (masses,)."""
        fast = np.sqrt(self.w**2 - self.d**2)
        return np.exp(-self.d * time) * (np.cos(fast * time) + self.d / fast * np.sin(fast * time))

    def step(self, state, h):
        if self.too_long is not None and h > self.too_long:
            raise StepFailed("the step is too long")
        if self.explodes_at is not None and state.time >= self.explodes_at:
            raise StepFailed("it explodes")
        self.steps.append((state.time, h))
        fast = np.sqrt(self.w**2 - self.d**2)
        c, s, e = np.cos(fast * h), np.sin(fast * h), np.exp(-self.d * h)
        q = e * ((c + self.d / fast * s) * state.q + s / fast * state.u)
        u = e * ((c - self.d / fast * s) * state.u - self.w**2 / fast * s * state.q)
        # a warm start moves the answer within its tolerance: the kind of past that a snapshot must drop
        self.past = 0.5 * self.past + 1e-9 * float(q[0])
        return State(state.time + h, q + self.past, u, {"last step": np.array([h])})

    def rescue(self, state, h, failure):
        raise failure

    def check_step_size(self, after, h):
        pass

    def deformation(self, before, after):
        return float(np.abs(after.q - before.q).max())

    def most_deformed(self, before, after):
        return 0.0, None

    def impact_change(self, before, after):
        return 0.0, None

    def in_contact(self, state):
        return False

    def output(self, state, frame):
        return np.stack([np.full_like(state.q, frame), np.zeros_like(state.q), state.q], axis=1)

    def longest(self, state):
        return np.zeros(len(self.bodies))

    def stress(self, state):
        return None

    def contact_forces(self, state):
        return None

    def liveliness(self, state):
        return None

    sheet_names = ()

    def sheets(self, state, frame):
        return {}

    def poses(self, state):
        return None

    def forget_past(self):
        self.past = 0.0

    def explain(self, failure, state, frame):
        return Diverged(str(failure), "Use a smaller step", object="Springs ß", frame=frame)
