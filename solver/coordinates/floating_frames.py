"""The rigid motion of unconstrained bodies as a moving frame, in which force less inertia is balanced.

The weight of a falling body accelerates it. Left in the static residual, this weight would hang the quasistatic nodes
from the dynamic ones. [ConJac 12, changed: free fall]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ..state import Index, Vec
from .floating import FloatingParts, evaluate_rigid_field


@dataclass(frozen=True)
class Frame:
    """Rigid motions of one group at given positions."""

    nodes: Index  #: (m,)
    field: Vec  #: velocities of these nodes for each motion, (m, 3, k)
    component: Index  #: all nodes that are connected to these
    first: int  #: column of its first motion


class Frames:
    """Rigid motions of all floating groups in as few columns as possible: groups of different components share columns.
    """

    def __init__(self, floating: FloatingParts, parts: list[Index], count: int) -> None:
        """floating: groups of parts that the prescribed nodes leave free. parts: nodes of each face-connected part.
        count: number of all nodes."""
        self._floating = floating
        labels = components(parts, count) if floating.groups else np.zeros(count, dtype=np.int32)
        self._groups: list[tuple[int, Index, int]] = []
        used: dict[int, int] = {}
        for k, group in enumerate(floating.groups):
            if not group.modes:
                continue
            label = int(labels[group.owned[0][0]])
            self._groups.append((k, np.flatnonzero(labels == label).astype(np.int32), used.get(label, 0)))
            used[label] = used.get(label, 0) + group.modes
        self.columns = max(used.values(), default=0)

    def at(self, x: Vec) -> list[Frame]:
        """Return the frames of all groups at positions x, (n, 3) [m]."""
        frames = []
        for k, component, first in self._groups:
            group = self._floating.groups[k]
            twists, centres = self._floating.twists(group, x)
            fields = [evaluate_rigid_field(x[part], centre, group.size) @ twists[6 * i : 6 * i + 6]
                      for i, (part, centre) in enumerate(zip(group.owned, centres))]
            frames.append(Frame(np.concatenate(group.owned), np.concatenate(fields), component, first))
        return frames

    def loads(self, frames: list[Frame], mass: Vec) -> Vec:
        """Return M R of the rigid motions R, (columns, n, 3) [kg]. mass: lumped, (n,) [kg]."""
        out = np.zeros((self.columns, len(mass), 3))
        for frame in frames:
            for k in range(frame.field.shape[2]):
                out[frame.first + k, frame.nodes] = mass[frame.nodes, None] * frame.field[:, :, k]
        return out

    def amplitudes(self, frames: list[Frame], mass: Vec, acceleration: Vec) -> Vec:
        """Return (Rᵀ M R)⁻¹ Rᵀ M a of each node's component, (n, columns): the amplitudes of the rigid part of
        accelerations a, (n, 3) [m/s²]. mass: lumped, (n,) [kg]."""
        out = np.zeros((len(mass), self.columns))
        for frame in frames:
            count = frame.field.shape[2]
            field = frame.field.reshape(-1, count)
            weighted = np.repeat(mass[frame.nodes], 3)[:, None] * field
            twist = np.linalg.solve(field.T @ weighted, weighted.T @ acceleration[frame.nodes].ravel())
            out[frame.component, frame.first : frame.first + count] = twist
        return out

    def inertia(self, frames: list[Frame], mass: Vec, acceleration: Vec) -> Vec:
        """Return M a of the rigid part of accelerations (n, 3) [m/s²], (n, 3) [N]. mass: lumped, (n,) [kg]."""
        amplitudes = self.amplitudes(frames, mass, acceleration)
        forces: Vec = np.einsum("kna,nk->na", self.loads(frames, mass), amplitudes)
        return forces


def components(parts: list[Index], count: int) -> Index:
    """Return a label for each node, (count,): nodes of parts that share a node have one label; 0 where a node is in no
    part."""
    rows = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    incidence = sp.coo_matrix((np.ones(len(rows)), (rows, np.concatenate(parts))), shape=(len(parts), count)).tocsr()
    _, labels = connected_components(incidence @ incidence.T, directed=False)
    out = np.zeros(count, dtype=np.int32)
    for part, label in zip(parts, labels):
        out[part] = label
    return out
