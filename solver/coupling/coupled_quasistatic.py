"""Iterations of a stage of ConJac bodies in contact and of the joints that carry some of their nodes.

Unknowns are the rates y of all positions and r of the joints. Velocities are V C (y − F − F_r r) + F + F_r r on free
nodes, F_r the velocities of quasistatic nodes for unit rates of the joints, and J_a r on attached nodes: both parts
exchange momentum only through their mutual forces. An iteration solves for the changes δy and δr:

    S_yy δy + S_yr δr = −∂E/∂y,   S_yy = Cᵀ Vᵀ W V C − a b h² K_yy,   S_yr = Cᵀ Vᵀ W Z − a b h² K_ya J_a,

W = M − a h D, Z = (F_r − V C F_r; J_a). δy is eliminated by conjugate gradients, preconditioned with a factor that has
a regularisation mass in place of Cᵀ Vᵀ W V C. The solutions need not be exact, since both right-hand sides vanish at
the root. [ConJac MUSCLE, changed: positions balance with all that touches]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..assembly.linearised import Linearised
from ..coordinates.attached import Bodies
from ..errors import StepFailed
from ..parts.conjac.inertia import CLOSE, MOST
from ..parts.interface import PositionInertia, ReducedOnRates
from ..parts.nodes.full import Full
from ..parts.stage import NodeStage, Stage
from ..state import State, Vec
from .coupled_stage import CarrierSystem


@dataclass(frozen=True)
class BodyPositions:
    """Positions, rates and forces of soft bodies and joints at an iterate."""

    joints: State
    bodies: Bodies
    rates: Vec  #: of the joints that move attached nodes, r, (c,)
    positions: Vec  #: rates y of the positions of free nodes, with those that time prescribes, (n, 3) [m/s]
    force: Vec  #: on nodes, without damping, (n, 3) [N]


class CoupledQuasistatic:
    """One iteration of a stage of soft bodies and joints, in the rates of all positions and of the joints."""

    curvature: float  #: of the merit along the step that `solve` found, the soft bodies' part: δᵀ S δ
    tree_stage: Any = None  #: the stage of joints at the rates that `solve` found
    start_slope: float  #: slope of the merit along that step at its start

    def __init__(self, whole: Full, inertia: PositionInertia, bones: CarrierSystem, iterate: BodyPositions,
                 lin_at: Callable[[bool], Linearised], project: bool, stage: NodeStage, of_joints: Stage) -> None:
        """Factor the iteration. Raises NotPositiveDefinite, StepFailed where the soft bodies' load on the joints is not
        finite.

        whole: matrix and factor of all free nodes. iterate: the point of linearisation. lin_at: returns forces and K
        there, with K projected to negative semi-definite where its argument is true. project: whether the solution uses
        that projection, too; else only the factor does. stage, of_joints: stages of the nodes and of the joints.
        """
        self._whole, self._inertia, self._bones, self._iterate = whole, inertia, bones, iterate
        self._of_joints, self._stage = of_joints, stage
        lin = lin_at(project)
        self._lin, self._weight, self._regularisation_mass = lin, stage.weight(lin), inertia.regularisation_mass
        coordinates, order, attached = whole.mesh.coordinates, whole.pattern.order, whole.mesh.coordinates.attached
        columns = attached.columns(iterate.bodies.E, iterate.bodies.twists)
        acceleration = attached.accelerations(iterate.bodies.E, iterate.bodies.twist, iterate.bodies.drift)
        self._v_hat = stage.v_hat.copy()
        self._v_hat[attached.nodes] = (columns @ iterate.bodies.carrying(of_joints.u_hat)
                                       - stage.a * stage.h * acceleration)
        velocities, weighed = self._velocities_of_rates(columns), self._weigh(self._velocities_of_rates(columns))
        on_nodes, on_rates = self._slope(iterate, velocities)

        count = columns.shape[2]
        stiffness_product = whole.loads.pulls(lin, coordinates.with_attached(columns))  # K J_a
        across = inertia.project_loads(weighed) - stage.stiffness_factor * stiffness_product
        rhs = np.concatenate([across, -on_nodes[:, :, None]], axis=2)[order].reshape(-1, count + 1)
        self._factor(lin, lin_at if not project else None)
        self._solved = solved = self._solve(rhs)
        self._products, self._across = self._times(solved), rhs[:, :count]
        self._on_nodes, self._on_rates = -rhs[:, count], on_rates

        back, onto = solved[:, :count], velocities.reshape(-1, count)
        own = onto.T @ weighed.reshape(-1, count)
        own -= stage.stiffness_factor * np.einsum("aic,aid->cd", columns, stiffness_product[attached.nodes])
        self._own: Vec = 0.5 * (own + own.T)
        matrix = self._own - back.T @ self._across - self._across.T @ back + back.T @ self._products[:, :count]
        impulse = -on_rates - self._across.T @ solved[:, count] - back.T @ (rhs[:, count] - self._products[:, count])
        if not (np.isfinite(matrix).all() and np.isfinite(impulse).all()):
            raise StepFailed("its force on the bones is not a number")
        matrix = 0.5 * (matrix + matrix.T)
        self._left = ReducedOnRates(matrix, impulse + matrix @ iterate.rates)

    def solve(self) -> Vec:
        """Return new rates of the free nodes' positions, (3 f,) [m/s], and then of the joints, (m,) [rad/s, m/s].
        Raises StepFailed."""
        at = self._iterate.bodies
        bones = self._bones.solve_at(at, self._iterate.joints, self._of_joints, self._left)
        u = bones.rates
        self.tree_stage = bones.tree_stage
        rate_change = at.carrying(u) - self._iterate.rates
        weights = np.append(-rate_change, 1.0)
        of_nodes, product = self._solved @ weights, self._products @ weights
        across = self._across @ rate_change
        self.curvature = float(of_nodes @ product) + 2.0 * float(of_nodes @ across) + float(
            rate_change @ self._own @ rate_change)
        self.start_slope = float(self._on_nodes @ of_nodes) + float(self._on_rates @ rate_change)
        self._step = of_nodes, rate_change
        coordinates = self._whole.mesh.coordinates
        moved = np.empty((len(coordinates.free), 3))
        moved[self._whole.rank] = of_nodes.reshape(-1, 3)
        return np.concatenate([(self._iterate.positions[coordinates.free] + moved).ravel(), u])

    def slope(self, at: BodyPositions) -> float:
        """Return the slope of the merit at another iterate along the direction that `solve` found, the soft bodies'
        part alone [J]."""
        columns = self._whole.mesh.coordinates.attached.columns(at.bodies.E, at.bodies.twists)
        on_nodes, on_rates = self._slope(at, self._velocities_of_rates(columns))
        of_nodes, rate_change = self._step
        return float(on_nodes[self._whole.pattern.order].ravel() @ of_nodes) + float(on_rates @ rate_change)

    def _velocities_of_rates(self, columns: Vec) -> Vec:
        """Return Z, (n, 3, c), from the velocities J_a of attached nodes for unit rates of the joints, (a, 3, c)."""
        velocities: Vec = self._inertia.carried - self._inertia.following(self._inertia.carried)
        velocities[self._whole.mesh.coordinates.attached.nodes] = columns
        return velocities

    def _weigh(self, v: Vec) -> Vec:
        """Return W v, with W = M − a h D; both (n, 3, c)."""
        out: Vec = self._weight[:, None, None] * v
        if self._lin.damped is not None and self._lin.damped.has_blocks:
            out -= self._stage.a * self._stage.h * self._lin.damped.multiply(v)
        return out

    def _slope(self, at: BodyPositions, velocities: Vec) -> tuple[Vec, Vec]:
        """Return ∂E/∂y, (n, 3), and ∂E/∂r, (c,) [N s]."""
        coordinates, stage = self._whole.mesh.coordinates, self._stage
        attached = coordinates.attached.nodes
        v = self._inertia.velocities(at.positions, at.rates)
        if stage.w is not None:
            v[coordinates.prescribed] = stage.w
        v[attached] = velocities[attached] @ at.rates
        gained = self._weigh(v[:, :, None]) - (self._lin.mass[:, None] * self._v_hat)[:, :, None]
        impulse = stage.a * stage.h * at.force
        on_rates = np.einsum("nic,ni->c", velocities, gained[:, :, 0])
        on_rates -= np.einsum("aic,ai->c", velocities[attached], impulse[attached])
        return self._inertia.project_loads(gained)[:, :, 0] - impulse, on_rates

    def _factor(self, lin: Linearised, lin_at: Callable[[bool], Linearised] | None) -> None:
        """Store −a b h² K plus the regularisation mass, and factor it, or else the matrix of the projected K from
        `lin_at`."""
        pattern, matrix, factor = self._whole.pattern, self._whole.matrix, -self._stage.stiffness_factor
        pattern.gather(lin.blocks, lin.node_blocks, factor, self._regularisation_mass, lin.others)
        self._lower: sp.csc_matrix = matrix.copy()
        if lin_at is not None:
            lin = lin_at(True)
            pattern.gather(lin.blocks, lin.node_blocks, factor, self._regularisation_mass, lin.others)
        self._whole.linear.factor(matrix, lin.x[pattern.order])
        self._diagonal = self._lower.diagonal() + np.repeat(self._regularisation_mass[pattern.order], 3)

    def _times(self, y: Vec) -> Vec:
        """Return S_yy y of rates of positions; both (3 f, c)."""
        order = self._whole.pattern.order
        field = np.zeros((len(self._regularisation_mass), 3, y.shape[1]))
        field[order] = y.reshape(-1, 3, y.shape[1])
        out: Vec = self._lower @ y + self._lower.T @ y - self._diagonal[:, None] * y
        return out + self._inertia.times(field)[order].reshape(y.shape)

    def _solve(self, rhs: Vec) -> Vec:
        """Return approximate S_yy⁻¹ of the columns by conjugate gradients, both (3 f, c); a column stops at the first
        direction of negative curvature."""
        x, left, linear = np.zeros_like(rhs), rhs.copy(), self._whole.linear
        direction = linear.solve(left)
        last = np.einsum("ij,ij->j", left, direction)
        goal, open_ = CLOSE**2 * last, np.flatnonzero(last > 0.0)
        for k in range(MOST):
            if not len(open_):
                break
            along = direction[:, open_]
            product = self._times(along)
            curvature = np.einsum("ij,ij->j", along, product)
            up = curvature > 0.0
            if k == 0:
                x[:, open_[~up]] = along[:, ~up]
            open_, along, product = open_[up], along[:, up], product[:, up]
            step = last[open_] / curvature[up]
            x[:, open_] += step * along
            left[:, open_] -= step * product
            preconditioned = linear.solve(left[:, open_])
            now = np.einsum("ij,ij->j", left[:, open_], preconditioned)
            direction[:, open_] = preconditioned + now / last[open_] * along
            last[open_] = now
            open_ = open_[now > goal[open_]]
        return x
