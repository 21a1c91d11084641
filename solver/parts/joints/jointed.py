"""Stages in the rates of joints: inertia, forces and stiffness of bodies, reduced by the tree of joints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

import numpy as np

from ...coordinates.tree import CENTRES, Posture, Tree
from ...errors import StepFailed
from ...forces.explicit import ExplicitForces
from ...forces.joint_forces import JointForces
from ...forces.rigid_kernels import free_flight, momentum
from ...forces.springs import Springs
from ...linear.tree.factor import BodyNotPositiveDefinite, TreeFactor
from ...linear.woodbury import Solves, WoodburyUpdate
from ...state import State, Vec
from ..stage import Momentum, Stage
from .interface import AttachedLoads, ConstraintSolution, LinearizationPoint
from .last_twist import LAST_TWIST, find_time_since_last
from .leapfrog import CARRIED, CHANGE, impulse_of, in_world, predict_rates, start_carried_twists
from .on_rates import OnRates
from .point_forces import add_point_forces

UNRESISTED = "its joint has a direction that nothing resists"


class Constraints(Protocol):
    """Constraints and friction on rates in addition to forces: loops, drives, limits, contacts, friction inside joints,
    without memory outside of the State."""

    def at_work(self, time: float) -> list[bool]:
        """Return for each drive whether it is active from `time` [s] on."""

    def project_initial_rates(self, state: State, respond: Callable[[Vec], Vec]) -> State:
        """Return the initial state with the nearest rates that loops and drives permit, as after an impact. respond:
        M_r⁻¹."""

    def reflect_momentum(self, state: State, respond: Callable[[Vec], Vec], h: float) -> State:
        """Return the end of a leapfrog step of h seconds with rates to which the impulse of these constraints that
        reflects momentum is added. respond: M_r⁻¹."""

    def begin(self, lin: LinearizationPoint, time: float, h: float) -> None:
        """Prepare for the stages of a step of h seconds that starts at `time` [s]. lin: the step's start."""

    def solve(self, posed: PosedTree, free: Vec) -> ConstraintSolution:
        """Return rates (m,) and impulses under the constraints, from the rates `free` (m,) without them, in each
        iteration of a stage. Raises StepFailed."""

    def close(self, state: State, posed: PosedTree) -> State:
        """Return the state at the end of a step with exact constraints projected. posed: the step's last stage."""

    def drive_errors(self, state: State, posed: PosedTree) -> Vec:
        """Return the difference between the drives' targets and the coordinates at a state's time, (m,); 0 for rates
        without a drive."""

    def find_singular_loop(self, state: State, posed: PosedTree) -> str:
        """Return the name of a loop in a singular configuration, stretched straight or folded flat; else ""."""

    def loop_gaps(self, posture: Posture) -> Vec:
        """Return the largest violation of each loop, (l,): of a ball and a point on a line the distance along an axis
        of its frame [m]; of a hinge the larger of that and the sine of the angle between its axes [rad]."""


class PosedTree:
    """(Jᵀ S J + R) u = Jᵀ w + r, factored: S = M − a h D − β a b h² K on bodies, R the corresponding matrix on rates.

    w and r are M_r û + a h (f_r − D u + K (base − q)), evaluated at the point of linearisation; D u is subtracted from
    the forces since the matrix contains it. Valid until the next stage is posed.
    [Thesis 3.6, changed: M_r û of linearised steps is the momentum of free flight, unless requested as printed]
    """

    most_inverted = 64  #: rates of which the whole inverse may be cached

    def __init__(self, owner: Jointed, lin: LinearizationPoint, stage: Stage, rhs: Vec,
                 flesh: AttachedLoads | None) -> None:
        self.owner, self.lin, self.stage = owner, lin, stage
        self.rhs, self.flesh = rhs, flesh  #: b, (m,), with the contribution of soft bodies
        self.inverse: Vec | None = None  #: A⁻¹, (m, m), once `respond` has computed it

    def solve(self) -> SolvedTree:
        """Return the stage with rates at its end and the impulses of the constraints. Raises StepFailed."""
        free: Vec = self.owner.factor.solve(self.rhs)
        if self.owner.constraints is None:
            return SolvedTree(self, free, None)
        return SolvedTree(self, free, self.owner.constraints.solve(self, free))

    def respond(self, impulses: Vec) -> Vec:
        """Return Δu = A⁻¹ b of impulses b on the rates, both (m,) or (m, c).

        With few rates A⁻¹ is cached once as many columns are requested as there are rates: a product with it takes a
        tenth of both sweeps through the tree.
        """
        factor = self.owner.factor
        m = len(impulses)
        if self.inverse is None and impulses.ndim == 2 and m <= min(self.most_inverted, impulses.shape[1]):
            self.inverse = factor.solve(np.eye(m))
        out: Vec = factor.solve(impulses) if self.inverse is None else self.inverse @ impulses
        return out

    def compute_carried_impulses(self, u: Vec) -> Vec:
        """Return S J u − w, the impulses on bodies by joints and constraints, (n, 6) [N m s, N s]. Jᵀ of it is r − R u
        plus the impulses on rates.

        In a leapfrog step it includes the impulse that reflected momentum, of which Jᵀ is zero.
        """
        owner, change = self.owner, self.lin.memory.get(CHANGE)
        out = self.multiply(owner.tree.spread(self.lin.posture, u)) - owner.wrench
        if self.stage.momentum is Momentum.REFLECTED and change is not None:
            out += impulse_of(self.lin.posture.E, change, owner.tree.inertia)
        return out

    def multiply(self, twist: Vec) -> Vec:
        """Return S φ of twists φ, both (n, 6), with the contribution of attached soft bodies."""
        return self.owner.multiply(twist, self.flesh)

    def again(self, stage: Stage) -> PosedTree:
        """Return another stage at this point of linearisation, on a factor of its own. Raises StepFailed."""
        return self.owner.pose(self.lin, stage, self.flesh)


class SolvedTree(PosedTree):
    """A stage of joints with its solution. Valid until the next stage is posed."""

    relative_rounding = 1.0e-12  #: of the rates: a smaller change is none

    def __init__(self, posed: PosedTree, free: Vec, solution: ConstraintSolution | None,
                 leaving: Vec | None = None) -> None:
        """free: rates without constraints, (m,). solution: rates, impulses and memory of the constraints; None where
        there are none. leaving: rates with which bodies leave the point of linearisation, (m,), where they differ from
        the step's."""
        super().__init__(posed.owner, posed.lin, posed.stage, posed.rhs, posed.flesh)
        self.inverse = posed.inverse
        self.rates: Vec = free if solution is None else solution.rates  #: at the stage's end, (m,) [rad/s, m/s]
        self.constraint_solution = solution
        self._free, self._leaving = free, leaving

    @property
    def tree_stage(self) -> SolvedTree:
        """Return this stage itself, for callers that may have a `CoupledStage` instead."""
        return self

    def rounding(self, u: Vec) -> float:
        """Return the smallest significant change of rates u (m,), a fraction of the largest rate [rad/s, m/s]."""
        if self.constraint_solution is None:
            return self.relative_rounding * float(np.abs(u).max(initial=0.0))
        known_to = max(self.relative_rounding, self.constraint_solution.tolerance)
        return known_to * max(float(np.abs(u).max(initial=0.0)), float(np.abs(self._free).max(initial=0.0)))

    def reaction(self, u: Vec) -> Vec:
        """Return S J u − w less the constraints' impulses on bodies: what joints transmit, (n, 6) [N m s, N s]."""
        out = self.compute_carried_impulses(u)
        if self.constraint_solution is not None and self.constraint_solution.on_bodies is not None:
            out -= self.constraint_solution.on_bodies
        return out

    def leaving_twists(self) -> Vec:
        """Return twists with which bodies leave the point of linearisation, (n, 6), in the form of LAST_TWIST."""
        rates = self.constraint_solution.rates if self.constraint_solution is not None else self.lin.v
        return in_world(self.lin.posture.E, self.owner.tree.spread(self.lin.posture, rates))

    def leaving(self, u: Vec) -> Vec:
        """Return the rates with which bodies leave the point of linearisation, (m,): u, the rates of the step, or those
        of the last of two stages."""
        return u if self._leaving is None else self._leaving

    def after_stage(self, first: SolvedTree, fraction: float, leaving: Vec) -> SolvedTree:
        """Return this stage as the last one of a step of two stages, with efforts of the whole step.

        fraction: weight of this stage's efforts; the rest is the weight of the first stage's. leaving: see the method
        `leaving`, (m,).
        """
        solution = self.constraint_solution
        if first.constraint_solution is not None and solution is not None:
            own_memory = solution.memory
            solution = replace(solution, memory={
                key: (1.0 - fraction) * value + fraction * own_memory[key]
                for key, value in first.constraint_solution.memory.items()})
        return SolvedTree(self, self._free, solution, leaving)

    def correction(self, u: Vec) -> Vec:
        """Return the position correction of overlapping bodies, as a rate, (m,); zero where constraints have none."""
        correction = None if self.constraint_solution is None else self.constraint_solution.position_correction
        return np.zeros(len(u)) if correction is None else correction


class Jointed:
    """Condensation of a mechanism to its joint rates, which poses stages. Arrays are overwritten in each stage."""

    def __init__(self, tree: Tree, springs: Springs, on_rates: OnRates, gravity: Vec, beta: float,
                 explicit: ExplicitForces | None = None, constraints: Constraints | None = None,
                 friction: bool = False) -> None:
        """gravity: (3,) [m/s²]. beta: factor on K in semi-implicit Euler. explicit: forces without a matrix.
        constraints: in addition to forces; None for none. friction: whether bearings have friction: then rates are
        those of the midpoint of a step from the start on."""
        self.tree, self.springs, self.on_rates, self.gravity, self.beta = tree, springs, on_rates, gravity, beta
        self.explicit = explicit
        self.constraints, self.has_friction = constraints, friction
        self.factor: Solves = TreeFactor(tree.parent, tree.dof)
        self._coupled = WoodburyUpdate(self.factor) if len(on_rates.coupled) else None
        if self._coupled is not None:
            self.factor = self._coupled
        self._with_flesh: WoodburyUpdate | None = None  #: update of the factor, once nodes are attached
        n = tree.count
        self.diagonal: Vec = tree.inertia.copy()  #: S's blocks on bodies, (n, 6, 6)
        self.below: Vec = np.zeros((n, 6, 6))  #: S's blocks in rows of bodies and columns of their parents, (n, 6, 6)
        self.wrench: Vec = np.zeros((n, 6))  #: w
        self._momentum, self._moved, self._gathered = np.zeros((n, 6)), np.zeros((n, 6)), np.zeros((n, 6))
        self._world: Vec = np.tile(np.eye(4), (n, 1, 1))
        self._earlier, self._predicted_rates = tree.blank(), tree.blank()
        self._between, self._incoming = tree.blank(), np.zeros((n, 6))
        self.inverse_inertia: Vec = np.linalg.inv(tree.inertia)  #: M⁻¹ of bodies alone, (n, 6, 6)
        self._taken: Stage | None = None  #: stage whose explicit forces are evaluated

    def weigh(self, gravity: Vec) -> None:
        """Change gravity, (3,) [m/s²], in all following stages."""
        self.gravity[:] = gravity

    def exchange_springs(self, springs: Springs) -> None:
        """Replace the springs between bodies in all following stages."""
        self.springs = springs

    def pose(self, lin: LinearizationPoint, stage: Stage, flesh: AttachedLoads | None = None) -> PosedTree:
        """Fill and factor the stage at a point of linearisation. flesh: contribution of attached soft bodies.

        Raises NotPositiveDefinite, and StepFailed that names the body whose joint nothing resists.
        """
        if stage.base is None and stage.momentum is Momentum.REFLECTED:
            lin, stage = self._midway(lin, stage)
        tree, at, ah = self.tree, lin.posture, stage.a * stage.h
        moved = None if stage.base is None else stage.base - lin.q
        self._set_momentum(lin, stage, ah)
        self._add_forces(lin, stage.time, stage.inside, moved, ah, stage.stiffness_factor, 0.0, stage.u_hat)
        self._add_explicit(lin, stage, ah)
        if lin.external_force is not None:
            add_point_forces(lin.external_force, at.E, ah, self.wrench)
        if flesh is not None and flesh.bodies is not None:
            self.wrench[flesh.bodies] += flesh.impulse.reshape(-1, 6)
        lifted = self._factor(at, flesh)
        rhs = tree.gather(at, self.wrench, None, self._gathered)
        rhs += self.on_rates.force
        if flesh is not None:
            if flesh.bodies is None:
                rhs[flesh.rates] += flesh.columns.T @ flesh.impulse
            # the addition that makes G positive vanishes at the rates of linearisation, so the root does not change
            rhs[flesh.rates] += lifted @ lin.v[flesh.rates]
        return PosedTree(self, lin, stage, rhs, flesh)

    def _midway(self, lin: LinearizationPoint, stage: Stage) -> tuple[LinearizationPoint, Stage]:
        """Return a leapfrog step as a stage that is linearised at its midpoint."""
        carried = lin.memory.get(CARRIED)
        self._incoming = (start_carried_twists(lin.posture, self.fallen(stage.h, lin.external_force))
                          if carried is None else carried)
        q = lin.q + 0.5 * stage.h * predict_rates(lin.v, lin.memory, stage.h)
        return (replace(lin, posture=self.tree.posture(q, lin.v, lin.memory, self._between), q=q),
                replace(stage, base=lin.q, predicted=(lin.q, lin.v)))

    def fallen(self, h: float, external_force: Vec | None) -> Vec:
        """Return the velocity by weight that midpoint rates of a step of h seconds lack, (3,) [m/s]."""
        out: Vec = np.zeros(3) if self.only_weight(external_force) and not self.has_friction else 0.5 * h * self.gravity
        return out

    def _set_momentum(self, lin: LinearizationPoint, stage: Stage, ah: float) -> None:
        """Set the right-hand side of the bodies to the momentum of the stage's start and their weight."""
        tree, at = self.tree, lin.posture
        if stage.momentum is Momentum.CENTRED:
            assert lin.brought is not None
            np.copyto(self.wrench, lin.brought)
            weight = np.swapaxes(at.E[:, :3, :3], 1, 2) @ self.gravity
            self.wrench[:, 3:] += ah * tree.inertia[:, 5, 5, None] * weight
            return
        if stage.momentum is Momentum.REFLECTED:
            half = 0.5 * stage.h
            free_flight(at.E, self._world, self._incoming, tree.inertia, self.gravity, half, half, self.wrench)
            return
        if stage.base is not None and stage.momentum is Momentum.STRAIGHT:
            start = tree.posture(stage.base, stage.u_hat, lin.memory, self._earlier)
            free_flight(at.E, start.E, start.twist, tree.inertia, self.gravity, ah, ah, self.wrench)
            return
        if stage.base is not None or stage.momentum is Momentum.PRINTED:
            rates_before = tree.spread(at, stage.u_hat, self._momentum)
            momentum(at.E, at.twist, at.drift, rates_before, tree.inertia, self.gravity, ah, self.wrench)
            return
        # semi-implicit: the rates were solved for where the joints stood a step ago, however long that was, and the
        # momentum they have there flies on; −h J̇u, the same to first order, would feed a chain that whips with energy
        elapsed = find_time_since_last(lin.memory, stage.h)
        if LAST_TWIST in lin.memory:
            free_flight(at.E, self._world, lin.memory[LAST_TWIST], tree.inertia, self.gravity, elapsed, stage.h,
                        self.wrench)
            return
        earlier = tree.posture(lin.q - elapsed * stage.u_hat, stage.u_hat, lin.memory, self._earlier)
        free_flight(at.E, earlier.E, earlier.twist, tree.inertia, self.gravity, elapsed, stage.h, self.wrench)

    @property
    def joint_forces(self) -> list[JointForces]:
        """Return all forces on rates, implicit and explicit."""
        return [self.on_rates.joints] + ([] if self.explicit is None else [self.explicit.joints])

    @property
    def all_springs(self) -> list[Springs]:
        """Return all springs between bodies, implicit and explicit."""
        return [self.springs] + ([] if self.explicit is None else [self.explicit.springs])

    def only_weight(self, external_force: Vec | None = None) -> bool:
        """Whether no force but weight acts in a step with this external force."""
        return (not (len(self.springs) or len(self.on_rates.bodies)) and self.explicit is None
                and external_force is None)

    def acceleration(self, lin: LinearizationPoint, time: float) -> Vec:
        """Return accelerations u̇ = M_r⁻¹ f_r of the joints at a time [s], (m,) [rad/s², m/s²]."""
        at, tree = lin.posture, self.tree
        self._momentum[:] = 0.0
        momentum(at.E, at.twist, at.drift, self._momentum, tree.inertia, self.gravity, 1.0, self.wrench)
        self._add_forces(lin, time, time, None, 1.0, 0.0, 1.0, None)
        if self.explicit is not None:
            self.explicit.take(at, lin.q, lin.v, lin.memory.get(CENTRES, tree.fresh), time, time, 1.0)
            self._taken = None
            self.wrench += self.explicit.wrench
            self.on_rates.force += self.explicit.rate_impulse
        rhs = tree.gather(at, self.wrench, None, self._gathered)
        rhs += self.on_rates.force
        out: Vec = self.by_inertia(lin, time)(rhs)
        return out

    def by_inertia(self, lin: LinearizationPoint, time: float) -> Callable[[Vec], Vec]:
        """Return a function that maps impulses on the rates to velocity changes by M_r⁻¹, both (m,) or (m, c); it is
        valid until the next stage is posed."""
        self.diagonal[:], self.below[:] = self.tree.inertia, 0.0
        self.on_rates.weigh_inertia(lin.q, lin.v, lin.memory.get(CENTRES, self.tree.fresh), time)
        self.springs.between[:] = 0.0
        self._factor(lin.posture)
        return self.factor.solve

    def _add_forces(self, lin: LinearizationPoint, time: float, motor_time: float, moved: Vec | None, ah: float,
                    stiffness_factor: float, damping_scale: float, rates_before: Vec | None) -> None:
        """Add springs and joint forces to the right-hand side and the matrix. motor_time: at which motors are evaluated
        [s]."""
        tree, at = self.tree, lin.posture
        if len(self.springs):
            np.copyto(self.diagonal, tree.inertia)
            self.below[:] = 0.0
            bodies_moved = None if moved is None else tree.spread(at, moved, self._moved)
            self.springs.add(at.E, at.twist, bodies_moved, ah, stiffness_factor, damping_scale, self.wrench,
                             self.diagonal, self.below)
        if self.explicit is not None:
            self.on_rates.force[:] = 0.0  # discard the explicit forces of the last stage
        self.on_rates.weigh(at, lin.q, lin.v, lin.memory.get(CENTRES, tree.fresh), time, motor_time, moved, ah,
                            stiffness_factor, damping_scale, rates_before)

    def _add_explicit(self, lin: LinearizationPoint, stage: Stage, ah: float) -> None:
        """Add explicit forces to the right-hand side; they are evaluated once for all iterations of a stage."""
        explicit, tree = self.explicit, self.tree
        if explicit is None:
            return
        if stage is not self._taken:
            self._taken = stage
            at, (q, u) = lin.posture, (lin.q, lin.v)
            if stage.predicted is not None:
                q, u = stage.predicted
                at = tree.posture(q, u, lin.memory, self._predicted_rates)
            explicit.take(at, q, u, lin.memory.get(CENTRES, tree.fresh), stage.time, stage.inside, ah)
        self.wrench += explicit.wrench
        self.on_rates.force += explicit.rate_impulse

    def _factor(self, at: Posture, flesh: AttachedLoads | None = None) -> Vec:
        """Factor with the contribution of attached nodes; return the matrix (r, r) that was added to make that
        positive."""
        lifted = np.zeros((0, 0))
        if flesh is not None:
            if self._with_flesh is None:
                self.factor = self._with_flesh = WoodburyUpdate(self.factor)
            lifted = self._with_flesh.add(flesh.rates, flesh.columns.T @ flesh.matrix @ flesh.columns)
        elif self._with_flesh is not None:
            self._with_flesh.add_nothing()
        pairs, between = (self.springs.pairs, self.springs.between) if len(self.springs.pairs) else (None, None)
        if self._coupled is not None:
            self._coupled.add(self.on_rates.coupled, self.on_rates.coupling)
        try:
            self.factor.factor(at.X, at.S, self.diagonal, self.below, self.on_rates.own, pairs, between)
        except BodyNotPositiveDefinite as failure:
            raise StepFailed(UNRESISTED, self.tree.bodies[failure.body]) from failure
        return lifted

    def multiply(self, twist: Vec, flesh: AttachedLoads | None = None) -> Vec:
        """Return S φ of twists φ, both (n, 6), with the blocks of the last stage and the contribution of attached soft
        bodies."""
        out: Vec = np.einsum("nab,nb->na", self.diagonal, twist)
        if flesh is not None and flesh.bodies is not None:
            out[flesh.bodies] += (flesh.matrix @ twist[flesh.bodies].ravel()).reshape(-1, 6)
        if len(self.springs):
            child = np.flatnonzero(self.tree.parent >= 0)
            parent = self.tree.parent[child]
            out[child] += np.einsum("nab,nb->na", self.below[child], twist[parent])
            np.add.at(out, parent, np.einsum("nba,nb->na", self.below[child], twist[child]))
            first, second = self.springs.pairs.T
            np.add.at(out, first, np.einsum("nab,nb->na", self.springs.between, twist[second]))
            np.add.at(out, second, np.einsum("nba,nb->na", self.springs.between, twist[first]))
        return out
