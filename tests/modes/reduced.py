"""Reduced bodies for tests."""

import numpy as np
from bodies import box

from solver import catalogue
from solver.parts.modes.body import ReducedBody, Stepping
from solver.parts.modes.operators import Substance
from solver.parts.modes.stepping import Iterating

SNH = catalogue.find("material", "stable_neo_hookean").load()
EXACT = Iterating(iterations=60, tolerance=1e-13)


def substance(young=3e4, poisson=0.4, density=1000.0, material=SNH):
    return Substance.of(material, density, youngs_modulus=young, poisson_ratio=poisson)


def bar(m=4, points=None, pinned=True, young=3e4, cells=(8, 2, 2), **stepping):
    """A bar along x that hangs from its left end where `pinned`."""
    nodes, tets = box(cells)
    pins = [np.flatnonzero(nodes[:, 0] < 1e-9).astype(np.int32)] if pinned else []
    body = ReducedBody.build(tets, nodes, substance(young), pins, m, points, stepping=Stepping(**stepping))
    return body, nodes, tets


def turn(axis, angle):
    axis = np.asarray(axis, float) / np.linalg.norm(axis)
    k = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k
