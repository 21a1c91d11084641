"""Nodes that hold what the dynamic and prescribed nodes leave loose, and the rigid motions they stand for."""

from __future__ import annotations

import numpy as np

from ..coordinates.rigid import Group, LooseParts, is_firm, rigid_field, spread_of, width_of
from ..state import Index, Vec


class Anchors:
    """Up to three nodes for each loose part; K_qq of the remaining nodes is regular."""

    def __init__(self, rest: Vec, parts: list[Index], dynamic: Index, prescribed: Index) -> None:
        """rest: (n, 3) [m]. parts: nodes of each face-connected part. dynamic, prescribed: nodes that hold."""
        held = np.concatenate([dynamic, prescribed])
        self.loose = LooseParts(rest, parts, held)
        chosen: list[int] = []
        for group in self.loose.groups:
            for part in group.parts:
                chosen += _choose(rest, part, np.concatenate([held, np.array(chosen, dtype=held.dtype)]))
        self.nodes: Index = np.array(chosen, dtype=np.int32)
        place = {node: i for i, node in enumerate(chosen)}
        mine = [[np.intersect1d(part, self.nodes) for part in group.owned] for group in self.loose.groups]
        #: of each group and part: its anchors, and where they stand among all anchors
        self._owned = [[(nodes, [place[node] for node in nodes.tolist()]) for nodes in of_group] for of_group in mine]

    def split(self, x: Vec, stiffness: Vec, dynamic: int, left: Vec) -> tuple[Vec, Vec]:
        """Velocities of the kept nodes: dynamic along the rigid motions, quasistatic across them.

        x: (n, 3) [m]. stiffness: Jᵀ K J on the kept nodes, dynamic ones first, (3 k, 3 k) [N/m]. left: what loads
        leave on the kept nodes once the quasistatic nodes balance, (3 k, c).
        Returns (basis (3 k, r), own (3 k, c)): kept velocities from the reduced unknowns, which are the dynamic nodes'
        and the anchors' amplitudes along rigid motions; and how the anchors give way across them so that no load is
        left there. [ConJac 6, changed: rigid modes]
        """
        size = len(stiffness)
        first = 3 * dynamic
        basis = np.zeros((size, first))
        basis[:first] = np.eye(first)
        along = [self._rigid(group, owned, x) for group, owned in zip(self.loose.groups, self._owned)]
        rigid = np.zeros((size, sum(field.shape[1] for field in along)))
        rigid[first:] = np.concatenate(along, axis=1)
        count = rigid.shape[1]
        whole, _ = np.linalg.qr(rigid[first:], mode="complete")
        across = np.zeros((size, size - first - count))
        across[first:] = whole[:, count:]
        rigid[first:] = whole[:, :count]
        compliance = np.linalg.inv(-across.T @ stiffness @ across)
        relax = across @ (0.5 * (compliance + compliance.T)) @ across.T
        basis = np.concatenate([basis, rigid], axis=1)
        return basis + relax @ stiffness @ basis, relax @ left

    def _rigid(self, group: Group, owned: list[tuple[Index, list[int]]], x: Vec) -> Vec:
        """Velocities of all anchors under this group's rigid motions, (3 anchors, modes)."""
        twists, centres = self.loose.twists(group, x)
        out = np.zeros((len(self.nodes), 3, twists.shape[1]))
        for k, ((mine, rows), centre) in enumerate(zip(owned, centres)):
            out[rows] = rigid_field(x[mine], centre, group.size) @ twists[6 * k : 6 * k + 6]
        return out.reshape(3 * len(self.nodes), -1)


def _choose(rest: Vec, part: Index, held: Index) -> list[int]:
    """Nodes of a part that make it firm together with those held: each as far as can be from the earlier ones."""
    have = rest[np.intersect1d(part, held)]
    width = width_of(rest[part])
    chosen: list[int] = []
    while not is_firm(have, width):
        origin = have.mean(axis=0) if len(have) else rest[part].mean(axis=0)
        away = rest[part] - origin
        if len(have) > 1 and spread_of(have)[0] > 0.0:
            axis = np.linalg.svd(have - origin)[2][0]
            away = away - np.outer(away @ axis, axis)
        node = int(part[np.argmax(np.einsum("ni,ni->n", away, away))])
        chosen.append(node)
        have = np.concatenate([have, rest[[node]]])
    return chosen
