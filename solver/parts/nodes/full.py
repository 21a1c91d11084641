"""Full finite elements without condensation ("vanilla" FEM): every free node is an unknown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ...assembly.linearised import Linearised
from ...assembly.pattern import Pattern, node_graph
from ...coordinates.floating import FloatingParts
from ...errors import StepFailed
from ...linear.interface import LinearSolver, NotPositiveDefinite
from ...state import CarrierMotion, Index, Vec
from ..interface import Compliance, Eliminated, Evaluate, Mesh, NoQuasistatic
from ..loads import Loads
from ..stage import NodeStage, NoJoints, Stage
from .own import OwnInertia

if TYPE_CHECKING:
    from ...assembly.tangent import Tangent


@dataclass(frozen=True)
class PosedFull(NoQuasistatic, NoJoints):
    """(M − ahD − βabh²K) v = M v̂ + a h (f + K (x_base − x)) + (ahD + βabh²K) w, factored. [ConJac 10]"""

    owner: Full
    lin: Linearised
    stage: NodeStage
    rhs: Vec  #: (n, 3) [N s]

    def solve(self) -> Vec:
        """Return velocities of the free nodes at the stage's end, (3 f,) [m/s]."""
        order = self.owner.pattern.order
        out: Vec = np.zeros(self.rhs.shape)
        out[order] = self.owner.linear.solve(self.rhs[order].ravel()).reshape(-1, 3)
        rates: Vec = out[self.owner.mesh.coordinates.free].ravel()
        return rates

    def correction(self, u: Vec) -> Vec:
        """Return zeros, (3 f,): every node is an unknown, and no position is corrected."""
        return np.zeros(len(u))

    def moving(self, u: Vec) -> Vec:
        """Return the velocities u themselves, (3 f,) [m/s], on which contacts act."""
        return u

    def respond(self, impulses: Vec) -> Vec:
        """Return velocity changes A⁻¹ p of the free nodes by impulses p on them, both (3 f, c), [m/s] and [N s]."""
        rank, width = self.owner.rank, impulses.shape[1]
        ordered = impulses.reshape(-1, 3 * width)[rank].reshape(-1, width)
        out: Vec = np.empty((len(rank), 3 * width))
        out[rank] = self.owner.linear.solve(ordered).reshape(-1, 3 * width)
        return out.reshape(-1, width)

    def compliance(self, nodes: Index) -> Compliance:
        """Return the response of free nodes, (c,), as a function from impulses, (c, 3) [N s], to changes of velocities,
        (c, 3) [m/s], by one solve on the factor each."""
        rows = self.owner.pattern.position[nodes]

        def respond(impulses: Vec) -> Vec:
            rhs = np.zeros((len(self.owner.rank), 3))
            rhs[rows] = impulses
            changed: Vec = self.owner.linear.solve(rhs.ravel()).reshape(-1, 3)[rows]
            return changed

        return respond

    def under(self, impulses: Vec) -> PosedFull:
        """Return the stage with additional impulses on all nodes, (n, 3) [N s]."""
        return replace(self, rhs=self.rhs + impulses)

    def relax(self, q: Vec, u: Vec, evaluate: Evaluate, corrections: int | None = None,
              carrier_motion: CarrierMotion | None = None) -> Vec:
        """Return the coordinates q themselves: no node is quasistatic."""
        return q

    def again(self, stage: Stage) -> PosedFull:
        """Return another stage of this linearisation on the present factor."""
        known = NodeStage.of(stage, self.owner.mesh.coordinates)
        return replace(self, stage=known, rhs=self.owner.rhs(self.lin, known))


class Full:
    """Full finite elements, linearly implicit. [ConJac Alg. 2]"""

    sleep = at_once = sweeps = None
    solves_impacts = False  # a linearised stage that hits the ground is not solved to its root

    def __init__(self, mesh: Mesh, linear: LinearSolver, params: dict[str, float]) -> None:
        """params: beta, the factor on stiffness that sets numerical damping."""
        self.mesh, self.linear, self.beta = mesh, linear, params["beta"]
        free = mesh.coordinates.free
        count = len(mesh.rest)
        graph = node_graph(mesh.tets, count)[free][:, free]
        self.pattern = Pattern(mesh.tets, free[linear.order(graph)], count)
        self.matrix = self.pattern.matrix()
        linear.analyse(self.matrix, 0)
        self.loads = Loads(mesh)
        self.floating = FloatingParts(mesh.rest, mesh.parts, mesh.coordinates.prescribed)
        #: index of each node of the elimination order among the free ones, (f,)
        self.rank: Index = np.searchsorted(free, self.pattern.order).astype(np.int32)

    @property
    def whole(self) -> Full:
        """Return the method itself, which has all free velocities in one sparse matrix."""
        return self

    def forget_past(self) -> None:
        """Discard the caches of the linear solver."""
        self.linear.forget_past()

    def pose(self, lin: Linearised, stage: NodeStage) -> PosedFull:
        """Fill and factor M − ahD − βabh²K of the free nodes at a point of linearisation. Raises NotPositiveDefinite.
        [ConJac 10]"""
        stage.fill(self.pattern, lin)
        self.linear.factor(self.matrix, lin.x[self.pattern.order])
        return self.pose_on_factor(lin, stage)

    def pose_on_factor(self, lin: Linearised, stage: NodeStage) -> PosedFull:
        """Return a stage on the present factor, with the right-hand side of `lin` and `stage`."""
        return PosedFull(self, lin, stage, self.rhs(lin, stage))

    def eliminate(self, lin: Linearised, stage: NodeStage, carried: Vec) -> Eliminated:
        """Return a stage reduced to the rates of joints that carry some nodes, (p, 3, c). Raises NotPositiveDefinite.
        [ConJac MUSCLE]"""
        return eliminate(self.pose(lin, stage), stage, carried)

    def inertia(self, lin: Linearised, stage: NodeStage, is_coupled: bool, carried: Vec | None = None) -> OwnInertia:
        """Return the inertia of positions, with one unknown for each free node. carried: velocities of the prescribed
        nodes for unit rates of the joints, (p, 3, c)."""
        return OwnInertia(self.mesh, lin, stage, 0 if carried is None else carried.shape[2])

    def rhs(self, lin: Linearised, stage: NodeStage) -> Vec:
        """Return the stage's right-hand side, (n, 3) [N s]."""
        out = self.loads.momentum(lin, stage)
        if stage.w is not None:
            out += stage.compute_damped_stiffness_factor(lin) * self.loads.pull(lin, stage.w)
            if lin.damped is not None:
                moving = np.zeros(out.shape)
                moving[self.mesh.coordinates.prescribed] = stage.w
                out += stage.a * stage.h * lin.damped.force(moving)
        return out

    def tangent(self, lin: Linearised, w: Vec | None) -> Tangent:
        """Return the linearisation with K and D of the free nodes as products. w: velocities of prescribed nodes,
        (p, 3) [m/s], for K w; None for none."""
        from ...assembly.tangent import FreeProduct, Tangent  # compiled only for methods that use it

        free = self.mesh.coordinates.free
        self.pattern.gather(lin.blocks, lin.node_blocks, 1.0, np.zeros(len(lin.x)), lin.others)
        pulled = None if w is None else self.loads.pull(lin, w)[free].ravel()
        force = lin.force if lin.damped is None else lin.force + lin.damped.force(lin.v)
        mass = np.repeat(lin.mass[free], 3)
        product = FreeProduct(self.pattern.matrix().copy(), self.rank)

        def shifted(shift: float) -> Callable[[Vec], Vec]:
            stage = NodeStage(1.0, 1.0, 1.0, 0.0, None, np.zeros_like(lin.x), None, inertia=shift)
            try:
                return self.pose(replace(lin, damped=None), stage).respond
            except NotPositiveDefinite as failure:
                raise StepFailed("the system matrix is not positive definite") from failure

        return Tangent(lin, free, mass, force[free].ravel() / mass, pulled, product, shifted)


def eliminate(posed: PosedFull, stage: NodeStage, carried: Vec) -> Eliminated:
    """Return the Schur complement of a stage on the rates of joints, by a dense border of its matrix and the reused
    factor.

    carried: velocities of the prescribed nodes for unit rates of the joints, (p, 3, c).
    """
    owner, lin = posed.owner, posed.lin
    coordinates = owner.mesh.coordinates
    free, count = coordinates.free, carried.shape[2]

    # C = −S_ff⁻¹ S_fa J_a; M couples no node with another
    columns = np.zeros((len(lin.x), 3, count))
    columns[coordinates.prescribed] = carried
    stiffness_product = stage.compute_damped_stiffness_factor(lin) * owner.loads.pulls(lin, carried)[free]
    if lin.damped is not None and lin.damped.has_blocks:
        stiffness_product += stage.a * stage.h * lin.damped.multiply(columns)[free]
    response = posed.respond(stiffness_product.reshape(-1, count))
    columns[free] = response.reshape(-1, 3, count)

    free_response = np.zeros((len(lin.x), 3, 1))
    free_response[free, :, 0] = posed.solve().reshape(-1, 3)
    if stage.w is not None:
        free_response[coordinates.prescribed, :, 0] = stage.w

    # G and g are the rows of the attached nodes: those of the others vanish
    loaded = owner.loads.find_loaded_prescribed(lin, stage)
    rows = owner.loads.on_prescribed(lin, stage, np.concatenate([columns, free_response], axis=2), loaded)
    rows = carried[loaded].reshape(-1, count).T @ rows.reshape(-1, count + 1)
    momentum = owner.loads.momentum(lin, stage)[coordinates.prescribed]
    impulse = carried.reshape(-1, count).T @ momentum.ravel() - rows[:, count]

    def moving(u: Vec, carrier_motion: CarrierMotion) -> tuple[PosedFull, NodeStage]:
        known = stage.moving(carried @ u, carrier_motion)
        return replace(posed, stage=known, rhs=owner.rhs(lin, known)), known

    matrix = rows[:, :count]
    return Eliminated(0.5 * (matrix + matrix.T), impulse, response, moving)
