"""Soft bodies reduced to a few dozen coordinates, which step by themselves: for live players and drafts."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg.lapack import dpotrs

from ...errors import BadInput
from ...meshing.volume import boundary_faces, tet_volumes
from ...state import Index, Vec
from .cubature import build_cubature
from .fitting import compute_sampled_frequencies, fit_volumes
from .load_modes import OFF, build_balanced_pulls, strain_energies, with_load_modes
from .loads import Floor, Grab, Planes, PointSprings, SkinPoints, StageLoads
from .operators import Substance
from .pins import PinGroups
from .points import PAIRS, CubaturePoints
from .skinning import Subspace, build_subspace
from .stepping import Iterating, ReducedStage, SolvedStage, solve_stage

MODES = 16
DIAGONAL = 1.0 - np.sqrt(0.5)  #: of SDIRK2, in which two stages share it
INTEGRATORS = ("backward_euler", "bdf2", "sdirk2")


@dataclass(frozen=True)
class ReducedState:
    """Coordinates and rates of a reduced body; a step returns a new state."""

    y: Vec  #: coordinates: x = X + Φ y, (p, 3) [√kg m]
    u: Vec  #: their rates, (p, 3) [√kg m/s]
    carrier_motion: Vec  #: coordinates of groups of pins, (4 g, 3) [m]
    carrier_rate: Vec  #: [m/s], (4 g, 3)
    time: float = 0.0  #: [s]
    #: y, u, carrier_motion, carrier_rate and length of the previous step, for BDF2
    past: tuple[Vec, Vec, Vec, Vec, float] | None = None


@dataclass(frozen=True)
class Stepping:
    """Settings of the steps of a reduced body."""

    integrator: str = "backward_euler"  #: or "bdf2", "sdirk2"
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)  #: [m/s²]
    stiffness_damping: float = 0.0  #: α of D = α K − β M [s]
    mass_damping: float = 0.0  #: β [1/s]
    floor: Floor | None = None
    planes: Planes | None = None  #: planes at the end of a step
    springs: PointSprings | None = None
    iterating: Iterating = field(default_factory=Iterating)


@dataclass(frozen=True)
class Truth:
    """Frequencies near rest of a reduced body and of its full mesh, for their comparison."""

    frequencies: Vec  #: of the whole mesh, the slowest few [Hz]
    spanned: Vec  #: of the subspace [Hz]
    sampled: Vec  #: of the subspace with cubature points alone, as it is stepped [Hz]
    factor: float  #: total volume of the points relative to that of the mesh

    @property
    def off(self) -> float:
        """Return the largest relative error of a frequency."""
        return float(abs(self.sampled / self.frequencies - 1.0).max(initial=0.0))


class ReducedBody:
    """Soft body on a skinning subspace with cubature points. `build` makes it; the cost of `step` does not depend on
    the mesh."""

    growths, growth = 4, 1.35  #: how often points are found again, so many more each time
    most_touching = 200  #: points of the skin that are checked for contact at most
    stiffest = 1.0e8  #: of the softest element's stiffness, at most
    points_of_weight = 30  #: a weight

    def __init__(self, nodes: Vec, tets: Index, substance: Substance, subspace: Subspace, points: CubaturePoints,
                 seen: Any = None, stepping: Stepping | None = None, truth: Truth | None = None) -> None:
        """nodes: (n, 3) [m]. tets: (e, 4). seen: sparse matrix (s, n) of nodal weights of the points that are drawn;
        None: the boundary nodes are drawn. truth: frequencies of the body and of its mesh; None: they are not known.
        """
        self.stepping = stepping or Stepping()
        self.subspace, self.points = subspace, points
        self.nodes, self.substance = nodes, substance
        self.pins = PinGroups(nodes, subspace)
        self.skin: Index = np.unique(boundary_faces(tets)[0]).astype(np.int32)  #: boundary nodes
        if seen is None:
            seen = sp.csr_matrix((np.ones(len(self.skin)), (np.arange(len(self.skin)), self.skin)),
                                 shape=(len(self.skin), len(nodes)))
        self.rest_surface: Vec = seen @ nodes  #: rest positions of drawn points [m], (s, 3)
        self.surface_functions: Vec = seen @ subspace.functions  #: Φ there, (s, p)
        self.surface_prescribed: Vec = seen @ subspace.prescribed  #: Ψ there, (s, 4 g)
        mass = subspace.mass[:, None]
        self.weighed: Vec = (mass * subspace.functions).sum(axis=0)  #: Φᵀ M 1, (p,)
        self._coupling = subspace.functions.T @ (mass * subspace.prescribed)  #: Φᵀ M Ψ, (p, 4 g)
        some = self.skin[_spread_out(nodes[self.skin], self.most_touching)]
        #: points with contact to the floor
        self.touching = SkinPoints(subspace.functions[some], subspace.prescribed[some], nodes[some])
        self.truth = truth or Truth(np.zeros(0), np.zeros(0), np.zeros(0), 1.0)
        self.last: tuple[SolvedStage, ...] = ()  #: solutions of the stages of the last step

    @classmethod
    def build(cls, tets: Index, nodes: Vec, material: Substance, pins: Sequence[Index] = (), m: int = MODES,
              points: int | None = None, *, seen: Any = None, stepping: Stepping | None = None,
              exponent: float = 0.0, loads: Sequence[Vec] | None = None, pulled: Sequence[Index] = (),
              fitted: bool = True, report: Callable[[str], None] | None = None) -> ReducedBody:
        """Return the reduced body of a mesh: nodes (n, 3) [m] and tets (e, 4).

        pins: nodes of each group that `PinGroups.lead` moves. m: number of weights. points: number of cubature points;
        None: 30 for each weight, or more until slow frequencies are correct within a tenth. seen: as in the
        constructor. exponent: of the weights' stiffness in cubature. loads: accelerations (3,) [m/s²] whose static
        responses are spanned; None: gravity. pulled: nodes of each spot that will be pulled, for which responses are
        spanned, too. fitted: whether volumes of points are fitted to slow vibrations one by one before all are scaled
        by one factor. report: called with a clause for each stage of the work. Raises BadInput, NoFreeNode.
        """
        say = report or (lambda clause: None)
        nodes = np.ascontiguousarray(nodes, dtype=np.float64)
        tets = np.ascontiguousarray(tets, dtype=np.int32)
        _refuse_bad_mesh(nodes, tets)
        substance = cls.substance_of(material, len(tets))
        say("skinning weights")
        subspace = build_subspace(nodes, tets, substance, pins, m)
        say("slow vibrations of the whole mesh")
        stepping = stepping or Stepping()
        fields = [stepping.gravity] if loads is None else loads
        forces = [subspace.mass[:, None] * np.asarray(field, float) for field in fields if np.any(field)]
        forces += [pull for spot in pulled for pull in build_balanced_pulls(nodes, subspace, spot)]
        subspace, vibrations = with_load_modes(nodes, tets, substance, subspace, tuple(forces))
        say("cubature points")
        count = points if points is not None else cls.points_of_weight * subspace.weights.shape[1]
        if subspace.functions.shape[1] >= len(nodes) - len(subspace.pinned):
            count = max(count, len(tets))  # nothing is reduced
        energy = strain_energies(nodes, tets, substance.stiffness, subspace, vibrations.modes)
        for _ in range(cls.growths):
            cubature = build_cubature(nodes, tets, substance.stiffness, subspace, count, exponent, energy)
            own = CubaturePoints(nodes, tets, substance, subspace, cubature)
            first, modes = vibrations.frequencies[:1], vibrations.modes
            if len(first) and own.count < len(tets):
                if fitted:
                    own.scale(fit_volumes(own, modes))
                # stiffness is proportional to volumes: one factor sets the slowest frequency right
                softest = float(compute_sampled_frequencies(own, modes, 1)[0])
                own.scale(np.full(own.count, (float(first[0]) / softest) ** 2 if softest else 1.0))
            factor = float(own.volumes.sum() / tet_volumes(nodes, tets).sum())
            sampled = (compute_sampled_frequencies(own, modes, len(vibrations.frequencies)) if len(first)
                       else np.zeros(0))
            truth = Truth(vibrations.frequencies, vibrations.spanned, sampled, factor)
            body = cls(nodes, tets, substance, subspace, own, seen, stepping, truth)
            if truth.off <= OFF or points is not None or own.count >= len(tets):
                break
            say(f"more cubature points, as frequencies are off by {100 * truth.off:.0f} %")
            count = int(cls.growth * count)
        return body

    def with_stepping(self, stepping: Stepping) -> ReducedBody:
        """Return a copy of the body with other settings of its steps."""
        other = copy.copy(self)
        other.stepping = stepping
        return other

    @staticmethod
    def substance_of(material: Substance, tets: int) -> Substance:
        """Return the material of `tets` elements for steps: elements a hundred million times as stiff as the softest
        are rigid, and are softened to that bound for the sake of rounding. Raises BadInput."""
        return material.repeat(tets).limit_stiffness(ReducedBody.stiffest)

    def frequencies(self, count: int) -> Vec:
        """Return the lowest frequencies of the reduced body at rest [Hz], (count,) or fewer, without rigid motions,
        with the stiffness of its cubature points."""
        self.points.linearise(np.zeros((len(self.points.volumes), 9)), False)
        stiffness, p = self.points.stiffness(), self.subspace.functions.shape[1]
        lower = np.zeros((3 * p, 3 * p))
        for pair, (i, k) in enumerate(PAIRS):
            lower[i * p : (i + 1) * p, k * p : (k + 1) * p] = stiffness[:, pair]
        values = np.linalg.eigvalsh(lower)
        slow = (2.0 * np.pi * float(self.truth.frequencies[0])) ** 2 if len(self.truth.frequencies) else values[-1]
        some = values[values > 1e-6 * slow]
        hertz: Vec = np.sqrt(some[:count]) / (2.0 * np.pi)
        return hertz

    @property
    def size(self) -> int:
        """Return the number of the body's coordinates, 3 p."""
        return 3 * self.subspace.functions.shape[1]

    def rest(self) -> ReducedState:
        """Return the state at rest in the rest shape."""
        p, carrier_motion = self.subspace.functions.shape[1], self.subspace.prescribed.shape[1]
        return ReducedState(np.zeros((p, 3)), np.zeros((p, 3)), np.zeros((carrier_motion, 3)),
                            np.zeros((carrier_motion, 3)))

    def surface(self, state: ReducedState) -> Vec:
        """Return positions of the drawn points [m], (s, 3)."""
        moved = self.surface_functions @ state.y
        if len(state.carrier_motion):
            moved += self.surface_prescribed @ state.carrier_motion
        return np.add(moved, self.rest_surface, out=moved)

    def touch_by(self, rest: Vec, functions: Vec, prescribed: Vec) -> None:
        """Use points of the drawn surface for contact instead of boundary nodes, which may lie outside that surface.

        rest: positions at rest, (n, 3) [m]. functions, prescribed: Φ, (n, p), and Ψ, (n, 4 g), at the points, of which
        `most_touching` are taken, spread evenly.
        """
        some = _spread_out(rest, self.most_touching)
        self.touching = SkinPoints(functions[some], prescribed[some], rest[some])

    def points_of(self, points: SkinPoints, y: Vec, carrier_motion: Vec) -> Vec:
        """Return positions of points of the body, (k, 3) [m], at coordinates y (p, 3) and those of groups of pins
        (4 g, 3)."""
        positions: Vec = points.rest + points.rows @ y
        return positions + points.prescribed @ carrier_motion if len(carrier_motion) else positions

    def positions(self, state: ReducedState) -> Vec:
        """Return positions of all nodes [m], (n, 3)."""
        positions: Vec = (self.nodes + self.subspace.functions @ state.y
                          + self.subspace.prescribed @ state.carrier_motion)
        return positions

    def velocities(self, state: ReducedState) -> Vec:
        """Return velocities of all nodes [m/s], (n, 3)."""
        velocities: Vec = self.subspace.functions @ state.u + self.subspace.prescribed @ state.carrier_rate
        return velocities

    def moving(self, velocities: Vec, state: ReducedState | None = None) -> ReducedState:
        """Return a state with the rates whose velocities are nearest to those of all nodes, (n, 3) [m/s], in the norm
        of the mass. state: with the coordinates; None: at rest."""
        state = self.rest() if state is None else state
        return replace(state, u=self._project_fields(velocities), past=None)

    def fit_state(self, positions: Vec, state: ReducedState | None = None) -> ReducedState:
        """Return a state with the coordinates whose positions are nearest to those of all nodes, (n, 3) [m], in the
        norm of the mass. state: with the rates; None: at rest."""
        state = self.rest() if state is None else state
        moved = positions - self.nodes - self.subspace.prescribed @ state.carrier_motion
        return replace(state, y=self._project_fields(moved), past=None)

    def _project_fields(self, fields: Vec) -> Vec:
        projected: Vec = self.subspace.functions.T @ (self.subspace.mass[:, None] * fields)
        return projected

    def grab(self, vertex: int, target: Vec, stiffness: float, damping: float = 0.0) -> Grab:
        """Return a spring from a drawn point, by its row in `surface`, to a target (3,) [m]; `Grab.to` moves the
        target. stiffness: [N/m]. damping: [N s/m]."""
        return Grab(self.surface_functions[vertex], self.rest_surface[vertex], self.surface_prescribed[vertex],
                    np.asarray(target, float), stiffness, damping)

    def points_at(self, nodes: Index) -> SkinPoints:
        """Return nodes of the mesh, (k,), as points of springs."""
        return SkinPoints(self.subspace.functions[nodes], self.subspace.prescribed[nodes], self.nodes[nodes])

    def grab_stiffness(self) -> float:
        """Return the stiffness of a spring on which the body's mass oscillates at two hertz [N/m]."""
        return float(self.subspace.mass.sum()) * (2.0 * np.pi * 2.0) ** 2

    def floor(self, normal: Vec, height: float, friction: float = 0.5) -> Floor:
        """Return a plane normal · x = height [m], of a stiffness at which the body's weight on eight points penetrates
        by a two hundredth of its size. friction: Coulomb's coefficient."""
        weight = float(self.subspace.mass.sum()) * max(float(np.linalg.norm(self.stepping.gravity)), 1.0)
        few = 8  #: approximate number of points that carry a body
        unit = np.asarray(normal, float) / np.linalg.norm(normal)
        return Floor(unit, height, weight / (few * 5e-3 * self.subspace.size), friction)

    def step(self, state: ReducedState, h: float, grabs: Sequence[Grab] = (), carrier_motion: Vec | None = None,
             springs: Callable[[float], Sequence[PointSprings]] | None = None,
             stepping: Stepping | None = None) -> ReducedState:
        """Return the state after h seconds. Raises StepFailed where a stage has no solution, BadInput for an unknown
        integrator; the given state is not modified.

        carrier_motion: coordinates of groups of pins at the end, (4 g, 3) [m], from `PinGroups.lead`; None: unchanged.
        springs: returns the springs at a time [s]; it is evaluated for each stage. stepping: settings of this step;
        None: those of the body.
        """
        end = state.carrier_motion if carrier_motion is None else carrier_motion
        how = self.stepping if stepping is None else stepping
        damped = self._evaluate_damping(state)
        before = np.concatenate([state.y, state.carrier_motion]), np.concatenate([state.u, state.carrier_rate])
        solved: list[SolvedStage] = []

        def stage(base: Vec, rate: Vec, ah: float, bh: float, carrier_now: Vec, start: Vec,
                  ends: float = h) -> tuple[Vec, Vec]:
            """Return coordinates and rates at the end of a stage, with those of pins."""
            p = len(state.y)
            planes = how.planes if how.planes is None or ends == h else how.planes.later(ends - h)
            loads = StageLoads(grabs, how.floor, self.touching, carrier_now, base[:p], rate[:p], bh, planes,
                               [*([] if how.springs is None else [how.springs]),
                                *([] if springs is None else springs(state.time + ends))])
            weight = self.weighed[:, None] * np.asarray(how.gravity)
            problem = ReducedStage(self.points, base[:p], rate[:p], ah, bh, carrier_now, base[p:], rate[p:],
                                   self._coupling, weight, how.mass_damping, damped, loads)
            done = solve_stage(problem, start, how.iterating, how.iterating.tolerance * self._length)
            solved.append(done)
            self._factor, self._bh = problem.factor, bh
            coordinates = np.concatenate([done.y, carrier_now])
            return coordinates, (coordinates - base) / bh

        if how.integrator not in INTEGRATORS:
            raise BadInput(f"a reduced body has no integrator \"{how.integrator}\"",
                           f"Choose one of {', '.join(INTEGRATORS)}")
        two_step = how.integrator == "bdf2"
        if two_step and state.past is not None and abs(state.past[4] - h) < 1e-9 * h:
            # [Ascher 7]
            y, u, carrier_before, carrier_rate, _ = state.past
            base = (4.0 * before[0] - np.concatenate([y, carrier_before])) / 3.0
            rate = (4.0 * before[1] - np.concatenate([u, carrier_rate])) / 3.0
            coordinates, speed = stage(base, rate, 2.0 * h / 3.0, 2.0 * h / 3.0, end, state.y)
        elif how.integrator == "backward_euler":
            coordinates, speed = stage(before[0], before[1], h, h, end, state.y)
        else:
            # SDIRK2, which starts BDF2 too [Ascher 9]
            g = DIAGONAL * h
            coordinates, speed = stage(before[0], before[1], g, g,
                                       state.carrier_motion + DIAGONAL * (end - state.carrier_motion), state.y, g)
            carried = (1.0 - DIAGONAL) / DIAGONAL * (speed - before[1])
            coordinates, speed = stage(before[0] + (h - g) * speed, before[1] + carried, g, g, end,
                                       coordinates[: len(state.y)])
        past = (state.y, state.u, state.carrier_motion, state.carrier_rate, h) if two_step else None
        self.last = tuple(solved)
        p = len(state.y)
        return ReducedState(coordinates[:p], speed[:p], coordinates[p:], speed[p:], state.time + h, past)

    def responses(self, rows: Vec) -> Vec:
        """Return changes of coordinates at the end of the last step, (3 p, c) axis by axis, by forces on coordinates,
        (3 p, c), such as 1 N on a point along one axis."""
        changes: Vec = dpotrs(self._factor, rows, lower=0)[0]
        return changes

    def displace(self, state: ReducedState, moved: Vec) -> ReducedState:
        """Return the end of the last step with its coordinates changed by `moved`, (3 p,) axis by axis, and its rates
        accordingly, as by additional forces."""
        by = moved.reshape(3, -1).T
        return replace(state, y=state.y + by, u=state.u + by / self._bh)

    def _evaluate_damping(self, state: ReducedState) -> tuple[Vec, float] | None:
        """Return weighted derivatives of stress by stretches at a step's start, (c, 54), and the stiffness damping [s]:
        rotation is not damped. None where there is no such damping."""
        if not self.stepping.stiffness_damping:
            return None
        self.points.restart()
        self.points.linearise(self.points.gradients(state.y, state.carrier_motion), True)
        return self.points.tangents.copy(), self.stepping.stiffness_damping

    @property
    def _length(self) -> float:
        """Return the displacement of the whole body by its own size, in coordinates [√kg m]."""
        return self.subspace.size * float(np.sqrt(self.subspace.mass.sum()))

    def energies(self, state: ReducedState) -> dict[str, float]:
        """Return kinetic, elastic and gravitational energy [J] by name, without those of the floor and of grabs."""
        elastic = self.points.measure(self.points.gradients(state.y, state.carrier_motion))
        moving = self.velocities(state)
        kinetic = 0.5 * float(self.subspace.mass @ (moving**2).sum(axis=1))
        height = self.positions(state) @ np.asarray(self.stepping.gravity)
        return {"kinetic": kinetic, "elastic": elastic, "gravity": -float(self.subspace.mass @ height)}


def _refuse_bad_mesh(nodes: Vec, tets: Index) -> None:
    """Raise BadInput where nodes are not finite, or a tetrahedron is flat or inverted, or a node is in none."""
    if nodes.ndim != 2 or nodes.shape[1:] != (3,) or not np.isfinite(nodes).all():
        raise BadInput("positions of nodes are no finite numbers, three each", "Give an array (n, 3)")
    if tets.ndim != 2 or tets.shape[1:] != (4,) or not len(tets):
        raise BadInput("there are no tetrahedra", "Give an array (e, 4)")
    if tets.min() < 0 or tets.max() >= len(nodes):
        raise BadInput(f"a tetrahedron names a node that is not among the {len(nodes)}", "Name nodes of this mesh")
    edges = nodes[tets[:, 1:]] - nodes[tets[:, :1]]
    if not (np.linalg.det(edges) > 0.0).all():
        raise BadInput("a tetrahedron is flat or turned inside out", "Tetrahedralize the mesh again")
    if len(np.unique(tets)) != len(nodes):
        raise BadInput("there are nodes that no tetrahedron uses", "Leave them out")


def _spread_out(positions: Vec, count: int) -> Index:
    """Return indices of at most `count` points that are far from each other, ascending. positions: (k, 3) [m]."""
    if len(positions) <= count:
        return np.arange(len(positions), dtype=np.int32)
    chosen = np.empty(count, np.int32)
    chosen[0] = int(positions[:, 2].argmin())
    away = np.full(len(positions), np.inf)
    for k in range(1, count):
        np.minimum(away, ((positions - positions[chosen[k - 1]]) ** 2).sum(axis=1), out=away)
        chosen[k] = int(away.argmax())
    return np.sort(chosen)
