"""ConJac: velocities of the quasistatic nodes follow the dynamic ones, v_q = J_qd v_d. [ConJac Alg. 1]

The kept nodes, dynamic ones and anchors, are eliminated last, so one factorization of −K and one backward solve give
J. The static residual, and the pull of moving prescribed nodes, border −K as further kept rows: their columns of the
same solve are b_q and w_q, without a forward solve. Anchors are three or fewer nodes of each part that the dynamic and
prescribed nodes do not hold: K_qq of the rest is then regular, and what the anchors really owe, the part's rigid
motions, is sorted out exactly in the small dense system: along the rigid motions they are dynamic, across them
quasistatic.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from ..assembly.edges import Edges
from ..assembly.linearised import Linearised, Near
from ..assembly.pattern import Pattern, node_graph
from ..coordinates.rigid import LooseParts
from ..linear.interface import LinearSolver
from ..state import Index, Vec
from .anchors import Anchors
from .full import stiffness_times_prescribed
from .interface import Mesh, Stage

#: one correction changes no edge by more than this share of its length. A Newton step from far away would: a soft body
#: that stands on its feet falls over in one step, out of reach of the linearisation that asked for it
LARGEST_CORRECTION = 0.5

#: diagonal of the border, far above gᵀ K⁻¹ g of any residual g [N m]; no answer depends on it
BORDER_PIVOT = 1.0e30


@dataclass(frozen=True)
class PosedConJac:
    """The reduced step, factored and ready. Rows run over quasistatic nodes, then kept ones. [ConJac 11]"""

    to_free: Index  #: row of each free node, (f,)
    jacobian: Vec  #: J of the quasistatic rows on the kept ones, (3 q, 3 k)
    basis: Vec  #: kept velocities from the reduced unknowns, (3 k, r)
    reduced: Vec  #: Jᵀ (M − βh²K) J in those unknowns, (r, r) [kg]
    impulse: Vec  #: its right-hand side, (r,) [N s]
    follow: tuple[Vec, Vec] | None  #: velocities that prescribed nodes cause, (3 q,) and (3 k,) [m/s]
    owed: tuple[Vec, Vec]  #: γ b, (3 q,) and (3 k,) [m/s]

    def solve(self) -> Vec:
        """v = J v_d + w of the free nodes, (3 f,) [m/s]. [ConJac 7]"""
        kept = self.basis @ scipy.linalg.solve(self.reduced, self.impulse, assume_a="pos") if len(self.reduced) else 0.0
        inner, own = self.follow or (0.0, np.zeros(len(self.basis)))
        kept = kept + own
        return self._on_free(self.jacobian @ kept + inner, kept)

    def correction(self) -> Vec:
        """γ b_q, for positions only, (3 f,) [m/s]. [ConJac 13]"""
        return self._on_free(*self.owed)

    def _on_free(self, inner: Vec, kept: Vec) -> Vec:
        rates: Vec = np.concatenate([inner, kept]).reshape(-1, 3)[self.to_free].ravel()
        return rates


class ConJac:
    """Condensation at the velocity level with stabilised positions. [ConJac Alg. 1]"""

    def __init__(self, mesh: Mesh, linear: LinearSolver, params: dict[str, float]) -> None:
        """params: beta, the factor on stiffness that sets damping; gamma, the share of b_q that a step removes."""
        self.mesh, self.linear = mesh, linear
        self.beta, self.gamma = params["beta"], params["gamma"]
        prescribed, count = mesh.coordinates.prescribed, len(mesh.rest)
        self.loose = LooseParts(mesh.rest, mesh.parts, prescribed)
        self.anchors = Anchors(mesh.rest, mesh.parts, mesh.dynamic, prescribed)

        self.kept: Index = np.concatenate([mesh.dynamic, self.anchors.nodes]).astype(np.int32)
        quasistatic = np.setdiff1d(mesh.coordinates.free, self.kept)
        graph = node_graph(mesh.tets, count)[quasistatic][:, quasistatic]
        border = 1 if mesh.coordinates.motion is None else 2
        self.pattern = Pattern(mesh.tets, np.concatenate([quasistatic[linear.order(graph)], self.kept]), count, border)
        self._matrix = self.pattern.matrix()
        linear.analyse(self._matrix, 3 * len(self.kept) + border)
        self._around_kept = Near(mesh.tets, self.kept, count)
        self._around_prescribed = Near(mesh.tets, prescribed, count)
        # a pivot for the kept rows, whose Schur complement may be singular; J and K_qq⁻¹ do not depend on it
        self._kept_pivot = np.zeros(count)
        self._kept_pivot[self.kept] = mesh.stiffness

        self._edges = Edges(mesh.tets, mesh.rest)
        self._inner = self.pattern.order[: len(quasistatic)]
        self._to_free: Index = self.pattern.position[mesh.coordinates.free].astype(np.int32)
        self._mass_inner, self._mass_kept = np.repeat(mesh.mass[self._inner], 3), np.repeat(mesh.mass[self.kept], 3)
        self._root_mass = np.sqrt(self._mass_inner)[:, None]

    def pose(self, lin: Linearised, stage: Stage) -> PosedConJac:
        """Factor −K of the free nodes and reduce the step. Raises NotPositiveDefinite. [ConJac 6, 11, 12]"""
        size = 3 * len(self.kept)
        static, pull = self._fill(lin, stage)
        self.linear.factor(self._matrix)
        columns = self.linear.condense()
        jacobian = columns[:, :size]

        # rows of K [J, b, w] on the kept nodes; those on quasistatic nodes are known
        rows = self._kept_rows(lin, columns)
        stiffness = 0.5 * (rows[:, :size] + rows[:, :size].T)
        owed = columns[:, size], np.zeros(size)
        follow, pulled = None, np.zeros(size)
        if pull is not None:
            follow, pulled = (columns[:, size + 1], np.zeros(size)), rows[:, size + 1] + pull[self.kept].ravel()

        # along the rigid motions that nothing holds the anchors are dynamic, across them quasistatic
        basis = np.eye(size)
        if len(self.anchors.nodes):
            basis, across, compliance = self.anchors.split(lin.x, stiffness, len(self.mesh.dynamic))
            relax = across @ compliance @ across.T
            own = relax @ (static[self.kept].ravel() + rows[:, size])
            owed = owed[0] + jacobian @ own, own
            if follow is not None:
                own = relax @ pulled
                follow, pulled = (follow[0] + jacobian @ own, own), pulled + stiffness @ own

        # Jᵀ (M − βh²K) J u = Jᵀ (M v⁰ + h f − S w)
        factor = self.beta * stage.h**2
        weighted = self._root_mass * jacobian
        inertia = weighted.T @ weighted
        inertia[np.diag_indices(size)] += self._mass_kept
        momentum = lin.mass[:, None] * stage.v_hat + stage.h * lin.force
        inner, kept = momentum[self._inner].ravel(), momentum[self.kept].ravel() + factor * pulled
        if follow is not None:
            inner, kept = inner - self._mass_inner * follow[0], kept - self._mass_kept * follow[1]
        share = self._share_of(owed) / stage.h
        return PosedConJac(
            self._to_free, jacobian, basis, basis.T @ (inertia - factor * stiffness) @ basis,
            basis.T @ (jacobian.T @ inner + kept), follow, (share * owed[0], share * owed[1]),
        )

    def _fill(self, lin: Linearised, stage: Stage) -> tuple[Vec, Vec | None]:
        """Fill −K and its border; returns f − M a, what balances at rest, and K w of moving prescribed nodes, (n, 3).

        a is the rigid acceleration of what nothing holds, so that a falling body does not stretch.
        [ConJac 12, changed: free fall]
        """
        self.pattern.gather(lin.blocks, lin.node_blocks, -1.0, self._kept_pivot)
        static = lin.force
        if self.loose.groups:
            static = static - lin.mass[:, None] * self.loose.acceleration(lin.x, lin.mass, lin.force)
        self.pattern.put_border(0, -static, BORDER_PIVOT)
        if stage.w is None:
            return static, None
        pull = stiffness_times_prescribed(self._around_prescribed, lin, self.mesh, stage.w)
        self.pattern.put_border(1, -pull, BORDER_PIVOT)
        return static, pull

    def _share_of(self, owed: tuple[Vec, Vec]) -> float:
        """γ, or less where h γ b would change an edge too much. owed: h b of both kinds of rows [m].

        [ConJac 13, changed: largest correction]
        """
        moved = np.zeros(self.mesh.rest.shape)
        moved[self.pattern.order] = np.concatenate(owed).reshape(-1, 3)
        change = self._edges.largest_change(moved)
        return min(self.gamma, LARGEST_CORRECTION / change) if change > 0.0 else self.gamma

    def _kept_rows(self, lin: Linearised, inner: Vec) -> Vec:
        """K_kk [I, 0] + K_kq inner: kept rows of K times columns that are `inner`, (3 q, 3 k + c), on quasistatic rows.

        The first 3 k of them are Jᵀ K J, negative semi-definite. [ConJac 11]
        """
        near, size = self._around_kept, 3 * len(self.kept)
        rows = self.pattern.position[near.nodes]
        columns = np.zeros((len(near.nodes), 3, inner.shape[1]))
        is_inner, is_kept = (rows >= 0) & (rows < len(self._inner)), rows >= len(self._inner)
        columns[is_inner] = inner[3 * rows[is_inner, None] + np.arange(3)]
        columns[is_kept] = np.eye(size, inner.shape[1]).reshape(-1, 3, inner.shape[1])[rows[is_kept] - len(self._inner)]
        product: Vec = near.multiply(lin, columns)[near.place[self.kept]]
        return product.reshape(size, inner.shape[1])
