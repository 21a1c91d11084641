"""ConJac: velocities of the quasistatic nodes follow the dynamic ones, v_q = J_qd v_d. [ConJac Alg. 1]

The kept nodes, dynamic ones and anchors, are eliminated last, so one factorization of −K and one backward solve give
J. Anchors are three or fewer nodes of each part that the dynamic and prescribed nodes do not hold: K_qq of the rest is
then regular, and what the anchors really owe, the part's rigid motions, is sorted out exactly in the small dense
system: along the rigid motions they are dynamic, across them quasistatic.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from ..assembly.linearised import Linearised, Near
from ..assembly.pattern import Pattern, node_graph
from ..coordinates.rigid import LooseParts
from ..linear.interface import LinearSolver
from ..state import Index, Vec
from .anchors import Anchors
from .full import stiffness_times_prescribed
from .interface import Mesh, Stage


@dataclass(frozen=True)
class PosedConJac:
    """The reduced step, factored and ready. [ConJac 11]"""

    free: Index
    count: int
    order: Index  #: quasistatic nodes, then the kept ones
    jacobian: Vec  #: J of the quasistatic rows on the kept ones, (3 q, 3 k)
    basis: Vec  #: kept velocities from the reduced unknowns, (3 k, r)
    reduced: Vec  #: Jᵀ (M − βh²K) J in those unknowns, (r, r) [kg]
    impulse: Vec  #: its right-hand side, (r,) [N s]
    follow: Vec  #: velocities of quasistatic rows that prescribed nodes cause, (3 q,) [m/s]
    follow_kept: Vec  #: the same of the kept rows (anchors only), (3 k,) [m/s]
    owed: Vec  #: γ b of all rows in elimination order, (3 (q + k),) [m/s]

    def solve(self) -> Vec:
        """v = J v_d + w of the free nodes, (3 f,) [m/s]. [ConJac 7]"""
        kept = self.follow_kept
        if len(self.reduced):
            kept = kept + self.basis @ scipy.linalg.solve(self.reduced, self.impulse, assume_a="pos")
        return self._nodes(np.concatenate([self.jacobian @ kept + self.follow, kept]))

    def correction(self) -> Vec:
        """γ b_q, for positions only, (3 f,) [m/s]. [ConJac 13]"""
        return self._nodes(self.owed)

    def _nodes(self, rows: Vec) -> Vec:
        out = np.zeros((self.count, 3))
        out[self.order] = rows.reshape(-1, 3)
        return out[self.free].ravel()


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
        self.pattern = Pattern(mesh.tets, np.concatenate([quasistatic[linear.order(graph)], self.kept]), count)
        self._matrix = self.pattern.matrix()
        linear.analyse(self._matrix, 3 * len(self.kept))
        self._around_kept = Near(mesh.tets, self.kept, count)
        self._around_prescribed = Near(mesh.tets, prescribed, count)
        # a pivot for the kept rows, whose Schur complement may be singular; J and K_qq⁻¹ do not depend on it
        self._kept_pivot = np.zeros(count)
        self._kept_pivot[self.kept] = mesh.stiffness

    def pose(self, lin: Linearised, stage: Stage) -> PosedConJac:
        """Factor −K of the free nodes and reduce the step. Raises NotPositiveDefinite. [ConJac 6, 11, 12]"""
        order, kept = self.pattern.order, self.kept
        inner = order[: len(order) - len(kept)]
        self.pattern.gather(lin.blocks, lin.node_blocks, -1.0, self._kept_pivot)
        self.linear.factor(self._matrix)

        # one solve: J of the kept nodes, what static forces owe, what prescribed nodes drag along
        rigid = self.loose.acceleration(lin.x, lin.mass, lin.force)
        static = lin.force - lin.mass[:, None] * rigid
        pull = None if stage.w is None else stiffness_times_prescribed(self._around_prescribed, lin, self.mesh, stage.w)
        sides = [static] if pull is None else [static, pull]
        jacobian, answers = self.linear.condense(np.stack([side[inner].ravel() for side in sides], axis=1))
        owed, follow = answers[:, 0], answers[:, 1] if pull is not None else np.zeros(3 * len(inner))

        # rows of K J and K w on the kept nodes; those on quasistatic nodes vanish
        stiffness = self._kept_rows(lin, jacobian)
        pulled = self._kept_rows_of(lin, follow[:, None], np.zeros((3 * len(kept), 1)))[:, 0]
        if pull is not None:
            pulled += pull[kept].ravel()

        # along the rigid motions the anchors are dynamic, across them quasistatic
        basis, across, compliance = self.anchors.split(lin.x, stiffness, len(self.mesh.dynamic))
        follow_kept = across @ (compliance @ (across.T @ pulled))
        follow = follow + jacobian @ follow_kept
        pulled = pulled + stiffness @ follow_kept
        owed_kept = across @ (compliance @ (across.T @ (static[kept].ravel() + jacobian.T @ static[inner].ravel())))
        owed = np.concatenate([owed + jacobian @ owed_kept, owed_kept]) * (self.gamma / stage.h)

        # Jᵀ (M − βh²K) J u = Jᵀ (M v⁰ + h f − S w)
        factor = self.beta * stage.h**2
        mass_inner, mass_kept = np.repeat(lin.mass[inner], 3), np.repeat(lin.mass[kept], 3)
        weighted = np.sqrt(mass_inner)[:, None] * jacobian
        inertia = weighted.T @ weighted
        inertia[np.diag_indices(len(mass_kept))] += mass_kept
        momentum = lin.mass[:, None] * stage.v_hat + stage.h * lin.force
        right = jacobian.T @ (momentum[inner].ravel() - mass_inner * follow)
        right += momentum[kept].ravel() - mass_kept * follow_kept + factor * pulled
        return PosedConJac(
            self.mesh.coordinates.free, len(lin.x), order, jacobian, basis,
            basis.T @ (inertia - factor * stiffness) @ basis, basis.T @ right, follow, follow_kept, owed,
        )

    def _kept_rows(self, lin: Linearised, jacobian: Vec) -> Vec:
        """Jᵀ K J = K_kk + K_kq J, (3 k, 3 k) [N/m], negative semi-definite. [ConJac 11]"""
        rows = self._kept_rows_of(lin, jacobian, np.eye(3 * len(self.kept)))
        return 0.5 * (rows + rows.T)

    def _kept_rows_of(self, lin: Linearised, inner: Vec, kept: Vec) -> Vec:
        """Kept rows of K times columns given on quasistatic (3 q, c) and kept (3 k, c) rows."""
        near = self._around_kept
        rows = self.pattern.position[near.nodes]
        columns = np.zeros((len(near.nodes), 3, inner.shape[1]))
        border = len(self.pattern.order) - len(self.kept)
        is_inner = (rows >= 0) & (rows < border)
        columns[is_inner] = inner[3 * rows[is_inner, None] + np.arange(3)]
        is_kept = rows >= border
        columns[is_kept] = kept[3 * (rows[is_kept, None] - border) + np.arange(3)]
        product: Vec = near.multiply(lin, columns)[near.place[self.kept]]
        return product.reshape(3 * len(self.kept), inner.shape[1])
