"""Slowest vibration modes of a body where it hangs, from its stiffness, its mass and its prescribed nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.linalg
import scipy.sparse.linalg as sla
from scipy.sparse.csgraph import connected_components

from ..assembly.damping import DampingLaw
from ..assembly.elements import Elements
from ..assembly.linearised import Linearised
from ..assembly.pattern import Pattern, node_graph
from ..errors import StepFailed
from ..forces.elastic import corner_products
from ..forces.stencils import BodyElements
from ..linear.interface import LinearSolver, NotPositiveDefinite
from ..nonlinear.equilibrium import equilibrium
from ..state import Index, Mask, Vec

UNDEFORMED = 1.0e-6  #: of the fastest one found, in ω²: what is slower moves and turns without being deformed
RIGID, EXTRA = 6, 8  #: motions of a part that nothing holds; wobbles that are looked for besides
DENSE = 150  #: unknowns: of so few all wobbles are found at once
NEGLIGIBLE_FORCE = 1.0e-5  #: of the weight: a smaller force is a balance
SHIFT = 1.0e-4  #: of an even stretch's ω²: how far under zero the spectrum is looked at from


@dataclass(frozen=True)
class Wobbles:
    """Vibration modes of a body, slowest first, each with q̈ + d q̇ + ω² q = 0."""

    x: Vec  #: equilibrium positions, (n, 3) [m]
    omegas: Vec  #: ω [rad/s], (m,)
    fields: Vec  #: orthonormal in the product of the masses, (m, n, 3)
    damping_rates: tuple[Vec, ...]  #: d of the modes by each damping law, without mass damping, (m,) [1/s]


def slowest(elastic: BodyElements, laws: Sequence[DampingLaw], x: Vec, mass: Vec, free: Index, dynamic: Index | None,
            linear: LinearSolver) -> Wobbles | None:
    """Return the slowest vibration modes of a body, with their damping by each law; None where nothing vibrates.

    x, mass: of all nodes, (n, 3) [m] in equilibrium, and (n,) [kg]. free: the body's nodes that are not prescribed;
    parts without prescribed nodes fly freely, over a ground too. dynamic: nodes of these that the others follow in
    equilibrium; None: each node moves on its own. linear: a new linear solver. Raises NotPositiveDefinite where not
    even the projected stiffness can be factored.
    """
    if not len(free):
        return None
    forces, blocks = np.zeros((*elastic.tets.shape, 3)), np.zeros((len(elastic.tets), 6, 9))

    def damping_rate(field: Vec, blocks: Vec) -> float:
        corners = field[None, elastic.tets]
        return -float(np.vdot(corners, corner_products(blocks, corners)) / np.vdot(field, mass[:, None] * field))

    # −K and a little M: an unconstrained part has motions without stiffness
    elastic.fill(x, True, forces, blocks)
    stretch = np.zeros_like(x)
    stretch[free] = x[free] - x[free].mean(axis=0)
    shift = SHIFT * damping_rate(stretch, blocks)
    graph = node_graph(elastic.tets, len(mass))[free][:, free]
    pattern = Pattern(elastic.tets, free[linear.order(graph)], len(mass))
    matrix, weight = pattern.matrix(), np.repeat(mass[pattern.order], 3)
    linear.analyse(matrix, 0)
    # tension stiffens a body across it and compression softens it: the true K where the equilibrium is stable
    for project in (False, True):
        elastic.fill(x, project, forces, blocks)
        pattern.gather(blocks, np.zeros((len(mass), 3, 3)), -1.0, shift * mass)
        try:
            linear.factor(pattern.matrix(), x[pattern.order])
            break
        except NotPositiveDefinite:
            if project:
                raise

    if dynamic is not None:
        squares, modes = _of_dynamic(linear, weight, pattern.position[dynamic], shift)
    else:
        squares, modes = _of_all(linear, weight, RIGID * connected_components(graph)[0] + EXTRA, shift)
    deformed = np.flatnonzero(squares > UNDEFORMED * squares.max(initial=0.0))
    if not len(deformed):
        return None
    fields = np.zeros((len(deformed), *x.shape))
    fields[:, pattern.order] = modes[:, deformed].T.reshape(len(deformed), -1, 3)
    fields /= np.sqrt(np.einsum("mni,n,mni->m", fields, mass, fields))[:, None, None]
    damping_rates = []
    for law in laws:
        law.fill(x, 0.0, forces, blocks)
        damping_rates.append(np.array([damping_rate(field, blocks) for field in fields]))
    return Wobbles(x, np.sqrt(squares[deformed]), fields, tuple(damping_rates))


def equilibrium_under_weight(elastic: BodyElements, rest: Vec, mass: Vec, supported: Index, gravity: Vec,
                             linear: LinearSolver) -> Vec:
    """Return the equilibrium positions of a body under its weight, (n, 3) [m]; its rest shape where none is found.

    rest, mass: of all nodes, (n, 3) [m] and (n,) [kg]. supported: free nodes of parts that have prescribed ones.
    gravity: (3,) [m/s²]. linear: a new linear solver.
    """
    if not len(supported) or not gravity.any():
        return rest
    try:
        return equilibrium(_IsolatedBody(elastic, rest, mass, gravity), rest, 0.0, supported, elastic.tets, linear,
                           tolerance=NEGLIGIBLE_FORCE)
    except StepFailed:
        return rest


class _IsolatedBody:
    """A body under its own weight and no other load, in the form in which a stage evaluates forces and masses."""

    friction = None

    def __init__(self, elastic: BodyElements, rest: Vec, mass: Vec, gravity: Vec) -> None:
        self._elements, self.rest, self.mass = Elements([elastic], [], len(rest)), rest, mass
        self._weight, self._none = mass[:, None] * gravity, np.zeros((len(rest), 3, 3))

    def evaluate(self, x: Vec, time: float) -> tuple[Vec, float | None]:
        force = self._weight.copy()
        return force, self._elements.measure(x, time, force, -float(np.vdot(self._weight, x - self.rest)))

    def linearise_at(self, x: Vec, v: Vec | None, time: float, project: bool = True) -> Linearised:
        force = self._weight.copy()
        self._elements.fill(x, time, project, force)
        return Linearised(x, np.zeros_like(x), self.mass, force, self._elements.blocks, self._none)

    def linearise_reusing_at(self, x: Vec, v: Vec, time: float, strained: Index) -> Linearised:
        self._elements.fill_again(x, time, strained)
        return Linearised(x, v, self.mass, self._weight.copy(), self._elements.blocks, self._none)

    def count_evaluations(self) -> npt.NDArray[np.int64]:
        return self._elements.filled.copy()

    def in_stretches(self) -> None:
        return None

    def largest_step(self, start: Vec, end: Vec) -> float:
        return 1.0

    def largest_steps(self, start: Vec, end: Vec, by_body: bool = False) -> Vec:
        return np.ones(len(start))

    def carry_along(self, step_start: Vec, end: Vec) -> Vec | None:
        return None

    def name_blocking_pair(self, node: int, x: Vec) -> tuple[str, str]:
        return "", ""

    def closes_on(self, x: Vec, end: Vec) -> tuple[int, str] | None:
        return None

    def body_of(self, node: int) -> str | None:
        return None

    def find_clamped_elements(self, x: Vec, time: float) -> Mask:
        return self._elements.find_clamped_elements(x, time)


def _of_all(linear: LinearSolver, weight: Vec, count: int, shift: float) -> tuple[Vec, Vec]:
    """Return the `count` lowest ω² [1/s²], ascending, and their modes in columns, from (−K + shift M)⁻¹. weight: mass
    of each row [kg]."""
    size, root = len(weight), np.sqrt(weight)
    if size <= DENSE or count >= size - 1:
        compliance = root[:, None] * linear.solve(np.diag(root))
        eigenvalues, modes = scipy.linalg.eigh(0.5 * (compliance + compliance.T))
    else:
        compliance = sla.LinearOperator((size, size), lambda y: root * linear.solve(root * np.ravel(y)), dtype=float)
        start = np.random.default_rng(0).normal(size=size)
        eigenvalues, modes = sla.eigsh(compliance, k=count, v0=start, tol=1e-8)
    slowest_first = np.argsort(-eigenvalues)
    return 1.0 / eigenvalues[slowest_first] - shift, modes[:, slowest_first] / root[:, None]


def _of_dynamic(linear: LinearSolver, weight: Vec, dynamic: Index, shift: float) -> tuple[Vec, Vec]:
    """Return squared frequencies (c,) and modes (m, c) of the nodes `dynamic`, which all others follow in equilibrium.
    [ConJac 11]"""
    rows = (3 * dynamic[:, None] + np.arange(3)).ravel()
    if not len(rows):
        return np.zeros(0), np.zeros((len(weight), 0))
    unit_forces = np.zeros((len(weight), len(rows)))
    unit_forces[rows, np.arange(len(rows))] = 1.0
    compliance = linear.solve(unit_forces)
    stiffness = np.linalg.inv(compliance[rows])
    jacobian = compliance @ stiffness
    inertia = jacobian.T @ (weight[:, None] * jacobian)
    squares, modes = scipy.linalg.eigh(0.5 * (stiffness + stiffness.T), 0.5 * (inertia + inertia.T))
    return squares - shift, jacobian @ modes
