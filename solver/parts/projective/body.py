"""Bodies of projective constraints that step by themselves, for Play Live and for drafts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse as sp

from ...errors import BadInput, NoFreeNode, StepFailed
from ...forces.stencils import add_corners
from ...linear.interface import NotPositiveDefinite
from ...linear.secant_pairs import SecantPairs
from ...state import Index, Mask, Vec
from .constraints import ProjectedElements
from .factor import GlobalMatrix
from .projection_kernels import project_points, resist_moves

ITERATIONS, MEMORY = 10, 5
INTEGRATORS = ("backward_euler", "bdf2")
CACHED_STEPS = 4  #: lengths of a step whose factors are kept
#: of TargetRows
COLUMNS = ("nodes", "weights", "targets", "normals", "friction", "velocities")


@dataclass(frozen=True)
class TargetRows:
    """Potentials ½ w |x − p|² of single nodes in a step, p a fixed point or the nearest point of a half-space."""

    nodes: Index  #: (k,), rows of prescribed nodes have no effect
    weights: Vec  #: w [N/m], (k,)
    targets: Vec  #: [m], (k, 3): the fixed point, or a point on the boundary of the half-space
    normals: Vec  #: (k, 3): zero for a fixed point, else the unit normal out of the obstacle
    friction: Vec  #: Coulomb's coefficient, (k,)
    velocities: Vec  #: of the obstacle, whose targets are those at the step's end [m/s], (k, 3)

    @classmethod
    def springs(cls, nodes: Index, weights: Vec | float, targets: Vec) -> TargetRows:
        """Return springs from nodes (k,) to points (k, 3) [m], with weights [N/m]."""
        return cls.touching(nodes, weights, targets, np.zeros((len(nodes), 3)), 0.0)

    @classmethod
    def touching(cls, nodes: Index, weights: Vec | float, targets: Vec | Sequence[float],
                 normals: Vec | Sequence[float], friction: Vec | float = 0.0,
                 velocities: Vec | Sequence[float] = (0.0, 0.0, 0.0)) -> TargetRows:
        """Return contacts of nodes (k,) with half-spaces normal · (x − target) ≥ 0. targets [m], normals and velocities
        [m/s]: (k, 3), or (3,) for all; weights [N/m] and friction: (k,) or one number."""
        nodes = np.ascontiguousarray(nodes, dtype=np.int32)
        weight, mu = (np.array(np.broadcast_to(np.asarray(value, float), (len(nodes),)))
                      for value in (weights, friction))
        points, out, speed = (np.array(np.broadcast_to(np.asarray(vectors, float), (len(nodes), 3)), order="C")
                              for vectors in (targets, normals, velocities))
        return cls(nodes, weight, points, out, mu, speed)

    def before(self, seconds: float) -> TargetRows:
        """Return the rows with their targets at `seconds` before the step's end."""
        return replace(self, targets=self.targets - seconds * self.velocities) if seconds else self

    def scale_weights(self, factors: Vec) -> TargetRows:
        """Return the rows with weights multiplied by `factors`, (k,)."""
        return replace(self, weights=factors * self.weights)

    def of(self, some: Mask, shift: int = 0) -> TargetRows:
        """Return the rows of a mask, (k,), with `shift` added to the indices of nodes."""
        return TargetRows(self.nodes[some] + np.int32(shift), *(getattr(self, name)[some] for name in COLUMNS[1:]))

    @classmethod
    def join(cls, several: Sequence[TargetRows]) -> TargetRows:
        """Return the rows of several tables in one table; at least one table is required."""
        several = [table for table in several if len(table.nodes)] or list(several[:1])
        if len(several) == 1:
            return several[0]
        return cls(*(np.concatenate([getattr(table, name) for table in several]) for name in COLUMNS))


NOTHING = TargetRows.springs(np.zeros(0, np.int32), 0.0, np.zeros((0, 3)))
#: contacts from positions at the step's end without constraints and at its start, (n, 3) [m] each
Touching = Callable[[Vec, Vec], TargetRows]


@dataclass(frozen=True)
class ProjectiveState:
    """Positions and velocities of all nodes; a step returns a new state."""

    x: Vec  #: [m], (n, 3)
    v: Vec  #: [m/s], (n, 3)
    time: float = 0.0  #: [s]
    past: tuple[Vec, Vec, float] | None = None  #: x, v and length of the previous step, for BDF2


@dataclass(frozen=True)
class StepSettings:
    """Gravity and number of iterations of one step, where they are not those of the body."""

    gravity: Vec | None = None  #: [m/s²], (3,)
    iterations: int | None = None


DEFAULT = StepSettings()


@dataclass
class ProjectiveBody:
    """Nodes with mass, constraints between them and prescribed nodes. Raises BadInput, NoFreeNode.
    [Notes, Projective Dynamics]"""

    rest: Vec  #: [m], (n, 3)
    mass: Vec  #: [kg], (n,)
    constraints: Sequence[ProjectedElements]
    prescribed: Index = field(default_factory=lambda: np.zeros(0, np.int32))  #: nodes, (p,)
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)  #: [m/s²]
    mass_damping: float = 0.0  #: β of D = −β M [1/s]
    integrator: str = "backward_euler"
    iterations: int = ITERATIONS  #: largest number in a step
    #: number of secant pairs of a step, as in L-BFGS [Liu 2017]; 0: the constant matrix alone
    memory: int = MEMORY
    tolerance: float = 0.0  #: largest displacement of a node in an iteration at which the step ends [m]

    def __post_init__(self) -> None:
        """Assemble the stiffness of the free nodes. Raises BadInput for an unknown integrator or a node without mass,
        NoFreeNode where every node is prescribed."""
        n = len(self.rest)
        if self.integrator not in INTEGRATORS:
            raise BadInput(f"projective dynamics has no integrator \"{self.integrator}\"",
                           f"Choose one of {', '.join(INTEGRATORS)}")
        self.free: Index = np.setdiff1d(np.arange(n), self.prescribed).astype(np.int32)
        if not len(self.free):
            raise NoFreeNode("every node is pinned, so nothing can move", "Leave a part of it free")
        if not (np.isfinite(self.mass).all() and (self.mass[self.free] > 0.0).all()):
            raise BadInput("a node has no mass", "Give every element a density above zero")
        total = sp.csc_matrix((n, n))
        for constraint in self.constraints:
            total = total + constraint.matrix(n)
        self._stiffness = total[self.free][:, self.free].tocsc()
        self._stiffness_diagonal: Vec = self._stiffness.diagonal()
        self._pulls = [np.zeros((*constraint.nodes.shape, 3)) for constraint in self.constraints]
        self._energies = np.zeros(2)
        self._factors: dict[float, GlobalMatrix] = {}
        self._pairs = SecantPairs(self.memory)
        #: potential of the last step before its first iteration and after each [J]
        self.energies: list[float] = []

    def initial_state(self) -> ProjectiveState:
        """Return the state at rest in the rest shape."""
        return ProjectiveState(self.rest.copy(), np.zeros_like(self.rest))

    def diagonal(self, h: float) -> Vec:
        """Return the diagonal of the matrix of a step of h seconds, (n,) [N/m]: a scale for the weights of contacts."""
        out = self.mass / h**2
        out[self.free] += self._stiffness_diagonal
        return out

    def step(self, state: ProjectiveState, h: float, force: Vec | None = None, points: TargetRows | None = None,
             positions: Vec | None = None, touching: Touching | None = None, settings: StepSettings = DEFAULT
             ) -> ProjectiveState:
        """Return the state after h seconds. Raises StepFailed where a position is not finite or the matrix is not
        positive definite; the given state is not modified.

        force: in addition to gravity, (n, 3) [N]. points: springs and contacts of single nodes. positions: of
        prescribed nodes at the end, (p, 3) [m]; None: unchanged. touching: returns further contacts from positions
        without constraints and those at the start, (n, 3) [m] each. settings: gravity and iterations of this step.
        """
        base, v_hat, b = self._inertia(state, h)
        bh = b * h
        kappa = 1.0 / bh**2
        predicted = base + bh * v_hat
        begin = state.x
        load = self.mass[:, None] * np.asarray(self.gravity if settings.gravity is None else settings.gravity)
        if force is not None:
            load = load + force
        x = predicted + load / (kappa * self.mass[:, None] + 1.0e-300)
        x[self.prescribed] = state.x[self.prescribed] if positions is None else positions
        rows = [NOTHING if points is None else points]
        if touching is not None:
            rows.append(touching(x, begin))
        joined = TargetRows.join(rows)
        iterations = self.iterations if settings.iterations is None else settings.iterations
        x = self._iterate(x, _StepTerms(kappa, predicted, load, base, self.mass_damping / bh, joined, begin,
                                         h * joined.velocities), iterations)
        if not np.isfinite(x).all():
            raise StepFailed("a position is not a number")
        return ProjectiveState(x, (x - base) / bh, state.time + h, (state.x, state.v, h))

    def _inertia(self, state: ProjectiveState, h: float) -> tuple[Vec, Vec, float]:
        """Return base (n, 3) [m], v̂ (n, 3) [m/s] and b of the stage M (v − v̂) = b h f, x = base + b h v.
        [Ascher 7]"""
        past = state.past
        if self.integrator == "bdf2" and past is not None and abs(past[2] - h) < 1.0e-9 * h:
            return (4.0 * state.x - past[0]) / 3.0, (4.0 * state.v - past[1]) / 3.0, 2.0 / 3.0
        return state.x, state.v, 1.0

    def _iterate(self, x: Vec, terms: _StepTerms, iterations: int) -> Vec:
        """Return positions after so many iterations, (n, 3) [m]; the potential falls in each.

        [Notes, Implicit Integration] [Liu 2017]"""
        diagonal = np.asarray(np.bincount(terms.points.nodes, terms.points.weights, len(self.rest)), dtype=float)
        matrix = self._factor(terms.kappa + terms.drag)
        matrix.add(diagonal[self.free])

        def solve(rhs: Vec) -> Vec:
            return np.ascontiguousarray(matrix.direction(rhs.reshape(-1, 3))).ravel()

        self._pairs.clear(3 * len(self.free))
        at = self._measure(x, terms, np.zeros(len(terms.points.nodes)))
        self.energies = [at.energy]
        for _ in range(iterations):
            move = self._pairs.direction(-at.net, solve)
            trial, trial_at = self._move(x, move, terms, at)
            if not trial_at.lagged < at.energy and len(self._pairs):
                # discard the secant pairs: a step with the constant matrix alone never raises the potential
                self._pairs.clear(3 * len(self.free))
                move = solve(at.net)
                trial, trial_at = self._move(x, move, terms, at)
            self._pairs.add(move, at.net - trial_at.net)
            x, at = trial, trial_at
            self.energies.append(at.energy)
            if not move.any() or self.tolerance and float(np.abs(move).max()) <= self.tolerance:
                break
        return x

    def _move(self, x: Vec, move: Vec, terms: _StepTerms, at: _Measured) -> tuple[Vec, _Measured]:
        """Return positions after a displacement of the free nodes, (3 f,) [m], and the potential there."""
        if len(self.free) == len(x):
            trial = x + move.reshape(-1, 3)
        else:
            trial = x.copy()
            trial[self.free] += move.reshape(-1, 3)
        return trial, self._measure(trial, terms, at.limits)

    def _factor(self, inertia: float) -> GlobalMatrix:
        """Return the matrix with masses times `inertia` [1/s²], from a cache of the last few step sizes. Raises
        StepFailed."""
        matrix = self._factors.pop(inertia, None)
        if matrix is None:
            try:
                matrix = GlobalMatrix((sp.diags(inertia * self.mass[self.free]) + self._stiffness).tocsc())
            except NotPositiveDefinite as failure:
                raise StepFailed("the stiffness is not positive definite") from failure
        self._factors[inertia] = matrix
        while len(self._factors) > CACHED_STEPS:
            self._factors.pop(next(iter(self._factors)))
        return matrix

    def _measure(self, x: Vec, terms: _StepTerms, limits: Vec) -> _Measured:
        """Return the potential of a step at positions (n, 3) [m]. limits: of friction at the last evaluation, (k,)
        [m]."""
        net = np.empty_like(x)
        energy = float(resist_moves(x, terms.predicted, terms.base, self.mass, terms.load, terms.kappa, terms.drag,
                                    net))
        for constraint, pulls in zip(self.constraints, self._pulls):
            energy += constraint.project(x, pulls)
            add_corners(constraint.nodes, pulls, net)
        points, own, lagged = terms.points, np.zeros(len(limits)), energy
        if len(points.nodes):
            project_points(x, points.nodes, points.weights, points.targets, points.normals, terms.begin, terms.moved,
                           points.friction, limits, own, net, self._energies)
            energy, lagged = (energy + float(value) for value in self._energies)
        return _Measured(energy, lagged, (net if len(self.free) == len(x) else net[self.free]).ravel(), own)

    def with_positions(self, state: ProjectiveState, x: Vec) -> ProjectiveState:
        """Return the state with other positions of all nodes, (n, 3) [m], and its present velocities."""
        return replace(state, x=x, past=None)


@dataclass(frozen=True)
class _StepTerms:
    """Terms of the potential of one step in addition to the constraints."""

    kappa: float  #: 1/(a b h²) [1/s²]
    predicted: Vec  #: y, positions by inertia alone [m], (n, 3)
    load: Vec  #: [N], (n, 3)
    base: Vec  #: positions from which mass damping resists motion [m], (n, 3)
    drag: float  #: β/(b h) [1/s²]
    points: TargetRows
    begin: Vec  #: positions at the step's start [m], (n, 3)
    moved: Vec  #: displacement of the obstacles in the step [m], (k, 3)


@dataclass(frozen=True)
class _Measured:
    """Potential of a step at some positions; friction has a potential while its limits are constant."""

    energy: float  #: with the limits of friction at these positions [J]
    lagged: float  #: with the limits of the previous evaluation [J]
    net: Vec  #: negative gradient of the potential, (3 f,) [N]
    limits: Vec  #: largest elastic displacements before nodes slip [m], (k,)
