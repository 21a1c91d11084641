"""Rigid motions that prescribed nodes permit: the null vectors of K_qq at rest.

A face-connected part with three prescribed nodes that are not on a line is firm. Parts with fewer are floating; those
that share a node (joined by a vertex or an edge) form one group, which has as many rigid motions as its prescribed and
shared nodes permit: six without any, three around one node, one around a line. [ConJac 6, changed: rigid modes]
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from ..state import Index, Vec

ON_A_LINE = 1.0e-3  #: nodes are on a line where they leave it by less than this fraction of their part's width


@dataclass(frozen=True)
class Group:
    """A group of floating parts that share nodes."""

    parts: list[Index]  #: nodes of each part
    owned: list[Index]  #: nodes of each part, with each shared node in one part only
    prescribed: list[Index]  #: nodes of each part that are prescribed, or belong to a firm part as well
    shared: list[tuple[int, int, int]]  #: (part, other part, node)
    size: float  #: largest extent of a part at rest [m]
    modes: int  #: number of rigid motions


def spread_of(points: Vec) -> Vec:
    """Return the three extents of a cloud of points (k, 3) [m], descending, (3,): two are zero on a line, one in a
    plane."""
    if len(points) < 2:
        return np.zeros(3)
    values = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    return np.pad(values, (0, 3 - len(values)))


def width_of(points: Vec) -> float:
    """Return the second largest extent of a body's points (k, 3) [m]: the thickness of a rope, whatever its length."""
    arms = points - points.mean(axis=0)
    along = arms @ np.linalg.svd(arms, full_matrices=False)[2].T
    return float(np.ptp(along, axis=0)[1])


def is_firm(points: Vec, width: float) -> bool:
    """Whether these prescribed points, (k, 3) [m], permit a body of this width [m] no rigid motion."""
    return bool(spread_of(points)[1] > ON_A_LINE * width)


class FloatingParts:
    """Groups of floating parts of a mesh with some prescribed nodes."""

    def __init__(self, rest: Vec, parts: list[Index], prescribed: Index) -> None:
        """rest: (n, 3) [m]. parts: nodes of each face-connected part. prescribed: nodes that do not move freely."""
        is_prescribed = np.zeros(len(rest), dtype=bool)
        is_prescribed[prescribed] = True
        floating = [k for k, part in enumerate(parts)
                    if not is_firm(rest[part[is_prescribed[part]]], width_of(rest[part]))]

        owners = np.bincount(np.concatenate(parts), minlength=len(rest)) if parts else np.zeros(0, int)
        in_floating = owners
        if floating:
            in_floating = np.bincount(np.concatenate([parts[k] for k in floating]), minlength=len(rest))
        is_placed = is_prescribed | (owners > in_floating)
        self.groups = [
            _group(rest, [parts[k] for k in members], is_placed)
            for members in _group_connected(parts, floating, len(rest))
        ]

    @cached_property
    def unconstrained(self) -> list[Index]:
        """Return the nodes of each group of parts that has no prescribed node, not even through another part,
        ascending."""
        return [np.unique(np.concatenate(group.parts)) for group in self.groups
                if not any(len(prescribed) for prescribed in group.prescribed)]

    def twists(self, group: Group, x: Vec) -> tuple[Vec, list[Vec]]:
        """Return null vectors (6 p, modes), orthonormal, and the parts' centres [m], of a group at positions x (n, 3)
        [m].

        A twist is (velocity of the centre, angular velocity times the group's size) of each part.
        """
        rows, centres = _rows(x, group)
        width = 6 * len(group.parts)
        if not len(rows):
            return np.eye(width), centres
        return np.linalg.eigh(rows.T @ rows)[1][:, : group.modes], centres


def evaluate_rigid_field(points: Vec, centre: Vec, size: float) -> Vec:
    """Return the velocity of points (n, 3) [m] for each entry of a twist about a centre (3,) [m], (n, 3, 6). size: by
    which angular velocities are multiplied in a twist [m]."""
    field = np.zeros((len(points), 3, 6))
    field[:, 0, 0] = field[:, 1, 1] = field[:, 2, 2] = 1.0
    arm = (points - centre) / size
    field[:, 0, 4], field[:, 0, 5] = arm[:, 2], -arm[:, 1]
    field[:, 1, 3], field[:, 1, 5] = -arm[:, 2], arm[:, 0]
    field[:, 2, 3], field[:, 2, 4] = arm[:, 1], -arm[:, 0]
    return field


def _group_connected(parts: list[Index], floating: list[int], count: int) -> list[list[int]]:
    """Return the numbers of the floating parts by group: parts that share nodes are in one group."""
    if not floating:
        return []
    rows = np.concatenate([np.full(len(parts[k]), i) for i, k in enumerate(floating)])
    columns = np.concatenate([parts[k] for k in floating])
    incidence = sp.coo_matrix((np.ones(len(rows)), (rows, columns)), shape=(len(floating), count)).tocsr()
    groups, labels = connected_components(incidence @ incidence.T, directed=False)
    return [[floating[i] for i in np.flatnonzero(labels == g)] for g in range(groups)]


def _group(rest: Vec, parts: list[Index], is_placed: NDArray[np.bool_]) -> Group:
    """Return the group of some parts, with the number of its rigid motions.

    rest: positions of all nodes, (n, 3) [m]. parts: nodes of each. is_placed: whether each node is prescribed, (n,).
    """
    owned, shared = [], []
    owner: dict[int, int] = {}
    for k, part in enumerate(parts):
        common = [node for node in part[~is_placed[part]].tolist() if node in owner] if len(parts) > 1 else []
        shared += [(owner[node], k, node) for node in common]
        owned.append(np.setdiff1d(part, np.array(common, dtype=part.dtype)))
        if len(parts) > 1:
            owner.update((node, k) for node in owned[-1].tolist())
    prescribed = [part[is_placed[part]] for part in parts]
    group = Group(parts, owned, prescribed, shared, max(float(np.ptp(rest[part], axis=0).max()) for part in parts), 0)
    if len(parts) == 1:
        return replace(group, modes=_modes_of_one(rest[prescribed[0]], width_of(rest[parts[0]])))
    rows, _ = _rows(rest, group)
    firm = int((np.linalg.svd(rows, compute_uv=False) > ON_A_LINE).sum())
    return replace(group, modes=6 * len(parts) - firm)


def _modes_of_one(prescribed: Vec, width: float) -> int:
    """Return the number of rigid motions that prescribed points (k, 3) [m] permit one part: one where they are on a
    line, however near each other."""
    if not len(prescribed):
        return 6
    if is_firm(prescribed, width):
        return 0
    return 1 if spread_of(prescribed)[0] > 1.0e-9 * width else 3


def _rows(x: Vec, group: Group) -> tuple[Vec, list[Vec]]:
    """Return constraints on the group's twists, by which prescribed nodes do not move and shared nodes have one
    velocity, and the parts' centres [m]."""
    centres = [x[part].mean(axis=0) for part in group.parts]
    blocks = []
    for k, nodes in enumerate(group.prescribed):
        block = np.zeros((len(nodes), 3, 6 * len(centres)))
        block[:, :, 6 * k : 6 * k + 6] = evaluate_rigid_field(x[nodes], centres[k], group.size)
        blocks.append(block.reshape(-1, block.shape[2]))
    for first, second, node in group.shared:
        block = np.zeros((3, 6 * len(centres)))
        block[:, 6 * first : 6 * first + 6] = evaluate_rigid_field(x[node][None], centres[first], group.size)[0]
        block[:, 6 * second : 6 * second + 6] = -evaluate_rigid_field(x[node][None], centres[second], group.size)[0]
        blocks.append(block)
    return np.concatenate(blocks) if blocks else np.zeros((0, 6 * len(centres))), centres
