"""The slowest wobble of a body at rest, from its stiffness and mass and from what holds it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse.linalg as sla
from scipy.sparse.csgraph import connected_components

from ..assembly.damping import DampingLaw
from ..assembly.pattern import Pattern, node_graph
from ..forces.elastic import corner_products
from ..forces.stencils import BodyElements
from ..linear.interface import LinearSolver
from ..state import Index, Vec

STILL = 1.0e-6  #: of the fastest one found, in ω²: what is slower moves and turns without being deformed
RIGID, BESIDES = 6, 4  #: motions of a part that nothing holds; wobbles that are looked for besides
DENSE = 150  #: unknowns: of so few all wobbles are found at once
SHIFT = 1.0e-4  #: of an even stretch's ω²: how far under zero the spectrum is looked at from


@dataclass(frozen=True)
class Wobble:
    """q̈ + d q̇ + ω² q = 0."""

    omega: float  #: ω [rad/s]
    lost: tuple[float, ...]  #: the d that each of some laws gives it, without a drag [1/s]


def slowest(elastic: BodyElements, laws: Sequence[DampingLaw], rest: Vec, mass: Vec, free: Index, dynamic: Index | None,
            linear: LinearSolver) -> Wobble | None:
    """The slowest one of a body, and what each law makes it lose; None where nothing wobbles.

    rest, mass: of all nodes, (n, 3) [m] and (n,) [kg]. free: the body's nodes that are not prescribed; what nothing
    prescribes flies freely, over a ground too. dynamic: those of them that the others follow in balance, None where
    each moves on its own. linear: a fresh one.
    """
    if not len(free):
        return None
    forces, blocks = np.zeros((*elastic.tets.shape, 3)), np.zeros((len(elastic.tets), 6, 9))
    elastic.fill(rest, True, forces, blocks)

    def lost_by(field: Vec, blocks: Vec) -> float:
        corners = field[None, elastic.tets]
        return -float(np.vdot(corners, corner_products(blocks, corners)) / np.vdot(field, mass[:, None] * field))

    # −K and a little M: what nothing holds has motions without stiffness
    stretch = np.zeros_like(rest)
    stretch[free] = rest[free] - rest[free].mean(axis=0)
    shift = SHIFT * lost_by(stretch, blocks)
    graph = node_graph(elastic.tets, len(mass))[free][:, free]
    pattern = Pattern(elastic.tets, free[linear.order(graph)], len(mass))
    pattern.gather(blocks, np.zeros((len(mass), 3, 3)), -1.0, shift * mass)
    matrix, weight = pattern.matrix(), np.repeat(mass[pattern.order], 3)
    linear.analyse(matrix, 0)
    linear.factor(matrix, rest[pattern.order])

    if dynamic is not None:
        squares, modes = _of_dynamic(linear, weight, pattern.position[dynamic], shift)
    else:
        squares, modes = _of_all(linear, weight, RIGID * connected_components(graph)[0] + BESIDES, shift)
    deformed = np.flatnonzero(squares > STILL * squares.max(initial=0.0))
    if not len(deformed):
        return None
    field = np.zeros_like(rest)
    field[pattern.order] = modes[:, deformed[0]].reshape(-1, 3)
    lost = []
    for law in laws:
        law.fill(rest, 0.0, forces, blocks)
        lost.append(lost_by(field, blocks))
    return Wobble(math.sqrt(squares[deformed[0]]), tuple(lost))


def _of_all(linear: LinearSolver, weight: Vec, count: int, shift: float) -> tuple[Vec, Vec]:
    """The lowest ω², rising, and their modes in columns, by (−K + shift M)⁻¹. weight: of each row [kg]."""
    size, root = len(weight), np.sqrt(weight)
    if size <= DENSE or count >= size - 1:
        yielding = root[:, None] * linear.solve(np.diag(root))
        found, modes = scipy.linalg.eigh(0.5 * (yielding + yielding.T))
    else:
        yielding = sla.LinearOperator((size, size), lambda y: root * linear.solve(root * np.ravel(y)), dtype=float)
        start = np.random.default_rng(0).normal(size=size)
        found, modes = sla.eigsh(yielding, k=count, v0=start, tol=1e-8)
    slowest_first = np.argsort(-found)
    return 1.0 / found[slowest_first] - shift, modes[:, slowest_first] / root[:, None]


def _of_dynamic(linear: LinearSolver, weight: Vec, dynamic: Index, shift: float) -> tuple[Vec, Vec]:
    """The same where all follows some nodes in balance, those in the rows of `dynamic`. [ConJac 11]"""
    rows = (3 * dynamic[:, None] + np.arange(3)).ravel()
    if not len(rows):
        return np.zeros(0), np.zeros((len(weight), 0))
    pushes = np.zeros((len(weight), len(rows)))
    pushes[rows, np.arange(len(rows))] = 1.0
    yielding = linear.solve(pushes)
    stiffness = np.linalg.inv(yielding[rows])
    jacobian = yielding @ stiffness
    inertia = jacobian.T @ (weight[:, None] * jacobian)
    squares, modes = scipy.linalg.eigh(0.5 * (stiffness + stiffness.T), 0.5 * (inertia + inertia.T))
    return squares - shift, jacobian @ modes
