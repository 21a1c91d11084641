"""Things that the solver does not have: a part, and files with entries of the catalogue."""

import sys
import types

import numpy as np

from solver import catalogue
from solver.state import State
from solver.world.interface import SteppedPart


class Pendulum(SteppedPart):
    """θ̈ = −g/l sin θ by leapfrog; a bob and its string are its output."""

    unknowns, backend = 1, "none"
    bodies = [("Bob", 0, 2)]

    def __init__(self, length):
        self.length, self.notes = length, [f"a pendulum of {length} m"]

    def owns(self, name):
        return name == "Bob"

    def initial_state(self):
        return State(0.0, np.array([0.5]), np.zeros(1), {"swings": np.zeros(1)})

    def attempt(self, state, h, inputs):
        u = state.u - h * 9.81 / self.length * np.sin(state.q)
        crossed = np.sign(state.q + h * u) != np.sign(state.q)
        return State(state.time + h, state.q + h * u, u, {"swings": state.memory["swings"] + crossed})

    def output(self, state, frame):
        return np.array([[0, 0, 0], [np.sin(state.q[0]), 0, -np.cos(state.q[0])]]) * self.length


def add_to_solver(monkeypatch, files, *entries):
    """Give the solver files that it does not have, each with one thing in it by the file's dotted name, and entries of
    the catalogue."""
    for name, made in files.items():
        module = types.ModuleType(f"solver.{name}")
        setattr(module, made.__name__, made)
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(catalogue, "ENTRIES", (*catalogue.ENTRIES, *entries))
