"""ConJac: velocities of the quasistatic nodes follow the dynamic ones, v_q = J_qd v_d. [ConJac Alg. 1]

The kept nodes, dynamic ones and anchors, are eliminated last, so one factorization of −K and one backward solve give
J. The static residual, and the pull of moving prescribed nodes, border −K as further kept rows: their columns of the
same solve are b_q and w_q, without a forward solve. Anchors are three or fewer nodes of each part that the dynamic and
prescribed nodes do not hold: K_qq of the rest is then regular, and what the anchors really owe, the part's rigid
motions, is sorted out exactly in the small dense system: along the rigid motions they are dynamic, across them
quasistatic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg

from ..assembly.damping import Damped
from ..assembly.edges import Edges
from ..assembly.linearised import Linearised, Near
from ..assembly.pattern import Pattern, node_graph
from ..coordinates.frames import Frame, Frames
from ..coordinates.rigid import LooseParts
from ..linear.interface import LinearSolver
from ..state import Index, Vec
from .anchors import Anchors
from .compliance import compliance
from .follow import Follow
from .hold import Hold
from .interface import Compliance, Evaluate, Joined, Mesh, Stage
from .joined import join_conjac
from .load import Loads
from .sleep import Sleep

if TYPE_CHECKING:
    from ..linear.single import SingleFactor

#: one correction changes no edge by more than this share of its length. A Newton step from far away would: a soft body
#: that stands on its feet falls over in one step, out of reach of the linearisation that asked for it
LARGEST_CORRECTION = 0.5

TRIALS = 4  #: lengths of one further correction, each half of the last

#: diagonal of a border row g over |g|² / stiffness: far above gᵀ K⁻¹ g, and no answer depends on it
BORDER_PIVOT = 1.0e20

#: of energies that cancel in a correction's merit: smaller changes of it are noise
ROUNDING = 1.0e-12


@dataclass(frozen=True)
class PosedConJac:
    """The reduced step, factored and ready. Rows run over quasistatic nodes, then kept ones. [ConJac 11]"""

    owner: ConJac
    lin: Linearised
    stage: Stage
    hold: Hold
    frames: list[Frame]
    jacobian: Vec  #: J of the quasistatic rows on the kept ones, (3 q, 3 k)
    basis: Vec  #: kept velocities from the reduced unknowns, (3 k, r)
    reduced: Vec  #: Jᵀ (M − hD − βh²K) J in those unknowns, (r, r) [kg]
    impulse: Vec  #: its right-hand side, (r,) [N s]
    columns: Vec  #: −A_qq⁻¹ A_qk of all rows that were eliminated last, A = −K and its border, (3 q, 3 k + border)
    stiffness: Vec  #: Jᵀ K J, (3 k, 3 k) [N/m]
    follow: Follow | None  #: what prescribed nodes cause; None where all are still
    owed: Vec  #: −K⁻¹ (f, M R) across the dynamic unknowns, (3 (q + k), 1 + modes) [m], [m s²]
    besides: Vec | None = None  #: forces of impulses that f has not, (n, 3) [N]
    carry: Follow | None = None  #: what velocities of prescribed nodes for each rate of joints cause, (3 (q + k), c)

    def solve(self) -> Vec:
        """v = J v_d + w of the free nodes, (3 f,) [m/s]. [ConJac 7]"""
        kept = np.zeros(len(self.basis))
        if len(self.reduced):
            kept = self.basis @ scipy.linalg.solve(self.reduced, self.impulse, assume_a="pos")
        rows = np.concatenate([self.jacobian @ kept, kept])
        return self._on_free(rows if self.follow is None else rows + self.follow.rows)

    def correction(self, u: Vec) -> Vec:
        """γ b of f − M a, for positions only, (3 f,) [m/s]; a is the rigid part of the step's acceleration.

        What mass damping takes from a rigid motion is taken at each node and belongs to it. D does not else enter:
        the rest of D v dies out with v, and where the body rests f alone is balanced.

        [ConJac 12-13, changed: free fall and largest correction]
        """
        owner, rows = self.owner, self.owed[:, 0].reshape(-1, 3)
        if self.frames:
            inertial = self.owed[:, 1:].reshape(len(rows), 3, -1)
            rows = rows - np.einsum("pak,pk->pa", inertial, self._amplitudes(u)[owner.pattern.order])
        moved = np.zeros(self.lin.x.shape)
        moved[owner.pattern.order] = rows
        share = owner.at_most(owner.share(self.stage.h), moved)
        return self._on_free(share / (self.stage.b * self.stage.h) * rows.ravel())

    def _amplitudes(self, u: Vec) -> Vec:
        """The rigid part of the step's acceleration, and of what mass damping takes, along each motion, (n, modes)."""
        v = self.owner.mesh.coordinates.spread(u, self.stage.w)
        lost = (v - self.stage.v_hat) / (self.stage.a * self.stage.h)
        if self.lin.damped is not None:
            lost += (self.lin.damped.drag / self.lin.mass)[:, None] * v
        return self.owner.frames.amplitudes(self.frames, self.lin.mass, lost)

    def settle(self, q: Vec, u: Vec, evaluate: Evaluate, corrections: int | None = None) -> Vec:
        """Quasi-Newton steps of what balances towards f = M a on the kept factor, lowering W + M a · x.

        [ConJac 12, changed: several corrections, each with a line search]
        """
        owner = self.owner
        corrections = owner.corrections if corrections is None else corrections
        if not corrections:
            return q
        coordinates, time = owner.mesh.coordinates, self.stage.time
        x, v = coordinates.place(q, time), coordinates.spread(u, self.stage.w)
        carried = np.zeros_like(x)
        if self.frames:
            carried = np.einsum("kna,nk->na", owner.frames.loads(self.frames, self.lin.mass), self._amplitudes(u))
        if self.besides is not None:
            carried = carried - self.besides
        force, energy = evaluate(x, v, time)
        merit = energy + float(np.vdot(carried, x))
        # six digits do for a direction, and half the bytes are read in half the time
        solve = owner.in_single()
        noise = ROUNDING * (abs(energy) + float(np.abs(carried).sum() + np.abs(force).sum()) * float(np.ptp(x)))
        for _ in range(corrections):
            rest = force - carried
            moved = np.zeros_like(x)
            rows, _ = owner.balance(self, rest[:, :, None], lambda right: solve(right[:, 0])[:, None])
            moved[owner.pattern.order] = rows.reshape(-1, 3)
            slope = -float(np.vdot(rest, moved))
            share = owner.at_most(1.0, moved)
            for _ in range(TRIALS):
                trial = x + share * moved
                force, energy = evaluate(trial, v, time)
                lower = energy + float(np.vdot(carried, trial))
                if lower <= merit + 1.0e-4 * share * slope:
                    break
                # where rounding hides the fall of the energy, less unbalanced force is proof enough
                if lower <= merit + noise and _largest(force - carried, owner.inner) < _largest(rest, owner.inner):
                    break
                share *= 0.5
            else:
                break
            x, merit = trial, lower
        settled: Vec = x[coordinates.free].ravel()
        return settled

    def respond(self, impulses: Vec) -> Vec:
        """J (JᵀSJ)⁻¹ Jᵀ of impulses on the free nodes, both (3 f, c) [N s], [m/s]."""
        width, order = impulses.shape[1], self.owner.to_free
        rows = np.zeros((len(order), 3 * width))
        rows[order] = impulses.reshape(-1, 3 * width)
        kept = np.zeros((len(self.basis), width))
        if len(self.reduced):
            reduced = self.onto_basis(rows.reshape(-1, width))
            kept = self.basis @ scipy.linalg.solve(self.reduced, reduced, assume_a="pos")
        moved = np.concatenate([self.jacobian @ kept, kept]).reshape(-1, 3 * width)
        rates: Vec = moved[order].reshape(-1, width)
        return rates

    def at(self, lin: Linearised, stage: Stage) -> PosedConJac:
        """Another moment on the factor that is there, where nothing is dynamic: a quasi-Newton step. [ConJac 12]"""
        loads = lin.force[:, :, None]
        if stage.w is not None:
            loads = np.concatenate([loads, self.owner.loads.pull(lin, stage.w)[:, :, None]], axis=2)
        rows, left = self.owner.balance(replace(self, lin=lin), loads)
        follow = None if stage.w is None else Follow(rows[:, 1], left[:, 1])
        return replace(self, lin=lin, stage=stage, follow=follow, owed=rows[:, :1])

    def compliance(self, nodes: Index) -> Compliance:
        return compliance(self, nodes)

    def under(self, impulses: Vec) -> PosedConJac:
        force = impulses / (self.stage.a * self.stage.h)
        owed = self.owed.copy()
        owed[:, 0] += self.owner.balance(self, force[:, :, None])[0][:, 0]
        impulse = self.impulse + self.onto_basis(impulses[self.owner.pattern.order].ravel())
        besides = force if self.besides is None else self.besides + force
        return replace(self, impulse=impulse, owed=owed, besides=besides)

    def again(self, stage: Stage) -> PosedConJac:
        follow = self.follow
        if follow is not None and stage.w is not None and self.stage.w is not None:
            follow = self.owner.follow_on(self, stage.w - self.stage.w)
        return self.owner.load(replace(self, stage=stage, follow=follow))

    def onto_basis(self, momentum: Vec) -> Vec:
        """Jᵀ of an impulse on the rows (3 (q + k),), in the reduced unknowns, (r,) [N s]."""
        size = len(self.jacobian)
        reduced: Vec = self.basis.T @ (self.jacobian.T @ momentum[:size] + momentum[size:])
        return reduced

    def carried(self, kept: Vec) -> Vec:
        """Velocities of the free nodes when the kept ones have these, (3 k,) [m/s], and nothing else moves, (3 f,)."""
        return self._on_free(np.concatenate([self.jacobian @ kept, kept]))

    def _on_free(self, rows: Vec) -> Vec:
        rates: Vec = rows.reshape(-1, 3)[self.owner.to_free].ravel()
        return rates


class ConJac:
    """Condensation at the velocity level with stabilised positions. [ConJac Alg. 1]"""

    def __init__(self, mesh: Mesh, linear: LinearSolver, params: dict[str, float]) -> None:
        """params: beta, the factor on stiffness that sets damping; gamma, the share of b_q that a step removes, or
        settle_time, in which half of it is gone [s]; corrections, of positions after each step; adaptive, whether
        dynamic nodes may sleep, and liveliness_threshold [1/s] and liveliness_window [s], which tell when."""
        self.mesh, self.linear = mesh, linear
        self.beta, self.gamma = params["beta"], params["gamma"]
        self.settle_time, self.corrections = params["settle_time"], int(params["corrections"])
        prescribed, count = mesh.coordinates.prescribed, len(mesh.rest)
        self.loose = LooseParts(mesh.rest, mesh.parts, prescribed)
        self.anchors = Anchors(mesh.rest, mesh.parts, mesh.dynamic, prescribed)

        self.kept: Index = np.concatenate([mesh.dynamic, self.anchors.nodes]).astype(np.int32)
        quasistatic = np.setdiff1d(mesh.coordinates.free, self.kept)
        graph = node_graph(mesh.tets, count)[quasistatic][:, quasistatic]
        self.frames = Frames(self.loose, mesh.parts, count)
        border = 1 + self.frames.columns + (mesh.coordinates.motion is not None) + mesh.coordinates.carriers
        self.pattern = Pattern(mesh.tets, np.concatenate([quasistatic[linear.order(graph)], self.kept]), count, border)
        self._matrix = self.pattern.matrix()
        linear.analyse(self._matrix, 3 * len(self.kept) + border)
        self.edges = Edges(mesh.tets, mesh.rest)
        may_sleep = params["adaptive"] and len(mesh.dynamic)
        self.sleep = Sleep(mesh, params, self.kept, self.edges, self.share) if may_sleep else None
        self._all_awake = Hold(mesh, self.kept, np.arange(len(self.kept)) < len(mesh.dynamic))
        self._around_kept = Near(mesh.tets, self.kept, count)
        self.loads = Loads(mesh)
        # a pivot for the kept rows, whose Schur complement may be singular; J and K_qq⁻¹ do not depend on it
        self._kept_pivot = np.zeros(count)
        self._kept_pivot[self.kept] = mesh.stiffness

        self.inner = self.pattern.order[: len(quasistatic)]
        self._mass_rows = np.repeat(mesh.mass[self.pattern.order], 3)
        self._single: SingleFactor | None = None
        self._weighted = np.zeros((3 * len(quasistatic), 3 * len(self.kept)))
        self.to_free: Index = self.pattern.position[mesh.coordinates.free].astype(np.int32)

    def pose(self, lin: Linearised, stage: Stage, carried: Vec | None = None) -> PosedConJac:
        """Factor −K of the free nodes and reduce the stage. Raises NotPositiveDefinite. [ConJac 6, 11, 12]"""
        if self.sleep is not None and not lin.is_fresh:
            return self.sleep.resting(lin, stage)
        size, hold = 3 * len(self.kept), self._all_awake if self.sleep is None else self.sleep.hold(lin.memory)
        frames = self.frames.at(lin.x)
        border, columns = self._condensed(lin, stage, frames, carried)
        jacobian = columns[:, :size]

        # Jᵀ of the rows of K J, and of what the border's vectors leave: on quasistatic nodes that is next to nothing
        rows = self._kept_rows(lin, columns, np.eye(size, columns.shape[1]))
        rest = self.linear.left_of_condense()
        if rest is not None:
            rows += jacobian.T @ rest
        stiffness = 0.5 * (rows[:, :size] + rows[:, :size].T)
        left = rows[:, size:] + border[:, self.kept].reshape(len(border), size).T

        # along the rigid motions that nothing holds the anchors are dynamic, across them quasistatic
        basis, own = hold.split(lin.x, stiffness, left)
        inner, left = columns[:, size:] + jacobian @ own, left + stiffness @ own
        static = np.concatenate([inner, own])
        modes = 1 + self.frames.columns
        follow = Follow(static[:, modes], left[:, modes]) if stage.w is not None else None
        first = static.shape[1] - self.mesh.coordinates.carriers
        carry = None if carried is None else Follow(static[:, first:], left[:, first:])

        # S = M − ahD − βabh²K
        weight = self.weight(lin, stage)
        inertia = jacobian.T @ np.multiply(weight[: len(jacobian), None], jacobian, out=self._weighted)
        inertia[np.diag_indices(size)] += weight[len(jacobian) :]
        if lin.damped is not None and lin.damped.has_blocks:
            inertia -= stage.a * stage.h * self._damped(lin.damped, jacobian)
        inertia = 0.5 * (inertia + inertia.T)
        reduced = basis.T @ (inertia - stage.stiffness_and_share(lin) * stiffness) @ basis
        nothing = np.zeros(len(reduced))
        posed = self.load(PosedConJac(self, lin, stage, hold, frames, jacobian, basis, reduced, nothing, columns,
                                      stiffness, follow, static[:, :modes], carry=carry))
        if self.sleep is not None:
            self.sleep.keep(posed)
        return posed

    def join(self, lin: Linearised, stage: Stage, carried: Vec) -> Joined:
        """The same with joints that carry some nodes; raises as `pose` does. [ConJac MUSCLE]"""
        return join_conjac(self.pose(lin, stage, carried), carried)

    def _condensed(self, lin: Linearised, stage: Stage, frames: list[Frame],
                   carried: Vec | None) -> tuple[Vec, Vec]:
        """The border, (border, n, 3), and −A_qq⁻¹ A_qk of all rows that are eliminated last, on a new factor."""
        border = self._border(lin, stage, frames, carried)
        known = None if self.sleep is None else self.sleep.columns(lin, stage)
        if known is not None:
            return border, known
        self.pattern.gather(lin.blocks, lin.node_blocks, -1.0, self._kept_pivot)
        for k, vector in enumerate(border):
            pivot = self.mesh.stiffness + BORDER_PIVOT * float(np.vdot(vector, vector)) / self.mesh.stiffness
            self.pattern.put_border(k, -vector, pivot)
        self.linear.factor(self._matrix, lin.x[self.pattern.order])
        return border, self.linear.condense()

    def weight(self, lin: Linearised, stage: Stage) -> Vec:
        """M with the drag of D, on the rows (3 (q + k),) [kg]."""
        if lin.damped is None and stage.inertia == 1.0:
            return self._mass_rows
        return np.repeat(stage.weight(lin)[self.pattern.order], 3)

    def load(self, posed: PosedConJac) -> PosedConJac:
        """The stage with its right-hand side, Jᵀ (M v̂ + a h f − S w). [ConJac 11]"""
        lin, stage, follow = posed.lin, posed.stage, posed.follow
        momentum = self.loads.momentum(lin, stage)[self.pattern.order].ravel()
        if follow is not None:
            momentum -= self.weight(lin, stage) * follow.rows
            momentum[len(posed.jacobian) :] += stage.stiffness_and_share(lin) * follow.left
            if lin.damped is not None and lin.damped.has_blocks:
                columns = np.zeros((len(lin.mass), 3, 1))
                columns[self.pattern.order, :, 0] = follow.rows.reshape(-1, 3)
                columns[self.mesh.coordinates.prescribed, :, 0] = stage.w
                momentum += stage.a * stage.h * lin.damped.multiply(columns)[self.pattern.order].ravel()
        return replace(posed, impulse=posed.onto_basis(momentum))

    def share(self, h: float) -> float:
        """How much of b_q a step of h seconds removes: γ, or 1 − 2^(−h/τ) of a settle time τ."""
        return 1.0 - 2.0 ** (-h / self.settle_time) if self.settle_time > 0.0 else self.gamma

    def at_most(self, share: float, moved: Vec) -> float:
        """The share of a displacement (n, 3) that changes no edge by more than it may."""
        change = self.edges.largest_change(moved)
        return min(share, LARGEST_CORRECTION / change) if change > 0.0 else share

    def in_single(self) -> Callable[[Vec], Vec]:
        """Solves with the factor that is there now, copied in single precision where the linear solver shows it."""
        from ..linear.supernodal import inside_of  # its kernels are compiled beside those of the method

        inside = inside_of(self.linear)
        if inside is None:
            return self.linear.solve
        from ..linear.single import SingleFactor  # compiled for bakes that ask for it

        if self._single is None or not self._single.of(inside):
            self._single = SingleFactor(inside)
        self._single.copy()
        return self._single.solve

    def relax(self, posed: PosedConJac, loads: Vec, solve: Callable[[Vec], Vec] | None = None) -> Vec:
        """−K_qq⁻¹ of loads on the quasistatic rows, (3 q,) or (3 q, c) [m], the kept nodes held, on the last factor."""
        right = np.zeros((self.pattern.size, *loads.shape[1:]))
        right[: len(loads)] = loads
        solved = (solve or self.linear.solve)(right)
        rows: Vec = solved[: len(loads)] - posed.columns @ solved[len(loads) :]
        return rows

    def balance(self, posed: PosedConJac, loads: Vec, solve: Callable[[Vec], Vec] | None = None) -> tuple[Vec, Vec]:
        """−K⁻¹ of loads (n, 3, c) across the dynamic unknowns, (3 (q + k), c), and what is left of them on kept nodes,
        (3 k, c), on the factor that is there."""
        count = loads.shape[2]
        rows = self.relax(posed, loads[self.inner].reshape(-1, count), solve)
        own = np.zeros((3 * len(self.kept), count))
        left = self._kept_rows(posed.lin, rows, own) + loads[self.kept].reshape(own.shape)
        _, own = posed.hold.split(posed.lin.x, posed.stiffness, left)
        return np.concatenate([rows + posed.jacobian @ own, own]), left + posed.stiffness @ own

    def follow_on(self, posed: PosedConJac, change: Vec) -> Follow:
        """What prescribed nodes cause at velocities that differ by `change`, (p, 3), on the factor that is there."""
        assert posed.follow is not None
        rows, left = self.balance(posed, self.loads.pull(posed.lin, change)[:, :, None])
        return Follow(posed.follow.rows + rows[:, 0], posed.follow.left + left[:, 0])

    def _damped(self, damped: Damped, jacobian: Vec) -> Vec:
        """Jᵀ D J of the blocks that D has for itself, (3 k, 3 k) [N s/m]."""
        size = 3 * len(self.kept)
        columns = np.zeros((len(self.mesh.rest), 3, size))
        columns[self.inner] = jacobian.reshape(-1, 3, size)
        columns[self.kept] = np.eye(size).reshape(-1, 3, size)
        rows = damped.multiply(columns)[self.pattern.order].reshape(-1, size)
        product: Vec = jacobian.T @ rows[: len(jacobian)] + rows[len(jacobian) :]
        return product

    def _border(self, lin: Linearised, stage: Stage, frames: list[Frame], carried: Vec | None) -> Vec:
        """What borders −K: f, M R of the rigid motions, K w of moving prescribed nodes, K J_a of those that joints
        carry, (border, n, 3)."""
        vectors = [lin.force[None], self.frames.loads(frames, lin.mass)]
        if stage.w is not None:
            vectors.append(self.loads.pull(lin, stage.w)[None])
        if carried is not None:
            vectors.append(self.loads.pulls(lin, carried).transpose(2, 0, 1))
        border: Vec = np.concatenate(vectors)
        return border

    def _kept_rows(self, lin: Linearised, inner: Vec, own: Vec) -> Vec:
        """K_kq inner + K_kk own: kept rows of K times columns, quasistatic rows (3 q, c) and kept ones (3 k, c).

        Of J and 1 they are Jᵀ K J, negative semi-definite. [ConJac 11]
        """
        near = self._around_kept
        rows = self.pattern.position[near.nodes]
        columns = np.zeros((len(near.nodes), 3, inner.shape[1]))
        is_inner, is_kept = (rows >= 0) & (rows < len(self.inner)), rows >= len(self.inner)
        columns[is_inner] = inner[3 * rows[is_inner, None] + np.arange(3)]
        columns[is_kept] = own.reshape(-1, 3, own.shape[1])[rows[is_kept] - len(self.inner)]
        product: Vec = near.multiply(lin, columns)[near.place[self.kept]]
        return product.reshape(own.shape)


def _largest(forces: Vec, nodes: Index) -> float:
    """The largest component at some nodes."""
    return float(np.abs(forces[nodes]).max(initial=0.0))
