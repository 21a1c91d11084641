"""ConJac: velocities of the quasistatic nodes are linear in the dynamic ones, v_q = J_qd v_d. [ConJac Alg. 1]

The retained nodes, dynamic ones and anchors, are eliminated last, so one factorization of −K and one backward solve
yield J. The static residual, and the force of moving prescribed nodes, border −K as further retained rows: their
columns of the same solve are b_q and w_q, without a forward solve. Anchors are up to three nodes of each part that the
dynamic and prescribed nodes do not constrain: K_qq of the other nodes is then regular, and the small dense system has
the exact rigid motions of the part, along which anchors are dynamic, while they are quasistatic across them. Where an
unconstrained component has no dynamic node its anchors are released, and its inertia constrains it (`unconstrained`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from ...assembly.edges import Edges
from ...assembly.linearised import Linearised, Near
from ...assembly.pattern import Pattern, node_graph
from ...coordinates.floating import FloatingParts
from ...coordinates.floating_frames import Frame, Frames
from ...coordinates.patches import Patches
from ...linear.interface import LinearSolver, NotPositiveDefinite
from ...state import Index, Vec
from ...threads import parallel_for
from ..interface import Eliminated, Mesh
from ..loads import Loads
from ..stage import NodeStage
from .anchors import Anchors
from .constrained_patches import ConstrainedPatches, free_patches, patch_loads
from .eliminate import eliminate
from .inertia import Inertia
from .posed import PosedConJac
from .prescribed_response import PrescribedResponse
from .quasistatic_motion import QuasistaticMotion, on_rows
from .reduced_kernels import PIECES, weigh
from .rigid_modes import RigidModeBasis
from .single_precision import SinglePrecisionFactor
from .sleep import Sleep
from .sweeps import ReusedFactorSweeps
from .unconstrained import UnconstrainedParts
from .without_contact import follow_without_contact


class ConJac:
    """Condensation at the velocity level with stabilised positions. [ConJac Alg. 1]"""

    #: diagonal of a border row g over |g|² / stiffness: far above gᵀ K⁻¹ g, and no solution depends on it
    border_pivot = 1.0e20
    #: largest relative change of an edge by one correction. A Newton step from far away would exceed it: a soft body on
    #: its feet falls over in one step, beyond the range of the linearisation that started it
    largest_correction = 0.5
    whole = None

    def __init__(self, mesh: Mesh, linear: LinearSolver, params: dict[str, float]) -> None:
        """Prepare the condensation of a mesh. params: beta, the factor on stiffness that sets damping; gamma, the
        fraction of b_q that a step removes, or settle_time, in which half of it is removed [s]; corrections, the number
        of corrections of positions after each step; solve_impacts, whether linearised stages that hit the ground are
        solved; adaptive, whether dynamic nodes may sleep, and liveliness_threshold [1/s] and liveliness_window [s],
        which decide when."""
        self.mesh, self.linear = mesh, linear
        self.beta, self.gamma = params["beta"], params["gamma"]
        self.settle_time, self.corrections = params["settle_time"], int(params["corrections"])
        self.solves_impacts = bool(params.get("solve_impacts", True))
        prescribed, count = mesh.coordinates.prescribed, len(mesh.rest)
        self.floating = FloatingParts(mesh.rest, mesh.parts, prescribed)
        self.anchors = Anchors(mesh.rest, mesh.parts, mesh.dynamic, prescribed)

        self.retained: Index = np.concatenate([mesh.dynamic, self.anchors.nodes]).astype(np.int32)
        quasistatic = np.setdiff1d(mesh.coordinates.free, self.retained)
        graph = node_graph(mesh.tets, count)[quasistatic][:, quasistatic]
        self.frames = Frames(self.floating, mesh.parts, count)
        self.patches = Patches(mesh.rest, mesh.mass, free_patches(mesh))
        border = 1 + self.frames.columns + (mesh.coordinates.motion is not None) + mesh.coordinates.carriers
        border += self.patches.unknowns
        order = np.concatenate([quasistatic[linear.order(graph)], self.retained])
        self.pattern = Pattern(mesh.tets, order, count, border)
        self._matrix = self.pattern.matrix()
        linear.analyse(self._matrix, 3 * len(self.retained) + border)
        self.edges = Edges(mesh.tets, mesh.rest)
        may_sleep = params["adaptive"] and (len(mesh.dynamic) or self.patches.unknowns)
        self.sleep = (Sleep(mesh, params, self.retained, self.edges, self.compute_removed_fraction) if may_sleep
                      else None)
        self._all_awake = RigidModeBasis(mesh, self.retained, np.arange(len(self.retained)) < len(mesh.dynamic))
        #: whether anchors release the floating parts, since no dynamic node is part of them
        self._lets_go = not len(mesh.dynamic) and len(self.anchors.nodes) > 0
        self._around_retained = Near(mesh.tets, self.retained, count)
        self.loads = Loads(mesh)
        # a pivot for the retained rows, whose Schur complement may be singular; J and K_qq⁻¹ do not depend on it
        self._retained_pivot = np.zeros(count)
        self._retained_pivot[self.retained] = mesh.stiffness

        self.inner = self.pattern.order[: len(quasistatic)]
        self._mass_rows = np.repeat(mesh.mass[self.pattern.order], 3)
        self._single = SinglePrecisionFactor(linear, self.pattern.size - 3 * len(self.inner))
        self.to_free: Index = self.pattern.position[mesh.coordinates.free].astype(np.int32)

    @property
    def at_once(self) -> ConJac:
        """Return the condensation itself, which has all bodies in one equilibrium."""
        return self

    def forget_past(self) -> None:
        """Discard what depends on earlier steps: values that the linear solver caches, and the factor of sleeping
        nodes."""
        self.linear.forget_past()
        self.edges.rotations.forget()
        self._single.too_soft = False
        if self.sleep is not None:
            self.sleep.forget_past()

    def pose(self, lin: Linearised, stage: NodeStage, carried: Vec | None = None, roughly: bool = False) -> PosedConJac:
        """Return the reduced stage on a new factor of −K of the free nodes, or on the last one where all nodes sleep.
        Raises NotPositiveDefinite.

        carried: velocities of the prescribed nodes for each rate of joints, (p, 3, c). roughly: for directions alone,
        which need six digits of the factor: it is made in single precision where possible, and the stage has no
        right-hand side. [ConJac 6, 11, 12]
        """
        if self.sleep is not None and not lin.is_fresh:
            return self.sleep.resting(lin, stage)
        hold = self.hold_of(lin.memory)
        frames, contact_free = self.frames.at(lin.x), None
        # sleeping nodes lie on what they touch
        contact_free_blocks = lin.contact_free_blocks if stage.base is not None or self.sleep is None else None
        if contact_free_blocks is not None and len(lin.contacts):
            if lin.damped is not None:
                lin = replace(lin, damped=lin.damped.with_node_blocks(contact_free_blocks))
            contact_free = self._following(replace(lin, node_blocks=contact_free_blocks), stage, hold, frames, carried,
                                           roughly=roughly)
            # the next factor may overwrite them
            contact_free = replace(contact_free, columns=contact_free.columns.copy())
            self._single.keep_without_contact()
        known = None if self.sleep is None else self.sleep.columns(lin, stage)
        motion = self._following(lin, stage, hold, frames, carried, known, roughly)
        moved = 1 + self.frames.columns

        # S = M − ahD − βabh²K
        reduced = (self._inertia(lin, stage, motion.velocities)
                   - stage.compute_damped_stiffness_factor(lin) * motion.product)
        follow = motion.follow(moved) if stage.w is not None else None
        first = motion.static.shape[1] - self.mesh.coordinates.carriers
        carry = None if carried is None else motion.follow(slice(first, None))
        nothing = np.zeros(len(reduced))
        posed = PosedConJac(self, lin, stage, hold, frames, motion, motion.velocities, reduced, nothing, follow,
                            motion.static[:, :moved], carry=carry)
        if not roughly:
            posed = self.load(posed)
        if self.sleep is not None:
            self.sleep.keep(posed)
        if contact_free is None:
            return posed
        posed = follow_without_contact(posed, contact_free, self._inertia(lin, stage, contact_free.velocities), moved)
        return replace(posed, response_without_contact=self._balance_without_contact(posed, contact_free))

    def hold_of(self, memory: Mapping[str, Vec]) -> RigidModeBasis:
        """Return the choice of dynamic nodes in a state with this memory."""
        return self._all_awake if self.sleep is None else self.sleep.hold(memory)

    def eliminate(self, lin: Linearised, stage: NodeStage, carried: Vec) -> Eliminated:
        """Return the stage on the rates of joints that carry some nodes, its own unknowns eliminated. carried:
        velocities of the prescribed nodes for each rate, (p, 3, c). Raises NotPositiveDefinite. [ConJac MUSCLE]"""
        return eliminate(self.pose(lin, stage, carried), carried)

    def sweeps(self, lin: Linearised, stage: NodeStage) -> ReusedFactorSweeps:
        """Return quasi-Newton sweeps on a new factor of this stage, in single precision where possible. Raises
        NotPositiveDefinite."""
        return ReusedFactorSweeps(self.pose(lin, stage, roughly=True))

    def inertia(self, lin: Linearised, stage: NodeStage, is_coupled: bool, carried: Vec | None = None) -> Inertia:
        """Return the inertia of positions, by the condensation at the start of a step, on a new factor. Raises
        NotPositiveDefinite.

        is_coupled: whether forces join bodies. carried: velocities of the prescribed nodes for each rate of joints, (p,
        3, c).
        """
        frames = self.frames.at(lin.x)
        following = self._following(lin, stage, self.hold_of(lin.memory), frames, carried)
        follow = None if stage.w is None else following.follow(1 + self.frames.columns).rows
        first = following.static.shape[1] - self.mesh.coordinates.carriers
        carrier_motion = None if carried is None else following.follow(slice(first, None)).rows
        return Inertia(self.mesh, self.pattern.order, frames, following.velocities, self.patches.rows(lin.x), lin,
                       stage, is_coupled, follow, carrier_motion)

    def follow_at(self, lin: Linearised, posed: PosedConJac) -> QuasistaticMotion:
        """Return the motion of quasistatic nodes in a posed stage at other stiffness and forces, on a new factor, which
        replaces that of the stage. Raises NotPositiveDefinite."""
        return self._following(lin, posed.stage, posed.hold, posed.frames, None)

    def _following(self, lin: Linearised, stage: NodeStage, hold: RigidModeBasis, frames: list[Frame],
                   carried: Vec | None, known: Vec | None = None, roughly: bool = False) -> QuasistaticMotion:
        """Return the motion of quasistatic nodes, on a new factor unless its columns are known. known: these columns.
        carried, roughly: as in `pose`. Raises NotPositiveDefinite."""
        size, border = 3 * len(self.retained), self._border(lin, stage, frames, carried)
        columns = self._condense(lin, border, roughly) if known is None else known
        jacobian = columns[:, :size]

        # Jᵀ of the rows of K J, and of the residual of the border's vectors, which is next to zero on quasistatic nodes
        rows = self._multiply_retained_rows(lin, columns, np.eye(size, columns.shape[1]))
        rest = self.linear.compute_condensation_residual()
        if rest is not None:
            rows += jacobian.T @ rest
        stiffness = 0.5 * (rows[:, :size] + rows[:, :size].T)
        left = rows[:, size:] + border[:, self.retained].reshape(len(border), size).T

        count, awake = self.patches.unknowns, self.patches.of(hold.patches)
        responses, components = columns[:, size:], None
        if self._lets_go and frames:
            components = UnconstrainedParts.of(frames, self.pattern.position, self._mass_rows, columns, stiffness, left,
                                           1 + count)
            static, left = components.balance(responses, left)
            velocities, stiffness_rows = components.balance_rigid_motions()
        else:
            # along unconstrained rigid motions the anchors are dynamic, across them quasistatic
            basis, own = hold.split(lin.x, stiffness, left)
            rows = jacobian
            if hold.holds:
                rows, responses = jacobian @ basis, responses + jacobian @ own
            static, left = np.concatenate([responses, own]), left + stiffness @ own
            velocities, stiffness_rows = np.concatenate([rows, basis]), stiffness @ basis
        if not len(awake):
            size = len(velocities)
            product = velocities[size - len(stiffness_rows) :].T @ stiffness_rows
            return QuasistaticMotion(columns, stiffness, velocities, product, static[:, count:],
                                     on_rows(left[:, count:], size), components=components)
        constrained = ConstrainedPatches(border[awake], self.pattern.order, static[:, awake], left[:, awake])
        return QuasistaticMotion(columns, stiffness, *constrained.velocities(velocities, stiffness_rows),
                                 *constrained.with_fixed_patches(static[:, count:], left[:, count:]), constrained,
                                 components)

    def _condense(self, lin: Linearised, border: Vec, roughly: bool) -> Vec:
        """Return −A_qq⁻¹ A_qk for all rows that are eliminated last, on a new factor. border: (border, n, 3)."""
        self.pattern.gather(lin.blocks, lin.node_blocks, -1.0, self._retained_pivot, lin.others)
        squares = np.array([float(np.vdot(vector, vector)) for vector in border])
        self.pattern.put_border(border, self.mesh.stiffness + self.border_pivot * squares / self.mesh.stiffness)
        # sleeping nodes use a factor for long, the constraint of patches cancels most of its digits, and unconstrained
        # parts conserve momentum to the last digit by rigid motions that J has exactly
        few_do = roughly and self.sleep is None and not self.patches.unknowns and not self.frames.columns
        failed = False
        if few_do:
            try:
                low_precision = self._single.condense(self._matrix)
            except NotPositiveDefinite:
                if lin.is_tried:
                    raise
                failed = True
            else:
                if low_precision is not None:
                    return low_precision
        self.linear.factor(self._matrix, lin.x[self.pattern.order])
        self._single.too_soft |= failed  # a failure in both precisions is not one of six digits
        return self.linear.condense()

    def _inertia(self, lin: Linearised, stage: NodeStage, velocities: Vec) -> Vec:
        """Return Vᵀ (M − a h D) V, (r, r) [kg]. velocities: V of the reduced unknowns, (3 (q + k), r)."""
        sums = np.zeros((PIECES, *2 * velocities.shape[1:]))
        parallel_for(weigh, PIECES, self.weight(lin, stage), np.ascontiguousarray(velocities), sums)
        lower = sums.sum(axis=0)
        inertia = lower + np.tril(lower, -1).T
        if lin.damped is not None and lin.damped.has_blocks:
            columns = np.zeros((len(self.mesh.rest), 3, velocities.shape[1]))
            columns[self.pattern.order] = velocities.reshape(-1, 3, velocities.shape[1])
            damping_rows = lin.damped.multiply(columns)[self.pattern.order].reshape(velocities.shape)
            inertia -= stage.a * stage.h * (velocities.T @ damping_rows)
        out: Vec = 0.5 * (inertia + inertia.T)
        return out

    def weight(self, lin: Linearised, stage: NodeStage) -> Vec:
        """Return the mass of each row plus a h times its drag in D, (3 (q + k),) [kg]."""
        if lin.damped is None and stage.inertia == 1.0:
            return self._mass_rows
        return np.repeat(stage.weight(lin)[self.pattern.order], 3)

    def load(self, posed: PosedConJac) -> PosedConJac:
        """Return the stage with its right-hand side, Jᵀ (M v̂ + a h f − S w), (r,) [N s]. [ConJac 11]"""
        lin, stage, follow = posed.lin, posed.stage, posed.follow
        momentum = self.loads.momentum(lin, stage)[self.pattern.order].ravel()
        if follow is not None:
            momentum -= self.weight(lin, stage) * follow.rows
            momentum += stage.compute_damped_stiffness_factor(lin) * follow.left
            if lin.damped is not None and lin.damped.has_blocks:
                columns = np.zeros((len(lin.mass), 3, 1))
                columns[self.pattern.order, :, 0] = follow.rows.reshape(-1, 3)
                columns[self.mesh.coordinates.prescribed, :, 0] = stage.w
                momentum += stage.a * stage.h * lin.damped.multiply(columns)[self.pattern.order].ravel()
        return replace(posed, impulse=posed.onto_basis(momentum))

    def compute_removed_fraction(self, h: float) -> float:
        """Return the fraction of b_q that a step of h seconds removes: γ, or 1 − 2^(−h/τ) where half of b_q is removed
        in a time τ."""
        return 1.0 - 2.0 ** (-h / self.settle_time) if self.settle_time > 0.0 else self.gamma

    def limit_fraction(self, fraction: float, moved: Vec) -> float:
        """Return the largest fraction, `fraction` at most, of a displacement, (n, 3) [m], that changes no edge by more
        than `largest_correction` of its length."""
        change = self.edges.largest_change(moved)
        return min(fraction, self.largest_correction / change) if change > 0.0 else fraction

    def _balance_without_contact(self, posed: PosedConJac,
                                 contact_free: QuasistaticMotion) -> Callable[[Vec], Vec] | None:
        """Return `response` on the copied factor of K without contacts, as a function of loads (n, 3, c); None without
        a copy."""
        solve = self._single.solve_without_contact
        if solve is None:
            return None
        bare = replace(posed, motion=contact_free)
        return lambda loads: self.response(bare, loads, solve)

    def in_single(self) -> Callable[[Vec], Vec] | None:
        """Return −K_qq⁻¹ on the present factor in single precision, as a function of up to three columns of loads on
        the quasistatic rows, (3 q, c); None where the linear solver does not expose its factor."""
        return self._single.solve()

    def relax(self, posed: PosedConJac, loads: Vec, solve: Callable[[Vec], Vec] | None = None) -> Vec:
        """Return −K_qq⁻¹ times loads on the quasistatic rows, (3 q, c) [N], with the retained nodes fixed:
        displacements, (3 q, c) [m], by the last factor, or by a `solve` of `in_single`."""
        if solve is not None:
            return solve(loads)
        self._single.show()
        rhs = np.zeros((self.pattern.size, *loads.shape[1:]))
        rhs[: len(loads)] = loads
        solved = self.linear.solve(rhs)
        rows: Vec = solved[: len(loads)] - posed.motion.columns @ solved[len(loads) :]
        return rows

    def balance(self, posed: PosedConJac, loads: Vec, solve: Callable[[Vec], Vec] | None = None) -> tuple[Vec, Vec]:
        """Return −K⁻¹ times loads, (n, 3, c), with dynamic unknowns fixed, and the residual of the loads then, both (3
        (q + k), c), on the present factor. solve: as in `relax`."""
        motion, count = posed.motion, loads.shape[2]
        rows = self.relax(posed, loads[self.inner].reshape(-1, count), solve)
        own = np.zeros((3 * len(self.retained), count))
        left = self._multiply_retained_rows(posed.lin, rows, own) + loads[self.retained].reshape(own.shape)
        if motion.components is None:
            _, own = posed.hold.split(posed.lin.x, motion.stiffness, left)
            response, left = np.concatenate([rows + motion.jacobian @ own, own]), left + motion.stiffness @ own
        else:
            response, left = motion.components.balance(rows, left)
        return ((response, on_rows(left, len(response))) if motion.patches is None
                else motion.patches.with_fixed_patches(response, left))

    def response(self, posed: PosedConJac, loads: Vec, solve: Callable[[Vec], Vec] | None = None) -> Vec:
        """Return −K⁻¹ times loads, (n, 3, c), with dynamic unknowns fixed, (3 (q + k), c), without their residual. This
        costs less than `balance` where all retained nodes are dynamic. solve: as in `relax`."""
        if posed.hold.holds or posed.motion.patches is not None:
            return self.balance(posed, loads, solve)[0]
        out = np.zeros((3 * len(self.pattern.order), loads.shape[2]))
        inner = np.take(loads, self.inner, axis=0).reshape(-1, loads.shape[2])
        out[: len(inner)] = self.relax(posed, inner, solve)
        return out

    def follow_on(self, posed: PosedConJac, change: Vec) -> PrescribedResponse:
        """Return the response to prescribed velocities that differ from the stage's by `change`, (p, 3) [m/s], on the
        present factor."""
        assert posed.follow is not None
        rows, left = self.balance(posed, self.loads.pull(posed.lin, change)[:, :, None])
        return PrescribedResponse(posed.follow.rows + rows[:, 0], posed.follow.left + left[:, 0])

    def _border(self, lin: Linearised, stage: NodeStage, frames: list[Frame], carried: Vec | None) -> Vec:
        """Return the border of −K, (border, n, 3): forces on patches, f, M R of the rigid motions, K w of moving
        prescribed nodes, and K J_a of nodes that joints carry."""
        vectors = [patch_loads(self.patches, lin.x, lin.mass, self.frames, frames)] if self.patches.unknowns else []
        vectors += [lin.force[None], self.frames.loads(frames, lin.mass)]
        if stage.w is not None:
            vectors.append(self.loads.pull(lin, stage.w)[None])
        if carried is not None:
            vectors.append(self.loads.pulls(lin, carried).transpose(2, 0, 1))
        border: Vec = np.concatenate(vectors)
        return border

    def _multiply_retained_rows(self, lin: Linearised, inner: Vec, own: Vec) -> Vec:
        """Return the retained rows of K times columns, K_kq inner + K_kk own, (3 k, c). inner: quasistatic rows of the
        columns, (3 q, c). own: retained ones, (3 k, c).

        For the columns J and 1 these rows are Jᵀ K J, negative semi-definite. [ConJac 11]
        """
        near = self._around_retained.of(lin)
        rows = self.pattern.position[near.nodes]
        columns = np.zeros((len(near.nodes), 3, inner.shape[1]))
        is_inner, is_retained = (rows >= 0) & (rows < len(self.inner)), rows >= len(self.inner)
        columns[is_inner] = inner[3 * rows[is_inner, None] + np.arange(3)]
        columns[is_retained] = own.reshape(-1, 3, own.shape[1])[rows[is_retained] - len(self.inner)]
        product: Vec = near.multiply(lin, columns)[near.row_of[self.retained]]
        return product.reshape(own.shape)
