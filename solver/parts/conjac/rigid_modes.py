"""Dynamic nodes among the retained ones. Anchors and sleeping nodes are dynamic along rigid motions only, and
quasistatic across them."""

from __future__ import annotations

import numpy as np

from ...coordinates.floating import FloatingParts, Group, evaluate_rigid_field
from ...state import Index, Mask, Vec
from ..interface import Mesh


class RigidModeBasis:
    """Choice of dynamic nodes among the retained ones, of which the others constrain floating parts."""

    def __init__(self, mesh: Mesh, retained: Index, awake: Mask, patches: Mask | None = None) -> None:
        """Choose the dynamic nodes. retained: (k,) nodes that, with the prescribed ones, constrain every part. awake:
        mask of the dynamic ones, (k,). patches: mask of the dynamic patches, (p,); None: all."""
        self.patches = patches  #: mask of the dynamic ones, (p,); None: all
        fixed = np.concatenate([retained[awake], mesh.coordinates.prescribed])
        self.floating = FloatingParts(mesh.rest, mesh.parts, fixed)
        self._nodes = retained[~awake]
        self._dynamic, self._rows = rows_of(np.flatnonzero(awake)), rows_of(np.flatnonzero(~awake))
        index = {node: i for i, node in enumerate(self._nodes.tolist())}
        own = [[np.intersect1d(part, self._nodes) for part in group.owned] for group in self.floating.groups]
        #: of each group and part: the nodes that constrain it, and their numbers among all of these
        self._owned = [[(nodes, [index[node] for node in nodes.tolist()]) for nodes in of_group] for of_group in own]

    @property
    def unknowns(self) -> int:
        """Return the number of unknowns of a reduced step."""
        return len(self._dynamic) + sum(group.modes for group in self.floating.groups)

    @property
    def holds(self) -> bool:
        """Whether some retained nodes are not dynamic, so that they constrain floating parts."""
        return len(self._nodes) > 0

    def split(self, x: Vec, stiffness: Vec, left: Vec) -> tuple[Vec, Vec]:
        """Return velocities of the retained nodes by the reduced unknowns, (3 k, r), and their displacements by loads,
        (3 k, c).

        The reduced unknowns are the velocities of the dynamic nodes and the amplitudes of the other retained nodes
        along rigid motions. The displacements are of these others, across the rigid motions, and leave no load there.
        x: positions, (n, 3) [m]. stiffness: Jᵀ K J on the retained nodes, (3 k, 3 k) [N/m]. left: residual of the loads
        on the retained nodes once the quasistatic nodes are in equilibrium, (3 k, c). [ConJac 6, changed: rigid modes]
        """
        size, first = len(stiffness), len(self._dynamic)
        basis = np.zeros((size, first))
        basis[self._dynamic, np.arange(first)] = 1.0
        if not len(self._nodes):
            return basis, np.zeros_like(left)
        whole, count = self._along(x)
        rigid, across = np.zeros((size, count)), np.zeros((size, len(self._rows) - count))
        rigid[self._rows], across[self._rows] = whole[:, :count], whole[:, count:]
        compliance = np.linalg.inv(-across.T @ stiffness @ across)
        relax = across @ (0.5 * (compliance + compliance.T)) @ across.T
        basis = np.concatenate([basis, rigid], axis=1)
        return basis + relax @ stiffness @ basis, relax @ left

    def amplitudes(self, x: Vec, retained: Vec) -> Vec:
        """Return the reduced unknowns, (r,), of velocities of the retained nodes, (3 k,), at positions x, (n, 3) [m]:
        the inverse of the basis of `split`."""
        whole, count = self._along(x) if len(self._nodes) else (np.zeros((0, 0)), 0)
        return np.concatenate([retained[self._dynamic], whole[:, :count].T @ retained[self._rows]])

    def _along(self, x: Vec) -> tuple[Vec, int]:
        """Return an orthonormal basis of velocities of the constraining nodes at positions x, (n, 3) [m], and the
        number of its rigid columns, which are the first ones."""
        along = [self._build_rigid_motions(group, owned, x) for group, owned in zip(self.floating.groups, self._owned)]
        whole, _ = np.linalg.qr(np.concatenate([np.zeros((len(self._rows), 0)), *along], axis=1), mode="complete")
        return whole, sum(field.shape[1] for field in along)

    def _build_rigid_motions(self, group: Group, owned: list[tuple[Index, list[int]]], x: Vec) -> Vec:
        """Return velocities of all constraining nodes under this group's rigid motions, (3 nodes, modes)."""
        twists, centres = self.floating.twists(group, x)
        out = np.zeros((len(self._nodes), 3, twists.shape[1]))
        for k, ((nodes, rows), centre) in enumerate(zip(owned, centres)):
            out[rows] = evaluate_rigid_field(x[nodes], centre, group.size) @ twists[6 * k : 6 * k + 6]
        return out.reshape(3 * len(self._nodes), -1)


def rows_of(indices: Index) -> Index:
    """Return the three rows of each node, (3 n,). indices: of the nodes among the rows' nodes, (n,)."""
    rows: Index = (3 * indices[:, None] + np.arange(3)).ravel()
    return rows
