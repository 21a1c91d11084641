"""One stage of an integrator as equations: residual, merit and matrix, in the order of elimination."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy.sparse as sp

from ..assembly.damping import Damped
from ..assembly.linearised import Linearised
from ..errors import TOO_TIGHT, StepFailed
from ..linear.interface import NotPositiveDefinite
from ..parts.line_search import search
from ..parts.stage import STANDARD_GRAVITY, NodeStage
from ..state import Index, Mask, Vec
from .given_directions import GivenDirections
from .physics import Forces, Physics
from .stage_matrix import StageMatrix

SAME_PLACE = 1.0e-12  #: of the body's extent: a step this short moves nothing that doubles can tell
ROUNDING = 1.0e-11  #: of the merit's size: smaller changes of it are noise
SHORTEST = 1.0e-10  #: share of a step that a line search tries
LARGEST_STEP = 1.0  #: of an edge's length, in one iteration
FALLS, STIRRED = 0.01, 0.05  #: of the energy that weight, and that the stage gives: less of it may be left
LEFT_BY_ROUNDING = 8.0  #: of what the last digit of a position changes: below it a residual has no digit of its own


@dataclass(frozen=True)
class Evaluation:
    """A trial point."""

    unknowns: Vec  #: velocities of the unknown nodes [m/s], (3 p,)
    residual: Vec  #: M (v − v̂) − a h f, (3 p,) [N s]
    merit: float | None  #: ½ |v − v̂|²_M + (a/b) W, whose gradient is the residual [J]; None without an energy W

    @property
    def size(self) -> float:
        return float(np.abs(self.residual).max(initial=0.0))

    @property
    def norm(self) -> float:
        return float(np.linalg.norm(self.residual))


class LastDrag:
    """D v of a stage where it was asked for last: with other forces it is asked for once more."""

    def __init__(self, damped: Damped) -> None:
        self._damped, self._v = damped, np.zeros((0, 3))
        self._force: Vec = self._v

    def at(self, v: Vec) -> Vec:
        """D v, (n, 3) [N], for velocities (n, 3) [m/s]."""
        if not np.array_equal(v, self._v):
            self._v, self._force = v, self._damped.force(v)
        return self._force


class StageProblem:
    """M (v − v̂) = a h (f(base + b h v) + D v) for the velocities of the nodes in the pattern; others are prescribed.

    The merit is the incremental potential [Ascher 14, 15]; the matrix is M − a h D − a b h² K, K = ∂f/∂x negative
    semi-definite when projected.
    """

    is_violent = False  #: whether flying on would wreck elements that nothing touches
    lies = False  #: whether nodes touch the ground as it begins, or would flying on

    def __init__(self, physics: Physics, system: StageMatrix, stage: NodeStage, base: Vec, prescribed: Index,
                 damped: Damped | None = None, held: GivenDirections | None = None) -> None:
        """base: positions of all nodes at v = 0, (n, 3) [m]: where prescribed ones stand less b h w.
        damped: D through the whole stage, without a share of K; None where nothing is damped.
        held: directions in which the velocities are given, in the pattern's order."""
        self.held = held
        self.physics, self.system, self.stage, self.damped = physics, system, stage, damped
        self.forces: Forces = physics
        self._braked = None if damped is None else LastDrag(damped)
        self.order, self.mass = system.pattern.order, physics.mass
        self._base = base
        #: where nodes stand as the stage begins, (n, 3) [m]: not `base` where what is prescribed moves unevenly
        self.begun = base
        self.tets = system.pattern.tets
        self._last: Evaluation | None = None
        self._still = np.zeros_like(base)
        if stage.w is not None:
            self._still[prescribed] = stage.w
        self._moving: Mask | None = None  #: which of the unknown nodes are, (p,); None: all
        self._inertia = stage.inertia * physics.mass[self.order, None]
        self._kept = stage.v_hat[self.order]
        # the weight of the heaviest node: what a residual is small against where nothing else sets a scale
        self.floor = stage.a * stage.h * STANDARD_GRAVITY * float(physics.mass.max())
        extent = float(np.ptp(base[physics.mass > 0.0], axis=0).max())  # obstacles weigh nothing
        self._same_place = SAME_PLACE * extent
        # lifting the body by its own size: parts of the merit that cancel may be as large as that
        self._noise = ROUNDING * stage.a / stage.b * STANDARD_GRAVITY * float(physics.mass.sum()) * extent

    def velocities(self, unknowns: Vec) -> Vec:
        """Of all nodes, (n, 3) [m/s]."""
        v = self._still.copy()
        if self._moving is None:
            v[self.order] = unknowns.reshape(-1, 3)
        else:
            v[self.order[self._moving]] = unknowns.reshape(-1, 3)[self._moving]
        return v

    def positions(self, v: Vec) -> Vec:
        """Of all nodes at velocities v, (n, 3) [m]."""
        x: Vec = self._base + self.stage.b * self.stage.h * v
        return x

    def on_the_way(self, v: Vec, way_gone: float) -> Vec:
        """Of all nodes where this share of the way is gone to where velocities v bring them, (n, 3) [m]."""
        end = self.positions(v)
        if way_gone == 1.0:
            return end
        x: Vec = self.begun + way_gone * (end - self.begun)
        return x

    def unknowns_at(self, x: Vec) -> Vec:
        """The unknowns that bring nodes to positions (n, 3) [m], those that are prescribed left out."""
        rates: Vec = (x - self._base)[self.order] / (self.stage.b * self.stage.h)
        return rates.ravel()

    def of(self, forces: Forces) -> StageProblem:
        """The same with other forces on the same masses."""
        other = copy.copy(self)
        other.forces = forces
        return other

    def among(self, forces: Forces, v: Vec, system: StageMatrix | None = None,
              moving: Mask | None = None) -> StageProblem:
        """The same of fewer nodes, with other forces, while the others keep velocities v (n, 3) [m/s].

        system: whose nodes are the unknown ones. moving: or else which of those there are, (p,).
        """
        other = self.of(forces)
        other._still, other._moving, other._last = v, moving, None
        if system is not None:
            other.system, other.order = system, system.pattern.order
            other._inertia = self.stage.inertia * self.mass[other.order, None]
            other._kept = self.stage.v_hat[other.order]
        return other

    def at_rest(self) -> StageProblem:
        """The same where velocities of zero leave all nodes in the rest shape."""
        other = copy.copy(self)
        other._base, other._still = self.physics.rest, np.zeros_like(self._still)
        return other

    def lagging(self, moved: Vec) -> StageProblem:
        """The same where nodes stand so much, (n, 3) [m], from where they will at the same velocities."""
        other = copy.copy(self)
        other._base, other.begun = self._base + moved, self.begun + moved
        return other

    def evaluated(self, unknowns: Vec) -> Evaluation:
        """The same as the last evaluation where that was of these."""
        last = self._last
        return last if last is not None and last.unknowns is unknowns else self.evaluate(unknowns)

    def evaluate(self, unknowns: Vec) -> Evaluation:
        """Residual and merit; the merit is infinite where the energy is not defined, None where there is none."""
        v = self.velocities(unknowns)
        force, energy = self.forces.evaluate(self.positions(v), self.stage.time)
        drag = None if self._braked is None else self._braked.at(v)
        if drag is not None:
            force = force + drag
        change = v[self.order] - self._kept
        momentum = self._inertia * change
        residual = self._residual(momentum, force)
        if energy is None:
            self._last = Evaluation(unknowns, residual, None)
            return self._last
        merit = 0.5 * float(np.vdot(change, momentum)) + self.stage.a / self.stage.b * energy
        if drag is not None:
            merit -= 0.5 * self.stage.a * self.stage.h * float(np.vdot(v, drag))
        self._last = Evaluation(unknowns, residual, merit if np.isfinite(merit) else np.inf)
        return self._last

    def _residual(self, momentum: Vec, force: Vec) -> Vec:
        left = momentum - self.stage.a * self.stage.h * force[self.order]
        if self._moving is not None:
            left[~self._moving] = 0.0
        residual: Vec = left.ravel()
        return residual if self.held is None else self.held.left(residual)

    def fill(self, unknowns: Vec, project: bool = True, way_gone: float = 1.0) -> Linearised:
        """Write M − a h D − a b h² K at this point, or this share of the way to it, into the pattern's matrix."""
        v = self.velocities(unknowns)
        lin = self.forces.linearise_at(self.on_the_way(v, way_gone), v, self.stage.time, project)
        self.stage.fill(self.system.pattern, lin if self.damped is None else replace(lin, damped=self.damped))
        return lin

    def clamped(self, unknowns: Vec, way_gone: float = 1.0) -> Mask:
        """Which elements' stiffness the projection changes there, (e,)."""
        return self.physics.clamped(self.on_the_way(self.velocities(unknowns), way_gone), self.stage.time)

    def factor(self, unknowns: Vec, try_true: bool, true_at: float = 1.0,
               factor: Callable[[sp.csc_matrix], None] | None = None, blends: Sequence[float] = ()) -> bool:
        """Fill and factor: the true matrix where `try_true` and that is definite, else the projected one.

        true_at: which share of the way to `unknowns` the true one is taken at. factor: the linear solver's, unless
        another one is given. blends: shares of the projected one that are tried between both. Says whether it was the
        true one. Raises StepFailed.
        """
        is_own = factor is None
        if factor is None:
            places = self.positions(self.velocities(unknowns))[self.order]
            factor = partial(self.system.linear.factor, places=places)
        if try_true and self.system.linear.proves_definite:
            self.fill(unknowns, project=False, way_gone=true_at)
            try:
                factor(self.system.matrix)
            except NotPositiveDefinite:
                pass
            else:
                return True
        true = self.system.pattern.data.copy() if try_true and blends else None
        lin = self.fill(unknowns)
        if true is not None and self._factored_between(true, blends, factor):
            return False
        try:
            factor(self.system.matrix)
        except NotPositiveDefinite as failure:
            raise StepFailed("the stiffness is not positive definite") from failure
        if is_own:
            self.system.factored.stamp, self.system.factored.contacts = self.system.linear.factored, lin.contacts
        return False

    def factor_for_directions(self, unknowns: Vec) -> None:
        """Fill and factor the projected matrix for `direction`, which may be inexact: that of a tet may be the last
        one's where it is about the same. Raises StepFailed."""
        system, v = self.system, self.velocities(unknowns)
        x = self.positions(v)
        strained = system.held.strained(self.stage, self.damped, self.forces.filled(), x)
        if strained is not None and self._factored_again(x, v, strained):
            return
        system.held.forget()
        lin = self.fill(unknowns)
        try:
            is_own = system.directions.factor(system.linear, system.matrix, lin, x[self.order])
        except NotPositiveDefinite as failure:
            raise StepFailed("the stiffness is not positive definite") from failure
        if is_own:
            system.factored.stamp, system.factored.contacts = system.linear.factored, lin.contacts
        else:
            system.held.take(self.stage, self.damped, self.forces.filled(), lin, system.pattern, self.physics.rest)
        system.directions.note(self.stage)

    @property
    def has_last_factor(self) -> bool:
        """Whether the last factor for directions is of this stage's M − a h D − β a b h² K, if elsewhere."""
        return self.system.directions.are_of(self.stage, self.system.linear)

    def _factored_again(self, x: Vec, v: Vec, strained: Index) -> bool:
        """Whether the last factor could be made this one's, at positions and velocities (n, 3), with its own tets but
        for the strained ones."""
        system = self.system
        lin = self.forces.linearise_held_at(x, v, self.stage.time, strained)
        system.pattern.meet(lin.others, stays=True)
        changed = system.held.follow(self.order, lin, strained, self.forces.filled())
        wanted = system.directions.wanted(system.linear, system.matrix, lin, changed)
        if wanted is None:
            return False
        lin = lin if self.damped is None else replace(lin, damped=self.damped)
        self.stage.fill(system.pattern, lin, wanted.reshape(-1, 3).any(axis=1))
        if not system.directions.factor_again(system.matrix):
            return False
        system.directions.note(self.stage)
        return True

    def direction(self, residual: Vec) -> Vec:
        """Where that factor leads, (3 p,) [m/s]."""
        return self.system.directions.solve(-residual)

    def nearly(self, right: Vec) -> Vec:
        """About what that factor answers to a right side, both (3 p,)."""
        return self.system.directions.solve(right)

    def _factored_between(self, true: Vec, blends: Sequence[float], factor: Callable[[sp.csc_matrix], None]) -> bool:
        """Factor the first definite one of blends of the true matrix's values and the projected ones, which stand
        there; where none is they do so again."""
        data = self.system.pattern.data
        projected = data.copy()
        for share in blends:
            data[:] = share * projected + (1.0 - share) * true
            try:
                factor(self.system.matrix)
            except NotPositiveDefinite:
                continue
            return True
        data[:] = projected
        return False

    def displacement(self, direction: Vec) -> Vec:
        """What a change of the unknowns moves, (n, 3) [m]."""
        moved = np.zeros_like(self._base)
        if self._moving is None:
            moved[self.order] = self.stage.b * self.stage.h * direction.reshape(-1, 3)
        else:
            moved[self.order[self._moving]] = self.stage.b * self.stage.h * direction.reshape(-1, 3)[self._moving]
        return moved

    def strain(self, direction: Vec) -> float:
        """The largest share of its length by which a change of the unknowns changes an edge, turning included."""
        return self.system.edges.largest_change(self.displacement(direction))

    def usual_strain(self, direction: Vec) -> float:
        """The same of all edges, root mean square."""
        return self.system.edges.usual_change(self.displacement(direction))

    def usual_strain_of_bodies(self, direction: Vec) -> float:
        """The same of the edges of the body, or piece of one, of which it is most."""
        return self.system.edges.usual_change_of_pieces(self.displacement(direction))

    def inertia_of(self, direction: Vec) -> float:
        """|Δv|²_M of a change of the unknowns, by which the merit bends along it without any force [J]."""
        change = direction.reshape(-1, 3)
        return float(np.vdot(change, self._inertia * change))

    def moves(self, direction: Vec) -> bool:
        """Whether a change of the unknowns moves anything that doubles can tell."""
        return float(np.abs(self.displacement(direction)).max(initial=0.0)) > self._same_place

    def is_balanced(self, at: Evaluation, direction: Vec) -> bool:
        """Whether a step that ended there went as far as its forces wanted, but for energy that does not show.

        Stiff contacts change no edge, and push too hard by far where a step has ended nearer than it meant to.
        """
        change = at.unknowns.reshape(-1, 3) - self._kept
        stirred = 0.5 * float(np.vdot(change, self._inertia * change))
        fall = 0.5 * float(self._inertia.sum()) * (self.stage.a * self.stage.h * STANDARD_GRAVITY) ** 2
        return abs(float(np.vdot(at.residual, direction))) <= FALLS * fall + STIRRED * stirred

    def search(self, at: Evaluation, direction: Vec, strain: float | None = None) -> tuple[Evaluation, float]:
        """The first of the steps 1, 1/2, … that lowers the merit enough (Armijo), and its length.

        Near the minimum rounding hides the fall of the merit; then a smaller residual is proof enough, as it is
        everywhere for forces without an energy. The first step turns no element upside down, which would lead the
        search astray, and lets nothing meet. strain: of the direction, where that is known. Raises StepFailed where no
        step does.
        """
        moved = self.displacement(direction)
        step, shares = self._bounds(at.unknowns, moved, strain)
        longest = step
        if shares.min() < 1.0:
            # nodes that meet something stop there, where that crushes nothing and is a way down
            bent = direction * np.repeat(shares[self.order], 3)
            if step * self.strain(bent) <= LARGEST_STEP:
                found = self._searched(at, bent, step, step)
                if found is not None:
                    return found[0], step * float(shares.min())
            longest = self.longest(at.unknowns, moved, strain)
        found = self._searched(at, direction, longest, SHORTEST)
        if found is None:
            raise self.failed("no step lowers the energy" if at.merit is not None else
                              "no step lowers the net force", at)
        return found

    def _searched(self, at: Evaluation, direction: Vec, first: float, least: float) -> tuple[Evaluation, float] | None:
        slope = float(np.vdot(at.residual, direction))
        return search(at, lambda step: self.evaluate(at.unknowns + step * direction), first, least, slope,
                      self.noise(at))

    def noise(self, at: Evaluation) -> float:
        """Changes of the merit from there that may be rounding [J]."""
        return ROUNDING * abs(at.merit or 0.0) + self._noise

    def _bounds(self, unknowns: Vec, moved: Vec, strain: float | None) -> tuple[float, Vec]:
        """The largest share of a displacement for what it strains, and of that the largest of each node, (n,)."""
        step = self._strained(moved, strain)
        start = self.positions(self.velocities(unknowns))
        return step, self.physics.largest_steps(start, start + step * moved)

    def _strained(self, moved: Vec, strain: float | None) -> float:
        if strain is None:
            strain = self.system.edges.largest_change(moved)
        return min(1.0, LARGEST_STEP / max(strain, 1.0e-300))

    def longest(self, unknowns: Vec, moved: Vec, strain: float | None = None) -> float:
        """The largest share of a displacement of all nodes, (n, 3) [m], that a step may take from here, in [0, 1]."""
        step, start = self._strained(moved, strain), self.positions(self.velocities(unknowns))
        return step * self.physics.largest_step(start, start + step * moved)

    def failed(self, what: str, at: Evaluation) -> StepFailed:
        """The error that says what went wrong, where the residual is worst, in which body and when."""
        worst = self.worst(at)
        net = at.size / (self.stage.a * self.stage.h)
        place = ", ".join(f"{c:.4g}" for c in self.positions(self.velocities(at.unknowns))[worst])
        said = f"{what}; a net force of {net:.3g} N is left near ({place}) m, {self.stage.time:.6g} s"
        body = self.physics.body_of(worst)
        if at.size > LEFT_BY_ROUNDING * self._rounding(at):
            return StepFailed(said, body)
        return StepFailed(f"{said}, which is what rounding leaves of forces as stiff as these", body, TOO_TIGHT)

    def worst(self, at: Evaluation) -> int:
        """The node at which the largest force is left."""
        return int(self.order[int(np.argmax(np.abs(at.residual))) // 3])

    def _rounding(self, at: Evaluation) -> float:
        """What moving nodes by the last digit of where they are changes of a residual [N s]."""
        furthest = float(np.abs(self.positions(self.velocities(at.unknowns))).max())
        self.fill(at.unknowns)  # the last factor may have asked for some columns alone
        stiffest = float(np.abs(self.system.matrix.diagonal()).max(initial=0.0))
        return stiffest * float(np.spacing(furthest)) / (self.stage.b * self.stage.h)
