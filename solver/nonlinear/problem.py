"""One stage of an integrator as equations: residual, merit and matrix, in the order of elimination."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
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
from ..threads import parallel_for
from .evaluation import Evaluation as Evaluation
from .forces_protocol import Forces, Physics
from .last_drag import LastDrag
from .prescribed_directions import PrescribedDirections
from .problem_kernels import PIECES, leave_residual, move_nodes, place_nodes, widest
from .stage_matrix import StageMatrix

NEGLIGIBLE_STEP = 1.0e-12  #: relative to the body's extent: a shorter step is below the resolution of doubles
ROUNDING = 1.0e-11  #: relative to the merit: smaller changes of it are rounding
SHORTEST = 1.0e-10  #: smallest step length of a line search
SHORTEST_CLIPPED = 0.25  #: where nodes that make contact stop there; shorter than that, all are stopped alike
LARGEST_STEP = 1.0  #: largest relative change of an edge in one iteration
#: admissible remaining energy, relative to that of the weight and to that of the stage's velocities
WEIGHT_ENERGY_LEFT, KINETIC_ENERGY_LEFT = 0.01, 0.05
LEFT_BY_ROUNDING = 8.0  #: times the change by the last digit of a position: a smaller residual is rounding
ALL: Mask = np.zeros(0, dtype=bool)  #: unknown nodes move


class StageProblem:
    """M (v − v̂) = a h (f(base + b h v) + D v) for the velocities of the nodes in the pattern; others are prescribed.

    The merit is the incremental potential [Ascher 14, 15]; the matrix is M − a h D − a b h² K, K = ∂f/∂x negative
    semi-definite when projected.
    """

    is_violent = False  #: whether the ballistic guess would wreck elements of a body without contact
    touches_ground = False  #: whether nodes touch the ground at the stage's start, or would at the ballistic guess

    def __init__(self, physics: Physics, system: StageMatrix, stage: NodeStage, base: Vec, prescribed: Index,
                 damped: Damped | None = None, prescribed_directions: PrescribedDirections | None = None) -> None:
        """base: positions of all nodes at v = 0, (n, 3) [m]; prescribed ones less b h w. damped: D through the whole
        stage, without the part of K; None where nothing is damped. prescribed_directions: in the pattern's order."""
        self.prescribed_directions = prescribed_directions
        self.physics, self.system, self.stage, self.damped = physics, system, stage, damped
        self.forces: Forces = physics
        self._drag = None if damped is None else LastDrag(damped)
        self.order, self.mass = system.pattern.order, physics.mass
        self._base = np.ascontiguousarray(base)
        #: positions at the stage's start, (n, 3) [m]: not `base` where prescribed nodes move unevenly
        self.step_start = base
        self.tets = system.pattern.tets
        self._last: Evaluation | None = None
        self._prescribed_velocities = np.zeros_like(base)
        if stage.w is not None:
            self._prescribed_velocities[prescribed] = stage.w
        self._moving = ALL  #: which of the unknown nodes move, (p,); empty: all
        self._inertia = stage.inertia * physics.mass[self.order, None]
        self._predicted_velocities = stage.v_hat[self.order]
        # the weight of the heaviest node, the scale of a residual where nothing else sets one
        self.floor = stage.a * stage.h * STANDARD_GRAVITY * float(physics.mass.max())
        extent = float(widest(self._base, physics.mass))  # obstacles have no mass
        self._negligible_step = NEGLIGIBLE_STEP * extent
        # the energy of lifting the body by its own size: terms of the merit that cancel may be as large
        self._noise = ROUNDING * stage.a / stage.b * STANDARD_GRAVITY * float(physics.mass.sum()) * extent

    def velocities(self, unknowns: Vec) -> Vec:
        """Return velocities of all nodes, (n, 3) [m/s]."""
        return self._at(unknowns)[0]

    def _at(self, unknowns: Vec) -> tuple[Vec, Vec]:
        """Return velocities [m/s] and positions [m] of all nodes, (n, 3) each."""
        v, x = np.empty_like(self._base), np.empty_like(self._base)
        parallel_for(place_nodes, PIECES, self.system.pattern.position, self._moving, unknowns.reshape(-1, 3),
                     self._prescribed_velocities, self._base, self.stage.b * self.stage.h, v, x)
        return v, x

    def positions_at(self, unknowns: Vec) -> Vec:
        """Return positions of all nodes at these unknowns, (n, 3) [m]."""
        return self._at(unknowns)[1]

    def positions(self, v: Vec) -> Vec:
        """Return positions of all nodes at velocities v, (n, 3) [m]."""
        x: Vec = self._base + self.stage.b * self.stage.h * v
        return x

    def positions_at_fraction(self, v: Vec, step_fraction: float) -> Vec:
        """Return positions of all nodes after this fraction of the step with velocities v, (n, 3) [m]."""
        end = self.positions(v)
        if step_fraction == 1.0:
            return end
        x: Vec = self.step_start + step_fraction * (end - self.step_start)
        return x

    def unknowns_at(self, x: Vec) -> Vec:
        """Return the unknowns (3 p,) of positions (n, 3) [m]; prescribed nodes do not count."""
        rates: Vec = (x - self._base)[self.order] / (self.stage.b * self.stage.h)
        return rates.ravel()

    def of(self, forces: Forces) -> StageProblem:
        """Return a copy with other forces on the same masses."""
        other = copy.copy(self)
        other.forces = forces
        return other

    def restricted_to(self, forces: Forces, v: Vec, system: StageMatrix | None = None,
                      moving: Mask | None = None) -> StageProblem:
        """Return a copy with fewer unknown nodes and other forces, while the other nodes have velocities v (n, 3)
        [m/s].

        system: of the unknown nodes. moving: else a mask of those in the present system, (p,).
        """
        other = self.of(forces)
        other._prescribed_velocities, other._moving, other._last = v, ALL if moving is None else moving, None
        if system is not None:
            other.system, other.order = system, system.pattern.order
            other._inertia = self.stage.inertia * self.mass[other.order, None]
            other._predicted_velocities = self.stage.v_hat[other.order]
        return other

    def about_rest_shape(self) -> StageProblem:
        """Return a copy in which zero velocities leave all nodes in the rest shape."""
        other = copy.copy(self)
        other._base, other._prescribed_velocities = self.physics.rest, np.zeros_like(self._prescribed_velocities)
        return other

    def displaced_by(self, moved: Vec) -> StageProblem:
        """Return a copy whose nodes are displaced by so much, (n, 3) [m], at the same velocities."""
        other = copy.copy(self)
        other._base, other.step_start = self._base + moved, self.step_start + moved
        return other

    def evaluated(self, unknowns: Vec) -> Evaluation:
        """Return the last evaluation if it was at these unknowns, else a new one."""
        last = self._last
        return last if last is not None and last.unknowns is unknowns else self.evaluate(unknowns)

    def evaluate(self, unknowns: Vec) -> Evaluation:
        """Return residual and merit; the merit is infinite where the energy is undefined, None where there is none."""
        v, x = self._at(unknowns)
        force, energy = self.forces.evaluate(x, self.stage.time)
        drag = None if self._drag is None else self._drag.at(v)
        if drag is not None:
            force = force + drag
        left, stirred = np.empty_like(self._predicted_velocities), np.empty(PIECES)
        parallel_for(leave_residual, PIECES, self.order, self._moving, self._inertia, self._predicted_velocities, v,
                     force, self.stage.a * self.stage.h, left, stirred)
        residual: Vec = left.ravel()
        if self.prescribed_directions is not None:
            residual = self.prescribed_directions.residual_across(residual)
        if energy is None:
            self._last = Evaluation(unknowns, residual, None)
            return self._last
        merit = 0.5 * float(stirred.sum()) + self.stage.a / self.stage.b * energy
        if drag is not None:
            merit -= 0.5 * self.stage.a * self.stage.h * float(np.vdot(v, drag))
        self._last = Evaluation(unknowns, residual, merit if np.isfinite(merit) else np.inf)
        return self._last

    def fill(self, unknowns: Vec, project: bool = True, step_fraction: float = 1.0) -> Linearised:
        """Write M − a h D − a b h² K at this fraction of the step to `unknowns` into the pattern's matrix; return the
        linearisation."""
        v = self.velocities(unknowns)
        lin = self.forces.linearise_at(self.positions_at_fraction(v, step_fraction), v, self.stage.time, project)
        self.stage.fill(self.system.pattern, lin if self.damped is None else replace(lin, damped=self.damped))
        return lin

    def clamped(self, unknowns: Vec, step_fraction: float = 1.0) -> Mask:
        """Return a mask of the elements whose stiffness the projection changes, (e,)."""
        return self.physics.clamped(self.positions_at_fraction(self.velocities(unknowns), step_fraction),
                                    self.stage.time)

    def factor(self, unknowns: Vec, try_true: bool, true_at: float = 1.0,
               factor: Callable[[sp.csc_matrix], None] | None = None, blends: Sequence[float] = ()) -> bool:
        """Fill and factor: the true matrix if `try_true` and it is definite, else the projected one. Returns whether it
        was the true one.

        true_at: fraction of the step to `unknowns` at which the true one is evaluated. factor: a factorization other
        than the linear solver's. blends: fractions of the projected one that are tried in between. Raises StepFailed.
        """
        is_own = factor is None
        if factor is None:
            positions = self.positions_at(unknowns)[self.order]
            factor = partial(self.system.linear.factor, positions=positions)
        if try_true and self.system.linear.proves_definite:
            self.fill(unknowns, project=False, step_fraction=true_at)
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
        """Fill and factor the projected matrix for `direction`, which may be inexact: blocks of little deformed
        tetrahedra may be reused. Raises StepFailed."""
        system, (v, x) = self.system, self._at(unknowns)
        strained = system.reused_blocks.strained(self.stage, self.damped, self.forces.filled(), x)
        if strained is not None and self._refactored_reusing(x, v, strained):
            return
        system.reused_blocks.forget()
        lin = self.fill(unknowns)
        try:
            is_own = system.directions.factor(system.linear, system.matrix, lin, x[self.order])
        except NotPositiveDefinite as failure:
            raise StepFailed("the stiffness is not positive definite") from failure
        if is_own:
            system.factored.stamp, system.factored.contacts = system.linear.factored, lin.contacts
        else:
            system.reused_blocks.take(self.stage, self.damped, self.forces.filled(), lin, system.pattern,
                                      self.physics.rest)
        system.directions.note(self.stage)

    @property
    def has_current_factor(self) -> bool:
        """Whether the last factor for directions is of this stage's M − a h D − β a b h² K, if at other positions."""
        return self.system.directions.are_of(self.stage, self.system.linear)

    def _refactored_reusing(self, x: Vec, v: Vec, strained: Index) -> bool:
        """Update the last factor to positions and velocities (n, 3) with the blocks of its tetrahedra except strained
        ones; return whether that succeeded."""
        system = self.system
        lin = self.forces.linearise_reusing_at(x, v, self.stage.time, strained)
        system.pattern.update_pairs(lin.others, stays=True)
        changed = system.reused_blocks.update(self.order, lin, strained, self.forces.filled())
        required_columns = system.directions.required_columns(system.linear, system.matrix, lin, changed)
        if required_columns is None:
            return False
        lin = lin if self.damped is None else replace(lin, damped=self.damped)
        self.stage.fill(system.pattern, lin, required_columns.reshape(-1, 3).any(axis=1))
        if not system.directions.refactor_columns(system.matrix):
            return False
        system.directions.note(self.stage)
        return True

    def direction(self, residual: Vec) -> Vec:
        """Return the Newton direction by that factor, (3 p,) [m/s]."""
        return self.system.directions.solve(-residual)

    def approximate_solve(self, right: Vec) -> Vec:
        """Return that factor's solution of a right-hand side, both (3 p,)."""
        return self.system.directions.solve(right)

    def _factored_between(self, true: Vec, blends: Sequence[float], factor: Callable[[sp.csc_matrix], None]) -> bool:
        """Factor the first definite blend of the true values and the projected ones, which are in the pattern and
        restored where there is none; return whether there is one."""
        data = self.system.pattern.data
        projected = data.copy()
        for fraction in blends:
            data[:] = fraction * projected + (1.0 - fraction) * true
            try:
                factor(self.system.matrix)
            except NotPositiveDefinite:
                continue
            return True
        data[:] = projected
        return False

    def displacement(self, direction: Vec) -> Vec:
        """Return the displacement by a change of the unknowns, (n, 3) [m]."""
        moved = np.empty_like(self._base)
        parallel_for(move_nodes, PIECES, self.system.pattern.position, self._moving, direction.reshape(-1, 3),
                     self.stage.b * self.stage.h, moved)
        return moved

    def strain(self, direction: Vec) -> float:
        """Return the largest relative change of an edge by a change of the unknowns, rotation included."""
        return self.system.edges.largest_change(self.displacement(direction))

    def usual_strain(self, direction: Vec) -> float:
        """Return the root mean square over all edges of the relative change by a change of the unknowns."""
        return self.system.edges.usual_change(self.displacement(direction))

    def usual_strain_of_bodies(self, direction: Vec) -> float:
        """Return the largest root mean square, over the bodies and their pieces, of the relative change of edges."""
        return self.system.edges.usual_change_of_pieces(self.displacement(direction))

    def inertia_of(self, direction: Vec) -> float:
        """Return |Δv|²_M of a change of the unknowns, the curvature of the merit along it without forces [J]."""
        change = direction.reshape(-1, 3)
        return float(np.vdot(change, self._inertia * change))

    def moves(self, direction: Vec) -> bool:
        """Whether a change of the unknowns moves anything by more than the resolution of doubles."""
        farthest = float(np.abs(self.displacement(direction)).max(initial=0.0))
        return farthest > self._negligible_step

    def has_converged_energy(self, at: Evaluation, direction: Vec) -> bool:
        """Whether the remaining decrease of energy along the direction is negligible.

        Stiff contacts change no edge, but a step that ended too near to a surface has far too large contact forces.
        """
        change = at.unknowns.reshape(-1, 3) - self._predicted_velocities
        stirred = 0.5 * float(np.vdot(change, self._inertia * change))
        fall = 0.5 * float(self._inertia.sum()) * (self.stage.a * self.stage.h * STANDARD_GRAVITY) ** 2
        return abs(float(np.vdot(at.residual, direction))) <= WEIGHT_ENERGY_LEFT * fall + KINETIC_ENERGY_LEFT * stirred

    def search(self, at: Evaluation, direction: Vec, strain: float | None = None) -> tuple[Evaluation, float]:
        """Return the first of the steps 1, 1/2, … with a sufficient decrease of the merit (Armijo), and its length.

        Near the minimum rounding hides the decrease; then a smaller residual is sufficient, as it is for forces without
        an energy. The first step inverts no element, which would mislead the search, and is bounded by contact. strain:
        of the direction, if known. Raises StepFailed where no step is accepted.
        """
        moved = self.displacement(direction)
        step, fractions = self._bounds(at.unknowns, moved, strain)
        longest = step
        if fractions.min() < 1.0:
            # nodes that make contact stop there, if that crushes nothing and the merit decreases
            clipped = direction * np.repeat(fractions[self.order], 3)
            if step * self.strain(clipped) <= LARGEST_STEP:
                found = self._searched(at, clipped, step, SHORTEST_CLIPPED * step)
                if found is not None:
                    return found[0], found[1] * float(fractions.min())
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
        """Return the changes of the merit that may be rounding [J]."""
        return ROUNDING * abs(at.merit or 0.0) + self._noise

    def _bounds(self, unknowns: Vec, moved: Vec, strain: float | None) -> tuple[float, Vec]:
        """Return the largest fraction of a displacement by strain, and of that the largest of each node by contact,
        (n,)."""
        step = self._strained(moved, strain)
        start = self.positions_at(unknowns)
        return step, self.physics.largest_steps(start, start + step * moved)

    def _strained(self, moved: Vec, strain: float | None) -> float:
        if strain is None:
            strain = self.system.edges.largest_change(moved)
        return min(1.0, LARGEST_STEP / max(strain, 1.0e-300))

    def longest(self, unknowns: Vec, moved: Vec, strain: float | None = None) -> float:
        """Return the largest fraction in [0, 1] of a displacement of all nodes, (n, 3) [m], by strain and contact."""
        step, start = self._strained(moved, strain), self.positions_at(unknowns)
        return step * self.physics.largest_step(start, start + step * moved)

    def failed(self, what: str, at: Evaluation) -> StepFailed:
        """Return an error with the cause, the location of the largest residual, its body and the time."""
        worst = self.worst_node(at)
        net = at.size / (self.stage.a * self.stage.h)
        where = ", ".join(f"{c:.4g}" for c in self.positions_at(at.unknowns)[worst])
        message = f"{what}; a net force of {net:.3g} N is left near ({where}) m, {self.stage.time:.6g} s"
        body = self.physics.body_of(worst)
        if at.size > LEFT_BY_ROUNDING * self._rounding(at):
            return StepFailed(message, body)
        return StepFailed(f"{message}, which is what rounding leaves of forces as stiff as these", body, TOO_TIGHT)

    def worst_node(self, at: Evaluation) -> int:
        """Return the node with the largest residual."""
        return int(self.order[int(np.argmax(np.abs(at.residual))) // 3])

    def _rounding(self, at: Evaluation) -> float:
        """Return the change of a residual by the last digit of a position [N s]."""
        furthest = float(np.abs(self.positions_at(at.unknowns)).max())
        self.fill(at.unknowns)  # the last factor may have needed some columns only
        stiffest = float(np.abs(self.system.matrix.diagonal()).max(initial=0.0))
        return stiffest * float(np.spacing(furthest)) / (self.stage.b * self.stage.h)
