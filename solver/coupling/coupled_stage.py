"""Linearised stages of soft bodies and of the joints that carry some of their nodes, solved monolithically."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from ..assembly.linearised import Linearised
from ..coordinates.attached import Bodies
from ..coordinates.free_nodes import FreeNodes
from ..errors import StepFailed
from ..parts.interface import Compliance, Condensation, Evaluate, NoQuasistatic, PosedNodes, ReducedOnRates
from ..parts.stage import NodeStage, Stage
from ..state import CarrierMotion, Index, State, Vec


class CarrierSystem(Protocol):
    """Protocol of a mechanism with attached soft bodies."""

    def bodies(self, state: State) -> Bodies:
        """Return the bodies at the coordinates and rates of a state of the joints."""

    def solve_at(self, at: Bodies, state: State, stage: Stage, eliminated: ReducedOnRates) -> SolvedCarrier:
        """Return the solution of the joints' stage linearised at a state whose bodies are `at`, with G and g of the
        soft bodies added to its equations.

        Raises StepFailed.
        """


class SolvedCarrier(Protocol):
    """Protocol of a solved stage of joints that includes the contribution of attached soft bodies."""

    @property
    def tree_stage(self) -> Any:
        """Return the stage of joints."""

    @property
    def rates(self) -> Vec:
        """Return the rates of the joints at the stage's end, (m,) [rad/s, m/s]."""

    def respond(self, impulses: Vec) -> Vec:
        """Return changes of all rates by impulses on the rates, both (m, c), with the inertia of the soft bodies."""

    def correction(self, u: Vec) -> Vec:
        """Return the position correction at the new rates u (m,), as a rate, (m,)."""

    def compliance(self) -> Vec:
        """Return changes of the rates to which soft bodies are condensed by unit impulses on these rates, (c, c), with
        the inertia of the soft bodies."""


class AttachedSystem(Protocol):
    """Protocol of soft bodies with nodes attached to a mechanism."""

    coordinates: FreeNodes
    condensation: Condensation


@dataclass(frozen=True)
class RelinearisedStage:
    """One iteration of a stage on the factor of an earlier linearisation: exact residual, approximate matrix."""

    rates: Vec  #: of the free nodes and of the joints, (3 f + m,)
    tree_stage: Any  #: the stage of joints

    def solve(self) -> Vec:
        """Return the rates of the free nodes and then of the joints, (3 f + m,) [m/s, rad/s]."""
        return self.rates

    def relax(self, q: Vec, u: Vec, evaluate: Evaluate, corrections: int | None = None) -> Vec:
        """Return coordinates q (m_q,) unchanged: there are no quasistatic nodes."""
        return q


class CoupledStage(NoQuasistatic):
    """[A_m + G] u = b_m + g on the joints' rates u, then v = C u + v₀ on the soft bodies' nodes. [ConJac MUSCLE]

    Unknowns are the free nodes' velocities and then the joints' rates. The matrix omits the change of attached nodes'
    forces on the rates as joints turn, ∂J_aᵀ/∂q f_a, and the corresponding change of inertia: a linearised step has an
    error of order h², and a stage that is iterated to its root takes a few more iterations.
    """

    posed: PosedNodes  #: the soft bodies' part at the rates that `solve` found
    stage: NodeStage  #: the soft bodies' stage
    bones: SolvedCarrier  #: the joints' part

    def __init__(self, flesh: AttachedSystem, bones: CarrierSystem, at: Bodies, lin: Linearised, stage: NodeStage,
                 joints: State,
                 of_joints: Stage, v_attached: Vec | None = None) -> None:
        """Factor the soft bodies' part. Raises NotPositiveDefinite, StepFailed where its load on the joints is not
        finite.

        at, lin, joints: bodies, soft bodies and joints where the stage is linearised. stage, of_joints: stages of the
        soft bodies and of the joints. v_attached: predicted velocities of attached nodes, (a, 3) [m/s]; None: they are
        derived from the predicted rates of the joints.
        """
        coordinates = flesh.coordinates
        self._flesh, self._coordinates, self._bones, self._at = flesh, coordinates, bones, at
        self._joints, self._of_joints = joints, of_joints
        self._cut = 3 * len(coordinates.free)
        self.lin, self.stage = lin, stage
        self._columns = coordinates.attached.columns(at.E, at.twists)

        self._v_attached, self._of_flesh = v_attached, stage
        self._v_hat = v_hat = self._predict_velocities(at, self._columns, stage, of_joints, v_attached)
        static = replace(stage, v_hat=v_hat, carrier_motion=self._move_attached_nodes(np.zeros(self._columns.shape[2])))
        self._eliminated = flesh.condensation.eliminate(lin, static, coordinates.with_attached(self._columns))
        if not (np.isfinite(self._eliminated.matrix).all() and np.isfinite(self._eliminated.impulse).all()):
            raise StepFailed("its force on the bones is not a number")
        self._impulses: Vec | None = None

    def solve(self) -> Vec:
        """Return rates of the free nodes, (3 f,) [m/s], and then of the joints, (m,) [rad/s, m/s]. Raises
        StepFailed."""
        eliminated = self._eliminated
        if self._impulses is not None:
            on_rates = eliminated.columns.T @ self._impulses[self._coordinates.free].ravel()
            eliminated = replace(eliminated, impulse=eliminated.impulse + on_rates)
        self.bones = self._bones.solve_at(self._at, self._joints, self._of_joints, eliminated)
        u = self.bones.rates
        rates = self._at.carrying(u)
        self.posed, self.stage = eliminated.moving(rates, self._move_attached_nodes(rates))
        if self._impulses is not None:
            self.posed = self.posed.under(self._impulses)
        own = self.posed.solve()
        self._step = own - self.lin.v[self._coordinates.free].ravel(), rates - self._at.carrying(self._joints.u)
        # at the step's end free nodes have no residual, and attached ones only that on the joints' rates
        self._end_slope = float((eliminated.matrix @ rates - eliminated.impulse) @ self._step[1])
        self._start_slope: float | None = None
        return np.concatenate([own, u])

    @property
    def start_slope(self) -> float:
        """Return the slope of the merit at the point of linearisation along the step that `solve` found, the soft
        bodies' part alone [J]."""
        if self._start_slope is None:
            self._start_slope = self._slope_at_start()
        return self._start_slope

    def _slope_at_start(self) -> float:
        attached, v = self._coordinates.attached, self.lin.v.copy()
        v[attached.nodes] = attached.velocities(self._at.E, self._at.twist)
        force = self.lin.force if self.lin.damped is None else self.lin.force + self.lin.damped.force(v)
        return self._along(self._compute_residual_inertia(v, self._v_hat, force), self._columns)

    @property
    def curvature(self) -> float:
        """Return the curvature of the merit along the step that `solve` found, the soft bodies' part alone [J]."""
        return self._end_slope - self.start_slope

    def slope(self, at: Bodies, v: Vec, force: Vec) -> float:
        """Return the slope of the merit at another point along the step that `solve` found, the soft bodies' part alone
        [J]. at: bodies of the joints at that point. v, force: velocities [m/s] of all nodes, attached ones included,
        and forces [N] on them, damping included, (n, 3)."""
        columns = self._coordinates.attached.columns(at.E, at.twists)
        v_hat = self._predict_velocities(at, columns, self._of_flesh, self._of_joints, self._v_attached)
        return self._along(self._compute_residual_inertia(v, v_hat, force), columns)

    def _compute_residual_inertia(self, v: Vec, v_hat: Vec, force: Vec) -> Vec:
        """Return the residual inertia M (v − v̂) − a h f of all nodes, (n, 3) [N s]."""
        stage = self._of_flesh
        return np.asarray(stage.inertia * self.lin.mass[:, None] * (v - v_hat) - stage.a * stage.h * force)

    def _along(self, left: Vec, columns: Vec) -> float:
        """Return the product of a residual (n, 3) with the step that `solve` found [J]. columns: J_a of attached nodes,
        (a, 3, c)."""
        of_nodes, rate_change = self._step
        on_rates = np.einsum("aic,ai->c", columns, left[self._coordinates.attached.nodes])
        return float(left[self._coordinates.free].ravel() @ of_nodes) + float(on_rates @ rate_change)

    @property
    def tree_stage(self) -> Any:
        """Return the stage of joints at the rates that `solve` found."""
        return self.bones.tree_stage

    def _predict_velocities(self, at: Bodies, columns: Vec, stage: NodeStage, of_joints: Stage,
                            v_attached: Vec | None) -> Vec:
        """Return predicted velocities v̂ of all nodes, (n, 3) [m/s]; those of attached nodes are `v_attached`, (a, 3),
        or, where that is None, derived from the predicted rates of the joints. columns: J_a, (a, 3, c)."""
        attached, v_hat = self._coordinates.attached, stage.v_hat.copy()
        if v_attached is None:
            # predicted velocities of attached nodes are J_a û less the change of J_a by rotation
            acceleration = attached.accelerations(at.E, at.twist, at.drift)
            v_attached = columns @ at.carrying(of_joints.u_hat) - stage.a * stage.h * acceleration
        v_hat[attached.nodes] = v_attached
        return v_hat

    def on_last_factor(self, at: Bodies, v: Vec, force: Vec, stage: NodeStage, joints: State, of_joints: Stage,
                       v_attached: Vec | None) -> RelinearisedStage:
        """Return an iteration at another point, or of another stage with an equal matrix, on the present factor of the
        soft bodies. Raises StepFailed.

        at, joints: bodies and joints at that point. v, force: velocities [m/s] of all nodes, attached ones included,
        and forces [N] on them, damping included, (n, 3). stage, of_joints, v_attached: as in `__init__`. Valid only
        without quasistatic nodes.
        """
        other, rates = copy.copy(self), at.carrying(joints.u)
        attached = self._coordinates.attached
        other._columns = columns = attached.columns(at.E, at.twists)
        gained = stage.inertia * self.lin.mass[:, None] * (
            v - self._predict_velocities(at, columns, stage, of_joints, v_attached))
        left = gained - stage.a * stage.h * force
        free = left[self._coordinates.free].ravel()
        on_rates = self._eliminated.columns.T @ free + np.einsum("aic,ai->c", columns, left[attached.nodes])
        eliminated = ReducedOnRates(self._eliminated.matrix, self._eliminated.matrix @ rates - on_rates)
        bones = self._bones.solve_at(at, joints, of_joints, eliminated)
        u = bones.rates
        own = v[self._coordinates.free].ravel() + self._eliminated.columns @ (at.carrying(u) - rates)
        return RelinearisedStage(np.concatenate([own + self.posed.respond(-free[:, None])[:, 0], u]),
                                 bones.tree_stage)

    def _move_attached_nodes(self, rates: Vec) -> CarrierMotion:
        """Return the motion of attached nodes at the end of a stage with joint rates (c,), to first order."""
        attached, stage = self._coordinates.attached, self.stage
        v = self._columns @ rates
        moved = stage.b * stage.h * (v - attached.velocities(self._at.E, self._at.twist))
        return CarrierMotion(attached.positions(self._at.E) + moved, v)

    def under(self, impulses: Vec) -> CoupledStage:
        """Return the stage with additional impulses on all nodes, (n, 3) [N s]; those on attached nodes act on the
        joints."""
        other = copy.copy(self)
        other._impulses = impulses
        return other

    def again(self, stage: Stage) -> CoupledStage:
        """Return another stage at this point of linearisation, on a factor of its own. Raises NotPositiveDefinite,
        StepFailed."""
        cut = self._cut
        of_flesh = NodeStage.of(stage.part(slice(cut), slice(cut)), self._coordinates)
        return CoupledStage(self._flesh, self._bones, self._at, self.lin, of_flesh, self._joints,
                            stage.part(slice(cut, None), slice(cut, None)))

    def respond(self, impulses: Vec) -> Vec:
        """Return changes of rates by impulses on free nodes and joints, both (3 f + m, c)."""
        on_flesh, columns = impulses[: self._cut], self._eliminated.columns
        on_rates = impulses[self._cut :].copy()
        on_rates[self._at.rates] += self._at.columns.T @ (columns.T @ on_flesh)
        u = self.bones.respond(on_rates)
        return np.concatenate([self.posed.respond(on_flesh) + columns @ self._at.carrying(u), u])

    def correction(self, u: Vec) -> Vec:
        """Return the position correction of nodes and joints at the rates u (3 f + m,) of `solve`, as a rate,
        (3 f + m,)."""
        return np.concatenate([self.posed.correction(u[: self._cut]), self.bones.correction(u[self._cut :])])

    def moving(self, u: Vec) -> Vec:
        """Return velocities of the free nodes at which contacts evaluate their motion, from their rates u; both (3 f,)
        [m/s]."""
        return self.posed.moving(u)

    def relax(self, q: Vec, u: Vec, evaluate: Evaluate, corrections: int | None = None) -> Vec:
        """Return coordinates at the stage's end, (3 f + m,), with quasistatic nodes nearer to equilibrium; arguments as
        in `Touched.relax`."""
        cut = self._cut
        joints = State(self.stage.time, q[cut:], u[cut:], self._joints.memory)
        carrier_motion = self._coordinates.attached.carrier_motion(self._bones.bodies(joints))
        return np.concatenate([self.posed.relax(q[:cut], u[:cut], evaluate, corrections, carrier_motion), q[cut:]])

    def compliance(self, nodes: Index) -> Compliance:
        """Return the response of these free nodes' velocities to impulses on them, (c, 3) [N s] to (c, 3) [m/s], with
        the joints free to move."""
        of_nodes = self.posed.compliance(nodes)
        free = np.searchsorted(self._coordinates.free, nodes)
        count = self._eliminated.columns.shape[1]
        columns = self._eliminated.columns.reshape(-1, 3 * count)[free].reshape(-1, count)
        on_bones = self.bones.compliance()

        def respond(impulses: Vec) -> Vec:
            through_bones: Vec = (columns @ (on_bones @ (columns.T @ impulses.ravel()))).reshape(-1, 3)
            return of_nodes(impulses) + through_bones

        return respond
